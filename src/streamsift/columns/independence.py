"""Tests of independence between columns and the class, as objects that a method is given.

    FisherZ               numbers: sqrt(rows - |S| - 3) |atanh r| against the normal quantile of 1 - alpha/2
    CountTest             codes: G2, or chi-square, against the chi-square quantile; df = (|X|-1) (|Y|-1) prod |S|, at
                          least 1; with fewer than 5 rows for each degree of freedom nothing can be said: independent
    SymmetricUncertainty  codes: 2 I / (H + H) against a fixed threshold

A test gives `relations`: the selected columns and the class as it sees them. Relations are values: taking a column in,
or letting selected columns go, gives new ones. A column that the given ones determine adds nothing: independent.
Chi-square carries the continuity correction (|observed - expected| - 1/2) wherever less than 10 is expected, as in the
published toolbox.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri

from streamsift.core.column_data import Floats, TargetKind
from streamsift.core.constraints import Integer, Limits, OneOf, Real
from streamsift.core.exceptions import InputError
from streamsift.core.interrupts import check
from streamsift.core.tags import ColumnTags
from streamsift.kernels.independence import (
    ROWS_PER_DEGREE,
    fisher_z_of_each,
    products,
    prune_by_correlation,
    prune_by_counts,
    standardise,
    symmetric_uncertainty,
    table_statistic,
)

Ints = NDArray[np.int64]

MOST_CODES = 10  # whole numbers that span at most so many values are taken for codes
MOST_CATEGORIES = 1000  # more categories in a column are numbers, or a mistake
SLICE = 1 << 24  # terms that a kernel sums without a look at Ctrl-C: about 0.1 seconds
_NO_VARIABLES = np.empty(0, np.int64)


@dataclass(frozen=True)
class TestedColumn:
    """A column in the form a test needs, and how strongly it depends on the class by itself.

    `strength` is |r| or the symmetric uncertainty; `statistic` is compared with `threshold`.
    """

    values: NDArray[Any]
    n_values: int
    strength: float
    statistic: float
    threshold: float


@dataclass(frozen=True)
class Alone:
    """Several columns, each by itself against the class."""

    values: NDArray[Any]  # one column per row
    n_values: Ints
    strength: Floats
    statistic: Floats
    threshold: Floats
    relevant: NDArray[np.bool_]

    def candidate(self, k: int) -> TestedColumn:
        return TestedColumn(
            self.values[k],
            int(self.n_values[k]),
            float(self.strength[k]),
            float(self.statistic[k]),
            float(self.threshold[k]),
        )


@dataclass(frozen=True)
class Separation:
    """The test that showed a column to be independent of the class given some variables, by number."""

    statistic: float
    threshold: float
    given: Ints


class Relations(Protocol):
    """The selected columns of a selection as one test sees them, in the order of their acceptance."""

    def alone(self, tile: Floats, names: Any) -> Alone:
        """Each column (one per row; the array may be overwritten) against the class."""
        ...

    def after(self, kept: NDArray[np.bool_], newcomer: TestedColumn | None) -> Self:
        """Without the selected columns that are not kept, and with the newcomer behind them."""
        ...


@dataclass(frozen=True)
class PairOfTests:
    """The test for columns of codes and the one for numbers; where only one is given, it takes all columns."""

    of_codes: Any
    of_numbers: Any


BLANKET_LIMITS: Limits = {  # the parameters of OSFS and FastOSFS
    "test": (OneOf("auto", "fisher_z", "g2", "chi2"),),
    "alpha": (Real(0, 1, closed="neither"),),
    "max_conditioning": (Integer(1, None),),
}


def tests_of(selector: Any) -> PairOfTests:
    """The tests that the parameter `test` of OSFS and FastOSFS names; "auto" means two."""
    test, alpha = selector.test, float(selector.alpha)
    numbers = FisherZ(alpha) if test in ("auto", "fisher_z") else None
    codes = CountTest(alpha, pearson=test == "chi2") if test in ("auto", "g2", "chi2") else None
    return PairOfTests(codes, numbers)


def tags_of_test(test: str) -> ColumnTags:
    """Tests of categories need classes, Fisher's z test takes numbers, too; "auto" has one test for all columns."""
    target: TargetKind = "either" if test in ("auto", "fisher_z") else "classes"
    return ColumnTags(target=target, mixed_columns=test not in ("auto", "fisher_z"))


# -- numbers ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FisherZ:
    """Fisher's z test at level alpha; classes are correlated as numbers."""

    alpha: float

    def relations(self, numbers: Floats, classes: Ints) -> Correlations:
        target = np.array(numbers)[None]
        standardise(target)
        critical = float(ndtri(1.0 - self.alpha / 2.0))
        empty = np.empty((0, len(numbers)))
        return Correlations(len(numbers), critical, target[0], empty, np.empty(0), np.empty((0, 0)))


