"""ABFS for numbers, one row and one feature at a time, from all rows kept: see the docstring of the method."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any


def bin_width(values: Sequence[float], n_bins: int = 64) -> float:
    """The least power of 2 for which the values lie in n_bins bins, no finer than the first value is itself."""
    first = values[0]
    exponent = -520 if first == 0.0 else max(math.frexp(first)[1] - 53, -520)
    while math.floor(max(values) / 2.0**exponent) - math.floor(min(values) / 2.0**exponent) >= n_bins:
        exponent += 1
    return 2.0**exponent


class Branches:
    """The rows of each branch of a split: a branch predicts their mean, and goes on learning."""

    def __init__(
        self, rows: dict[Any, list[tuple[float, float]]], usual: float, branch: Callable[[float], Any]
    ) -> None:
        self.rows, self.usual, self.branch = rows, usual, branch

    def predict(self, value: float) -> float:
        rows = self.rows.get(self.branch(value), [])
        return math.fsum(y * w for y, w in rows) / math.fsum(w for _, w in rows) if rows else self.usual

    def learn(self, value: float, y: float, weight: float) -> None:
        self.rows.setdefault(self.branch(value), []).append((y, weight))


class NumberCandidate:
    """All rows since the last restart, with what is left of their target and their weights."""

    def __init__(self) -> None:
        self.rows: list[tuple[Sequence[float], float, float]] = []
        self.seen = self.tested = 0.0

    def mean(self, keep: Callable[[Sequence[float]], bool]) -> float | None:
        kept = [(y, w) for x, y, w in self.rows if keep(x)]
        return math.fsum(y * w for y, w in kept) / math.fsum(w for _, w in kept) if kept else None

    def spread(self) -> float:
        centre = self.mean(lambda x: True)
        return math.fsum(w * (y - centre) ** 2 for _, y, w in self.rows)

    def removed(self, branches: list[Callable[[Sequence[float]], bool]]) -> float:
        """The share of the variance that is between branches; -inf if only one has more than 1 % of the weight."""
        weights = [math.fsum(w for x, _, w in self.rows if keep(x)) for keep in branches]
        if sum(w > 0.01 * self.seen for w in weights) < 2 or self.spread() <= 0.0:
            return -math.inf
        centre = self.mean(lambda x: True)
        means = [self.mean(keep) for keep in branches]
        return math.fsum(w * (m - centre) ** 2 for w, m in zip(weights, means, strict=True)) / self.spread()

    def best_split(self, j: int, is_category: bool) -> tuple[float, Branches | None, float]:
        """Merit, branches, and by how much the best cut is better than all others."""
        usual = self.mean(lambda x: True)
        values = [x[j] for x, _, _ in self.rows]
        if is_category:
            codes = sorted(set(values))
            merit = self.removed([lambda x, c=c: x[j] == c for c in codes])
            rows = {c: [(y, w) for x, y, w in self.rows if x[j] == c] for c in codes}
            return merit, Branches(rows, usual, lambda value: value), math.inf
        width = bin_width(values)
        ends = [(math.floor(min(values) / width) + k) * width for k in range(1, 65)]
        found = {
            cut: self.removed([lambda x, c=cut: x[j] < c, lambda x, c=cut: x[j] >= c])
            for cut in ends
            if min(values) < cut <= max(values)
        }
        if not found or max(found.values()) == -math.inf:
            return -math.inf, None, math.inf
        best = max(found, key=lambda cut: (found[cut], -cut))
        rows = {side: [(y, w) for x, y, w in self.rows if (x[j] < best) == side] for side in (True, False)}
        rivals = [value for cut, value in found.items() if cut != best and self.side(j, cut) != self.side(j, best)]
        margin = found[best] - max(rivals, default=-math.inf)
        return found[best], Branches(rows, usual, lambda value: value < best), margin

    def side(self, j: int, cut: float) -> list[bool]:
        return [x[j] < cut for x, _, _ in self.rows]


class NumberUnit:
    def __init__(self, feature: int, merit: float, branches: Branches, reach: float, detector: Any) -> None:
        self.feature, self.merit, self.branches, self.reach, self.detector = feature, merit, branches, reach, detector
        self.correct = self.wrong = 0.0


class NaiveNumberABFS:
    """`detector()` makes an object whose update(x) returns 1 when the error has risen."""

    def __init__(
        self,
        grace_period: float | None,
        threshold: float,
        detector: Callable[[], Any],
        categorical: Sequence[bool],
        hoeffding: bool = False,
    ) -> None:
        self.grace_period, self.threshold, self.detector = grace_period, threshold, detector
        self.categorical, self.hoeffding = categorical, hoeffding
        self.units: list[NumberUnit] = []
        self.candidate = NumberCandidate()
        self.drifts: list[tuple[int, int, tuple[int, ...]]] = []
        self.n_rows = self.last_event = 0
        self.narrowest = math.inf  # the least by which a split was better than any other

    def learn(self, x: Sequence[float], y: float, weight: float = 1.0) -> None:
        self.n_rows += 1
        for place, unit in enumerate(self.units):
            value, target = x[unit.feature], y
            y -= unit.branches.predict(value)
            unit.branches.learn(value, target, weight)
            error = min(abs(y) / unit.reach, 1.0) if unit.reach > 0.0 else float(y != 0.0)
            unit.correct += weight * (1.0 - error)
            unit.wrong += weight * error
            if unit.detector.update(error) == 1:
                self.drifts.append((self.n_rows - 1, place, tuple(u.feature for u in self.units[place:])))
                del self.units[place:]
                self.candidate, self.last_event = NumberCandidate(), self.n_rows
                return
        self.candidate.rows.append((x, y, weight))
        self.candidate.seen += weight
        period = min(max(self.last_event / 10, 50), 500) if self.grace_period is None else self.grace_period
        if self.candidate.seen - self.candidate.tested >= period:
            self.candidate.tested, self.last_event = self.candidate.seen, self.n_rows
            self.test()

    def test(self) -> None:
        taken = {unit.feature for unit in self.units}
        splits = {
            j: self.candidate.best_split(j, is_category)
            for j, is_category in enumerate(self.categorical)
            if j not in taken
        }
        if not splits:
            return
        best = max(splits, key=lambda j: (splits[j][0], -j))
        merit, branches, margin = splits[best]
        others = [split[0] for j, split in splits.items() if j != best and split[0] > -math.inf]
        self.narrowest = min(self.narrowest, *(merit - value for value in others), margin, math.inf)
        hurdle = self.threshold
        if self.grace_period is None:
            hurdle = max(hurdle, 4.0 * math.log(10 * len(self.categorical)) / self.candidate.seen)
        if not merit > hurdle:
            return
        epsilon = math.sqrt(math.log(1e7) / (2.0 * self.candidate.seen))
        ratio = max([0.0, *others]) / merit
        if self.hoeffding and not (ratio < 1.0 - epsilon or epsilon < 0.05):
            return
        reach = 3.0 * math.sqrt(self.candidate.spread() / self.candidate.seen * max(1.0 - merit, 0.0))
        self.units.append(NumberUnit(best, merit, branches, reach, self.detector()))
        self.candidate = NumberCandidate()
