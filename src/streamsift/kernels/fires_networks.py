"""Steps of the Monte-Carlo models of FIRES that are no matrix products: activation, its slope, gradient by outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[Any]


@kernel
def activate(signal: Floats, damping: float) -> None:
    """damping * max(signal, 0), in place; NaN stays NaN."""
    for k in range(signal.size):
        value = signal[k] * damping
        signal[k] = 0.0 if value < 0.0 else value


@kernel
def pass_back(delta: Floats, activated: Floats, damping: float) -> None:
    """Multiply the gradient by what `activate` returned by the slope of it, in place."""
    for k in range(delta.size):
        delta[k] *= damping if activated[k] > 0.0 else 0.0


@kernel
def _log_of_sum(logs: NDArray[np.float64]) -> float:
    """The log of the sum of what these are the logs of."""
    largest = logs[0]
    for k in range(1, logs.size):
        largest = max(largest, logs[k])
    if not abs(largest) < np.inf:  # all are -inf, or some are NaN or inf: nothing to take out
        largest = 0.0
    total = 0.0
    for k in range(logs.size):
        total += np.exp(logs[k] - largest)
    return float(np.log(total) + largest)


@kernel
def output_gradient(logits: Floats, y: NDArray[np.int64], weight: Floats, smallest: float, gradient: Floats) -> None:
    """Gradient of the weighted mean log marginal likelihood by logits of shape (samples, rows, classes).

    Gradients below `smallest` become 0: matrix products of denormal numbers take many times as long, and such a
    gradient moves nothing.
    """
    n_samples, n_rows, n_classes = logits.shape
    # With f = softmax(logits), P(y) = mean_s f_s(y):  d log P / d logit_sc = share_s (1[c = y] - f_s(c)),
    # share_s = f_s(y) / sum_s f_s(y). Everything is kept as logs until the last step.
    logs, of_label = np.empty((n_samples, n_classes)), np.empty(n_samples)
    for i in range(n_rows):
        for s in range(n_samples):
            for c in range(n_classes):
                logs[s, c] = logits[s, i, c]
            total = _log_of_sum(logs[s])
            for c in range(n_classes):
                logs[s, c] -= total
            of_label[s] = logs[s, y[i]]
        total = _log_of_sum(of_label)
        for s in range(n_samples):
            share = np.exp(of_label[s] - total) * weight[i]
            for c in range(n_classes):
                g = share * ((1.0 if c == y[i] else 0.0) - np.exp(logs[s, c]))
                gradient[s, i, c] = 0.0 if abs(g) < smallest else g


@kernel
def number_gradient(outputs: Floats, z: NDArray[np.float64], weight: Floats, smallest: float, gradient: Floats) -> None:
    """The same by outputs of shape (samples, rows, 1), where z is a number with normal noise of variance 1."""
    n_samples, n_rows = outputs.shape[:2]
    # With f_s = N(z; output_s, 1):  d log mean_s f_s / d output_s = share_s (z - output_s), share_s = f_s / sum f_s.
    logs = np.empty(n_samples)
    for i in range(n_rows):
        for s in range(n_samples):
            error = z[i] - outputs[s, i, 0]
            logs[s] = -0.5 * error * error
        total = _log_of_sum(logs)
        for s in range(n_samples):
            g = np.exp(logs[s] - total) * weight[i] * (z[i] - outputs[s, i, 0])
            gradient[s, i, 0] = 0.0 if abs(g) < smallest else g
