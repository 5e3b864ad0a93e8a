"""The generalised linear model of FIRES (2.1.1): probit link, closed form, no intercept.

Two classes share one model with y = -1 for the first class and +1 for the second. More classes (the paper has two)
get one model each, one against the rest; importance and uncertainty are then root mean squares over the models, which
makes Eq. 6 the mean of the scores of the single models.

A third class may arrive late: a model of the second class against the first is, with mu negated, also one of the first
against the second, so both go on where they were, and the newcomer starts anew.

phi / Phi is computed without underflow (kernels/fires.py). Rows so large that their squares overflow are divided by
their largest value first; the formulas allow for it.

Time per batch: O(values) times the number of models; sparse rows O(non-zeros). X is not copied.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.fires import probit_sums, sparse_probit_sums
from streamsift.rows.fires.scratch import Scratch

Floats = NDArray[np.float64]

# Beyond these, the square of a scaling factor, or a difference of values, may overflow: scale with a copy instead.
_SMALLEST_FACTOR, _LARGEST_FACTOR = 1e-100, 1e100


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
    [0.0028, 0.0]
    """

    n_features: int = 0
    n_classes: int = 0
    scratch: Scratch = field(default_factory=Scratch, repr=False, compare=False)
    takes_sparse: ClassVar[bool] = True
    takes_scaling: ClassVar[bool] = True
    uses_random_numbers: ClassVar[bool] = False

    def bind(self, n_features: int, n_classes: int, n_samples: int) -> GLM:
        """This model for a number of features and classes; it needs no samples."""
        return replace(self, n_features=n_features, n_classes=n_classes, scratch=Scratch())

    def n_parameters(self, n_features: int, n_classes: int) -> int:
        """One a feature; with more than two classes, one a feature and class."""
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
        """Where the parameters of some features are."""
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
    ) -> tuple[Floats, Floats]:
        """Gradients of the log marginal likelihood; rows are scaled to (x - low) * factor where these are given.

        Raises FloatingPointError if X holds NaN or infinity.
        """
        shape = (_n_models(self.n_classes), X.shape[1])
        mu, sigma = mu.reshape(shape), sigma.reshape(shape)
        if sample_weight is None:
            weight = np.full(len(y), 1.0 / max(len(y), 1))
        else:
            weight = sample_weight / sample_weight.sum()
        sign: NDArray[Any] = (
            np.where(y == np.arange(len(mu))[:, None], 1.0, -1.0) if len(mu) > 1 else 2.0 * y[None] - 1.0
        )
        if isinstance(X, np.ndarray):
            of_mu, of_variance = self._dense_sums(X, sign, weight, mu, sigma, low, factor)
        else:
            of_mu, of_variance = _sparse_sums(X, sign, weight, mu, sigma)
        of_variance *= sigma
        return of_mu.ravel(), of_variance.ravel()

    def _dense_sums(
        self,
        X: NDArray[Any],
        sign: Floats,
        weight: Floats,
        mu: Floats,
        sigma: Floats,
        low: Floats | None,
        factor: Floats | None,
    ) -> tuple[Floats, Floats]:
        of_mu, of_variance = self._zeros("of_mu", mu.shape), self._zeros("of_variance", mu.shape)
        variance, unit, bad_row = self.scratch.take("variance", mu.shape), np.ones(len(X)), 0
        if low is None or factor is None:
            np.multiply(sigma, sigma, out=variance)
            bad_row = probit_sums(X, sign, weight, unit, None, mu, variance, of_mu, of_variance)
        elif factor.max() < _LARGEST_FACTOR and np.min(factor, where=factor > 0.0, initial=1.0) > _SMALLEST_FACTOR:
            scaled_mu = np.multiply(mu, factor, out=self.scratch.take("scaled_mu", mu.shape))
            np.multiply(sigma, factor, out=variance)
            variance *= variance
            bad_row = probit_sums(X, sign, weight, unit, low, scaled_mu, variance, of_mu, of_variance)
            of_mu *= factor
            of_variance *= factor
            of_variance *= factor
        return (of_mu, of_variance) if bad_row < 0 else _extreme_sums(X, sign, weight, mu, sigma, low, factor)

    def _zeros(self, name: str, shape: tuple[int, ...]) -> Floats:
        array = self.scratch.take(name, shape)
        array.fill(0.0)
        return array

    def aggregate(self, mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """The parameters themselves, or their root mean squares over the models of more than two classes."""
        if _n_models(self.n_classes) == 1:
            return mu.copy(), sigma.copy()
        shape = (-1, self.n_features)
        return np.sqrt(np.mean(mu.reshape(shape) ** 2, axis=0)), np.sqrt(np.mean(sigma.reshape(shape) ** 2, axis=0))


def _n_models(n_classes: int) -> int:
    return n_classes if n_classes > 2 else 1


def _extreme_sums(
    X: NDArray[Any], sign: Floats, weight: Floats, mu: Floats, sigma: Floats, low: Floats | None, factor: Floats | None
) -> tuple[Floats, Floats]:
    """The same sums for values near overflow, by way of a scaled copy; FloatingPointError for NaN and infinity."""
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
    of_mu, of_variance = np.zeros_like(mu), np.zeros_like(mu)
    probit_sums(rows, sign, weight, unit, None, mu, sigma**2, of_mu, of_variance)
    return of_mu, of_variance


def _sparse_sums(X: Any, sign: Floats, weight: Floats, mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    of_mu, of_variance, unit = np.zeros_like(mu), np.zeros_like(mu), np.ones(X.shape[0])
    parts = (X.data.astype(np.float64), X.indices, X.indptr)
    if sparse_probit_sums(*parts, sign, weight, unit, mu, sigma**2, of_mu, of_variance) >= 0:
        lengths = np.diff(X.indptr)
        largest = np.ones(X.shape[0])
        np.maximum.at(largest, np.repeat(np.arange(len(lengths)), lengths), np.abs(parts[0]))
        parts = (parts[0] / np.repeat(largest, lengths), X.indices, X.indptr)
        with np.errstate(under="ignore"):
            unit = (1.0 / largest) ** 2
        of_mu, of_variance = np.zeros_like(mu), np.zeros_like(mu)
        sparse_probit_sums(*parts, sign, weight, unit, mu, sigma**2, of_mu, of_variance)
    return of_mu, of_variance
