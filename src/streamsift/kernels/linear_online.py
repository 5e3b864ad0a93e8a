"""Kernels of OFS: a linear model with hinge loss, or with squared loss, that keeps its largest weights.

They walk over rows one by one, because each update needs the one before. A row carries the sign +1 or -1 of its label,
or with squared loss its number, and a step of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]


class OfsRule(NamedTuple):
    """How rows are learnt: how many weights are kept, the shrinking per step, and whether the loss is squared."""

    n_kept: int
    shrink: float
    squared: bool


@kernel
def standardise_targets(y: Floats, share: Floats, target: Floats, out: Floats) -> None:
    """Each number less the mean of those up to it, in their deviations; `target` is (weight, mean, spread) so far."""
    weight, mean, spread = target[0], target[1], target[2]
    for i in range(y.size):
        weight += share[i]
        gap = y[i] - mean
        mean += gap * share[i] / weight
        spread += share[i] * gap * (y[i] - mean)
        out[i] = (y[i] - mean) / np.sqrt(spread / weight) if spread > 0.0 else 0.0
    target[0], target[1], target[2] = weight, mean, spread


@kernel
def _place_in_order(a: Floats, n: int, k: int) -> float:
    """The value at index k of a[:n] once it is sorted; a is reordered (Hoare's quickselect)."""
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) // 2
        # The median of three as pivot: sorted input stays fast.
        if a[middle] < a[low]:
            a[middle], a[low] = a[low], a[middle]
        if a[high] < a[low]:
            a[high], a[low] = a[low], a[high]
        if a[high] < a[middle]:
            a[high], a[middle] = a[middle], a[high]
        pivot, i, j = a[middle], low, high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while pivot < a[j]:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return a[k]  # type: ignore[no-any-return]


@kernel
def _into_ball(w: Floats, n: int, squares: float, radius: float) -> None:
    """w[:n], whose squares sum up to `squares`, scaled to length `radius` if it is longer."""
    if squares <= radius * radius:
        return
    if squares < np.inf:
        factor = radius / np.sqrt(squares)
        for j in range(n):
            w[j] *= factor
        return
    largest, squares = 0.0, 0.0  # the squares overflow: take those of w / largest
    for j in range(n):
        largest = max(largest, abs(w[j]))
    for j in range(n):
        w[j] /= largest
        squares += w[j] * w[j]
    factor = radius / np.sqrt(squares)
    for j in range(n):
        w[j] *= factor


@kernel
def _cut(w: Floats, n: int, n_kept: int, near: float, sizes: Floats) -> tuple[float, int, int]:
    """What the n_kept largest |w[:n]| have in common: they exceed a size, or are among the first few equal to it.

    Return the size, how many of those equal to it are kept, and how many there are. It is searched for around `near`
    first; what is beyond needs only counting.
    """
    if n <= n_kept:
        return 0.0, 0, 0
    # From row to row the size hardly moves: only the few weights close to the last one have to be put in order.
    low, high = 0.9 * near, 1.1 * near
    n_sizes, above = 0, 0
    for j in range(n):
        size = abs(w[j])
        sizes[n_sizes] = size  # written always, counted only if inside: no branch
        n_sizes += (size >= low) & (size < high)
        above += size >= high
    if not above < n_kept <= above + n_sizes:
        n_sizes, above = n, 0
        for j in range(n):
            sizes[j] = abs(w[j])
    size = _place_in_order(sizes, n_sizes, n_sizes - (n_kept - above))
    n_same = 0
    for j in range(n_sizes):
        above += sizes[j] > size
        n_same += sizes[j] == size
    return size, n_kept - above, n_same


