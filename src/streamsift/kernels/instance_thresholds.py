"""Kernels of linear thresholds (F-ETANA): simulated instances, and what they cost with given thresholds.

An instance is drawn from the model: a class, then one bin per stage. It is followed through all stages without
stopping; `Paths` describes it before the feature of each stage is bought.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Paths(NamedTuple):
    """Simulated instances i before stage k; k = n_stages is after the last purchase."""

    posterior: Floats  # (n_draws, n_stages + 1, n_classes)
    spent: Floats  # (n_draws, n_stages + 1) the price paid so far
    choice: Ints  # (n_draws, n_stages + 1) the class with the smallest expected misclassification cost (Eq. 8)
    loss: Floats  # (n_draws, n_stages + 1) that cost


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
    paths: Paths,
) -> None:
    """Draw instances of the given classes; chance[i, k] in [0, 1) decides the bin at stage k.

    The bins of stage k are the rows first[k]:first[k + 1] of `likelihood`, P(bin | class) by class. available[k] is the
    share of rows that have the feature; risk[c, j] is the cost of answering j when c is true.
    """
    posterior, spent, choice, loss = paths.posterior, paths.spent, paths.choice, paths.loss
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
                if u < available[k - 1]:  # u / available is uniform again, and picks the bin by inverting P(bin <= b)
                    spent[i, k] += cost[k - 1]
                    u /= available[k - 1]
                    b = first[k - 1]
                    while b + 1 < first[k] and u >= likelihood[b, classes[i]]:
                        u -= likelihood[b, classes[i]]
                        b += 1
                    for c in range(n):
                        log_weight[c] += log_likelihood[b, c]
            # posterior = exp(log_weight) / sum; the largest is taken out first, so that nothing underflows to 0 / 0.
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
def costs(plane: Floats, paths: Paths, total: Floats) -> None:
    """Price and misclassification cost of each instance that stops where `beyond_plane` (kernels/instances.py) says."""
    posterior, choice, loss = paths.posterior, paths.choice, paths.loss
    n_stages = loss.shape[1] - 1
    for i in range(loss.shape[0]):
        k = 0
        while k < n_stages:
            # Eq. 15 as in beyond_plane, without an early end: a sum of a few terms is faster than a branch on each.
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
        total[i] = paths.spent[i, k] + loss[i, k]
