"""Timetable: which concept holds in which row of a generated stream, and where one gives way to the next.

An abrupt drift at row p: rows before p follow the old concept, p and later rows the new one. A gradual drift of width
w: in the w rows around p a row follows the new concept with the probability 1 / (1 + exp(-4 (row - p) / w)), the
sigmoid of MOA; outside of them only one concept occurs. (MOA lets the tails of the sigmoid run on, with 12 % of the
rows of the other concept at the edge of the region that it calls drifting; here the region is exact.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import ArrayLike, Integer, IsNone, OneOf, check_parameters
from streamsift.core.exceptions import ParameterError

USUAL_WIDTH = 10_000


@dataclass(frozen=True)
class Drift:
    """One drift: from `row` on the new concept is the likelier one; it is under way in the rows `first` to `last`."""

    row: int
    first: int
    last: int


@dataclass(frozen=True)
class Timetable:
    """The drifts of a stream in order; `width` 1 means that they are abrupt."""

    drifts: tuple[Drift, ...]
    width: int

    @classmethod
    def of(
        cls,
        owner: str,
        n_rows: int,
        kind: str | None,
        n_drifts: int,
        positions: Sequence[int] | None,
        width: int | None,
    ) -> Timetable:
        """Plan the drifts of a stream of `n_rows`; `owner` names the generator in errors.

        Positions None: equal parts. Width None: 10,000 rows, and at most half the distance of two drifts.
        """
        values = {"drift": kind, "n_drifts": n_drifts, "positions": positions, "width": width}
        limits = {
            "drift": (OneOf("abrupt", "gradual"), IsNone()),
            "n_drifts": (Integer(1, None if kind is None else max(1, n_rows - 1)),),
            "positions": (ArrayLike(), IsNone()),
            "width": (Integer(1), IsNone()),
        }
        check_parameters(owner, values, limits)
        if kind is None:
            return cls((), 1)
        if positions is None:
            positions = [n_rows * part // (n_drifts + 1) for part in range(1, n_drifts + 1)]
        gaps = np.diff(np.array([0, *positions, n_rows]))
        if len(positions) == 0 or (gaps < 1).any():
            raise ParameterError(
                f"The 'positions' parameter of {owner} must be increasing row numbers between 1 and {n_rows - 1}. "
                f"Got {list(positions)!r} instead."
            )
        if kind == "abrupt":
            return cls(tuple(Drift(int(row), int(row), int(row)) for row in positions), 1)
        if width is None:
            width = max(1, min(USUAL_WIDTH, int(gaps.min()) // 2))
        if (gaps[1:-1] < width).any():
            raise ParameterError(
                f"The 'width' parameter of {owner} must be at most the distance of two drifts, "
                f"{int(gaps[1:-1].min())} rows. Got {width} instead."
            )
        before = width // 2
        return cls(
            tuple(
                Drift(int(row), max(int(row) - before, 0), min(int(row) - before + width, n_rows) - 1)
                for row in positions
            ),
            width,
        )

    def draw(self, rng: np.random.Generator, first: int, n_rows: int) -> NDArray[np.intp]:
        """The number of the concept that each of the rows first, first + 1, ... follows."""
        chance = rng.random(n_rows)  # drawn in any case, so that a drift elsewhere changes nothing here
        rows = np.arange(first, first + n_rows)
        concepts = np.zeros(n_rows, np.intp)
        for drift in self.drifts:
            if self.width == 1:
                concepts += rows >= drift.row
                continue
            exponent = np.clip(-4.0 * (rows - drift.row) / self.width, -50.0, 50.0)
            arrived = chance < 1.0 / (1.0 + np.exp(exponent))
            concepts += (rows > drift.last) | ((rows >= drift.first) & arrived)
        return concepts

    def likelier(self, row: int) -> int:
        """The number of the concept that a row most likely follows."""
        return sum(row >= drift.row for drift in self.drifts)

    def under_way(self, first: int, last: int) -> bool:
        """Whether a drift is under way in one of the rows first to last."""
        return any(drift.first <= last and first <= drift.last for drift in self.drifts)
