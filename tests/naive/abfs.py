"""ABFS as its paper tells it (with the corrections the method's docstring names), one row and one feature at a time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any


def entropy(weights: Sequence[float]) -> float:
    total = math.fsum(weights)
    return -math.fsum(w / total * math.log2(w / total) for w in weights if w > 0.0)


def gini(weights: Sequence[float]) -> float:
    total = math.fsum(weights)
    return 1.0 - math.fsum((w / total) ** 2 for w in weights)


def merit(branches: list[dict[int, float]], impurity: Callable[[Sequence[float]], float]) -> float:
    """Impurity removed by a split, -inf if fewer than two branches hold more than 1 % of the weight."""
    sums = [math.fsum(branch.values()) for branch in branches]
    total = math.fsum(sums)
    if sum(s > 0.01 * total for s in sums) < 2:
        return -math.inf
    classes = {c for branch in branches for c in branch}
    before = impurity([math.fsum(branch.get(c, 0.0) for branch in branches) for c in classes])
    after = math.fsum(
        s / total * impurity(list(branch.values())) for s, branch in zip(sums, branches, strict=True) if s > 0.0
    )
    return before - after


def heaviest(branch: dict[int, float]) -> int | None:
    held = {c: w for c, w in branch.items() if w > 0.0}
    return min(held, key=lambda c: (-held[c], c)) if held else None


class Candidate:
    """All rows since the last restart, with their weights."""

    def __init__(self) -> None:
        self.rows: list[tuple[Sequence[float], int, float]] = []
        self.seen = self.tested = 0.0
        self.margins: dict[int, float] = {}  # numeric feature -> by how much its best cut is better than all others

    def categories(self, j: int) -> dict[float, dict[int, float]]:
        branches: dict[float, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for x, y, weight in self.rows:
            branches[x[j]][y] += weight
        return branches

    def halves(self, j: int, cut: float) -> list[dict[int, float]]:
        """Class weights at or below a cut and above it, each class taken as normal between its extremes."""
        below, above = {}, {}
        for c in {y for _, y, _ in self.rows}:
            values = [(x[j], weight) for x, y, weight in self.rows if y == c]
            total = math.fsum(w for _, w in values)
            mean = math.fsum(v * w for v, w in values) / total
            spread = math.fsum(w * (v - mean) ** 2 for v, w in values)
            if cut < min(v for v, _ in values):
                share = 0.0
            elif cut >= max(v for v, _ in values):
                share = 1.0
            elif total > 1.0 and spread > 0.0:
                share = 0.5 * (1.0 + math.erf((cut - mean) / math.sqrt(2.0 * spread / (total - 1.0))))
            else:
                share = float(cut >= mean)
            below[c], above[c] = share * total, (1.0 - share) * total
        return [below, above]

    def best_split(self, j: int, is_category: bool, impurity: Any) -> tuple[float, Callable[[float], int | None]]:
        if is_category:
            branches = self.categories(j)
            table = {value: heaviest(branch) for value, branch in branches.items()}
            return merit(list(branches.values()), impurity), table.get
        values = [x[j] for x, _, _ in self.rows]
        low, high = min(values), max(values)
        best, best_cut, found = -math.inf, math.nan, []
        for i in range(1, 11) if high - low > 1e-150 else ():
            cut = (high - low) / 11.0 * i + low
            if low < cut < high:
                found.append(merit(self.halves(j, cut), impurity))
                if found[-1] > best:
                    best, best_cut = found[-1], cut
        if best == -math.inf:
            return best, lambda value: None
        self.margins[j] = best - max([value for value in found if value != best], default=-math.inf)
        if found.count(best) > 1:
            self.margins[j] = 0.0
        left, right = (heaviest(branch) for branch in self.halves(j, best_cut))
        return best, lambda value: left if value <= best_cut else right


class Unit:
    def __init__(self, feature: int, merit: float, predict: Callable[[float], int | None], detector: Any) -> None:
        self.feature, self.merit, self.predict, self.detector = feature, merit, predict, detector
        self.correct = self.wrong = 0.0


class NaiveABFS:
    """`detector()` makes an object whose update(x) returns 1 when the error has risen."""

    def __init__(
        self,
        grace_period: float | None,  # None: a tenth of the rows before the last test or drift, between 50 and 500
        threshold: float,
        detector: Callable[[], Any],
        categorical: Sequence[bool],
        impurity: Callable[[Sequence[float]], float] = entropy,
        hoeffding: bool = False,
    ) -> None:
        self.grace_period, self.threshold, self.detector = grace_period, threshold, detector
        self.categorical, self.impurity, self.hoeffding = categorical, impurity, hoeffding
        self.units: list[Unit] = []
        self.candidate = Candidate()
        self.drifts: list[tuple[int, int, tuple[int, ...]]] = []
        self.n_rows = self.last_event = 0
        self.narrowest = math.inf  # the least by which a split was better than any other

    def learn(self, x: Sequence[float], y: int, weight: float = 1.0) -> None:
        self.n_rows += 1
        for place, unit in enumerate(self.units):
            is_right = unit.predict(x[unit.feature]) == y
            if is_right:
                unit.correct += weight
                weight *= (unit.correct + unit.wrong) / (2.0 * unit.correct)
            else:
                unit.wrong += weight
                weight *= (unit.correct + unit.wrong) / (2.0 * unit.wrong)
            if unit.detector.update(0.0 if is_right else 1.0) == 1:
                self.drifts.append((self.n_rows - 1, place, tuple(u.feature for u in self.units[place:])))
                del self.units[place:]
                self.candidate = Candidate()
                self.last_event = self.n_rows
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
            j: self.candidate.best_split(j, self.categorical[j], self.impurity)
            for j in range(len(self.categorical))
            if j not in taken
        }
        if not splits:
            return
        best = max(splits, key=lambda j: (splits[j][0], -j))
        found, predict = splits[best]
        others = [value for j, (value, _) in splits.items() if j != best and value > -math.inf]
        self.narrowest = min(self.narrowest, *(found - value for value in others), math.inf)
        if found > -math.inf:
            self.narrowest = min(self.narrowest, self.candidate.margins.get(best, math.inf))
        if not found > self.hurdle() or (self.hoeffding and not self.is_certain(splits, best)):
            return
        self.units.append(Unit(best, found, predict, self.detector()))
        self.candidate = Candidate()

    def hurdle(self) -> float:
        if self.grace_period is not None:
            return self.threshold
        chance = 2.0 * math.log(len(self.categorical)) / self.candidate.seen
        return max(self.threshold, chance / math.log(2.0) if self.impurity is entropy else chance)

    def is_certain(self, splits: dict[int, Any], best: int) -> bool:
        second = max([0.0, *(value for j, (value, _) in splits.items() if j != best)])
        n_classes = len({y for _, y, _ in self.candidate.rows})
        reach = math.log2(max(2, n_classes)) if self.impurity is entropy else 1.0
        epsilon = math.sqrt(reach**2 * math.log(1e7) / (2.0 * self.candidate.seen))
        return splits[best][0] - second > epsilon or epsilon < 0.05
