"""The scores of the Screener for categorical features, from the class weights of each category.

The value of a criterion is the paper's formula with categories in the place of bins:

    mutual_info, chi2   Eqs. 4 and 5 over the table of categories and classes
    gini                Eq. 6 for the best split of the categories into two groups that is found by sorting them by the
                        share of a class among their rows: with two classes no split is better; with more, the best
                        over the classes
    t_score, fisher     Eqs. 1 and 2 after numbering each category by the share of a class among its rows, and the
                        largest value over the classes. With two classes no numbering has a larger Fisher score, and a
                        feature of two categories scores as the numbers 0 and 1 do
    correlation         the correlation ratio that belongs to that Fisher score

Many categories fit any labels a little, also by chance: a column of 400 random categories has a mutual information of
about 0.05 in 4,000 rows. A score is therefore the value less what chance may give to a feature of that many categories
beyond what it may give to a numeric feature, which is granted `n_bins` of them by the bin scores and 2 by t-score and
Fisher: a feature with no more categories than that keeps its value as it is. Of a feature of K categories and C classes
that tells nothing, the expected value is, for n rows,

    mutual_info         that of classes dealt out at random to categories of the same sizes (the sum over all outcomes
                        for small cells, the usual half per degree of freedom for large ones)
    chi2                (K - 1) (C - 1) n / (n - 1)
    gini                G (K - 1) / (n - 1) for a split into all categories, G being the impurity; the split into two
                        groups loses the same share of what it removes
    t_score, fisher     (K - 1) / (n - 1) of the variance, which is taken off as in an adjusted R^2

It is multiplied by (q(K) - q(granted)) / ((K - 1) (C - 1)), where q(K) is the mean plus two standard deviations of
chi-squared with (K - 1) (C - 1) degrees of freedom; scores stop at 0. With fading, a row of the n is as many as its
squared weight says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from streamsift.rows.screening_formulas import (
    chi2,
    correlation_ratio,
    fisher,
    gini,
    impurity_removed,
    mutual_info,
    t_score,
)
from streamsift.summaries.category_counts import CategoryTable
from streamsift.summaries.moments import Moments

Floats = NDArray[np.float64]

_GRANTED_NUMBERS = 2  # categories of a feature whose one-dimensional numbering is no choice
_LARGE_CELL = 30.0  # expected rows of a cell from which on chance is its half degree of freedom
_MOST_IN_CELL = 110  # rows; more are as good as impossible where fewer than _LARGE_CELL are expected


class CategoryScore(NamedTuple):
    """The paper's value of a feature, and the score: the same less what is due to chance, higher is better."""

    value: float
    score: float


class _CountTable(NamedTuple):
    """Class weights of several categories (n_categories, n_classes), none of them 0, and squared row weights."""

    counts: Floats
    squares: Floats

    @property
    def sizes(self) -> Floats:
        return np.asarray(self.counts.sum(axis=1))

    @property
    def freedom(self) -> float:
        """K - 1, in units of weight: the sum of (squares / size) (1 - size / total), times n / (n - 1)."""
        sizes, total = self.sizes, self.counts.sum()
        n_rows = total * total / self.squares.sum()
        if n_rows <= 1.0:
            return 0.0
        return float((self.squares / sizes * (1.0 - sizes / total)).sum() * n_rows / (n_rows - 1.0))

    def share_of_chance(self, granted: int, n_classes: int) -> float:
        """How many times the value expected by chance is taken off."""
        freedom = (len(self.counts) - 1) * (n_classes - 1)
        return max(chance_limit(freedom) - chance_limit((granted - 1) * (n_classes - 1)), 0.0) / freedom


def chance_limit(freedom: int) -> float:
    """The mean plus two standard deviations of chi-squared."""
    return freedom + 2.0 * math.sqrt(2.0 * freedom)


def category_score(criterion: str, table: CategoryTable, n_bins: int) -> CategoryScore:
    """Value and score of one categorical feature."""
    counts, squares = table.contents()
    counts = counts[:, counts.any(axis=0)]
    if counts.shape[0] < 2 or counts.shape[1] < 2:  # one category or one class tells nothing
        return CategoryScore(_impurity(counts) if criterion == "gini" else 0.0, 0.0)
    return _SCORES[criterion](_CountTable(counts, squares), n_bins)


def _mutual_info(table: _CountTable, granted: int) -> CategoryScore:
    value, share = float(mutual_info(table.counts[None])[0]), table.share_of_chance(granted, table.counts.shape[1])
    return CategoryScore(value, max(value - share * _information_by_chance(table), 0.0) if share else value)


def _information_by_chance(table: _CountTable) -> float:
    """The expected mutual information where the rows of each class are dealt out at random."""
    total = table.counts.sum()
    n_rows = total * total / table.squares.sum()
    if n_rows <= 1.0:
        return 0.0
    rows = np.round(table.sizes**2 / table.squares, 9)  # equally weighted rows that scatter as much
    sizes, place = np.unique(rows, return_inverse=True)
    weight = np.bincount(place, table.sizes * (1.0 - table.sizes / total)) / total  # drawn without replacement
    shares = table.counts.sum(axis=0) / total
    below = np.floor(sizes)
    part = sizes - below  # a size between two whole numbers, as with fading, has a value between theirs
    expected = (1.0 - part) * _cell_excess(below, shares)
    if part.any():
        expected = expected + part * _cell_excess(below + 1.0, shares)
    return float((weight * expected / sizes).sum() * n_rows / (n_rows - 1.0))


