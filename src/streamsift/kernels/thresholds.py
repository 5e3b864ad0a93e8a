"""Kernels of linear thresholds (F-ETANA): simulated instances, the best thresholds stage by stage, and their cost.

An instance is drawn from the model: a class, then a bin a stage. It is followed through all stages without stopping:
posterior[i, k], spent[i, k] (the price paid so far), choice[i, k] (the class with the smallest expected
misclassification cost) and loss[i, k] (that cost) describe it before stage k is bought; k runs to the number of stages.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def simulate(
    classes: Ints,
    chance: Floats,
    likelihood: Floats,
    first: Ints,
    cost: Floats,
    available: Floats,
    log_prior: Floats,
    risk: Floats,
    posterior: Floats,
    spent: Floats,
    choice: Ints,
    loss: Floats,
) -> None:
    """Draw instances of the given classes; chance[i, k] in [0, 1) decides the bin at stage k."""
    n_stages, n = cost.size, log_prior.size
    log_weight, log_likelihood = np.empty(n), np.log(likelihood[: first[n_stages]])
    for i in range(classes.size):
        for c in range(n):
            log_weight[c] = log_prior[c]
        spent[i, 0] = 0.0
        for k in range(n_stages + 1):
            if k > 0:
                spent[i, k] = spent[i, k - 1]
                u = chance[i, k - 1]
                if u < available[k - 1]:
                    spent[i, k] += cost[k - 1]
                    u /= available[k - 1]
                    b = first[k - 1]
                    while b + 1 < first[k] and u >= likelihood[b, classes[i]]:
                        u -= likelihood[b, classes[i]]
                        b += 1
                    for c in range(n):
                        log_weight[c] += log_likelihood[b, c]
            largest = log_weight[0]
            for c in range(1, n):
                largest = max(largest, log_weight[c])
            total = 0.0
            for c in range(n):
                posterior[i, k, c] = np.exp(log_weight[c] - largest)
                total += posterior[i, k, c]
            for c in range(n):
                posterior[i, k, c] /= total
            loss[i, k] = np.inf
            for j in range(n):
                expected = 0.0
                for c in range(n):
                    expected += risk[c, j] * posterior[i, k, c]
                if expected < loss[i, k]:
                    loss[i, k], choice[i, k] = expected, j


@kernel
def best_limit(loss: Floats, later: Floats) -> float:
    """Stop where loss <= limit, else pay `later`: the limit with the smallest sum; losses come in increasing order."""
    total = 0.0
    for i in range(loss.size):
        total += later[i]
    best, limit = total, -1.0  # nobody stops
    for i in range(loss.size):
        total += loss[i] - later[i]
        tied = i + 1 < loss.size and loss[i + 1] <= loss[i] * (1.0 + 1e-12)
        if not tied and total <= best:
            best = total
            limit = 0.5 * (loss[i] + loss[i + 1]) if i + 1 < loss.size else np.inf
    return limit


@kernel
def mean_cost(plane: Floats, posterior: Floats, spent: Floats, choice: Ints, loss: Floats) -> float:
    """Mean price and misclassification cost of the instances when plane[k, choice] . posterior <= 0 means stop."""
    n_stages, total = plane.shape[0], 0.0
    for i in range(loss.shape[0]):
        k = 0
        while k < n_stages:
            side = 0.0
            for c in range(posterior.shape[2]):
                side += plane[k, choice[i, k], c] * posterior[i, k, c]
            if side <= 0.0:
                break
            k += 1
        total += spent[i, k] + loss[i, k]
    return float(total / loss.shape[0])
