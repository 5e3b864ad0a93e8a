"""Class moments: weighted count, mean and centred second moment of each feature within each class.

Two forms of the same statistic: ClassMoments for dense rows, SparseClassMoments whose cost is that of the non-zeros.
Both fade (summaries/fading.py), skip NaN if told to, take new classes and features at any time, and merge exactly.
`read()` gives true weights, means and second moments as (n_classes, n_features) arrays, `read(features)` those of some
features at the cost of these alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch, refuse_not_finite, refuse_value
from streamsift.core.limits import LARGEST, largest
from streamsift.core.state import Finite, Shape, Sizes, Within
from streamsift.kernels import moments as kernels
from streamsift.summaries.aligned import aligned_empty, aligned_zeros
from streamsift.summaries.fading import Age, Fading, advance, batch_weights, refuse_heavy_squares, weight_limit

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Moments(NamedTuple):
    """Weight (n_classes, 1 or n_features), mean and m2 (n_classes, n_features); m2 / weight is the variance."""

    weight: Floats
    mean: Floats
    m2: Floats


@dataclass
class ClassMoments:
    """Class moments of dense rows. `weight` has one column while no value has ever been missing."""

    fading: Fading
    age: Age
    weight: Annotated[Floats, Shape("n_classes", (1, "n_features")), Within(0.0), Finite()]
    mean: Annotated[Floats, Shape("n_classes", "n_features"), Finite(LARGEST)]
    m2: Annotated[Floats, Shape("n_classes", "n_features"), Within(0.0), Finite()]
    scratch: Floats = field(init=False, repr=False, default_factory=lambda: np.empty((3, 0, 0)))

    def problem(self, sizes: Sizes) -> str | None:
        return _problem(self.weight, self.m2, weight_limit(self.fading, self.age, sizes["n_rows_seen"]))

    @classmethod
    def empty(cls, fading: float, n_classes: int, n_features: int) -> Self:
        return cls(fading, 0, np.zeros((n_classes, 1)), *(aligned_zeros((n_classes, n_features)) for _ in range(2)))

    def learn(self, batch: CheckedBatch, *, skip_missing: bool) -> None:
        """Absorb a batch; raises InputError, before anything changes, for NaN, infinity or values too large."""
        codes, X, n_rows = batch.codes, batch.X, batch.n_rows
        if n_rows == 1 and batch.weight is None and self._learn_one(codes[0], X):
            return
        weight, mean, m2 = self._with_room(len(batch.labels), X.shape[1])
        weights = batch_weights(self.fading, batch)
        factor, scale, age = advance(self.fading, self.age, n_rows)
        factor *= batch.decay
        if weight.shape[1] == 1 or (weight[np.unique(codes)] > 0.0).all():
            weighted, decay = self.fading != 1.0 or batch.weight is not None, self.fading ** float(age)
            faded = (weight, mean, m2) if factor == 1.0 else (weight * factor, mean, m2 * factor)
            room = kernels.BatchRoom(
                np.empty(3 * len(weight) + 1 + n_rows, np.int64),
                np.empty(len(weight)),
                self._sums(min(len(weight), n_rows), X.shape[1]),
            )
            if kernels.add_batch(
                X, codes, weights, weighted, decay, scale, LARGEST, kernels.MomentArrays(*faded), room
            ):
                self.weight, self.mean, self.m2 = faded
                self.age = age
                return
        refuse_bad_values(batch, nan_allowed=skip_missing or batch.has_absent)
        refuse_heavy_squares(batch)
        weight, m2 = np.broadcast_to(weight, mean.shape) * factor, m2 * factor
        kernels.add_rows_with_gaps(X, codes, weights * scale, weight, mean, m2)
        self.weight, self.mean, self.m2, self.age = weight, mean, m2, age

    def _learn_one(self, code: int, X: NDArray[Any]) -> bool:
        """The short way for a single row of a known class; False where the long way is needed."""
        if X.shape[1] != self.mean.shape[1] or code >= len(self.weight) or self.weight.shape[1] != 1:
            return False
        factor, scale, age = advance(self.fading, self.age, 1)
        before = self.weight[code, 0] * factor
        if before == 0.0 or factor != 1.0 or not kernels.add_row(
            X[0], LARGEST, scale, before, self.mean[code], self.m2[code]
        ):  # fmt: skip
            return False
        self.weight[code, 0] = before + scale
        self.age = age
        return True

    def _sums(self, n_classes: int, n_features: int) -> Floats:
        """Room for shift, s and q of a batch, kept between batches: fresh pages would cost more than the sums."""
        if self.scratch.shape[1] < n_classes or self.scratch.shape[2] != n_features:
            self.scratch = aligned_empty((3, n_classes, n_features))
        return self.scratch

    def _with_room(self, n_classes: int, n_features: int) -> tuple[Floats, Floats, Floats]:
        """The arrays, with empty rows and columns for classes and features not met before."""
        old_classes, old_features = self.mean.shape
        if (n_classes, n_features) == (old_classes, old_features):
            return self.weight, self.mean, self.m2
        grow = ((0, n_classes - old_classes), (0, n_features - old_features))
        if n_features > old_features:  # a newcomer has been seen by no row yet
            weight = np.pad(np.broadcast_to(self.weight, self.mean.shape), grow)
        else:
            weight = np.pad(self.weight, (grow[0], (0, 0)))
        return weight, np.pad(self.mean, grow), np.pad(self.m2, grow)

    def read(self, features: Indices | None = None) -> Moments:
        scale = self.fading**self.age
        if features is None:
            return Moments(self.weight * scale, self.mean, self.m2 * scale)
        weight = self.weight if self.weight.shape[1] == 1 else self.weight[:, features]
        return Moments(weight * scale, self.mean[:, features], self.m2[:, features] * scale)

    def aligned(self, codes: NDArray[np.int64], n_classes: int) -> Self:
        """A copy at present scale whose class c has moved to codes[c]."""
        now = self.read()
        moved = [np.zeros((n_classes, part.shape[1])) for part in now]
        for target, part in zip(moved, now, strict=True):
            target[codes] = part
        return type(self)(self.fading, 0, *moved)

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self.weight, self.m2 = self.weight * factor, self.m2 * factor

    def taken(self, features: NDArray[np.int64]) -> Self:
        """A copy of some features, in this order; -1 stands for one that no row has had."""
        parts = (np.broadcast_to(part, self.mean.shape) for part in (self.weight, self.mean, self.m2))
        return type(self)(self.fading, self.age, *(np.pad(part, ((0, 0), (0, 1)))[:, features] for part in parts))

    def merge(self, other: Self) -> None:
        """Chan's formula for two parts; both at present scale (see `aligned`)."""
        if other.weight.shape[1] != self.weight.shape[1]:
            self.weight = np.broadcast_to(self.weight, self.mean.shape).copy()
        total = self.weight + other.weight
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(total > 0.0, other.weight / total, 0.0)
        distance = other.mean - self.mean
        self.m2 = self.m2 + other.m2 + distance * distance * (self.weight * share)
        self.mean = self.mean + distance * share
        self.weight = total


