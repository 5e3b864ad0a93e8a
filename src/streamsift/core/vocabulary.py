"""Vocabularies that grow: labels to class codes, feature names to slots.

Both are immutable. Encoding returns the codes together with the vocabulary that knows them, so that a call which
fails later leaves its owner with the vocabulary it had.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError, NumbersAsLabelsError, SavedStateError, near_misses
from streamsift.core.state import refuse_bad_text

Codes = NDArray[np.int64]

_SORTABLE_KINDS = "biufUS"
_INFINITE = (float("inf"), float("-inf"))


class LabelVocabulary:
    """Labels in the order of their first appearance, each with its code 0, 1, ...

    >>> codes, vocabulary = LabelVocabulary().encode(["spam", "ham", "spam"])
    >>> codes.tolist(), vocabulary.labels
    ([0, 1, 0], ('spam', 'ham'))
    """

    def __init__(self, labels: Iterable[Hashable] = ()) -> None:
        self.labels: tuple[Hashable, ...] = tuple(labels)
        self._codes = {label: code for code, label in enumerate(self.labels)}
        # The fast way for arrays of one plain kind: binary search in the sorted labels.
        self._sorted: NDArray[Any] | None = None
        self._sorted_codes: Codes = np.empty(0, np.int64)
        array = self.as_array()
        if array.dtype.kind in _SORTABLE_KINDS:
            self._sorted_codes = np.argsort(array, kind="stable")
            self._sorted = array[self._sorted_codes]

    def __len__(self) -> int:
        return len(self.labels)

    def as_array(self) -> NDArray[Any]:
        """The labels as an array, of their own type where they share one."""
        return _as_column(self.labels)

    def encode(self, y: Any, n_before: int | None = None) -> tuple[Codes, LabelVocabulary]:
        """Return the code of each label and the vocabulary with any new labels added behind.

        `n_before` rows came before (None: nobody knows): numbers with fractions are refused as labels where they are
        too many for all rows.
        """
        values = _label_array(y)
        if len(values) == 1 and values.dtype.kind in _SORTABLE_KINDS:  # row by row, each call to numpy counts
            code = self._codes.get(values.item())
            if code is not None:
                return np.array([code]), self
        elif self._sorted is not None and _comparable(self._sorted.dtype, values.dtype):
            places = self._sorted.searchsorted(values)
            found = self._sorted.take(places, mode="clip")  # behind the last label is a new one, too
            if np.count_nonzero(found == values) == len(values):  # a third of the time of all()
                return self._sorted_codes.take(places), self
        if values.dtype.kind in _SORTABLE_KINDS:
            return self._encode_sortable(values, n_before)
        return self._encode_objects(values)

    def encode_weighted(
        self, y: Any, weight: NDArray[np.float64] | None, n_before: int | None = None
    ) -> tuple[Codes, LabelVocabulary]:
        """As `encode`, but labels that only rows of weight 0 have are not met: their codes mean nothing.

        >>> LabelVocabulary().encode_weighted(["a", "b", "c"], np.array([0.0, 1.0, 1.0]))[1].labels
        ('b', 'c')
        """
        codes, vocabulary = self.encode(y, n_before)
        if weight is None or len(weight) != len(codes) or weight.all():
            return codes, vocabulary
        heavy = np.flatnonzero(weight)
        codes, vocabulary = np.zeros(len(codes), np.int64), self
        if len(heavy):
            codes[heavy], vocabulary = self.encode(_label_array(y)[heavy], n_before)
        return codes, vocabulary

    def _encode_sortable(self, values: NDArray[Any], n_before: int | None) -> tuple[Codes, LabelVocabulary]:
        distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        _check_labels(distinct, values)
        labels = distinct.tolist()
        # New labels are numbered by first appearance, so that the cut into batches cannot change a code.
        new = [labels[k] for k in np.argsort(first, kind="stable") if labels[k] not in self._codes]
        vocabulary = LabelVocabulary(self.labels + tuple(new)) if new else self
        if new and n_before and values.dtype.kind == "f":
            vocabulary._refuse_numbers(n_before + len(values))
        codes = np.array([vocabulary._codes[label] for label in labels], np.int64)
        return codes[inverse.reshape(-1)], vocabulary

    def _refuse_numbers(self, n_rows: int) -> None:
        """Raise where the labels of so many rows, met batch by batch, are numbers with fractions, and too many."""
        if len(self.labels) <= _most_labels(n_rows):
            return
        numbers = [label for label in self.labels if isinstance(label, float) and not label.is_integer()]
        if len(numbers) > len(self.labels) // 2:
            found = f"y holds {len(self.labels)} different values such as {numbers[0]} in the first {n_rows} rows"
            raise NumbersAsLabelsError(found)

    def _encode_objects(self, values: NDArray[Any]) -> tuple[Codes, LabelVocabulary]:
        codes = dict(self._codes)
        result = np.empty(len(values), np.int64)
        for row, label in enumerate(values):
            if is_missing(label):
                raise InputError(f"Row {row} has no label ({label!r}): drop the row or give it a label.")
            try:
                result[row] = codes.setdefault(label, len(codes))
            except TypeError as error:
                problem = f"Row {row} has the label {label!r}, which is not hashable: use text or tuples."
                raise InputError(problem) from error
        return result, self if len(codes) == len(self.labels) else LabelVocabulary(codes)


def _label_array(y: Any) -> NDArray[Any]:
    values = y if type(y) is np.ndarray else from_column(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"y must be one label per row, in one dimension. Got an array of shape {values.shape}.")
    return values


def labelled_rows(y: Any) -> tuple[NDArray[Any], NDArray[np.intp] | None]:
    """The labels as an array, and the numbers of the rows that have one; None: all have.

    Missing are None, NaN, NaT, pandas.NA and the empty text.

    >>> labelled_rows([0.0, float("nan"), 1.0])[1].tolist(), labelled_rows(["a", "b"])[1]
    ([0, 2], None)
    """
    values = _label_array(y)
    kind = values.dtype.kind
    if kind in "biu":
        return values, None
    if kind == "f":
        missing = np.isnan(values)
    elif kind in "US":
        missing = values == np.zeros(1, values.dtype)[0]  # the empty text
    elif kind == "M":
        missing = np.isnat(values)
    else:
        empty = [is_missing(label) or (isinstance(label, str) and not label) for label in values]
        missing = np.array(empty, bool)
    return (values, np.flatnonzero(~missing)) if missing.any() else (values, None)


def from_column(y: Any) -> NDArray[Any]:
    """Labels from a list, a tuple or a column of a table, each as it is: numpy would turn 1 beside 'a' into text."""
    if isinstance(y, np.ma.MaskedArray):
        labels = np.array(y.data, object if np.ma.is_masked(y) else None)
        labels[np.ma.getmaskarray(y)] = None
        return labels
    if hasattr(y, "to_numpy"):
        from_arrow = type(y).__module__.startswith("pyarrow")
        return np.asarray(y.to_numpy(zero_copy_only=False) if from_arrow else y.to_numpy())
    if isinstance(y, list | tuple) and not any(isinstance(label, list | np.ndarray) for label in y):
        return _as_column(y)
    try:
        return np.asarray(y)
    except ValueError as error:  # lists of different lengths
        raise InputError("y holds lists of different lengths: give one label for each row.") from error


def _as_column(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as a one-dimensional array, of their own type where that type keeps all of them as they are."""
    for kind in (str, bytes, int | float | np.number | np.bool_):
        if labels and all(isinstance(label, kind) for label in labels):
            array = np.asarray(labels)
            if array.dtype.kind in _SORTABLE_KINDS and array.tolist() == list(labels):
                return array
    values = np.empty(len(labels), object)
    for place, label in enumerate(labels):  # one by one: numpy would take tuples for rows
        values[place] = label
    return values


