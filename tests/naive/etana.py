"""ETANA written from the paper, in plain Python: slow, and without anything of the package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

Row = Sequence[float]


def width_cuts(column: Sequence[float], n_bins: int, *, integer: bool = False) -> list[float]:
    values = [x for x in column if not math.isnan(x)]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    if integer:
        low, high = math.floor(low), math.ceil(high)
    return [low + (high - low) / n_bins * h for h in range(1, n_bins)]


def quantile_cuts(column: Sequence[float], n_bins: int) -> list[float]:
    values = sorted(x for x in column if not math.isnan(x))
    if not values:
        return [0.0] * (n_bins - 1)
    above = [x for x in values if x > values[0]]
    cuts = []
    for h in range(1, n_bins):
        cut = values[min(math.ceil(h * len(values) / n_bins), len(values) - 1)]
        cuts.append(above[0] if cut == values[0] and above else cut)
    return cuts


def bin_of(x: float, cuts: Sequence[float]) -> int:
    return sum(cut <= x for cut in cuts)


def likelihood(
    column: Sequence[float], labels: Sequence[int], n_classes: int, cuts: Sequence[float]
) -> list[list[float]]:
    """P(bin | class), one row a bin (section 5.1)."""
    n_bins = len(cuts) + 1
    counts = [[0] * n_classes for _ in range(n_bins)]
    for x, label in zip(column, labels, strict=True):
        if not math.isnan(x):
            counts[bin_of(x, cuts)][label] += 1
    totals = [sum(row[c] for row in counts) for c in range(n_classes)]
    return [[(row[c] + 1) / (totals[c] + n_bins) for c in range(n_classes)] for row in counts]


def variance_score(table: list[list[float]]) -> float:
    score = 0.0
    for row in table:
        mean = sum(row) / len(row)
        score += sum((p - mean) ** 2 for p in row) / len(row)
    return score


def error_score(table: list[list[float]], rows_by_class: Sequence[int]) -> float:
    """Type I and II errors of each class against the rest, when each bin goes to its likelier side."""
    n_classes, score = len(rows_by_class), 0.0
    for c in range(n_classes):
        others = [i for i in range(n_classes) if i != c]
        total = sum(rows_by_class[i] for i in others)
        for row in table:
            rest = sum(row[i] * rows_by_class[i] for i in others) / total
            score += min(row[c], rest)
    return score


def stop_cost(posterior: Sequence[float], risk: Sequence[Sequence[float]]) -> float:
    return min(sum(risk[i][j] * p for i, p in enumerate(posterior)) for j in range(len(posterior)))


def update(posterior: Sequence[float], row: Sequence[float]) -> tuple[float, list[float]]:
    """Eq. 4: the chance of a bin and the posterior after it."""
    weights = [p * q for p, q in zip(posterior, row, strict=True)]
    total = sum(weights)
    return total, [w / total for w in weights]


def best_cost(
    posterior: Sequence[float],
    tables: Sequence[list[list[float]]],
    costs: Sequence[float],
    available: Sequence[float],
    risk: Sequence[Sequence[float]],
) -> float:
    """Eq. 12 by following every outcome: no grid, so exact, and exponential in the number of features."""
    now = stop_cost(posterior, risk)
    if not tables:
        return now
    rest = tables[1:], costs[1:], available[1:], risk
    later = costs[0]
    for row in tables[0]:
        chance, after = update(posterior, row)
        later += chance * best_cost(after, *rest)
    if available[0] < 1.0:
        later = available[0] * later + (1.0 - available[0]) * best_cost(posterior, *rest)
    return min(now, later)


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    return [point for point in product(range(total + 1), repeat=parts) if sum(point) == total]


def largest_remainder(posterior: Sequence[float], steps: int) -> tuple[int, ...]:
    parts = [math.floor(p * steps + 1e-9) for p in posterior]
    rests = [p * steps - part for p, part in zip(posterior, parts, strict=True)]
    for _ in range(steps - sum(parts)):
        best = max(range(len(parts)), key=lambda i: rests[i])
        parts[best] += 1
        rests[best] -= 1
    return tuple(parts)


def rounded_program(
    tables: Sequence[list[list[float]]], costs: Sequence[float], risk: Sequence[Sequence[float]], steps: int
) -> list[dict[tuple[int, ...], float]]:
    """The cost of going on at each stage, on a grid the posterior is rounded to."""
    points = compositions(steps, len(risk))
    value = {point: stop_cost([a / steps for a in point], risk) for point in points}
    stop, stages = dict(value), []
    for table, cost in zip(reversed(tables), reversed(costs), strict=True):
        going_on = {}
        for point in points:
            expected = cost
            for row in table:
                chance, after = update([a / steps for a in point], row)
                expected += chance * value[largest_remainder(after, steps)]
            going_on[point] = expected
        value = {point: min(stop[point], going_on[point]) for point in points}
        stages.append(going_on)
    return stages[::-1]


def threshold_cost(
    planes: Sequence[Sequence[Sequence[float]]],
    prior: Sequence[float],
    tables: Sequence[list[list[float]]],
    costs: Sequence[float],
    risk: Sequence[Sequence[float]],
) -> float:
    """Expected cost when stage k stops for class j once planes[k][j] . posterior <= 0 (Eq. 15); exact.

    Besides, the odds of j against each other class i alone must be planes[k][j][i].
    """

    def follow(posterior: Sequence[float], k: int) -> float:
        losses = [sum(risk[i][j] * p for i, p in enumerate(posterior)) for j in range(len(posterior))]
        j = losses.index(min(losses))
        if k == len(tables):
            return losses[j]
        terms = [weight * p for weight, p in zip(planes[k][j], posterior, strict=True)]
        if sum(terms) <= 0 and all(term <= posterior[j] for i, term in enumerate(terms) if i != j):
            return losses[j]
        total = costs[k]
        for row in tables[k]:
            chance, after = update(posterior, row)
            total += chance * follow(after, k + 1)
        return total

    return follow(prior, 0)
