"""make_columns: products, powers, logarithms, splines, lags, one-hot columns and crosses, made while they are judged.

They equal what scikit-learn's transformers make (PolynomialFeatures, SplineTransformer, OneHotEncoder, FeatureHasher),
in blocks of a few hundred columns. A block is made when the selector asks for it, and forgotten when it has been
judged: memory holds the table the columns are made from and one block, however many columns there are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, combinations_with_replacement, islice, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError, ParameterError, UnknownNameError
from streamsift.core.limits import LARGEST
from streamsift.interop.base_table import BaseTable
from streamsift.streams.column_iterable import SeenNames

WIDEST = 512  # columns of one block
BLOCK_BYTES = 8 << 20  # of one block

Floats = NDArray[np.float64]


class MadePiece(NamedTuple):
    """Some columns that are not made yet: their names, and how they are made from a table."""

    names: list[str]
    make: Callable[[BaseTable], Floats]


Pieces = Iterator[MadePiece]


@dataclass(frozen=True)
class Recipe:
    """How columns are made from a table; `number` is what may stand behind its name, as in lags:5."""

    text: str
    needs: str  # numbers or categories
    pieces: Callable[[BaseTable, int, int], Pieces]  # table, number, width
    count: Callable[[BaseTable, int], int]
    number: int | None = None
    least: int = 1
    most: int = 1


# -- products -----------------------------------------------------------------------------------------------------


def _products(degree: int, table: BaseTable, number: int, width: int) -> Pieces:
    _refuse_overflow(table, degree)
    return _in_blocks(table, combinations(range(len(table.numbers)), degree), width)


def _powers(degree: int, table: BaseTable, number: int, width: int) -> Pieces:
    _refuse_overflow(table, degree)
    return _in_blocks(table, ((k,) * degree for k in range(len(table.numbers))), width)


def _polynomial(table: BaseTable, number: int, width: int) -> Pieces:
    _refuse_overflow(table, number)
    for degree in range(2, number + 1):
        yield from _in_blocks(table, combinations_with_replacement(range(len(table.numbers)), degree), width)


def _in_blocks(table: BaseTable, factors: Iterator[tuple[int, ...]], width: int) -> Pieces:
    names = table.number_names
    while chunk := list(islice(factors, width)):
        yield MadePiece([_product_name(names, which) for which in chunk], partial(_multiplied, np.array(chunk)))


def _multiplied(which: NDArray[np.intp], table: BaseTable) -> Floats:
    block = table.numbers[which[:, 0]]
    for k in range(1, which.shape[1]):
        block *= table.numbers[which[:, k]]
    return block.T


def _product_name(names: list[str], which: tuple[int, ...]) -> str:
    if len(set(which)) == len(which):
        return "*".join([names[k] for k in which])
    return "*".join(names[k] if power == 1 else f"{names[k]}^{power}" for k, power in Counter(which).items())


def _refuse_overflow(table: BaseTable, degree: int) -> None:
    if len(table.numbers) == 0:
        return
    largest = np.abs(table.numbers).max(axis=1)
    place = int(np.argmax(largest))
    if largest[place] > LARGEST ** (1 / degree):
        raise InputError(
            f"Column {table.number_names[place]!r} has values up to {largest[place]:.3g}, and products of {degree} "
            f"such values are beyond {LARGEST:g}: scale it, or leave it out."
        )


def _n_polynomial(table: BaseTable, number: int) -> int:
    n = len(table.numbers)
    return sum(math.comb(n + degree - 1, degree) for degree in range(2, number + 1))


# -- one column at a time -----------------------------------------------------------------------------------------


def _varying(table: BaseTable) -> list[int]:
    """Columns of numbers with more than one value."""
    return np.flatnonzero(table.numbers.min(axis=1) < table.numbers.max(axis=1)).tolist() if len(table.numbers) else []


def _logs(table: BaseTable, number: int, width: int) -> Pieces:
    for which in _chunks(_varying(table), width):
        yield MadePiece([f"log({table.number_names[k]})" for k in which], partial(_logged, table, which))


def _logged(fitted: BaseTable, which: list[int], table: BaseTable) -> Floats:
    """Values from 0 down are shifted as `logarithms` does; smaller ones than were known before count as the least."""
    block = np.empty((len(which), table.n_rows))
    for row, k in zip(block, which, strict=True):
        values = np.unique(fitted.numbers[k])
        shift = 0.0 if values[0] > 0 else values[1] - 2 * values[0]
        np.log(np.maximum(table.numbers[k], values[0]) + shift, out=row)
    return block.T


def _splines(table: BaseTable, number: int, width: int) -> Pieces:
    n_basis = number + 2  # knots + degree - 1, without the last one, which the others and the constant give
    for which in _chunks(_varying(table), max(1, width // n_basis)):
        names = [f"spline{b + 1}({table.number_names[k]})" for k in which for b in range(n_basis - 1)]
        yield MadePiece(names, partial(_spline_basis, table, number, which))


def _spline_basis(fitted: BaseTable, n_knots: int, which: list[int], table: BaseTable) -> Floats:
    from sklearn.preprocessing import SplineTransformer

    made = SplineTransformer(n_knots=n_knots, degree=3, include_bias=False).fit(fitted.numbers[which].T)
    return np.asfortranarray(made.transform(table.numbers[which].T))


def _lags(table: BaseTable, number: int, width: int) -> Pieces:
    if number >= table.n_rows:
        raise ParameterError(f"lags:{number} looks back {number} rows of {table.n_rows}: ask for fewer lags.")
    for which in _chunks(product(range(len(table.numbers)), range(1, number + 1)), width):
        yield MadePiece([f"lag{lag}({table.number_names[k]})" for k, lag in which], partial(_lagged, which))


def _lagged(which: list[tuple[int, int]], table: BaseTable) -> Floats:
    """Values some rows before; the first rows have the first value, as if nothing had changed before it."""
    block = np.empty((len(which), table.n_rows))
    for row, (k, lag) in zip(block, which, strict=True):
        row[:lag] = table.numbers[k, 0]
        row[lag:] = table.numbers[k, : max(table.n_rows - lag, 0)]
    return block.T


# -- categories ---------------------------------------------------------------------------------------------------


def _there(table: BaseTable) -> list[tuple[int, int]]:
    """The categories that occur, as (column, code)."""
    return [(k, code) for k in range(len(table.codes)) for code in np.unique(table.codes[k]).tolist()]


def _one_hot(table: BaseTable, number: int, width: int) -> Pieces:
    for which in _chunks(_there(table), width):
        names = [f"{table.code_names[k]}={table.categories[k][code]}" for k, code in which]
        yield MadePiece(names, partial(_indicators, which))


def _indicators(which: list[tuple[int, int]], table: BaseTable) -> Floats:
    return np.array([table.codes[k] == code for k, code in which], np.float64).T


def _crosses(table: BaseTable, number: int, width: int) -> Pieces:
    pairs = combinations(range(len(table.codes)), 2)
    for which in _chunks(pairs, max(1, width // number)):
        names = [f"{table.code_names[a]}*{table.code_names[b]}#{k}" for a, b in which for k in range(number)]
        yield MadePiece(names, partial(_buckets, table, number, which))


def _buckets(fitted: BaseTable, n_buckets: int, which: list[tuple[int, int]], table: BaseTable) -> Floats:
    """For each pair of columns the bucket of its two categories; a category that was not known has none."""
    from sklearn.feature_extraction import FeatureHasher

    hasher = FeatureHasher(n_buckets, input_type="string", alternate_sign=False)
    block = np.zeros((len(which), n_buckets, table.n_rows))
    for rows, (a, b) in zip(block, which, strict=True):
        known = np.flatnonzero((table.codes[a] >= 0) & (table.codes[b] >= 0))
        both, inverse = np.unique(table.codes[[a, b]][:, known], axis=1, return_inverse=True)
        texts = [[cross_text(fitted, a, b, i, j)] for i, j in both.T.tolist()]
        if texts:
            rows[hasher.transform(texts).indices[inverse.ravel()], known] = 1.0
    return block.reshape(-1, table.n_rows).T


def cross_text(table: BaseTable, a: int, b: int, i: int, j: int) -> str:
    """The text that stands for category i of column a beside category j of column b, and is hashed."""
    return f"{table.code_names[a]}={table.categories[a][i]}*{table.code_names[b]}={table.categories[b][j]}"


def _chunks(items: Any, size: int) -> Iterator[list[Any]]:
    items = iter(items)
    while chunk := list(islice(items, size)):
        yield chunk


def _choose(degree: int, table: BaseTable, number: int) -> int:
    return math.comb(len(table.numbers), degree)


RECIPES = {
    "pairs": Recipe("products of two columns: age*income", "numbers", partial(_products, 2), partial(_choose, 2)),
    "triples": Recipe("products of three columns", "numbers", partial(_products, 3), partial(_choose, 3)),
    "squares": Recipe("age^2", "numbers", partial(_powers, 2), partial(_choose, 1)),
    "cubes": Recipe("age^3", "numbers", partial(_powers, 3), partial(_choose, 1)),
    "polynomial": Recipe(
        "all products and powers up to a degree, polynomial:2 if none is given: a^2, a*b, ...",
        "numbers",
        _polynomial,
        _n_polynomial,
        2,
        2,
        10,
    ),
    "logs": Recipe("log(age)", "numbers", _logs, lambda table, number: len(_varying(table))),
    "splines": Recipe(
        "a cubic spline basis with so many knots, splines:5 if none is given: spline1(age), ...",
        "numbers",
        _splines,
        lambda table, number: len(_varying(table)) * (number + 1),
        5,
        2,
        1000,
    ),
    "lags": Recipe(
        "values of rows before, lags:1 if no number is given: lag1(price), ...",
        "numbers",
        _lags,
        lambda table, number: len(table.numbers) * number,
        1,
        1,
        1_000_000,
    ),
    "onehot": Recipe(
        "one column for each category: colour=red", "categories", _one_hot, lambda table, number: len(_there(table))
    ),
    "crosses": Recipe(
        "two categories hashed into so many columns, crosses:16 if none is given: colour*size#7",
        "categories",
        _crosses,
        lambda table, number: math.comb(len(table.codes), 2) * number,
        16,
        2,
        1 << 20,
    ),
}
_POLYNOMIALS = {"pairs", "triples", "squares", "cubes"}


def read_recipes(text: str | Sequence[str]) -> list[tuple[str, int]]:
    """The names and numbers of recipes; those that are not known are refused.

    Examples
    --------
    >>> read_recipes("pairs,lags:5,splines")
    [('pairs', 1), ('lags', 5), ('splines', 5)]
    """
    parts = [part.strip() for part in (text.split(",") if isinstance(text, str) else text)]
    found: dict[str, int] = {}
    for part in parts:
        name, colon, digits = part.partition(":")
        if name not in RECIPES:
            raise UnknownNameError("recipe for columns", name, RECIPES)
        recipe = RECIPES[name]
        if name in found:
            raise ParameterError(f"The recipe {name!r} is given twice: keep one of the two.")
        if colon and recipe.number is None:
            raise ParameterError(f"The recipe {name!r} takes no number: write {name}, not {part}.")
        number = (recipe.number or 1) if not colon else int(digits) if digits.isascii() and digits.isdecimal() else 0
        if colon and not recipe.least <= number <= recipe.most:
            raise ParameterError(
                f"{part!r} needs a whole number from {recipe.least} to {recipe.most:,}, as in {name}:{recipe.number}."
            )
        found[name] = number
    both = sorted(_POLYNOMIALS & found.keys())
    if "polynomial" in found and both:
        raise ParameterError(f"'polynomial' makes products and powers, {both[0]} among them: keep one of the two.")
    return list(found.items())


class MadeColumns:
    """What `make_columns` returns: iterate over it, any number of times, for pairs (names, block)."""

    def __init__(
        self, table: BaseTable, recipes: list[tuple[str, int]], y: Any, *, given: bool, target_name: str, path: Any
    ) -> None:
        self._table, self._recipes, self._given = table, recipes, given
        self.y, self.target_name, self.path = y, target_name, path
        counts = [self._counted(name, number) for name, number in recipes]
        self.n_columns = sum(counts) + (len(table.number_names) + len(table.code_names) if given else 0)
        # What a checkpoint knows the columns by: the names that the others follow from.
        self.names = [*table.number_names, *table.code_names, *(f"{name}:{number}" for name, number in recipes)]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self.blocks()

    def blocks(self, first: int = 0) -> Iterator[tuple[Any, Any]]:
        """The blocks from one of them on; those before it are not made."""
        seen, given = SeenNames(), self._table.batches if self._given else []
        for number, batch in enumerate(given):
            _refuse_known(seen, batch.feature_names or ())
            if number >= first:
                yield batch.feature_names, batch
        for number, piece in enumerate(self._pieces(), start=len(given)):
            _refuse_known(seen, piece.names)
            if number >= first:
                yield piece.names, piece.make(self._table)

    def columns(self, names: Sequence[str], X: Any = None) -> Floats:
        """Some columns again, such as the selected ones: of the table they were made from, or of other rows.

        Knots, shifts and categories are those of the table that was given to `make_columns`; lags look back within X.
        """
        wanted = {name: place for place, name in enumerate(names)}
        table = self._table if X is None else _table_of(X).like(self._table)
        found = np.empty((len(names), table.n_rows))
        base = {name: k for k, name in enumerate(table.number_names)}
        left = set(wanted)
        for name in left & base.keys():
            found[wanted[name]] = table.numbers[base[name]]
        left -= base.keys()
        for name in left & set(table.code_names):
            raise InputError(f"Column {name!r} holds categories, not numbers: take it from the table itself.")
        for piece in self._pieces():
            if not left:
                break
            here = [k for k, name in enumerate(piece.names) if name in left]
            if here:
                block = piece.make(table)
                for k in here:
                    found[wanted[piece.names[k]]] = block[:, k]
                    left.discard(piece.names[k])
        if left:
            raise InputError(f"No column called {min(left)!r} is made here: ask for names that were selected.")
        return found.T

    def _pieces(self) -> Pieces:
        width = max(1, min(WIDEST, BLOCK_BYTES // (8 * self._table.n_rows)))
        return chain.from_iterable(RECIPES[name].pieces(self._table, number, width) for name, number in self._recipes)

    def _counted(self, name: str, number: int) -> int:
        """How many columns a recipe makes; one that can make none of this table is refused."""
        recipe = RECIPES[name]
        count = recipe.count(self._table, number)
        if count == 0:
            raise ParameterError(
                f"The recipe {name!r} finds no columns of {recipe.needs} to make others from: leave it out."
            )
        next(recipe.pieces(self._table, number, 1))  # so that what it refuses is refused before the run
        return count


def make_columns(
    X: Any,
    recipes: str | Sequence[str],
    y: Any = None,
    *,
    names: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    given: bool = True,
) -> MadeColumns:
    """The columns of a table and others made from them, one block at a time, as a source for column selectors.

    Parameters
    ----------
    X : array, table or what `open_columns` returns
        What the columns are made from. It is held in memory; what is made from it is not.
    recipes : str or list of str
        What is made, in this order: "pairs", "triples", "squares", "cubes", "polynomial:3", "logs", "splines:5" and
        "lags:5" of numbers, "onehot" and "crosses:16" of categories.
    y : array, optional
        The target; what `open_columns` returns knows it.
    names : sequence of str, optional
        The names of the columns of X.
    categorical : sequence of str
        Columns to take as categories although they hold numbers.
    given : bool
        Whether the columns of X come first.

    Returns
    -------
    MadeColumns
        With `n_columns`, and `columns(names, X)`, which makes the selected columns again, for other rows too.

    Examples
    --------
    >>> from streamsift import Investing
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> made = make_columns(X, "pairs,squares", y=X[:, 3] * X[:, 7] + X[:, 5] ** 2 + rng.normal(size=300))
    >>> made.n_columns, Investing().run(made).selected_
    (230, ['x3*x7', 'x5^2'])
    >>> made.columns(["x3*x7", "x5^2"], np.ones((2, 20))).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    wanted = read_recipes(recipes)
    if hasattr(X, "blocks") and hasattr(X, "y"):
        if names is not None or categorical:
            raise ParameterError("A source of columns knows its names and categories: leave out names and categorical.")
        table, y = BaseTable.of_batches([batch for _, batch in X.blocks()]), X.y if y is None else y
    else:
        table = BaseTable.of(X, names, categorical)
    if y is not None and len(y) != table.n_rows:
        raise InputError(f"X has {table.n_rows} rows but y has {len(y)}: give one value for each row.")
    target_name, path = getattr(X, "target_name", "y"), getattr(X, "path", None)
    return MadeColumns(table, wanted, y, given=given, target_name=target_name, path=path)


def _table_of(X: Any) -> BaseTable:
    return BaseTable.of_batches([batch for _, batch in X.blocks()]) if hasattr(X, "blocks") else BaseTable.of(X)


def _refuse_known(seen: SeenNames, names: Sequence[str]) -> None:
    twice = seen.add(names)
    if twice is not None:
        raise InputError(f"A made column would be called {twice!r}, as another is: rename the column of the table.")
