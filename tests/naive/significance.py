"""Friedman's test, Nemenyi's difference and Wilcoxon's test from their definitions, by counting and enumeration."""

from __future__ import annotations

import itertools
import math

# Critical values q of the two-tailed Nemenyi test at 0.05, for 2 to 10 classifiers (Demsar 2006, Table 5a).
NEMENYI_Q = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}


def ranks(scores):
    """Rank of each score, 1 is the highest; equal scores share the mean of their places."""
    return [1 + sum(b > a for b in scores) + (sum(b == a for b in scores) - 1) / 2 for a in scores]


def average_ranks(table):
    columns = zip(*[ranks(row) for row in table], strict=True)
    return [sum(column) / len(table) for column in columns]


def friedman_statistic(table):
    """Chi-squared of Friedman, corrected for ties (Conover 1999, 5.8.2)."""
    n, k = len(table), len(table[0])
    all_ranks = [ranks(row) for row in table]
    sums = [sum(column) for column in zip(*all_ranks, strict=True)]
    squares = sum(rank**2 for row in all_ranks for rank in row)
    correction = n * k * (k + 1) ** 2 / 4
    return (k - 1) * sum((total - n * (k + 1) / 2) ** 2 for total in sums) / (squares - correction)


def critical_difference(k, n):
    return NEMENYI_Q[k] * math.sqrt(k * (k + 1) / (6 * n))


def wilcoxon_p(gaps):
    """Two-sided p by all signs of the ranks of the absolute gaps; for gaps without zeros and without ties."""
    order = sorted(range(len(gaps)), key=lambda place: abs(gaps[place]))
    rank = {place: number for number, place in enumerate(order, 1)}
    total = len(gaps) * (len(gaps) + 1) / 2
    positive = sum(rank[place] for place, gap in enumerate(gaps) if gap > 0)
    smaller = min(positive, total - positive)
    every = list(itertools.product((0, 1), repeat=len(gaps)))
    as_small = sum(sum(number for number, sign in enumerate(signs, 1) if sign) <= smaller for signs in every)
    return min(1.0, 2 * as_small / len(every))
