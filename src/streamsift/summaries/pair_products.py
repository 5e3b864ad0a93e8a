"""Products of pairs of columns as further columns, in an order that stays when columns are added behind.

Column b (b + 1) / 2 + a, for a <= b, is the product of columns a and b; where a = b, it is column b itself, not its
square.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]

LARGEST_FACTOR = 1e75  # squares of the product of larger values overflow


def n_columns(width: int) -> int:
    """How many columns there are with the products of pairs.

    >>> n_columns(3)
    6
    """
    return width * (width + 1) // 2


def base_columns(count: int) -> int:
    """How many columns have at most so many with their products.

    >>> base_columns(6), base_columns(9), base_columns(10)
    (3, 3, 4)
    """
    return (isqrt(8 * count + 1) - 1) // 2


def parents(columns: Indices) -> tuple[Indices, Indices]:
    """The two columns behind each product; twice the same for a column itself.

    >>> [part.tolist() for part in parents(np.arange(6))]
    [[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    """
    b = ((np.sqrt(8.0 * columns + 1.0) - 1.0) / 2.0).astype(np.intp)  # exact below 2^50
    return columns - b * (b + 1) // 2, b


def with_products(X: Any) -> Any:
    """The columns of X, an array or a CSR matrix, and the products of all pairs of them.

    >>> with_products(np.array([[2.0, 3.0, 5.0]])).tolist()
    [[2.0, 6.0, 3.0, 10.0, 15.0, 5.0]]
    """
    a, b = parents(np.arange(n_columns(X.shape[1])))
    alone = np.flatnonzero(a == b)
    if not isinstance(X, np.ndarray):
        return _sparse_products(X, a, b, alone)
    products = X.astype(np.float64)[:, a]
    products *= X[:, b]
    products[:, alone] = X
    return products


def _sparse_products(X: Any, a: Indices, b: Indices, alone: Indices) -> Any:
    from scipy.sparse import coo_matrix

    products, given = X[:, a].multiply(X[:, b]).tocoo(), X.tocoo()
    real = a[products.col] != b[products.col]
    entries = (
        np.concatenate([products.data[real], given.data]),
        (np.concatenate([products.row[real], given.row]), np.concatenate([products.col[real], alone[given.col]])),
    )
    return coo_matrix(entries, products.shape).tocsr()
