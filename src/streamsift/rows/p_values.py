"""p-values of the screening scores: how likely a feature that tells nothing would score as much.

    fisher        F test of equal class means: F = score (n - C) / (C - 1), with C - 1 and n - C degrees of freedom
    t_score       Welch's t test of a class against the rest; with more than two classes, C times the smallest p-value
    chi2, gini    chi-squared test of the table of bins (or categories) and classes
    mutual_info   G test of the same table, G = 2 n MI by Williams' correction, where at least 5 rows are expected in
                  every cell; else as chi2

Rare classes and skewed numbers. Where outliers fall into a rare class, the pooled spread of the F and t tests is too
small for that class; where none does, the spread of that class alone, which Welch's test goes by, is too small. The two
fail on opposite sides. So where a class or the rest is rare (less than UNEQUAL / 2 of the rows), the t_score takes the
larger p-value of Welch's test and of the pooled t test; and where a class is rare (less than UNEQUAL / C), fisher takes
the larger one of the F test and of the t_score.

Heavy tails. The F test of a correlation rests on the normal distribution, or on many rows. Where the values of the
target were dealt out to the rows at random,

    E r^4 = 3 / n^2 + g_x g_y / n^3        g: the excess kurtosis (Pitman 1937, up to terms of higher order)

and where both have heavy tails, the last term comes from rare events: large values that meet by chance. By Markov's
inequality these make r^2 as large as seen with a probability of g_x g_y / (n^3 r^4) at most, which is added to p. An
excess that normal numbers often have by chance counts as none, so for them the test is the usual one. For
groups in place of numbers, g is the excess of Mardia's kurtosis of their indicators, sum 1 / share - K^2 - 2 K + 2.

Tables with small cells, as many categories make them, do not follow chi-squared with (K - 1) (C - 1) degrees of
freedom. Under the hypothesis that the classes were dealt out at random over the rows, mean and variance of the
statistic are known exactly (Haldane 1940, Dawson 1954):

    mean      n (K - 1) (C - 1) / (n - 1)
    variance  2 n / (n - 3) (v_r - w_r) (v_c - w_c) + n^2 / (n - 1) w_r w_c,
              v_r = (K - 1) (n - K) / (n - 1),  w_r = (n sum 1 / r_k - K^2) / (n - 2),  r_k the rows of category k

and the p-value is that of a multiple of chi-squared with the same two. For large cells both are the same.

With fading or weights, n is the number of equally weighted rows that scatter as much, (sum w)^2 / sum w^2. Both sums
are kept for all rows together; rows in which a feature is missing are taken to weigh as the others do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from streamsift.core.limits import SMALLEST
from streamsift.rows.screening_formulas import chi2, fisher, mutual_info, pooled
from streamsift.summaries.moments import Moments

Floats = NDArray[np.float64]

UNEQUAL = 0.6  # a class with less than this share of the rows it would have among equal ones is rare
_LARGE_CELL = 5.0  # expected rows from which on the G statistic follows chi-squared closely


def fisher_p(moments: Moments, per_weight: float) -> Floats:
    """The F test of each feature."""
    weight = np.broadcast_to(moments.weight, moments.mean.shape) * per_weight
    rows, classes = weight.sum(axis=0), np.count_nonzero(weight > 0.0, axis=0)
    above, below = classes - 1.0, rows - classes
    score = fisher(moments)
    usable = (above > 0.0) & (below > 0.0) & (score > 0.0)
    found = np.ones(len(score))
    with np.errstate(over="ignore"):
        f = score[usable] * below[usable] / above[usable]
    found[usable] = special.fdtrc(above[usable], below[usable], f)
    smallest = np.where(weight > 0.0, weight, np.inf).min(axis=0, initial=np.inf)
    rare = usable & (smallest * classes < UNEQUAL * rows)
    if rare.any():
        found[rare] = np.maximum(found, t_score_p(moments, per_weight))[rare]
    return found


def t_score_p(moments: Moments, per_weight: float) -> Floats:
    """Welch's test of each feature, for the class that is most different from the rest."""
    weight = np.broadcast_to(moments.weight, moments.mean.shape)
    n_classes = len(weight)
    best = np.ones(weight.shape[1])
    if n_classes < 2:
        return best
    tried = range(n_classes if n_classes > 2 else 1)
    for c in tried:
        rest = np.arange(n_classes) != c
        n_rest, mean_rest, m2_rest = pooled(weight[rest], moments.mean[rest], moments.m2[rest])
        sides = weight[c] * per_weight, moments.m2[c] * per_weight, n_rest * per_weight, m2_rest * per_weight
        distance = np.abs(moments.mean[c] - mean_rest)
        p = _welch(*sides, distance)
        rare = np.minimum(sides[0], sides[2]) * 2.0 < UNEQUAL * (sides[0] + sides[2])
        best = np.minimum(best, np.where(rare, np.maximum(p, _pooled_t(*sides, distance)), p))
    return np.minimum(best * len(tried), 1.0)


