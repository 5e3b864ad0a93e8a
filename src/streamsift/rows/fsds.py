"""FSDS: features that the leading directions of the data are made of; labels are not used.

Paper: H. Huang, S. Yoo and S. Kasiviswanathan, Unsupervised Feature Selection on Data Streams (2015). A sketch B of
shape (features, l) stands for all rows so far (frequent directions). For each batch, with C = [B, X'] = U S V':

    s_i <- sqrt(s_i^2 - s_l^2) for the l largest singular values,    B <- U_l diag(s)
    score_j = max over i <= k of |u_ji| s_i / (s_i^2 + ridge),        ridge = 8 s_k

which is the ridge regression of the k leading right singular vectors on the sketched features. The data is not
centred, as in the paper, so a column with a large mean is a leading direction by itself: scale features first.

- l is floor(sqrt(features)), at least 2 k; it is fixed by the first batch and stays when features arrive late.
- Singular vectors come from the l leading eigenvectors of the smaller of C'C and C C', which is many times faster than
  the decomposition of C. It squares the ratio of singular values, so where that ratio is beyond 1e4 (or squares
  overflow) C itself is decomposed.
- The sketch is compressed once per batch, so the cut into batches changes the result within the sketch's error.
- Linear algebra runs in one thread: a batch is too little work to share, and threads that wait for each other take
  several times as long.

Fading, of which the paper says nothing: the sketch stands for X' X, a sum over the rows, so rows weigh as everywhere
else, and the lengths of the sketch are multiplied by the square root of what is left of the rows before.

Labels may be given; only their number is checked. An absent feature counts as 0. Data that is 0 everywhere scores 0.
With d = features and m = l + rows of a batch, time per batch is O(d m min(d, m)), memory 8 d l bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg.blas import dgemm
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from streamsift.core.batch import CheckedBatch, refuse_not_finite
from streamsift.core.constraints import Integer, IsNone, Limits, Real
from streamsift.core.half_life import HALF_LIFE_LIMITS, TIME_LIMITS
from streamsift.core.rows import CATEGORICAL_LIMITS, N_FEATURES_LIMITS, NEW_FEATURES_LIMITS, RowSelector
from streamsift.core.state import Finite, Shape, Sizes, Within
from streamsift.core.tags import Categorical, StreamTags
from streamsift.kernels.tridiagonal import (
    are_eigenvectors,
    leading_values,
    orthogonalise,
    reflect_back,
    to_tridiagonal,
    vectors_of,
)
from streamsift.summaries.absent import rows_with_zeros
from streamsift.summaries.fading import batch_weights

RIDGE = 8.0  # the paper's alpha, in units of the k-th singular value
SQUARABLE = (1e-100, 1e100)  # matrices whose entries may be squared
LONGEST = 1e300  # of a direction; a longer sketch is made shorter as a whole, so that the next batch can be added
LARGEST_RATIO = 1e8  # of the squares of singular values: beyond it an eigendecomposition has too few digits left

Floats = NDArray[np.float64]


@dataclass
class SketchState:
    """The sketch B' = lengths * directions, shape (l, n_features), longest direction first."""

    directions: Annotated[Floats, Shape("n_directions", "n_features"), Finite(1.01)]
    lengths: Annotated[Floats, Shape("n_directions"), Within(0.0, LONGEST)]

    def problem(self, sizes: Sizes) -> str | None:
        if not len(self.lengths):
            return "lengths holds no direction"
        return "lengths are not sorted" if (np.diff(self.lengths) > 0.0).any() else None


