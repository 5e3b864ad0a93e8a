"""Neighbourhood rough sets: how far a set of columns determines the class, and which of them are needed for it.

The dependency of the class on some columns is the mean, over all rows, of the share of the row's own class among its
neighbours. Distance is Euclidean over standardised columns; who is a neighbour is decided row by row (see `belongs` in
kernels/neighbourhood.py). The published programs take the first of several identical rows for the row itself; here no
row is its own neighbour, whatever rows look alike.

Squared distances between the selected columns are kept, so that a newcomer costs one more term and leaving out a
selected column one less, as long as they take no more than 64 MiB; for more rows they are summed anew. Time for a
column O(rows^2), with many rows O(rows^2 x selected).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.column_data import ColumnBlock, Floats, Target
from streamsift.core.interrupts import check
from streamsift.core.selection import Decisions
from streamsift.core.state import Finite, Shape, Within
from streamsift.kernels.neighbourhood import ROUNDING, add_column, add_purities, line_purities

MOST_KEPT = 1 << 23  # numbers, two per distance; 64 MiB
SLICE = 1 << 22  # distances, one term each, that a kernel takes at first without a look at Ctrl-C
SECONDS = 0.1  # that it may take
_NONE = np.empty((2, 0, 0))


@dataclass
class NeighbourhoodState:
    """The selected columns, standardised, one per row, and the dependency of the class on each alone and on all.

    `hurdle` is the dependency on it alone that a column must show to be considered.
    """

    classes: Annotated[NDArray[np.int64], Shape("n_rows"), Within(0, "n_classes - 1")]
    columns: Annotated[Floats, Shape("n_members", "n_rows"), Finite(1e10)]
    alone: Annotated[Floats, Shape("n_members"), Within(0.0, 1.0)]
    together: Annotated[float, Within(0.0, 1.0)]
    hurdle: Annotated[float, Within(0.0, 1.0)]
    squares: Floats = field(init=False, default_factory=lambda: _NONE)  # high and low, from `columns`, where it pays
    most_kept: int = field(init=False, default=MOST_KEPT)  # numbers that `squares` may take
    at_once: int = field(init=False, default_factory=lambda: SLICE)  # distances before the first look at Ctrl-C

    @classmethod
    def begin(cls, classes: Floats) -> NeighbourhoodState:
        return cls(classes.astype(np.int64), np.empty((0, len(classes))), np.empty(0), 0.0, 0.0)


@dataclass(frozen=True)
class NeighbourhoodVerdict:
    """What a rule says of a newcomer: which selected columns stay, whether it joins, and the comparison that decided.

    `together` and `hurdle` are those of the state afterwards.
    """

    kept: NDArray[np.bool_]
    accepted: bool
    together: float
    hurdle: float
    statistic: float
    threshold: float


def _settled(dependency: float) -> float:
    """A mean of fractions without the digits that the order of summation decides: ties count."""
    return round(dependency, 12)


class Dependencies:
    """Dependencies of the class on the selected columns, with and without a newcomer."""

    def __init__(self, state: NeighbourhoodState, by_density: bool) -> None:
        self.by_density, self.state = by_density, replace(state)
        self.most_kept, self.at_once = state.most_kept, state.at_once
        self.state.squares = state.squares if state.squares.size else self._squares(state.columns)

    def of(self, newcomer: Floats) -> float:
        """The dependency on one column."""
        order = np.argsort(newcomer, kind="stable")
        values, shares = newcomer[order], np.empty(len(newcomer))
        for ranks in _slices(len(newcomer), 1, self.at_once):
            line_purities(values, order, self.state.classes, self.by_density, ranks, shares)
        return _settled(float(np.cumsum(shares)[-1]) / len(shares))  # in this order, as a loop would

    def of_all(self, newcomer: Floats) -> float:
        """The dependency on all selected columns and the newcomer."""
        kept = self.state.squares
        columns = newcomer[None] if kept.size else np.vstack([self.state.columns, newcomer])
        return _settled(self._dependency(kept, columns, 1.0, 0.0))

    def needed(
        self, newcomer: Floats, together: float, unneeded: Callable[[float, float], bool]
    ) -> tuple[NDArray[np.bool_], float]:
        """Leave out one selected column after the other, in their order, where `unneeded(with it, without it)`.

        A dependency without a selected column that is smaller than with it may be given too small.

        Gives which selected columns stay, and the dependency on them and the newcomer.
        """
        columns = np.vstack([self.state.columns, newcomer])
        kept = np.ones(len(columns), bool)
        squares = self.state.squares.copy()
        if squares.size:
            add_column(squares, newcomer, 1.0)
        for k in range(len(columns) - 1):
            kept[k] = False
            changed, sign = (columns[k : k + 1], -1.0) if squares.size else (columns[kept], 1.0)
            without = _settled(self._dependency(squares, changed, sign, together))
            if not unneeded(together, without):
                kept[k] = True
                continue
            together = without
            if squares.size:
                add_column(squares, columns[k], -1.0)
        return kept[:-1], together

    def _dependency(self, squares: Floats, columns: Floats, sign: float, least: float) -> float:
        """The mean purity; ends early, with a smaller answer, once `least` cannot be reached any more."""
        classes, total = self.state.classes, 0.0
        n = len(classes)
        for rows in _slices(n, 1 + len(columns), self.at_once):
            total = add_purities(squares, columns, sign, classes, self.by_density, least, rows, total)
            if total + (n - rows[1]) < least * n - ROUNDING:
                break
        return total / n

    def take(self, verdict: NeighbourhoodVerdict, newcomer: Floats, alone: float) -> None:
        """Let selected columns go and the newcomer in."""
        state = self.state
        state.together, state.hurdle = verdict.together, verdict.hurdle
        if not verdict.kept.all():
            state.columns, state.alone = state.columns[verdict.kept], state.alone[verdict.kept]
            state.squares = self._squares(state.columns)
        if verdict.accepted:
            state.columns = np.vstack([state.columns, newcomer])
            state.alone = np.append(state.alone, alone)
            if state.squares.size:
                state.squares = state.squares.copy()
                add_column(state.squares, newcomer, 1.0)

    def _squares(self, columns: Floats) -> Floats:
        n = columns.shape[1]
        if 2 * n * n > self.most_kept:
            return _NONE
        squares = np.zeros((2, n, n))
        for column in columns:
            add_column(squares, column, 1.0)
        return squares


def _slices(n_rows: int, n_terms: int, at_once: int) -> Iterator[tuple[int, int]]:
    """The rows, each of which is compared with all, in slices (first, stop); Ctrl-C ends between two of them.

    How often a row is compared depends on the data, so a slice is as long as the time of the last one allows.
    """
    length, first = max(at_once // (n_rows * n_terms), 1), 0
    while first < n_rows:
        check()
        began, stop = perf_counter(), min(first + length, n_rows)
        yield first, stop
        took, first = perf_counter() - began, stop
        length = 2 * length if took < SECONDS / 2 else max(length // 2, 1) if took > 2 * SECONDS else length


Rule = Callable[[Dependencies, Floats, float], NeighbourhoodVerdict]


def decide_block(
    state: NeighbourhoodState, block: ColumnBlock, names: Sequence[str], by_density: bool, rule: Rule
) -> Decisions:
    """The decisions on a block; the state changes when all are made. `names` are those of the selected columns."""
    neighbours, members = Dependencies(state, by_density), list(names)
    count = block.n_columns
    accepted, statistic, threshold = np.zeros(count, bool), np.zeros(count), np.zeros(count)
    dropped: list[tuple[str, ...]] = [()] * count
    for place in range(count):
        newcomer = standardised(block.column(place))
        if newcomer is None:
            threshold[place] = neighbours.state.hurdle
            continue
        alone = neighbours.of(newcomer)
        verdict = rule(neighbours, newcomer, alone)
        accepted[place] = verdict.accepted
        statistic[place], threshold[place] = verdict.statistic, verdict.threshold
        dropped[place] = tuple(members[k] for k in np.flatnonzero(~verdict.kept))
        members = [name for name, kept in zip(members, verdict.kept, strict=True) if kept]
        if verdict.accepted:
            members.append(block.names[place])
        if verdict.accepted or dropped[place]:
            neighbours.take(verdict, newcomer, alone)
    grown = neighbours.state
    # Nothing has failed: from here on the state changes.
    state.columns, state.alone, state.squares = grown.columns, grown.alone, grown.squares
    state.together, state.hurdle = grown.together, grown.hurdle
    return Decisions(block.names, accepted, statistic, threshold, dropped=dropped if any(dropped) else ())


def standardised(column: Floats) -> Floats | None:
    """The column with variance 1; None where it is constant.

    >>> standardised(np.array([10.0, 20.0, 30.0]))
    array([-1.,  0.,  1.])
    """
    low = column.min()
    spread = column.max() - low
    if not spread > 0.0:
        return None
    unit = (column - low) / spread  # first to [0, 1]: neither huge nor denormal values overflow
    unit -= unit.sum() / len(unit)
    result: Floats = unit / np.sqrt(unit @ unit / (len(unit) - 1))
    return result


def begin_with(selector: Any, target: Target, weight: Floats) -> NeighbourhoodState:
    """`_begin` of a selector by neighbourhoods."""
    return NeighbourhoodState.begin(target.values)


def decide_with(selector: Any, state: NeighbourhoodState, block: ColumnBlock) -> Decisions:
    """`_decide` of a selector that says `by_density` and has a `_rule`."""
    return decide_block(state, block, selector._members.names.tolist(), selector.by_density, selector._rule)
