"""Kernels of linear thresholds (F-ETANA): simulated instances, and what they cost with given thresholds.

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
def costs(plane: Floats, posterior: Floats, spent: Floats, choice: Ints, loss: Floats, total: Floats) -> None:
    """Price and misclassification cost of each instance that stops where `beyond_plane` (kernels/instances.py) says."""
    n_stages = loss.shape[1] - 1
    for i in range(loss.shape[0]):
        k = 0
        while k < n_stages:
            j, wanted, most = choice[i, k], 0.0, 0.0
            for c in range(posterior.shape[2]):
                if c != j:
                    one = plane[k, j, c] * posterior[i, k, c]
                    wanted += one
                    most = max(most, one)
            own = posterior[i, k, j]
            if most <= own and wanted <= -plane[k, j, j] * own:
                break
            k += 1
        total[i] = spent[i, k] + loss[i, k]
