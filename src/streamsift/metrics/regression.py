"""How good predictions of numbers are, from five sums per group of rows, which add up to those of any window.

    rows, squared, absolute   how many rows, and their squared and absolute errors added up
    mean, spread              of the true numbers: the mean, and the squared distances from it added up

The spread about the mean of several groups follows from theirs by Chan's formula, so that a large offset of the
target costs no digits and R2 of a window needs no rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
N_SUMS = 5


class RegressionScores(NamedTuple):
    """One value per group; NaN where a score says nothing: no row was there or, for R2, all true numbers are equal."""

    rmse: Floats
    mae: Floats
    r2: Floats


def error_sums(groups: NDArray[np.int64], true: Floats, predicted: Floats, n_groups: int) -> Floats:
    """Return the five sums of each group, in an array of shape (5, n_groups).

    Parameters
    ----------
    groups : array of int of shape (n_rows,)
        The group of each row, 0 to n_groups - 1.
    true, predicted : array of float of shape (n_rows,)
        Finite numbers.
    n_groups : int
        How many groups there are.

    Returns
    -------
    ndarray of float

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.metrics.regression import error_sums
    >>> error_sums(np.zeros(3, int), np.array([1.0, 2.0, 6.0]), np.array([1.0, 4.0, 5.0]), 1)[:, 0].tolist()
    [3.0, 5.0, 3.0, 3.0, 14.0]
    """
    rows = np.bincount(groups, minlength=n_groups).astype(np.float64)
    first = np.zeros(n_groups)
    first[groups[::-1]] = true[::-1]  # any number of the group: what is added up stays small
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = first + np.bincount(groups, true - first[groups], n_groups) / rows
    mean[rows == 0.0] = 0.0
    errors = true - predicted
    sums = [np.bincount(groups, values, n_groups) for values in (errors**2, np.abs(errors), (true - mean[groups]) ** 2)]
    return np.array([rows, sums[0], sums[1], mean, sums[2]])


def joined_sums(sums: Floats) -> Floats:
    """Return the five sums of all groups together, in an array of shape (5, 1).

    Parameters
    ----------
    sums : array of shape (5, n_groups)
        As `error_sums` gives them; no group at all gives zeros.

    Returns
    -------
    ndarray of float

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.metrics.regression import error_sums, joined_sums
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> parts = error_sums(np.array([0, 1, 1]), y, y + 1.0, 2)
    >>> joined_sums(parts)[:, 0].tolist()
    [3.0, 3.0, 3.0, 3.0, 14.0]
    """
    rows, squared, absolute, mean, spread = sums
    total = rows.sum()
    if total == 0.0:
        return np.zeros((N_SUMS, 1))
    first = mean[np.argmax(rows > 0.0)]
    centre = first + rows @ (mean - first) / total
    between = rows @ (mean - centre) ** 2
    return np.array([[total], [squared.sum()], [absolute.sum()], [centre], [spread.sum() + between]])


def regression_scores(sums: Floats) -> RegressionScores:
    """Return the root mean squared error, the mean absolute error and R2 of each group.

    Parameters
    ----------
    sums : array of shape (5, n_groups)
        As `error_sums` gives them.

    Returns
    -------
    RegressionScores
        R2 is 1 minus the squared errors over the spread of the true numbers about their mean: 0 for whoever predicts
        that mean, which nobody knows beforehand, and negative for worse.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.metrics.regression import error_sums, regression_scores
    >>> sums = error_sums(np.zeros(3, int), np.array([1.0, 2.0, 6.0]), np.array([1.0, 4.0, 5.0]), 1)
    >>> scores = regression_scores(sums)
    >>> [round(float(score[0]), 3) for score in scores]
    [1.291, 1.0, 0.643]
    """
    rows, squared, absolute, _, spread = sums
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 is NaN, which is what it means
        r2 = np.where(spread > 0.0, 1.0 - squared / spread, np.nan)
        return RegressionScores(np.sqrt(squared / rows), absolute / rows, r2)
