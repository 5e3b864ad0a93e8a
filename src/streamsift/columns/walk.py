"""Judging a block of columns by a growing fit: many at a time, with the decisions of one after the other.

A tile of columns is screened with one matrix product under the assumption that all of them are rejected. Every column
whose gain comes near its threshold, or whose arithmetic is delicate, is then examined by itself, in order, until one
is accepted; the fit grows and the rest of the tile is screened again. So a decision depends on the column, the fit and
the account only, never on the tile: near the threshold it always comes from the examination of that one column.

Fits and accounts are values: a block that turns out to hold a bad value leaves the caller's as they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.columns.linear_fit import ExaminedColumn, Fit
from streamsift.core.column_data import ColumnBlock, Floats
from streamsift.core.selection import Decisions
from streamsift.kernels.columns import columns_in, dense_products, sparse_products, tile_of

NEAR = 1e-6  # how near to the threshold the quick answer is not trusted
TILE_BYTES = 1 << 23  # enough to hide the overhead of a tile
WIDEST, NARROWEST = 4096, 64


@dataclass(frozen=True)
class Terms:
    """What the next columns are up against if each is rejected; the wealth has one entry more, for after the last."""

    threshold: Floats
    wealth: Floats | None
    clock: NDArray[np.int64] | None = None  # likewise, of rules whose next level depends on the p-values before


class Account(Protocol):
    """What decides how large a gain must be."""

    learns_from_gains: ClassVar[bool]  # what a column is up against depends on the gains of those before it

    def terms(self, gains: Floats, df: int, fit: Fit) -> Terms: ...

    def after(self, terms: Terms, n_rejected: int, accepted: bool) -> Self:
        """The account after so many rejections and, perhaps, the acceptance of the next column."""
        ...


@dataclass
class _Answers:
    accepted: NDArray[np.bool_]
    statistic: Floats
    threshold: Floats
    wealth: Floats  # before each column, and after it
    wealth_before: Floats

    @classmethod
    def of(cls, count: int) -> _Answers:
        return cls(np.zeros(count, bool), *(np.empty(count) for _ in range(4)))

    def write(self, start: int, count: int, gains: Floats, terms: Terms, accepted: bool, account: Any) -> None:
        """Record `count` answers of a tile; the last of them may be an acceptance."""
        stop = start + count
        self.statistic[start:stop] = gains[:count]
        self.threshold[start:stop] = terms.threshold[:count]
        if terms.wealth is not None:
            self.wealth_before[start:stop] = terms.wealth[:count]
            self.wealth[start:stop] = terms.wealth[1 : count + 1]
        if accepted:
            self.accepted[stop - 1] = True
            if terms.wealth is not None:
                self.wealth[stop - 1] = account.wealth


def decide_block(fit: Any, account: Any, block: ColumnBlock) -> tuple[Decisions, Any, Any]:
    """The decisions on a block, and the fit and the account after it."""
    count = block.n_columns
    answers = _Answers.of(count)
    widest = min(columns_in(TILE_BYTES, block.values.shape[0]), WIDEST)
    width = min(NARROWEST, widest)
    scratch = WalkScratch()
    groups = np.flatnonzero(block.categorical) if block.categorical is not None else np.empty(0, np.intp)
    if len(groups):
        block.refuse_bad_value()
    start, bids = 0, False
    while start < count:
        next_group = int(groups[np.searchsorted(groups, start)]) if len(groups) and start <= groups[-1] else count
        if next_group == start:
            gain, terms, grown = _judge_group(fit, account, one_hot(block.column(start)))
            used, gains = 1, np.array([gain])
        else:
            stop = min(start + width, count, next_group)
            gains, doubtful = screen(fit, block, start, stop, scratch)
            if account.learns_from_gains:
                gains = _settled(fit, block, start, gains, doubtful)
            terms = account.terms(gains, fit.df, fit)
            used, grown = _first_accepted(fit, terms, block, start, gains, doubtful)
            # Columns are accepted in clusters, early in a stream: a narrow tile then wastes less.
            width = min(NARROWEST, widest) if grown is not None else min(2 * width, widest)
        bids = terms.wealth is not None
        account = account.after(terms, used - (grown is not None), grown is not None)
        answers.write(start, used, gains, terms, grown is not None, account)
        fit = fit if grown is None else grown
        start += used
    return _decisions(block, answers, bids), fit, account


def _decisions(block: ColumnBlock, answers: _Answers, bids: bool) -> Decisions:
    return Decisions(
        block.names,
        answers.accepted,
        answers.statistic,
        answers.threshold,
        answers.wealth if bids else None,
        answers.wealth_before if bids else None,
    )


class WalkScratch:
    """Room for the products of one tile, used again for the next: fresh memory costs as much as the product."""

    def __init__(self) -> None:
        self._flat = np.empty(0)

    def shaped(self, rows: int, width: int) -> Floats:
        """An array of this shape with anything in it."""
        if len(self._flat) < rows * width:
            self._flat = np.empty(rows * width)
        return self._flat[: rows * width].reshape(rows, width)


def screen(
    fit: Fit, block: ColumnBlock, start: int, stop: int, scratch: WalkScratch
) -> tuple[Floats, NDArray[np.bool_]]:
    """The gains of some columns by one matrix product, and which of them must be examined exactly."""
    probes = fit.probes[:0] if fit.finished else fit.probes  # the values are checked all the same
    with np.errstate(over="ignore", invalid="ignore"):
        if block.sparse:
            products, squares = sparse_products(block.values[:, start:stop], probes, fit.square_weights)
        else:
            tile = tile_of(block.values, start, stop)
            out = scratch.shaped(len(probes), len(tile))
            products, squares = dense_products(tile, probes, fit.square_weights, out)
    if not np.isfinite(squares).all():
        block.refuse_bad_value()
    gains, doubtful = fit.screen(products, squares)
    return gains[: stop - start], doubtful[: stop - start]


def _settled(fit: Fit, block: ColumnBlock, start: int, gains: Floats, doubtful: NDArray[np.bool_]) -> Floats:
    """The gains of a tile with the doubtful ones replaced by exact ones."""
    gains = gains.copy()
    for k in np.flatnonzero(doubtful):
        gains[k] = fit.examine(block.column(start + int(k))[None], lambda df: np.inf).gain
    return gains


def _first_accepted(
    fit: Fit, terms: Terms, block: ColumnBlock, start: int, gains: Floats, doubtful: NDArray[np.bool_]
) -> tuple[int, Any]:
    """How many columns of the tile are decided, and the grown fit if the last of them is accepted."""
    near = terms.threshold - NEAR * (1.0 + np.abs(terms.threshold))
    for k in np.flatnonzero(doubtful | ~(gains < near)):
        threshold = float(terms.threshold[k])
        candidate = fit.examine(block.column(start + int(k))[None], lambda df, needed=threshold: needed)  # type: ignore[misc]
        gains[k] = candidate.gain
        if candidate.grow is not None and candidate.gain >= threshold:
            return int(k) + 1, candidate.grow()
    return len(gains), None


def _judge_group(fit: Fit, account: Account, columns: Floats) -> tuple[float, Terms, Any]:
    """One categorical column: as many degrees of freedom as it really adds."""

    def threshold(df: int) -> float:
        return float(account.terms(np.zeros(1), df, fit).threshold[0])

    candidate: ExaminedColumn = fit.examine(columns, threshold)
    terms = account.terms(np.array([candidate.gain]), max(candidate.df, 1), fit)
    accepted = candidate.grow is not None and candidate.gain >= terms.threshold[0]
    return candidate.gain, terms, candidate.grow() if accepted and candidate.grow is not None else None


def one_hot(codes: Floats) -> Floats:
    """One row of zeros and ones for each distinct code.

    >>> one_hot(np.array([2.0, 5.0, 2.0]))
    array([[1., 0., 1.],
           [0., 1., 0.]])
    """
    distinct, places = np.unique(codes, return_inverse=True)
    columns = np.zeros((len(distinct), len(codes)))
    columns[places.reshape(-1), np.arange(len(codes))] = 1.0
    return columns
