"""Target moments: weight, mean and spread of every feature, and its cross products with the targets alone.

The column of summaries/cross_moments.py that a feature has with the targets, for any number of features: they tell how
much each explains by itself, at the cost of one row more in memory per target. Fading, weights, sparse rows, missing
values and late features are as there. Memory: 8 (T + 2) bytes per feature with T targets, 8 (2 T + 3) with missing
values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.limits import LARGEST
from streamsift.core.state import Finite, Shape, Sizes, Within
from streamsift.summaries.cross_moments import CONSTANT, CrossMoments, most_square
from streamsift.summaries.fading import Age, Fading, advance, row_weights, weight_limit

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

SLICE = 1 << 22  # values of a dense batch that are worked on at once: 32 MB


class _Part(NamedTuple):
    """Moments of some rows, as in TargetMoments."""

    weight: Floats
    mean: Floats
    square: Floats
    target_mean: Floats
    cross: Floats


@dataclass
class TargetMoments:
    """Of n features: weight (1 or n), mean and centred square (n); target_mean (T, 1 or n) and cross (T, n).

    A feature's target_mean is over the rows that have the feature.
    """

    fading: Fading
    age: Age
    mean: Annotated[Floats, Shape("n_screened"), Finite(LARGEST)]
    weight: Annotated[Floats, Shape((1, "n_screened")), Within(0.0), Finite()]
    square: Annotated[Floats, Shape("n_screened"), Within(0.0), Finite()]
    target_mean: Annotated[Floats, Shape("n_targets", (1, "n_screened")), Finite(LARGEST)]
    cross: Annotated[Floats, Shape("n_targets", "n_screened"), Finite()]

    def problem(self, sizes: Sizes) -> str | None:
        if len(self.weight) != self.target_mean.shape[1]:
            return "weight and target_mean are not both of all features or both of each"
        if self.weight.max(initial=0.0) > weight_limit(self.fading, self.age, sizes["n_rows_seen"]):
            return "weight is more than so few rows can have"
        most = most_square(self.weight)
        if (self.square > most).any() or (np.abs(self.cross) > most).any():
            return "square or cross are larger than any rows can have"
        return None

    @classmethod
    def empty(cls, fading: float, n_features: int, n_targets: int) -> Self:
        zeros = np.zeros
        return cls(
            fading, 0, zeros(n_features), zeros(1), zeros(n_features), zeros((n_targets, 1)),
            zeros((n_targets, n_features)),
        )  # fmt: skip

    @classmethod
    def of(cls, moments: CrossMoments) -> Self:
        """Those that a full state has already."""
        n, t = moments.n_features, moments.n_targets
        square, cross = np.diag(moments.cross)[:n].copy(), moments.cross[n:, :n].copy()
        if not moments.gaps:
            mean, target_mean = moments.mean[:n, 0].copy(), moments.mean[n:].copy()
            return cls(moments.fading, moments.age, mean, moments.weight[0].copy(), square, target_mean, cross)
        weight, mean = np.diag(moments.weight)[:n].copy(), np.diag(moments.mean)[:n].copy()
        return cls(moments.fading, moments.age, mean, weight, square, moments.mean[n:, :n].reshape(t, n).copy(), cross)

    @property
    def n_features(self) -> int:
        return len(self.mean)

    # -- learning -----------------------------------------------------------------------------------------------

    def learn(self, X: Any, targets: Floats, weight: Floats | None = None) -> None:
        """Add a batch: features (array or CSR, NaN where missing), target columns and weights of the rows."""
        n_rows = len(targets)
        factor, scale, self.age = advance(self.fading, self.age, n_rows)
        if factor != 1.0:
            self.fade(factor)
        weights = row_weights(self.fading, n_rows) * scale
        if weight is not None:
            weights = weights * weight
        if not weights.any():
            return
        if not isinstance(X, np.ndarray):
            if np.isnan(X.data).any():
                step = max(SLICE // X.shape[1], 1)
                for start in range(0, n_rows, step):
                    part = slice(start, start + step)
                    self._add(_dense_part(X[part].toarray(), targets[part], weights[part]))
            else:
                self._add(_sparse_part(X, targets, weights))
            return
        step = max(SLICE // X.shape[1], 1)
        for start in range(0, n_rows, step):
            part = slice(start, start + step)
            self._add(_dense_part(X[part], targets[part], weights[part]))

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self.weight, self.square, self.cross = self.weight * factor, self.square * factor, self.cross * factor

    def _add(self, part: _Part) -> None:
        """Chan's formula."""
        total = self.weight + part.weight
        share = np.divide(part.weight, total, out=np.zeros_like(total), where=total > 0.0)
        between = self.weight * share
        apart, targets_apart = part.mean - self.mean, part.target_mean - self.target_mean
        self.square = self.square + part.square + between * apart * apart
        self.cross = self.cross + part.cross + targets_apart * (between * apart)
        self.mean = self.mean + apart * share
        self.target_mean = self.target_mean + targets_apart * share
        self.weight = total

    def make_room(self, n_features: int, zero: NDArray[np.bool_], all_weight: float, all_target_mean: Floats) -> None:
        """Add features, which were 0 before or (where `zero` is False) missing, and targets, which were 0 before.

        `all_weight` and `all_target_mean` are those of all rows so far, the latter of all targets.
        """
        more, more_targets = n_features - self.n_features, len(all_target_mean) - len(self.cross)
        self.cross = np.pad(self.cross, ((0, more_targets), (0, 0)))
        self.target_mean = np.pad(self.target_mean, ((0, more_targets), (0, 0)))
        if not more:
            return
        if len(self.weight) > 1 or not zero.all():
            self._make_own()
            self.weight = np.append(self.weight, np.where(zero, all_weight, 0.0))
            self.target_mean = np.hstack([self.target_mean, all_target_mean[:, None] * zero])
        self.mean, self.square = np.pad(self.mean, (0, more)), np.pad(self.square, (0, more))
        self.cross = np.pad(self.cross, ((0, 0), (0, more)))

    def _make_own(self) -> None:
        """Give each feature its own weight and means of the targets."""
        if len(self.weight) == 1 and self.n_features != 1:
            self.weight = np.repeat(self.weight, self.n_features)
            self.target_mean = np.repeat(self.target_mean, self.n_features, axis=1)

    def aligned(self, codes: NDArray[np.int64], n_classes: int) -> Self:
        """A copy whose target c has moved to codes[c]."""
        target_mean, cross = (np.zeros((n_classes, part.shape[1])) for part in (self.target_mean, self.cross))
        target_mean[codes], cross[codes] = self.target_mean, self.cross
        return type(self)(self.fading, self.age, self.mean, self.weight, self.square, target_mean, cross)

    def merge(self, other: Self) -> None:
        """Add the rows of another; both count as equally recent."""
        theirs = other.fading**other.age
        self.fade(self.fading**self.age)
        self.age = 0
        self._add(
            _Part(other.weight * theirs, other.mean, other.square * theirs, other.target_mean, other.cross * theirs)
        )

    # -- answers ------------------------------------------------------------------------------------------------

    def explained(self, target_scale: Floats) -> Floats:
        """The share of the targets' spread that each feature explains by itself, in [0, 1].

        As in CrossMoments, a missing value counts as the mean of its feature.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scale = np.sqrt(self.square / self.weight)
            slope = self.cross / (self.weight * scale)
            share = (slope * slope).sum(axis=0) / (target_scale @ target_scale)
            share *= self.weight / self.weight.max(initial=0.0)  # missing values count as the mean
        fine = (scale > CONSTANT * np.abs(self.mean)) & np.isfinite(share)
        return np.where(fine, np.clip(share, 0.0, 1.0), 0.0)


def _dense_part(X: NDArray[Any], targets: Floats, weights: Floats) -> _Part:
    rows = X - X[0].astype(np.float64)
    total = weights.sum()
    mean = weights @ rows / total if total > 0.0 else np.zeros(X.shape[1])
    if np.isnan(mean).any():
        return _part_with_gaps(X, targets, weights)
    rows -= mean
    target_mean = weights @ targets / max(total, 1e-300)
    heavy = rows * weights[:, None]
    square = np.einsum("ij,ij->j", rows, heavy)
    cross = (targets - target_mean).T @ heavy
    return _Part(np.array([total]), mean + X[0], square, target_mean[:, None], cross)


def _part_with_gaps(X: NDArray[Any], targets: Floats, weights: Floats) -> _Part:
    here = ~np.isnan(X)
    first = X[here.argmax(axis=0), np.arange(X.shape[1])].astype(np.float64)
    first = np.where(here.any(axis=0), first, 0.0)
    rows = np.where(here, X - first, 0.0)
    weighted = here * weights[:, None]
    total = weighted.sum(axis=0)
    some = total > 0.0
    mean = np.divide((weighted * rows).sum(axis=0), total, out=np.zeros_like(total), where=some)
    rows -= mean
    heavy = rows * weighted
    sums = targets.T @ weighted
    target_mean = np.divide(sums, total, out=np.zeros_like(sums), where=np.broadcast_to(some, sums.shape))
    square = np.einsum("ij,ij->j", rows, heavy)
    return _Part(total, np.where(some, first + mean, 0.0), square, target_mean, targets.T @ heavy)


def _sparse_part(X: Any, targets: Floats, weights: Floats) -> _Part:
    total = weights.sum()
    values = X.astype(np.float64)
    mean = np.asarray(values.T @ weights).ravel() / total
    target_mean = weights @ targets / total
    cross = np.asarray(values.T @ ((targets - target_mean) * weights[:, None])).T
    values = values.copy()
    values.data **= 2
    square = np.maximum(np.asarray(values.T @ weights).ravel() - total * mean * mean, 0.0)
    return _Part(np.array([total]), mean, square, target_mean[:, None], cross)
