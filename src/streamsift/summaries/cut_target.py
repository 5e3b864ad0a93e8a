"""Counts against a target that is a number: the summary of classes, with the cells of the target for classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from streamsift.core.batch import CheckedBatch
from streamsift.core.categories import Mapped
from streamsift.core.vocabulary import LabelVocabulary
from streamsift.summaries.class_reading import ClassReading
from streamsift.summaries.mixed import MixedQuantiles, MixedSparseQuantiles, MixedSummary
from streamsift.summaries.target_cells import TargetCells


@dataclass
class CutTarget:
    """The cells, and counts of every feature by their codes."""

    cells: TargetCells
    summary: Any

    own_sizes: ClassVar[dict[str, dict[str, str]]] = {"summary": {"n_classes": "n_cells"}}

    @classmethod
    def of(cls, cells: TargetCells, summary: MixedSummary) -> CutTarget:
        """Around a summary that has not met any class yet."""
        return CUT[type(summary)](cells, summary)

    def learn(self, batch: CheckedBatch, *, skip_missing: bool) -> None:
        """Absorb a batch; whatever is wrong with it is refused before anything changes."""
        assert batch.target is not None
        found = self.cells.placed(batch.target, batch.weight, batch.decay)
        n_before, n_after = len(found.moved), len(found.cells.means)
        if np.array_equal(found.moved, np.arange(n_before)):
            self.summary.learn(_with_classes(batch, found.codes, n_after), skip_missing=skip_missing)
        else:  # the new rows are classes of their own until it is sure that they can be learnt
            apart = _with_classes(batch, n_before + found.codes, n_before + n_after)
            self.summary.learn(apart, skip_missing=skip_missing)
            self.summary = self.summary.aligned(np.append(found.moved, np.arange(n_after)), n_after)
        self.cells = found.cells

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self.cells.fade(factor)
        self.summary.fade(factor)

    def renamed(self, mapped: Mapped) -> Self:
        """The same with code c of the categorical feature j moved to mapped[j][c]."""
        return replace(self, summary=self.summary.renamed(mapped))

    def merge(self, other: Self) -> None:
        """Add another with the same features and categories; both are changed."""
        mine, theirs = self.cells.merge(other.cells)
        n_cells = len(self.cells.means)
        self.summary = self.summary.aligned(mine, n_cells)
        self.summary.merge(other.summary.aligned(theirs, n_cells))

    def reading(self, n_bins: int) -> ClassReading:
        """The counts by bins of the target."""
        return ClassReading(self.summary, self.cells.groups(n_bins).of_code)


@dataclass
class CutQuantiles(CutTarget):
    summary: MixedQuantiles


@dataclass
class CutSparseQuantiles(CutTarget):
    summary: MixedSparseQuantiles


CUT: dict[type[MixedSummary], type[CutTarget]] = {
    MixedQuantiles: CutQuantiles,
    MixedSparseQuantiles: CutSparseQuantiles,
}


def _with_classes(batch: CheckedBatch, codes: Any, n_classes: int) -> CheckedBatch:
    return replace(batch, codes=codes, labels=_numbered(n_classes))


@lru_cache(maxsize=64)
def _numbered(n_classes: int) -> LabelVocabulary:
    return LabelVocabulary(range(n_classes))
