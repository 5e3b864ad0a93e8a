"""Naive twins of OFS-Density and OFS-A3M: all distances anew for every set of columns, neighbours by sorting."""

from __future__ import annotations

import math

TIES: list[int] = []  # where rounding decided whether a row is a neighbour; whoever asks empties it first


def standardised(column):
    n = len(column)
    low, high = min(column), max(column)
    scaled = [(v - low) / (high - low) for v in column]
    mean = math.fsum(scaled) / n
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in scaled) / (n - 1))
    return [(v - mean) / deviation for v in scaled]


def by_density(distances):
    count, before = 0, distances[0]
    for rank, distance in enumerate(distances, start=1):
        if rank > 1 and distance != 0 and abs(distance / rank - before) < 1e-12 * before:
            TIES.append(rank)
        if distance != 0 and distance / rank > before:
            break
        count, before = rank, distance / rank
    return count


def by_gap(distances):
    gap = 1.5 * (distances[-1] - distances[0]) / max(len(distances) - 1, 1)
    count = 1
    while count < len(distances) and distances[count] - distances[count - 1] < gap:
        count += 1
    return count


def dependency(columns, y, rule):
    n, total = len(y), 0.0
    for i in range(n):
        others = sorted((math.sqrt(math.fsum((c[i] - c[j]) ** 2 for c in columns)), j) for j in range(n) if j != i)
        count = rule([d for d, _ in others])
        total += sum(y[j] == y[i] for _, j in others[:count]) / count
    return round(total / n, 12)  # equal dependencies are compared, whatever the order of summation


def ofs_density(X, y, tolerance=0.05):
    columns, members, alone = {}, [], {}
    together = mean = 0.0

    def of(chosen):
        return dependency([columns[k] for k in chosen], y, by_density)

    for i in range(X.shape[1]):
        if X[:, i].min() == X[:, i].max():
            continue
        columns[i] = standardised(X[:, i].tolist())
        alone[i] = of([i])
        if alone[i] < mean:
            continue
        new = of([*members, i])
        if new > together:
            members, together = [*members, i], new
            mean = sum(alone[k] for k in members) / len(members)
        elif together > 0 and abs(new - together) / together <= tolerance:
            left = [*members, i]
            for k in members:
                without = [j for j in left if j != k]
                if of(left) - of(without) <= 0:
                    left = without
            if of(left) >= together:
                members, together = left, of(left)
                mean = sum(alone[k] for k in members) / len(members)
            else:
                members = [*members, i]
    return members


def ofs_a3m(X, y):
    columns, members = {}, []
    together = share = 0.0

    def of(chosen):
        return dependency([columns[k] for k in chosen], y, by_gap)

    for i in range(X.shape[1]):
        if X[:, i].min() == X[:, i].max():
            continue
        columns[i] = standardised(X[:, i].tolist())
        if of([i]) <= share:
            continue
        new = of([*members, i])
        if new < together:
            continue
        left = [*members, i]
        if new == together:
            for k in members:
                without = [j for j in left if j != k]
                if of(left) == of(without):
                    left = without
        members, together = left, new
        share = together / len(members)
    return members
