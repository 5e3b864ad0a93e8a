"""Naive twins of the tests of independence: residuals by least squares, tables as dictionaries."""

from __future__ import annotations

import math
from collections import Counter
from statistics import NormalDist

import numpy as np
from scipy.stats import chi2


def unit(column):
    """Centred and of length 1."""
    centred = (np.asarray(column, float) - np.mean(column)) / np.ptp(column)
    centred -= centred.mean()
    return centred / np.linalg.norm(centred)


def partial_correlation(x, y, given):
    """The correlation of what is left of x and y after regression on the given columns; 0 where nothing is left."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    basis = np.column_stack([np.ones(len(x)), *(unit(column) for column in given)])
    left = []
    for column in (unit(x), unit(y)):
        residual = column - basis @ np.linalg.lstsq(basis, column, rcond=None)[0]
        if np.linalg.norm(residual) < 1e-6:
            return 0.0
        left.append(residual / np.linalg.norm(residual))
    return float(left[0] @ left[1])


def fisher_z(x, y, given, alpha):
    """(independent, statistic)."""
    freedom = len(x) - len(given) - 3
    if freedom <= 0:
        return True, 0.0
    r = min(abs(partial_correlation(x, y, given)), 1.0)
    statistic = math.inf if r == 1.0 else math.sqrt(freedom) * math.atanh(r)
    return statistic < NormalDist().inv_cdf(1 - alpha / 2), statistic


def table(x, y, given, pearson):
    """The statistic and its degrees of freedom; None where there are too few rows."""
    freedom = (len(set(x)) - 1) * (len(set(y)) - 1)
    for column in given:
        freedom *= len(set(column))
    freedom = max(freedom, 1)
    if len(x) < 5 * freedom:
        return None, freedom
    cells = list(zip(*given, strict=True)) if given else [()] * len(x)
    total = 0.0
    for cell in set(cells):
        rows = [i for i, c in enumerate(cells) if c == cell]
        of_x, of_y = Counter(x[i] for i in rows), Counter(y[i] for i in rows)
        both = Counter((x[i], y[i]) for i in rows)
        for a in of_x:
            for b in of_y:
                seen, expected = both[a, b], of_x[a] * of_y[b] / len(rows)
                if pearson:
                    gap = abs(seen - expected) - (0.5 if expected < 10 else 0)
                    total += gap**2 / expected
                elif seen:
                    total += 2 * seen * math.log(seen / expected)
    return total, freedom


def counts(x, y, given, alpha, pearson):
    """(independent, statistic)."""
    x, y, given = list(x), list(y), [list(column) for column in given]
    if len(set(x)) < 2 or len(set(y)) < 2:
        return True, 0.0
    statistic, freedom = table(x, y, given, pearson)
    if statistic is None:
        return True, 0.0
    return statistic <= chi2.isf(alpha, freedom), statistic


def symmetric_uncertainty(x, y):
    def entropy(values):
        return -sum(c / len(values) * math.log(c / len(values)) for c in Counter(values).values())

    x, y = list(x), list(y)
    alone = entropy(x) + entropy(y)
    return 2 * (alone - entropy(list(zip(x, y, strict=True)))) / alone if alone else 0.0
