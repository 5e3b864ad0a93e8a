"""Kernels of EFS: modified balanced Winnow, one row after the other.

A weight is kept as w * 2**(-RANGE * halvings), so that weights may shrink without end: where w falls below SMALL it is
brought to the middle of its range, and only above BIG it goes back. A weight with halvings is below 2**-128: too small
to be seen beside a threshold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

RANGE = 256
SMALL, BIG, BACK = 2.0**-192, 2.0**128, 2.0**RANGE
LARGE = 2.0**600  # weights stop growing here: sums over millions of features stay finite


@kernel
def _visible(weight: float, halvings: int) -> float:
    return weight if halvings == 0 else 0.0


@kernel
def _into_range(w: Floats, halvings: Ints) -> None:
    """Without branches: the loop is vectorised."""
    for j in range(w.size):
        small, big = (w[j] < SMALL) & (w[j] > 0.0), (w[j] > BIG) & (halvings[j] > 0)
        factor = BACK if small else 1.0
        factor = 1.0 / BACK if big else factor
        brought = w[j] * factor
        w[j] = brought if brought < LARGE else LARGE
        halvings[j] += np.int64(small) - np.int64(big)


@kernel
def _scale(x: Floats, scaled: Floats) -> None:
    """Bring a row to [0, 1] by its own least and largest value; a constant row becomes 0."""
    low, high = x[0], x[0]
    for j in range(x.size):
        low, high = min(low, x[j]), max(high, x[j])
    part = 1.0 if high - low < np.inf else 0.5  # the difference of two huge values overflows, that of halves does not
    low *= part
    spread = high * part - low
    if spread == 0.0:
        spread = 1.0
    for j in range(x.size):
        scaled[j] = (x[j] * part - low) / spread


@kernel
def _score(x: Floats, u: Floats, v: Floats, u_halvings: Ints, v_halvings: Ints) -> float:
    """The sum of x (u - v), as four sums by the feature's last two bits: additions need not wait for each other."""
    s0 = s1 = s2 = s3 = 0.0
    n = x.size & ~3
    for j in range(0, n, 4):
        s0 += x[j] * (_visible(u[j], u_halvings[j]) - _visible(v[j], v_halvings[j]))
        s1 += x[j + 1] * (_visible(u[j + 1], u_halvings[j + 1]) - _visible(v[j + 1], v_halvings[j + 1]))
        s2 += x[j + 2] * (_visible(u[j + 2], u_halvings[j + 2]) - _visible(v[j + 2], v_halvings[j + 2]))
        s3 += x[j + 3] * (_visible(u[j + 3], u_halvings[j + 3]) - _visible(v[j + 3], v_halvings[j + 3]))
    for j in range(n, x.size):
        term = x[j] * (_visible(u[j], u_halvings[j]) - _visible(v[j], v_halvings[j]))
        s0 += term if j == n else 0.0
        s1 += term if j == n + 1 else 0.0
        s2 += term if j == n + 2 else 0.0
    return (s0 + s1) + (s2 + s3)


@kernel
def _update(
    x: Floats,
    winner: Floats,
    loser: Floats,
    winner_halvings: Ints,
    loser_halvings: Ints,
    promotion: float,
    demotion: float,
    floor: float,
) -> None:
    for j in range(x.size):
        rest = 1.0 - x[j]
        rest = rest if rest > floor else floor
        above = x[j] > 0.0
        winner[j] *= promotion * (1.0 + x[j]) if above else 1.0
        loser[j] *= demotion * rest if above else 1.0
    out_of_range = 0
    for j in range(x.size):
        out_of_range += winner[j] > BIG
        out_of_range += loser[j] < SMALL
    if out_of_range > 0:
        _into_range(winner, winner_halvings)
        _into_range(loser, loser_halvings)


@kernel
def efs_rows(
    X: Floats,
    signs: Floats,
    u: Floats,
    v: Floats,
    u_halvings: Ints,
    v_halvings: Ints,
    promotion: float,
    demotion: float,
    threshold: float,
    margin: float,
    floor: float,
) -> None:
    """Learn dense rows; (u[m], v[m]) is the model whose labels are signs[m]."""
    x = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        _scale(X[i], x)
        for m in range(u.shape[0]):
            sign, um, vm, uh, vh = signs[m, i], u[m], v[m], u_halvings[m], v_halvings[m]
            if sign * (_score(x, um, vm, uh, vh) - threshold) > margin:
                continue
            if sign > 0.0:
                _update(x, um, vm, uh, vh, promotion, demotion, floor)
            else:
                _update(x, vm, um, vh, uh, promotion, demotion, floor)


@kernel
def _update_some(
    index: Ints,
    x: Floats,
    n: int,
    winner: Floats,
    loser: Floats,
    winner_halvings: Ints,
    loser_halvings: Ints,
    promotion: float,
    demotion: float,
    floor: float,
) -> None:
    for k in range(n):
        j = index[k]
        winner[j] *= promotion * (1.0 + x[k])
        loser[j] *= demotion * max(1.0 - x[k], floor)
        if winner[j] > BIG or loser[j] < SMALL:
            _into_range(winner[j : j + 1], winner_halvings[j : j + 1])
            _into_range(loser[j : j + 1], loser_halvings[j : j + 1])


@kernel
def _positive_part(
    data: Floats, indices: Indices, first: int, last: int, row: Floats, index: Ints, values: Floats
) -> int:
    """List the values of a sparse row that are above its least one, scaled to (0, 1]; `row` is 0 before and after."""
    low = 0.0 if last - first < row.size else data[first]
    high = low
    for k in range(first, last):
        low, high = min(low, data[k]), max(high, data[k])
    n = 0
    if low == 0.0:
        for k in range(first, last):
            if data[k] > 0.0:
                index[n] = indices[k]
                values[n] = data[k] / high
                n += 1
        return n
    for k in range(first, last):  # what is not stored is above the least value: the row has to be written out
        row[indices[k]] = data[k]
    _scale(row, values)
    for j in range(row.size):
        row[j] = 0.0
        if values[j] > 0.0:
            index[n] = j
            values[n] = values[j]
            n += 1
    return n


@kernel
def efs_sparse_rows(
    data: Floats,
    indices: Indices,
    indptr: Indices,
    signs: Floats,
    u: Floats,
    v: Floats,
    u_halvings: Ints,
    v_halvings: Ints,
    promotion: float,
    demotion: float,
    threshold: float,
    margin: float,
    floor: float,
) -> None:
    """Learn CSR rows at a cost of their non-zeros, unless a row has negative values: its zeros then are above 0."""
    n_features = u.shape[1]
    index, x, row, s = np.empty(n_features, np.int64), np.empty(n_features), np.zeros(n_features), np.empty(4)
    for i in range(indptr.size - 1):
        n = _positive_part(data, indices, indptr[i], indptr[i + 1], row, index, x)
        for m in range(u.shape[0]):
            sign, um, vm, uh, vh = signs[m, i], u[m], v[m], u_halvings[m], v_halvings[m]
            s[0] = s[1] = s[2] = s[3] = 0.0
            for k in range(n):
                j = index[k]
                s[j & 3] += x[k] * (_visible(um[j], uh[j]) - _visible(vm[j], vh[j]))
            if sign * ((s[0] + s[1]) + (s[2] + s[3]) - threshold) > margin:
                continue
            if sign > 0.0:
                _update_some(index, x, n, um, vm, uh, vh, promotion, demotion, floor)
            else:
                _update_some(index, x, n, vm, um, vh, uh, promotion, demotion, floor)
