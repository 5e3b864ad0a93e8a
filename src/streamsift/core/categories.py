"""The values of a categorical column and their codes, for a reader (Categories) and a selector (CategoryVocabulary).

A reader numbers the categories of a column as it meets them, so two readers may number them differently. A selector
keeps its own numbering in its state and translates what it is given by *name*: the order of arrival never matters.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError, SavedStateError

MOST_CATEGORIES = 1_000_000  # a column with more distinct texts is an identifier, and would fill the memory

Names = Mapping[int, tuple[str, ...]]  # place of a column -> its categories in the order of their codes
Mapped = dict[int, NDArray[np.int64]]  # slot of a column -> the new code of each old code
_KEYS = ("columns", "sizes", "ends", "text", "undecided")


class Categories:
    """The values of a column in the order of their codes 0, 1, 2, ...

    A new value takes the next code, so codes follow the order of first appearance, whatever the batch size.
    Values declared beforehand come first; a closed vocabulary takes no others, an open one up to `most`.

    >>> colours = Categories()
    >>> colours.encode(["red", "blue", "red"]).tolist(), colours.values
    ([0.0, 1.0, 0.0], ('red', 'blue'))
    """

    def __init__(self, declared: Iterable[str] = (), *, closed: bool = False, most: int = MOST_CATEGORIES) -> None:
        self._codes = {value: code for code, value in enumerate(dict.fromkeys(declared))}
        self._values = tuple(self._codes)
        self.closed, self.most = closed, most

    @property
    def values(self) -> tuple[str, ...]:
        if len(self._values) != len(self._codes):  # else the same object says that nothing has changed
            self._values = tuple(self._codes)
        return self._values

    def refused(self, values: Iterable[str]) -> str | None:
        """The first value that cannot have a code: unknown to a closed vocabulary, or one too many."""
        if not self.closed and len(self._codes) < self.most:
            return None
        return next((value for value in values if value not in self._codes), None)

    def encode(self, values: Iterable[str]) -> NDArray[np.float64]:
        """The code of each value; new ones are added."""
        codes = self._codes
        return np.array([codes.setdefault(value, len(codes)) for value in values], np.float64)


@dataclass(frozen=True, slots=True)
class CategoryVocabulary:
    """The categories of each categorical feature, by slot, in the order of their codes; immutable.

    `names` holds the features whose categories have names. `undecided` are features that had no value at all so far,
    of which nobody knows yet whether they are numbers or categories. All others are numbers, or bare codes.

    >>> mapped, vocabulary = CategoryVocabulary({0: ("red", "blue")}).encode({0: ("blue", "green")})
    >>> vocabulary.names[0], mapped[0].tolist()
    (('red', 'blue', 'green'), [1, 2])
    """

    names: Names = field(default_factory=dict)
    undecided: frozenset[int] = frozenset()
    _codes: dict[int, dict[str, int]] = field(default_factory=dict, repr=False, compare=False)  # found when needed

    def __bool__(self) -> bool:
        return bool(self.names or self.undecided)

    def mask(self, n_features: int) -> NDArray[np.bool_]:
        """Which of the features have named categories."""
        mask = np.zeros(n_features, bool)
        mask[list(self.names)] = True
        return mask

    def code(self, slot: int, name: str) -> int:
        """The code of a category; one that is not known has the first code that is not in use."""
        return self._of(slot).get(name, len(self.names[slot]))

    def encode(self, given: Names) -> tuple[Mapped, CategoryVocabulary]:
        """Our code of each given code, for the features where they differ, and the vocabulary with what is new."""
        mapped: Mapped = {}
        grown: dict[int, tuple[str, ...]] = {}
        for slot, theirs in given.items():
            ours = self.names.get(slot)
            if theirs is ours:
                continue
            if ours is None or theirs[: len(ours)] == ours:
                grown[slot] = theirs
            elif ours[: len(theirs)] != theirs:
                codes = self._of(slot)
                new = tuple(name for name in theirs if name not in codes)
                if new:
                    grown[slot] = ours + new
                    codes = codes | {name: len(ours) + k for k, name in enumerate(new)}
                mapped[slot] = np.array([codes[name] for name in theirs], np.int64)
        if not grown:
            return mapped, self
        kept = {slot: codes for slot, codes in self._codes.items() if slot not in grown}
        return mapped, CategoryVocabulary(dict(self.names) | grown, self.undecided.difference(grown), kept)

    def without(self, slots: Iterable[int]) -> CategoryVocabulary:
        """The same without some features."""
        gone = set(slots)
        return CategoryVocabulary({slot: names for slot, names in self.names.items() if slot not in gone})

    def _of(self, slot: int) -> dict[str, int]:
        if slot not in self._codes:
            self._codes[slot] = {name: code for code, name in enumerate(self.names[slot])}
        return self._codes[slot]

    # -- state --------------------------------------------------------------------------------------------------

    def to_arrays(self, prefix: str = "categories.") -> dict[str, NDArray[Any]]:
        """As named arrays, all texts behind one another in UTF-8; none where there is nothing to keep."""
        if not self:
            return {}
        texts = [name.encode() for names in self.names.values() for name in names]
        arrays: dict[str, NDArray[Any]] = {
            "columns": np.array(list(self.names), np.int64),
            "sizes": np.array([len(names) for names in self.names.values()], np.int64),
            "ends": np.cumsum([len(text) for text in texts], dtype=np.int64),
            "text": np.frombuffer(b"".join(texts), np.uint8).copy(),
            "undecided": np.array(sorted(self.undecided), np.int64),
        }
        return {prefix + key: array for key, array in arrays.items()}

    @classmethod
    def from_arrays(
        cls, arrays: dict[str, NDArray[Any]], n_features: int, prefix: str = "categories."
    ) -> CategoryVocabulary:
        """The inverse of to_arrays; what cannot have been written by it is refused."""
        parts = [arrays.get(prefix + key) for key in _KEYS]
        if all(part is None for part in parts):
            return cls()
        damaged = SavedStateError("The saved state has categories that do not fit its features: it is damaged.")
        if any(part is None or part.ndim != 1 or part.dtype.kind not in "iu" for part in parts):
            raise damaged
        columns, sizes, ends, text, undecided = (part for part in parts if part is not None)
        slots = np.concatenate([columns, undecided])
        whole = (
            text.dtype == np.uint8
            and len(columns) == len(sizes)
            and (sizes >= 0).all()
            and sizes.sum() == len(ends)
            and (np.diff(ends, prepend=0) >= 0).all()
            and (ends[-1] if len(ends) else 0) == len(text)
            and ((slots >= 0) & (slots < n_features)).all()
            and len(np.unique(slots)) == len(slots)
        )
        if not whole:
            raise damaged
        starts = np.concatenate([[0], ends]).tolist()
        try:
            names = [text[a:b].tobytes().decode() for a, b in itertools.pairwise(starts)]
        except UnicodeDecodeError as error:
            raise damaged from error
        found: dict[int, tuple[str, ...]] = {}
        first = 0
        for slot, size in zip(columns.tolist(), sizes.tolist(), strict=True):
            found[slot] = tuple(names[first : first + size])
            first += size
            if len(set(found[slot])) != size:
                raise damaged
        return cls(found, frozenset(undecided.tolist()))


NO_CATEGORIES = CategoryVocabulary()


@dataclass(frozen=True, slots=True)
class ColumnKinds:
    """What a table says about its columns: the categories of some; `undecided` ones have no value at all.

    Columns that are in neither are numbers. A bare array of numbers says nothing, and has no ColumnKinds.
    """

    names: Names
    undecided: tuple[int, ...] = ()


@dataclass(frozen=True)
class Meeting:
    """Columns that come to a selector: their slots (None: in order), and how many features were known before."""

    slots: NDArray[np.intp] | None
    n_known: int
    name: Callable[[int], str]  # of a slot

    def slot(self, column: int) -> int:
        return column if self.slots is None else int(self.slots[column])

    def columns(self, n_columns: int, wanted: Iterable[int]) -> dict[int, int]:
        """slot -> column, for those of the wanted slots that are here."""
        if self.slots is None:
            return {slot: slot for slot in wanted if slot < n_columns}
        places = {int(slot): column for column, slot in enumerate(self.slots)}
        return {slot: places[slot] for slot in wanted if slot in places}


def recode(
    X: Any,
    kinds: ColumnKinds | None,
    known: CategoryVocabulary,
    meeting: Meeting,
    *,
    bare_codes: bool = False,
    most_categories: int = MOST_CATEGORIES,
) -> tuple[Any, CategoryVocabulary]:
    """Translate the codes of a matrix into those of a selector; return also the vocabulary that knows them.

    A feature that changes between numbers and categories is refused. `bare_codes` lets numbers stand for the codes
    themselves where the matrix says nothing about its columns. A column with more categories than `most_categories` is
    refused.
    """
    if kinds is None:
        if known.names and not bare_codes:
            _refuse_bare(meeting.columns(X.shape[1], known.names), meeting)
        return X, known
    if not (kinds.names or kinds.undecided or known):
        return X, known
    given = {meeting.slot(column): names for column, names in kinds.names.items()}
    undecided = {meeting.slot(column) for column in kinds.undecided}
    for slot in given:
        if slot < meeting.n_known and slot not in known.names and slot not in known.undecided:
            raise InputError(
                f"Column {meeting.name(slot)!r} changes between numbers and text: it was numbers so far, and is text "
                "or categories now; give it one type."
            )
    _refuse_bare(meeting.columns(X.shape[1], known.names.keys() - given.keys() - undecided), meeting)
    mapped, vocabulary = known.encode(given)
    for slot in given:
        if len(vocabulary.names[slot]) > most_categories:
            raise InputError(
                f"Column {meeting.name(slot)!r} has more than {most_categories:,} categories, which makes it an "
                "identifier rather than a category; leave it out."
            )
    columns = {meeting.slot(column): column for column in kinds.names}
    X = _translated(X, {columns[slot]: codes for slot, codes in mapped.items()}, kinds.names, meeting)
    new = {slot for slot in undecided if slot >= meeting.n_known}
    decided = meeting.columns(X.shape[1], known.undecided - undecided).keys()
    if new or decided:
        still = (vocabulary.undecided - decided) | new
        vocabulary = CategoryVocabulary(vocabulary.names, still, vocabulary._codes)
    return X, vocabulary


def _refuse_bare(columns: dict[int, int], meeting: Meeting) -> None:
    for slot in columns:
        raise InputError(
            f"Column {meeting.name(slot)!r} changes between numbers and text: it was text or categories so far, and is "
            "numbers now; give it with the names of its categories, as a column of a table."
        )


def _translated(X: Any, mapped: Mapped, names: Names, meeting: Meeting) -> Any:
    dense = isinstance(X, np.ndarray)
    for (column, known), top in zip(names.items(), _largest_codes(X, list(names)), strict=True):
        if top >= len(known):
            raise InputError(
                f"Column {meeting.name(meeting.slot(column))!r} has the code {top:g}, but only {len(known)} categories "
                "have names: give one name for each code."
            )
    if not mapped:
        return X
    X = X.copy()
    for column, own in mapped.items():
        if dense:
            X[:, column] = _own_codes(X[:, column], own)
        else:
            if own[0] != 0:
                raise InputError(
                    f"Column {meeting.name(meeting.slot(column))!r} of the sparse rows has another first category than "
                    "before, which 0 stands for: declare its categories in the same order, or give dense rows."
                )
            here = X.indices == column
            X.data[here] = _own_codes(X.data[here], own)
    if dense:
        X.flags.writeable = False
    return X


def _largest_codes(X: Any, columns: list[int]) -> NDArray[np.float64]:
    """The largest code in each of the columns; -1 where all are missing."""
    if isinstance(X, np.ndarray):
        return np.asarray(np.fmax.reduce(X[:, columns], axis=0, initial=-1.0), np.float64)
    largest = np.full(X.shape[1], -1.0)
    np.fmax.at(largest, X.indices, X.data)
    return largest[columns]


def _own_codes(codes: NDArray[Any], own: NDArray[np.int64]) -> NDArray[np.float64]:
    has_value = ~np.isnan(codes)
    result = np.full(len(codes), np.nan)
    result[has_value] = own[codes[has_value].astype(np.intp)]
    return result
