"""The neural net of FIRES (2.1.2): fully connected layers, ReLU, softmax over the classes.

Parameters are sampled with the reparameterisation trick; the net is differentiated by back-propagation, all samples at
once: the rows times the first layer of all samples is a single matrix product. There is one output per class, also for
two classes (the paper's sigmoid is the difference of two such outputs); a class that arrives late gets a new output.
Where the target is a number there is a single output, its mean, with normal noise about it (montecarlo.py).

The signals of a hidden layer are divided by the square root of its size (not in the paper). Weights start with
sigma = 1; without it signals grow about sevenfold in every layer of 100 nodes, gradients with them, and mu leaves all
bounds within some dozen batches.

A layer is a matrix (inputs + 1, outputs) whose last row is the bias. Aggregation (2.1.4): with full connection all
nodes lie on the path of every feature, so a feature has the mean of its first weights plus the mean weight of each
further layer; biases belong to no feature. The mean is the paper's, and it is weak: nodes that work for and against a
class learn a feature with opposite signs. What is more, at the published settings mu hardly moves while sigma follows
the Monte-Carlo noise: for hundreds of batches sigma alone decides the ranking. So `aggregation="squares"`,
`initial_sigma=0.1`, `learning_rate_mu=1.0` and `epochs=3` are the defaults here and of the tree
(docs/methods/defaults.md), with which it finds what matters. The GLM has no such trouble.

Float32 rows are computed in float32, mu and sigma stay float64: a step of 1e-8 on a sigma of 1 would be lost.
Time per batch: O(rows x parameters x samples). The first layer, which is the large one, is drawn `chunk` features at a
time, and if there are more its noise is drawn again for the gradient: memory beyond mu and sigma and their gradients
stays small.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.fires_networks import activate, pass_back
from streamsift.kernels.fires_normals import fold, row_size
from streamsift.rows.fires.model import ModelTraits
from streamsift.rows.fires.montecarlo import (
    bound_to,
    draw,
    draw_again,
    gradient_by_outputs,
    row_weights,
    small_start,
    space,
)
from streamsift.rows.fires.scratch import ScratchArrays

Floats = NDArray[Any]


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
    chunk : int, default 1024
        Features whose weights, for all samples, are held at a time: fewer need less memory and more time.

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
    chunk: int = 1024
    scratch: ScratchArrays = field(default_factory=ScratchArrays, repr=False, compare=False)
    traits: ClassVar[ModelTraits] = ModelTraits(
        grows=True,
        averages=True,
        numbers=True,
        defaults={"initial_sigma": 0.1, "learning_rate_mu": 1.0, "epochs": 3, "aggregation": "squares"},
    )

    bind = bound_to
    start = small_start

    def n_parameters(self, n_features: int, n_classes: int) -> int:
        """Weights and biases of all layers."""
        return sum(rows * columns for rows, columns in self._shapes(n_features, n_classes))

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
        y: NDArray[Any],
        rng: np.random.Generator,
        sample_weight: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Gradients of the log marginal likelihood, estimated with n_samples draws."""
        shapes = self._shapes(X.shape[1], self.n_classes)
        key, weight = int(rng.integers(2**63)), row_weights(y, sample_weight, X.dtype)
        means, deviations = _layers(mu, shapes), _layers(sigma, shapes)
        starts = list(accumulate(rows * row_size(self.n_samples, columns) for rows, columns in shapes))
        of_mu, of_sigma = self.scratch.take("of_mu", mu.shape), self.scratch.take("of_sigma", mu.shape)
        into = list(zip(_layers(of_mu, shapes), _layers(of_sigma, shapes), strict=True))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            damping, drawn = X.dtype.type(self.layer_size**-0.5), []
            signals: list[Floats] = []
            # Samples are in the middle, (rows, samples, nodes), only in `first`; everywhere else they come first.
            first = self._first_signal(X, key, means[0], deviations[0])
            signal = first.transpose(1, 0, 2)
            for start, mean, deviation in zip(starts, means[1:], deviations[1:], strict=False):
                drawn.append(draw(self.scratch, f"layer {start}", key, start, mean, deviation, self.n_samples, X.dtype))
                theta = drawn[-1][0]
                activate((signal if signals else first).reshape(-1), damping)
                signals.append(signal)
                signal = signal @ theta[:-1].transpose(1, 0, 2)
                signal += theta[-1][:, None, :]
            delta = gradient_by_outputs(signal, y, weight)
            for (theta, noise), signal, (m, s) in zip(drawn[::-1], signals[::-1], into[:0:-1], strict=True):
                gradient = self.scratch.take("gradient", theta.shape, X.dtype)
                np.matmul(signal.transpose(0, 2, 1), delta, out=gradient[:-1].transpose(1, 0, 2))
                np.sum(delta, axis=1, out=gradient[-1])
                fold(noise, gradient, m, s)
                delta = delta @ theta[:-1].transpose(1, 2, 0)
                if signal is not signals[0]:
                    pass_back(delta.reshape(-1), signal.reshape(-1), damping)
            delta = np.ascontiguousarray(delta.transpose(1, 0, 2))
            if signals:
                pass_back(delta.reshape(-1), first.reshape(-1), damping)
            self._fold_first(X, key, delta.reshape(len(X), -1), *into[0])
        return of_mu, of_sigma

    def _first_signal(self, X: Floats, key: int, mean: Floats, deviation: Floats) -> Floats:
        """What enters the first hidden layer, (rows, samples, nodes); weights are drawn `chunk` features at a time."""
        n_features, width = X.shape[1], self.n_samples * mean.shape[1]
        size = row_size(self.n_samples, mean.shape[1])
        signal, product = (self.scratch.take(name, (len(X), width), X.dtype) for name in ("signal", "product"))
        settings = (self.n_samples, X.dtype)
        bias, _ = draw(self.scratch, "bias", key, n_features * size, mean[-1:], deviation[-1:], *settings)
        signal[:] = bias.reshape(1, -1)
        for first in range(0, n_features, self.chunk):
            part, room = slice(first, min(first + self.chunk, n_features)), min(self.chunk, n_features)
            theta, _ = draw(self.scratch, "first", key, first * size, mean[part], deviation[part], *settings, room)
            signal += np.matmul(X[:, part], theta.reshape(-1, width), out=product)
        return signal.reshape(len(X), self.n_samples, -1)

    def _fold_first(self, X: Floats, key: int, delta: Floats, of_mu: Floats, of_sigma: Floats) -> None:
        """The gradients of the first layer, from `delta` of shape (rows, samples x nodes)."""
        n_features, width = X.shape[1], delta.shape[1]
        room = min(self.chunk, n_features)
        theta, kept = space(self.scratch, "first", room, self.n_samples, of_mu.shape[1], X.dtype)
        for first in range(0, n_features, self.chunk):
            part = slice(first, min(first + self.chunk, n_features))
            gradient, noise = theta[: part.stop - first], kept[: part.stop - first]  # in place of the parameters
            np.matmul(X[:, part].T, delta, out=gradient.reshape(-1, width))
            if n_features > self.chunk:
                draw_again(key, first * kept.shape[1], noise)
            fold(noise, gradient, of_mu[part], of_sigma[part])
        _, noise = space(self.scratch, "bias", 1, self.n_samples, of_mu.shape[1], X.dtype)
        fold(noise, delta.sum(axis=0).reshape(1, self.n_samples, -1), of_mu[-1:], of_sigma[-1:])

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
        return [(before + 1, after) for before, after in pairwise(sizes)]


def _layers(parameters: Floats, shapes: list[tuple[int, int]]) -> list[Floats]:
    """Views of the layers in the vector of all parameters."""
    layers, at = [], 0
    for rows, columns in shapes:
        layers.append(parameters[at : at + rows * columns].reshape(rows, columns))
        at += rows * columns
    return layers
