"""Target correlations: what the correlation of every feature with a number needs, over the rows that have the feature.

Of each feature: weight, mean and centred square, those of the target over the same rows, and the centred cross product.
Batches are added by Chan's formula, so any cut into batches gives the same up to rounding, and merging is exact.
Fading, weights and event time are as in summaries/fading.py.

A feature that arrives late was missing before, or 0 (in sparse rows, and as a new category of one that is known); so
the moments of the target over all rows are kept, too. The tails of features and target (summaries/tails.py) are for the
test. Memory: 88 bytes per feature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.limits import LARGEST
from streamsift.core.state import Finite, Shape, Sizes, Within
from streamsift.summaries.cross_moments import CONSTANT, ROUNDING, TINY_SQUARE, most_square
from streamsift.summaries.fading import Age, Fading, advance, row_weights, weight_limit
from streamsift.summaries.tails import Tails

Floats = NDArray[np.float64]

_OF_FEATURES = ("weight", "mean", "square", "target_mean", "target_square", "cross")
SLICE = 1 << 22  # values of a dense batch that are worked on at once: 32 MB


class _JointMoments(NamedTuple):
    """Moments of some rows; weight, target_mean and target_square are numbers where no value is missing."""

    weight: Any
    mean: Floats
    square: Floats
    target_mean: Any
    target_square: Any
    cross: Floats


class _TargetRows(NamedTuple):
    """Weight, mean and centred square of the target in some rows."""

    weight: float
    mean: float
    square: float


@dataclass
class TargetCorrelations:
    """Moments of n features and the target; those that begin with `all` are of all rows.

    Weights and sums are kept relative to a reference row (summaries/fading.py), all_weight_square as it is now.
    """

    fading: Fading
    age: Age
    weight: Annotated[Floats, Shape("n_features"), Within(0.0), Finite()]
    mean: Annotated[Floats, Shape("n_features"), Finite(LARGEST)]
    square: Annotated[Floats, Shape("n_features"), Within(0.0), Finite()]
    target_mean: Annotated[Floats, Shape("n_features"), Finite(LARGEST)]
    target_square: Annotated[Floats, Shape("n_features"), Within(0.0), Finite()]
    cross: Annotated[Floats, Shape("n_features"), Finite()]
    all_weight: Annotated[float, Within(0.0), Finite()]
    all_mean: Annotated[float, Finite(LARGEST)]
    all_square: Annotated[float, Within(0.0), Finite()]
    all_weight_square: Annotated[float, Within(0.0), Finite()]
    tails: Tails = field(default_factory=Tails.empty)
    target_tails: Tails = field(default_factory=Tails.empty)
    own_sizes: ClassVar[dict[str, dict[str, str]]] = {"tails": {}, "target_tails": {}}

    def problem(self, sizes: Sizes) -> str | None:
        """What declarations cannot say, in a few words."""
        if self.all_weight > weight_limit(self.fading, self.age, sizes["n_rows_seen"]):
            return "all_weight is more than so few rows can have"
        now = self.all_weight * self.fading**self.age
        if now**2 > self.all_weight_square * sizes["n_rows_seen"] * ROUNDING + TINY_SQUARE:
            return "all_weight and all_weight_square are not those of so few rows"
        if (self.weight > self.all_weight * ROUNDING).any():
            return "a feature has more weight than all rows"
        with np.errstate(over="ignore"):
            most = float(most_square(np.array(self.all_weight)))
            limit = np.sqrt(self.square) * np.sqrt(self.target_square) * ROUNDING
            rounding = 1e-9 * self.weight * (1.0 + np.abs(self.mean)) * (1.0 + np.abs(self.target_mean))
        if max(self.square.max(initial=0.0), self.target_square.max(initial=0.0), self.all_square) > most:
            return "a square is larger than any rows can have"
        if (np.abs(self.cross) > limit + rounding).any():
            return "cross is larger than square and target_square allow"
        if self.tails.n_columns > self.n_features or self.target_tails.n_columns > 1:
            return "tails are of other columns"
        return None

    @classmethod
    def empty(cls, fading: float, n_features: int) -> Self:
        a, b, c, d, e, f = np.zeros((6, n_features))
        return cls(fading, 0, a, b, c, d, e, f, 0.0, 0.0, 0.0, 0.0)

    @property
    def n_features(self) -> int:
        return len(self.mean)

    @property
    def rows_per_weight(self) -> float:
        """How many equally weighted rows a weight of 1 (as kept) stands for."""
        now = self.fading**self.age
        return self.all_weight * now * now / self.all_weight_square if self.all_weight_square > 0.0 else 1.0

    # -- learning -----------------------------------------------------------------------------------------------

    def learn(
        self, X: Any, target: Floats, zero: NDArray[np.bool_], weight: Floats | None = None, decay: float = 1.0
    ) -> None:
        """Add a batch: features (array or CSR, NaN where missing), the target, and the weights of the rows.

        Columns beyond those known are new: they were 0 so far, or (where `zero` is False) missing. All that is known
        fades by `decay` first.
        """
        self._make_room(X.shape[1], zero)
        n_rows = len(target)
        factor, scale, self.age = advance(self.fading, self.age, n_rows)
        self._scale(factor * decay)
        weights = row_weights(self.fading, n_rows)
        weights = weights if weight is None else weights * weight
        kept = math.pow(self.fading, n_rows) * decay
        self.all_weight_square = self.all_weight_square * kept**2 + float(weights @ weights)
        self.tails.learn(X, weights, kept, zero)
        self.target_tails.learn(target[:, None], weights, kept)
        weights = weights * scale
        self._add_rows(_rows(target, weights))
        if isinstance(X, np.ndarray):
            step = max(SLICE // X.shape[1], 1)
            for start in range(0, n_rows, step):
                part = slice(start, start + step)
                self._add(_dense_part(X[part], target[part], weights[part]))
        elif np.isnan(X.data).any():
            step = max(SLICE // X.shape[1], 1)
            for start in range(0, n_rows, step):
                part = slice(start, start + step)
                self._add(_part_with_gaps(X[part].toarray(), target[part], weights[part]))
        else:
            self._add(_sparse_part(X, target, weights))

    def _make_room(self, n_features: int, zero: NDArray[np.bool_]) -> None:
        more = n_features - self.n_features
        if not more:
            return
        was_zero = zero[-more:].astype(np.float64)
        for name, value in (("weight", self.all_weight), ("target_mean", self.all_mean)):
            setattr(self, name, np.append(getattr(self, name), was_zero * value))
        self.target_square = np.append(self.target_square, was_zero * self.all_square)
        for name in ("mean", "square", "cross"):
            setattr(self, name, np.pad(getattr(self, name), (0, more)))

    def _scale(self, factor: float) -> None:
        if factor == 1.0:
            return
        for name in ("weight", "square", "target_square", "cross"):
            setattr(self, name, getattr(self, name) * factor)
        self.all_weight, self.all_square = self.all_weight * factor, self.all_square * factor

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self._scale(factor)
        self.all_weight_square *= factor**2
        self.tails.fade(factor)
        self.target_tails.fade(factor)

    def _add(self, part: _JointMoments) -> None:
        """Chan's formula."""
        total = self.weight + part.weight
        share = np.divide(part.weight, total, out=np.zeros_like(total), where=total > 0.0)
        between = self.weight * share
        apart, target_apart = part.mean - self.mean, part.target_mean - self.target_mean
        self.square = self.square + part.square + between * apart * apart
        self.target_square = self.target_square + part.target_square + between * target_apart * target_apart
        self.cross = self.cross + part.cross + between * apart * target_apart
        self.mean = self.mean + apart * share
        self.target_mean = self.target_mean + target_apart * share
        self.weight = total

    def _add_rows(self, rows: _TargetRows) -> None:
        total = self.all_weight + rows.weight
        if total == 0.0:
            return
        share, apart = rows.weight / total, rows.mean - self.all_mean
        self.all_square += rows.square + self.all_weight * share * apart * apart
        self.all_mean += apart * share
        self.all_weight = total

    def merge(self, other: Self) -> None:
        """Add the rows of another with the same features; both count as equally recent."""
        theirs = other.fading**other.age
        self._scale(self.fading**self.age)
        self.age = 0
        self._add_rows(_TargetRows(other.all_weight * theirs, other.all_mean, other.all_square * theirs))
        self.all_weight_square += other.all_weight_square
        self.tails.merge(other.tails)
        self.target_tails.merge(other.target_tails)
        self._add(
            _JointMoments(
                other.weight * theirs, other.mean, other.square * theirs, other.target_mean,
                other.target_square * theirs, other.cross * theirs,
            )
        )  # fmt: skip

    def placed(self, places: NDArray[np.int64], features: NDArray[np.int64]) -> Self:
        """A copy whose column j has moved to places[j]; features: what each column is a category of, or -1 for numbers.

        Columns of 0 and 1 of one feature are read over the same rows, the fewest that one of them has: a category that
        came late counts the rows before as 0, even those without any category, which the first one left out. Columns
        that are in no place are categories that no row had.
        """
        found = replace(self.empty(self.fading, len(features)), age=self.age)
        for name in ("all_weight", "all_mean", "all_square", "all_weight_square"):
            setattr(found, name, getattr(self, name))
        for name in _OF_FEATURES:
            getattr(found, name)[places] = getattr(self, name)
        found.tails, found.target_tails = self.tails.placed(places, len(features)), self.target_tails.copy()
        for feature in np.unique(features[features >= 0]):
            known = places[features[places] == feature]
            if len(known):
                found._read_over_the_same_rows(
                    np.flatnonzero(features == feature), known[np.argmin(found.weight[known])]
                )
        return found

    def _read_over_the_same_rows(self, columns: NDArray[np.intp], first: np.intp) -> None:
        """Give columns of 0 and 1 the rows of the `first`; those they had beyond these were 0."""
        ones = self.weight[columns] * self.mean[columns]  # the weight of the rows of each category
        of_ones = self.target_mean[columns] + _shares(self.cross[columns], ones)
        self.weight[columns], self.target_mean[columns] = self.weight[first], self.target_mean[first]
        self.target_square[columns] = self.target_square[first]
        self.mean[columns] = _shares(ones, self.weight[columns])
        self.square[columns] = np.maximum(ones * (1.0 - self.mean[columns]), 0.0)
        self.cross[columns] = ones * (of_ones - self.target_mean[columns])

    # -- answers ------------------------------------------------------------------------------------------------

    def correlations(self) -> Floats:
        """The correlation of each feature with the target; 0 where one of the two is constant."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = self.cross / (np.sqrt(self.square) * np.sqrt(self.target_square))
            spread, target_spread = np.sqrt(self.square / self.weight), np.sqrt(self.target_square / self.weight)
        varies = (spread > CONSTANT * np.abs(self.mean)) & (target_spread > CONSTANT * np.abs(self.target_mean))
        return np.where(varies & np.isfinite(found), np.clip(found, -1.0, 1.0), 0.0)


def _shares(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)


def _rows(target: Floats, weights: Floats) -> _TargetRows:
    total = float(weights.sum())
    if total == 0.0:
        return _TargetRows(0.0, 0.0, 0.0)
    offset = target - target[0]
    mean = float(weights @ offset) / total
    offset = offset - mean
    return _TargetRows(total, float(target[0]) + mean, float(weights @ (offset * offset)))


def _dense_part(X: NDArray[Any], target: Floats, weights: Floats) -> _JointMoments:
    of_target = _rows(target, weights)
    if of_target.weight == 0.0:
        return _JointMoments(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0, 0.0, np.zeros(X.shape[1]))
    rows = X - X[0].astype(np.float64)
    mean = weights @ rows / of_target.weight
    if np.isnan(mean).any():
        return _part_with_gaps(X, target, weights)
    rows -= mean
    cross = ((target - of_target.mean) * weights) @ rows
    square = np.einsum("ij,ij,i->j", rows, rows, weights)
    return _JointMoments(of_target.weight, mean + X[0], square, of_target.mean, of_target.square, cross)


def _part_with_gaps(X: NDArray[Any], target: Floats, weights: Floats) -> _JointMoments:
    here = ~np.isnan(X)
    first = X[here.argmax(axis=0), np.arange(X.shape[1])].astype(np.float64)
    first = np.where(here.any(axis=0), first, 0.0)
    rows = np.where(here, X - first, 0.0)
    weighted = here * weights[:, None]
    total = weighted.sum(axis=0)
    some = total > 0.0
    mean = np.divide((weighted * rows).sum(axis=0), total, out=np.zeros_like(total), where=some)
    offset = target - target[0]
    target_mean = np.divide(offset @ weighted, total, out=np.zeros_like(total), where=some)
    rows -= mean
    heavy, target_rows = rows * weighted, offset[:, None] - target_mean
    return _JointMoments(
        total,
        np.where(some, first + mean, 0.0),
        np.einsum("ij,ij->j", rows, heavy),
        np.where(some, target[0] + target_mean, 0.0),
        np.einsum("ij,ij,ij->j", target_rows, target_rows, weighted),
        np.einsum("ij,ij->j", target_rows, heavy),
    )


def _sparse_part(X: Any, target: Floats, weights: Floats) -> _JointMoments:
    of_target = _rows(target, weights)
    total = of_target.weight
    values = X.astype(np.float64)
    if total == 0.0:
        return _JointMoments(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0, 0.0, np.zeros(X.shape[1]))
    mean = np.asarray(values.T @ weights).ravel() / total
    cross = np.asarray(values.T @ ((target - of_target.mean) * weights)).ravel()
    values = values.copy()
    values.data **= 2
    square = np.maximum(np.asarray(values.T @ weights).ravel() - total * mean * mean, 0.0)
    return _JointMoments(total, mean, square, of_target.mean, of_target.square, cross)
