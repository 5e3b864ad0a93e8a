"""Category counts: the class weights of each category of each feature.

Up to `most` categories of a feature are counted exactly. Beyond that the space-saving rule decides which are kept: a
newcomer takes the place of the category with the smallest count, whose class weights move to "other". A count is what
a category has been given since it was kept plus `earlier`, the count it took the place of. With n the (faded) weight
of all rows in which the feature has a value:

- a category of more than n / most is always kept;
- a kept category lacks at most `earlier` <= n / most of its weight, which is then part of "other";
- the class weights of the kept categories and "other" together are exact.

Counts add up to at most n, so the smallest is at most n / most. This holds with fading, for all counts fade alike, and
after merging: a category that one side does not keep gets that side's smallest count as `earlier`, and of both together
the `most` largest counts stay. Without overflow a merge is exact.

Beside each weight there is the sum of squared row weights, which says how much a faded weight may scatter.
Memory: 8 bytes per class and kept category, and 24 more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.state import MOST_ROWS, Finite, Offsets, Shape, Sizes, Within
from streamsift.kernels.category_counts import Tables, count_rows, room_needed
from streamsift.summaries.fading import advance, row_weights
from streamsift.summaries.moved_classes import moved_classes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class CategoryTable(NamedTuple):
    """One feature: its kept categories by code, with class weights, squared row weights and `earlier`, and "other"."""

    codes: Ints
    weights: Floats  # (n_categories, n_classes)
    squares: Floats
    earlier: Floats
    other: Floats  # (n_classes,)
    other_squares: float

    @property
    def least(self) -> float:
        """The most that a category that is not kept can weigh."""
        if not self.other.any():
            return 0.0
        return float((self.weights.sum(axis=1) + self.earlier).min())

    def contents(self) -> tuple[Floats, Floats]:
        """Class weights of all categories that have any, "other" as one of them, and their sums of squared row weights.

        They are sorted by these numbers, so that codes, and with them the order of arrival, change nothing at all.
        """
        rows = np.vstack([self.weights, self.other])
        squares = np.append(self.squares, self.other_squares)
        kept = rows.any(axis=1)
        rows, squares = rows[kept], squares[kept]
        order = np.lexsort((squares, *rows.T))
        return rows[order], squares[order]


@dataclass
class CategoryCounts:
    """Counts of all categorical features; weights are relative to `age` (summaries/fading.py)."""

    fading: Annotated[float, Within(np.nextafter(0.0, 1.0), 1.0)]
    most: Annotated[int, Within(1, 1_000_000)]
    age: Annotated[int, Within(0, "n_rows_seen")]
    # Where the categories of a feature begin, with some room behind them, and how many it has.
    starts: Annotated[Ints, Shape("n_features + 1"), Offsets("room")]
    sizes: Annotated[Ints, Shape("n_features"), Within(0, "room")]
    codes: Annotated[Ints, Shape("room"), Within(0, MOST_ROWS)]  # sorted within a feature
    weights: Annotated[Floats, Shape("room", "n_counted"), Finite(), Within(0.0)]
    squares: Annotated[Floats, Shape("room"), Finite(), Within(0.0)]  # sums of squared row weights
    earlier: Annotated[Floats, Shape("room"), Finite(), Within(0.0)]  # what it may have weighed before it was kept
    other: Annotated[Floats, Shape("n_features", "n_counted"), Finite(), Within(0.0)]
    other_squares: Annotated[Floats, Shape("n_features"), Finite(), Within(0.0)]

    def problem(self, sizes: Sizes) -> str | None:
        """What declarations cannot say, in a few words."""
        if self.weights.shape[1] > sizes["n_classes"]:
            return f"there are weights of {self.weights.shape[1]} classes instead of {sizes['n_classes']}"
        if (self.sizes > np.diff(self.starts)).any():
            return "a feature has more categories than room"
        for start, size in zip(self.starts.tolist(), self.sizes.tolist(), strict=False):
            if (np.diff(self.codes[start : start + size]) <= 0).any():
                return "the codes of a feature are not in increasing order"
        return None

    @classmethod
    def empty(cls, fading: float, most: int, n_classes: int) -> Self:
        sizes, codes = np.zeros((2, 0), np.int64)
        weights, other = np.zeros((2, 0, n_classes))
        squares, earlier, other_squares = np.zeros((3, 0))
        return cls(
            fading, most, 0, np.zeros(1, np.int64), sizes, codes, weights, squares, earlier, other, other_squares
        )

    @property
    def n_features(self) -> int:
        return len(self.sizes)

    def learn(
        self, columns: Floats, classes: Ints, n_classes: int, weight: Floats | None = None, decay: float = 1.0
    ) -> None:
        """Absorb the codes of a batch, one line of `columns` per feature; NaN is not counted. Cannot fail.

        Rows count with `weight`; all that came before is multiplied by `decay`.
        """
        n_features, n_rows = columns.shape
        self._make_room(n_features, n_classes)
        factor, scale, self.age = advance(self.fading, self.age, n_rows)
        factor *= decay
        if factor != 1.0:
            self.fade(factor)
        needed = np.empty(n_features, np.int64)
        room_needed(columns, self.starts, self.sizes, self.codes, self.most, needed)
        if (needed > np.diff(self.starts)).any():
            self._widen(needed)
        # Arrays loaded from a memory map may be read-only, which kernels that could write refuse.
        for name in Tables._fields:
            setattr(self, name, np.require(getattr(self, name), None, "W"))
        tables = Tables(*(getattr(self, name) for name in Tables._fields))
        weights = row_weights(self.fading, n_rows) * scale
        count_rows(columns, classes, weights if weight is None else weights * weight, self.most, tables)

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self.weights, self.earlier, self.other = (a * factor for a in (self.weights, self.earlier, self.other))
        self.squares, self.other_squares = self.squares * factor**2, self.other_squares * factor**2

    def _make_room(self, n_features: int, n_classes: int) -> None:
        """Room for features and classes not met before."""
        more_features, more_classes = n_features - self.n_features, n_classes - self.weights.shape[1]
        if more_classes > 0:
            self.weights = np.pad(self.weights, ((0, 0), (0, more_classes)))
            self.other = np.pad(self.other, ((0, 0), (0, more_classes)))
        if more_features > 0:
            self.starts = np.pad(self.starts, (0, more_features), mode="edge")
            self.sizes = np.pad(self.sizes, (0, more_features))
            self.other_squares = np.pad(self.other_squares, (0, more_features))
            self.other = np.pad(self.other, ((0, more_features), (0, 0)))

    def _widen(self, needed: Ints) -> None:
        """Move the categories apart, so that each feature has the room it needs."""
        starts = np.concatenate([[0], np.cumsum(np.maximum(needed, np.diff(self.starts)))])
        feature = np.repeat(np.arange(self.n_features), self.sizes)
        within = np.arange(len(feature)) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        old, new = self.starts[feature] + within, starts[feature] + within
        for name in ("codes", "weights", "squares", "earlier"):
            before = getattr(self, name)
            after = np.zeros((starts[-1], *before.shape[1:]), before.dtype)
            after[new] = before[old]
            setattr(self, name, after)
        self.starts = starts

    def table(self, feature: int) -> CategoryTable:
        """The counts of a feature at present scale."""
        first, scale = self.starts[feature], self.fading**self.age
        rows = slice(first, first + self.sizes[feature])
        return CategoryTable(
            self.codes[rows],
            self.weights[rows] * scale,
            self.squares[rows] * scale**2,
            self.earlier[rows] * scale,
            self.other[feature] * scale,
            float(self.other_squares[feature]) * scale**2,
        )

    def tables(self) -> list[CategoryTable]:
        return [self.table(feature) for feature in range(self.n_features)]

    def _filled(self, tables: Sequence[CategoryTable], n_classes: int) -> Self:
        """Counts at present scale with these tables."""
        made = type(self).empty(self.fading, self.most, n_classes)
        if not tables:
            return made
        made.sizes = np.array([len(table.codes) for table in tables], np.int64)
        made.starts = np.concatenate([[0], np.cumsum(made.sizes)])
        made.codes = np.concatenate([table.codes for table in tables])
        made.weights = np.concatenate([table.weights for table in tables])
        made.squares = np.concatenate([table.squares for table in tables])
        made.earlier = np.concatenate([table.earlier for table in tables])
        made.other = np.stack([table.other for table in tables])
        made.other_squares = np.array([table.other_squares for table in tables])
        return made

    def aligned(self, classes: Ints, n_classes: int) -> Self:
        """A copy at present scale whose class c has moved to classes[c], where classes add up."""
        moved = [
            table._replace(
                weights=moved_classes(table.weights, classes, n_classes, axis=1),
                other=moved_classes(table.other, classes, n_classes, axis=0),
            )
            for table in self.tables()
        ]
        return self._filled(moved, n_classes)

    def renamed(self, mapped: dict[int, Ints]) -> Self:
        """A copy at present scale in which code c of feature j has become mapped[j][c]."""
        tables = self.tables()
        for feature, new in mapped.items():
            table = tables[feature]
            codes = new[table.codes]
            order = np.argsort(codes)
            tables[feature] = table._replace(
                codes=codes[order],
                weights=table.weights[order],
                squares=table.squares[order],
                earlier=table.earlier[order],
            )
        return self._filled(tables, self.weights.shape[1])

    def taken(self, features: Ints) -> Self:
        """A copy at present scale of some features, in this order; -1 stands for one that has no rows."""
        n_classes = self.weights.shape[1]
        no_code, nothing = np.zeros(0, np.int64), np.zeros(0)
        empty = CategoryTable(no_code, np.zeros((0, n_classes)), nothing, nothing, np.zeros(n_classes), 0.0)
        return self._filled([self.table(j) if j >= 0 else empty for j in features.tolist()], n_classes)

    def merge(self, other: Self) -> None:
        """Add the counts of another summary with the same features, classes and codes; both at present scale."""
        pairs = zip(self.tables(), other.tables(), strict=True)
        vars(self).update(vars(self._filled([_merged(*pair, self.most) for pair in pairs], self.weights.shape[1])))


def _merged(mine: CategoryTable, theirs: CategoryTable, most: int) -> CategoryTable:
    codes = np.union1d(mine.codes, theirs.codes)
    weights, (squares, earlier) = np.zeros((len(codes), len(mine.other))), np.zeros((2, len(codes)))
    for table in (mine, theirs):
        places = np.searchsorted(codes, table.codes)
        weights[places] += table.weights
        squares[places] += table.squares
        bound = np.full(len(codes), table.least)
        bound[places] = table.earlier
        earlier += bound
    order = np.argsort(-(weights.sum(axis=1) + earlier), kind="stable")
    kept, gone = np.sort(order[:most]), order[most:]
    other = mine.other + theirs.other + weights[gone].sum(axis=0)
    other_squares = mine.other_squares + theirs.other_squares + float(squares[gone].sum())
    return CategoryTable(codes[kept], weights[kept], squares[kept], earlier[kept], other, other_squares)
