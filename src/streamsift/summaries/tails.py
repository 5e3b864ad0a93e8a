"""Tails: how heavy the tails of columns are, by the kurtosis of each over the rows that have it.

A test of correlation goes wrong where a few rows carry most of the spread of a feature *and* of the target
(rows/p_values.py); the kurtosis of both tells by how much. Of each column: weight, mean, centred square, skewness and
kurtosis (of the normal distribution 3). Two parts a and b, with weights p in shares of both together, become one whose
spread is the unit for the spreads s and the distances c of their means from the common mean:

    1        = sum p (s^2 + c^2)
    skewness = sum p (skewness s^3 + 3 s^2 c + c^3)
    kurtosis = sum p (kurtosis s^4 + 4 skewness s^3 c + 6 s^2 c^2 + c^4)

so any cut into batches gives the same up to rounding, merging is exact, and no fourth power of a value is ever formed.
Weights are those of the present: with every batch all that came before fades. Memory: 40 bytes per column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.limits import LARGEST
from streamsift.core.state import Finite, Shape, Sizes, Within
from streamsift.kernels import tails as kernels

Floats = NDArray[np.float64]

NORMAL = 3.0  # the kurtosis of the normal distribution
BY_CHANCE = 1.5  # standard deviations of the kurtosis of normal numbers that count as none
TINY = 1e-300  # powers of tiny weights lose their digits below it
MOST = 1e100  # a kurtosis that only rows of next to no weight can have
_ARRAYS = ("weight", "mean", "square", "skewness", "kurtosis")


@dataclass
class Tails:
    """Tails of n columns; `total`, `squares` and `fourths` are sums of the weights of all rows and of their powers.

    A state without columns stands for rows of which nothing is known, as in a file that an older release wrote.
    """

    weight: Annotated[Floats, Shape("n_tails"), Within(0.0), Finite()]
    mean: Annotated[Floats, Shape("n_tails"), Finite(LARGEST)]
    square: Annotated[Floats, Shape("n_tails"), Within(0.0), Finite()]
    skewness: Annotated[Floats, Shape("n_tails"), Finite(MOST)]
    kurtosis: Annotated[Floats, Shape("n_tails"), Within(0.0), Finite(MOST)]
    total: Annotated[float, Within(0.0), Finite()]
    squares: Annotated[float, Within(0.0), Finite()]
    fourths: Annotated[float, Within(0.0), Finite()]

    def problem(self, sizes: Sizes) -> str | None:
        if (self.weight > self.total * (1.0 + 1e-6)).any():
            return "a column has more weight than all rows"
        if self.total * self.total > self.squares * sizes["n_rows_seen"] * (1.0 + 1e-6) + TINY:
            return "total and squares are not those of so few rows"
        if self.fourths > self.squares * self.squares * (1.0 + 1e-6) + TINY:
            return "fourths is larger than squares allows"
        return None

    @classmethod
    def empty(cls, n_columns: int = 0) -> Self:
        a, b, c, d, e = np.zeros((5, n_columns))
        return cls(a, b, c, d, e, 0.0, 0.0, 0.0)

    @property
    def n_columns(self) -> int:
        return len(self.weight)

    def learn(self, X: Any, weights: Floats, decay: float, zero: NDArray[np.bool_] | None = None) -> None:
        """Add a batch (array or CSR, NaN where missing) whose rows weigh so much; all before fades by `decay` first.

        Columns beyond those known are new: they were missing so far, or 0 where `zero`, which is of these, says so.
        """
        self.fade(decay)
        self._make_room(X.shape[1], zero)
        self.total += float(weights.sum())
        self.squares += float(weights @ weights)
        self.fourths += float(weights**2 @ weights**2)
        found = np.empty((5, X.shape[1]))
        if isinstance(X, np.ndarray):
            kernels.dense_tails(X, weights, found)
        else:
            kernels.sparse_tails(X.data, X.indices, X.indptr, weights, float(weights.sum()), found)
        self._add(*found)

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        if factor == 1.0:
            return
        self.weight, self.square = self.weight * factor, self.square * factor
        self.total, self.squares, self.fourths = (
            self.total * factor,
            self.squares * factor**2,
            self.fourths * factor**4,
        )

    def _make_room(self, n_columns: int, zero: NDArray[np.bool_] | None) -> None:
        more = n_columns - self.n_columns
        if more <= 0:
            return
        for name in _ARRAYS:
            setattr(self, name, np.pad(getattr(self, name), (0, more)))
        if zero is not None:
            self.weight[n_columns - min(len(zero), more) :] = self.total * zero[-more:]

    def _add(self, weight: Floats, mean: Floats, square: Floats, skewness: Floats, kurtosis: Floats) -> None:
        """The formulas of the module docstring."""
        total = self.weight + weight
        some = np.where(total > 0.0, total, 1.0)
        shares = self.weight / some, weight / some
        before = np.where(self.weight > 0.0, self.mean, mean)
        apart = np.where(weight > 0.0, mean - before, 0.0)
        squares = self.square + square + self.weight * shares[1] * apart * apart
        unit = np.sqrt(squares / some)
        inverse = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0.0)
        third, fourth = np.zeros_like(total), np.zeros_like(total)
        distances = -shares[1] * apart * inverse, shares[0] * apart * inverse
        parts = (self.weight, self.square, self.skewness, self.kurtosis), (weight, square, skewness, kurtosis)
        with np.errstate(over="ignore", invalid="ignore"):
            for p, c, (w, sq, g, k) in zip(shares, distances, parts, strict=True):
                s = np.sqrt(np.divide(sq, w, out=np.zeros_like(w), where=w > 0.0)) * inverse
                third += p * (g * s**3 + 3.0 * s**2 * c + c**3)
                fourth += p * (k * s**4 + 4.0 * g * s**3 * c + 6.0 * s**2 * c**2 + c**4)
        self.weight, self.mean, self.square = total, before + apart * shares[1], squares
        self.skewness = np.clip(np.nan_to_num(third), -MOST, MOST)
        self.kurtosis = np.clip(np.nan_to_num(fourth), 0.0, MOST)

    def copy(self) -> Self:
        """Another one, which learns by itself."""
        return replace(self)  # arrays are replaced, never changed

    def placed(self, places: NDArray[np.int64], n_columns: int) -> Self:
        """A copy whose column j has moved to places[j], of so many; every row had the others as 0."""
        found = type(self).empty(n_columns)
        found.weight[:] = self.total
        for name in _ARRAYS:
            getattr(found, name)[places[: self.n_columns]] = getattr(self, name)
        found.total, found.squares, found.fourths = self.total, self.squares, self.fourths
        return found

    def merge(self, other: Self) -> None:
        """Add the rows of another with the same columns; both count as equally recent."""
        self._make_room(other.n_columns, None)
        theirs = other.copy()
        theirs._make_room(self.n_columns, None)
        self._add(*(getattr(theirs, name) for name in _ARRAYS))
        self.total += other.total
        self.squares += other.squares
        self.fourths += other.fourths

    # -- answers ------------------------------------------------------------------------------------------------

    def excess(self, n_columns: int, *, of_all: bool = True) -> Floats:
        """By how much the kurtosis of each column is above the normal one; 0 where so few rows may give that by chance.

        With `of_all` over all rows, where a missing value counts as the mean; else over those that have a value.
        """
        rows = np.full_like(self.weight, self.total) if of_all else self.weight
        kurtosis = self.kurtosis * np.divide(rows, self.weight, out=np.zeros_like(rows), where=self.weight > 0.0)
        per_weight = self.total / self.squares if self.squares > 0.0 else 0.0
        by_chance = BY_CHANCE * np.sqrt(24.0 / np.maximum(rows * per_weight, 1.0))  # the deviation is sqrt(24 / n)
        found = np.zeros(n_columns)
        found[: self.n_columns] = np.where(kurtosis - NORMAL > by_chance, kurtosis - NORMAL, 0.0)
        return found

    @property
    def unevenness(self) -> float:
        """How uneven the weights of the rows are: 1 where all are equal, 2 in a long stream that fades."""
        if self.squares <= 0.0:
            return 1.0
        return max(self.fourths / self.squares / self.squares * (self.total * self.total / self.squares), 1.0)
