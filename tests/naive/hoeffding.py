"""The leaf of a Hoeffding tree from its definition, on all rows it has seen.

Domingos and Hulten, Mining High-Speed Data Streams (2000), with the normal distributions and the ten cuts of river's
trees. A row is (values, label, weight); `nominal` are the columns whose values are categories.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

Rows = Sequence[tuple[Sequence[float], int, float]]


def probabilities(rows: Rows, nominal: set[int], values: Sequence[float], labels: Sequence[int]) -> list[float]:
    """Naive Bayes: the share of each class times, per column, its density or share of the value; unknown ones say 1."""
    logs = []
    for label in labels:
        own = [(row, weight) for row, one, weight in rows if one == label]
        found = math.log(sum(weight for _, weight in own) / sum(weight for *_, weight in rows))
        for column, value in enumerate(values):
            pairs = [(row[column], weight) for row, weight in own]
            found += _log_share(pairs, value) if column in nominal else _log_density(pairs, value)
        logs.append(found)
    most = max(logs)
    return [math.exp(one - most) / sum(math.exp(other - most) for other in logs) for one in logs]


def _log_share(pairs: list[tuple[float, float]], value: float) -> float:
    same = sum(weight for one, weight in pairs if one == value)
    return math.log(same / sum(weight for _, weight in pairs)) if same > 0 else 0.0


def _moments(pairs: list[tuple[float, float]]) -> tuple[float, float, float]:
    total = sum(weight for _, weight in pairs)
    mean = math.fsum(weight * value for value, weight in pairs) / total
    squares = math.fsum(weight * (value - mean) ** 2 for value, weight in pairs)
    return total, mean, squares / (total - 1.0) if total > 1.0 else 0.0


def _log_density(pairs: list[tuple[float, float]], value: float) -> float:
    _, mean, variance = _moments(pairs)
    if variance <= 0:
        return 0.0
    distance = float(value - mean) ** 2 / 2
    if distance > sys.float_info.max * variance:  # a density whose logarithm is -inf says nothing
        return 0.0
    return -0.5 * math.log(2 * math.pi * variance) - distance / variance


def merits(rows: Rows, nominal: set[int], n_columns: int) -> list[float]:
    """The information gain of the best split of each column; -inf where none has two branches of more than 1 %."""
    found = []
    for column in range(n_columns):
        splits = _by_value(rows, column) if column in nominal else _by_cut(rows, column)
        found.append(max((_gain(rows, branches) for branches in splits), default=-math.inf))
    return found


def _by_value(rows: Rows, column: int) -> list[list[dict[int, float]]]:
    values = sorted({row[column] for row, *_ in rows})
    each = [_classes([one for one in rows if one[0][column] == value]) for value in values]
    others = [_classes([one for one in rows if one[0][column] != value]) for value in values]
    return [each, *([one, other] for one, other in zip(each, others, strict=True))]


def _by_cut(rows: Rows, column: int) -> list[list[dict[int, float]]]:
    values = [row[column] for row, *_ in rows]
    low, high = min(values), max(values)
    cuts = [low + (high - low) / 11 * step for step in range(1, 11)]
    return [_parted(rows, column, cut) for cut in cuts if low < cut < high]


def _parted(rows: Rows, column: int, cut: float) -> list[dict[int, float]]:
    below, above = {}, {}
    for label in {label for _, label, _ in rows}:
        pairs = [(row[column], weight) for row, one, weight in rows if one == label]
        total, mean, variance = _moments(pairs)
        if cut < min(value for value, _ in pairs):
            share = 0.0
        elif cut >= max(value for value, _ in pairs):
            share = 1.0
        else:
            share = 0.5 * (1 + math.erf((cut - mean) / math.sqrt(2 * variance)))
        below[label], above[label] = share * total, (1 - share) * total
    return [below, above]


def _classes(rows: Rows) -> dict[int, float]:
    found: dict[int, float] = {}
    for _, label, weight in rows:
        found[label] = found.get(label, 0.0) + weight
    return found


def _entropy(weights: dict[int, float]) -> float:
    total = sum(weights.values())
    return -sum(one / total * math.log2(one / total) for one in weights.values() if one > 0)


def _gain(rows: Rows, branches: list[dict[int, float]]) -> float:
    sizes = [sum(branch.values()) for branch in branches]
    if sum(size / sum(sizes) > 0.01 for size in sizes) < 2:
        return -math.inf
    after = sum(size / sum(sizes) * _entropy(branch) for size, branch in zip(sizes, branches, strict=True) if size > 0)
    return _entropy(_classes(rows)) - after