@dataclass(frozen=True)
class Correlations:
    """Selected columns as centred vectors of length 1, and their correlations."""

    n_rows: int
    critical: float
    target: Floats
    members: Floats
    with_class: Floats
    between: Floats

    def alone(self, tile: Floats, names: Any) -> Alone:
        standardise(tile)
        correlation = _products(tile, self.target)
        statistic = self.statistic(correlation)
        threshold = np.full(len(tile), self.critical)
        no_sizes = np.zeros(len(tile), np.int64)
        return Alone(tile, no_sizes, np.abs(correlation), statistic, threshold, statistic >= self.critical)

    def statistic(self, correlation: Floats) -> Floats:
        result = np.empty(len(correlation))
        fisher_z_of_each(correlation, self.n_rows, result)
        return result

    def closeness(self, newcomer: TestedColumn) -> tuple[Floats, NDArray[np.bool_]]:
        """|r| of the newcomer with each selected column, and which of them are related to it."""
        close = np.abs(_products(self.members, newcomer.values))
        return close, self.statistic(close) >= self.critical

    @property
    def strength(self) -> Floats:
        return np.abs(self.with_class)

    def prune(
        self, newcomer: TestedColumn, kept: NDArray[np.bool_], tested: tuple[int, int], most: int, newest: bool
    ) -> Separation:
        """Mark which of selected columns and newcomer (the last) are not kept: see the kernel."""
        q = len(self.members)
        matrix = np.eye(q + 2)
        matrix[:q, :q] = self.between
        matrix[:q, q] = matrix[q, :q] = _products(self.members, newcomer.values)
        matrix[:q, q + 1] = matrix[q + 1, :q] = self.with_class
        matrix[q, q + 1] = matrix[q + 1, q] = _products(newcomer.values[None], self.target)[0]
        given = np.full(most, -1)
        found = -1.0
        for some in _slices(tested, q, most, most**3):
            found = prune_by_correlation(matrix, self.n_rows, self.critical, some, int(newest), kept, given)
        return Separation(float(found), self.critical, given[given >= 0])

    def after(self, kept: NDArray[np.bool_], newcomer: TestedColumn | None) -> Correlations:
        members, with_class = self.members[kept], self.with_class[kept]
        between = self.between[np.ix_(kept, kept)]
        if newcomer is None:
            return replace(self, members=members, with_class=with_class, between=between)
        links = _products(self.members, newcomer.values)[kept]
        return replace(
            self,
            members=np.vstack([members, newcomer.values]),
            with_class=np.append(with_class, _products(newcomer.values[None], self.target)),
            between=np.block([[between, links[:, None]], [links[None], np.ones((1, 1))]]),
        )


def _products(columns: Floats, vector: Floats) -> Floats:
    result = np.empty(len(columns))
    products(columns, vector, result)
    return result


# -- codes ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountTest:
    """G2, or chi-square where `pearson` is set, at level alpha."""

    alpha: float
    pearson: bool = False

    def relations(self, numbers: Floats, classes: Ints) -> ContingencyTables:
        return ContingencyTables(self, classes, _n_classes(classes), *_no_members(classes))

    def critical(self, freedom: Any) -> Any:
        return chdtri(freedom, self.alpha)


