"""Kernels of the probit model of FIRES: the sums behind the gradient of the log marginal likelihood.

For row i and model c, with z the scaled row, y = +1 or -1:

    dot = sum_j mu_cj z_j      square = sum_j sigma_cj^2 z_j^2      rho^2 = unit + square      t = y dot / rho
    a = w y mills(t) / rho     b = -w mills(t) t / rho^2            mills(t) = phi(t) / Phi(t)

    g_cj = sum_i a_i z_ij  (the gradient of mu)      q_cj = sum_i b_i z_ij^2  (times sigma_cj: the gradient of sigma)

`unit` is 1; for a row divided by s, so that its squares do not overflow, it is 1 / s^2. Scaling to [0, 1] is
z = (x - low) * factor: the loops over rows only subtract, and the factor goes into mu, sigma and the sums, so that no
scaled copy of X is made.

Four rows go through both passes before the next four are fetched, so X comes from memory once; four at a time because
one core reads several streams faster than one, and because eight sums side by side keep the processor's adders busy.

`space`, in which all this is added up, has the precision of dense X: float32 rows are computed in float32
(docs/adr/0008). Sums over the rows lose digits in it, so the caller gives some thousand rows at a time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import fused_kernel, kernel, summing_kernel

TILE = 8192  # features of four rows that stay in the second-level cache while every class passes over them
USABLE, USABLE_SHORT = 1e100, 1e30  # larger sums may overflow on the way to the gradient; of float64, of float32

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROOT_HALF = math.sqrt(0.5)
_ROOT_2_OVER_PI = math.sqrt(2.0 / math.pi)


@kernel
def mills(t: float) -> float:
    """phi(t) / Phi(t), which grows like -t on the left, where Phi itself underflows."""
    if t > -20.0:  # phi(t) = exp(-t^2 / 2) / sqrt(2 pi), Phi(t) = erfc(-t / sqrt 2) / 2
        return math.exp(-0.5 * t * t) * _ROOT_2_OVER_PI / math.erfc(-t * _ROOT_HALF)
    fraction = -t  # Laplace's continued fraction; 12 terms are exact to the last digit here
    for k in range(12, 0, -1):
        fraction = -t + k / fraction
    return fraction


@kernel
def _part(low: NDArray[Any] | None, first: int, last: int) -> NDArray[Any] | None:
    """A slice of what may be None; the kernel is compiled for either, so the test costs nothing."""
    if low is None:
        return None
    return low[first:last]


@summing_kernel
def _four_dots(
    x0: NDArray[Any],
    x1: NDArray[Any],
    x2: NDArray[Any],
    x3: NDArray[Any],
    low: NDArray[Any] | None,
    m: NDArray[Any],
    v: NDArray[Any],
    sums: Floats,
) -> None:
    """Add the dots of four rows to sums[:4] and their squares to sums[4:].

    dot += sum_j z_j m_j,  square += sum_j z_j^2 v_j,  with m and v the means and variances of the weights of x - low.
    The two loops differ only in the subtraction, which takes a quarter of the time.
    """
    d0 = d1 = d2 = d3 = m.dtype.type(0)
    s0 = s1 = s2 = s3 = m.dtype.type(0)
    if low is None:
        for j in range(m.size):
            z0, z1, z2, z3 = x0[j], x1[j], x2[j], x3[j]
            d0 += z0 * m[j]
            s0 += (z0 * v[j]) * z0
            d1 += z1 * m[j]
            s1 += (z1 * v[j]) * z1
            d2 += z2 * m[j]
            s2 += (z2 * v[j]) * z2
            d3 += z3 * m[j]
            s3 += (z3 * v[j]) * z3
    else:
        for j in range(m.size):
            z0, z1, z2, z3 = x0[j] - low[j], x1[j] - low[j], x2[j] - low[j], x3[j] - low[j]
            d0 += z0 * m[j]
            s0 += (z0 * v[j]) * z0
            d1 += z1 * m[j]
            s1 += (z1 * v[j]) * z1
            d2 += z2 * m[j]
            s2 += (z2 * v[j]) * z2
            d3 += z3 * m[j]
            s3 += (z3 * v[j]) * z3
    sums[0] += d0
    sums[1] += d1
    sums[2] += d2
    sums[3] += d3
    sums[4] += s0
    sums[5] += s1
    sums[6] += s2
    sums[7] += s3


@fused_kernel
def _add_four(
    x0: NDArray[Any],
    x1: NDArray[Any],
    x2: NDArray[Any],
    x3: NDArray[Any],
    low: NDArray[Any] | None,
    a: NDArray[Any],
    b: NDArray[Any],
    g: NDArray[Any],
    q: NDArray[Any],
) -> None:
    """g_j += sum_i a_i z_ij,  q_j += sum_i b_i z_ij^2  over four rows."""
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
def _begin(
    mu: Floats,
    sigma: Floats,
    factor: Floats | None,
    m: NDArray[Any],
    v: NDArray[Any],
    g: NDArray[Any],
    q: NDArray[Any],
) -> None:
    """Means and variances of the weights of x - low, and sums of 0; loop by loop, as one for all is not vectorised."""
    for j in range(m.size):
        m[j] = mu[j] if factor is None else mu[j] * factor[j]
    for j in range(v.size):
        deviation = sigma[j] if factor is None else sigma[j] * factor[j]
        v[j] = deviation * deviation
    for j in range(g.size):
        g[j] = 0.0
    for j in range(q.size):
        q[j] = 0.0


@kernel
def _end(sigma: Floats, factor: Floats | None, g: NDArray[Any], q: NDArray[Any]) -> bool:
    """Make the sums gradients by mu and sigma; whether all are finite."""
    bad = np.int64(0)
    for j in range(g.size):
        if factor is None:
            q[j] *= sigma[j]
        else:
            g[j] *= factor[j]
            q[j] = (q[j] * factor[j]) * (factor[j] * sigma[j])
        bad += np.int64(not abs(g[j]) + abs(q[j]) < np.inf)
    return bool(bad == 0)


@kernel
def _slopes(dot: float, square: float, positive: bool, weight: float, unit: float) -> tuple[float, float]:
    """(a, b) of one row and model."""
    sign = 1.0 if positive else -1.0
    rho_squared = unit + square
    rho = math.sqrt(rho_squared)
    t = sign * dot / rho
    ratio = weight * mills(t)
    return sign * ratio / rho, -ratio * t / rho_squared


@kernel
def probit_gradients(
    X: NDArray[Any],
    y: Ints,
    weight: Floats,
    unit: Floats,
    low: NDArray[Any] | None,
    factor: Floats | None,
    mu: Floats,
    sigma: Floats,
    space: NDArray[Any],
) -> bool:
    """Write the gradients by mu and sigma, of shape (models, features), to space[:2]; z = (x - low) * factor.

    y are class numbers: model c is that of class c against the rest, a single model that of class 1. `space` has the
    shape (4, models, features) and, as `low`, the type of X. False if sums or gradients are not usable: not finite, or
    near overflow.
    """
    n_rows, n_features, n_models = X.shape[0], X.shape[1], mu.shape[0]
    total = 0.0
    for i in range(n_rows):
        total += weight[i]
    g, q, m, v = space[0], space[1], space[2], space[3]
    largest = USABLE if space.itemsize == 8 else USABLE_SHORT
    a, b, sums = np.empty((n_models, 4), space.dtype), np.empty((n_models, 4), space.dtype), np.empty((n_models, 8))
    for c in range(n_models):
        _begin(mu[c], sigma[c], factor, m[c], v[c], g[c], q[c])
    for row in range(0, n_rows, 4):
        # The last rows are repeated to make four; the repetitions count with weight 0.
        r1, r2, r3 = min(row + 1, n_rows - 1), min(row + 2, n_rows - 1), min(row + 3, n_rows - 1)
        for c in range(n_models):
            for k in range(8):
                sums[c, k] = 0.0
        for first in range(0, n_features, TILE):
            last = min(first + TILE, n_features)
            x0, x1, x2, x3 = X[row, first:last], X[r1, first:last], X[r2, first:last], X[r3, first:last]
            shift = _part(low, first, last)
            for c in range(n_models):
                _four_dots(x0, x1, x2, x3, shift, m[c, first:last], v[c, first:last], sums[c])
        for c in range(n_models):
            for k in range(4):  # between the two passes: (a, b) of each row from its two sums
                a[c, k], b[c, k] = 0.0, 0.0
                if row + k < n_rows:
                    dot, square = sums[c, k], sums[c, k + 4]
                    if not abs(dot) + square < largest:
                        return False
                    positive = y[row + k] == (c if n_models > 1 else 1)  # one against the rest, or class 1
                    a[c, k], b[c, k] = _slopes(dot, square, positive, weight[row + k] / total, unit[row + k])
        for first in range(0, n_features, TILE):
            last = min(first + TILE, n_features)
            x0, x1, x2, x3 = X[row, first:last], X[r1, first:last], X[r2, first:last], X[r3, first:last]
            shift = _part(low, first, last)
            for c in range(n_models):
                _add_four(x0, x1, x2, x3, shift, a[c], b[c], g[c, first:last], q[c, first:last])
    usable = True  # the gradient by mu gets the factor once, that by sigma twice, and sigma itself
    for c in range(n_models):
        usable &= _end(sigma[c], factor, g[c], q[c])
    return usable


@kernel
def sparse_probit_gradients(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    y: Ints,
    weight: Floats,
    unit: Floats,
    mu: Floats,
    sigma: Floats,
    space: Floats,
) -> bool:
    """The same over the non-zeros of CSR rows; data is scaled already. `space` is float64: one sum is not faster."""
    n_rows, n_models = indptr.size - 1, mu.shape[0]
    total = 0.0
    for i in range(n_rows):
        total += weight[i]
    g, q, m, v = space[0], space[1], space[2], space[3]
    for c in range(n_models):
        _begin(mu[c], sigma[c], None, m[c], v[c], g[c], q[c])
    for i in range(n_rows):
        start, end = indptr[i], indptr[i + 1]
        for c in range(n_models):
            mc, vc, gc, qc = m[c], v[c], g[c], q[c]
            dot, square = 0.0, 0.0
            for k in range(start, end):
                z = np.float64(data[k])
                dot += z * mc[indices[k]]
                square += z * z * vc[indices[k]]
            if not abs(dot) + square < USABLE:
                return False
            positive = y[i] == (c if n_models > 1 else 1)
            a, b = _slopes(dot, square, positive, weight[i] / total, unit[i])
            for k in range(start, end):
                z = np.float64(data[k])
                gc[indices[k]] += a * z
                qc[indices[k]] += b * z * z
    usable = True
    for c in range(n_models):
        usable &= _end(sigma[c], None, g[c], q[c])
    return usable


@kernel
def centred_probit_gradients(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    rest: Floats,
    y: Ints,
    weight: Floats,
    mu: Floats,
    sigma: Floats,
    space: Floats,
) -> bool:
    """The same over CSR rows whose values that are not stored are `rest`, one number per feature, instead of 0.

    What all rows have in common is added up once: a batch costs O(features + non-zeros).
    """
    n_models, total = mu.shape[0], 0.0
    for i in range(y.size):
        total += weight[i]
    g, q, m, v = space[0], space[1], space[2], space[3]
    for c in range(n_models):
        mc, vc, gc, qc = m[c], v[c], g[c], q[c]
        _begin(mu[c], sigma[c], None, mc, vc, gc, qc)
        common, common_square, sum_a, sum_b = 0.0, 0.0, 0.0, 0.0
        for j in range(rest.size):
            common += mc[j] * rest[j]
            common_square += vc[j] * rest[j] * rest[j]
        for i in range(y.size):
            dot, square = common, common_square
            for k in range(indptr[i], indptr[i + 1]):
                j, z = indices[k], np.float64(data[k])
                dot += mc[j] * (z - rest[j])
                square += vc[j] * (z * z - rest[j] * rest[j])
            if not abs(dot) + square < USABLE:
                return False
            positive = y[i] == (c if n_models > 1 else 1)
            a, b = _slopes(dot, _greater(square, 0.0), positive, weight[i] / total, 1.0)
            sum_a += a
            sum_b += b
            for k in range(indptr[i], indptr[i + 1]):
                j, z = indices[k], np.float64(data[k])
                gc[j] += a * (z - rest[j])
                qc[j] += b * (z * z - rest[j] * rest[j])
        for j in range(rest.size):
            gc[j] += sum_a * rest[j]
            qc[j] += sum_b * rest[j] * rest[j]
    usable = True
    for c in range(n_models):
        usable &= _end(sigma[c], None, g[c], q[c])
    return usable


@kernel
def _climb(x: Floats, gradient: NDArray[Any], rate: float, largest: float, smallest: float) -> None:
    """x += rate * gradient (Eq. 4), by choices instead of branches so that the loop is vectorised."""
    for j in range(x.size):
        g = float(gradient[j])
        g = largest if g > largest else g
        g = -largest if g < -largest else g
        g = g if g == g else 0.0  # NaN passes both comparisons above and ends here
        value = x[j] + rate * g
        x[j] = value if value > smallest else smallest


@kernel
def climb(
    mu: Floats,
    sigma: Floats,
    of_mu: NDArray[Any],
    of_sigma: NDArray[Any],
    rates: tuple[float, float],
    largest: float,
    smallest: float,
) -> None:
    """Steps along the gradients, which are cut to [-largest, largest] with NaN as 0; sigma is at least `smallest`."""
    _climb(mu, of_mu, rates[0], largest, -np.inf)
    _climb(sigma, of_sigma, rates[1], largest, smallest)


@kernel
def _lesser(a: float, b: float) -> float:
    """min as one instruction: unlike min(a, b) it need not treat NaN and -0 in a special way."""
    return a if a < b else b


@kernel
def _greater(a: float, b: float) -> float:
    return a if a > b else b


@kernel
def _widen_by_eight(X: NDArray[Any], row: int, low: Floats, high: Floats) -> int:
    """Widen by eight rows, of which the last may be repeated; return for how many features their sum is not finite."""
    end = X.shape[0] - 1
    x0, x1, x2, x3 = X[row], X[min(row + 1, end)], X[min(row + 2, end)], X[min(row + 3, end)]
    x4, x5, x6, x7 = X[min(row + 4, end)], X[min(row + 5, end)], X[min(row + 6, end)], X[min(row + 7, end)]
    bad = np.int64(0)
    for j in range(low.size):
        z0, z1, z2, z3 = x0[j], x1[j], x2[j], x3[j]
        z4, z5, z6, z7 = x4[j], x5[j], x6[j], x7[j]
        least = _lesser(_lesser(_lesser(z0, z1), _lesser(z2, z3)), _lesser(_lesser(z4, z5), _lesser(z6, z7)))
        largest = _greater(_greater(_greater(z0, z1), _greater(z2, z3)), _greater(_greater(z4, z5), _greater(z6, z7)))
        low[j] = _lesser(least, low[j])
        high[j] = _greater(largest, high[j])
        # Counted, because comparisons pass NaN over.
        bad += np.int64(not abs(((z0 + z1) + (z2 + z3)) + ((z4 + z5) + (z6 + z7))) < np.inf)
    return int(bad)


@kernel
def widen_ranges(X: NDArray[Any], low: Floats, high: Floats) -> bool:
    """Widen [low, high] of each feature by the rows of X; False if NaN, infinity or values near overflow were met."""
    bad = 0
    for row in range(0, X.shape[0], 8):
        bad += _widen_by_eight(X, row, low, high)
    return bad == 0


@kernel
def range_factors(low: Floats, high: Floats, factor: Floats) -> None:
    """1 / (high - low), or 0 where a feature is constant or its range denormal; by halves, which cannot overflow."""
    for j in range(factor.size):
        value = 0.5 / (0.5 * high[j] - 0.5 * low[j])
        factor[j] = value if (high[j] > low[j]) & (value < np.inf) else 0.0


@kernel
def all_within(factor: Floats, smallest: float, largest: float) -> bool:
    """Whether all factors are 0 or between these limits."""
    outside = np.int64(0)
    for j in range(factor.size):
        outside += np.int64(not ((factor[j] == 0.0) | (factor[j] > smallest) & (factor[j] < largest)))
    return bool(outside == 0)