class FSDS(RowSelector):
    """Sketch the rows by a few directions and rank features by their part in the leading ones.

    On 34 real sets its ten features reach an accuracy of .664 on average where random ones have .637 and those of
    Fisher's score .742; on 11 sets random ones are better, on 21 those of Fisher's score (docs/methods/defaults.md). It
    is here as a rival to compare with.

    Parameters
    ----------
    n_features_to_select : int or float, default 10
        How many features to select: a number, or a fraction in (0, 1].
    sketch_size : int or None, default None
        Directions kept (the paper's l); None takes the square root of the number of features, at least twice
        `n_components`.
    n_components : int, default 2
        Leading directions that scores are made of (the paper's k).
    fading : float in (0, 1], default 1.0
        Weight of a row relative to the next one. 1 remembers everything; 0.999 forgets half within 693 rows.
    half_life : float, str or None, default None
        Fading in other words: after how many rows (a number) or after how much event time (a text such as "1h") a row
        weighs half. Event time needs the time of each row (`time`). Give this or `fading`.
    time : str or None, default None
        The column with the times of the rows, for a half-life in event time: dates, or seconds. It is no feature.
        Without it, times are given to `partial_fit`.
    new_features : {"error", "add"}, default "error"
        Whether a feature that arrives late is refused, or counts as 0 in the rows before.
    categorical : {"one_hot", "codes"}, default "one_hot"
        What becomes of a column of categories: a column of 0 and 1 for each of them, the largest score of which is the
        score of the feature, or the codes taken as numbers.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
    n_rows_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.rows.fsds import FSDS
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(500, 1))
    >>> X = 0.3 * rng.normal(size=(500, 9))
    >>> X[:, [2, 5]] += hidden
    >>> FSDS(n_features_to_select=2, n_components=1).partial_fit(X).get_support(indices=True).tolist()
    [2, 5]
    """

    parameter_limits: ClassVar[Limits] = {
        "n_features_to_select": N_FEATURES_LIMITS,
        "sketch_size": (Integer(1, None), IsNone()),
        "n_components": (Integer(1, None),),
        "fading": (Real(0, 1, closed="right"),),
        "half_life": HALF_LIFE_LIMITS,
        "time": TIME_LIMITS,
        "new_features": NEW_FEATURES_LIMITS,
        "categorical": CATEGORICAL_LIMITS,
    }
    state_type = SketchState
    scans_itself: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float = 10,
        *,
        sketch_size: int | None = None,
        n_components: int = 2,
        fading: float = 1.0,
        half_life: float | str | None = None,
        time: str | None = None,
        new_features: str = "error",
        categorical: Categorical = "one_hot",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.sketch_size = sketch_size
        self.n_components = n_components
        self.fading = fading
        self.half_life = half_life
        self.time = time
        self.new_features = new_features
        self.categorical = categorical

    def stream_tags(self) -> StreamTags:
        """Unsupervised: y is not used."""
        return StreamTags(
            supervised=False,
            late_features=True,
            multi_class="none",
            weights=True,
            fades=True,
            ignores_constants=False,
            categorical=self.categorical,
        )

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None, time: Any = None
    ) -> Self:
        """Learn one more batch; y is not used.

        A row of `sample_weight` 2 is as good as two rows. `time` says when the rows happened, for a half-life in event
        time: one date or number of seconds per row, or the name of a column, which is taken out of X.
        """
        return self._absorb(X, y, classes, weight=sample_weight, time=time)

    def _bytes_needed(self, n_features: int, n_classes: int) -> int:
        return 2 * 8 * self._size_for(n_features) * n_features  # the sketch, and the next one

    def _size_for(self, n_features: int) -> int:
        """The paper's l."""
        return max(math.isqrt(n_features), 2 * self.n_components) if self.sketch_size is None else self.sketch_size

    def _begin(self, batch: CheckedBatch) -> SketchState:
        n_features = batch.features.n_features
        size = self._size_for(n_features)
        return SketchState(np.zeros((size, n_features)), np.zeros(size))

    def _learn(self, state: SketchState, batch: CheckedBatch) -> None:
        X = rows_with_zeros(batch)
        rate = self._rate()
        if batch.weight is not None or rate != 1.0:  # the sketch is of X' X: a row of weight 2 is as good as two rows
            X = X * np.sqrt(batch_weights(rate, batch))[:, None]
        size = len(state.lengths)
        known_lengths = state.lengths * math.sqrt(math.pow(rate, batch.n_rows) * batch.decay)
        used = np.count_nonzero(known_lengths)  # they are sorted, the rest of the sketch is 0
        known = state.directions[:used]
        if X.shape[1] > known.shape[1]:
            known = np.pad(known, ((0, 0), (0, X.shape[1] - known.shape[1])))
        try:
            with _one_thread():
                directions, lengths = leading_directions(known, known_lengths[:used], X, size)
        except FloatingPointError:
            refuse_not_finite(batch, nan_allowed=batch.has_absent)
            raise
        ratio = np.divide(lengths[-1], lengths, out=np.ones(size), where=lengths > 0.0)
        state.directions = directions
        state.lengths = lengths * np.sqrt((1.0 - ratio) * (1.0 + ratio))  # sqrt(s^2 - s_l^2) without the squares

    def _score(self, state: SketchState) -> Floats:
        lengths = state.lengths[: self.n_components]
        ridge = RIDGE * lengths[-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            # s / (s^2 + ridge) without the square; a direction of length 0 is none.
            share = np.where(lengths > 0.0, 1.0 / (lengths + ridge / lengths), 0.0)
        return np.asarray((np.abs(state.directions[: len(lengths)]) * share[:, None]).max(axis=0))


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread of linear algebra, set without the questions that threadpoolctl asks the libraries each time."""
    before = [(library, library.get_num_threads()) for library in _libraries()]
    changed = [(library, threads) for library, threads in before if threads != 1]
    for library, _ in changed:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, threads in changed:
            library.set_num_threads(threads)


@cache
def _libraries() -> list[Any]:
    """What sets the number of threads; finding the libraries takes long, so it is done once."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def leading_directions(known: Floats, lengths: Floats, X: Floats, size: int) -> tuple[Floats, Floats]:
    """The `size` leading right singular vectors (one per row) and values of a sketch and rows below it.

    The sketch is lengths * known, with orthogonal directions. Missing singular values are 0. Raises FloatingPointError
    if X holds NaN or infinity.

    >>> nothing, rows = np.zeros((0, 2)), np.array([[3.0, 0.0], [0.0, 4.0]])
    >>> directions, found = leading_directions(nothing, np.zeros(0), rows, 3)
    >>> found.round(9).tolist(), np.abs(directions[0]).round(9).tolist()
    ([4.0, 3.0, 0.0], [0.0, 1.0])
    """
    n_features, used = X.shape[1], len(known)
    n_rows = used + len(X)
    n_found = min(size, n_rows, n_features)
    directions, found = np.empty((size, n_features)), np.zeros(size)
    directions[n_found:] = 0.0
    wide = n_features >= n_rows
    with np.errstate(over="ignore", invalid="ignore"):
        squares = _products_of_rows(known, lengths, X) if wide else _products_of_columns(known, lengths, X)
        finite = np.isfinite(squares.trace())
    if finite:
        values, vectors = leading_eigenvectors(squares, n_found)
        if values[-1] > values[0] / LARGEST_RATIO > 0.0:
            found[:n_found] = np.sqrt(values)
            if wide:
                vectors = vectors / found[:n_found, None]
                # directions' = X' vectors' + known' (vectors * lengths)', written where it belongs
                into = dgemm(1.0, X.T, vectors[:, used:].T, c=directions[:n_found].T, overwrite_c=True)
                if used:
                    dgemm(1.0, known.T, (vectors[:, :used] * lengths).T, 1.0, into, overwrite_c=True)
            else:
                directions[:n_found] = vectors
            return directions, found
    if not finite and not np.isfinite(X).all():
        raise FloatingPointError("X holds NaN or infinity")
    rows = np.vstack([known * lengths[:, None], X])
    unit = float(np.abs(rows).max(initial=0.0)) or 1.0
    _, exact, vectors = linalg.svd(rows / unit, full_matrices=False, check_finite=False)
    if exact[0] > LONGEST / unit:
        unit = LONGEST / exact[0]
    found[:n_found] = exact[:n_found] * unit
    directions[:n_found] = vectors[:n_found]
    return directions, found


def leading_eigenvectors(squares: Floats, n: int) -> tuple[Floats, Floats]:
    """The n largest eigenvalues, largest first, and their eigenvectors, one per row.

    Of `squares`, which is symmetric, the lower triangle is read. Where eigenvalues lie so close that the vectors of our
    kernels are not orthogonal, all are made by LAPACK, which is slower and safe.

    >>> values, vectors = leading_eigenvectors(np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]), 1)
    >>> values.round(9).tolist(), np.abs(vectors).round(4).tolist()
    ([3.0], [[0.7071, 0.7071, 0.0]])
    """
    size = len(squares)
    if size > 2 and SQUARABLE[0] < squares.trace() < SQUARABLE[1]:
        diagonal, beside, factors, values = np.empty(size), np.empty(size), np.empty(size), np.empty(n)
        reflectors, rows = np.empty((size, size)), np.zeros((n + -n % 4, size))
        vectors = rows[:n]
        to_tridiagonal(squares.flatten(), diagonal, beside, reflectors, factors)
        bound = leading_values(diagonal, beside, values)
        vectors_of(diagonal, beside, values, vectors)
        if are_eigenvectors(diagonal, beside, values, vectors, 1e-13 * bound) and orthogonalise(vectors):
            reflect_back(reflectors, factors, rows)
            return values, vectors
    values, vectors = np.linalg.eigh(squares)
    return values[: -n - 1 : -1], vectors[:, : -n - 1 : -1].T


def _products_of_rows(known: Floats, lengths: Floats, X: Floats) -> Floats:
    """C C' of C = [sketch; X], the lower triangle; the sketch's own part is diagonal."""
    used = len(known)
    squares = np.zeros((used + len(X), used + len(X)))
    squares[np.arange(used), np.arange(used)] = lengths**2
    squares[used:, :used] = (X @ known.T) * lengths
    squares[used:, used:] = X @ X.T
    return squares


def _products_of_columns(known: Floats, lengths: Floats, X: Floats) -> Floats:
    """C'C of C = [sketch; X]."""
    sketch = known * lengths[:, None]
    return sketch.T @ sketch + X.T @ X
