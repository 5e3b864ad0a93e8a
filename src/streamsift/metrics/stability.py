"""How much a selection changes: stability of several sets of features, given as a boolean matrix, one row per set.

Nogueira, Sechidis and Brown (2018), On the Stability of Feature Selection Algorithms; as Eq. 7 of the FIRES paper.
Pairwise Pearson stability: Eqs. 11 and 12 of the ABFS paper. Both are 1 for sets that never change and 0 on average for
sets drawn at random. Where a formula gives 0 / 0 (nothing or everything selected), equal sets count as stable (1).
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import Real, check_parameters
from streamsift.core.exceptions import InputError

Floats = NDArray[np.float64]


def nogueira_stability(Z: Any) -> float:
    """Return the stability of sets of features, in [-1 / (n_sets - 1), 1].

    Parameters
    ----------
    Z : array-like of bool of shape (n_sets, n_features)
        One row a set: True where a feature is selected. Sets may differ in size.

    Returns
    -------
    float
        1 - (mean variance of a feature's selection) / (that of random sets of the same mean size). One set is stable.

    Examples
    --------
    >>> from streamsift.metrics import nogueira_stability
    >>> nogueira_stability([[1, 1, 0, 0], [1, 1, 0, 0]])
    1.0
    >>> nogueira_stability([[1, 1, 0, 0], [1, 0, 1, 0]])
    0.0
    """
    sets = _sets(Z)
    n_sets = len(sets)
    chance = _chance(sets)
    if n_sets == 1 or chance == 0.0:
        return 1.0
    share = sets.mean(axis=0)
    variance = n_sets / (n_sets - 1) * (share * (1.0 - share)).mean()
    return float(1.0 - variance / chance)


def nogueira_interval(Z: Any, confidence: float = 0.95) -> tuple[float, float]:
    """Return an approximate confidence interval of `nogueira_stability`, from the sets as independent samples.

    Parameters
    ----------
    Z : array-like of bool of shape (n_sets, n_features)
        One row a set.
    confidence : float in (0, 1), default 0.95
        How often the interval covers the true stability, for many sets.

    Returns
    -------
    (float, float)
        Lower and upper end (a normal approximation, so the ends may lie beyond -1 and 1).
        One set says nothing: (-1, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.metrics import nogueira_interval
    >>> low, high = nogueira_interval(np.random.default_rng(0).random((100, 30)) < 0.2)
    >>> bool(low < 0.0 < high)
    True
    """
    check_parameters("nogueira_interval", {"confidence": confidence}, {"confidence": (Real(0, 1, closed="neither"),)})
    sets = _sets(Z)
    n_sets, n_features = sets.shape
    stability, chance = nogueira_stability(Z), _chance(sets)
    if n_sets == 1:
        return -1.0, 1.0
    if chance == 0.0:
        return stability, stability
    size, mean_size = sets.mean(axis=1), sets.mean()
    agreement = (sets @ sets.mean(axis=0)) / n_features - size * mean_size
    influence = (agreement + stability / 2 * (2 * mean_size * size - size - mean_size + 1.0)) / chance
    error = 2.0 / n_sets * np.sqrt(np.square(influence - influence.mean()).sum())
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * float(error)
    return stability - reach, stability + reach


def pearson_stability(Z: Any) -> float:
    """Return the mean Pearson correlation of all pairs of sets, in [-1, 1].

    Parameters
    ----------
    Z : array-like of bool of shape (n_sets, n_features)
        One row a set. A pair with a set of nothing or everything counts 1 if the two are equal, else 0.

    Returns
    -------
    float
        One set is stable: 1.

    Examples
    --------
    >>> from streamsift.metrics import pearson_stability
    >>> pearson_stability([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
    -0.3333333333333333
    """
    sets = _sets(Z)
    n_sets, n_features = sets.shape
    if n_sets == 1:
        return 1.0
    common, size = sets @ sets.T, sets.sum(axis=1)
    spread = np.sqrt(size * (n_features - size))  # n_features * v_i
    above, below = n_features * common - np.outer(size, size), np.outer(spread, spread)
    equal = (size[:, None] == size) & (common == size[:, None])
    pairs = np.where(equal, 1.0, np.divide(above, below, out=np.zeros_like(above), where=below > 0.0))
    return float(np.clip(pairs[np.triu_indices(n_sets, 1)].mean(), -1.0, 1.0))


def _sets(Z: Any) -> Floats:
    """Z as a matrix of 0 and 1."""
    matrix = np.asarray(Z)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"Z must be a matrix with one row per set of features. Got an array of shape {matrix.shape}.")
    if matrix.dtype != bool and not ((matrix == 0) | (matrix == 1)).all():
        raise InputError("Z must hold only True and False (or 1 and 0): one row per set, one column per feature.")
    return matrix.astype(np.float64)


def _chance(sets: Floats) -> float:
    """Variance of a feature's selection in random sets of the same mean size; 0 where nothing can vary."""
    size = float(sets.mean())
    return size * (1.0 - size)
