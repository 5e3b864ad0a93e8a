"""Naive twins of the screening paper: every row kept, every formula as printed (with the slips resolved).

Weights of class c at a feature are sums of fading^(n - i); bins are cut at unfaded ranks.
"""

from __future__ import annotations

import math

import numpy as np


def row_weights(n, fading):
    return [fading ** (n - 1 - i) for i in range(n)]


def class_moments(x, y, fading=1.0):
    """{class: (weight, mean, population variance)} of one feature, two passes, missing values left out."""
    weights = row_weights(len(x), fading)
    result = {}
    for c in sorted(set(y)):
        members = [(w, float(v)) for w, v, label in zip(weights, x, y, strict=True) if label == c and not math.isnan(v)]
        total = math.fsum(w for w, _ in members)
        if total == 0.0:
            result[c] = (0.0, 0.0, 0.0)
            continue
        # Around the first value, so that a large offset costs no digits.
        origin = members[0][1]
        mean = math.fsum(w * (v - origin) for w, v in members) / total
        variance = math.fsum(w * (v - origin - mean) ** 2 for w, v in members) / total
        result[c] = (total, origin + mean, variance)
    return result


def _two_groups(first, second):
    (n1, m1, v1), (n2, m2, v2) = first, second
    if n1 == 0 or n2 == 0 or abs(m1 - m2) < 1e-150:  # the square of which vanishes, and with it the variances
        return 0.0
    error = v1 / n1 + v2 / n2
    return math.inf if error == 0.0 else abs(m1 - m2) / math.sqrt(error)


def t_score(x, y, fading=1.0):
    """Eq. 1; the largest one-vs-rest value for more than two classes."""
    classes = sorted(set(y))
    if len(classes) < 2:
        return 0.0
    best = 0.0
    for c in classes:
        binary = [int(label == c) for label in y]
        parts = class_moments(x, binary, fading)
        best = max(best, _two_groups(parts[0], parts[1]))
    return best


def fisher(x, y, fading=1.0):
    """Eq. 2."""
    parts = [part for part in class_moments(x, y, fading).values() if part[0] > 0]
    if not parts:
        return 0.0
    total = math.fsum(n for n, _, _ in parts)
    origin = parts[0][1]
    mean = math.fsum(n * (m - origin) for n, m, _ in parts) / total
    between = math.fsum(n * (m - origin - mean) ** 2 for n, m, _ in parts)
    within = math.fsum(n * v for n, _, v in parts)
    if between == 0.0:
        return 0.0
    return math.inf if within == 0.0 else between / within


def bin_counts(x, y, n_bins, n_classes, fading=1.0):
    """Class weights in bins of equal unfaded rank: a value below which r values lie has bin #{h : round(hN/K) <= r}."""
    weights = row_weights(len(x), fading)
    present = [(float(v), int(c), w) for v, c, w in zip(x, y, weights, strict=True) if not math.isnan(v)]
    n = len(present)
    cuts = [math.floor(h * n / n_bins + 0.5) for h in range(1, n_bins)]
    values = sorted(v for v, _, _ in present)
    counts = np.zeros((n_bins, n_classes))
    lowest = {}
    for rank, v in enumerate(values):
        lowest.setdefault(v + 0.0, rank)
    for v, c, w in present:
        rank = lowest[v + 0.0]
        counts[sum(cut <= rank for cut in cuts), c] += w
    return counts


def zero_weight(codes, fading, c, a, b):
    """The universal weight map (2.2.6): weight, at row b, of class-c rows strictly between rows a and b (1-based).

    M[t] is the faded weight of class c after row t. Eq. 18 counts row b as well; here it does not.
    """
    weight_map = [0.0]
    for label in codes:
        weight_map.append(fading * weight_map[-1] + (label == c))
    return fading * weight_map[b - 1] - fading ** (b - a) * weight_map[a]


def mutual_info(counts):
    """Eq. 4, in nats."""
    total = counts.sum()
    result = 0.0
    for b in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            if counts[b, c] > 0:
                p, pb, pc = counts[b, c] / total, counts[b].sum() / total, counts[:, c].sum() / total
                result += p * math.log(p / (pb * pc))
    return result


def chi2(counts):
    """Eq. 5."""
    total = counts.sum()
    result = 0.0
    for b in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            expected = counts[b].sum() * counts[:, c].sum() / total
            if expected > 0:
                result += (counts[b, c] - expected) ** 2 / expected
    return result


def gini(counts):
    """Eq. 6: the smallest impurity over all cuts, no cut included."""
    total = counts.sum()
    best = math.inf
    for h in range(counts.shape[0]):
        impurity = 0.0
        for side in (counts[:h].sum(axis=0), counts[h:].sum(axis=0)):
            if side.sum() > 0:
                impurity += side.sum() / total * (1 - ((side / side.sum()) ** 2).sum())
        best = min(best, impurity)
    return best
