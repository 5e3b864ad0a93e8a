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


def draw(
    key: int, first: int, mu: Floats, sigma: Floats, n_samples: int, dtype: np.dtype[Any]
) -> tuple[Floats, Floats]:
    """Parameters (inputs, samples, outputs) of one layer and the normal numbers behind them."""
    theta = np.empty((mu.shape[0], n_samples, mu.shape[1]), dtype)
    noise = np.empty_like(theta)
    perturb(np.uint64(key), np.uint64(first), mu, sigma, theta, noise)
    return theta, noise


def fold_back(gradient: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Gradients by mu and sigma (inputs, outputs), in float64, from those of all samples."""
    of_mu = np.empty((gradient.shape[0], gradient.shape[2]))
    of_sigma = np.empty_like(of_mu)
    fold(gradient, noise, of_mu, of_sigma)
    return of_mu, of_sigma


def row_weights(y: NDArray[np.int64], sample_weight: Floats | None, dtype: np.dtype[Any]) -> Floats:
    """Weights that sum to one."""
    if sample_weight is None:
        return np.full(len(y), 1.0 / len(y), dtype)
    return (sample_weight / sample_weight.sum()).astype(dtype)


def output_gradient(logits: Floats, y: NDArray[np.int64], weight: Floats) -> Floats:
    """Gradient of the weighted mean log marginal likelihood by logits of shape (samples, rows, classes)."""
    log_likelihood = log_softmax(logits, axis=2)
    share = softmax(log_likelihood[:, np.arange(len(y)), y], axis=0) * weight
    gradient = -np.exp(log_likelihood)
    gradient[:, np.arange(len(y)), y] += 1.0
    gradient *= share[:, :, None]
    return gradient
