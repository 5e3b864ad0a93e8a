"""The Screener's answers from counts and moments of classes: value, score and p-value of each feature.

Numbers are judged by the formulas of rows/screening_formulas.py, categories by those of rows/category_scores.py, and
both by the tests of rows/p_values.py. Where the target is a number, its bins are the classes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from streamsift.rows.category_scores import category_score
from streamsift.rows.p_values import fisher_p, t_score_p, table_p
from streamsift.rows.screening_formulas import chi2, correlation, fisher, gini, impurity_removed, mutual_info, t_score
from streamsift.summaries.class_reading import ClassReading
from streamsift.summaries.moments import ClassMoments, Moments, SparseClassMoments

Floats = NDArray[np.float64]

FROM_MOMENTS: dict[str, Callable[[Moments], Floats]] = {
    "t_score": t_score,
    "fisher": fisher,
    "correlation": correlation,
}
FROM_BINS: dict[str, Callable[[Floats], Floats]] = {"mutual_info": mutual_info, "chi2": chi2, "gini": gini}


def class_values(criterion: str, reading: ClassReading, n_bins: int) -> Floats:
    """The paper's raw value of each feature."""
    return _spread(criterion, reading, n_bins, _number_values(criterion, reading, n_bins)[0], "value")


def class_scores(criterion: str, reading: ClassReading, n_bins: int) -> Floats:
    """The score of each feature, higher is more relevant."""
    values = _number_values(criterion, reading, n_bins)
    of_numbers = impurity_removed(values) if criterion == "gini" else values[0]
    return _spread(criterion, reading, n_bins, of_numbers, "score")


def class_p_values(criterion: str, reading: ClassReading, n_bins: int) -> Floats:
    """How likely each feature would score as much if it told nothing."""
    state = reading.summary
    found = np.ones(state.n_features)
    if len(state.number_slots):
        found[state.number_slots] = _number_p_values(criterion, reading, n_bins)
    for slot, table in zip(state.category_slots, reading.tables(), strict=True):
        counts, squares = table.contents()
        if len(counts):
            per_weight = counts.sum() / squares.sum()
            found[slot] = table_p(counts[None], per_weight, likelihood=criterion == "mutual_info")[0]
    return found


def _spread(criterion: str, reading: ClassReading, n_bins: int, of_numbers: Floats, wanted: str) -> Floats:
    """One number per feature: numeric ones as given, categorical ones from their counts."""
    state = reading.summary
    if len(state.number_slots) == state.n_features and not state.categories.n_features:
        return of_numbers.copy()
    found = np.zeros(state.n_features)
    found[state.number_slots] = of_numbers
    for slot, table in zip(state.category_slots, reading.tables(), strict=True):
        found[slot] = getattr(category_score(criterion, table, n_bins), wanted)
    return found


def _number_values(criterion: str, reading: ClassReading, n_bins: int) -> Floats:
    """One or more rows of values of the numeric features; the first is the criterion."""
    if not len(reading.summary.number_slots):
        return np.zeros((2, 0))
    numbers = reading.summary.numbers
    if isinstance(numbers, ClassMoments | SparseClassMoments):
        return FROM_MOMENTS[criterion](numbers.read())[None]
    counts = reading.bin_counts(n_bins)
    values = np.atleast_2d(FROM_BINS[criterion](counts))
    if criterion != "gini":  # one bin or one class tells nothing: exactly 0, whatever the rounding
        several = (np.count_nonzero(counts.sum(axis=1), axis=1) > 1) & (
            np.count_nonzero(counts.sum(axis=2), axis=1) > 1
        )
        values *= several
    return values


def _number_p_values(criterion: str, reading: ClassReading, n_bins: int) -> Floats:
    numbers, per_weight = reading.summary.numbers, reading.summary.rows_per_weight
    if isinstance(numbers, ClassMoments | SparseClassMoments):
        test = t_score_p if criterion == "t_score" else fisher_p
        return test(numbers.read(), per_weight)
    return table_p(reading.bin_counts(n_bins), per_weight, likelihood=criterion == "mutual_info")
