"""Kernels that merge the lists of two quantile summaries; kernels/quantiles.py says what a list is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel
from streamsift.kernels.quantiles import COUNT, GAP, KEY, Floats, Ints, Ragged

_LAST = 0x7FFFFFFFFFFFFFFF


@kernel
def _merge_two(
    a: Ints, a_weights: Floats, b: Ints, b_weights: Floats, limit: int, out: Ints, out_weights: Floats
) -> int:
    """Merge two lists into one, shortened within `limit` (not at all, if limit < 0); return its length."""
    n_a, n_b, n_classes = a.shape[1], b.shape[1], out_weights.shape[0]
    i, j, size = 0, 0, -1
    key, count, gap = 0, 0, 0
    pending = np.zeros(n_classes, np.float64)
    while i < n_a or j < n_b:
        # Of two equal keys both are taken, into one tuple.
        take_a = j == n_b or (i < n_a and a[KEY, i] <= b[KEY, j])
        take_b = i == n_a or (j < n_b and b[KEY, j] <= a[KEY, i])
        next_key = a[KEY, i] if take_a else b[KEY, j]
        # Rows of the other list hidden in its next tuple may lie below this value too.
        next_gap = (a[GAP, i] if i < n_a else 0) + (b[GAP, j] if j < n_b else 0)
        next_count = (a[COUNT, i] if take_a else 0) + (b[COUNT, j] if take_b else 0)
        # The current tuple is absorbed by the next value as long as no more than `limit` rows get uncertain.
        if size < 0 or count + next_gap > limit:
            if size >= 0:
                out[KEY, size], out[COUNT, size], out[GAP, size] = key, count, gap
                for c in range(n_classes):
                    out_weights[c, size] = pending[c]
                    pending[c] = 0.0
            size += 1
            count = 0
        key, gap, count = next_key, count + next_gap, count + next_count
        for c in range(n_classes):
            pending[c] += (a_weights[c, i] if take_a else 0.0) + (b_weights[c, j] if take_b else 0.0)
        i += int(take_a)
        j += int(take_b)
    if size >= 0:
        out[KEY, size], out[COUNT, size], out[GAP, size] = key, count, gap
        for c in range(n_classes):
            out_weights[c, size] = pending[c]
    return size + 1


@kernel
def merge_ragged(a: Ragged, b: Ragged, limit: Ints, cap: int, exact: NDArray[np.bool_], out: Ragged) -> None:
    """Merge two summaries feature by feature; exact lists stay exact up to `cap` tuples, `exact` is updated."""
    n_out = 0
    for f in range(exact.size):
        out.start[f] = n_out
        mine, mine_weights = a.tuples[:, a.start[f] : a.start[f + 1]], a.weights[:, a.start[f] : a.start[f + 1]]
        other, other_weights = b.tuples[:, b.start[f] : b.start[f + 1]], b.weights[:, b.start[f] : b.start[f + 1]]
        new, new_weights = out.tuples[:, n_out:], out.weights[:, n_out:]
        size = _LAST
        if exact[f]:
            size = _merge_two(mine, mine_weights, other, other_weights, -1, new, new_weights)
        if size > cap:
            exact[f] = False
            size = _merge_two(mine, mine_weights, other, other_weights, limit[f], new, new_weights)
        n_out += size
    out.start[exact.size] = n_out
