"""Naive twin of FSDS: the whole singular value decomposition of sketch and batch, formulas as printed."""

from __future__ import annotations

import numpy as np


def fsds(batches, size, n_components=2, fading=1.0):
    """(scores, sketch times its transpose) after every batch; a row weighs `fading` times as much as the next one."""
    sketch = np.zeros((batches[0].shape[1], 0))
    history = []
    for rows in batches:
        X = np.array([np.sqrt(fading ** (len(rows) - 1 - i)) * row for i, row in enumerate(rows)])
        sketch = np.sqrt(fading ** len(rows)) * sketch
        U, s, _ = np.linalg.svd(np.hstack([sketch, X.T]), full_matrices=False)
        U, s = U[:, :size], s[:size]
        smallest = s[size - 1] if len(s) == size else 0.0
        s = np.sqrt(np.maximum(s**2 - smallest**2, 0.0))
        sketch = U * s
        k = min(n_components, len(s))
        ridge = 8 * s[k - 1] if len(s) >= n_components else 0.0
        scores = np.zeros(len(U))
        for i in range(k):
            if s[i] > 0:
                scores = np.maximum(scores, np.abs(U[:, i]) * s[i] / (s[i] ** 2 + ridge))
        history.append((scores, sketch @ sketch.T))
    return history
