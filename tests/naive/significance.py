"""Friedman's test, Nemenyi's difference, blocks of time and Holm's correction from their definitions, by counting."""

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


def block_test(gaps, length):
    """Standard error of the mean from blocks of steps, raised by the correlation of neighbours, and its freedom."""
    n = len(gaps) // length
    assert n * length == len(gaps)
    means = [sum(gaps[k * length : (k + 1) * length]) / length for k in range(n)]
    centre = sum(means) / n
    around = [mean - centre for mean in means]
    total = sum(value**2 for value in around)
    r = sum(a * b for a, b in itertools.pairwise(around)) / total
    r += (1 + 3 * max(r, 0)) / n
    r = min(max(r, 0), 0.95)
    factor = (1 + r) / (1 - r) if n >= 20 else 1 + 2 * min(r, 0.5)
    return math.sqrt(total / (n - 1) / n * factor), n - 1


def holm(p):
    """Adjusted p: the largest, over all that are as small, of p times how many are at least as large."""
    order = sorted(range(len(p)), key=lambda place: p[place])
    steps = {place: min(1.0, p[place] * (len(p) - number)) for number, place in enumerate(order)}
    return [max(steps[other] for other in order[: order.index(place) + 1]) for place in range(len(p))]
