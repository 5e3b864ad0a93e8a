"""The Screener's correlation with a target that is a number: value, score and p-value of each feature.

    numbers       value |r|, Pearson's correlation over the rows that have the feature;
                  F = r^2 (n - 2) / (1 - r^2) with 1 and n - 2 degrees of freedom
    categories    value eta, the root of the share of the target's spread that lies between the categories' means (a
                  one-way analysis of variance); F = eta^2 (n - K) / ((1 - eta^2) (K - 1)) with K - 1 and n - K

A feature of two categories has the |r| of 0 and 1. Many categories explain any numbers a little, also by chance: the
score of more than two leaves out what chance may give beyond two, as in rows/category_scores.py.

Both are made larger where feature and target have heavy tails (rows/p_values.py).

With fading or weights, n is the number of equally weighted rows that scatter as much (rows/p_values.py). A category is
a column of 0 and 1 in the state, whose moments hold its weight and the mean of its rows. Rows before the first category
of a feature count as rows without one, which are left out, also of the target's spread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from streamsift.core.one_hot import NUMBER, OneHotColumns
from streamsift.rows.category_scores import chance_limit
from streamsift.rows.p_values import group_excess, heaviness, with_tails
from streamsift.summaries.target_correlations import TargetCorrelations

Floats = NDArray[np.float64]


class TargetScores(NamedTuple):
    """One number per feature each; `plain` are the p-values as they would be if tails were not heavy."""

    values: Floats
    scores: Floats
    p_values: Floats
    plain: Floats


def target_scores(state: TargetCorrelations, columns: OneHotColumns | None, n_features: int) -> TargetScores:
    """Value, score and p-value of each feature; `columns` says what the columns of the state stand for."""
    r, rows = np.abs(state.correlations()), state.weight * state.rows_per_weight
    plain = f_test(r * r, np.ones(len(r)), rows - 2.0)
    own = state.tails.excess(state.n_features, of_all=False)
    p = with_tails(plain, r * r, rows, heaviness(own, _target_excess(state), state.tails.unevenness))
    if columns is None:
        return TargetScores(r, r.copy(), p, plain)
    found = TargetScores(np.zeros(n_features), np.zeros(n_features), np.ones(n_features), np.ones(n_features))
    numbers = columns.codes == NUMBER
    for part, values in zip(found, (r, r, p, plain), strict=True):
        part[columns.features[numbers]] = values[numbers]
    for feature in np.unique(columns.features[~numbers]):
        places = np.flatnonzero((columns.features == feature) & ~numbers)
        for part, value in zip(found, _of_categories(state, places), strict=True):
            part[feature] = value
    return found


def _target_excess(state: TargetCorrelations) -> float:
    return float(state.target_tails.excess(1)[0])


def f_test(explained: Floats, above: Floats, below: Floats) -> Floats:
    """The p-value of each share of the spread that is explained with so many degrees of freedom."""
    found = np.ones(len(explained))
    usable = (above > 0.0) & (below > 0.0) & (explained > 0.0)
    share, above, below = explained[usable], above[usable], below[usable]
    with np.errstate(divide="ignore", over="ignore"):
        found[usable] = special.fdtrc(above, below, share * below / ((1.0 - share) * above))
    return found


def _of_categories(state: TargetCorrelations, places: NDArray[np.intp]) -> tuple[float, float, float, float]:
    size = state.weight[places] * state.mean[places]
    places, size = places[size > 0.0], size[size > 0.0]
    if len(places) < 2:
        return 0.0, 0.0, 1.0, 1.0
    mean = state.target_mean[places] + state.cross[places] / size
    total = size.sum()
    centre = mean[0] + size @ (mean - mean[0]) / total
    spread = float(state.target_square[places].min())
    between = float(size @ (mean - centre) ** 2)
    noise = (1e-13 * abs(centre)) ** 2 * total  # means that differ by rounding only
    if spread <= noise or between <= noise:
        return 0.0, 0.0, 1.0, 1.0
    explained, n_rows, k = min(between / spread, 1.0), total * state.rows_per_weight, len(places)
    plain = f_test(np.array([explained]), np.array([k - 1.0]), np.array([n_rows - k]))
    heavy = heaviness(np.array([group_excess(size / total)]), _target_excess(state), state.tails.unevenness)
    p = with_tails(plain, explained, n_rows, heavy)
    by_chance = 1.0
    if n_rows > 1.0:
        by_chance = (chance_limit(k - 1) - chance_limit(1)) / (n_rows - 1.0)
    score = 0.0 if by_chance >= 1.0 else max((explained - by_chance) / (1.0 - by_chance), 0.0)
    return float(np.sqrt(explained)), float(np.sqrt(score)), float(p[0]), float(plain[0])
