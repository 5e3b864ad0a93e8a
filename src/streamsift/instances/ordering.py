"""The order in which features are offered to every instance: the most informative first.

"error"     section 5.1 of the paper: increasing sum of type I and II errors, each class against the rest, scaled by
            the feature's cost. A bin is given to the side more likely to produce it, so the two errors of a feature
            together are the overlap of the two distributions, sum over bins of min(P(bin | class), P(bin | rest)).
"variance"  the authors' program: decreasing sum over bins of the variance over classes of P(bin | class). The program
            knows one price for all features; where prices differ, the sum is taken per unit of price.

A feature is bought only after those before it, so an expensive one early in the order holds up the others. Of the two,
"variance" cost less on the data sets tried, with equal and with unequal prices: "error" puts cheap features first
even when they are uninformative.
Ties keep the order of the columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def by_variance(likelihood: Floats, bin_start: Ints, feature_cost: Floats) -> Ints:
    """Features by decreasing sum over bins of the variance over classes, per unit of price.

    >>> by_variance(np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.2], [0.1, 0.8]]), np.array([0, 2, 4]), np.ones(2))
    array([1, 0])
    """
    spread = np.add.reduceat(np.var(likelihood, axis=1), bin_start[:-1])
    if np.all(feature_cost == feature_cost[0]):
        return np.argsort(-spread, kind="stable")
    free = feature_cost == 0.0
    per_price = np.where(free, np.inf, spread / np.where(free, 1.0, feature_cost))
    return np.lexsort((-spread, -per_price))


def by_error(likelihood: Floats, bin_start: Ints, counts: Floats, feature_cost: Floats) -> Ints:
    """Features by increasing overlap of each class with the rest, times cost.

    >>> likelihood = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.2], [0.1, 0.8]])
    >>> by_error(likelihood, np.array([0, 2, 4]), np.array([3.0, 4.0]), np.ones(2))
    array([1, 0])
    """
    overlap = np.zeros(len(bin_start) - 1)
    for c in range(likelihood.shape[1]):
        others = np.delete(np.arange(likelihood.shape[1]), c)
        if len(others) == 0:
            continue
        share = np.maximum(counts[others], np.finfo(float).tiny)
        rest = likelihood[:, others] @ (share / share.sum())
        overlap += np.add.reduceat(np.minimum(likelihood[:, c], rest), bin_start[:-1])
    # Free features are ordered among themselves by error alone.
    return np.lexsort((overlap, overlap * feature_cost))
