"""Rows on their way through a StreamPipeline: the transformers before the selector, and what the learner sees.

Transformers see the numbers; categories pass by them. The learner sees numbers only: a category becomes a column of 0
and 1 (core/one_hot.py), a missing category is 0 in all of them, and a missing number the mean of those learnt so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch, CheckedBatch
from streamsift.core.categories import CategoryVocabulary, ColumnKinds
from streamsift.core.exceptions import InputError
from streamsift.core.one_hot import OneHotColumns
from streamsift.core.vocabulary import FeatureVocabulary, LabelVocabulary

MISSING = "(missing)"  # the category of a missing one, for selectors that cannot skip it

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class PipelineRows:
    """Rows as the selector gets them: numbers or CSR, names if there are any, names of categories by column."""

    X: Any
    names: tuple[str, ...] | None
    categories: dict[int, tuple[str, ...]]

    def batch(self, y: Any) -> Batch:
        """The same for a selector."""
        mask = np.isin(np.arange(self.X.shape[1]), list(self.categories)) if self.categories else None
        return Batch(self.X, y, self.names, mask, kinds=ColumnKinds(self.categories) if self.categories else None)

    def first(self, n_features: int) -> PipelineRows:
        """Without the columns that nobody knows yet."""
        if self.X.shape[1] <= n_features:
            return self
        names = None if self.names is None else self.names[:n_features]
        categories = {slot: names for slot, names in self.categories.items() if slot < n_features}
        return PipelineRows(self.X[:, :n_features], names, categories)


def rows_of(batch: CheckedBatch) -> PipelineRows:
    """Checked rows before the first transformer."""
    return PipelineRows(batch.X, batch.features.names, dict(batch.categories.names))


def transformed(
    rows: PipelineRows, steps: Sequence[tuple[str, Any]], y: Any = None, *, learn: bool = False
) -> PipelineRows:
    """Rows behind the transformers, which learn them first where asked to."""
    for name, step in steps:
        numbers = np.setdiff1d(np.arange(rows.X.shape[1]), list(rows.categories))
        block = rows.X[:, numbers] if rows.categories else rows.X
        if learn:
            step.partial_fit(block, y) if hasattr(step, "partial_fit") else step.fit(block, y)
        result = step.transform(block)
        result = result if hasattr(result, "tocsr") else np.asarray(result, np.float64)
        rows = _put_back(rows, numbers, result, name, step)
    return rows


def _put_back(rows: PipelineRows, numbers: Indices, result: Any, name: str, step: Any) -> PipelineRows:
    """Transformed numbers in their places; where their number is another one, in front of the categories."""
    if not rows.categories and result.shape[1] == len(numbers):
        return PipelineRows(result, rows.names, {})
    if result.shape[1] == len(numbers):
        X = np.array(rows.X, np.float64)
        X[:, numbers] = result
        return PipelineRows(X, rows.names, rows.categories)
    try:
        names = [f"{name}__{made}" for made in step.get_feature_names_out()]
    except (AttributeError, ValueError):
        names = [f"{name}{place}" for place in range(result.shape[1])]
    slots = sorted(rows.categories)
    known = rows.names or tuple(f"x{place}" for place in range(rows.X.shape[1]))
    if slots:
        result = np.column_stack([result, rows.X[:, slots]])
    first = len(names)
    categories = {first + place: rows.categories[slot] for place, slot in enumerate(slots)}
    return PipelineRows(result, (*names, *(known[slot] for slot in slots)), categories)


@dataclass
class LearnerRows:
    """Rows as the learner sees them, and what is needed to make them: means, and the columns of categories."""

    sums: Floats
    counts: Floats
    columns: OneHotColumns | None

    @classmethod
    def none(cls) -> LearnerRows:
        return cls(np.zeros(0), np.zeros(0), None)

    def learnt(self, rows: PipelineRows) -> tuple[Any, LearnerRows]:
        """Rows to learn, and what is known afterwards."""
        known = self._counted(rows)
        if rows.categories or self.columns is not None:
            columns = self.columns or OneHotColumns.of_numbers(len(self.sums))
            X, columns = known._expanded(rows, columns)
            return X, LearnerRows(known.sums, known.counts, columns)
        return known._filled(rows), known

    def seen(self, rows: PipelineRows) -> Any:
        """Rows to predict; categories that were never learnt are 0 in all columns."""
        rows = rows.first(len(self.sums))
        if self.columns is None:
            return self._filled(rows)
        return self._expanded(rows, self.columns)[0][:, : len(self.columns.features)]

    def places(self, chosen: Indices) -> Indices:
        """The columns of the chosen features."""
        if self.columns is None:
            return chosen
        return np.flatnonzero(np.isin(self.columns.features, chosen))

    def complete(self, rows: PipelineRows) -> PipelineRows:
        """The same rows without NaN: means for numbers, and for categories one of their own, MISSING."""
        if not isinstance(rows.X, np.ndarray):
            return rows
        rows = rows.first(len(self.sums))
        X, categories = np.array(self._filled(rows)), dict(rows.categories)
        for slot, names in rows.categories.items():
            gaps = np.isnan(rows.X[:, slot])
            if gaps.any():
                X[gaps, slot], categories[slot] = len(names), (*names, MISSING)
        return PipelineRows(X, rows.names, categories)

    def _counted(self, rows: PipelineRows) -> LearnerRows:
        more = rows.X.shape[1] - len(self.sums)
        sums, counts = np.pad(self.sums, (0, more)), np.pad(self.counts, (0, more))
        if isinstance(rows.X, np.ndarray):
            sums += np.nansum(rows.X, axis=0, dtype=np.float64)
            counts += (rows.X == rows.X).sum(axis=0)
        return LearnerRows(sums, counts, self.columns)

    def _filled(self, rows: PipelineRows) -> Any:
        """Without NaN: the mean for a number, the first category for a category."""
        if not isinstance(rows.X, np.ndarray):
            return rows.X
        missing = np.isnan(rows.X)
        if not missing.any():
            return rows.X
        means = np.divide(self.sums, self.counts, out=np.zeros(len(self.sums)), where=self.counts > 0)
        means[list(rows.categories)] = 0.0
        return np.where(missing, means, rows.X)

    def _expanded(self, rows: PipelineRows, columns: OneHotColumns) -> tuple[Any, OneHotColumns]:
        n_features = rows.X.shape[1]
        named = {slot: names for slot, names in rows.categories.items() if names}
        features = FeatureVocabulary(rows.names, n_features)
        batch = CheckedBatch(
            self._filled(rows),
            np.zeros(rows.X.shape[0], np.int64),
            features,
            LabelVocabulary(),
            0,
            sparse=not isinstance(rows.X, np.ndarray),
            categories=CategoryVocabulary(named, frozenset()),
        )
        seen, columns = columns.expanded(batch)
        X = seen.X
        if isinstance(X, np.ndarray):
            X = np.array(X)
            for slot in named:
                here = np.flatnonzero(np.isnan(rows.X[:, slot]))
                X[np.ix_(here, np.flatnonzero(columns.features == slot))] = 0.0
        return X, columns


def refuse_missing(batch: CheckedBatch) -> None:
    """Raise InputError for NaN, and for a late feature that is not in the batch."""
    values = batch.X.data if batch.sparse else batch.X
    if not np.isnan(values).any():
        return
    if batch.sparse:
        entries = batch.X.tocoo()
        place = int(np.argmax(np.isnan(entries.data)))
        row, column = int(entries.row[place]), int(entries.col[place])
    else:
        row, column = (int(place) for place in np.argwhere(np.isnan(batch.X))[0])
    name = batch.features.name(column)
    if batch.has_absent and np.isnan(batch.X[:, column]).all():
        raise InputError(
            f"Column {name!r} is not in this batch, and the learner has no value for it: give it, or set "
            "missing='mean' of the StreamPipeline."
        )
    of_stream = f" (row {batch.first_row + row} of the stream)" if batch.first_row else ""
    raise InputError(
        f"Row {row}{of_stream}, column {name!r} of X is missing (NaN), and the learner has no value for it: fill it "
        "in, drop the row, or set missing='mean' of the StreamPipeline."
    )
