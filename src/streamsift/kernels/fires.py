"""Kernels of the probit model of FIRES: the sums behind the gradient of the log marginal likelihood.

For row i and model c, with z the scaled row, y = +1 or -1:

    dot = sum_j mu_cj z_j      square = sum_j sigma_cj^2 z_j^2      rho^2 = unit + square      t = y dot / rho
    a = w y mills(t) / rho     b = -w mills(t) t / rho^2            mills(t) = phi(t) / Phi(t)

    g_cj = sum_i a_i z_ij  (the gradient of mu)      q_cj = sum_i b_i z_ij^2  (times sigma_cj: the gradient of sigma)

`unit` is 1; for a row divided by s, so that its squares do not overflow, it is 1 / s^2. Scaling to [0, 1] is
z = (x - low) * factor: the kernels subtract, and the caller puts the factor into mu, sigma and the sums, so that no
scaled copy of X is made.

Four rows go through both passes before the next four are fetched, so X comes from memory once; four at a time because
one core reads several streams faster than one. Sums over a row are kept in LANES partial sums, which lets the compiler
use vector instructions without changing the order of additions by itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import fused_kernel, kernel

LANES = 32
TILE = 8192  # features of four rows that stay in the second-level cache while every class passes over them
USABLE = 1e100  # larger sums may overflow on the way to the gradient

Floats = NDArray[np.float64]

_W1, _W2, _W3, _W4 = np.uint64(LANES), np.uint64(2 * LANES), np.uint64(3 * LANES), np.uint64(4 * LANES)
_W5, _W6, _W7 = np.uint64(5 * LANES), np.uint64(6 * LANES), np.uint64(7 * LANES)
_ONE = np.uint64(1)
_ROOT_HALF = math.sqrt(0.5)
_ROOT_2_OVER_PI = math.sqrt(2.0 / math.pi)


@kernel
def mills(t: float) -> float:
    """phi(t) / Phi(t), which grows like -t on the left, where Phi itself underflows."""
    if t > -20.0:
        return math.exp(-0.5 * t * t) * _ROOT_2_OVER_PI / math.erfc(-t * _ROOT_HALF)
    fraction = -t  # Laplace's continued fraction; 12 terms are exact to the last digit here
    for k in range(12, 0, -1):
        fraction = -t + k / fraction
    return fraction


@kernel
def _part(low: Floats | None, first: int, last: int) -> Floats | None:
    if low is None:
        return None
    return low[first:last]


@fused_kernel
def _four_dots(
    x0: NDArray[Any],
    x1: NDArray[Any],
    x2: NDArray[Any],
    x3: NDArray[Any],
    low: Floats | None,
    m: Floats,
    v: Floats,
    acc: Floats,
) -> None:
    """Add the sums of four rows to acc: row k has its LANES partial dots at 2k LANES, its squares LANES further.

    The two loops differ only in the subtraction, which takes a quarter of the time.
    """
    n, first = np.uint64(m.size), np.uint64(0)
    if low is None:
        while first + _W2 <= n:
            for lane in range(_W1):
                i = first + lane
                k = i + _W1
                mi, mk, vi, vk = m[i], m[k], v[i], v[k]
                p, r = x0[i], x0[k]
                acc[lane] += p * mi + r * mk
                acc[lane + _W1] += p * p * vi + r * r * vk
                p, r = x1[i], x1[k]
                acc[lane + _W2] += p * mi + r * mk
                acc[lane + _W3] += p * p * vi + r * r * vk
                p, r = x2[i], x2[k]
                acc[lane + _W4] += p * mi + r * mk
                acc[lane + _W5] += p * p * vi + r * r * vk
                p, r = x3[i], x3[k]
                acc[lane + _W6] += p * mi + r * mk
                acc[lane + _W7] += p * p * vi + r * r * vk
            first += _W2
    else:
        while first + _W2 <= n:
            for lane in range(_W1):
                i = first + lane
                k = i + _W1
                mi, mk, vi, vk, li, lk = m[i], m[k], v[i], v[k], low[i], low[k]
                p, r = x0[i] - li, x0[k] - lk
                acc[lane] += p * mi + r * mk
                acc[lane + _W1] += p * p * vi + r * r * vk
                p, r = x1[i] - li, x1[k] - lk
                acc[lane + _W2] += p * mi + r * mk
                acc[lane + _W3] += p * p * vi + r * r * vk
                p, r = x2[i] - li, x2[k] - lk
                acc[lane + _W4] += p * mi + r * mk
                acc[lane + _W5] += p * p * vi + r * r * vk
                p, r = x3[i] - li, x3[k] - lk
                acc[lane + _W6] += p * mi + r * mk
                acc[lane + _W7] += p * p * vi + r * r * vk
            first += _W2
    while first < n:
        mi, vi = m[first], v[first]
        p0, p1, p2, p3 = float(x0[first]), float(x1[first]), float(x2[first]), float(x3[first])
        if low is not None:
            p0, p1, p2, p3 = p0 - low[first], p1 - low[first], p2 - low[first], p3 - low[first]
        acc[0] += p0 * mi
        acc[_W1] += p0 * p0 * vi
        acc[_W2] += p1 * mi
        acc[_W3] += p1 * p1 * vi
        acc[_W4] += p2 * mi
        acc[_W5] += p2 * p2 * vi
        acc[_W6] += p3 * mi
        acc[_W7] += p3 * p3 * vi
        first += _ONE


@fused_kernel
def _add_four(
    x0: NDArray[Any],
    x1: NDArray[Any],
    x2: NDArray[Any],
    x3: NDArray[Any],
    low: Floats | None,
    a: Floats,
    b: Floats,
    g: Floats,
    q: Floats,
) -> None:
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    b0, b1, b2, b3 = b[0], b[1], b[2], b[3]
    if low is None:
        for j in range(g.size):
            z0, z1, z2, z3 = x0[j], x1[j], x2[j], x3[j]
            g[j] += (a0 * z0 + a1 * z1) + (a2 * z2 + a3 * z3)
            q[j] += ((b0 * z0) * z0 + (b1 * z1) * z1) + ((b2 * z2) * z2 + (b3 * z3) * z3)
    else:
        for j in range(g.size):
            z0, z1, z2, z3 = x0[j] - low[j], x1[j] - low[j], x2[j] - low[j], x3[j] - low[j]
            g[j] += (a0 * z0 + a1 * z1) + (a2 * z2 + a3 * z3)
            q[j] += ((b0 * z0) * z0 + (b1 * z1) * z1) + ((b2 * z2) * z2 + (b3 * z3) * z3)


@kernel
def probit_sums(
    X: NDArray[Any],
    sign: Floats,
    weight: Floats,
    unit: Floats,
    low: Floats | None,
    mu: Floats,
    variance: Floats,
    g: Floats,
    q: Floats,
) -> int:
    """Add the sums of all rows to g and q (models, features); z = x - low, or x where `low` is None.

    sign is (models, rows). Return -1, or the first row whose sums are not usable: not finite, or near overflow.
    """
    n_rows, n_features, n_models = X.shape[0], X.shape[1], mu.shape[0]
    acc = np.empty((n_models, 8 * LANES))
    a, b = np.empty((n_models, 4)), np.empty((n_models, 4))
    for row in range(0, n_rows, 4):
        # The last rows are repeated to make four; the repetitions count with weight 0.
        r1, r2, r3 = min(row + 1, n_rows - 1), min(row + 2, n_rows - 1), min(row + 3, n_rows - 1)
        for c in range(n_models):
            for lane in range(8 * LANES):
                acc[c, lane] = 0.0
        for first in range(0, n_features, TILE):
            last = min(first + TILE, n_features)
            x0, x1, x2, x3 = X[row, first:last], X[r1, first:last], X[r2, first:last], X[r3, first:last]
            for c in range(n_models):
                shift = _part(low, first, last)
                _four_dots(x0, x1, x2, x3, shift, mu[c, first:last], variance[c, first:last], acc[c])
        for c in range(n_models):
            for k in range(4):
                dot, square, i = 0.0, 0.0, row + k
                for lane in range(LANES):
                    dot += acc[c, 2 * k * LANES + lane]
                    square += acc[c, (2 * k + 1) * LANES + lane]
                a[c, k], b[c, k] = 0.0, 0.0
                if i < n_rows:
                    if not abs(dot) + square < USABLE:
                        return i
                    rho_squared = unit[i] + square
                    rho = math.sqrt(rho_squared)
                    t = sign[c, i] * dot / rho
                    ratio = weight[i] * mills(t)
                    a[c, k], b[c, k] = sign[c, i] * ratio / rho, -ratio * t / rho_squared
        for first in range(0, n_features, TILE):
            last = min(first + TILE, n_features)
            x0, x1, x2, x3 = X[row, first:last], X[r1, first:last], X[r2, first:last], X[r3, first:last]
            for c in range(n_models):
                shift = _part(low, first, last)
                _add_four(x0, x1, x2, x3, shift, a[c], b[c], g[c, first:last], q[c, first:last])
    return -1


@kernel
def sparse_probit_sums(
    data: Floats,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    sign: Floats,
    weight: Floats,
    unit: Floats,
    mu: Floats,
    variance: Floats,
    g: Floats,
    q: Floats,
) -> int:
    """The same sums over the non-zeros of CSR rows; data is scaled already."""
    for i in range(indptr.size - 1):
        start, end = indptr[i], indptr[i + 1]
        for c in range(mu.shape[0]):
            m, v, gc, qc = mu[c], variance[c], g[c], q[c]
            dot, square = 0.0, 0.0
            for k in range(start, end):
                z = data[k]
                dot += z * m[indices[k]]
                square += z * z * v[indices[k]]
            if not abs(dot) + square < USABLE:
                return i
            rho_squared = unit[i] + square
            rho = math.sqrt(rho_squared)
            t = sign[c, i] * dot / rho
            ratio = weight[i] * mills(t)
            a, b = sign[c, i] * ratio / rho, -ratio * t / rho_squared
            for k in range(start, end):
                z = data[k]
                gc[indices[k]] += a * z
                qc[indices[k]] += b * z * z
    return -1


@kernel
def climb(x: Floats, gradient: NDArray[Any], rate: float, largest: float, smallest: float) -> None:
    """x = max(smallest, x + rate * gradient), where the gradient is cut to [-largest, largest] and NaN counts as 0."""
    for j in range(x.size):
        g = float(gradient[j])
        g = largest if g > largest else g
        g = -largest if g < -largest else g
        g = g if g == g else 0.0
        value = x[j] + rate * g
        x[j] = value if value > smallest else smallest


@kernel
def _widen_by_four(
    x0: NDArray[Any], x1: NDArray[Any], x2: NDArray[Any], x3: NDArray[Any], low: Floats, high: Floats
) -> int:
    bad = np.int64(0)
    for j in range(low.size):
        z0, z1, z2, z3 = float(x0[j]), float(x1[j]), float(x2[j]), float(x3[j])
        low[j] = min(low[j], min(min(z0, z1), min(z2, z3)))
        high[j] = max(high[j], max(max(z0, z1), max(z2, z3)))
        # Counted, because comparisons pass NaN over.
        bad += np.int64(not (abs(z0) + abs(z1)) + (abs(z2) + abs(z3)) < np.inf)
    return int(bad)


@kernel
def widen_ranges(X: NDArray[Any], low: Floats, high: Floats) -> bool:
    """Widen [low, high] of each feature by the rows of X; False if NaN, infinity or values near overflow were met."""
    bad, end = 0, X.shape[0] - 1
    for i in range(0, end + 1, 4):
        bad += _widen_by_four(X[i], X[min(i + 1, end)], X[min(i + 2, end)], X[min(i + 3, end)], low, high)
    return bad == 0
