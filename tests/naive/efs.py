"""Naive twin of EFS: one Modified Balanced Winnow with exact fractions of its weights kept as logarithms."""

from __future__ import annotations

import math


def scaled(x):
    low, high = min(x), max(x)
    if high == low:
        return [0.0] * len(x)
    half = 0.5 if math.isinf(high - low) else 1.0
    return [(v * half - low * half) / (high * half - low * half) for v in x]


def efs(rows, signs, least_factor=0.01, promotion=1.5, demotion=0.5, threshold=1.0, margin=1.0, also_zeros=False):
    """(log u, log v) after every row; `also_zeros` updates features whose value is 0 too, as published programs do."""
    log_u, log_v = [math.log(2.0)] * len(rows[0]), [0.0] * len(rows[0])
    history = []
    for x, y in zip(rows, signs, strict=True):
        x = scaled(x)
        score = sum(v * (math.exp(a) - math.exp(b)) for v, a, b in zip(x, log_u, log_v, strict=True)) - threshold
        if y * score <= margin:
            winner, loser = (log_u, log_v) if y > 0 else (log_v, log_u)
            for j, v in enumerate(x):
                if v > 0 or also_zeros:
                    winner[j] += log(promotion * (1 + v))
                    loser[j] += log(demotion * max(1 - v, least_factor))
        history.append((list(log_u), list(log_v)))
    return history


def log(value):
    return math.log(value) if value > 0 else -math.inf
