"""Numbers and categories side by side: each feature goes to the summary of its kind.

The numeric summary (class moments or quantiles) has the numeric features only, CategoryCounts the categorical ones. A
feature that has had no value at all is in neither until its first value says what it is; in sparse rows, where no value
means 0, it is a number. The order of features within a summary is that in which their kind became known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch, refuse_not_finite
from streamsift.core.categories import Mapped
from streamsift.core.exceptions import InputError, MergeError
from streamsift.core.state import Distinct, Finite, Shape, Sizes, Within
from streamsift.core.vocabulary import FeatureVocabulary
from streamsift.summaries.category_counts import CategoryCounts
from streamsift.summaries.fading import row_weights
from streamsift.summaries.moments import ClassMoments, SparseClassMoments, refuse_bad_values
from streamsift.summaries.quantiles import QuantileSummary
from streamsift.summaries.sparse_quantiles import SparseQuantileSummary

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NumberSummary = ClassMoments | SparseClassMoments | QuantileSummary | SparseQuantileSummary

_LARGEST_CODE = 2**53


@dataclass
class MixedSummary:
    """A summary of the numeric features and the counts of the categorical ones."""

    n_features: int
    # The feature behind each column of `numbers`, and behind each one of `categories`.
    number_slots: Annotated[Ints, Shape("n_numbers"), Within(0, "n_features - 1"), Distinct()]
    category_slots: Annotated[Ints, Shape("n_categorical"), Within(0, "n_features - 1"), Distinct()]
    categories: CategoryCounts
    numbers: Any
    weight_sum: Annotated[float, Within(0.0), Finite()] = 0.0  # of all rows, as it is now
    square_sum: Annotated[float, Within(0.0), Finite()] = 0.0  # of the squares of their weights

    own_sizes: ClassVar[dict[str, dict[str, str]]] = {
        "numbers": {"n_features": "n_numbers"},
        "categories": {"n_features": "n_categorical"},
    }

    def problem(self, sizes: Sizes) -> str | None:
        """What declarations cannot say, in a few words."""
        if self.n_features != sizes["n_features"]:
            return f"n_features is {self.n_features} instead of {sizes['n_features']}"
        # (Σw)² ≤ n Σw², as roots: forged sums may be too large to be squared
        most = math.sqrt(self.square_sum) * math.sqrt(sizes["n_rows_seen"])
        if self.square_sum > 0.0 and self.weight_sum > most * (1.0 + 5e-7):
            return "weight_sum and square_sum are not those of so few rows"
        both = np.intersect1d(self.number_slots, self.category_slots)
        return f"feature {both[0]} is both numbers and categories" if len(both) else None

    @classmethod
    def of(cls, numbers: NumberSummary, categories: CategoryCounts) -> MixedSummary:
        """Without any feature yet."""
        none = np.zeros(0, np.int64)
        return MIXED[type(numbers)](0, none, none.copy(), categories, numbers)

    @property
    def sparse(self) -> bool:
        return isinstance(self.numbers, SparseClassMoments | SparseQuantileSummary)

    # -- learning -----------------------------------------------------------------------------------------------

    def learn(self, batch: CheckedBatch, *, skip_missing: bool) -> None:
        """Absorb a batch; whatever is wrong with it is refused before anything changes."""
        batch = batch.as_sparse(self.sparse)
        number_slots, category_slots = self._sorted_out(batch)
        if not len(category_slots) and len(number_slots) == batch.features.n_features:
            self.numbers.learn(batch, skip_missing=skip_missing)
        else:
            from_bins = isinstance(self.numbers, QuantileSummary | SparseQuantileSummary)
            refuse = refuse_not_finite if from_bins else refuse_bad_values
            refuse(batch, nan_allowed=skip_missing or batch.has_absent)
            columns = _code_columns(batch, category_slots)
            if len(number_slots) or self.sparse:  # sparse: a feature that comes late has been 0 in these rows
                self.numbers.learn(_part(batch, number_slots), skip_missing=skip_missing)
            else:  # without a column of its own it would not hear of new classes
                known = np.arange(_n_classes(self.numbers))
                self.numbers = self.numbers.aligned(known, max(len(batch.labels), len(known)))
            self.categories.learn(columns, batch.codes, len(batch.labels), batch.weight, batch.decay)
        self.n_features = batch.features.n_features
        self.number_slots, self.category_slots = number_slots, category_slots
        self._count_weights(batch)

    def _count_weights(self, batch: CheckedBatch) -> None:
        fading, n_rows = self.categories.fading, batch.n_rows
        if fading == 1.0 and batch.weight is None:
            self.weight_sum = self.weight_sum * batch.decay + n_rows
            self.square_sum = self.square_sum * batch.decay**2 + n_rows
            return
        weights = row_weights(fading, n_rows)
        weights = weights if batch.weight is None else weights * batch.weight
        kept = math.pow(fading, n_rows) * batch.decay
        self.weight_sum = self.weight_sum * kept + float(weights.sum())
        self.square_sum = self.square_sum * kept**2 + float(weights @ weights)

    @property
    def rows_per_weight(self) -> float:
        """How many equally weighted rows a weight of 1 stands for: sum w / sum w^2."""
        return self.weight_sum / self.square_sum if self.square_sum > 0.0 else 1.0

    def refuse(self, batch: CheckedBatch, *, skip_missing: bool) -> None:
        """Raise InputError for a batch that could not be learnt, at once or cut into pieces."""
        refuse_bad_values(batch, nan_allowed=skip_missing or batch.has_absent)
        _code_columns(batch, self._sorted_out(batch)[1])

    def _sorted_out(self, batch: CheckedBatch) -> tuple[Ints, Ints]:
        """The features that are numbers and those that are categories, the known ones first."""
        n_features = batch.features.n_features
        if len(self.number_slots) == n_features and batch.categorical is None:
            return self.number_slots, self.category_slots
        new = np.ones(n_features, bool)
        new[self.number_slots] = new[self.category_slots] = False
        if batch.categorical is None:
            is_category = np.zeros(n_features, bool)
        else:
            is_category = batch.categorical
            changed = is_category[self.number_slots]
            if changed.any():
                name = batch.features.name(int(self.number_slots[np.argmax(changed)]))
                raise InputError(
                    f"Column {name!r} changes between numbers and categories: it was numbers so far, and is marked as "
                    "categories now; give it one type."
                )
        waiting = np.zeros(n_features, bool)
        if not self.sparse:
            waiting[list(batch.categories.undecided)] = True
        numbers = np.flatnonzero(new & ~is_category & ~waiting)
        categories = np.flatnonzero(new & is_category)
        return np.append(self.number_slots, numbers), np.append(self.category_slots, categories)

    # -- merging ------------------------------------------------------------------------------------------------

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self.numbers.fade(factor)
        self.categories.fade(factor)
        self.weight_sum, self.square_sum = self.weight_sum * factor, self.square_sum * factor**2

    def aligned(self, classes: Ints, n_classes: int) -> Self:
        """The same with class c moved to classes[c]."""
        return replace(
            self,
            numbers=self.numbers.aligned(classes, n_classes),
            categories=self.categories.aligned(classes, n_classes),
        )

    def renamed(self, mapped: Mapped) -> Self:
        """The same with code c of feature j moved to mapped[j][c]."""
        places = {int(slot): place for place, slot in enumerate(self.category_slots)}
        categories = self.categories.renamed({places[slot]: codes for slot, codes in mapped.items() if slot in places})
        return replace(self, categories=categories)

    def merge(self, other: Self) -> None:
        """Add another summary of the same features, with the same classes and codes."""
        self.number_slots = self._in_common("numbers", self.number_slots, other, other.number_slots)
        self.category_slots = self._in_common("categories", self.category_slots, other, other.category_slots)
        if len(self.number_slots):
            self.numbers.merge(other.numbers)
        self.categories.merge(other.categories)
        self.n_features = max(self.n_features, other.n_features)
        self.weight_sum += other.weight_sum
        self.square_sum += other.square_sum

    def _in_common(self, part: str, mine: Ints, other: Self, theirs: Ints) -> Ints:
        """Bring one part of both to the same features in the same order, and return these."""
        if np.array_equal(mine, theirs):
            return mine
        if part == "numbers" and self.sparse:
            raise MergeError(
                "Cannot merge: the two selectors learnt sparse rows, and a column without any value turned out to "
                "hold categories in one of them; feed one selector with all rows."
            )
        both = np.union1d(mine, theirs)
        for summary, slots in ((self, mine), (other, theirs)):
            places = np.full(len(both), -1)
            places[np.searchsorted(both, slots)] = np.arange(len(slots))
            setattr(summary, part, getattr(summary, part).taken(places))
        return both


@dataclass
class MixedMoments(MixedSummary):
    numbers: ClassMoments


@dataclass
class MixedSparseMoments(MixedSummary):
    numbers: SparseClassMoments


@dataclass
class MixedQuantiles(MixedSummary):
    numbers: QuantileSummary


@dataclass
class MixedSparseQuantiles(MixedSummary):
    numbers: SparseQuantileSummary


MIXED: dict[type[Any], type[MixedSummary]] = {
    ClassMoments: MixedMoments,
    SparseClassMoments: MixedSparseMoments,
    QuantileSummary: MixedQuantiles,
    SparseQuantileSummary: MixedSparseQuantiles,
}


def _n_classes(numbers: Any) -> int:
    """The classes that a summary of dense rows knows."""
    return len(numbers.weight) if isinstance(numbers, ClassMoments) else int(numbers.weights.shape[1])


def _part(batch: CheckedBatch, slots: Ints) -> CheckedBatch:
    """The batch with some of its features only."""
    names = batch.features.names
    features = FeatureVocabulary(None if names is None else [names[slot] for slot in slots], len(slots))
    X = batch.X[:, slots]
    if not batch.sparse:
        X = np.ascontiguousarray(X)
        X.flags.writeable = False
    return replace(batch, X=X, features=features)


def _code_columns(batch: CheckedBatch, slots: Ints) -> Floats:
    """The codes of some features, a line each; codes that no category can have are refused."""
    X = batch.X[:, slots]
    columns = np.ascontiguousarray((X.toarray() if batch.sparse else X).T, np.float64)
    bare = [place for place, slot in enumerate(slots.tolist()) if slot not in batch.categories.names]
    for place in bare:
        codes = columns[place]
        wrong = ~(np.isnan(codes) | ((codes >= 0.0) & (codes < _LARGEST_CODE) & (codes == np.floor(codes))))
        if wrong.any():
            row = int(np.argmax(wrong))
            given, name = row if batch.kept is None else int(batch.kept[row]), batch.features.name(int(slots[place]))
            raise InputError(
                f"Row {given}, column {name!r} of X is {codes[row]:g}, but the column is marked as categories: codes "
                "of categories are whole numbers from 0."
            )
    return columns
