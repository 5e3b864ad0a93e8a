"""What the neural net and the tree share: parameters drawn for all Monte-Carlo samples, and the marginal likelihood.

P(y|x) is the mean over L samples of f_l(x)_y (2.1.2), so its log has the gradient

    sum_l share_l  grad log f_l(x)_y,      share_l = f_l(x)_y / sum of f_k(x)_y over all samples k,

and log f is a log-softmax. Shares and softmax are computed from logs, so nothing underflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from streamsift.kernels.normals import fold, perturb

Floats = NDArray[Any]


def draw(key: int, first: int, mu: Floats, sigma: Floats, theta: Floats) -> Floats:
    """Fill theta (inputs, samples, outputs) with parameters of one layer, from number `first` of stream `key` on."""
    perturb(np.uint64(key), np.uint64(first), mu, sigma, theta)
    return theta


def fold_back(key: int, first: int, gradient: Floats, of_mu: Floats, of_sigma: Floats) -> None:
    """Write the gradients by mu and sigma (inputs, outputs) from those by all samples that `draw` gave."""
    fold(np.uint64(key), np.uint64(first), gradient, of_mu, of_sigma)


def row_weights(y: NDArray[np.int64], sample_weight: Floats | None, dtype: np.dtype[Any]) -> Floats:
    """Weights that sum to one."""
    if sample_weight is None:
        return np.full(len(y), 1.0 / len(y), dtype)
    weights: Floats = sample_weight / sample_weight.sum()
    return weights.astype(dtype)


def output_gradient(logits: Floats, y: NDArray[np.int64], weight: Floats) -> Floats:
    """Gradient of the weighted mean log marginal likelihood by logits of shape (samples, rows, classes)."""
    log_likelihood = log_softmax(logits, axis=2)
    share = softmax(log_likelihood[:, np.arange(len(y)), y], axis=0) * weight
    gradient: NDArray[Any] = -np.exp(log_likelihood)
    gradient[:, np.arange(len(y)), y] += 1.0
    gradient *= share[:, :, None]
    # Matrix products of denormal numbers take many times as long, and such a gradient moves nothing.
    gradient[np.abs(gradient) < 1e8 * np.finfo(gradient.dtype).tiny] = 0.0
    return gradient
