"""TableDecoder: Arrow record batches of one schema become batches, with the features of core/tables.py and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.categories import MOST_CATEGORIES, Categories
from streamsift.core.decoder import FeatureDecoder, Place
from streamsift.core.exceptions import InputError, ParameterError, ReaderError, UnknownNameError, near_misses
from streamsift.core.vocabulary import check_names
from streamsift.streams.files import READ_LIMITS, ReadLimits, how_to_raise, too_many_columns
from streamsift.streams.labels import labels_of


class TableDecoder(FeatureDecoder):
    """A decoder that knows which column is the target; None: the labels come from elsewhere.

    The names of the columns are checked by whoever knows the limits of the source: `unique_names`.
    `categorical` names columns to be read as categories, `truths` columns of text that spell true and false; for the
    other parameters see FeatureDecoder.
    """

    def __init__(
        self,
        schema: Any,
        target: str | None,
        *,
        source: str,
        sample: Any = None,
        categorical: Iterable[str] = (),
        truths: Iterable[str] = (),
        declared: Mapping[str, Categories] | None = None,
        most_categories: int = MOST_CATEGORIES,
    ) -> None:
        names = tuple(schema.names)
        if set(names) <= {target}:
            raise ReaderError(f"{source} has no feature columns besides the target: there is nothing to select from.")
        self.target = target
        self._target_place = None if target is None else names.index(target)
        self.skip_unlabelled = self.keep_unlabelled = False
        self.n_skipped = 0  # or kept: rows without a label
        super().__init__(
            schema,
            source=source,
            left_out=() if target is None else (target,),
            sample=sample,
            categorical=check_columns(categorical, names, source),
            truths=tuple(truths),
            declared=declared,
            most_categories=most_categories,
        )

    def batch(
        self,
        rows: Any,
        place: Place,
        labels: NDArray[Any] | None = None,
        *,
        lines: NDArray[np.int64] | None = None,
    ) -> Batch:
        """One RecordBatch of the schema as a Batch; `place` words where a row is, for errors.

        Where the labels come from the rows, those without one may be left out.
        """
        if labels is None:
            assert self._target_place is not None
            rows, kept = self.labelled(rows)
            if kept is not None:
                place, lines = moved(place, kept), None if lines is None else lines[kept]
            labels = self.with_gaps(rows, place, lambda column, at: labels_of(column, str(self.target), at))
        X = self.decode(rows, place)
        return Batch(X, labels, self.feature_names, self.categorical, kinds=self.kinds(), lines=lines)

    def with_gaps(self, rows: Any, place: Place, read: Callable[[Any, Place], NDArray[Any]]) -> NDArray[Any]:
        """The labels as `read` reads them from the target; where rows without one are to be kept, theirs are None."""
        assert self._target_place is not None
        column = rows.column(self._target_place)
        if not self.keep_unlabelled:
            return read(column, place)
        known = ~np.asarray(column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False))
        if known.all():
            return read(column, place)
        self.n_skipped += int(np.count_nonzero(~known))
        labels, kept = np.full(len(column), None, object), np.flatnonzero(known)
        if len(kept):
            labels[kept] = read(column.filter(pa.array(known)), moved(place, kept))
        return labels

    def labelled(self, rows: Any) -> tuple[Any, NDArray[np.intp] | None]:
        """The rows that have a label, and their places; None: all, or those without one are not to be skipped."""
        assert self._target_place is not None
        target = rows.column(self._target_place)
        if not self.skip_unlabelled:
            return rows, None
        known = ~np.asarray(target.is_null(nan_is_null=True).to_numpy(zero_copy_only=False))
        if known.all():
            return rows, None
        self.n_skipped += int(np.count_nonzero(~known))
        return rows.filter(pa.array(known)), np.flatnonzero(known)


def words_for_skipped(target: str | None, n_rows: int) -> str:
    """What is said about rows that were left out.

    >>> words_for_skipped("sex", 1)
    'sex: 1 row without a label was skipped'
    """
    words = "row without a label was" if n_rows == 1 else "rows without a label were"
    return f"{target}: {n_rows:,} {words} skipped"


def moved(place: Place, kept: NDArray[np.intp]) -> Place:
    """Places of the rows that were kept."""
    return lambda row: place(int(kept[row]))


def unique_names(names: Sequence[str], source: str, limits: ReadLimits = READ_LIMITS) -> tuple[str, ...]:
    """Column names, refused with the file's name when two are equal, one is too long or there are too many."""
    if len(names) > limits.most_columns:
        raise too_many_columns(source, len(names), limits.most_columns, "most_columns")
    try:
        known = check_names(names)
    except InputError as error:
        raise ReaderError(f"{source}: {error}") from error
    longest = max(map(len, known), default=0)
    if longest > limits.longest_name:
        place = [len(name) for name in known].index(longest)
        raise ReaderError(
            f"The name of column {place} of {source} has {longest:,} characters, more than the {limits.longest_name:,} "
            f"allowed: look for a quote that is never closed, or, {how_to_raise('longest_name')}."
        )
    return known


def check_columns(chosen: Iterable[str], names: Sequence[str], source: str) -> set[str]:
    """Columns named by the user, refused when one does not exist."""
    wanted, known = set([chosen] if isinstance(chosen, str) else chosen), set(names)
    for name in sorted(wanted - known):
        raise UnknownNameError(f"column of {source} called", name, names)
    return wanted


def refuse_ignored_target(target: str | None, ignore: Iterable[str]) -> None:
    """The target cannot be left out."""
    if target is not None and target in tuple(ignore):
        raise ParameterError(f"The column {target!r} is the target and cannot be ignored: leave it out of 'ignore'.")


def without(schema: Any, ignore: Iterable[str], source: str) -> Any:
    """The schema without the ignored columns."""
    ignored = check_columns(ignore, schema.names, source)
    return pa.schema([field for field in schema if field.name not in ignored]) if ignored else schema


def check_target(target: str | None, names: Sequence[str], source: str) -> str:
    """The target's name, if it is one of the columns."""
    if target is None:
        raise ParameterError(f"{source} needs the name of its target column: pass target=. {near_misses('', names)}")
    if target not in names:
        raise UnknownNameError("target column", target, names)
    return target
