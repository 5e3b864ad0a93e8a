"""LinearFit: least squares on the accepted columns, grown one group of columns at a time.

The fit is an orthonormal basis of the accepted columns (and the constant) and the current residual. Judging a candidate
costs O(rows x accepted); a fit never changes, growing makes a new one.

The gain of a candidate is the gain in log-likelihood, doubled: n log(RSS before / RSS after). Weights count rows: a row
of weight 2 is that row twice, and n is the sum of the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from streamsift.core.column_data import Floats, Target
from streamsift.core.limits import LARGEST
from streamsift.core.state import MOST_ROWS, Finite, Shape, Sizes, Within
from streamsift.kernels.columns import inner, orthonormal, padded

WELL_POSED = 1e-7  # share of a column's squares that must be left for a quick answer; below, it is computed with care
SMALLEST = 1e-280  # sums of squares below this have lost digits
PERFECT = 1e-20  # residual squares below this share of the target's are rounding: nothing is left to explain

Threshold = Callable[[int], float]  # degrees of freedom -> the gain that is needed


@dataclass(frozen=True)
class ExaminedColumn:
    """A column or group examined with care: its gain, what it costs in degrees of freedom, and how to grow by it."""

    gain: float
    df: int
    grow: Callable[[], Any] | None = None

    @classmethod
    def useless(cls) -> ExaminedColumn:
        return cls(0.0, 0)


class Fit(Protocol):
    """What selecting by a growing fit needs to know about the fit."""

    @property
    def probes(self) -> Floats: ...

    @property
    def square_weights(self) -> Floats | None: ...

    @property
    def df(self) -> int:
        """Degrees of freedom of one column."""
        ...

    @property
    def n_observations(self) -> float: ...

    @property
    def finished(self) -> bool:
        """Nothing can be gained any more: everything is explained, or as many columns are accepted as rows allow."""
        ...

    def screen(self, products: Floats, squares: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The gain of each column of a block, to about seven digits, and where that cannot be trusted."""
        ...

    def examine(self, columns: Floats, threshold: Threshold) -> ExaminedColumn:
        """The exact gain of a group of columns (rows of the argument)."""
        ...

    def tail_threshold(self, probability: Any, df: int) -> Any:
        """The gain that a useless candidate reaches with the given probability."""
        ...

    def tail_probability(self, gain: Any, df: int) -> Any:
        """The probability with which a useless candidate reaches a gain: its p-value."""
        ...


def room_for(n_observations: float) -> int:
    """How many columns may be accepted: two fewer than there are rows."""
    return max(round(n_observations) - 2, 0)


Weight = Annotated[Floats, Shape((0, "n_rows")), Within(0.0, LARGEST)]  # empty: all rows count the same
NObservations = Annotated[float, Within(5e-324, float(MOST_ROWS))]


def basis_problem(basis: Floats, weight: Floats, n_observations: float) -> str | None:
    """Whether vectors of a saved fit are longer than 1, or the weights do not add up to the observations."""
    lengths = np.einsum("ij,ij->i", basis, basis if not len(weight) else basis * weight)
    if not (lengths <= 1.0 + 1e-6).all():
        return "the basis holds vectors that are longer than 1"
    counted = float(weight.sum()) if len(weight) else float(basis.shape[1])
    return None if counted == n_observations else f"n_observations is {n_observations} instead of {counted}"


@dataclass
class LinearFit:
    """State: row 0 of `rows` is the residual, the others are the basis."""

    weight: Weight
    rows: Annotated[Floats, Shape("n_vectors", "n_rows"), Finite(LARGEST)]
    intercept: bool
    n_columns: Annotated[int, Within(0)]
    rss: Annotated[float, Within(0.0), Finite()]
    total: Annotated[float, Within(0.0), Finite()]  # the residual squares without any column
    n_observations: NObservations
    room: Annotated[int, Within(0)]  # columns that may still be accepted
    probes: Floats = field(init=False)
    square_weights: Floats | None = field(init=False)

    def problem(self, sizes: Sizes) -> str | None:
        if len(self.rows) < 2 or len(self.rows) != self.n_columns + 2:
            return f"rows holds {len(self.rows)} vectors for {self.n_columns} columns"
        return basis_problem(self.rows[1:], self.weight, self.n_observations)

    def __post_init__(self) -> None:
        weighted = len(self.weight) > 0
        self.probes = padded(self.rows * self.weight if weighted else self.rows)
        self.square_weights = padded(self.weight[None]) if weighted else None

    @property
    def df(self) -> int:
        return 1

    @property
    def finished(self) -> bool:
        return self.rss <= PERFECT * self.total or self.room == 0

    @classmethod
    def begin(cls, target: Target, weight: Floats, intercept: bool) -> Self:
        y = target.values
        n_rows = len(y)
        counted = float(weight.sum()) if len(weight) else float(n_rows)
        if intercept:
            for _ in range(2):
                y = y - (y.mean() if len(weight) == 0 else float(y @ weight) / counted)
            first = np.full(n_rows, 1.0 / np.sqrt(counted))
        else:
            first = np.zeros(n_rows)  # stands in the place of the constant, and adds nothing
        total = inner(y, y, weight)
        raw = inner(target.values, target.values, weight)
        if total <= PERFECT * raw:
            y, total = np.zeros(n_rows), 0.0
        return cls(weight, np.stack([y, first]), intercept, 0, total, total, counted, room_for(counted))

    def screen(self, products: Floats, squares: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        size = squares[0]
        if self.finished:
            return np.zeros(len(size)), np.zeros(len(size), bool)
        left = size - np.einsum("ij,ij->j", products[1:], products[1:])
        doubtful = ~((left > WELL_POSED * size) & (size > SMALLEST))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = products[0] ** 2 / (left * self.rss)
            doubtful |= ~(share < 1.0 - WELL_POSED)
            return -self.n_observations * np.log1p(-share), doubtful

    def examine(self, columns: Floats, threshold: Threshold) -> ExaminedColumn:
        if self.finished:
            return ExaminedColumn.useless()
        units = orthonormal(columns, self.rows[1:], self.weight, centre=self.intercept)
        if len(units) == 0 or len(units) > self.room:
            return ExaminedColumn.useless()
        residual = self.rows[0]
        explained = 0.0
        for unit in units:
            along = inner(unit, residual, self.weight)
            residual = residual - along * unit
            explained += along * along
        rss = inner(residual, residual, self.weight)
        if rss <= PERFECT * self.total:
            gain = np.inf
        elif explained < 0.5 * self.rss:
            gain = -self.n_observations * float(np.log1p(-explained / self.rss))
        else:
            gain = self.n_observations * float(np.log(self.rss / rss))
        return ExaminedColumn(gain, len(units), lambda: self._grown(units, residual, rss))

    def _grown(self, units: Floats, residual: Floats, rss: float) -> Self:
        return replace(
            self,
            rows=np.vstack([residual, self.rows[1:], units]),
            n_columns=self.n_columns + len(units),
            rss=rss,
            room=self.room - len(units),
        )

    # RSS after / RSS before of a useless group of columns follows a beta distribution: this is the exact F test.

    def tail_threshold(self, probability: Any, df: int) -> Any:
        return -self.n_observations * np.log(betaincinv(self._freedom(df) / 2, df / 2, probability))

    def tail_probability(self, gain: Any, df: int) -> Any:
        return betainc(self._freedom(df) / 2, df / 2, np.exp(-np.asarray(gain) / self.n_observations))

    def _freedom(self, df: int) -> float:
        return max(self.n_observations - self.intercept - self.n_columns - df, 1.0)