@dataclass
class SparseClassMoments:
    """Class moments of CSR rows: (weight, mean, m2) of the non-zeros; the rest of a class's weight are zeros."""

    fading: Fading
    age: Age
    class_weight: Annotated[Floats, Shape("n_classes"), Within(0.0), Finite()]
    nonzero: Annotated[Floats, Shape("n_classes", "n_features", 3), Finite()]
    skipped: Annotated[Floats, Shape("n_classes", (0, "n_features")), Within(0.0), Finite()]  # weight of NaN

    def problem(self, sizes: Sizes) -> str | None:
        weight, mean, m2 = np.moveaxis(self.nonzero, 2, 0)
        limit = weight_limit(self.fading, self.age, sizes["n_rows_seen"])
        if (weight < 0.0).any() or (m2 < 0.0).any() or (np.abs(mean) > LARGEST).any():
            return "nonzero holds weights, means or second moments that no rows can have"
        if (self.class_weight > limit).any() or (self.skipped > limit).any():
            return "class_weight or skipped is larger than the rows seen allow"
        return _problem(weight, m2, limit)

    @classmethod
    def empty(cls, fading: float, n_classes: int, n_features: int) -> Self:
        return cls(fading, 0, np.zeros(n_classes), np.zeros((n_classes, n_features, 3)), np.zeros((n_classes, 0)))

    def learn(self, batch: CheckedBatch, *, skip_missing: bool) -> None:
        refuse_bad_values(batch, nan_allowed=skip_missing)
        refuse_heavy_squares(batch)
        X: Any = batch.X
        self._make_room(len(batch.labels), X.shape[1])
        if skip_missing and self.skipped.shape[1] == 0:
            self.skipped = np.zeros(self.nonzero.shape[:2])
        factor, scale, self.age = advance(self.fading, self.age, batch.n_rows)
        factor *= batch.decay
        if factor != 1.0:
            self.fade(factor)
        weights = batch_weights(self.fading, batch)
        if scale != 1.0:
            weights = weights * scale
        counted = None if self.fading == 1.0 and batch.weight is None else weights
        self.class_weight += np.bincount(batch.codes, counted, minlength=len(self.class_weight))
        kernels.add_sparse_rows(X.data, X.indices, X.indptr, batch.codes, weights, self.nonzero, self.skipped)

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self.class_weight, self.skipped = self.class_weight * factor, self.skipped * factor
        self.nonzero[:, :, 0] *= factor
        self.nonzero[:, :, 2] *= factor

    def _make_room(self, n_classes: int, n_features: int) -> None:
        old_classes, old_features, _ = self.nonzero.shape
        if (n_classes, n_features) == (old_classes, old_features):
            return
        more_classes, more_features = (0, n_classes - old_classes), (0, n_features - old_features)
        self.class_weight = np.pad(self.class_weight, more_classes)
        self.nonzero = np.pad(self.nonzero, (more_classes, more_features, (0, 0)))
        self.skipped = np.pad(self.skipped, (more_classes, more_features if self.skipped.shape[1] else (0, 0)))

    def read(self, features: Indices | None = None) -> Moments:
        """Non-zeros and zeros together: two parts, one of which has mean and m2 zero."""
        scale = self.fading**self.age
        chosen = slice(None) if features is None else features
        nonzero_weight, nonzero_mean, nonzero_m2 = np.moveaxis(self.nonzero[:, chosen], 2, 0)
        whole = self.class_weight[:, None] - (self.skipped[:, chosen] if self.skipped.shape[1] else 0.0)
        # Below this share the difference of two faded sums is noise, which large values would blow up.
        zero_weight = np.where(whole - nonzero_weight > 1e-12 * whole, whole - nonzero_weight, 0.0)
        weight = nonzero_weight + zero_weight
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(weight > 0.0, nonzero_weight / weight, 0.0)
        m2 = nonzero_m2 + nonzero_mean * nonzero_mean * (zero_weight * share)
        return Moments(weight * scale, nonzero_mean * share, m2 * scale)

    def aligned(self, codes: NDArray[np.int64], n_classes: int) -> Self:
        """A copy at present scale whose class c has moved to codes[c]."""
        scale = self.fading**self.age
        class_weight, skipped = np.zeros(n_classes), np.zeros((n_classes, self.skipped.shape[1]))
        nonzero = np.zeros((n_classes, *self.nonzero.shape[1:]))
        class_weight[codes], skipped[codes] = self.class_weight * scale, self.skipped * scale
        nonzero[codes] = self.nonzero * np.array([scale, 1.0, scale])
        return type(self)(self.fading, 0, class_weight, nonzero, skipped)

    def merge(self, other: Self) -> None:
        """Chan's formula on the non-zeros; both at present scale (see `aligned`)."""
        mine = ClassMoments(self.fading, 0, *np.moveaxis(self.nonzero, 2, 0))
        mine.merge(ClassMoments(self.fading, 0, *np.moveaxis(other.nonzero, 2, 0)))
        self.nonzero = np.stack([mine.weight, mine.mean, mine.m2], axis=2)
        self.class_weight = self.class_weight + other.class_weight
        if other.skipped.shape[1]:
            self.skipped = other.skipped + (self.skipped if self.skipped.shape[1] else 0.0)


def _problem(weight: Floats, m2: Floats, limit: float) -> str | None:
    """What is wrong with weights and second moments; `limit` is the largest weight."""
    if (weight > limit).any():
        return "weight is larger than the rows seen allow"
    most = np.maximum(weight, 1e-300) * (4.0 * LARGEST) * LARGEST  # no two values are further apart than 2 LARGEST
    return "m2 is larger than values can differ" if (m2 > most).any() else None


def refuse_bad_values(batch: CheckedBatch, *, nan_allowed: bool) -> None:
    """Raise InputError for the first value that is not finite, or so large that its square would overflow."""
    if batch.moderate:
        return
    values = batch.X.data if batch.sparse else batch.X
    if kernels.all_within(values.reshape(-1), LARGEST):
        return
    refuse_not_finite(batch, nan_allowed=nan_allowed)
    too_large = np.abs(values) > largest(values.dtype)
    if not too_large.any():
        return
    place = int(np.argmax(too_large))
    if batch.sparse:
        row, column = int(np.searchsorted(batch.X.indptr, place, side="right")) - 1, int(batch.X.indices[place])
        refuse_value(batch, row, column, float(values[place]))
    row, column = divmod(place, values.shape[1])
    refuse_value(batch, row, column, float(values[row, column]))
