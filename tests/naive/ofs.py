"""Naive twin of OFS: one binary model, every row as in the paper, plain Python floats."""

from __future__ import annotations

import math


def ofs(rows, signs, n_kept, step=0.2, shrink=0.01):
    """The weights after every row."""
    weights = [0.0] * len(rows[0])
    history = []
    for x, y in zip(rows, signs, strict=True):
        margin = y * math.fsum(w * v for w, v in zip(weights, x, strict=True))
        weights = [(1 - shrink * step) * w for w in weights]
        if margin < 1:
            weights = [w + step * y * v for w, v in zip(weights, x, strict=True)]
            length = math.hypot(*weights)
            if length > 1 / math.sqrt(shrink):
                weights = [w / length / math.sqrt(shrink) for w in weights]
            order = sorted(range(len(weights)), key=lambda j: (-abs(weights[j]), j))
            for j in order[n_kept:]:
                weights[j] = 0.0
        history.append(list(weights))
    return history
