"""The largest eigenvalues of a symmetric tridiagonal matrix and their eigenvectors, all side by side.

Values by bisection: the number of negative pivots of T - x is the number of eigenvalues below x. Vectors from the two
factorisations of T - value, from above and from below, joined at the place where they fit best (a twisted
factorisation). Loops run over the eigenvalues inside, so that they are vectorised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]

_HALVINGS = 60  # of the range of all eigenvalues


@kernel
def leading_values(diagonal: Floats, beside: Floats, values: Floats) -> float:
    """Write the largest eigenvalues, largest first; return a bound of the size of all."""
    n, size = values.size, diagonal.size
    largest, widest = abs(diagonal[0]), 0.0
    for i in range(1, size):
        largest, widest = max(largest, abs(diagonal[i])), max(widest, abs(beside[i - 1]))
    bound = largest + 2.0 * widest
    low, high = np.full(n, -bound), np.full(n, bound)
    middle, pivot, below = np.empty(n), np.empty(n), np.empty(n)
    least = 1e-290 * max(bound * bound, 1.0)  # a pivot of 0 would end the walk
    for _ in range(_HALVINGS):
        for k in range(n):
            middle[k] = 0.5 * low[k] + 0.5 * high[k]
            pivot[k] = diagonal[0] - middle[k]
            below[k] = 1.0 if pivot[k] < 0.0 else 0.0
        for i in range(1, size):
            d, e = diagonal[i], beside[i - 1] * beside[i - 1]
            for k in range(n):
                p = pivot[k]
                p = least if abs(p) < least else p
                p = d - middle[k] - e / p
                pivot[k] = p
                below[k] += 1.0 if p < 0.0 else 0.0
        for k in range(n):
            above = below[k] <= size - 1 - k
            low[k] = middle[k] if above else low[k]
            high[k] = high[k] if above else middle[k]
    for k in range(n):
        values[k] = 0.5 * low[k] + 0.5 * high[k]
    return float(bound)


@kernel
def vectors_of(diagonal: Floats, beside: Floats, values: Floats, down: Floats, up: Floats, vectors: Floats) -> None:
    """Eigenvectors of length 1 as columns of `vectors`; `down` and `up` are scratch space of its shape."""
    size, n = vectors.shape
    for k in range(n):
        down[0, k] = diagonal[0] - values[k]
        up[size - 1, k] = diagonal[size - 1] - values[k]
    for i in range(1, size):
        j = size - 1 - i
        d, e, d_up, e_up = diagonal[i], beside[i - 1] ** 2, diagonal[j], beside[j] ** 2
        for k in range(n):
            down[i, k] = d - values[k] - e / down[i - 1, k]
            up[j, k] = d_up - values[k] - e_up / up[j + 1, k]
    for k in range(n):
        best, place = np.inf, 0
        for i in range(size):
            gap = abs(down[i, k] + up[i, k] - (diagonal[i] - values[k]))
            if gap < best:
                best, place = gap, i
        vectors[place, k] = 1.0
        total = 1.0
        for i in range(place, 0, -1):
            vectors[i - 1, k] = -beside[i - 1] * vectors[i, k] / down[i - 1, k]
            total += vectors[i - 1, k] ** 2
        for i in range(place, size - 1):
            vectors[i + 1, k] = -beside[i] * vectors[i, k] / up[i + 1, k]
            total += vectors[i + 1, k] ** 2
        factor = 1.0 / np.sqrt(total)
        for i in range(size):
            vectors[i, k] *= factor


@kernel
def are_eigenvectors(
    diagonal: Floats, beside: Floats, values: Floats, vectors: Floats, products: Floats, left: float, excess: float
) -> bool:
    """Whether T v - value v is within `left` and the products of the vectors within `excess` of the unit matrix.

    The unit matrix is taken from the products. NaN is within nothing.
    """
    size, n = vectors.shape
    outside = 0
    for k in range(n):
        products[k, k] -= 1.0
        for c in range(n):
            outside += not abs(products[k, c]) < excess
    for i in range(size):
        for k in range(n):
            rest = (diagonal[i] - values[k]) * vectors[i, k]
            if i > 0:
                rest += beside[i - 1] * vectors[i - 1, k]
            if i + 1 < size:
                rest += beside[i] * vectors[i + 1, k]
            outside += not abs(rest) < left
    return outside == 0
