"""The neural net of FIRES (2.1.2): fully connected layers, ReLU, softmax over the classes.

Parameters are sampled with the reparameterisation trick; the net is differentiated by back-propagation, all samples at
once: the rows times the first layer of all samples is a single matrix product. There is one output a class, also for
two classes (the paper's sigmoid is the difference of two such outputs); a class that arrives late gets a new output.

The signals of a hidden layer are divided by the square root of its size (not in the paper). Weights start with
sigma = 1; without it signals grow about sevenfold in every layer of 100 nodes, gradients with them, and mu leaves all
bounds within some dozen batches.

A layer is a matrix (inputs + 1, outputs) whose last row is the bias. Aggregation (2.1.4): with full connection all
nodes lie on the path of every feature, so a feature has the mean of its first weights plus the mean weight of each
further layer; biases belong to no feature.

Float32 rows are computed in float32, mu and sigma stay float64: a step of 1e-8 on a sigma of 1 would be lost.
Time per batch: O(rows x parameters x samples), memory O(parameters x samples).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.rows.fires.montecarlo import draw, fold_back, output_gradient, row_weights

Floats = NDArray[Any]

SMALL = 1e-5  # deviation of the initial mu: breaks the symmetry between nodes, and is soon small beside what is learnt


@dataclass(frozen=True)
class ANN:
    """A multi-layer perceptron.

    Parameters
    ----------
    hidden_layers : int, default 3
        Number of hidden layers.
    layer_size : int, default 100
        Nodes of each.
    n_features, n_classes, n_samples : int
        Set by FIRES.

    Examples
    --------
    >>> from streamsift import FIRES
    >>> from streamsift.rows.fires import ANN
    >>> selector = FIRES(model=ANN(hidden_layers=1, layer_size=8), random_state=0)
    >>> selector.partial_fit([[0.0, 1.0], [1.0, 1.0]], ["no", "yes"]).importance_.shape
    (2,)
    """

    hidden_layers: int = 3
    layer_size: int = 100
    n_features: int = 0
    n_classes: int = 0
    n_samples: int = 5

    def bind(self, n_features: int, n_classes: int, n_samples: int) -> ANN:
        """This net for a number of features, classes and samples."""
        return replace(self, n_features=n_features, n_classes=n_classes, n_samples=n_samples)

    def n_parameters(self, n_features: int, n_classes: int) -> int:
        """Weights and biases of all layers."""
        return sum(rows * columns for rows, columns in self._shapes(n_features, n_classes))

    def start(self, rng: np.random.Generator) -> Floats:
        """Small random numbers, because equal nodes would stay equal."""
        return rng.normal(0.0, SMALL, self.n_parameters(self.n_features, self.n_classes))

    def carry(
        self, mu: Floats, sigma: Floats, into_mu: Floats, into_sigma: Floats, n_features: int, n_classes: int
    ) -> None:
        """Features are rows of the first layer, classes columns of the last."""
        shapes = self._shapes(n_features, n_classes)
        for old, new in ((mu, into_mu), (sigma, into_sigma)):
            for small, large in zip(
                _layers(old, shapes), _layers(new, self._shapes(self.n_features, self.n_classes)), strict=True
            ):
                inputs, outputs = small.shape[0] - 1, small.shape[1]
                large[:inputs, :outputs] = small[:-1]
                large[-1, :outputs] = small[-1]

    def gradients(
        self,
        mu: Floats,
        sigma: Floats,
        X: Floats,
        y: NDArray[np.int64],
        rng: np.random.Generator,
        sample_weight: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Gradients of the log marginal likelihood, estimated with n_samples draws."""
        shapes = self._shapes(X.shape[1], self.n_classes)
        key, first, layers = int(rng.integers(2**63)), 0, []
        for m, s in zip(_layers(mu, shapes), _layers(sigma, shapes), strict=True):
            layers.append(draw(key, first, m, s, self.n_samples, X.dtype))
            first += layers[-1][0].size
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            of_theta = self._back_propagate(X, y, [theta for theta, _ in layers], row_weights(y, sample_weight, X.dtype))
        of_mu, of_sigma = np.empty_like(mu), np.empty_like(sigma)
        into = zip(_layers(of_mu, shapes), _layers(of_sigma, shapes), of_theta, layers, strict=True)
        for m, s, gradient, (_, noise) in into:
            m[...], s[...] = fold_back(gradient, noise)
        return of_mu, of_sigma

    def _back_propagate(self, X: Floats, y: NDArray[np.int64], theta: list[Floats], weight: Floats) -> list[Floats]:
        """Gradients of the mean log marginal likelihood by the sampled parameters of each layer."""
        n_rows, n_samples = len(X), self.n_samples
        damping = X.dtype.type(self.layer_size**-0.5)
        flat = [layer.reshape(layer.shape[0], -1) for layer in theta]
        first = X @ flat[0][:-1]
        first += flat[0][-1]
        # From here on (samples, rows, nodes); views, no copies.
        signal, signals = first.reshape(n_rows, n_samples, -1).transpose(1, 0, 2), []
        for layer in theta[1:]:
            np.maximum(signal, 0.0, out=signal)
            signal *= damping
            signals.append(signal)
            signal = signal @ layer[:-1].transpose(1, 0, 2)
            signal += layer[-1][:, None, :]
        delta = output_gradient(signal, y, weight)
        gradients = [np.empty_like(layer) for layer in theta]
        for layer, gradient, signal in zip(theta[:0:-1], gradients[:0:-1], reversed(signals), strict=True):
            gradient[:-1] = (signal.transpose(0, 2, 1) @ delta).transpose(1, 0, 2)
            gradient[-1] = delta.sum(axis=1)
            delta = delta @ layer[:-1].transpose(1, 2, 0)
            delta *= (signal > 0.0) * damping
        delta = np.ascontiguousarray(delta.transpose(1, 0, 2)).reshape(n_rows, -1)
        flat_gradient = gradients[0].reshape(gradients[0].shape[0], -1)
        np.matmul(X.T, delta, out=flat_gradient[:-1])
        flat_gradient[-1] = delta.sum(axis=0)
        return gradients

    def aggregate(self, mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """Mean first weights of a feature, plus the mean weight of each further layer."""
        shapes = self._shapes(self.n_features, self.n_classes)
        importance, uncertainty = (
            layers[0][:-1].mean(axis=1) + sum(layer[:-1].mean() for layer in layers[1:])
            for layers in (_layers(mu, shapes), _layers(sigma, shapes))
        )
        return importance, uncertainty

    def _shapes(self, n_features: int, n_classes: int) -> list[tuple[int, int]]:
        sizes = [n_features, *[self.layer_size] * self.hidden_layers, n_classes]
        return [(before + 1, after) for before, after in zip(sizes[:-1], sizes[1:], strict=True)]


def _layers(parameters: Floats, shapes: list[tuple[int, int]]) -> list[Floats]:
    """Views of the layers in the vector of all parameters."""
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(parameters, ends[:-1]), shapes, strict=True)]