@kernel
def ofs_rows(
    X: Floats, signs: Floats, weights: Floats, rule: OfsRule, steps: Floats, fresh: Floats, sizes: Floats
) -> None:
    """Learn dense rows; weights[m] is the model whose labels are signs[m]. `fresh` and `sizes` are scratch space."""
    n_features, n_kept, shrink = X.shape[1], rule.n_kept, rule.shrink
    radius = 1.0 / np.sqrt(shrink)
    active = np.empty(n_features, np.int64)
    for m in range(weights.shape[0]):
        w = weights[m]
        n_active, size = 0, 0.0
        for j in range(n_features):
            if w[j] != 0.0:
                active[n_active] = j
                n_active += 1
        for i in range(X.shape[0]):
            x, sign, keep = X[i], signs[m, i], 1.0 - shrink * steps[i]
            margin = 0.0
            for k in range(n_active):
                margin += w[active[k]] * x[active[k]]
            move = sign * steps[i]
            if rule.squared:  # the step is that of a row of length 1 at most, or every long row would overshoot
                length = 0.0
                for j in range(n_features):
                    length += x[j] * x[j]
                move = steps[i] * (sign - margin) / max(length, 1.0)
            elif sign * margin >= 1.0:  # no hinge loss: the weights only shrink
                for k in range(n_active):
                    w[active[k]] *= keep
                continue
            # w <- (1 - shrink step) w + move x, then onto the ball of radius 1 / sqrt(shrink), then the cut
            for j in range(n_features):
                fresh[j] = keep * w[j] + move * x[j]
            # Four sums, by the last two bits of the feature: additions need not wait for each other.
            s0 = s1 = s2 = s3 = 0.0
            for j in range(0, n_features - 3, 4):
                s0 += fresh[j] * fresh[j]
                s1 += fresh[j + 1] * fresh[j + 1]
                s2 += fresh[j + 2] * fresh[j + 2]
                s3 += fresh[j + 3] * fresh[j + 3]
            rest = n_features & ~3
            s0 += fresh[rest] * fresh[rest] if rest < n_features else 0.0
            s1 += fresh[rest + 1] * fresh[rest + 1] if rest + 1 < n_features else 0.0
            s2 += fresh[rest + 2] * fresh[rest + 2] if rest + 2 < n_features else 0.0
            _into_ball(fresh, n_features, (s0 + s1) + (s2 + s3), radius)
            size, n_equal, n_same = _cut(fresh, n_features, n_kept, size, sizes)
            n_active = 0
            if n_equal == n_same and size > 0.0:  # nearly always; without branches, as no one can foretell what is kept
                for j in range(n_features):
                    w[j] = fresh[j] if abs(fresh[j]) >= size else 0.0
                for j in range(n_features):
                    active[n_active] = j
                    n_active += abs(fresh[j]) >= size
                continue
            for j in range(n_features):
                w[j] = 0.0
                here = abs(fresh[j])
                if here > size or (here == size and n_equal > 0 and here > 0.0):
                    n_equal -= here == size
                    w[j] = fresh[j]
                    active[n_active] = j
                    n_active += 1


@kernel
def ofs_sparse_rows(
    data: Floats,
    indices: Indices,
    indptr: Indices,
    signs: Floats,
    weights: Floats,
    rule: OfsRule,
    steps: Floats,
    fresh: Floats,
    sizes: Floats,
) -> None:
    """Learn CSR rows at a cost of their non-zeros and the kept features."""
    n_features, n_kept, shrink = weights.shape[1], rule.n_kept, rule.shrink
    radius = 1.0 / np.sqrt(shrink)
    active, touched = np.empty(n_features, np.int64), np.empty(n_features, np.int64)
    for m in range(weights.shape[0]):
        w = weights[m]
        n_active, size = 0, 0.0
        for j in range(n_features):
            if w[j] != 0.0:
                active[n_active] = j
                n_active += 1
        for i in range(indptr.size - 1):
            first, last, sign, keep = indptr[i], indptr[i + 1], signs[m, i], 1.0 - shrink * steps[i]
            margin = 0.0
            for k in range(first, last):
                margin += w[indices[k]] * data[k]
            move = sign * steps[i]
            if rule.squared:
                length = 0.0
                for k in range(first, last):
                    length += data[k] * data[k]
                move = steps[i] * (sign - margin) / max(length, 1.0)
            elif sign * margin >= 1.0:
                for k in range(n_active):
                    w[active[k]] *= keep
                continue
            # Both the active features and those of the row are sorted: one walk over the two lists.
            a, k, n = 0, first, 0
            s0 = s1 = s2 = s3 = 0.0
            while a < n_active or k < last:
                in_row = k < last and (a == n_active or indices[k] <= active[a])
                j = int(indices[k]) if in_row else active[a]
                fresh[n] = keep * w[j]
                if in_row:
                    fresh[n] += move * data[k]
                square = fresh[n] * fresh[n]  # added to the same one of four sums as in dense rows: equal digits
                s0 += square if j & 3 == 0 else 0.0
                s1 += square if j & 3 == 1 else 0.0
                s2 += square if j & 3 == 2 else 0.0
                s3 += square if j & 3 == 3 else 0.0
                a += a < n_active and active[a] == j
                k += in_row
                touched[n] = j
                n += 1
            for k in range(n_active):
                w[active[k]] = 0.0
            _into_ball(fresh, n, (s0 + s1) + (s2 + s3), radius)
            size, n_equal, _ = _cut(fresh, n, n_kept, size, sizes)
            n_active = 0
            for k in range(n):
                here = abs(fresh[k])
                if here > size or (here == size and n_equal > 0 and here > 0.0):
                    n_equal -= here == size
                    w[touched[k]] = fresh[k]
                    active[n_active] = touched[k]
                    n_active += 1
