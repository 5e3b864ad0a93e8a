"""Naive twin of EFS: one Modified Balanced Winnow whose weights are kept as logarithms."""

from __future__ import annotations

import math


def scaled(x):
    low, high = min(x), max(x)
    if high == low:
        return [0.0] * len(x)
    half = 0.5 if math.isinf(high - low) else 1.0
    return [(v * half - low * half) / (high * half - low * half) for v in x]


def decided_by_rounding(rows, signs, least_factor, given=None):
    """Whether some row lies on the margin but for rounding, so that two right programs may go different ways."""
    return any(efs(rows, signs, least_factor, close=True, given=given))


def copies(rows, signs, given):
    """Each row as often as its weight says; what is left of the weight is the share of the last copy."""
    for x, y, weight in zip(rows, signs, given or [1] * len(rows), strict=True):
        while weight > 0:
            yield x, y, min(weight, 1)
            weight -= 1


def efs(rows, signs, least_factor=0.01, promotion=1.5, demotion=0.5, threshold=1.0, margin=1.0, also_zeros=False,
        close=False, given=None):  # fmt: skip
    """(log u, log v) after every row; `also_zeros` updates features whose value is 0 too, as published programs do.

    With `close`, whether each row lies on the margin but for rounding. `given` are the weights of the rows.
    """
    log_u, log_v = [math.log(2.0)] * len(rows[0]), [0.0] * len(rows[0])
    history = []
    for x, y, share in copies(rows, signs, given):
        x = scaled(x)
        total = sum(v * (math.exp(a) - math.exp(b)) for v, a, b in zip(x, log_u, log_v, strict=True))
        score = total - threshold
        if y * score <= margin:
            winner, loser = (log_u, log_v) if y > 0 else (log_v, log_u)
            for j, v in enumerate(x):
                if v > 0 or also_zeros:
                    winner[j] += share * log(promotion * (1 + v))
                    loser[j] += share * log(demotion * max(1 - v, least_factor))
        on_margin = abs(y * score - margin) < 1e-9 and abs(total) > 1e-18
        history.append(on_margin if close else (list(log_u), list(log_v)))
    return history


def log(value):
    return math.log(value) if value > 0 else -math.inf
