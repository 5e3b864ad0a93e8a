"""Arithmetic on columns: products of a block with a basis, orthonormal remainders, bids.

Everything here is matrix products and vector arithmetic, which numpy does at full speed; nothing is compiled. A tile is
a block of columns stored one after the other: shape (n_columns, n_rows), C order.

A column must get the same bits whatever stands beside it. Matrix libraries choose their routine by the processor and
by the sizes of a product, and routines add up in different orders. So every product has the same sizes, LANES columns
at a time; tiles and the rows they are multiplied with are padded with zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LANES = 8
CACHED_BYTES = 1 << 20  # what stays in the cache between summing its squares and multiplying it
WIDE_ENOUGH = 128  # columns
CONSTANT = 1e-14  # a column that varies by less than this share of its size is rounding
COLLINEAR = 1e-9  # a column whose remainder is smaller than this share of its variation is a linear combination


def padded(rows: Floats) -> Floats:
    """A copy of `rows` with rows of zeros behind, to a multiple of LANES."""
    full = np.zeros((-(-len(rows) // LANES) * LANES, rows.shape[1]))
    full[: len(rows)] = rows
    return full


def tile_of(values: NDArray[Any], start: int, stop: int) -> Floats:
    """Columns start..stop of a dense matrix as a tile, padded with zero columns; a view where the layout allows it."""
    width = stop - start
    part = values[:, start:stop].T
    if width % LANES == 0 and part.dtype == np.float64 and part.flags.c_contiguous:
        return part
    return padded(part)


def dense_products(tile: Floats, probes: Floats, square_weights: Floats | None, out: Floats) -> tuple[Floats, Floats]:
    """probes (k, n) times each column, into `out`, and weighted sums of squares (None: plain ones), as (k, width)."""
    squares = np.empty((1 if square_weights is None else len(square_weights), len(tile)))
    step = columns_in(CACHED_BYTES, tile.shape[1])
    for start in range(0, len(tile), step):
        part = tile[start : start + step]  # squares and products of a part are computed while it is in the cache
        if square_weights is None:
            np.einsum("ij,ij->i", part, part, out=squares[0, start : start + step])
        else:
            squares[:, start : start + step] = _times_lanes(square_weights, part * part)
        out[:, start : start + step] = _times_lanes(probes, part)
    return out, squares


def _times_lanes(rows: Floats, tile: Floats) -> Floats:
    """rows @ tile.T, as products of one size: LANES columns each."""
    lanes = tile.reshape(-1, LANES, tile.shape[1])
    found: Floats = np.matmul(rows, lanes.transpose(0, 2, 1))
    return found.transpose(1, 0, 2).reshape(len(rows), len(tile))


def columns_in(n_bytes: int, n_rows: int) -> int:
    """How many columns fit, in whole LANES; of long ones so many that reading the probes once for all pays."""
    return max(n_bytes // (8 * n_rows) // LANES * LANES, WIDE_ENOUGH)


def sparse_products(columns: Any, probes: Floats, square_weights: Floats | None) -> tuple[Floats, Floats]:
    """The same for a scipy CSC matrix, at the price of its non-zeros."""
    products = (columns.T @ np.ascontiguousarray(probes.T)).T
    squared = columns.multiply(columns).tocsc()
    weights = np.ones((1, columns.shape[0])) if square_weights is None else square_weights
    return products, (squared.T @ np.ascontiguousarray(weights.T)).T


def inner(a: Floats, b: Floats, weight: Floats) -> float:
    """The weighted inner product; an empty weight stands for ones."""
    return float(a @ b) if len(weight) == 0 else float((a * weight) @ b)


def orthonormal(columns: Floats, basis: Floats, weight: Floats, *, centre: bool) -> Floats:
    """What the rows of `columns` add to the span of `basis`, as orthonormal rows; fewer where they add nothing.

    Classical Gram-Schmidt, applied twice (once more would change nothing beyond rounding). With `centre`, the span
    holds the constant: the mean goes first, so that a large offset does not hide a small variation.
    """
    found = basis
    for column in columns:
        largest = float(np.abs(column).max())
        if largest == 0.0:
            continue
        x = np.ldexp(column, -int(np.frexp(largest)[1]))  # squares then neither overflow nor vanish
        size = np.sqrt(inner(x, x, weight))
        if centre:
            for _ in range(2):  # the second time takes out what rounding left of a large mean
                x = x - (x.mean() if len(weight) == 0 else float(x @ weight) / float(weight.sum()))
        spread = np.sqrt(inner(x, x, weight))
        if spread <= CONSTANT * size:
            continue
        for _ in range(2):
            x = x - (found @ (x if len(weight) == 0 else x * weight)) @ found
        rest = np.sqrt(inner(x, x, weight))
        if rest <= COLLINEAR * spread:
            continue
        found = np.vstack([found, x / rest])
    return found[len(basis) :]


def bids_if_rejected(wealth: float, n_tested: int, count: int) -> tuple[Floats, Floats]:
    """The next `count` bids if every one of them is lost, and the wealth before each and after the last.

    The bid on column i is min(wealth / (2 i), 1/2). Each step is the same multiplication whether it is made alone or
    in a row, so that blocks and single columns give the same bits.
    """
    left = np.empty(count + 1)
    left[0] = wealth
    done = 0
    while done < count and left[done] > n_tested + done + 1:  # wealth / (2 i) > 1/2: the bid is capped
        left[done + 1] = left[done] - 0.5
        done += 1
    # From here on wealth_(i+1) = wealth_i (1 - 1 / (2 i)): a running product.
    share = 0.5 / np.arange(n_tested + done + 1, n_tested + count + 1)
    left[done + 1 :] = 1.0 - share
    np.multiply.accumulate(left[done:], out=left[done:])
    bids = np.full(count, 0.5)
    bids[done:] = left[done:-1] * share
    return bids, left