@dataclass(frozen=True)
class ContingencyTables:
    """Selected columns as codes 0, 1, ..., for contingency tables."""

    test: CountTest
    classes: Ints
    n_classes: int
    members: Ints
    n_values: Ints

    def alone(self, tile: Floats, names: Any) -> Alone:
        codes, sizes = codes_of(tile, names)
        statistic, threshold = np.empty(len(tile)), np.empty(len(tile))
        for k in range(len(tile)):
            pair, both = np.vstack([codes[k], self.classes]), np.array([sizes[k], self.n_classes])
            statistic[k], freedom = table_statistic(pair, both, 0, 1, _NO_VARIABLES, 0, self.test.pearson)
            threshold[k] = self.test.critical(freedom)
        relevant = (statistic > threshold) & (sizes > 1) & (self.n_classes > 1)
        statistic[statistic < 0.0] = 0.0  # too few rows
        return Alone(codes, sizes, statistic, statistic, threshold, relevant)

    def prune(
        self, newcomer: TestedColumn, kept: NDArray[np.bool_], tested: tuple[int, int], most: int, newest: bool
    ) -> Separation:
        """Mark which of selected columns and newcomer (the last) are not kept: see the kernel."""
        codes = np.vstack([self.members, newcomer.values, self.classes])
        sizes = np.append(self.n_values, [newcomer.n_values, self.n_classes])
        # No table has more degrees of freedom than rows / 5, nor than the widest columns give.
        widest = int(sizes[:-1].max())
        most_freedom = min(len(self.classes) // ROWS_PER_DEGREE, (widest - 1) * (self.n_classes - 1) * widest**most)
        critical = self.test.critical(np.arange(max(most_freedom, 1) + 1))
        given = np.full(most, -1)
        found = (-1.0, 1)
        for some in _slices(tested, len(codes) - 2, most, codes.shape[1]):
            found = prune_by_counts(codes, sizes, self.test.pearson, critical, some, int(newest), kept, given)
        return Separation(float(found[0]), float(self.test.critical(found[1])), given[given >= 0])

    def after(self, kept: NDArray[np.bool_], newcomer: TestedColumn | None) -> ContingencyTables:
        members, n_values = _kept_codes(self.members, self.n_values, kept, newcomer)
        return replace(self, members=members, n_values=n_values)


@dataclass(frozen=True)
class SymmetricUncertainty:
    """Mutual information as a share of the entropies, against a fixed threshold."""

    threshold: float

    def relations(self, numbers: Floats, classes: Ints) -> Uncertainties:
        return Uncertainties(self.threshold, classes, _n_classes(classes), *_no_members(classes), np.empty(0))


@dataclass(frozen=True)
class Uncertainties:
    """Selected columns as codes 0, 1, ..., and their symmetric uncertainty with the class."""

    threshold: float
    classes: Ints
    n_classes: int
    members: Ints
    n_values: Ints
    strength: Floats

    def alone(self, tile: Floats, names: Any) -> Alone:
        codes, sizes = codes_of(tile, names)
        strength = np.array(
            [symmetric_uncertainty(codes[k], sizes[k], self.classes, self.n_classes) for k in range(len(tile))]
        )
        threshold = np.full(len(tile), self.threshold)
        return Alone(codes, sizes, strength, strength, threshold, strength > threshold)

    def statistic(self, strength: Floats) -> Floats:
        return strength

    def closeness(self, newcomer: TestedColumn) -> tuple[Floats, NDArray[np.bool_]]:
        """The symmetric uncertainty of the newcomer with each selected column, and which of them are related to it."""
        close = np.array(
            [
                symmetric_uncertainty(newcomer.values, newcomer.n_values, member, size)
                for member, size in zip(self.members, self.n_values, strict=True)
            ]
        )
        return close, close > self.threshold

    def after(self, kept: NDArray[np.bool_], newcomer: TestedColumn | None) -> Uncertainties:
        members, n_values = _kept_codes(self.members, self.n_values, kept, newcomer)
        strength = self.strength[kept] if newcomer is None else np.append(self.strength[kept], newcomer.strength)
        return replace(self, members=members, n_values=n_values, strength=strength)


def codes_of(tile: Floats, names: Any) -> tuple[Ints, Ints]:
    """Each row of a tile as codes in the order of its values, and how many values it has.

    >>> codes_of(np.array([[5.0, 2.0, 5.0]]), ["size"])
    (array([[1, 0, 1]]), array([2]))
    """
    codes, sizes = np.empty(tile.shape, np.int64), np.empty(len(tile), np.int64)
    for k, column in enumerate(tile):
        distinct, inverse = np.unique(column, return_inverse=True)
        codes[k], sizes[k] = inverse.reshape(-1), len(distinct)
        if sizes[k] > MOST_CATEGORIES:
            raise InputError(
                f"Column {names[k]!r} has {sizes[k]} distinct values, too many for a test of categories: "
                "put them into bins, or set test='fisher_z'."
            )
    return codes, sizes


def are_codes(tile: Floats) -> NDArray[np.bool_]:
    """Which rows of a tile are whole numbers that span few values.

    >>> are_codes(np.array([[1.0, 3.0, 2.0], [0.5, 1.0, 2.0], [0.0, 400.0, 1.0]])).tolist()
    [True, False, False]
    """
    span = tile.max(axis=1) - tile.min(axis=1)
    return np.asarray((span < MOST_CODES) & (tile == np.floor(tile)).all(axis=1))


def _n_classes(classes: Ints) -> int:
    n_classes = int(classes.max()) + 1
    if n_classes > MOST_CATEGORIES:
        raise InputError(
            f"y has {n_classes} classes, too many for a test of categories: put them into bins, or set test='fisher_z'."
        )
    return n_classes


def _no_members(classes: Ints) -> tuple[Ints, Ints]:
    return np.empty((0, len(classes)), np.int64), np.empty(0, np.int64)


def _kept_codes(
    members: Ints, n_values: Ints, kept: NDArray[np.bool_], newcomer: TestedColumn | None
) -> tuple[Ints, Ints]:
    if newcomer is None:
        return members[kept], n_values[kept]
    return np.vstack([members[kept], newcomer.values]), np.append(n_values[kept], newcomer.n_values)


def _slices(tested: tuple[int, int], n_members: int, most: int, n_terms: int) -> Iterator[tuple[int, int]]:
    """The variables to be tested in slices of bounded work; Ctrl-C ends between two of them.

    A variable is tested given up to `most` of the others, and a test sums n_terms.
    """
    n_tests = sum(comb(n_members, size) for size in range(1, most + 1))
    length = max(SLICE // max(n_tests * n_terms, 1), 1)
    for first in range(*tested, length):
        check()
        yield first, min(first + length, tested[1])
