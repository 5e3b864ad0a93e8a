"""Naive twin of feature selection with annealing: one number at a time, from the paper's algorithm."""

from __future__ import annotations

import math


def schedule(step, n_steps, n_features, n_wanted, annealing):
    """M_e: the features left after step e."""
    return n_wanted + int((n_features - n_wanted) * max(0.0, (n_steps - 2 * step) / (2 * step * annealing + n_steps)))


def _softmax(scores):
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    return [p / sum(powers) for p in powers]


def fit(X, y, n_classes, n_wanted, n_steps, annealing, shrinkage, momentum, step_size):
    """(columns left, weights of the scaled columns, intercepts)."""
    n, p = len(X), len(X[0])
    scale = [math.sqrt(sum(row[j] ** 2 for row in X) / n) or 1.0 for j in range(p)]
    rows = [[row[j] / scale[j] for j in range(p)] for row in X]
    weights = [[0.0] * n_classes for _ in range(p)]
    speed = [[0.0] * n_classes for _ in range(p)]
    intercept = [math.log(max(sum(label == c for label in y) / n, 1e-12)) for c in range(n_classes)]
    alive = list(range(p))
    for step in range(1, n_steps + 1):
        missed = []
        for row, label in zip(rows, y, strict=True):
            scores = [sum(row[j] * weights[j][c] for j in alive) + intercept[c] for c in range(n_classes)]
            missed.append([q - (c == label) for c, q in enumerate(_softmax(scores))])
        for j in alive:
            for c in range(n_classes):
                slope = sum(row[j] * m[c] for row, m in zip(rows, missed, strict=True)) / n
                speed[j][c] = momentum * speed[j][c] - step_size * (slope + shrinkage * weights[j][c])
        for j in alive:
            weights[j] = [w + s for w, s in zip(weights[j], speed[j], strict=True)]
        intercept = [b - sum(m[c] for m in missed) / n for c, b in enumerate(intercept)]
        count = schedule(step, n_steps, p, n_wanted, annealing)
        alive = sorted(sorted(alive, key=lambda j: -sum(w * w for w in weights[j]))[:count])
    return alive, [[w / scale[j] for w in weights[j]] for j in alive], intercept
