"""Judges that see categories, with all rows at hand: loops over rows and features, written from the definitions.

A row is a list of values; a value is a number or, for a category, its name.
"""

from __future__ import annotations

import math


def bayes(rows, labels, classes, row, features):
    """Log of prior times likelihood of each class; normal densities for numbers, counts plus one for names."""
    largest = 0.0
    for j in features:
        if not isinstance(row[j], str):
            values = [r[j] for r in rows]
            mean = math.fsum(values) / len(values)
            largest = max(largest, math.fsum((v - mean) ** 2 for v in values) / len(values))
    found = []
    for label in classes:
        own = [r for r, k in zip(rows, labels, strict=True) if k == label]
        value = math.log(len(own) / len(rows))
        for j in features:
            if isinstance(row[j], str):
                met = len({r[j] for r in rows})
                value += math.log((sum(r[j] == row[j] for r in own) + 1) / (len(own) + met))
                continue
            mean = math.fsum(r[j] for r in own) / len(own)
            variance = math.fsum((r[j] - mean) ** 2 for r in own) / len(own) + 1e-9 * largest
            value -= 0.5 * (math.log(2 * math.pi * variance) + (row[j] - mean) ** 2 / variance)
        found.append(value)
    return found


def probabilities(logarithms):
    top = max(logarithms)
    parts = [math.exp(value - top) for value in logarithms]
    return [part / math.fsum(parts) for part in parts]


def neighbours(rows, labels, classes, row, features, k=5, window=500):
    """Shares of the classes among the nearest: numbers over their deviation, names by being equal."""
    rows, labels = rows[-window:], labels[-window:]
    scale = {}
    for j in features:
        if not isinstance(row[j], str):
            values = [r[j] for r in rows]
            mean = math.fsum(values) / len(values)
            scale[j] = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values)) or 1.0
    distances = []
    for i, r in enumerate(rows):
        parts = [
            float(r[j] != row[j]) if isinstance(row[j], str) else ((r[j] - row[j]) / scale[j]) ** 2 for j in features
        ]
        distances.append((math.fsum(parts), i))
    nearest = [labels[i] for _, i in sorted(distances)[:k]]
    return [nearest.count(label) / len(nearest) for label in classes]