def _cell_excess(sizes: Floats, shares: Floats) -> Floats:
    """The expected sum over the classes of x log(x / mean), x being binomial, for categories of these sizes."""
    result = np.zeros(len(sizes))
    x = np.arange(1.0, _MOST_IN_CELL + 1.0)
    for share in shares:
        mean = sizes * share
        result += np.where(mean >= _LARGE_CELL, (1.0 - share) / 2.0, 0.0)
        few = np.flatnonzero((mean < _LARGE_CELL) & (sizes > 0.0))
        n = sizes[few, None]
        possible = x <= n
        rest = np.where(possible, n - x, 0.0)
        log_chance = gammaln(n + 1.0) - gammaln(x + 1.0) - gammaln(rest + 1.0) + x * np.log(share)
        log_chance = log_chance + rest * np.log1p(-share)
        terms = np.where(possible, np.exp(log_chance) * x * np.log(x / mean[few, None]), 0.0)
        result[few] += terms.sum(axis=1)
    return result


def _chi2(table: _CountTable, granted: int) -> CategoryScore:
    n_classes = table.counts.shape[1]
    value, share = float(chi2(table.counts[None])[0]), table.share_of_chance(granted, n_classes)
    return CategoryScore(value, max(value - share * table.freedom * (n_classes - 1), 0.0))


def _gini(table: _CountTable, granted: int) -> CategoryScore:
    counts, sizes, n_classes = table.counts, table.sizes, table.counts.shape[1]
    found = [gini(counts[np.argsort(counts[:, c] / sizes, kind="stable")][None]) for c in _orders(counts)]
    best = min(found, key=lambda values: float(values[0, 0]))
    removed, share = float(impurity_removed(best)[0]), table.share_of_chance(granted, n_classes)
    if share and removed:
        whole, total = float(best[1, 0]), float(sizes.sum())
        split = whole - float((sizes - (counts**2).sum(axis=1) / sizes).sum()) / total
        removed *= max(1.0 - share * whole * table.freedom / total / split, 0.0)
    return CategoryScore(float(best[0, 0]), removed)


def _impurity(counts: Floats) -> float:
    """Without a split."""
    total = counts.sum()
    return float(1.0 - ((counts.sum(axis=0) / total) ** 2).sum()) if total > 0.0 else 0.0


def _fisher(table: _CountTable, _: int) -> CategoryScore:
    found = [_numbered(table.counts, table.counts, c) for c in _orders(table.counts)]
    value = max((float(fisher(moments)[0]) for moments in found if moments is not None), default=0.0)
    return CategoryScore(value, _adjusted(value, table))


def _correlation(table: _CountTable, granted: int) -> CategoryScore:
    return CategoryScore(*(float(correlation_ratio(np.array(value))) for value in _fisher(table, granted)))


def _t_score(table: _CountTable, _: int) -> CategoryScore:
    best = CategoryScore(0.0, 0.0)
    for c in _orders(table.counts):
        sides = np.stack([table.counts[:, c], np.delete(table.counts, c, axis=1).sum(axis=1)], axis=1)
        moments = _numbered(table.counts, sides, c)
        if moments is None:
            continue
        value, spread = float(t_score(moments)[0]), float(fisher(moments)[0])
        adjusted = _adjusted(spread, table)
        score = value if adjusted == spread else value * math.sqrt(adjusted / spread) if adjusted else 0.0
        best = CategoryScore(max(best.value, value), max(best.score, score))
    return best


def _orders(counts: Floats) -> range:
    """The classes to sort or number categories by; two classes give the same order, turned round."""
    return range(counts.shape[1] if counts.shape[1] > 2 else 1)


def _numbered(counts: Floats, groups: Floats, c: int) -> Moments | None:
    """Moments of the groups when a category is the share of class c in it; None where all shares are equal."""
    sizes, total = counts.sum(axis=1), counts.sum()
    surplus = counts[:, c] * total - sizes * counts[:, c].sum()
    if (np.abs(surplus) <= 1e-12 * sizes * total).all():
        return None
    number = counts[:, c] / sizes
    weight = groups.sum(axis=0)
    mean = (groups * number[:, None]).sum(axis=0) / weight
    m2 = (groups * (number[:, None] - mean) ** 2).sum(axis=0)
    return Moments(weight[:, None], mean[:, None], m2[:, None])


def _adjusted(value: float, table: _CountTable) -> float:
    """A Fisher score less what more than two categories explain by chance."""
    by_chance = table.share_of_chance(_GRANTED_NUMBERS, 2) * table.freedom / float(table.counts.sum())
    if by_chance == 0.0:
        return value
    if by_chance >= 1.0:
        return 0.0
    if math.isinf(value):
        return value
    explained = max((value / (1.0 + value) - by_chance) / (1.0 - by_chance), 0.0)
    return explained / (1.0 - explained)


_SCORES: dict[str, Callable[[_CountTable, int], CategoryScore]] = {
    "t_score": _t_score,
    "fisher": _fisher,
    "correlation": _correlation,
    "mutual_info": _mutual_info,
    "chi2": _chi2,
    "gini": _gini,
}
