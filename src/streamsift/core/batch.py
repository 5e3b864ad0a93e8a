"""Batch, what a stream gives; check_batch, the only place where data is validated.

check_batch takes X in any form people have and returns a CheckedBatch: a C-contiguous, read-only float32 or float64
array (float32 stays float32), or a canonical CSR matrix, with label codes and the vocabularies that explain both.
It changes nothing: the caller keeps the new vocabularies only when its own work has succeeded. Tables, and arrays that
hold anything but numbers, are read by core/tables.py; codes of categories are translated by name into those of the
caller (core/categories.py).

NaN and infinity are looked for here with `scan=True`. A kernel that notices them by itself (a sum that is not finite)
passes `scan=False` and calls `refuse_value` for the wording, so that the data is read only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from streamsift.core.categories import NO_CATEGORIES, CategoryVocabulary, ColumnKinds, Meeting, recode
from streamsift.core.exceptions import InputError
from streamsift.core.limits import LARGEST
from streamsift.core.per_row import check_target, check_weight
from streamsift.core.sparse import check_csr
from streamsift.core.times import check_times, seconds, take_out_times
from streamsift.core.vocabulary import FeatureVocabulary, LabelVocabulary, labelled_rows

_OBJECTS = "OUSV"  # kinds of arrays whose columns have to be looked at: objects, text, records


@dataclass(frozen=True)
class Batch:
    """Some rows of a stream, with what the stream knows about them.

    `relevant` (indices of the true features) and `drifting` are known for generated streams only.
    `categorical` marks columns whose numbers are codes of categories. `kinds` gives the names behind the codes, by the
    place of the column; None where the source has bare numbers. `lines` are the lines of the file on which the rows
    begin, where it has lines.
    """

    X: Any
    y: Any
    feature_names: tuple[str, ...] | None = None
    categorical: NDArray[np.bool_] | None = None
    relevant: NDArray[np.intp] | None = None
    drifting: bool = False
    kinds: ColumnKinds | None = None
    lines: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def rows(self, which: slice | NDArray[Any]) -> Batch:
        """The same for some of the rows: a slice, or their numbers."""
        y = self.y
        if y is not None:
            y = y[which] if isinstance(which, slice) else np.asarray(y)[which]
        return replace(self, X=self.X[which], y=y, lines=None if self.lines is None else self.lines[which])


def column_names(X: Any) -> tuple[str, ...]:
    """The names of the columns of X, where it is a table of any kind; none for bare numbers."""
    if isinstance(X, Batch):
        return X.feature_names or ()
    if isinstance(X, np.ndarray):
        return X.dtype.names or ()
    if isinstance(X, list | tuple):
        return tuple(dict.fromkeys(str(key) for row in X if isinstance(row, Mapping) for key in row))
    names = getattr(X, "column_names", None)
    return tuple(map(str, getattr(X, "columns", ()) if names is None else names))


def columns_of(batch: Batch, first: int, stop: int) -> Batch:
    """The batch with some of its columns, which lie side by side.

    >>> columns_of(Batch(np.array([[1.0, 2.0, 3.0]]), np.array([0]), ("a", "b", "c")), 1, 3).feature_names
    ('b', 'c')
    """
    kinds = batch.kinds
    if kinds is not None:
        names = {place - first: kinds.names[place] for place in kinds.names if first <= place < stop}
        kinds = ColumnKinds(names, tuple(place - first for place in kinds.undecided if first <= place < stop))
    return replace(
        batch,
        X=batch.X[:, first:stop],
        feature_names=None if batch.feature_names is None else batch.feature_names[first:stop],
        categorical=None if batch.categorical is None else batch.categorical[first:stop],
        kinds=kinds,
    )


@dataclass(slots=True)  # not frozen: that would take three times as long to make, at every call
class CheckedBatch:
    """Rows ready for kernels: float matrix or CSR parts, label codes, and the vocabularies that know them.

    `categorical` marks the features whose numbers are codes of categories; `categories` has the names behind them,
    where they have any. `weight` is the sample_weight of the caller. `truth` are the relevant features, as only
    generated streams know them.
    """

    X: Any  # ndarray (C order, float32/float64, read-only) or scipy CSR
    codes: NDArray[np.int64]
    features: FeatureVocabulary
    labels: LabelVocabulary
    first_row: int
    has_absent: bool = False  # NaN stands for "this feature is not in this batch"
    categorical: NDArray[np.bool_] | None = None
    sparse: bool = field(default=False)
    moderate: bool = False  # no value is NaN, infinite or beyond LARGEST; False: not known
    categories: CategoryVocabulary = NO_CATEGORIES
    weight: NDArray[np.float64] | None = None
    truth: NDArray[np.intp] | None = None
    lines: NDArray[np.int64] | None = None  # of the file, where the rows come from one
    decay: float = 1.0  # what all weights so far are multiplied by, before the rows come; event time only
    times: NDArray[np.float64] | None = None  # when the rows happened, in seconds
    kept: NDArray[np.intp] | None = None  # the places of these rows in X, where rows without a label were left out
    n_unlabelled: int = 0  # rows that were left out
    target: NDArray[np.float64] | None = None  # the numbers to explain, where the task is regression

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def as_sparse(self, sparse: bool) -> CheckedBatch:
        """The same rows as CSR or as a dense array, for a state that was begun in the other form."""
        if sparse == self.sparse:
            return self
        if not sparse:
            dense = self.X.toarray()
            dense.flags.writeable = False
            return replace(self, X=dense, sparse=False)
        from scipy.sparse import csr_matrix

        return replace(self, X=csr_matrix(self.X), sparse=True)


def without_weightless_rows(batch: CheckedBatch) -> CheckedBatch:
    """The batch without its rows of weight 0."""
    if batch.weight is None or batch.weight.all():
        return batch
    kept = np.flatnonzero(batch.weight)
    X = batch.X[kept]
    return replace(
        batch,
        X=X if batch.sparse else _read_only(X),
        codes=batch.codes[kept],
        weight=batch.weight[kept],
        lines=None if batch.lines is None else batch.lines[kept],
        kept=kept if batch.kept is None else batch.kept[kept],
        target=None if batch.target is None else batch.target[kept],
    )


class CheckedMatrix(NamedTuple):
    """A float array or CSR matrix, its column names if it has any, whether it is sparse, and CheckedBatch.moderate.

    `kinds` says which columns are categories; None: these are bare numbers.
    """

    values: Any
    names: tuple[str, ...] | None
    sparse: bool = False
    moderate: bool = False
    kinds: ColumnKinds | None = None


def check_batch(
    X: Any,
    y: Any,
    *,
    owner: str,
    features: FeatureVocabulary | None = None,
    labels: LabelVocabulary | None = None,
    categories: CategoryVocabulary = NO_CATEGORIES,
    classes: Any = None,
    weight: Any = None,
    grow: bool = False,
    late: bool = True,
    sparse: bool = True,
    missing: bool = False,
    scan: bool = True,
    needs_y: bool = True,
    numeric_target: bool = False,
    first_row: int = 0,
    bare_codes: bool = False,
    unlabelled: bool = False,
    time: Any = None,
) -> CheckedBatch:
    """Check one batch and bring it into the form kernels take.

    Parameters: `grow` lets features arrive late, `late` says that the owner could be set to let them; `sparse` says
    whether CSR is supported; `missing` allows NaN; `scan` looks for NaN and infinity; `needs_y=False` accepts y=None
    (all codes 0); with `numeric_target` y is a number for each row (all codes 0); `bare_codes` takes an array of
    numbers also where `categories` knows columns by the names of their categories; `unlabelled` leaves out rows without
    a label, or, where no labels are needed, does not look at them; `time` says when the rows happened: the name of a
    column, which is then no feature, or one time for each row.
    """
    categorical = truth = names = kinds = lines = kept = target = None
    is_sparse = moderate = False
    if type(X) is np.ndarray and X.dtype.char in "fd":  # row by row, each detour counts
        matrix: Any = check_dense(X)
    elif isinstance(X, Batch):
        y = X.y if y is None else y
        matrix, names, is_sparse, moderate, kinds = check_matrix(X.X, owner=owner, sparse=sparse)
        names, categorical, truth = X.feature_names, X.categorical, X.relevant
        kinds = kinds if X.kinds is None else X.kinds
        lines = X.lines
    else:
        matrix, names, is_sparse, moderate, kinds = check_matrix(X, owner=owner, sparse=sparse)
    n_rows = matrix.shape[0]
    times = None
    if time is not None:
        if isinstance(time, str):
            times, matrix, names, kinds, categorical = take_out_times(time, matrix, names, kinds, categorical)
        else:
            times = check_times(time, n_rows)
    n_features = matrix.shape[1]
    vocabulary = labels if labels is not None else LabelVocabulary()
    if classes is not None:
        vocabulary = vocabulary.encode(classes)[1]
    n_given = n_rows
    if y is not None and unlabelled:
        y, kept = labelled_rows(y)
        if len(y) != n_rows:
            word = "number" if numeric_target else "label"
            raise InputError(f"X has {n_rows} rows but y has {len(y)} {word}s: give one {word} per row.")
        weight = None if weight is None else check_weight(weight, n_rows)
        if not needs_y:
            y = kept = None
        elif kept is not None:
            matrix, y, n_rows = matrix[kept], y[kept], len(kept)
            matrix = matrix if is_sparse else _read_only(matrix)
            lines = None if lines is None else lines[kept]
            weight = None if weight is None else weight[kept]
            times = None if times is None else times[kept]
    elif weight is not None:
        weight = check_weight(weight, n_rows)
    if y is None:
        if needs_y:
            raise InputError(f"{owner} requires y to be passed, but the target y is None: give one label per row.")
        codes = np.zeros(n_rows, np.int64)
    elif numeric_target:
        target, codes = check_target(y, n_rows, kept), np.zeros(n_rows, np.int64)
    else:
        codes = np.empty(0, np.int64)
        if n_rows:
            codes, vocabulary = vocabulary.encode_weighted(y, weight, first_row)
        if len(codes) != n_rows:
            raise InputError(f"X has {n_rows} rows but y has {len(codes)} labels: give one label per row.")
    has_absent = False
    n_known, slots = 0, None
    if features is None:
        features = FeatureVocabulary(names, n_features)
    else:
        n_known = features.n_features
        slots, features = features.match(names, n_features, grow=grow, owner=owner, late=late)
    named = kinds is not None or categories is not NO_CATEGORIES
    if named:
        meeting = Meeting(slots, n_known, features.name)
        matrix, categories = recode(matrix, kinds, categories, meeting, bare_codes=bare_codes)
    if slots is not None:
        if n_features < features.n_features and not (missing or is_sparse):
            # From here on NaN stands for an absent feature, so values that really are NaN are looked for now.
            given = CheckedBatch(
                matrix, codes, FeatureVocabulary(names, n_features), vocabulary, first_row, lines=lines, kept=kept
            )
            refuse_not_finite(given, nan_allowed=False)
        matrix, has_absent = _into_slots(matrix, slots, features.n_features, is_sparse)
        categorical = None if categorical is None else _spread(categorical, slots, features.n_features)
        truth = None if truth is None else slots[truth]
    if named and categories.names:
        mask = categories.mask(features.n_features)
        categorical = mask if categorical is None else categorical | mask
    batch = CheckedBatch(
        matrix,
        codes,
        features,
        vocabulary,
        first_row,
        has_absent,
        categorical,
        is_sparse,
        moderate,
        categories,
        weight,
        truth,
        lines,
        1.0,
        times,
        kept,
        n_given - n_rows,
        target,
    )
    if scan:
        refuse_not_finite(batch, nan_allowed=missing or has_absent)
    return batch


def looks_like_frame(X: Any) -> bool:
    """Whether X is of a package of tables; core/tables.py, which knows exactly, takes time to load."""
    return type(X).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow")


def _read_only(matrix: NDArray[Any]) -> NDArray[Any]:
    matrix.flags.writeable = False
    return matrix


def check_matrix(X: Any, *, owner: str, sparse: bool = True) -> CheckedMatrix:
    """Bring X in any form into the one kernels take."""
    if type(X) is np.ndarray and X.dtype.kind not in _OBJECTS:
        return CheckedMatrix(check_dense(X), None)
    package = type(X).__module__.partition(".")[0]
    if package == "scipy" and hasattr(X, "tocsr"):
        if not sparse:
            raise InputError(f"Sparse data was passed, but dense data is required by {owner}: use X.toarray().")
        matrix, moderate = check_csr(X)
        return CheckedMatrix(matrix, None, True, moderate)
    if package == "polars" and hasattr(X, "collect"):
        raise InputError("X is a LazyFrame, which holds no rows yet: call X.collect() first.")
    from streamsift.core import tables  # pyarrow: only for those who need it

    if isinstance(X, Iterator):  # of rows as dicts, or of any other rows
        X = list(X)
    if tables.is_table(X):
        return tables.read_table(X)
    if isinstance(X, Mapping):
        raise InputError("X is a dict: give a list of dicts, one for each row, or a table.")
    if hasattr(X, "toarray"):
        raise InputError(f"X is a {type(X).__name__}: give sparse data as a scipy CSR matrix.")
    if isinstance(X, np.ma.MaskedArray):
        plain = X.dtype.kind in "biuf"
        X = np.ma.filled(X.astype(np.float64 if plain else object), np.nan if plain else None)
    array = _as_array(X)
    if array.dtype.kind in _OBJECTS:
        _check_shape(array)
        return tables.read_objects(array)
    return CheckedMatrix(check_dense(array), None)


def _as_array(X: Any) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError as error:  # rows of different lengths
        sizes = [len(row) if hasattr(row, "__len__") else 0 for row in X]
        row = next((row for row, size in enumerate(sizes) if size != sizes[0]), 0)
        raise InputError(
            f"Row {row} of X has {sizes[row]} values where row 0 has {sizes[0]}, or a list within the row: give each "
            "row one number for each feature."
        ) from error


def check_dense(X: NDArray[Any]) -> NDArray[Any]:
    """An array of numbers as C-ordered, read-only floats of two dimensions."""
    if X.ndim != 2 or 0 in X.shape:
        _check_shape(X)
    dtype = X.dtype
    array = np.ascontiguousarray(X if dtype.char in "fd" and dtype.isnative else _as_float(X))
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False  # kernels see one array type, and nobody's data can be changed
    return array


def _check_shape(X: NDArray[Any]) -> None:
    if X.ndim != 2:
        hint = "Reshape your data: one row is X.reshape(1, -1), one column is X.reshape(-1, 1)."
        raise InputError(f"Expected 2D array, got {'scalar' if X.ndim == 0 else f'{X.ndim}D'} array instead. {hint}")
    if X.shape[0] == 0:
        raise InputError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    if X.shape[1] == 0:
        raise InputError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")


def _as_float(X: NDArray[Any]) -> NDArray[Any]:
    kind, size = X.dtype.kind, X.dtype.itemsize
    if kind in "bui" and size <= 2:
        return np.ascontiguousarray(X, np.float32)  # exact
    if kind in "Mm":
        return seconds(X)
    if kind == "c":
        raise InputError(
            f"Complex data not supported: X has dtype {X.dtype}; give its real and imaginary parts as columns."
        )
    return np.ascontiguousarray(X, np.float32 if kind == "f" and size <= 4 else np.float64)


def _into_slots(matrix: Any, slots: NDArray[np.intp], n_features: int, sparse: bool) -> tuple[Any, bool]:
    """Put the columns of a batch where they belong; what is not there is NaN (dense) or 0 (sparse)."""
    if sparse:
        from scipy.sparse import csr_matrix

        moved = csr_matrix((matrix.data, slots[matrix.indices], matrix.indptr), (matrix.shape[0], n_features))
        moved.sort_indices()
        return moved, False
    full = np.full((matrix.shape[0], n_features), np.nan, matrix.dtype)
    full[:, slots] = matrix
    full.flags.writeable = False
    return full, len(slots) < n_features


def _spread(mask: NDArray[np.bool_], slots: NDArray[np.intp], n_features: int) -> NDArray[np.bool_]:
    full = np.zeros(n_features, bool)
    full[slots] = mask
    return full


def refuse_not_finite(batch: CheckedBatch, *, nan_allowed: bool) -> None:
    """Raise InputError for the first value that is infinite, or NaN where that is not allowed."""
    if batch.moderate:
        return
    values = batch.X.data if batch.sparse else batch.X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values)):  # an overflow only leads to a closer look
            return
    bad = np.isinf(values) if nan_allowed else ~np.isfinite(values)
    if not bad.any():
        return
    place = int(np.argmax(bad))
    if batch.sparse:
        row = int(np.searchsorted(batch.X.indptr, place, side="right")) - 1
        refuse_value(batch, row, int(batch.X.indices[place]), values[place])
    row, column = divmod(place, values.shape[1])
    refuse_value(batch, row, column, values[row, column])


def refuse_value(batch: CheckedBatch, row: int, column: int, value: float) -> NoReturn:
    """Raise the error for one bad value, naming its row and column."""
    what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"too large ({value:.3g})"
    advice = {
        "NaN": "fill it in, drop the row, or use a method with missing='skip' (--missing skip)",
        "infinity": "replace it by a finite number or drop the row",
    }.get(what, f"rescale the column, values beyond {LARGEST:g} overflow when squared")
    name = repr(batch.features.name(column))
    if batch.lines is None:
        row = row if batch.kept is None else int(batch.kept[row])
        stream = f" (row {batch.first_row + row} of the stream)" if batch.first_row else ""
        where = f"Row {row}{stream}, column {name} of X"
    else:
        where = f"Line {batch.lines[row]} of the file, column {name}"
    raise InputError(f"{where} is {what}: {advice}.")
