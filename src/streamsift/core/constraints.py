"""Parameter limits as data: each estimator declares them once, one function checks them, one sentence reports.

    parameter_limits = {"eps": (Real(0, 1, closed="neither"),), "score": (OneOf("t_score", "fisher"),)}

A value is fine when any constraint of its tuple accepts it.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from streamsift.core.exceptions import ParameterError
from streamsift.core.values import read_duration


class Constraint(Protocol):
    """One kind of acceptable value."""

    def accepts(self, value: Any) -> bool: ...

    def describe(self) -> str: ...


def _inside(value: float, low: float | None, high: float | None, closed: str) -> bool:
    if value != value:  # NaN
        return False
    above = low is None or (value >= low if closed in ("left", "both") else value > low)
    below = high is None or (value <= high if closed in ("right", "both") else value < high)
    return above and below


def _range(low: float | None, high: float | None, closed: str) -> str:
    left = "[" if low is not None and closed in ("left", "both") else "("
    right = "]" if high is not None and closed in ("right", "both") else ")"
    return f"{left}{'-inf' if low is None else low}, {'inf' if high is None else high}{right}"


@dataclass(frozen=True)
class Integer:
    """A whole number in a range; booleans are not numbers here."""

    low: int | None = None
    high: int | None = None
    closed: str = "both"

    def accepts(self, value: Any) -> bool:
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
        return whole and _inside(float(value), self.low, self.high, self.closed)

    def describe(self) -> str:
        return f"an int in the range {_range(self.low, self.high, self.closed)}"


@dataclass(frozen=True)
class Real:
    """A finite real number in a range."""

    low: float | None = None
    high: float | None = None
    closed: str = "both"

    def accepts(self, value: Any) -> bool:
        real = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
        return real and abs(value) != float("inf") and _inside(float(value), self.low, self.high, self.closed)

    def describe(self) -> str:
        return f"a float in the range {_range(self.low, self.high, self.closed)}"


@dataclass(frozen=True)
class Fraction:
    """A float (never an int) in (0, 1]: 1.0 means all, while the int 1 means one."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, float | np.floating) and bool(0.0 < value <= 1.0)

    def describe(self) -> str:
        return "a float in the range (0.0, 1.0]"


class OneOf:
    """One of a few strings."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.choices

    def describe(self) -> str:
        return "one of " + ", ".join(repr(choice) for choice in self.choices)


@dataclass(frozen=True)
class IsNone:
    """The value None."""

    def accepts(self, value: Any) -> bool:
        return value is None

    def describe(self) -> str:
        return "None"


@dataclass(frozen=True)
class IsBool:
    """True or False."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)

    def describe(self) -> str:
        return "a bool"


class HasMethods:
    """An object with the named methods or attributes."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def accepts(self, value: Any) -> bool:
        return not isinstance(value, type | str) and all(hasattr(value, name) for name in self.names)

    def describe(self) -> str:
        return "an object with " + ", ".join(self.names)


@dataclass(frozen=True)
class IsDuration:
    """A time in words."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and read_duration(value) is not None

    def describe(self) -> str:
        return "a time such as '90s', '15m', '1h' or '7d'"


@dataclass(frozen=True)
class IsText:
    """A text that is not empty."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and bool(value)

    def describe(self) -> str:
        return "a text"


@dataclass(frozen=True)
class ArrayLike:
    """A list, tuple or array; what is in it is checked where it is used."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list | tuple | np.ndarray)

    def describe(self) -> str:
        return "an array or list"


RandomSource = int | np.random.Generator | np.random.RandomState | None


@dataclass(frozen=True)
class RandomSeed:
    """None, a non-negative int, or a numpy Generator or RandomState."""

    def accepts(self, value: Any) -> bool:
        if value is None or isinstance(value, np.random.Generator | np.random.RandomState):
            return True
        return Integer(0, 2**32 - 1).accepts(value)

    def describe(self) -> str:
        return "None, an int in the range [0, 4294967295], or a numpy random generator"


Limits = Mapping[str, tuple[Constraint, ...]]


def check_parameters(owner: str, values: Mapping[str, Any], limits: Limits) -> None:
    """Raise ParameterError for the first value outside its limits.

    >>> check_parameters("Screener", {"eps": 2}, {"eps": (Real(0, 1, closed="neither"),)})
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.ParameterError: The 'eps' parameter of Screener must be a float in the range (0, 1). \
Got 2 instead.
    """
    for name, constraints in limits.items():
        value = values[name]
        if not any(constraint.accepts(value) for constraint in constraints):
            wanted = " or ".join(constraint.describe() for constraint in constraints)
            raise ParameterError(f"The {name!r} parameter of {owner} must be {wanted}. Got {value!r} instead.")
