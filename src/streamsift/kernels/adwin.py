"""Kernels of ADWIN: many adaptive windows, each an exponential histogram of the values it still believes in.

State of detector u (struct of arrays, changed in place):

    sums[u]             total, sum of squared deviations, width of the window, updates since the last test
    filled[u, level]    buckets in use; a bucket of a level stands for 2^level values
    buckets[u, level]   row 0: total of each bucket, row 1: its sum of squared deviations; oldest first

The order of the operations is that of river's ADWIN, so that both round alike and raise the same alarms.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVELS = 48  # enough for 2^48 values
TOTAL, DEVIATION, WIDTH, TICKS = 0, 1, 2, 3  # columns of `sums`
N_SUMS = 4


@kernel
def _drop_front(totals: Floats, deviations: Floats, n_used: int, n_dropped: int) -> None:
    """Remove the oldest buckets of one level; the others move to the front."""
    for k in range(n_dropped, n_used):
        totals[k - n_dropped] = totals[k]
        deviations[k - n_dropped] = deviations[k]


@kernel
def _insert(x: float, sums: Floats, filled: Ints, buckets: Floats) -> None:
    """Add one value as a bucket of its own, then merge the two oldest buckets of every level that overflows."""
    full = buckets.shape[2]
    buckets[0, 0, filled[0]] = x
    buckets[0, 1, filled[0]] = 0.0
    filled[0] += 1
    before = sums[WIDTH]
    sums[WIDTH] = before + 1.0
    if before > 0.0:  # Welford: the squared deviations grow by (n / (n + 1)) (x - mean)^2
        distance = x - sums[TOTAL] / before
        sums[DEVIATION] += before * distance * distance / sums[WIDTH]
    sums[TOTAL] += x
    size = 1.0
    level = 0
    while filled[level] == full and level + 1 < filled.size:
        # Chan: two buckets of n values each have together D0 + D1 + (n / 2) (mean0 - mean1)^2.
        totals, deviations = buckets[level, 0], buckets[level, 1]
        gap = totals[0] / size - totals[1] / size
        upper = buckets[level + 1]
        upper[0, filled[level + 1]] = totals[0] + totals[1]
        upper[1, filled[level + 1]] = deviations[0] + deviations[1] + size * 0.5 * gap * gap
        filled[level + 1] += 1
        _drop_front(totals, deviations, full, 2)
        filled[level] -= 2
        size *= 2.0
        level += 1


@kernel
def _drop_oldest(level: int, sums: Floats, filled: Ints, buckets: Floats) -> None:
    """Take the oldest bucket of a level out of the window: Chan's formula, solved for the part that stays."""
    size = 2.0**level
    total, deviation = buckets[level, 0, 0], buckets[level, 1, 0]
    sums[WIDTH] -= size
    sums[TOTAL] -= total
    gap = total / size - sums[TOTAL] / sums[WIDTH]
    sums[DEVIATION] -= deviation + size * sums[WIDTH] * gap * gap / (size + sums[WIDTH])
    _drop_front(buckets[level, 0], buckets[level, 1], filled[level], 1)
    filled[level] -= 1


@kernel
def _has_cut(top: int, delta: float, shortest: float, sums: Floats, filled: Ints, buckets: Floats) -> bool:
    """Whether some cut leaves two parts whose means differ by more than chance allows."""
    width, total = sums[WIDTH], sums[TOTAL]
    if width < 2.0:
        return False
    # The bound of every cut: with m = 1/n0' + 1/n1', |mean0 - mean1| > sqrt(2 m variance L) + 2/3 m L.
    log_term = math.log(2.0 * math.log(width) / delta)
    variance = sums[DEVIATION] / width
    clearly = 1.999 * variance * log_term  # a little below 2, so that rounding cannot skip a cut that counts
    n_old, total_old = 0.0, 0.0
    n_new, total_new = width, total
    for level in range(top, -1, -1):
        size = 2.0**level
        for k in range(filled[level]):
            n_old += size
            n_new -= size
            total_old += buckets[level, 0, k]
            total_new -= buckets[level, 0, k]
            if n_new < shortest or n_old < shortest or n_new <= 0.0:
                continue
            # |difference| < sqrt(2 m variance L) without a division or a root; nearly all cuts end here. With
            # n0 n1 difference = cross and m = (a + b) / (a b), both sides are squared and multiplied by a b (n0 n1)^2.
            a, b, n_both = n_old - shortest + 1.0, n_new - shortest + 1.0, n_old * n_new
            cross = total_old * n_new - total_new * n_old
            if cross * cross * (a * b) < clearly * (a + b) * (n_both * n_both):
                continue
            m = 1.0 / a + 1.0 / b
            bound = math.sqrt(2.0 * m * variance * log_term) + 2.0 / 3.0 * log_term * m
            if abs(total_old / n_old - total_new / n_new) > bound:
                return True
    return False


@kernel
def _shrink(delta: float, shortest: float, sums: Floats, filled: Ints, buckets: Floats) -> bool:
    """Drop the oldest bucket as long as some cut shows a change; return whether any was dropped."""
    dropped = False
    top = filled.size - 1
    while True:
        while top > 0 and filled[top] == 0:
            top -= 1
        if not _has_cut(top, delta, shortest, sums, filled, buckets):
            return dropped
        _drop_oldest(top, sums, filled, buckets)
        dropped = True


@kernel
def adwin_scan(
    values: Floats,
    first_unit: int,
    settings: tuple[float, float, float, float],
    rises_only: bool,
    sums: Floats,
    filled: Ints,
    buckets: Floats,
    alarm: Ints,
) -> None:
    """Feed values[u] to each detector u >= first_unit until it raises an alarm; alarm[u] is the column, or -1.

    `settings` are delta, clock, shortest part of a cut, and the width below which nothing is tested. Any change is an
    alarm; with `rises_only` a window whose mean fell shrinks in silence. After its alarm a detector is empty.
    """
    delta, clock, shortest, narrow = settings
    for u in range(first_unit, values.shape[0]):
        s, f, b = sums[u], filled[u], buckets[u]
        alarm[u] = -1
        for k in range(values.shape[1]):
            total_before, width_before = s[TOTAL], s[WIDTH]  # only needed to see whether the mean rose
            _insert(values[u, k], s, f, b)
            s[TICKS] += 1.0
            if s[TICKS] != clock:
                continue
            s[TICKS] = 0.0
            if s[WIDTH] <= narrow or not _shrink(delta, shortest, s, f, b):
                continue
            # mean now <= mean before, without a division
            if rises_only and s[TOTAL] * width_before <= total_before * s[WIDTH]:
                continue
            for i in range(s.size):
                s[i] = 0.0
            for i in range(f.size):
                f[i] = 0
            alarm[u] = k
            break
