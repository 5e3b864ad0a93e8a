"""generate_columns: the stream of columns of the information-investing paper, as long as wanted.

Ungar, Zhou, Foster, Stine, section 3: independent standard normal columns; the target is the sum of the true ones plus
normal noise. The true columns lie at random places among the first `true_within` columns; the paper does not say where,
but appends useless columns behind the first 1,000 in its Table 3.

A column depends on the seed and its place only, so that a longer stream begins with the shorter one, and any column
can be made again, for the rows of the training set or of the test set. Blocks are never kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamsift.core.column_data import NumberedNames
from streamsift.core.constraints import Integer, Limits, RandomSeed, Real, check_parameters
from streamsift.core.exceptions import ParameterError

Floats = NDArray[np.float64]

BLOCK = 1000  # columns made from one seed
_LIMITS: Limits = {
    "n_columns": (Integer(1, None),),
    "n_true": (Integer(0, None),),
    "n_rows": (Integer(1, None),),
    "n_test_rows": (Integer(0, None),),
    "noise_variance": (Real(0, None),),
    "true_within": (Integer(1, None),),
    "seed": (RandomSeed(),),
}


@dataclass(frozen=True)
class GeneratedColumns:
    """The stream; iterate over it for pairs (names, block), as `selector.run` takes them."""

    n_columns: int
    n_true: int
    n_rows: int
    n_test_rows: int
    noise_variance: float
    true_within: int
    seed: int

    @cached_property
    def true_places(self) -> NDArray[np.intp]:
        """Where the true columns are, in order."""
        rng = np.random.default_rng([self.seed, 0])
        return np.sort(rng.choice(self.true_within, self.n_true, replace=False))

    @property
    def y(self) -> Floats:
        """The target of the training rows."""
        return self._target(test=False)

    @property
    def y_test(self) -> Floats:
        """The target of the test rows."""
        return self._target(test=True)

    def __iter__(self) -> Iterator[tuple[Sequence[str], Floats]]:
        for start in range(0, self.n_columns, BLOCK):
            stop = min(start + BLOCK, self.n_columns)
            yield NumberedNames(range(start, stop)), self._block(start // BLOCK, test=False)[:, : stop - start]

    def columns(self, places: Sequence[int] | NDArray[np.intp], *, test: bool = False) -> Floats:
        """Some columns again, for the training rows or for the test rows."""
        chosen = np.empty((self.n_test_rows if test else self.n_rows, len(places)))
        for block in {int(place) // BLOCK for place in places}:
            values = self._block(block, test=test)
            for k, place in enumerate(places):
                if place // BLOCK == block:
                    chosen[:, k] = values[:, place % BLOCK]
        return chosen

    def _block(self, number: int, *, test: bool) -> Floats:
        rows = self.n_test_rows if test else self.n_rows
        # One column after the other, so that the block is in Fortran order and its columns can be used as they are.
        return np.random.default_rng([self.seed, 1 + test, number]).standard_normal((BLOCK, rows)).T

    def _target(self, *, test: bool) -> Floats:
        rng = np.random.default_rng([self.seed, 3 + test])
        noise = rng.standard_normal(self.n_test_rows if test else self.n_rows) * np.sqrt(self.noise_variance)
        return np.asarray(self.columns(self.true_places, test=test).sum(axis=1) + noise)


def generate_columns(
    n_columns: int = 1000,
    *,
    n_true: int = 10,
    n_rows: int = 200,
    n_test_rows: int = 1000,
    noise_variance: float = 5.0,
    true_within: int = 1000,
    seed: int = 0,
) -> GeneratedColumns:
    """The paper's stream of columns; the defaults are those of its Table 1.

    Examples
    --------
    >>> from streamsift.columns.investing import Investing
    >>> stream = generate_columns(seed=4)
    >>> selector = Investing().run(stream)
    >>> found = set(selector.get_support(indices=True))
    >>> len(found), len(found - set(stream.true_places))
    (8, 0)
    """
    values = {
        "n_columns": n_columns,
        "n_true": n_true,
        "n_rows": n_rows,
        "n_test_rows": n_test_rows,
        "noise_variance": noise_variance,
        "true_within": true_within,
        "seed": seed,
    }
    check_parameters("generate_columns", values, _LIMITS)
    within = min(true_within, n_columns)
    if n_true > within:
        raise ParameterError(f"{n_true} true columns do not fit among the first {within}: ask for fewer.")
    return GeneratedColumns(n_columns, n_true, n_rows, n_test_rows, float(noise_variance), within, seed)
