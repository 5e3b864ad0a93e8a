"""Correlated: the worked example of a column selector, complete in one short file.

A column is accepted when its correlation with the target reaches a level and no member is a copy of it. Time per
column: O(rows x members). Memory: rows x members.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.column_data import Floats, Target
from streamsift.core.columns import ColumnSelector
from streamsift.core.constraints import Limits, Real
from streamsift.core.selection import Decision

COPY = 0.999


@dataclass
class UnitColumns:
    """The target and the members, centred and of length 1, one per row."""

    target: NDArray[np.float64]
    members: NDArray[np.float64]


class Correlated(ColumnSelector):
    """Accept a column by its correlation with the target.

    Parameters
    ----------
    level : float, default=0.4
        The smallest correlation, without its sign, of an accepted column.

    Examples
    --------
    >>> Correlated().fit([[0.0, 5.0], [9.0, 5.0], [1.0, 5.0]], ["a", "b", "a"]).selected_
    ['x0']
    """

    parameter_limits: ClassVar[Limits] = {"level": (Real(0, 1, closed="neither"),)}
    state_type = UnitColumns

    def __init__(self, level: float = 0.4) -> None:
        self.level = level

    def _begin(self, target: Target, weight: Floats) -> UnitColumns:
        return UnitColumns(unit(target.values), np.empty((0, target.n_rows)))

    def _decide_one(self, state: UnitColumns, column: Floats, name: str, categorical: bool) -> Decision:
        candidate = unit(column)
        strength = float(abs(candidate @ state.target))
        accepted = strength >= self.level and not (np.abs(state.members @ candidate) > COPY).any()
        if accepted:
            state.members = np.vstack([state.members, candidate])
        return Decision(name, accepted, statistic=strength, threshold=float(self.level))


def unit(column: Floats) -> Floats:
    """The column centred and of length 1; zeros where it is constant."""
    centred = column - column.mean()
    length = float(np.linalg.norm(centred))
    rounding = 1e-12 * np.sqrt(len(column)) * np.abs(column).max()
    return centred / length if length > rounding else np.zeros(len(column))
