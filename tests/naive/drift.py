"""ADWIN, HDDM-A and HDDM-W as their papers tell them: raw values are kept, and every mean is computed from them."""

from __future__ import annotations

import math

import numpy as np


class NaiveADWIN:
    """Bifet and Gavaldà (2007); a level holds up to five buckets of 2^level raw values, oldest first."""

    def __init__(self, delta: float = 0.002, clock: int = 32, max_buckets: int = 5, shortest: int = 5) -> None:
        self.delta, self.clock, self.max_buckets, self.shortest = delta, clock, max_buckets, shortest
        self.levels: list[list[list[float]]] = [[]]
        self.ticks = 0

    def window(self) -> list[list[float]]:
        """All buckets, oldest first."""
        return [bucket for level in reversed(self.levels) for bucket in level]

    def update(self, x: float) -> int:
        """1 if the window shrank and its mean rose, -1 if it shrank and the mean did not rise, else 0."""
        before = [value for bucket in self.window() for value in bucket]
        self.levels[0].append([x])
        for k in range(len(self.levels)):
            if len(self.levels[k]) <= self.max_buckets:
                break
            if k + 1 == len(self.levels):
                self.levels.append([])
            oldest, second = self.levels[k][:2]
            self.levels[k] = self.levels[k][2:]
            self.levels[k + 1].append(oldest + second)
        self.ticks += 1
        shrank = False
        if self.ticks % self.clock == 0:
            while len([v for b in self.window() for v in b]) > 10 and self.has_cut():
                while not self.levels[-1]:
                    self.levels.pop()
                self.levels[-1].pop(0)
                shrank = True
        if not shrank:
            return 0
        return 1 if np.mean([value for bucket in self.window() for value in bucket]) > np.mean(before) else -1

    def has_cut(self) -> bool:
        buckets = self.window()
        values = np.array([value for bucket in buckets for value in bucket])
        n, variance = len(values), float(np.var(values))
        log_term = math.log(2.0 * math.log(n) / self.delta)
        n_old = 0
        for bucket in buckets[:-1]:
            n_old += len(bucket)
            if min(n_old, n - n_old) < self.shortest:
                continue
            m = 1.0 / (n_old - self.shortest + 1) + 1.0 / (n - n_old - self.shortest + 1)
            bound = math.sqrt(2.0 * m * variance * log_term) + 2.0 / 3.0 * log_term * m
            if abs(float(values[:n_old].mean() - values[n_old:].mean())) > bound:
                return True
        return False


class NaiveHDDMA:
    """Frías-Blanco et al. (2015), A-test: all values since the last restart, and the two cut points as counts."""

    def __init__(self, drift: float = 0.001) -> None:
        self.drift = drift
        self.values: list[float] = []
        self.low = self.high = 0

    def bound(self, n: int) -> float:
        return math.sqrt(math.log(1.0 / self.drift) / (2.0 * n))

    def exceeds(self, n_cut: int, sign: float) -> bool:
        n = len(self.values)
        if n == n_cut:
            return False
        gap = sign * (math.fsum(self.values) / n - math.fsum(self.values[:n_cut]) / n_cut)
        return gap >= math.sqrt((1.0 / n_cut - 1.0 / n) / 2.0 * math.log(2.0 / self.drift))

    def update(self, x: float) -> int:
        """1 for a rise, -1 for a fall, else 0; both start afresh."""
        self.values.append(x)
        n, mean = len(self.values), math.fsum(self.values) / len(self.values)
        low, high = self.low, self.high
        if low == 0 or math.fsum(self.values[:low]) / low + self.bound(low) >= mean + self.bound(n):
            self.low = n
        if high == 0 or math.fsum(self.values[:high]) / high - self.bound(high) <= mean - self.bound(n):
            self.high = n
        change = 1 if self.exceeds(self.low, 1.0) else -1 if self.exceeds(self.high, -1.0) else 0
        if change:
            self.values, self.low, self.high = [], 0, 0
        return change


def weighted(values: list[float], recent: float) -> tuple[float, float]:
    """Exponentially weighted mean that starts at the first value, and the sum of squares McDiarmid's bound takes."""
    n = len(values)
    weights = [recent * (1.0 - recent) ** (n - 1 - k) for k in range(n)]
    mean = math.fsum(w * v for w, v in zip(weights, values, strict=True)) + (1.0 - recent) ** n * values[0]
    # Behind the first value stands an imagined one that weighs (1 - recent)^n and counts with square 1 from the start.
    return mean, math.fsum(w * w for w in weights) + (1.0 - recent) ** (2 * n)


class NaiveHDDMW:
    """Frías-Blanco et al. (2015), W-test, one-sided: values before and behind the cut point with the lowest bound."""

    def __init__(self, drift: float = 0.001, recent: float = 0.05) -> None:
        self.drift, self.recent = drift, recent
        self.old: list[float] = []
        self.new: list[float] = []

    def bound(self, squares: float) -> float:
        return math.sqrt(squares * math.log(1.0 / self.drift) / 2.0)

    def update(self, x: float) -> int:
        """1 for a rise, else 0; a rise starts afresh."""
        everything = [*self.old, *self.new, x]
        mean, squares = weighted(everything, self.recent)
        if not self.old or mean + self.bound(squares) < self.lowest:
            self.lowest, self.old, self.new = mean + self.bound(squares), everything, []
        else:
            self.new.append(x)
        if not self.new:
            return 0
        (old_mean, old_squares), (new_mean, new_squares) = (weighted(v, self.recent) for v in (self.old, self.new))
        if new_mean - old_mean > self.bound(old_squares + new_squares):
            self.old, self.new = [], []
            return 1
        return 0
