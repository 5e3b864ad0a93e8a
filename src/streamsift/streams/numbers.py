"""Numbers as people write them: decimal commas, thousands separators, percent and currency signs, words for missing.

A form says how the numbers of a column are written. It is taken only where every value fits it and no other form would
read another number: `1,234` alone may be 1234 or 1.234, and is refused. 12.5 % is read as 0.125; currency signs are
dropped, as long as a column has only one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from streamsift.core.exceptions import ParameterError, ReaderError

# What stands for a missing value in every column, and what does so among numbers and dates only: a strand of DNA is
# "+" or "-", and a credit that was granted has the label "-" in more than one data set.
MISSING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "#N/A", "#NA", "#N/A N/A"),
    *("-1.#IND", "1.#IND", "-1.#QNAN", "1.#QNAN"),
)
MISSING_NUMBER = ("-", "--", "?", ".", "na", "n.a.", "N.A.", "None", "none", "Null", "NAN")
MOSTLY = 0.9  # a column of text of which so many values are numbers is taken for one of numbers with mistakes

_SPACE = "[ \t\u00a0\u202f\u2009]"  # also those that do not break and the thin one
_THOUSANDS = {"": "", ",": ",", ".": r"\.", " ": _SPACE, "'": "['\u2019]"}
_CURRENCY = r"\p{Sc}|EUR|USD|GBP|CHF|JPY"
_SIGN = "[+\u2212-]"
# Not pa.scalar, which imports pandas when that is installed.
_HUNDRED = pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer(np.array([100.0]))])[0]
_WORDS = r"(?i:inf|infinity|nan)"


@dataclass(frozen=True)
class NumberForm:
    """How numbers are written: the sign before the fraction, and the one between thousands ("": none).

    >>> NumberForm(",", ".").convert(pa.array(["1.234,56", None, "12 %"])).to_pylist()
    [1234.56, None, 0.12]
    """

    decimal: str = "."
    thousands: str = ""

    @property
    def pattern(self) -> str:
        """What matches a number of this form, for RE2."""
        decimal = re.escape(self.decimal)
        whole = r"\d+"
        if self.thousands:
            whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{self._separator}\d{{3}})+)"
        number = rf"(?:(?:{whole}(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?|{_WORDS})"
        before, after = rf"{_SIGN}?{_SPACE}*(?:(?:{_CURRENCY}){_SPACE}*)?{_SIGN}?", rf"(?:{_SPACE}*(?:%|{_CURRENCY}))?"
        return rf"^{_SPACE}*{before}{number}{after}{_SPACE}*$"

    @property
    def _separator(self) -> str:
        return _THOUSANDS.get(self.thousands, re.escape(self.thousands))

    def fits(self, texts: Any) -> Any:
        """Which texts are numbers of this form; a missing one is null."""
        return compute.match_substring_regex(texts, self.pattern)

    def convert(self, texts: Any) -> Any:
        """The numbers of texts that fit."""
        percent = compute.match_substring(texts, "%")
        bare = compute.replace_substring_regex(texts, rf"%|{_CURRENCY}", "")
        if self.thousands:
            bare = compute.replace_substring_regex(bare, self._separator, "")
        bare = compute.replace_substring_regex(compute.replace_substring(bare, "\u2212", "-"), rf"^\+|{_SPACE}", "")
        if self.decimal != ".":
            bare = compute.replace_substring(bare, self.decimal, ".")
        numbers = compute.cast(bare, pa.float64())
        return compute.if_else(percent, compute.divide(numbers, _HUNDRED), numbers)


PLAIN = NumberForm()


@dataclass(frozen=True)
class Spelling:
    """What a user says about how numbers are written; None is found out. `na` are further words for missing values."""

    decimal: str | None = None
    thousands: str | None = None
    na: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"'decimal' must be '.' or ','. Got {self.decimal!r} instead.")
        separator = self.thousands
        if separator is not None and (len(separator) != 1 or separator.isalnum() or separator in '"+-%\r\n'):
            raise ParameterError(
                f"'thousands' must be one character, such as ',', '.' or ' '. Got {separator!r} instead."
            )
        if separator is not None and separator == self.decimal:
            raise ParameterError(f"'decimal' and 'thousands' are both {separator!r}: they must differ.")

    @property
    def said(self) -> bool:
        """Whether the user says anything about the form of numbers."""
        return self.decimal is not None or self.thousands is not None

    @property
    def point(self) -> str:
        """The decimal sign of columns that pyarrow reads as numbers by itself."""
        return self.decimal or ("," if self.thousands == "." else ".")

    @property
    def missing(self) -> tuple[str, ...]:
        """What is missing in columns of text."""
        return (*MISSING, *self.na)

    @property
    def missing_number(self) -> tuple[str, ...]:
        """What is missing in columns of numbers and dates."""
        return (*MISSING, *MISSING_NUMBER, *self.na)

    def forms(self) -> list[NumberForm]:
        """The forms that may be, the plainest first."""
        signs = list(dict.fromkeys([*_THOUSANDS, self.thousands or ""]))
        decimals = [self.point] if self.said and (self.decimal or self.thousands in (",", ".")) else [".", ","]
        allowed = ["", self.thousands] if self.thousands is not None else signs
        return [NumberForm(decimal, sign) for decimal in decimals for sign in allowed if sign != decimal]


def without(texts: Any, words: Sequence[str]) -> Any:
    """Texts in which those words are missing values."""
    found = compute.is_in(texts, texts_of(tuple(words)))
    return compute.if_else(found, pa.nulls(1, texts.type)[0], texts) if compute.any(found).as_py() else texts


@cache
def texts_of(words: tuple[str, ...]) -> Any:
    """Words as an Arrow array; unlike pa.array this does not import pandas."""
    data = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, data)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(words), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(data))])


@dataclass(frozen=True)
class Finding:
    """What a column of text turned out to be: a form where all values are numbers, else None.

    `example` is a value that shows the form, `stray` the place of the first text in a column that is nearly all
    numbers.
    """

    form: NumberForm | None
    example: str = ""
    stray: int | None = None


def find_form(texts: Any, spelling: Spelling, what: str) -> Finding:
    """How the numbers of a column of text are written; `what` names the column where that is not to be known."""
    values = without(texts, spelling.missing_number)
    distinct = compute.unique(values).drop_null()
    if not compute.any(compute.match_substring_regex(distinct, "[0-9]")).as_py():
        return Finding(None)  # spares the forms: they take longer to look for than most texts to read
    forms = spelling.forms()
    shares = [_share(form, distinct) for form in forms]
    best = max(shares)
    if best < 1.0:
        form = forms[shares.index(best)]
        fits = form.fits(values)
        n_numbers, n_values = compute.sum(fits).as_py() or 0, len(values) - values.null_count
        return Finding(None, stray=compute.index(fits, False).as_py() if n_numbers >= MOSTLY * n_values else None)
    fitting = [form for form, share in zip(forms, shares, strict=True) if share == 1.0]
    _refuse_two_meanings(fitting, distinct, what)
    _refuse_two_currencies(distinct, what)
    chosen = fitting[-1] if spelling.thousands is not None else fitting[0]  # later values may have what was said
    return Finding(chosen, example=max(distinct.to_pylist()[:1000], key=len).strip())


def _share(form: NumberForm, distinct: Any) -> float:
    return float((compute.sum(form.fits(distinct)).as_py() or 0) / len(distinct))


def _refuse_two_meanings(fitting: Sequence[NumberForm], distinct: Any, what: str) -> None:
    first = np.from_dlpack(fitting[0].convert(distinct))
    for other in fitting[1:]:
        second = np.from_dlpack(other.convert(distinct))
        differ = ~((first == second) | (np.isnan(first) & np.isnan(second)))
        if differ.any():
            place = int(np.argmax(differ))
            raise two_meanings(distinct[place].as_py(), (first[place], second[place]), what)


def two_meanings(text: str, numbers: tuple[float, float], what: str) -> ReaderError:
    """The error for a number that can be read in two ways."""
    sign = "," if "," in text else "."
    either, other = (f"{number:.10g}" for number in sorted(numbers, reverse=True))
    return ReaderError(
        f"{what} holds {text!r}, which may be {either} or {other}: say thousands={sign!r} (--thousands {sign}) "
        f"or decimal={sign!r} (--decimal {sign})."
    )


def _refuse_two_currencies(distinct: Any, what: str) -> None:
    found = compute.extract_regex(distinct, rf"(?P<sign>{_CURRENCY})").drop_null()
    signs = sorted({row["sign"] for row in found.to_pylist()})
    if len(signs) > 1:
        raise ReaderError(
            f"{what} holds amounts in {signs[0]} and in {signs[1]}, which cannot be compared: convert them to one "
            "currency, or leave the column out with ignore= (--ignore)."
        )


def how_to_say(text: str) -> str:
    """Which option would make a text a number, as advice to begin a list with; nothing where none would.

    >>> how_to_say("1,5")
    "say decimal=',' (--decimal ,), "
    """
    value = texts_of((text,))
    forms = {"thousands": NumberForm(".", ","), "decimal": NumberForm(",", ".")} if "," in text else {}
    options = [f"{name}=',' (--{name} ,)" for name, form in forms.items() if form.fits(value)[0].as_py()]
    return f"say {' or '.join(options)}, " if options else ""


def could_be_thousands(texts: Any) -> str | None:
    """A number with a point, if every one of the column might have it between thousands: `1.234`, but not `1.5`."""
    values = compute.unique(texts).drop_null()
    if not compute.all(NumberForm(",", ".").fits(values)).as_py():
        return None
    pointed = values.filter(compute.match_substring(values, "."))
    return str(pointed[0].as_py()) if len(pointed) else None
