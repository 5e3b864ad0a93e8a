"""What FIRES asks of a base model.

Three methods are enough for a model of one's own (`Model`). The built-in models also say how they start and how they
grow (`GrowingModel`); a model that lacks these starts at (initial_mu, initial_sigma) and is refused new features and
classes that would change its number of parameters. A dict `defaults` names the settings a model is best learnt with
(initial_sigma, learning_rate_mu, epochs, aggregation); without it they are the published ones.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Model(Protocol):
    """A differentiable model whose parameters are independent normals with means `mu` and deviations `sigma`."""

    def n_parameters(self, n_features: int, n_classes: int) -> int:
        """The length of mu and sigma."""
        ...

    def gradients(
        self, mu: Floats, sigma: Floats, X: NDArray[Any], y: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Gradients of the log marginal likelihood by mu and by sigma, as means over the rows.

        y holds class numbers 0, 1, ... A model that takes `sample_weight` as a further keyword is given it where the
        caller has weights; the means are then weighted.
        """
        ...

    def aggregate(self, mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """One importance and one uncertainty a feature (2.1.4)."""
        ...


class GrowingModel(Model, Protocol):
    """A model that knows its sizes and can be given more features and classes."""

    def bind(self, n_features: int, n_classes: int, n_samples: int) -> Self:
        """This model for a number of features, classes and Monte-Carlo samples."""
        ...

    def start(self, rng: np.random.Generator) -> Floats:
        """What is added to the initial mu."""
        ...

    def carry(
        self, mu: Floats, sigma: Floats, into_mu: Floats, into_sigma: Floats, n_features: int, n_classes: int
    ) -> None:
        """Put the parameters of a smaller model of these sizes where they belong in the larger one."""
        ...
