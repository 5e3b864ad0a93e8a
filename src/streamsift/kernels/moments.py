"""Kernels of class moments: weighted count, mean and centred second moment per class and feature.

Dense batches are summed around a shift close to the mean (the mean so far, or the class's first row), so nothing is
lost to cancellation when a feature is large and varies little:

    s = sum w (x - shift)      q = sum w (x - shift)^2
    mean = shift + s / W       m2 = m2 + q - s^2 / W        (W: weight after the batch)

Sums go to scratch arrays; the state is changed by `add_sums` only when they have turned out finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

BLOCK = 2048  # features per block: the block's sums stay in cache while all rows pass over it

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def _add_eight(X: NDArray[Any], rows: Ints, first: int, last: int, c: Floats, s: Floats, q: Floats) -> None:
    """s += sum (x - c), q += sum (x - c)^2 over eight rows, so that sums are loaded and stored an eighth as often."""
    x0, x1, x2, x3 = X[rows[0], first:last], X[rows[1], first:last], X[rows[2], first:last], X[rows[3], first:last]
    x4, x5, x6, x7 = X[rows[4], first:last], X[rows[5], first:last], X[rows[6], first:last], X[rows[7], first:last]
    for j in range(s.size):
        m = c[j]
        d0, d1, d2, d3 = x0[j] - m, x1[j] - m, x2[j] - m, x3[j] - m
        d4, d5, d6, d7 = x4[j] - m, x5[j] - m, x6[j] - m, x7[j] - m
        s[j] += ((d0 + d1) + (d2 + d3)) + ((d4 + d5) + (d6 + d7))
        q[j] += ((d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)) + ((d4 * d4 + d5 * d5) + (d6 * d6 + d7 * d7))


@kernel
def _add_one(x: NDArray[Any], w: float, c: Floats, s: Floats, q: Floats) -> None:
    for j in range(s.size):
        d = x[j] - c[j]
        s[j] += w * d
        q[j] += w * d * d


@kernel
def _add_four_weighted(
    X: NDArray[Any], rows: Ints, w: Floats, first: int, last: int, c: Floats, s: Floats, q: Floats
) -> None:
    x0, x1, x2, x3 = X[rows[0], first:last], X[rows[1], first:last], X[rows[2], first:last], X[rows[3], first:last]
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    for j in range(s.size):
        m = c[j]
        d0, d1, d2, d3 = x0[j] - m, x1[j] - m, x2[j] - m, x3[j] - m
        t0, t1, t2, t3 = w0 * d0, w1 * d1, w2 * d2, w3 * d3
        s[j] += (t0 + t1) + (t2 + t3)
        q[j] += (t0 * d0 + t1 * d1) + (t2 * d2 + t3 * d3)


@kernel
def batch_sums(
    X: NDArray[Any],
    order: Ints,
    starts: Ints,
    classes: Ints,
    is_new: NDArray[np.bool_],
    row_weight: Floats,
    weighted: bool,
    mean: Floats,
    shift: Floats,
    s: Floats,
    q: Floats,
) -> bool:
    """Sum one batch around a shift, for each class in `classes`; return whether all sums are finite.

    Rows of class classes[k] are order[starts[k]:starts[k + 1]]. Results go to rows k of shift, s and q.
    """
    bad = 0
    for first in range(0, X.shape[1], BLOCK):
        last = min(first + BLOCK, X.shape[1])
        for k in range(classes.size):
            c, sk, qk = shift[k, first:last], s[k, first:last], q[k, first:last]
            i, end = starts[k], starts[k + 1]
            first_row, known = X[order[i], first:last], mean[classes[k], first:last]
            for j in range(sk.size):
                c[j] = first_row[j] if is_new[k] else known[j]
                sk[j] = 0.0
                qk[j] = 0.0
            while not weighted and i + 8 <= end:
                _add_eight(X, order[i : i + 8], first, last, c, sk, qk)
                i += 8
            while i + 4 <= end:
                _add_four_weighted(X, order[i : i + 4], row_weight[i : i + 4], first, last, c, sk, qk)
                i += 4
            while i < end:
                _add_one(X[order[i], first:last], row_weight[i], c, sk, qk)
                i += 1
            for j in range(sk.size):
                bad += int(not abs(sk[j]) + qk[j] < np.inf)
    return bad == 0


@kernel
def add_row(x: NDArray[Any], largest: float, row_weight: float, total: float, mean: Floats, m2: Floats) -> bool:
    """Welford's update for a row of one class; False, and nothing changes, if a value is NaN or beyond `largest`."""
    bad = 0
    for j in range(x.size):
        bad += int(not abs(x[j]) <= largest)  # counted, because a sum of floats would have to keep its order
    if bad:
        return False
    share = row_weight / total
    for j in range(x.size):
        d = x[j] - mean[j]
        mean[j] += d * share
        m2[j] += row_weight * d * (x[j] - mean[j])
    return True


@kernel
def add_sums(classes: Ints, weight: Floats, shift: Floats, s: Floats, q: Floats, mean: Floats, m2: Floats) -> None:
    """Add the sums of a batch to the state; weight[k] is the weight of classes[k] after the batch.

    It has one column, or one for each feature where values have been missing.
    """
    for k in range(classes.size):
        m, v = mean[classes[k]], m2[classes[k]]
        if weight.shape[1] == 1:
            per_row = 1.0 / weight[k, 0]
            for j in range(m.size):
                step = s[k, j] * per_row
                m[j] = shift[k, j] + step
                v[j] = max(0.0, v[j] + (q[k, j] - s[k, j] * step))
        else:
            for j in range(m.size):
                step = s[k, j] / weight[k, j]
                m[j] = shift[k, j] + step
                v[j] = max(0.0, v[j] + (q[k, j] - s[k, j] * step))


@kernel
def add_rows_with_gaps(
    X: NDArray[Any], codes: Ints, row_weight: Floats, weight: Floats, mean: Floats, m2: Floats
) -> None:
    """Welford's update, value by value, where NaN is not counted; weight has one entry a class and feature."""
    for i in range(X.shape[0]):
        c, w = codes[i], row_weight[i]
        for j in range(X.shape[1]):
            x = float(X[i, j])
            if x != x or w == 0.0:
                continue
            weight[c, j] += w
            d = x - mean[c, j]
            mean[c, j] += d * (w / weight[c, j])
            m2[c, j] += w * d * (x - mean[c, j])


@kernel
def add_sparse_rows(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    codes: Ints,
    row_weight: Floats,
    moments: Floats,
    skipped: Floats,
) -> None:
    """Welford's update over the non-zeros of CSR rows; moments[c, j] = (weight, mean, m2) of the non-zeros only.

    Zeros, explicit or not, change nothing here: their weight is what the class has beyond its non-zeros. The weight
    of NaN goes to `skipped`.
    """
    for i in range(codes.size):
        w, c = row_weight[i], np.uint64(codes[i])
        if w == 0.0:
            continue
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            x, j = float(data[k]), np.uint64(indices[k])
            if x == 0.0:
                continue
            if x != x:
                skipped[c, j] += w
                continue
            total = moments[c, j, 0] + w
            d = x - moments[c, j, 1]
            mean = moments[c, j, 1] + d * (w / total)
            moments[c, j, 0] = total
            moments[c, j, 1] = mean
            moments[c, j, 2] += w * d * (x - mean)