def _welch(n_a: Floats, m2_a: Floats, n_b: Floats, m2_b: Floats, distance: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        error_a, error_b = m2_a / (n_a - 1.0) / n_a, m2_b / (n_b - 1.0) / n_b
        share_a, share_b = error_a / (error_a + error_b), error_b / (error_a + error_b)  # squares of errors overflow
        freedom = 1.0 / (share_a**2 / (n_a - 1.0) + share_b**2 / (n_b - 1.0))
        t = distance / np.sqrt(error_a + error_b)
        found = 2.0 * special.stdtr(freedom, -t)
    usable = (n_a > 1.0) & (n_b > 1.0) & (distance >= SMALLEST)
    separated = usable & (error_a + error_b == 0.0)  # different values without any scatter
    return np.where(separated, 0.0, np.where(usable & np.isfinite(found), found, 1.0))


def _pooled_t(n_a: Floats, m2_a: Floats, n_b: Floats, m2_b: Floats, distance: Floats) -> Floats:
    freedom, within = n_a + n_b - 2.0, m2_a + m2_b
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = distance / np.sqrt(within / freedom * (1.0 / n_a + 1.0 / n_b))
        found = 2.0 * special.stdtr(freedom, -t)
    return np.where((freedom > 0.0) & (distance > 0.0) & np.isfinite(found), found, 1.0)


def heaviness(excess: Floats, target_excess: float, unevenness: float) -> Floats:
    """g_x g_y where both are positive, for rows whose weights are as uneven as that (summaries/tails.py)."""
    return np.asarray(np.maximum(excess, 0.0) * (max(target_excess, 0.0) * unevenness))


def group_excess(shares: Floats) -> float:
    """The excess kurtosis of the indicators of groups with such shares of the rows.

    >>> group_excess(np.array([0.5, 0.5]))
    -2.0
    """
    shares = shares[shares > 0.0]
    k = len(shares)
    return float((1.0 / shares).sum() - k * k - 2.0 * k + 2.0)


def with_tails(
    p: Floats | float, explained: Floats | float, n_rows: Floats | float, heaviness: Floats | float
) -> Floats:
    """The p-value of a share of the spread that is explained, where tails are that heavy.

    >>> [round(float(with_tails(0.001, 0.1, 500.0, heavy)), 6) for heavy in (0.0, 250.0)]
    [0.001, 0.0012]
    """
    statistic = np.asarray(n_rows * explained)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        more = np.where(statistic > 0.0, heaviness / (n_rows * statistic * statistic), 0.0)
    return np.asarray(np.minimum(p + more, 1.0))


def table_p(counts: Floats, per_weight: float | Floats, *, likelihood: bool) -> Floats:
    """The test of each table of class weights (n_features, n_bins, n_classes); with `likelihood` the G test."""
    counts = counts * np.reshape(per_weight, (-1, 1, 1))
    rows, bins, classes = counts.sum(axis=(1, 2)), counts.sum(axis=2), counts.sum(axis=1)
    n_bins, n_classes = np.count_nonzero(bins, axis=1), np.count_nonzero(classes, axis=1)
    usable = (n_bins > 1) & (n_classes > 1) & (rows > 3.0)
    found = np.ones(len(counts))
    if not usable.any():
        return found
    counts, rows, bins, classes = counts[usable], rows[usable], bins[usable], classes[usable]
    k, c = n_bins[usable].astype(float), n_classes[usable].astype(float)
    statistic = chi2(counts)
    mean, variance = _moments_by_chance(rows, bins, classes, k, c)
    sure = variance <= 0.0  # no table but this one has these margins
    with np.errstate(divide="ignore", invalid="ignore"):
        p = special.chdtrc(2.0 * mean**2 / variance, statistic * 2.0 * mean / variance)
    p = np.where(sure, 1.0, p)
    if likelihood:
        smallest = _least(bins) * _least(classes) / rows
        large = smallest >= _LARGE_CELL
        g = 2.0 * rows * mutual_info(counts) / _williams(rows, bins, classes, k, c)
        p = np.where(large, special.chdtrc((k - 1.0) * (c - 1.0), g), p)
    found[usable] = p
    return found


def _moments_by_chance(rows: Floats, bins: Floats, classes: Floats, k: Floats, c: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the chi-squared statistic over all ways to deal the classes out to the rows."""
    mean = rows * (k - 1.0) * (c - 1.0) / (rows - 1.0)
    v_r, v_c = (k - 1.0) * (rows - k) / (rows - 1.0), (c - 1.0) * (rows - c) / (rows - 1.0)
    w_r, w_c = (
        (rows * np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0.0).sum(axis=1) - n**2) / (rows - 2.0)
        for sums, n in ((bins, k), (classes, c))
    )
    variance = 2.0 * rows / (rows - 3.0) * (v_r - w_r) * (v_c - w_c) + rows**2 / (rows - 1.0) * w_r * w_c
    return mean, variance


def _williams(rows: Floats, bins: Floats, classes: Floats, k: Floats, c: Floats) -> Floats:
    """By how much the G statistic of a table with few rows is too large (Williams 1976)."""
    inverse_bins, inverse_classes = (
        np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0.0).sum(axis=1) for sums in (bins, classes)
    )
    more = (rows * inverse_bins - 1.0) * (rows * inverse_classes - 1.0)
    return np.asarray(1.0 + more / (6.0 * rows * (k - 1.0) * (c - 1.0)))


def _least(sums: Floats) -> Floats:
    """The smallest sum that is not 0."""
    return np.asarray(np.where(sums > 0.0, sums, np.inf).min(axis=1))
