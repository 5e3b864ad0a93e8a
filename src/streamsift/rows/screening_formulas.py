"""The formulas of the Screener (Eqs. 1 to 6 of its paper), over class moments and over tables of counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.core.limits import SMALLEST
from streamsift.summaries.moments import Moments

Floats = NDArray[np.float64]

# -- scores from class moments ----------------------------------------------------------------------------------


def t_score(moments: Moments) -> Floats:
    """Eq. 1, |mean_1 - mean_2| / sqrt(var_1 / n_1 + var_2 / n_2); the largest one-vs-rest value for more classes."""
    weight = np.broadcast_to(moments.weight, moments.mean.shape)
    n_classes = len(weight)
    if n_classes < 2:
        return np.zeros(weight.shape[1])
    best = np.zeros(weight.shape[1])
    for c in range(n_classes if n_classes > 2 else 1):
        rest = np.arange(n_classes) != c
        n_rest, mean_rest, m2_rest = pooled(weight[rest], moments.mean[rest], moments.m2[rest])
        squared_error = _ratio(moments.m2[c], weight[c] ** 2) + _ratio(m2_rest, n_rest**2)
        distance = np.abs(moments.mean[c] - mean_rest)
        differ = (weight[c] > 0) & (n_rest > 0) & (distance >= SMALLEST)
        best = np.maximum(best, _ratio(np.where(differ, distance, 0.0), np.sqrt(squared_error)))
    return best


def fisher(moments: Moments) -> Floats:
    """Eq. 2, sum n_c (mean_c - mean)^2 / sum n_c var_c."""
    weight = np.broadcast_to(moments.weight, moments.mean.shape)
    total = weight.sum(axis=0)
    # Around the largest class's mean, so that classes with the same mean differ by exactly 0.
    anchor = moments.mean[np.argmax(weight, axis=0), np.arange(weight.shape[1])]
    offset = np.where(weight > 0, moments.mean - anchor, 0.0)
    centre = _ratio((weight * offset).sum(axis=0), total)
    between = (weight * (offset - centre) ** 2).sum(axis=0)
    return _ratio(between, moments.m2.sum(axis=0))


def correlation(moments: Moments) -> Floats:
    """The correlation ratio of each feature and the class; with two classes |r| of the feature and 0 or 1."""
    return correlation_ratio(fisher(moments))


def correlation_ratio(between_over_within: Floats) -> Floats:
    """sqrt(between / (between + within)).

    >>> correlation_ratio(np.array([0.0, 1.0, np.inf])).round(3).tolist()
    [0.0, 0.707, 1.0]
    """
    with np.errstate(invalid="ignore"):
        share = between_over_within / (1.0 + between_over_within)
    return np.sqrt(np.where(np.isinf(between_over_within), 1.0, share))


def pooled(weight: Floats, mean: Floats, m2: Floats) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and second moment of several classes taken together."""
    if len(weight) == 1:
        return weight[0], mean[0], m2[0]
    total = weight.sum(axis=0)
    anchor = mean[np.argmax(weight, axis=0), np.arange(weight.shape[1])]
    offset = np.where(weight > 0, mean - anchor, 0.0)
    centre = _ratio((weight * offset).sum(axis=0), total)
    return total, anchor + centre, (m2 + weight * (offset - centre) ** 2).sum(axis=0)


def _ratio(above: Floats, below: Floats) -> Floats:
    """above / below, where 0 / 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above == 0.0, 0.0, above / below)


# -- scores from bin counts (n_features, n_bins, n_classes) -------------------------------------------------------


def mutual_info(counts: Floats) -> Floats:
    """Eq. 4, in nats."""
    total = counts.sum(axis=(1, 2), keepdims=True)
    joint = _ratio(counts, total)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0.0, joint * np.log(joint / independent), 0.0)
    return np.asarray(np.maximum(terms.sum(axis=(1, 2)), 0.0))


def chi2(counts: Floats) -> Floats:
    """Eq. 5."""
    total = counts.sum(axis=(1, 2), keepdims=True)
    expected = _ratio(counts.sum(axis=1, keepdims=True) * counts.sum(axis=2, keepdims=True), total)
    return np.asarray(_ratio((counts - expected) ** 2, expected).sum(axis=(1, 2)))


def gini(counts: Floats) -> Floats:
    """Eq. 6 as two rows: the impurity left by the best cut, and the impurity without a cut."""
    below = np.concatenate([np.zeros_like(counts[:, :1]), np.cumsum(counts, axis=1)[:, :-1]], axis=1)
    above = counts.sum(axis=1, keepdims=True) - below
    total = counts.sum(axis=(1, 2))
    # n P(A) (1 - sum P(c|A)^2) = n_A - sum n_Ac^2 / n_A; the first cut has nothing below it: no split.
    left = sum(side.sum(axis=2) - _ratio((side**2).sum(axis=2), side.sum(axis=2)) for side in (below, above))
    impurity = _ratio(np.asarray(left), total[:, None])
    return np.stack([impurity.min(axis=1), impurity[:, 0]])


def impurity_removed(values: Floats) -> Floats:
    return np.asarray(np.maximum(values[1] - values[0], 0.0))
