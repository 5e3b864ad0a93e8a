"""Coordinate descent on a matrix of cross products: the lasso, the elastic net and the minimax concave penalty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import inlined_kernel, kernel

Floats = NDArray[np.float64]


@kernel
def descend(
    gram: Floats, slope: Floats, beta: Floats, l1: float, l2: float, concavity: float, tolerance: float, most: int
) -> int:
    """Minimise beta' gram beta / 2 - q' beta + penalty in place; returns the sweeps taken, at most `most`.

    `gram` is symmetric. `slope` is q - gram beta and is kept so. The penalty of one coefficient b is
    l1 |b| + l2 b^2 / 2, and with concavity > 0 it is the minimax concave one: l1 |b| - b^2 / (2 concavity) up to
    |b| = concavity l1, constant beyond. All coefficients are looked at in turn; then those that are not 0, among
    themselves, until none moves by more than `tolerance`; and so on, until nothing moves when all are looked at.
    """
    n = len(beta)
    sweeps = 0
    while sweeps < most:
        sweeps += 1
        moved = 0.0
        for j in range(n):
            step = _best(gram[j, j], slope[j], beta[j], l1, l2, concavity) - beta[j]
            if step != 0.0:
                beta[j] += step
                for k in range(n):
                    slope[k] -= step * gram[j, k]
                moved = max(moved, abs(step))
        if moved <= tolerance:
            break
        sweeps += _among_themselves(gram, slope, beta, l1, l2, concavity, tolerance, most - sweeps)
    return sweeps


@inlined_kernel
def _best(size: float, slope: float, old: float, l1: float, l2: float, concavity: float) -> float:
    """Where one coefficient is best, all others left as they are; one without spread stays."""
    if size <= 0.0:
        return old
    z = slope + size * old
    if concavity > 0.0 and abs(z) > concavity * l1 * size:
        return z / size
    left = size - 1.0 / concavity if concavity > 0.0 else size + l2
    new = max(abs(z) - l1, 0.0) / left
    return -new if z < 0.0 else new


@inlined_kernel
def _among_themselves(
    gram: Floats, slope: Floats, beta: Floats, l1: float, l2: float, concavity: float, tolerance: float, most: int
) -> int:
    """Sweep over the coefficients that are not 0 until none moves; one that becomes 0 stays.

    Their own cross products are put side by side first, and the slopes of the others are brought up to date at the end.
    """
    n, size = len(beta), 0
    active = np.empty(n, np.int64)
    for j in range(n):
        if beta[j] != 0.0:
            active[size] = j
            size += 1
    own, left, value = np.empty((size, size)), np.empty(size), np.empty(size)
    for i in range(size):
        left[i], value[i] = slope[active[i]], beta[active[i]]
        for k in range(size):
            own[i, k] = gram[active[i], active[k]]
    sweeps = 0
    moved = np.inf
    while sweeps < most and moved > tolerance:
        sweeps += 1
        moved = 0.0
        for i in range(size):
            if value[i] == 0.0:
                continue
            step = _best(own[i, i], left[i], value[i], l1, l2, concavity) - value[i]
            if step != 0.0:
                value[i] += step
                for k in range(size):
                    left[k] -= step * own[i, k]
                moved = max(moved, abs(step))
    for i in range(size):
        j = active[i]
        step = value[i] - beta[j]
        beta[j] = value[i]
        for k in range(n):
            slope[k] -= step * gram[j, k]
    return sweeps
