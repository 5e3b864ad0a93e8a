"""Checks of merging: two selectors over parts of a stream become one over all of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsift.checks.samples import Make, expect, refused, same_scores, same_state, sample
from streamsift.core.exceptions import MergeError


def check_merging_equals_one_pass(make: Make) -> None:
    X, y = sample(n_classes=4)
    # The parts meet the classes in different orders, and the last class is in the second part only.
    y[:70] = np.minimum(y[:70], 2)
    one_pass, first, second = make().partial_fit(X, y), make().partial_fit(X[:70], y[:70]), make()
    second.partial_fit(X[70:], y[70:])
    promise = make().stream_tags().mergeable
    if promise == "no":
        with refused("merging, without the tag `mergeable`,", MergeError):
            first.merge(second)
        return
    theirs = second.state_arrays()
    expect(first.merge(second) is first, "merge does not return self")
    same_state(second.state_arrays(), theirs, "merging changed the other selector")
    expect(first.n_rows_seen_ == one_pass.n_rows_seen_, "merging loses or doubles rows")
    expect(set(first.classes_.tolist()) == set(one_pass.classes_.tolist()), "merging loses or doubles classes")
    expect(not np.isnan(first.scores_).any(), "merged scores are NaN")
    if promise == "exact":
        same_scores(first.scores_, one_pass.scores_, "merging gives other scores than one pass over all rows")


def check_merging_later_rows_equals_one_pass(make: Make) -> None:
    if make().stream_tags().mergeable != "exact" or not hasattr(make(), "merge_later"):
        return
    X, y = sample(n_classes=4)
    one_pass, first = make().partial_fit(X, y), make().partial_fit(X[:50], y[:50])
    for rows in (slice(50, 90), slice(90, None)):
        expect(first.merge_later(make().partial_fit(X[rows], y[rows])) is first, "merge_later does not return self")
    expect(first.n_rows_seen_ == one_pass.n_rows_seen_, "merge_later loses or doubles rows")
    words = "merging parts one after the other gives other scores than one pass over all rows"
    same_scores(first.scores_, one_pass.scores_, words)


def check_merging_is_associative(make: Make) -> None:
    if make().stream_tags().mergeable != "exact":
        return
    X, y = sample()

    def parts() -> list[Any]:
        return [make().partial_fit(X[rows], y[rows]) for rows in (slice(0, 30), slice(30, 80), slice(80, None))]

    a, b, c = parts()
    left = a.merge(b).merge(c)
    a, b, c = parts()
    right = a.merge(b.merge(c))
    same_scores(left.scores_, right.scores_, "(a + b) + c differs from a + (b + c)")


def check_merging_with_an_empty_side(make: Make) -> None:
    if make().stream_tags().mergeable == "no":
        return
    selector = make().partial_fit(*sample())
    before = selector.state_arrays()
    same_state(selector.merge(make()).state_arrays(), before, "merging an empty selector changed the state")
    same_state(make().merge(selector).state_arrays(), before, "merging into an empty selector is not a copy")
    same_state(selector.state_arrays(), before, "merging into an empty selector changed the other one")


def check_merging_refuses_other_settings_and_features(make: Make) -> None:
    if make().stream_tags().mergeable == "no":
        return
    X, y = sample()
    selector = make().set_params(n_features_to_select=3).partial_fit(X, y)
    before = selector.state_arrays()
    unequal = make().set_params(n_features_to_select=4).partial_fit(X, y)
    narrow = make().set_params(n_features_to_select=3).partial_fit(X[:, :4], y)
    others: dict[str, tuple[Any, tuple[str, str]]] = {
        "other settings": (unequal, ("=3 ", "=4 ")),
        "another number of features": (narrow, ("5 features", "4 features")),
        "something of another kind": ("text", ("str", type(selector).__name__)),
    }
    for what, (other, words) in others.items():
        with refused(f"merging with {what}", MergeError) as message:
            selector.merge(other)
        lacking = [word for word in words if word not in message[0]]
        expect(not lacking, f"the refusal of {what} does not show both sides: {message[0]!r}")
        same_state(selector.state_arrays(), before, f"refusing {what} changed the state")
