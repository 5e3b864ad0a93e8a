"""The generalised linear model of FIRES (2.1.1): probit link, closed form, no intercept.

Two classes share one model with y = -1 for the first class and +1 for the second. More classes (the paper has two)
get one model each, one against the rest; importance and uncertainty are then root mean squares over the models, which
makes Eq. 6 the mean of the scores of the single models.

A third class may arrive late: a model of the second class against the first is, with mu negated, also one of the first
against the second, so both go on where they were, and the newcomer starts anew.

phi / Phi is computed without underflow (kernels/fires.py). Rows so large that their squares overflow are divided by
their largest value first; the formulas allow for it.

Dense rows in float32 are computed in float32 (docs/adr/0008), those with values or ranges near its limits in float64;
sparse rows in float32 are read as they are and added up in float64.

Time per batch: O(values) times the number of models; sparse rows O(non-zeros). X is not copied, but for float32 rows
after float64 ones and for values near the limits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.fires import all_within, centred_probit_gradients, probit_gradients, sparse_probit_gradients
from streamsift.rows.fires.model import ModelTraits
from streamsift.rows.fires.scratch import ScratchArrays

Floats = NDArray[np.float64]

# Beyond these, the square of a scaling factor, or a difference of values, may overflow: scale with a copy instead.
_FACTORS = {np.float64: (1e-100, 1e100), np.float32: (1e-12, 1e12)}
_ROWS = 2048  # of float32 that are added up in float32: with more, digits would be lost


@dataclass(frozen=True)
class GLM:
    """Probit regression without intercept.

    Parameters
    ----------
    n_features, n_classes : int
        Set by FIRES.

    Examples
    --------
    >>> from streamsift import FIRES
    >>> from streamsift.rows.fires import GLM
    >>> FIRES(model=GLM()).partial_fit([[0.0, 1.0], [1.0, 1.0]], ["no", "yes"]).importance_.round(4).tolist()
    [0.0056, 0.0]
    """

    n_features: int = 0
    n_classes: int = 0
    scratch: ScratchArrays = field(default_factory=ScratchArrays, repr=False, compare=False)
    traits: ClassVar[ModelTraits] = ModelTraits(linear=True, scales=True, grows=True, uses_random_numbers=False)

    def bind(self, n_features: int, n_classes: int, n_samples: int) -> GLM:
        """This model for a number of features and classes; it needs no samples."""
        return replace(self, n_features=n_features, n_classes=n_classes, scratch=ScratchArrays())

    def n_parameters(self, n_features: int, n_classes: int) -> int:
        """One per feature; with more than two classes, one per feature and class."""
        return n_features * _n_models(n_classes)

    def start(self, rng: np.random.Generator) -> Floats:
        """Nothing is added: there is no symmetry to break."""
        return np.zeros(self.n_parameters(self.n_features, self.n_classes))

    def carry(
        self, mu: Floats, sigma: Floats, into_mu: Floats, into_sigma: Floats, n_features: int, n_classes: int
    ) -> None:
        """Keep every model; the single model of two classes becomes two."""
        old_mu, old_sigma = mu.reshape(-1, n_features), sigma.reshape(-1, n_features)
        new_mu, new_sigma = into_mu.reshape(-1, self.n_features), into_sigma.reshape(-1, self.n_features)
        if len(new_mu) > 1 and len(old_mu) == 1:
            old_mu, old_sigma = np.concatenate([-old_mu, old_mu]), np.concatenate([old_sigma, old_sigma])
            old_mu, old_sigma = old_mu[:n_classes], old_sigma[:n_classes]
        new_mu[: len(old_mu), :n_features] = old_mu
        new_sigma[: len(old_sigma), :n_features] = old_sigma

    def of_features(self, features: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions of the parameters of some features."""
        models = np.arange(_n_models(self.n_classes))[:, None]
        return (models * self.n_features + features).ravel()

    def gradients(
        self,
        mu: Floats,
        sigma: Floats,
        X: Any,
        y: NDArray[np.int64],
        rng: np.random.Generator | None = None,
        sample_weight: Floats | None = None,
        low: Floats | None = None,
        factor: Floats | None = None,
        rest: Floats | None = None,
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradients of the log marginal likelihood; rows are scaled to (x - low) * factor where these are given.

        Values that sparse rows do not hold are `rest`, one number per feature, where that is given, else 0. Raises
        FloatingPointError if X holds NaN or infinity.
        """
        shape = (_n_models(self.n_classes), X.shape[1])
        parameters = (mu.reshape(shape), sigma.reshape(shape))
        unit = np.ones(len(y))
        weight = unit if sample_weight is None else sample_weight
        if not isinstance(X, np.ndarray):
            found: NDArray[Any] = self._of_sparse(X, y, weight, unit, parameters, rest)
        elif X.dtype == np.float32 and len(y) > _ROWS:
            found, total = np.zeros((2, *shape)), weight.sum()
            for first in range(0, len(y), _ROWS):
                rows = slice(first, first + _ROWS)
                part = self._of_dense(X[rows], y[rows], weight[rows], unit[rows], parameters, low, factor)
                found += weight[rows].sum() / total * part
        else:
            found = self._of_dense(X, y, weight, unit, parameters, low, factor)
        return found[0].ravel(), found[1].ravel()

    def _of_dense(
        self,
        X: NDArray[Any],
        y: NDArray[np.int64],
        weight: Floats,
        unit: Floats,
        parameters: tuple[Floats, Floats],
        low: Floats | None,
        factor: Floats | None,
    ) -> NDArray[Any]:
        """(2, models, features): the gradients by mu and by sigma."""
        kind: Any = np.float32 if X.dtype == np.float32 else np.float64
        origin = low
        if low is not None and kind is np.float32:
            with np.errstate(over="ignore"):
                origin = low.astype(np.float32)
            if (origin != low).any():  # some earlier batch was float64, whose ranges float32 may not distinguish
                X, origin, kind = X.astype(np.float64), low, np.float64
        space = self.scratch.take("sums", (4, *parameters[0].shape), kind)
        moderate = factor is None or all_within(factor, *_FACTORS[kind])
        if moderate and probit_gradients(X, y, weight, unit, origin, factor, *parameters, space):
            return space[:2]
        return _extreme_gradients(X, y, weight, low, factor, parameters)

    def _of_sparse(
        self,
        X: Any,
        y: NDArray[np.int64],
        weight: Floats,
        unit: Floats,
        parameters: tuple[Floats, Floats],
        rest: Floats | None,
    ) -> NDArray[Any]:
        space = self.scratch.take("sums", (4, *parameters[0].shape))
        if rest is not None:
            if centred_probit_gradients(X.data, X.indices, X.indptr, rest, y, weight, *parameters, space):
                return space[:2]
            return _extreme_gradients(_filled(X, rest), y, weight, None, None, parameters)
        if sparse_probit_gradients(X.data, X.indices, X.indptr, y, weight, unit, *parameters, space):
            return space[:2]
        return _extreme_sparse_gradients(X, y, weight, parameters)

    def aggregate(self, mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """The parameters themselves, or their root mean squares over the models of more than two classes."""
        if _n_models(self.n_classes) == 1:
            return mu.copy(), sigma.copy()
        shape = (-1, self.n_features)
        return np.sqrt(np.mean(mu.reshape(shape) ** 2, axis=0)), np.sqrt(np.mean(sigma.reshape(shape) ** 2, axis=0))


def _n_models(n_classes: int) -> int:
    return n_classes if n_classes > 2 else 1


def _extreme_gradients(
    X: NDArray[Any],
    y: NDArray[np.int64],
    weight: Floats,
    low: Floats | None,
    factor: Floats | None,
    parameters: tuple[Floats, Floats],
) -> Floats:
    """The same gradients for values near overflow, by way of a scaled copy; FloatingPointError for NaN and infinity."""
    if not np.isfinite(X).all():
        raise FloatingPointError("X holds NaN or infinity")
    rows = X.astype(np.float64)
    with np.errstate(under="ignore"):
        if low is not None and factor is not None:
            rows = 2.0 * ((0.5 * rows - 0.5 * low) * factor)  # halves, so that the difference cannot overflow
        largest = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1.0)
        rows /= largest[:, None]
        unit = (1.0 / largest) ** 2
    rows.flags.writeable = False
    space = np.empty((4, *parameters[0].shape))
    probit_gradients(rows, y, weight, unit, None, None, *parameters, space)
    return space[:2]


def _filled(X: Any, rest: Floats) -> NDArray[Any]:
    """Dense rows with `rest` where a sparse row holds nothing."""
    rows = np.tile(rest, (X.shape[0], 1))
    rows[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices] = X.data
    return rows


def _extreme_sparse_gradients(
    X: Any, y: NDArray[np.int64], weight: Floats, parameters: tuple[Floats, Floats]
) -> Floats:
    lengths = np.diff(X.indptr)
    largest = np.ones(X.shape[0])
    np.maximum.at(largest, np.repeat(np.arange(len(lengths)), lengths), np.abs(X.data, dtype=np.float64))
    data = X.data / np.repeat(largest, lengths)
    with np.errstate(under="ignore"):
        unit = (1.0 / largest) ** 2
    space = np.empty((4, *parameters[0].shape))
    sparse_probit_gradients(data, X.indices, X.indptr, y, weight, unit, *parameters, space)
    return space[:2]
