"""Errors of predicted numbers, row by row, in exact arithmetic where that matters; imports nothing of the package."""

from __future__ import annotations

import math
from fractions import Fraction


def rmse(true: list[float], predicted: list[float]) -> float:
    """The root of the mean squared error."""
    total = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(true, predicted, strict=True))
    return math.sqrt(total / len(true))


def mae(true: list[float], predicted: list[float]) -> float:
    """The mean absolute error."""
    return float(sum(abs(Fraction(a) - Fraction(b)) for a, b in zip(true, predicted, strict=True)) / len(true))


def r2(true: list[float], predicted: list[float]) -> float:
    """1 minus the squared errors over the spread about the mean of the true numbers; NaN without spread."""
    mean = sum(map(Fraction, true)) / len(true)
    spread = sum((Fraction(a) - mean) ** 2 for a in true)
    wrong = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(true, predicted, strict=True))
    return math.nan if spread == 0 else float(1 - wrong / spread)


def scaled_errors(errors: list[float]) -> list[float]:
    """What a drift detector is given for each error: (|e| + 3 s) / 6 s with the deviation s of the errors so far."""
    found = []
    for place in range(len(errors)):
        known = errors[: place + 1]
        mean = sum(known) / len(known)
        deviation = math.sqrt(sum((e - mean) ** 2 for e in known) / max(len(known) - 1, 1))
        found.append((abs(errors[place]) + 3 * deviation) / (6 * deviation) if deviation > 0 else 0.5)
    return found
