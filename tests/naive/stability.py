"""Naive twins of the stability measures: sets as lists of 0 and 1, formulas as printed, every pair by itself."""

from __future__ import annotations

import math
from statistics import NormalDist


def nogueira(sets):
    r, d = len(sets), len(sets[0])
    p = [sum(z[j] for z in sets) / r for j in range(d)]
    k = sum(p)
    chance = k / d * (1 - k / d)
    if r == 1 or all(z == sets[0] for z in sets):
        return 1.0
    return 1 - sum(r / (r - 1) * q * (1 - q) for q in p) / d / chance


def nogueira_interval(sets, confidence):
    r, d = len(sets), len(sets[0])
    p = [sum(z[j] for z in sets) / r for j in range(d)]
    k = sum(p)
    chance = k / d * (1 - k / d)
    value = nogueira(sets)
    parts = []
    for z in sets:
        own = sum(z)
        inside = sum(z[j] * p[j] for j in range(d)) / d - own * k / d**2
        inside += value / 2 * (2 * k * own / d**2 - own / d - k / d + 1)
        parts.append(inside / chance)
    mean = sum(parts) / r
    reach = NormalDist().inv_cdf(1 - (1 - confidence) / 2) * math.sqrt(4 / r**2 * sum((x - mean) ** 2 for x in parts))
    return value - reach, value + reach


def pearson(sets):
    r, d = len(sets), len(sets[0])
    if r == 1:
        return 1.0
    total = 0.0
    for i in range(r):
        for j in range(i + 1, r):
            a, b = sets[i], sets[j]
            if a == b:
                total += 1.0
                continue
            va, vb = (math.sqrt(sum(z) / d * (1 - sum(z) / d)) for z in (a, b))
            if va > 0 and vb > 0:
                common = sum(x * y for x, y in zip(a, b, strict=True))
                total += (common - sum(a) * sum(b) / d) / (d * va * vb)
    return 2 / (r * (r - 1)) * total
