"""The largest eigenvalues of a symmetric matrix and their eigenvectors, by way of its tridiagonal form T.

T comes from reflections I - f u u', one per column, that leave nothing beside the diagonal but one number. Values by
bisection: the number of negative pivots of T - x is the number of eigenvalues below x. Vectors of T from the two
factorisations of T - value, from above and from below, joined at the index where they fit best (a twisted
factorisation); those of the matrix by the same reflections in turn. Loops run over the eigenvalues inside, or along a
row, so that they are vectorised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel, summing_kernel

Floats = NDArray[np.float64]

_HALVINGS = 55  # of the range of all eigenvalues
_NOTHING = 1e-20  # a column shorter than this, times the trace, is 0: its squares might have no digits left
_CORRECTABLE = 1e-8  # products of eigenvectors that should be 0: their squares then are beyond the last digit


@summing_kernel
def _dot(x: Floats, y: Floats) -> float:
    """The inner product, added up in the order that suits the processor."""
    total = 0.0
    for j in range(x.size):
        total += x[j] * y[j]
    return total


@summing_kernel
def _sweep(flat: Floats, width: int, first: int, v: Floats, w: Floats, u: Floats, product: Floats) -> None:
    """A <- A - v w' - w v', then product = A u, with A the part of a matrix from row and column `first` on.

    Only the lower triangle is there, each number of which is fetched once for all this.
    """
    start, step = np.uint64(first), np.uint64(width)  # unsigned: indexing then needs no test for negative numbers
    for i in range(u.size):
        row = (start + np.uint64(i)) * step + start
        vi, wi, ui = v[i], w[i], u[i]
        total = 0.0
        for place in range(i):
            j = np.uint64(place)
            x = flat[row + j] - (vi * w[j] + wi * v[j])
            flat[row + j] = x
            total += x * u[j]
            product[j] += x * ui
        x = flat[row + np.uint64(i)] - 2.0 * vi * wi
        flat[row + np.uint64(i)] = x
        product[i] = total + x * ui


@kernel
def to_tridiagonal(flat: Floats, diagonal: Floats, beside: Floats, reflectors: Floats, factors: Floats) -> None:
    """Write T to `diagonal` and `beside`, and u and f of the reflection of each column k to row k of the last two.

    `flat` is the matrix row by row; its lower triangle is read and overwritten. A column is brought up to date when its
    turn has come, the rest of the matrix while it is multiplied with the next u.
    """
    n = diagonal.size
    column, product, v, w = np.empty(n), np.empty(n), np.zeros(n), np.zeros(n)
    trace = 0.0
    for i in range(n):
        trace += abs(flat[i * n + i])
    nothing = (_NOTHING * trace) * (_NOTHING * trace)
    for k in range(n):
        for i in range(k, n):
            column[i] = flat[i * n + k] - (v[k] * w[i] + w[k] * v[i])
        diagonal[k] = column[k]
        if k == n - 1:
            return
        u, below, head = reflectors[k, k + 1 :], column[k + 2 :], column[k + 1]
        # Householder: u = (1, below / (head - length)), f = (length - head) / length, with the sign of `length`
        # opposite to that of `head`, so that nothing cancels.
        rest = _dot(below, below)
        factors[k] = 0.0
        beside[k] = head
        if rest > nothing:
            length = np.sqrt(head * head + rest)
            length = -length if head > 0.0 else length
            beside[k] = length
            factors[k] = (length - head) / length
            for i in range(below.size):
                u[i + 1] = below[i] / (head - length)
        else:
            for i in range(below.size):
                u[i + 1] = 0.0
        u[0] = 1.0
        v_rest, w_rest, its_product = v[k + 1 :], w[k + 1 :], product[k + 1 :]
        _sweep(flat, n, k + 1, v_rest, w_rest, u, its_product)
        # (I - f u u') A (I - f u u') = A - u w' - w u'  with  w = f A u - (f^2 / 2) (u' A u) u
        half = 0.5 * factors[k] * factors[k] * _dot(its_product, u)
        for i in range(u.size):
            v_rest[i] = u[i]
            w_rest[i] = factors[k] * its_product[i] - half * u[i]


@summing_kernel
def _reflect_four(u: Floats, factor: float, z0: Floats, z1: Floats, z2: Floats, z3: Floats) -> None:
    s0 = s1 = s2 = s3 = 0.0
    for j in range(u.size):
        s0 += u[j] * z0[j]
        s1 += u[j] * z1[j]
        s2 += u[j] * z2[j]
        s3 += u[j] * z3[j]
    s0, s1, s2, s3 = factor * s0, factor * s1, factor * s2, factor * s3
    for j in range(u.size):
        z0[j] -= s0 * u[j]
        z1[j] -= s1 * u[j]
        z2[j] -= s2 * u[j]
        z3[j] -= s3 * u[j]


@kernel
def reflect_back(reflectors: Floats, factors: Floats, vectors: Floats) -> None:
    """Turn the rows of `vectors`, a multiple of four, from eigenvectors of T to those of the matrix."""
    n, size = vectors.shape
    for c in range(0, n, 4):
        z0, z1, z2, z3 = vectors[c], vectors[c + 1], vectors[c + 2], vectors[c + 3]
        for k in range(size - 2, -1, -1):
            _reflect_four(reflectors[k, k + 1 :], factors[k], z0[k + 1 :], z1[k + 1 :], z2[k + 1 :], z3[k + 1 :])


@kernel
def leading_values(diagonal: Floats, beside: Floats, values: Floats) -> float:
    """Write the largest eigenvalues, largest first; return a bound of the size of all."""
    n, size = values.size, diagonal.size
    largest, widest = abs(diagonal[0]), 0.0
    for i in range(1, size):
        largest, widest = max(largest, abs(diagonal[i])), max(widest, abs(beside[i - 1]))
    bound = largest + 2.0 * widest  # Gershgorin: all eigenvalues lie within
    low, high = np.full(n, -bound), np.full(n, bound)
    middle, pivot, below = np.empty(n), np.empty(n), np.empty(n)
    least = 1e-290 * max(bound * bound, 1.0)  # a pivot of 0 would end the walk
    # All eigenvalues are bisected side by side, which is vectorised; the pivots of T - x are
    # p_0 = d_0 - x,  p_i = d_i - x - e_(i-1)^2 / p_(i-1), and as many are negative as eigenvalues lie below x (Sturm).
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
def vectors_of(diagonal: Floats, beside: Floats, values: Floats, vectors: Floats) -> None:
    """Write eigenvectors of length 1, one per row."""
    n, size = vectors.shape
    down, up = np.empty((size, n)), np.empty((size, n))
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
        vector = vectors[k]
        best, place = np.inf, 0
        for i in range(size):  # at the best twist index the two factorisations nearly agree: a pivot of about 0
            gap = abs(down[i, k] + up[i, k] - (diagonal[i] - values[k]))
            if gap < best:
                best, place = gap, i
        vector[place] = 1.0
        total = 1.0
        for i in range(place, 0, -1):
            vector[i - 1] = -beside[i - 1] * vector[i] / down[i - 1, k]
            total += vector[i - 1] ** 2
        for i in range(place, size - 1):
            vector[i + 1] = -beside[i] * vector[i] / up[i + 1, k]
            total += vector[i + 1] ** 2
        factor = 1.0 / np.sqrt(total)  # to length 1
        for i in range(size):
            vector[i] *= factor


@kernel
def are_eigenvectors(diagonal: Floats, beside: Floats, values: Floats, vectors: Floats, left: float) -> bool:
    """Whether T v - value v is within `left`; NaN is within nothing."""
    n, size = vectors.shape
    outside = 0
    for k in range(n):
        vector, value = vectors[k], values[k]
        for i in range(size):
            rest = (diagonal[i] - value) * vector[i]
            if i > 0:
                rest += beside[i - 1] * vector[i - 1]
            if i + 1 < size:
                rest += beside[i] * vector[i + 1]
            outside += not abs(rest) < left
    return outside == 0


@summing_kernel
def _take_away(x: Floats, share: float, y: Floats) -> None:
    """x -= share * y."""
    for j in range(x.size):
        x[j] -= share * y[j]


@kernel
def orthogonalise(vectors: Floats) -> bool:
    """Make rows that nearly are so orthogonal to the last digit; False, and nothing done, where they are not nearly."""
    n = vectors.shape[0]
    excess = np.empty((n, n))
    outside = 0
    for k in range(n):
        for c in range(k + 1):
            product = _dot(vectors[k], vectors[c]) - (1.0 if c == k else 0.0)
            excess[k, c] = product
            outside += not abs(product) < _CORRECTABLE
    if outside > 0:
        return False
    for k in range(n):  # V <- V - V (V'V - I) / 2, in place: what an earlier step has changed is beyond the last digit.
        for c in range(k + 1):
            _take_away(vectors[k], 0.5 * excess[k, c], vectors[c])
            if c < k:
                _take_away(vectors[c], 0.5 * excess[k, c], vectors[k])
    return True
