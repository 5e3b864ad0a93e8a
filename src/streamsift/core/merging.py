"""Adding what one row selector has learnt to another: all that can be refused is refused before anything changes."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from streamsift.core.categories import CategoryVocabulary, Mapped
from streamsift.core.exceptions import MergeError


def merge_into(selector: Any, other: Any, *, later: bool) -> None:
    """Add the rows of `other`; `later`: they came after those of the selector, which fade accordingly."""
    _refuse(selector, other)
    if not hasattr(other, "n_rows_seen_"):
        selector._n_unlabelled += other._n_unlabelled
        return
    if not hasattr(selector, "n_rows_seen_"):
        n_unlabelled = selector._n_unlabelled
        selector.load_state_arrays(other.state_arrays())
        selector._n_unlabelled += n_unlabelled
        return
    mine, theirs = selector._features, other._features
    if (mine.names, mine.n_features) != (theirs.names, theirs.n_features):
        raise MergeError(
            f"Cannot merge selectors over different features: {_described(mine)} here, {_described(theirs)} there."
        )
    codes, labels = None, selector._labels
    if len(other._labels):
        codes, labels = selector._labels.encode(other._labels.as_array())
    state, added = copy.deepcopy(selector._state), copy.deepcopy(other._state)
    before, beside, latest = selector._fading_to_merge(other, later=later)
    for each, factor in ((state, before), (added, beside)):
        if factor != 1.0:
            each.fade(factor)
    if codes is not None:
        state = selector._align_classes(state, np.arange(len(selector._labels)), len(labels))
        added = selector._align_classes(added, codes, len(labels))
    mapped, categories = _common_categories(selector, other)
    columns = selector._columns
    if columns is not None:
        columns, places = columns.with_those_of(other._columns, mapped)
        state = selector._align_columns(state, np.arange(len(selector._columns.features)), columns)
        added = selector._align_columns(added, places, columns)
    elif mapped:
        added = selector._align_categories(added, mapped)
    selector._merge(state, added)
    # Nothing has failed: from here on the object changes.
    selector._state, selector._latest, selector._columns = state, latest, columns
    selector._know(selector._features, labels)
    selector._categories = categories
    selector.n_rows_seen_ += other.n_rows_seen_
    selector._n_unlabelled += other._n_unlabelled


def _refuse(selector: Any, other: Any) -> None:
    """Raise MergeError for methods and settings that cannot be merged."""
    owner = type(selector).__name__
    if selector.stream_tags().mergeable == "no":
        raise MergeError(f"{owner} cannot be merged: its state depends on the order of the rows.")
    mine, theirs = selector.get_params(deep=False), other.get_params(deep=False)
    for name in mine:
        if not _same(mine[name], theirs[name]):
            raise MergeError(
                f"Cannot merge selectors with different settings: {name}={mine[name]!r} here, "
                f"{name}={theirs[name]!r} there."
            )
    both = [each for each in (selector, other) if hasattr(each, "n_rows_seen_")]
    spread = [each._columns is not None for each in both]
    if len(both) == 2 and any(spread) and (not all(spread) or any(each._categories.undecided for each in both)):
        raise MergeError(
            f"Cannot merge: a column of categories has no value at all in the rows of one {owner}, so what it holds is "
            "not known there; leave that column out, or feed one selector with all rows."
        )


def _common_categories(selector: Any, other: Any) -> tuple[Mapped, CategoryVocabulary]:
    """Our codes for those of another selector, and the vocabulary of both; names decide."""
    mine, theirs = selector._categories, other._categories
    open_slots = mine.undecided | theirs.undecided
    for slot in sorted((mine.names.keys() ^ theirs.names.keys()) - open_slots):
        raise MergeError(
            f"Cannot merge: column {selector._features.name(slot)!r} holds categories in one of the selectors and "
            "numbers in the other; read it as categories everywhere (categorical=)."
        )
    mapped, both = mine.encode(theirs.names)
    undecided = mine.undecided & theirs.undecided
    return mapped, both if both.undecided == undecided else CategoryVocabulary(both.names, undecided)


def _described(features: Any) -> str:
    names = features.names
    named = "unnamed" if names is None else f"{names[0]!r} to {names[-1]!r}"
    return f"{features.n_features} features ({named})"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    return bool(a == b)
