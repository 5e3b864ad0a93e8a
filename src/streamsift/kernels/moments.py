"""Kernels of class moments: weighted count, mean and centred second moment per class and feature.

Dense batches are summed around a shift close to the mean, so nothing is lost to cancellation when a feature is large
and varies little:

    s = sum w (x - shift)      q = sum w (x - shift)^2
    mean = shift + s / W       m2 = m2 + q - s^2 / W        (W: weight after the batch)

The shift is the mean so far. Where that counts for next to nothing beside the batch (a new class, or one that has
faded), it may be far from the new mean: then it is the class's first row, and the old mean joins the sums as a point.

Sums go to scratch arrays; the state is changed by `_add_sums` only when they have turned out moderate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import fused_kernel, inlined_kernel, kernel
from streamsift.kernels.intrinsics import fetch

BLOCK = 8192  # features per block: the block's sums stay in cache while all rows pass over it
FAINT = 1e-6  # below this share of a batch's weight the mean so far is no shift: q - s^2 / W loses 1 / share digits

LARGEST32 = float(np.finfo(np.float32).max)
AHEAD = 16  # how many non-zeros ahead moments are prefetched

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SHIFT, SUM, SQUARES = 0, 1, 2  # the arrays of BatchRoom.sums: shift, s and q of the formulas above


class MomentArrays(NamedTuple):
    """The state: class moments before fading, that is times one scale for all."""

    weight: Floats  # (n_classes, 1), or (n_classes, n_features) where values have been missing
    mean: Floats  # (n_classes, n_features)
    m2: Floats  # (n_classes, n_features) sum of w (x - mean)^2


class BatchRoom(NamedTuple):
    """Room to work in; with K classes and n rows:"""

    places: Ints  # (3 K + 1 + n,)
    added: Floats  # (K,) the weight of the rows of each class of the batch
    sums: Floats  # (3, at least the number of classes in the batch, n_features)


class Groups(NamedTuple):
    """The rows of a batch by class: those of classes[k] are order[starts[k]:starts[k + 1]]."""

    classes: Ints  # (n_groups,)
    starts: Ints  # (n_groups + 1,)
    order: Ints  # (n_rows,)


@kernel
def group_rows(codes: Ints, counts: Ints, classes: Ints, starts: Ints, order: Ints) -> int:
    """Order the rows by class, stably, and return how many classes K there are in the batch.

    Afterwards the rows of classes[k] are order[starts[k]:starts[k + 1]] for k < K. `counts` has room for all classes.
    """
    # A counting sort: count, sum up to where each class begins, then put every row at the next free position of its
    # class.
    for c in range(counts.size):
        counts[c] = 0
    for i in range(codes.size):
        counts[codes[i]] += 1
    found = 0
    starts[0] = 0
    for c in range(counts.size):
        if counts[c] > 0:
            classes[found] = c
            starts[found + 1] = starts[found] + counts[c]
            counts[c] = starts[found]
            found += 1
    for i in range(codes.size):
        order[counts[codes[i]]] = i
        counts[codes[i]] += 1
    return found


@fused_kernel
def _add_eight(X: NDArray[Any], rows: Ints, first: int, last: int, c: Floats, s: Floats, q: Floats) -> None:
    """s += sum (x - c), q += sum (x - c)^2 over eight rows, so that sums are loaded and stored an eighth as often."""
    x0, x1, x2, x3 = X[rows[0], first:last], X[rows[1], first:last], X[rows[2], first:last], X[rows[3], first:last]
    x4, x5, x6, x7 = X[rows[4], first:last], X[rows[5], first:last], X[rows[6], first:last], X[rows[7], first:last]
    for j in range(s.size):
        m = c[j]
        d0, d1, d2, d3 = x0[j] - m, x1[j] - m, x2[j] - m, x3[j] - m
        d4, d5, d6, d7 = x4[j] - m, x5[j] - m, x6[j] - m, x7[j] - m
        s[j] += ((d0 + d1) + (d2 + d3)) + ((d4 + d5) + (d6 + d7))
        # q[j] += d0^2 + ... + d7^2, as two chains of fused steps
        even, odd = q[j] + d0 * d0, d1 * d1
        even, odd = even + d2 * d2, odd + d3 * d3
        even, odd = even + d4 * d4, odd + d5 * d5
        even, odd = even + d6 * d6, odd + d7 * d7
        q[j] = even + odd


@fused_kernel
def _add_one(x: NDArray[Any], w: float, c: Floats, s: Floats, q: Floats) -> None:
    for j in range(s.size):
        d = x[j] - c[j]
        s[j] += w * d
        q[j] += w * d * d


@fused_kernel
def _add_four_weighted(
    X: NDArray[Any], rows: Ints, w: Floats, first: int, last: int, c: Floats, s: Floats, q: Floats
) -> None:
    x0, x1, x2, x3 = X[rows[0], first:last], X[rows[1], first:last], X[rows[2], first:last], X[rows[3], first:last]
    w0, w1, w2, w3 = w[rows[0]], w[rows[1]], w[rows[2]], w[rows[3]]
    for j in range(s.size):
        m = c[j]
        d0, d1, d2, d3 = x0[j] - m, x1[j] - m, x2[j] - m, x3[j] - m
        t0, t1, t2, t3 = w0 * d0, w1 * d1, w2 * d2, w3 * d3
        s[j] += (t0 + t1) + (t2 + t3)
        q[j] += (t0 * d0 + t1 * d1) + (t2 * d2 + t3 * d3)


@inlined_kernel
def _batch_sums(
    X: NDArray[Any],
    groups: Groups,
    row_weight: Floats,
    weighted: bool,
    decay: float,
    largest: float,
    state: MomentArrays,
    added: Floats,
    faint: Ints,
    sums: Floats,
) -> bool:
    """Sum one batch around a shift, for each class in it; return whether no value can be NaN or beyond `largest`.

    No value is looked at by itself: a row of weight 1 is no further from its shift than the root of q. Rows that are
    all equal to their shift have sums of zero, however large they are, so the shifts are looked at, too.

    Results go to index k for the k-th class of the batch: the weight of the rows to `added`, whether the weight so far,
    times `decay`, is faint beside it to `faint`, and the shift, s and q to `sums`.
    """
    classes, starts, order, weight, mean = groups.classes, groups.starts, groups.order, state.weight, state.mean
    shift, s, q = sums[SHIFT], sums[SUM], sums[SQUARES]
    bad = 0
    for k in range(classes.size):
        added[k] = 0.0
        for i in range(starts[k], starts[k + 1]):
            added[k] += row_weight[order[i]]
        faint[k] = 0
        for j in range(weight.shape[1]):
            faint[k] |= int(weight[classes[k], j] * decay <= FAINT * added[k])
    for first in range(0, X.shape[1], BLOCK):
        last = min(first + BLOCK, X.shape[1])
        for k in range(classes.size):
            c, sk, qk = shift[k, first:last], s[k, first:last], q[k, first:last]
            most = min(added[k], 1.0) * (0.1 * largest) ** 2
            i, end = starts[k], starts[k + 1]
            first_row, known = X[order[i], first:last], mean[classes[k], first:last]
            for j in range(sk.size):
                c[j] = first_row[j] if faint[k] else known[j]
                sk[j] = 0.0
                qk[j] = 0.0
            # Eight rows at a time, then four, then one by one: the widest loop that still fits.
            while not weighted and i + 8 <= end:
                _add_eight(X, order[i : i + 8], first, last, c, sk, qk)
                i += 8
            while i + 4 <= end:
                _add_four_weighted(X, order[i : i + 4], row_weight, first, last, c, sk, qk)
                i += 4
            while i < end:
                _add_one(X[order[i], first:last], row_weight[order[i]], c, sk, qk)
                i += 1
            for j in range(sk.size):
                bad += int(not abs(sk[j]) + qk[j] <= most) + int(not abs(c[j]) <= 0.5 * largest)
    return bad == 0


@kernel
def all_within(x: NDArray[Any], largest: float) -> bool:
    """Whether no value is NaN or beyond `largest`."""
    if x.itemsize == 4:  # the same in numbers of 32 bits, of which a vector holds twice as many
        limit, found = np.float32(min(largest, LARGEST32)), np.int32(0)
        for j in range(x.size):
            found = np.int32(found | np.int32(not abs(x[j]) <= limit))
        return bool(found == 0)
    bad = 0
    for j in range(x.size):
        bad += int(not abs(x[j]) <= largest)  # counted, because a sum of floats would have to keep its order
    return bad == 0


@fused_kernel
def _add_whole_row(x: NDArray[Any], share: float, grown: float, mean: Floats, m2: Floats) -> None:
    for j in range(mean.size):
        d = x[j] - mean[j]
        mean[j] += d * share
        m2[j] += grown * (d * d)


@kernel
def add_row(x: NDArray[Any], largest: float, row_weight: float, before: float, mean: Floats, m2: Floats) -> bool:
    """Welford's update for a row of one class; False, and nothing changes, if a value is NaN or beyond `largest`.

    The usual m2 += w d (x - new mean) loses all digits where the weight before is faint; before w d^2 / total does not.
    """
    if not all_within(x, largest):
        return False
    share = row_weight / (before + row_weight)  # mean += share d,  m2 += before share d^2
    _add_whole_row(x, share, before * share, mean, m2)
    return True


@inlined_kernel
def _add_sums(classes: Ints, added: Floats, faint: Ints, scale: float, sums: Floats, state: MomentArrays) -> None:
    """Add the sums of a batch, times `scale`, to the state."""
    shift, s, q = sums[SHIFT], sums[SUM], sums[SQUARES]
    for k in range(classes.size):
        m, v, w = state.mean[classes[k]], state.m2[classes[k]], state.weight[classes[k]]
        if faint[k]:  # the shift is not the old mean: the old rows join the sums as a point at their mean
            for j in range(m.size):
                d, old = m[j] - shift[k, j], w[j if w.size > 1 else 0] / scale
                s[k, j] += old * d
                q[k, j] += old * d * d
        for j in range(w.size):
            w[j] += added[k] * scale
        # mean = shift + s / W,  m2 += q - s^2 / W; the two loops differ in whether W is the same for all features.
        if w.size == 1:
            per_row = scale / w[0]
            for j in range(m.size):
                step = s[k, j] * per_row
                m[j] = shift[k, j] + step
                v[j] = max(0.0, v[j] + scale * (q[k, j] - s[k, j] * step))
        else:
            for j in range(m.size):
                step = s[k, j] * (scale / w[j])
                m[j] = shift[k, j] + step
                v[j] = max(0.0, v[j] + scale * (q[k, j] - s[k, j] * step))


@fused_kernel
def add_batch(
    X: NDArray[Any],
    codes: Ints,
    row_weight: Floats,
    weighted: bool,
    decay: float,
    scale: float,
    largest: float,
    state: MomentArrays,
    room: BatchRoom,
) -> bool:
    """Add a batch to the state; False, and the state is as it was, if a value may be NaN or beyond `largest`.

    Rows count with `row_weight` (all 1 unless `weighted`), times `scale`. `decay` turns weights so far into weights as
    seen from the end of the batch.
    """
    n, places = state.weight.shape[0], room.places
    counts, classes, starts, order = places[:n], places[n : 2 * n], places[2 * n : 3 * n + 1], places[3 * n + 1 :]
    groups = Groups(classes[: group_rows(codes, counts, classes, starts, order)], starts, order)
    faint = counts  # free again
    if not _batch_sums(X, groups, row_weight, weighted, decay, largest, state, room.added, faint, room.sums):
        return False
    _add_sums(groups.classes, room.added, faint, scale, room.sums, state)
    return True


@kernel
def add_rows_with_gaps(
    X: NDArray[Any], codes: Ints, row_weight: Floats, weight: Floats, mean: Floats, m2: Floats
) -> None:
    """Welford's update, value by value, where NaN is not counted; weight has one entry per class and feature.

    d = x - mean,   mean += w d / (W + w),   m2 += W w d^2 / (W + w),   W += w
    """
    for i in range(X.shape[0]):
        c, w = codes[i], row_weight[i]
        for j in range(X.shape[1]):
            x = float(X[i, j])
            if x != x or w == 0.0:
                continue
            before, d = weight[c, j], x - mean[c, j]
            share = w / (before + w)
            weight[c, j] = before + w
            mean[c, j] += d * share
            m2[c, j] += before * share * d * d


@fused_kernel
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
    of NaN goes to `skipped`. Moments are fetched from memory some non-zeros early: those of the same row, or, from
    the last non-zeros of a row, those of the next.
    """
    # All unsigned, and no row is sliced: numbers below zero would be tested for, slices counted, at every row.
    flat, missing, one, two, three = moments.reshape(-1), skipped.reshape(-1), np.uint64(1), np.uint64(2), np.uint64(3)
    width, size, ahead = np.uint64(moments.shape[1]), np.uint64(indices.size), np.uint64(AHEAD)
    for i in range(codes.size):
        w, c = row_weight[i], np.uint64(codes[i]) * width
        if w == 0.0:
            continue
        next_row = np.uint64(codes[i + 1 if i + 1 < codes.size else i]) * width
        begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        # Up to `middle` the next moments are those of this row's own class, behind it those of the next row's.
        middle = end - ahead if begin + ahead < end else begin
        for last in (False, True):
            early = ahead if end + ahead <= size else np.uint64(0)
            to_fetch = next_row if last else c
            for k in range(middle if last else begin, end if last else middle):
                fetch(flat, three * (to_fetch + np.uint64(indices[k + early])))
                x, j = float(data[k]), c + np.uint64(indices[k])
                if not (x < 0.0 or x > 0.0):  # zero or NaN, found by one comparison
                    if x != x:
                        missing[j] += w
                    continue
                place = three * j
                before, mean = flat[place], flat[place + one]
                d, total = x - mean, before + w
                share = w / total
                flat[place] = total
                flat[place + one] = mean + d * share
                flat[place + two] += before * share * d * d
