"""MessageRows: values by name become rows, with the meaning of each column decided where it is first met.

What a column is depends on the messages alone, never on when they come: all messages of the batch in which a column
first has a value decide. A value that does not fit its column makes the message a poison message.

    number      numbers; of texts, at least nine tenths must spell one
    time        texts that are dates in ISO form; they become seconds
    category    other texts, true and false
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.categories import CategoryVocabulary, ColumnKinds, Meeting, recode
from streamsift.core.exceptions import InputError, SavedStateError
from streamsift.core.tables import read_arrow, table_of_dicts
from streamsift.core.vocabulary import check_names
from streamsift.streams.files import READ_LIMITS
from streamsift.streams.labels import whole_numbers
from streamsift.streams.numbers import MISSING, MISSING_NUMBER, MOSTLY

NUMBER, TIME, CATEGORY, TRUTH = "number", "time", "category", "truth"
_KINDS = (NUMBER, TIME, CATEGORY, TRUTH)
_MISSING, _MISSING_NUMBER = frozenset(MISSING), frozenset((*MISSING, *MISSING_NUMBER))
_UNKNOWN = object()
_WORDS = {NUMBER: "a number", TIME: "a date", CATEGORY: "a text", TRUTH: "true or false"}

Row = tuple[dict[str, Any], Any]  # features and label


class PoisonError(ValueError):
    """A message that is no row; the text says why. It never leaves this package."""


class MessageRows:
    """The columns of messages, as far as they are known.

    Parameters
    ----------
    target : str
        The key of the label.
    textual : bool
        Whether all values are texts, so that numbers among them must be recognised.
    categorical, ignore : sequence of str
        Keys that are categories whatever they look like, and keys to leave out.
    """

    def __init__(
        self, target: str, *, textual: bool, categorical: Sequence[str] = (), ignore: Sequence[str] = ()
    ) -> None:
        self.target, self._textual = target, textual
        self._forced, self._ignored = frozenset(categorical), frozenset(ignore)
        self._kinds: dict[str, str | None] = {}  # of the features, in the order of their columns
        self._label: str | None = None
        self._vocabulary = CategoryVocabulary()
        self._n_given = 0  # columns that batches had so far

    @property
    def names(self) -> tuple[str, ...]:
        """The features met so far."""
        return tuple(self._kinds)

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The categories met so far."""
        names = self.names
        return {names[slot]: values for slot, values in self._vocabulary.names.items()}

    # -- from messages to values -----------------------------------------------------------------------------------

    def rows(self, messages: Sequence[Mapping[str, Any]]) -> list[Row | PoisonError]:
        """The values of messages that come together, or why one is no row.

        Together they decide what the columns are that nobody has met before; a message that is no row brings none.
        """
        values: dict[str, list[Any]] = {}
        for fields in messages:
            for name, value in fields.items():
                if value is not None and self._known(name) is None and name not in self._ignored:
                    values.setdefault(name, []).append(value)
        new = {name: CATEGORY if name in self._forced else self._kind_of(found) for name, found in values.items()}
        if new.get(self.target) == TIME:
            new[self.target] = CATEGORY
        found: list[Row | PoisonError] = []
        for fields in messages:
            try:
                row = self._row(fields, new)
            except PoisonError as error:
                found.append(error)
                continue
            for name in row[0]:
                if self._kinds.get(name) is None:
                    self._kinds[name] = new.get(name)
            if row[1] is not None and self._label is None:
                self._label = new[self.target]
            found.append(row)
        return found

    def _known(self, name: str) -> str | None:
        return self._label if name == self.target else self._kinds.get(name)

    def _row(self, fields: Mapping[str, Any], new: Mapping[str, str | None]) -> Row:
        found: dict[str, Any] = {}
        for name, value in fields.items():
            if name in self._ignored or name == self.target:
                continue
            if name not in self._kinds and not self._can_be_a_column(name):
                raise PoisonError(f"its key {name[:50]!r} cannot be the name of a column, or there are too many")
            found[name] = None if value is None else self._value(name, value, self._known(name) or new.get(name))
        if not found:
            raise PoisonError("it has no features")
        label = fields.get(self.target)
        kind = self._label or new.get(self.target)
        return found, None if label is None else self._value(self.target, label, kind)

    def _can_be_a_column(self, name: str) -> bool:
        fits = "\x00" not in name and len(name) <= READ_LIMITS.longest_name and _is_unicode(name)
        return fits and len(self._kinds) < READ_LIMITS.most_columns

    def _kind_of(self, values: Sequence[Any]) -> str | None:
        """What a column is with these values; None: they do not tell."""
        if not self._textual:
            values = [value for value in values if isinstance(value, str | bool | int | float)]
            if not values:
                return None
            if isinstance(values[0], bool):
                return TRUTH
            if not isinstance(values[0], str):
                return NUMBER
            texts = [value for value in values if isinstance(value, str)]
            return TIME if all(_spelt_time(text) is not None for text in texts) else CATEGORY
        texts = [text for text in values if text not in _MISSING]
        plain = [text for text in texts if text not in _MISSING_NUMBER]
        if not texts:
            return None
        if plain and sum(_spelt_number(text) is not None for text in plain) >= MOSTLY * len(plain):
            return NUMBER
        return TIME if all(_spelt_time(text) is not None for text in texts) else CATEGORY

    def _value(self, name: str, value: Any, kind: str | None) -> Any:
        if self._textual:
            if value in (_MISSING if kind in (CATEGORY, None) else _MISSING_NUMBER):
                return None
            read = {NUMBER: _spelt_number, TIME: _spelt_time}.get(str(kind), _as_it_is)(value)
        else:
            read = _typed(value, str(kind), name in self._forced)
        if read is None:
            shown = value if len(repr(value)) <= 60 else f"{str(value)[:50]}..."
            raise PoisonError(f"its {name!r} is {shown!r}, where {_WORDS[kind or CATEGORY]} is expected")
        return None if read != read else read  # NaN

    # -- from values to batches ------------------------------------------------------------------------------------

    def batch(self, rows: Sequence[Row]) -> Batch:
        """Rows as a batch; the door for tables makes the matrix."""
        matrix = read_arrow(table_of_dicts([features for features, _ in rows], self.names))
        names = self.names
        kinds = matrix.kinds or ColumnKinds({})
        meeting = Meeting(None, self._n_given, lambda slot: names[slot])
        values, self._vocabulary = recode(matrix.values, kinds, self._vocabulary, meeting)
        self._n_given = len(names)
        mask = self._vocabulary.mask(values.shape[1]) if self._vocabulary.names else None
        told = ColumnKinds(self._vocabulary.names, tuple(sorted(self._vocabulary.undecided)))
        return Batch(values, self._labels([label for _, label in rows]), names, mask, kinds=told)

    def _labels(self, found: list[Any]) -> NDArray[Any]:
        known = [label for label in found if label is not None]
        array: NDArray[Any]
        if self._label == NUMBER:
            array = whole_numbers(np.array(known, np.float64))
        elif self._label == TRUTH:
            array = np.array(known, bool)
        else:
            array = np.array(known, np.str_)
            if array.tolist() != known:  # numpy drops NUL characters at the end
                array = np.array(known, object)
        if len(known) == len(found):
            return array
        labels = np.full(len(found), None, object)
        labels[[k for k, label in enumerate(found) if label is not None]] = array
        return labels

    # -- positions -------------------------------------------------------------------------------------------------

    def decided(self) -> dict[str, Any]:
        """What the columns are, as JSON keeps it: names, kinds, and the kind of the label."""
        return {"names": list(self.names), "kinds": list(self._kinds.values()), "label": self._label}

    def decide(self, columns: dict[str, Any]) -> bool:
        """Take over what others have decided, before the first batch; whether that makes a difference."""
        if columns == self.decided():
            return False
        self.go_on({**columns, "categories": {}, "undecided": []})
        self._n_given = 0  # all of them are new to the batches
        return True

    def as_dict(self) -> dict[str, Any]:
        """What is known, as JSON keeps it."""
        return {
            **self.decided(),
            "categories": {str(slot): list(values) for slot, values in self._vocabulary.names.items()},
            "undecided": sorted(self._vocabulary.undecided),
        }

    def go_on(self, found: Any) -> None:
        """Take over what another one knew; what cannot be is refused."""
        damaged = SavedStateError("The checkpoint is damaged: its position has no proper 'columns'.")
        if not isinstance(found, dict):
            raise damaged
        names, kinds, label = found.get("names"), found.get("kinds"), found.get("label")
        categories, undecided = found.get("categories"), found.get("undecided")
        fine = (
            isinstance(names, list)
            and isinstance(kinds, list)
            and len(names) == len(kinds) <= READ_LIMITS.most_columns
            and all(isinstance(name, str) and name != self.target for name in names)
            and all(kind is None or kind in _KINDS for kind in (*kinds, label))
            and isinstance(categories, dict)
            and isinstance(undecided, list)
            and all(type(slot) is int and 0 <= slot < len(names) for slot in undecided)
        )
        if not fine:
            raise damaged
        assert isinstance(names, list)
        assert isinstance(kinds, list)
        assert isinstance(categories, dict)
        assert isinstance(undecided, list)
        known: dict[int, tuple[str, ...]] = {}
        for slot, values in categories.items():
            texts = isinstance(values, list) and all(isinstance(value, str) for value in values)
            place = int(slot) if slot.isascii() and slot.isdecimal() else len(names)
            if not texts or place >= len(names) or len(set(values)) != len(values):
                raise damaged
            known[place] = tuple(values)
        try:
            check_names(names)
        except InputError as error:
            raise damaged from error
        self._kinds, self._label = dict(zip(names, kinds, strict=True)), label
        self._vocabulary = CategoryVocabulary(known, frozenset(undecided))
        self._n_given = len(names)


def _typed(value: Any, kind: str, forced: bool) -> Any:
    """A value of JSON as its column has it; None: it does not fit, NaN: it is missing."""
    if forced and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if kind == NUMBER and isinstance(value, int | float) and not isinstance(value, bool):
        return _finite(value)
    if kind == TRUTH and isinstance(value, bool):
        return value
    if isinstance(value, str) and kind in (CATEGORY, TIME):
        return (value if _is_unicode(value) else None) if kind == CATEGORY else _spelt_time(value)
    return None


def _is_unicode(text: str) -> bool:
    """Whether a text can be written: JSON can spell halves of characters that mean nothing alone."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return None if math.isinf(number) else number


def _as_it_is(text: str) -> str:
    return text


def _spelt_number(text: str) -> float | None:
    if "_" in text:  # Python reads 1_000 as a number, data does not mean it
        return None
    try:
        return _finite(float(text))
    except ValueError:
        return None


def _spelt_time(text: str) -> float | None:
    """The seconds since 1970 of a date in ISO form; without a zone it is UTC."""
    if len(text) < 8 or not text[:4].isdecimal():
        return None
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=datetime.UTC)).timestamp()
