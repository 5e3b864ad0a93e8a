"""The soft decision tree of FIRES (2.1.3), after Frosst and Hinton: inner nodes are logistic, leaves hold class logits.

An inner node sends a row to its first child with probability p = 1 / (1 + exp(-(w x + bias))) (the paper says: to the
right child; only the order of the leaves differs). The class logits of a row are the leaves' logits weighted by the
probabilities of reaching them, and the classes have their softmax. A class that arrives late gets new leaf logits.
Where the target is a number each leaf has one number, and the target is normal about the mean of these (montecarlo.py).

The penalty keeps nodes from sending everything one way: with a the mean of p at a node, weighted by the probability of
reaching it, -penalty * 2^-layer * (log a + log(1 - a)). Frosst and Hinton print half of that for each inner node; the
program FIRES was built on adds the half once for each of the two children, and its penalty of 0.01 is the published
one. Monte Carlo and float32 as in ann.py; aggregation (2.1.4) is the mean over the inner nodes, without biases, with
the weakness described in ann.py.

Time per batch: O(rows x features x inner nodes x samples).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from streamsift.kernels.fires_normals import fold
from streamsift.rows.fires.model import ModelTraits
from streamsift.rows.fires.montecarlo import bound_to, draw, gradient_by_outputs, row_weights, small_start
from streamsift.rows.fires.scratch import ScratchArrays

Floats = NDArray[Any]

FLOOR = 1e-12  # of a and 1 - a: a node that sends everything one way has a gradient of 0, not of infinity


@dataclass(frozen=True)
class SDT:
    """A soft decision tree.

    Parameters
    ----------
    depth : int, default 3
        Layers of inner nodes.
    penalty : float, default 0.01
        Coefficient of the penalty on one-sided nodes.
    n_features, n_classes, n_samples : int
        Set by FIRES.

    Examples
    --------
    >>> from streamsift import FIRES
    >>> from streamsift.rows.fires import SDT
    >>> selector = FIRES(model=SDT(depth=2), random_state=0)
    >>> selector.partial_fit([[0.0, 1.0], [1.0, 1.0]], ["no", "yes"]).importance_.shape
    (2,)
    """

    depth: int = 3
    penalty: float = 0.01
    n_features: int = 0
    n_classes: int = 0
    n_samples: int = 5
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
        """Weights and bias of each inner node, class logits of each leaf."""
        return int((n_features + 1) * (2**self.depth - 1) + 2**self.depth * n_classes)

    def carry(
        self, mu: Floats, sigma: Floats, into_mu: Floats, into_sigma: Floats, n_features: int, n_classes: int
    ) -> None:
        """Features are rows of the inner nodes' matrix, classes columns of the leaves'."""
        for old, new in ((mu, into_mu), (sigma, into_sigma)):
            inner, leaves = self._parts(old, n_features, n_classes)
            new_inner, new_leaves = self._parts(new, self.n_features, self.n_classes)
            new_inner[:n_features], new_inner[-1] = inner[:-1], inner[-1]
            new_leaves[:, :n_classes] = leaves

    def gradients(
        self,
        mu: Floats,
        sigma: Floats,
        X: Floats,
        y: NDArray[Any],
        rng: np.random.Generator,
        sample_weight: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Gradients of the log marginal likelihood minus the mean penalty, estimated with n_samples draws."""
        key, n_features = int(rng.integers(2**63)), X.shape[1]
        (inner_mu, leaf_mu), (inner_sigma, leaf_sigma) = (
            self._parts(part, n_features, self.n_classes) for part in (mu, sigma)
        )
        settings = (self.n_samples, X.dtype)
        inner, inner_noise = draw(self.scratch, "inner", key, 0, inner_mu, inner_sigma, *settings)
        leaves, leaf_noise = draw(self.scratch, "leaves", key, inner_noise.size, leaf_mu, leaf_sigma, *settings)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            of_inner, of_leaves = self._back_propagate(X, y, inner, leaves, row_weights(y, sample_weight, X.dtype))
        of_mu, of_sigma = self.scratch.take("of_mu", mu.shape), self.scratch.take("of_sigma", mu.shape)
        into = zip(*(self._parts(part, n_features, self.n_classes) for part in (of_mu, of_sigma)), strict=True)
        for noise, gradient, (m, s) in zip((inner_noise, leaf_noise), (of_inner, of_leaves), into, strict=True):
            fold(noise, gradient, m, s)
        return of_mu, of_sigma

    def _back_propagate(
        self, X: Floats, y: NDArray[Any], inner: Floats, leaves: Floats, weight: Floats
    ) -> tuple[Floats, Floats]:
        """Gradients by the sampled parameters of inner nodes (features + 1, samples, nodes) and leaves."""
        reached, first_child = self._forward(X, inner)
        logits = reached[-1].transpose(1, 0, 2) @ leaves.transpose(1, 0, 2)
        delta = gradient_by_outputs(logits, y, weight)
        of_leaves = (reached[-1].transpose(1, 2, 0) @ delta).transpose(1, 0, 2)
        of_reached = (delta @ leaves.transpose(1, 2, 0)).transpose(1, 0, 2)
        of_inner = np.empty_like(first_child)
        column = weight[:, None, None]
        for layer in range(self.depth - 1, -1, -1):
            nodes = slice(2**layer - 1, 2 ** (layer + 1) - 1)
            p, reach = first_child[:, :, nodes], reached[layer]
            to_first, to_second = of_reached[:, :, ::2], of_reached[:, :, 1::2]
            share, total, slope = self._penalty_slope(p, reach, column, layer)
            pull = slope / total * column
            of_inner[:, :, nodes] = (reach * (to_first - to_second + pull)) * (p * (1.0 - p))
            of_reached = to_second + p * (to_first - to_second) + pull * (p - share)
        flat = of_inner.reshape(len(X), -1)
        gradient = self.scratch.take("of_inner", inner.shape, X.dtype)
        by_input = gradient.reshape(len(inner), -1)
        np.matmul(X.T, flat, out=by_input[:-1])
        by_input[-1] = flat.sum(axis=0)
        return gradient, np.ascontiguousarray(of_leaves)

    def _forward(self, X: Floats, inner: Floats) -> tuple[list[Floats], Floats]:
        """Probabilities of reaching the nodes of each layer, leaves last, and of going on to the first child."""
        flat = inner.reshape(len(inner), -1)
        margin = X @ flat[:-1]
        margin += flat[-1]
        first_child = expit(margin, out=margin).reshape(len(X), inner.shape[1], -1)
        reached = [np.ones((len(X), inner.shape[1], 1), X.dtype)]
        for layer in range(self.depth):
            p = first_child[:, :, 2**layer - 1 : 2 ** (layer + 1) - 1]
            below = np.empty((*p.shape[:2], 2 * p.shape[2]), X.dtype)
            np.multiply(reached[-1], p, out=below[:, :, ::2])
            np.subtract(reached[-1], below[:, :, ::2], out=below[:, :, 1::2])
            reached.append(below)
        return reached, first_child

    def _penalty_slope(self, p: Floats, reach: Floats, weight: Floats, layer: int) -> tuple[Floats, Floats, Floats]:
        """Each node's mean p, the weight that reaches it, and minus the slope of the mean penalty by that mean."""
        weighted = reach * weight
        total = np.maximum(weighted.sum(axis=0), FLOOR)
        share = (weighted * p).sum(axis=0) / total
        exact = share.astype(np.float64)  # 1 - FLOOR is 1 in float32
        inside = np.clip(exact, FLOOR, 1.0 - FLOOR)
        slope = self.penalty * 2.0**-layer / self.n_samples * (1.0 / inside - 1.0 / (1.0 - inside))
        return share, total, np.where(inside == exact, slope, 0.0).astype(p.dtype)

    def aggregate(self, mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """The mean over the inner nodes."""
        importance, uncertainty = (
            self._parts(part, self.n_features, self.n_classes)[0][:-1].mean(axis=1) for part in (mu, sigma)
        )
        return importance, uncertainty

    def _parts(self, parameters: Floats, n_features: int, n_classes: int) -> tuple[Floats, Floats]:
        """Views of the inner nodes' matrix (features + 1, nodes) and the leaves' (leaves, classes)."""
        n_inner = (n_features + 1) * (2**self.depth - 1)
        inner, leaves = parameters[:n_inner], parameters[n_inner:]
        return inner.reshape(n_features + 1, -1), leaves.reshape(2**self.depth, n_classes)
