"""Neighbourhood rough sets: how far a set of columns determines the class, and which of them are needed for it.

The dependency of the class on some columns is the mean, over all rows, of the share of the row's own class among its
neighbours. Distance is Euclidean over standardised columns; who is a neighbour is decided row by row (see `belongs` in
kernels/neighbourhood.py). The published programs take the first of several identical rows for the row itself; here no
row is its own neighbour, whatever rows look alike.

Squared distances between the members are kept, so that a newcomer costs one more term, as long as they take no more
than 64 MiB; for more rows they are summed anew. Time for a column O(rows^2), with many rows O(rows^2 x members).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from streamsift.core.column_data import ColumnBlock, Floats
from streamsift.core.selection import Decisions
from streamsift.kernels.neighbourhood import add_squares, dependency, line_dependency

MOST_KEPT = 1 << 23  # distances; 64 MiB
_NONE = np.empty((0, 0))


@dataclass
class NeighbourhoodState:
    """Members as standardised columns, one a row, with the dependency of the class on each alone and on all of them.

    `hurdle` is the dependency on it alone that a column must show to be considered.
    """

    classes: NDArray[np.int64]
    columns: Floats
    alone: Floats
    together: float
    hurdle: float
    squares: Floats = field(init=False, default_factory=lambda: _NONE)  # made from `columns` where it pays

    @classmethod
    def begin(cls, classes: Floats) -> NeighbourhoodState:
        return cls(classes.astype(np.int64), np.empty((0, len(classes))), np.empty(0), 0.0, 0.0)


@dataclass(frozen=True)
class Verdict:
    """What a rule says of a newcomer: which members stay, whether it joins, and the comparison that decided.

    `together` and `hurdle` are those of the state afterwards.
    """

    kept: NDArray[np.bool_]
    accepted: bool
    together: float
    hurdle: float
    statistic: float
    threshold: float


class Neighbours:
    """Dependencies of the class on the members, with and without a newcomer."""

    def __init__(self, state: NeighbourhoodState, by_density: bool) -> None:
        self.by_density, self.state = by_density, replace(state)
        self.state.squares = state.squares if len(state.squares) else self._squares(state.columns)

    def of(self, newcomer: Floats) -> float:
        """The dependency on one column."""
        order = np.argsort(newcomer, kind="stable")
        return line_dependency(newcomer[order], order, self.state.classes, self.by_density)

    def of_all(self, newcomer: Floats) -> float:
        """The dependency on all members and the newcomer."""
        columns = newcomer[None] if len(self.state.squares) else np.vstack([self.state.columns, newcomer])
        return dependency(self.state.squares, columns, self.state.classes, self.by_density, 0.0)

    def needed(
        self, newcomer: Floats, together: float, unneeded: Callable[[float, float], bool]
    ) -> tuple[NDArray[np.bool_], float]:
        """Leave out one member after the other, in their order, where `unneeded(with it, without it)`.

        A dependency without a member that is smaller than with it may be given too small.

        Gives which members stay, and the dependency on them and the newcomer.
        """
        columns = np.vstack([self.state.columns, newcomer])
        kept = np.ones(len(columns), bool)
        before = self._squares(columns[:0])  # distances over the members that were found needed
        for k in range(len(columns) - 1):
            later = columns[k + 1 :] if len(before) else columns[np.flatnonzero(kept & (np.arange(len(kept)) != k))]
            without = dependency(before, later, self.state.classes, self.by_density, together)
            if unneeded(together, without):
                kept[k], together = False, without
            elif len(before):
                add_squares(before, columns[k])
        return kept[:-1], together

    def take(self, verdict: Verdict, newcomer: Floats, alone: float) -> None:
        """Let members go and the newcomer in."""
        state = self.state
        state.together, state.hurdle = verdict.together, verdict.hurdle
        if not verdict.kept.all():
            state.columns, state.alone = state.columns[verdict.kept], state.alone[verdict.kept]
            state.squares = self._squares(state.columns)
        if verdict.accepted:
            state.columns = np.vstack([state.columns, newcomer])
            state.alone = np.append(state.alone, alone)
            if len(state.squares):
                state.squares = state.squares.copy()
                add_squares(state.squares, newcomer)

    def _squares(self, columns: Floats) -> Floats:
        n = columns.shape[1]
        if n * n > MOST_KEPT:
            return _NONE
        squares = np.zeros((n, n))
        for column in columns:
            add_squares(squares, column)
        return squares


Rule = Callable[[Neighbours, Floats, float], Verdict]


def decide_block(
    state: NeighbourhoodState, block: ColumnBlock, names: Sequence[str], by_density: bool, rule: Rule
) -> Decisions:
    """The decisions on a block; the state changes when all of them are made. `names` are those of the members."""
    neighbours, members = Neighbours(state, by_density), list(names)
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
