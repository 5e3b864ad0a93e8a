"""Weighted moments of a column by their definitions, in exact arithmetic, and what heavy tails do to a p-value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def tails(values: Sequence[float], weights: Sequence[float]) -> tuple[float, float, float, float, float]:
    """Weight, mean, centred square, skewness and kurtosis of the values that are not NaN, in exact arithmetic."""
    kept = [(Fraction(x), Fraction(w)) for x, w in zip(values, weights, strict=True) if not math.isnan(x) and w > 0.0]
    weight = sum((w for _, w in kept), Fraction(0))
    if not kept:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    mean = sum((w * x for x, w in kept), Fraction(0)) / weight
    second, third, fourth = (sum((w * (x - mean) ** p for x, w in kept), Fraction(0)) for p in (2, 3, 4))
    if second == 0:
        return float(weight), float(mean), 0.0, 0.0, 0.0
    kurtosis = float(fourth * weight / second**2)
    skewness = math.copysign(math.sqrt(float(third**2 * weight / second**3)), 1 if third >= 0 else -1)
    return float(weight), float(mean), float(second), skewness, kurtosis


def groups_excess(shares: Sequence[float]) -> float:
    """Mardia's kurtosis of the indicators of all groups but one, less that of the normal distribution."""
    d = len(shares) - 1
    # The squared Mahalanobis distance of a row of group c from the mean is 1 / share_c - 1.
    return sum(share * (1.0 / share - 1.0) ** 2 for share in shares) - d * (d + 2)


def excess(values: Sequence[float]) -> float:
    """Kurtosis beyond the normal one; 0 where it is within 1.5 standard deviations of what normal numbers have."""
    found = tails(values, [1.0] * len(values))[4] - 3.0
    return found if found > 1.5 * math.sqrt(24.0 / len(values)) else 0.0


def meeting_by_chance(explained: float, n: int, excess_x: float, excess_y: float) -> float:
    """What heavy tails add to the p-value of a correlation: E r^4 beyond the normal case, by r^4."""
    return max(excess_x, 0.0) * max(excess_y, 0.0) / n**3 / explained**2