def is_missing(label: Any) -> bool:
    """Whether a label is none: None, NaN, NaT or pandas.NA.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if label is None:
        return True
    try:
        return bool(label != label)  # NaN and NaT
    except (TypeError, ValueError, ArithmeticError):  # pandas.NA says neither yes nor no, an array says several things
        return not isinstance(label, np.ndarray)


def _comparable(known: np.dtype[Any], given: np.dtype[Any]) -> bool:
    numeric = "biuf"
    return known.kind == given.kind or (known.kind in numeric and given.kind in numeric)


def _most_labels(n_rows: int) -> int:
    """How many different numbers with fractions may be labels of so many rows."""
    return max(20, n_rows // 10)


def _check_labels(distinct: NDArray[Any], values: NDArray[Any]) -> None:
    if distinct.dtype.kind != "f":
        return
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"Row {row} has no label (y is {values[row]}): drop the row or give it a label.")
    fractional = distinct != np.floor(distinct)
    if fractional.any() and len(distinct) > _most_labels(len(values)):
        value = distinct[np.argmax(fractional)]
        raise NumbersAsLabelsError(f"y holds {len(distinct)} different values such as {value}")


class FeatureVocabulary:
    """Feature names (or only their number) and the slot of each; a feature that vanishes keeps its slot."""

    def __init__(self, names: Sequence[str] | None, n_features: int) -> None:
        self.names: tuple[str, ...] | None = None if names is None else tuple(names)
        self.n_features = n_features
        self._slots: dict[str, int] | None = None

    def name(self, slot: int) -> str:
        """The name of a slot; unnamed features are called x0, x1, ..."""
        return f"x{slot}" if self.names is None else self.names[slot]

    def match(
        self, names: tuple[str, ...] | None, n_features: int, *, grow: bool, owner: str, late: bool = True
    ) -> tuple[NDArray[np.intp] | None, FeatureVocabulary]:
        """Return the slot of each given column (None: already in order, complete) and the grown vocabulary.

        `late` says whether the owner offers new_features="add"; a refusal then tells of it.
        """
        if self.names is None or names is None:
            return self._match_by_position(names, n_features, grow=grow, owner=owner, late=late)
        if names is self.names or names == self.names:
            return None, self
        if self._slots is None:
            self._slots = {name: slot for slot, name in enumerate(self.names)}
        known = self._slots
        new = [name for name in names if name not in known]
        if not grow:
            self._refuse_other_names(names, new, owner, late)
        vocabulary = FeatureVocabulary(self.names + tuple(new), self.n_features + len(new)) if new else self
        slots = known | {name: self.n_features + k for k, name in enumerate(new)}
        return np.array([slots[name] for name in names], np.intp), vocabulary

    def _match_by_position(
        self, names: tuple[str, ...] | None, n_features: int, *, grow: bool, owner: str, late: bool
    ) -> tuple[NDArray[np.intp] | None, FeatureVocabulary]:
        if n_features == self.n_features:
            return None, self
        if not grow:
            raise InputError(
                f"X has {n_features} features, but {owner} is expecting {self.n_features} features as input; "
                f"give the same columns in every batch{', or set new_features=' + repr('add') if late else ''}."
            )
        if self.names is not None:
            raise InputError(
                f"X has {n_features} columns without names, but {owner} knows {self.n_features} features by name; "
                "give X as a table with column names, so that new features can be told from old ones."
            )
        vocabulary = FeatureVocabulary(None, n_features) if n_features > self.n_features else self
        return np.arange(n_features), vocabulary

    def _refuse_other_names(self, names: tuple[str, ...], new: list[str], owner: str, late: bool) -> None:
        assert self.names is not None
        given = set(names)
        gone = [name for name in self.names if name not in given]
        if new:
            raise InputError(
                f"X has {len(names)} features, of which {owner} does not know column {new[0]!r}"
                f"{f' and {len(new) - 1} more' if len(new) > 1 else ''}. {near_misses(new[0], gone or self.names)} "
                + (
                    "Set new_features='add' to let features arrive late."
                    if late
                    else "Give the same columns in every batch."
                )
            )
        if gone:
            raise InputError(
                f"X has {len(names)} features, but {owner} is expecting {self.n_features} features as input: "
                f"column {gone[0]!r}{f' and {len(gone) - 1} more are' if len(gone) > 1 else ' is'} missing; "
                f"give all columns in every batch{', or set new_features=' + repr('add') if late else ''}."
            )


def check_names(names: Sequence[Any]) -> tuple[str, ...]:
    """Feature names as strings, refused when two columns share one, or one could not be saved as it is."""
    result = tuple(name if isinstance(name, str) else str(name) for name in names)
    if any("\x00" in name for name in result):  # numpy drops them at the end of a text
        place = next(place for place, name in enumerate(result) if "\x00" in name)
        raise InputError(f"The name of column {place} holds a NUL character: rename the column, or mend the file.")
    if len(set(result)) != len(result):
        seen: set[str] = set()
        twice = next(name for name in result if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"Two columns are called {twice!r}: give each feature its own name.")
    return result


def saved_labels(arrays: dict[str, NDArray[Any]]) -> LabelVocabulary:
    """The labels of a saved state; those that no vocabulary can have are refused."""
    if "labels" not in arrays:
        raise SavedStateError("The saved state lacks 'labels': it was written by another version or method.")
    labels = arrays["labels"].tolist()
    fine = arrays["labels"].ndim == 1 and not any(is_missing(label) or label in _INFINITE for label in labels)
    try:
        fine = fine and len(set(labels)) == len(labels)
    except TypeError:  # a label that is not hashable
        fine = False
    if not fine:
        raise SavedStateError("The saved state is damaged: 'labels' are not one distinct label for each class.")
    return LabelVocabulary(labels)


def saved_names(arrays: dict[str, NDArray[Any]], n_features: int) -> tuple[str, ...] | None:
    """The feature names of a saved state, if it has any: one for each feature, and all different."""
    if "feature_names" not in arrays:
        return None
    names = arrays["feature_names"]
    if names.shape != (n_features,) or (names.dtype.kind not in "UO"):
        raise SavedStateError(f"The saved state has {n_features} features but {names.size} names.")
    refuse_bad_text(names, "feature_names")
    found = tuple(names.tolist())
    if len(set(found)) != len(found):
        raise SavedStateError("The saved state is damaged: 'feature_names' holds the same name twice.")
    return found
