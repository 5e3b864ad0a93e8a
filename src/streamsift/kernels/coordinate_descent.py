"""Coordinate descent on a matrix of cross products: the lasso, the elastic net and the minimax concave penalty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]


@kernel
def descend(
    gram: Floats, slope: Floats, beta: Floats, l1: float, l2: float, concavity: float, tolerance: float, most: int
) -> int:
    """Minimise beta' gram beta / 2 - q' beta + penalty in place; returns the sweeps taken, at most `most`.

    `slope` is q - gram beta and is kept so. The penalty of one coefficient b is l1 |b| + l2 b^2 / 2, and with
    concavity > 0 it is the minimax concave one: l1 |b| - b^2 / (2 concavity) up to |b| = concavity l1, constant beyond.
    Sweeps over the coefficients that are not 0 are repeated until none moves by more than `tolerance`; then all are
    looked at.
    """
    n = len(beta)
    sweeps = 0
    whole = True
    while sweeps < most:
        sweeps += 1
        moved = 0.0
        for j in range(n):
            old = beta[j]
            if not whole and old == 0.0:
                continue
            size = gram[j, j]
            if size <= 0.0:
                continue
            z = slope[j] + size * old
            if concavity > 0.0 and abs(z) > concavity * l1 * size:
                new = z / size
            else:
                left = size - 1.0 / concavity if concavity > 0.0 else size + l2
                new = max(abs(z) - l1, 0.0) / left
                if z < 0.0:
                    new = -new
            if new != old:
                step = new - old
                beta[j] = new
                for k in range(n):
                    slope[k] -= step * gram[k, j]
                moved = max(moved, abs(step))
        if moved <= tolerance:
            if whole:
                break
            whole = True
        else:
            whole = False
    return sweeps
