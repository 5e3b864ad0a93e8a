"""Naive twin of OFS: one binary model, every row as in the paper, plain Python floats."""

from __future__ import annotations

import math


def decided_by_rounding(rows, signs, n_kept, given=None):
    """Whether some row lies on the margin, or two weights on the cut, but for rounding: right programs may differ."""
    return any(ofs(rows, signs, n_kept, close=True, given=given))


def copies(rows, signs, given):
    """Each row as often as its weight says; what is left of the weight is the share of the last copy."""
    for x, y, weight in zip(rows, signs, given or [1] * len(rows), strict=True):
        while weight > 0:
            yield x, y, min(weight, 1)
            weight -= 1


def ofs(rows, signs, n_kept, full_step=0.2, shrink=0.01, close=False, given=None):
    """The weights after every row; with `close`, whether rounding may have decided about it.

    `given` are the weights with which rows come, 1 by default.
    """
    weights = [0.0] * len(rows[0])
    history = []
    for x, y, share in copies(rows, signs, given):
        step = full_step * share
        margin = y * math.fsum(w * v for w, v in zip(weights, x, strict=True))
        near = abs(margin - 1) < 1e-9
        weights = [(1 - shrink * step) * w for w in weights]
        if margin < 1:
            weights = [w + step * y * v for w, v in zip(weights, x, strict=True)]
            length = math.hypot(*weights)
            if length > 1 / math.sqrt(shrink):
                weights = [w / length / math.sqrt(shrink) for w in weights]
            order = sorted(range(len(weights)), key=lambda j: (-abs(weights[j]), j))
            if n_kept < len(order):
                last, first_out = (abs(weights[order[k]]) for k in (n_kept - 1, n_kept))
                near = near or 0 < last - first_out < 1e-9 * last
            for j in order[n_kept:]:
                weights[j] = 0.0
        history.append(near if close else list(weights))
    return history


def ofs_numbers(rows, numbers, n_kept, step=0.2, shrink=0.01):
    """The weights after every row with squared loss, for numbers standardised by those that have come."""
    weights, history, seen = [0.0] * len(rows[0]), [], []
    for x, y in zip(rows, numbers, strict=True):
        seen.append(y)
        mean = math.fsum(seen) / len(seen)
        spread = math.sqrt(math.fsum((one - mean) ** 2 for one in seen) / len(seen))
        z = (y - mean) / spread if spread > 0 else 0.0
        error = z - math.fsum(w * v for w, v in zip(weights, x, strict=True))
        length = max(math.fsum(v * v for v in x), 1.0)
        weights = [(1 - shrink * step) * w + step * error * v / length for w, v in zip(weights, x, strict=True)]
        long = math.hypot(*weights)
        if long > 1 / math.sqrt(shrink):
            weights = [w / long / math.sqrt(shrink) for w in weights]
        for j in sorted(range(len(weights)), key=lambda j: (-abs(weights[j]), j))[n_kept:]:
            weights[j] = 0.0
        history.append(list(weights))
    return history
