"""Parameter limits: what each accepts, and the one sentence that reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streamsift.core.constraints import (
    ArrayLike,
    Constraint,
    Fraction,
    HasMethods,
    Integer,
    IsBool,
    IsNone,
    OneOf,
    RandomSeed,
    Real,
    check_parameters,
)
from streamsift.core.exceptions import ParameterError

NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("constraint", "good", "bad", "words"),
    [
        (
            Integer(1, None),
            [1, np.int8(5), 10**30],
            [0, 1.0, True, np.True_, "1", None, NAN],
            "an int in the range [1, inf)",
        ),
        (Integer(0, 5, closed="left"), [0, 4], [5, -1], "an int in the range [0, 5)"),
        (
            Real(0, 1, closed="right"),
            [1, 0.5, np.float32(1)],
            [0, 1.1, NAN, INFINITY, True, "1"],
            "a float in the range (0, 1]",
        ),
        (Real(0, 1, closed="neither"), [0.5], [0, 1], "a float in the range (0, 1)"),
        (Real(), [-1e300, 0], [INFINITY, -INFINITY, NAN], "a float in the range (-inf, inf)"),
        (Fraction(), [1.0, 0.1, np.float32(0.5)], [1, 0.0, 1.5, NAN], "a float in the range (0.0, 1.0]"),
        (OneOf("a", "b"), ["a"], ["c", None, 1], "one of 'a', 'b'"),
        (IsNone(), [None], [0, False], "None"),
        (IsBool(), [True, np.False_], [1, None], "a bool"),
        (HasMethods("append"), [[]], [(), list, "text"], "an object with append"),
        (ArrayLike(), [[], (), np.zeros(1)], ["text", 1], "an array or list"),
        (
            RandomSeed(),
            [None, 0, np.random.default_rng(0)],
            [-1, 0.5, 2**32],
            "None, an int in the range [0, 4294967295], or",
        ),
    ],
)
def test_limits(constraint: Constraint, good: list[Any], bad: list[Any], words: str) -> None:
    assert [value for value in good if not constraint.accepts(value)] == []
    assert [value for value in bad if constraint.accepts(value)] == []
    assert constraint.describe().startswith(words)


def test_any_of_several_limits_will_do() -> None:
    limits = {"k": (Integer(1, None), Fraction())}
    check_parameters("Method", {"k": 3}, limits)
    check_parameters("Method", {"k": 0.5}, limits)
    wanted = r"The 'k' parameter of Method must be an int in the range \[1, inf\) or a float in .*\. Got 0 instead\."
    with pytest.raises(ParameterError, match=wanted):
        check_parameters("Method", {"k": 0}, limits)
