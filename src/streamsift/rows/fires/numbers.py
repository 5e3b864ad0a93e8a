"""FIRES for targets that are numbers: normal noise about the output of the model; the linear one in closed form.

The target is standardised by its mean and deviation so far, z = (y - mean) / deviation, so that no intercept is needed
and the variance of the noise can be 1, the most that the target has. With weights w_j ~ N(mu_j, sigma_j^2) and
z = w.x + noise,

    z ~ N(m, v),  m = sum_j mu_j x_j,  v = 1 + sum_j sigma_j^2 x_j^2

is the marginal likelihood itself, for a sum of normals is normal. Its logarithm is

    log p = -1/2 log(2 pi v) - (z - m)^2 / (2 v)

and with e = z - m, dm/dmu_j = x_j and dv/dsigma_j = 2 sigma_j x_j^2

    d log p / d mu_j    = e x_j / v
    d log p / d sigma_j = (-1 / (2 v) + e^2 / (2 v^2)) 2 sigma_j x_j^2 = (e^2 / v - 1) sigma_j x_j^2 / v

Uncertainty grows where errors are larger than expected and falls where they are smaller. The paper has classes only.

A step of 1 on mu (the paper's is 0.01) is stable while sigma is 1, whatever the features: the curvature of the
likelihood by mu is x x^T / v, and x.x / v < 1 / sigma^2.

Time per batch: O(values); of sparse rows O(non-zeros), and O(features) more where they are standardised, for then every
value that is not stored is the same number, and what all rows have in common is added up once.

The net and the tree have one output, about which the target is normal with variance 1 (montecarlo.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.exceptions import ParameterError
from streamsift.core.limits import LARGEST
from streamsift.core.state import Finite, Shape, Sizes
from streamsift.rows.fires.model import PUBLISHED, ModelTraits
from streamsift.rows.fires.state import FiresState

Floats = NDArray[np.float64]


def refuse_other_models(model: Any, traits: ModelTraits) -> None:
    """Raise ParameterError for a base model that is for classes.

    >>> refuse_other_models("glm", GaussianGLM.traits)
    """
    if not traits.numbers:
        raise ParameterError(
            f"The model {type(model).__name__} tells classes apart, and y is to be taken for numbers "
            "(task='regression'): set model='glm', 'ann' or 'sdt', use Joint, or declare ModelTraits(numbers=True) for "
            "a model of your own that takes y as floats."
        )


@dataclass(frozen=True)
class GaussianGLM:
    """Linear regression without intercept, for a standardised target.

    Parameters
    ----------
    n_features : int
        Set by FIRES.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.rows.fires.numbers import GaussianGLM
    >>> X, z = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> of_mu, of_sigma = GaussianGLM(2).gradients(np.zeros(2), np.ones(2), X, z, np.random.default_rng(0))
    >>> of_mu.tolist(), of_sigma.round(2).tolist()
    ([0.25, -0.2], [-0.12, -0.32])
    """

    n_features: int = 0
    traits: ClassVar[ModelTraits] = ModelTraits(
        linear=True,
        grows=True,
        numbers=True,
        uses_random_numbers=False,
        defaults=PUBLISHED | {"learning_rate_mu": 1.0},
    )

    def bind(self, n_features: int, n_classes: int, n_samples: int) -> GaussianGLM:
        """This model for a number of features; there are no classes, and it needs no samples."""
        return replace(self, n_features=n_features)

    def n_parameters(self, n_features: int, n_classes: int) -> int:
        """One per feature."""
        return n_features

    def start(self, rng: np.random.Generator) -> Floats:
        """Nothing is added: there is no symmetry to break."""
        return np.zeros(self.n_features)

    def carry(
        self, mu: Floats, sigma: Floats, into_mu: Floats, into_sigma: Floats, n_features: int, n_classes: int
    ) -> None:
        """Keep the weights of the features that were there."""
        into_mu[:n_features], into_sigma[:n_features] = mu, sigma

    def of_features(self, features: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions of the parameters of some features."""
        return features

    def gradients(
        self,
        mu: Floats,
        sigma: Floats,
        X: Any,
        y: NDArray[Any],
        rng: np.random.Generator,
        sample_weight: Floats | None = None,
        rest: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Gradients of the log marginal likelihood by mu and by sigma, as means over the rows.

        Values that sparse rows do not hold are `rest`, one number per feature, where that is given, else 0.
        """
        share = np.full(len(y), 1.0 / len(y)) if sample_weight is None else sample_weight / sample_weight.sum()
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite counts as 0, see fires.py
            rows, squares, common = _with_squares(X, rest)
            variance = 1.0 + np.maximum(squares @ (sigma * sigma) + common * common @ (sigma * sigma), 0.0)
            error = y - rows @ mu - common @ mu
            by_mean = share * error / variance
            by_variance = share * (error * error / variance - 1.0) / variance
            of_mu = by_mean @ rows + by_mean.sum() * common
            of_sigma = (by_variance @ squares + by_variance.sum() * common * common) * sigma
        return of_mu, of_sigma

    def aggregate(self, mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """Every weight is that of a feature."""
        return mu.copy(), sigma.copy()


def _with_squares(X: Any, rest: Floats | None) -> tuple[Any, Any, Floats]:
    """Rows and their squares, less what all rows have in common, which is `rest`: of sparse rows they stay sparse."""
    rows = X.astype(np.float64)
    if isinstance(rows, np.ndarray):
        return rows, rows * rows, np.zeros(rows.shape[1])
    squares, common = rows.copy(), np.zeros(rows.shape[1]) if rest is None else rest
    squares.data = rows.data**2 - common[rows.indices] ** 2
    rows.data = rows.data - common[rows.indices]
    return rows, squares, common


@dataclass
class FiresNumberState(FiresState):
    """Everything learnt where the target is a number: also its weight, mean and second moment. It has no classes."""

    target: Annotated[Floats, Shape(3), Finite()]

    def problem(self, sizes: Sizes) -> str | None:
        """What declarations cannot say, in a few words."""
        weight, mean, m2 = self.target
        if weight < 0.0 or m2 < 0.0 or abs(mean) > LARGEST:
            return "target holds a weight, mean or second moment that no numbers can have"
        return super().problem(sizes)

    @property
    def differ(self) -> bool:
        """Whether targets have differed yet."""
        return bool(self.target[2] > 0.0)

    def targets(self, batch: CheckedBatch) -> NDArray[Any]:
        """Learn targets and return them less the mean so far, in deviations so far."""
        y, weight = np.asarray(batch.target, np.float64), batch.weight
        weights = np.ones(len(y)) if weight is None else weight
        total, new = self.target[0] + weights.sum(), float(weights.sum())
        if new == 0.0:
            return np.zeros(len(y))
        mean = float(y[0] + weights @ (y - y[0]) / new)
        gap = mean - self.target[1]
        m2 = self.target[2] + weights @ (y - mean) ** 2 + gap * gap * self.target[0] * new / total
        self.target = np.array([total, self.target[1] + gap * new / total, m2])
        deviation = np.sqrt(m2 / total)
        return np.asarray((y - self.target[1]) / deviation) if deviation > 0.0 else np.zeros(len(y))
