"""Counting categories and scoring them, with dictionaries and loops; written from the formulas."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

Table = dict[Hashable, dict[Hashable, float]]  # category -> class -> weight


def count(values: Sequence[Any], labels: Sequence[Any], fading: float = 1.0) -> Table:
    """Class weights of each category; None is missing, but its row ages the others."""
    table: Table = {}
    n = len(values)
    for i, (value, label) in enumerate(zip(values, labels, strict=True)):
        if value is not None:
            row = table.setdefault(value, {})
            row[label] = row.get(label, 0.0) + fading ** (n - 1 - i)
    return table


def space_saving(values: Sequence[Any], most: int) -> dict[Any, tuple[int, int]]:
    """The kept categories: (rows counted since it was kept, count it took over), after Metwally et al. (2005)."""
    kept: dict[Any, tuple[int, int]] = {}
    for value in values:
        if value in kept:
            kept[value] = (kept[value][0] + 1, kept[value][1])
        elif len(kept) < most:
            kept[value] = (1, 0)
        else:
            least = min(sorted(kept), key=lambda known: sum(kept[known]))
            kept[value] = (1, sum(kept.pop(least)))
    return kept


def margins(table: Table) -> tuple[float, dict[Hashable, float], dict[Hashable, float]]:
    of_category = {category: sum(row.values()) for category, row in table.items()}
    of_class: dict[Hashable, float] = {}
    for row in table.values():
        for label, weight in row.items():
            of_class[label] = of_class.get(label, 0.0) + weight
    return sum(of_category.values()), of_category, of_class


def mutual_info(table: Table) -> float:
    total, of_category, of_class = margins(table)
    return sum(
        weight / total * math.log(weight * total / (of_category[category] * of_class[label]))
        for category, row in table.items()
        for label, weight in row.items()
    )


def chi2(table: Table) -> float:
    total, of_category, of_class = margins(table)
    found = 0.0
    for category, row in table.items():
        for label, size in of_class.items():
            expected = of_category[category] * size / total
            found += (row.get(label, 0.0) - expected) ** 2 / expected
    return found


def impurity(rows: list[dict[Hashable, float]]) -> float:
    """Weight times Gini impurity of some categories taken together."""
    together: dict[Hashable, float] = {}
    for row in rows:
        for label, weight in row.items():
            together[label] = together.get(label, 0.0) + weight
    total = sum(together.values())
    return total - sum(weight**2 for weight in together.values()) / total if total else 0.0


def gini(table: Table) -> float:
    """The impurity left by the best of all splits into two groups, tried one by one."""
    rows = list(table.values())
    best = math.inf
    for mask in range(2 ** (len(rows) - 1)):
        sides: tuple[list[Any], list[Any]] = ([], [])
        for k, row in enumerate(rows):
            sides[mask >> k & 1].append(row)
        best = min(best, impurity(sides[0]) + impurity(sides[1]))
    return best / margins(table)[0]


def numbers(values: Sequence[Any], labels: Sequence[Any], positive: Any) -> list[float]:
    """Each value replaced by the share of a class among the rows of its category."""
    table = count(values, labels)
    return [table[value].get(positive, 0.0) / sum(table[value].values()) for value in values]


def expected_mutual_info(sizes: Sequence[int], first_class: int) -> float:
    """The mean over all ways to deal out the rows of two classes to categories of these sizes, each equally likely."""
    n = sum(sizes)
    total = Fraction(math.comb(n, first_class))
    mean = 0.0
    for size in sizes:
        for k in range(max(0, first_class - (n - size)), min(size, first_class) + 1):
            chance = float(Fraction(math.comb(size, k) * math.comb(n - size, first_class - k)) / total)
            for cell, column in ((k, first_class), (size - k, n - first_class)):
                if cell:
                    mean += chance * cell / n * math.log(cell * n / (size * column))
    return mean
