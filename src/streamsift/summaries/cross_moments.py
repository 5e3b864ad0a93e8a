"""Cross moments: weights, means and centred cross products of features and targets, with each other and across.

The running averages of L. Sun, M. Wang, S. Zhu and A. Barbu, A Novel Framework for Online Supervised Learning with
Feature Selection (arXiv 1803.11521): whatever least squares, the lasso and their kin need of the rows. Columns are the
features and, behind them, the targets: one column of numbers, or one of 0 and 1 for each class.

- Where the paper keeps means of products, these are centred: a batch is centred at its own means, multiplied with
  itself in one symmetric product (BLAS syrk, half the work of a general one), and added by Chan's formula.
- Rows fade (summaries/fading.py) and have weights. Short floats are added up as long ones.
- Sparse rows are multiplied as sparse matrices; only columns that have a value in more than half of a batch's rows are
  made dense, which takes no more memory than the batch itself. Rows more than half full, or with NaN, are made dense.
- Missing values: from the first one on, each pair of columns has its own weight and its own two means, those of the
  rows that have both: three matrices instead of one, and three products. Parts then still merge exactly, and what is
  read is exactly what rows would give in which a missing value is the mean of its column over all rows that have one.
  A column with many gaps explains less for that, and no more by chance than a complete one.
- A feature that arrives late was missing before in dense rows and 0 in sparse ones; a class that arrives late was 0.

With P columns: time per batch of n rows O(n P^2), memory 8 P^2 bytes, 24 P^2 with missing values; adding sparse rows or
rows with missing values takes twice that for a moment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from streamsift.core.limits import LARGEST
from streamsift.core.state import Finite, Shape, Sizes, Within
from streamsift.summaries.aligned import aligned_empty
from streamsift.summaries.fading import Age, Fading, advance, row_weights, weight_limit

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

ROUNDING = 1.0 + 1e-6
TINY_SQUARE = 1e-300  # squares of tiny weights lose their digits below it
CONSTANT = 1e-13  # a column whose spread is below this share of its mean differs by rounding only


class MomentPart(NamedTuple):
    """Moments of some rows: weight (1, 1) or (P, P), mean (P, 1) or (P, P), cross (P, P).

    mean[j, k] is the mean of column j over the rows that have both j and k.
    """

    weight: Floats
    mean: Floats
    cross: Floats


class FeatureCorrelations(NamedTuple):
    """What rules read: correlations of features (J, J) and with targets (J, T), scales, means and number of rows.

    `among_targets` (T, T) are those of the targets. What has no spread has scale 0 and no correlation with anything,
    itself included.
    """

    features: Floats
    targets: Floats
    among_targets: Floats
    feature_mean: Floats
    feature_scale: Floats
    target_mean: Floats
    target_scale: Floats
    n_rows: float


@dataclass
class CrossMoments:
    """Cross moments of a stream; the lower triangle of `cross` counts, the upper one is 0."""

    fading: Fading
    age: Age
    n_targets: Annotated[int, Within(1)]
    squared_weight: Annotated[float, Within(0.0), Finite()]  # sum of the squares of row weights
    cross: Annotated[Floats, Shape("n_columns", "n_columns"), Finite()]
    mean: Annotated[Floats, Shape("n_columns", (1, "n_columns")), Finite(LARGEST)]
    weight: Annotated[Floats, Shape((1, "n_columns"), (1, "n_columns")), Within(0.0), Finite()]
    scratch: Floats = field(init=False, repr=False, default_factory=lambda: np.empty((0, 0)))

    def problem(self, sizes: Sizes) -> str | None:
        if self.n_targets > len(self.cross):
            return "n_targets is larger than the number of columns"
        if len({self.weight.shape[0], self.weight.shape[1], self.mean.shape[1]}) != 1:
            return "weight and mean are not both of columns or both of pairs"
        if (np.diag(self.cross) < 0.0).any() or (np.abs(self.cross) > most_square(self.weight)).any():
            return "cross holds squares that no rows can have"
        if not np.array_equal(self.weight, self.weight.T):
            return "weight is not symmetric"
        if self.weight.max() > weight_limit(self.fading, self.age, sizes["n_rows_seen"]):
            return "weight is more than so few rows can have"
        if (self.weight > self.all_weight * ROUNDING).any():
            return "a pair of columns has more weight than all rows"
        if self.all_weight**2 > self.squared_weight * sizes["n_rows_seen"] * ROUNDING + TINY_SQUARE:
            return "weight and squared_weight are not those of so few rows"
        return "cross has an upper triangle" if np.triu(self.cross, 1).any() else None

    @classmethod
    def empty(cls, fading: float, n_features: int, n_targets: int) -> Self:
        size = n_features + n_targets
        return cls(fading, 0, n_targets, 0.0, np.zeros((size, size)), np.zeros((size, 1)), np.zeros((1, 1)))

    @property
    def n_features(self) -> int:
        return len(self.cross) - self.n_targets

    @property
    def gaps(self) -> bool:
        """Whether pairs of columns have weights of their own."""
        return len(self.weight) > 1

    @property
    def all_weight(self) -> float:
        """The weight of all rows: every row has a target."""
        return float(self.weight[-1, -1])

    @property
    def target_mean(self) -> Floats:
        """The means of the targets over all rows."""
        return np.array(self.mean[-self.n_targets :, -1])

    # -- learning -----------------------------------------------------------------------------------------------

    def learn(self, X: Any, targets: Floats, weight: Floats | None = None) -> None:
        """Add a batch: features (array or CSR, NaN where missing), target columns and weights of the rows."""
        n_rows = len(targets)
        factor, scale, age = advance(self.fading, self.age, n_rows)
        weights: Floats | None = None
        if self.fading != 1.0:
            weights = row_weights(self.fading, n_rows) * scale
        if weight is not None:
            weights = weight if weights is None else weights * weight
        total = float(n_rows) if weights is None else float(weights.sum())
        squares = float(n_rows) if weights is None else float(weights @ weights)
        if factor != 1.0:
            self.fade(factor)
        self.age = age
        self.squared_weight += squares
        if total == 0.0:
            return
        if not isinstance(X, np.ndarray):
            data = X.data
            if np.isnan(data).any() or 2 * len(data) > X.shape[0] * X.shape[1] or self.gaps:
                X = X.toarray()
            else:
                self._combine(_sparse_part(X, targets, weights, total))
                return
        self._learn_dense(X, targets, weights, total)

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self.cross, self.weight = self.cross * factor, self.weight * factor
        self.squared_weight *= factor * factor

    def _learn_dense(self, X: NDArray[Any], targets: Floats, weights: Floats | None, total: float) -> None:
        n_rows, n_features = X.shape
        rows = self._room(n_rows + 1, len(self.cross))
        middle = self._middle(X)
        np.subtract(X, middle, out=rows[:n_rows, :n_features])
        rows[:n_rows, n_features:] = targets
        batch = rows[:n_rows]
        mean = batch.mean(axis=0) if weights is None else weights @ batch / total
        if self.gaps or np.isnan(mean).any():
            shift = np.append(middle, np.zeros(self.n_targets))
            self._make_pairs()
            self._combine(_part_with_gaps(batch, shift, weights))
            return
        batch -= mean
        if weights is not None:
            batch *= np.sqrt(weights)[:, None]
        mean[:n_features] += middle
        before = self.weight[0, 0]
        share = total / (before + total)
        distance = mean - self.mean[:, 0]
        rows[n_rows] = distance * np.sqrt(before * share)  # Chan's term is one row more
        # Of cross', which BLAS sees as stored by columns, the upper triangle: the lower one of cross.
        dsyrk(1.0, rows[: n_rows + 1].T, 1.0, self.cross.T, overwrite_c=True)
        self.mean[:, 0] += distance * share
        self.weight[0, 0] = before + total

    def _middle(self, X: NDArray[Any]) -> Floats:
        """A value near those of each column, and equal to it where all are equal."""
        middle: Floats = X[0].astype(np.float64)
        if np.isnan(middle).any():
            present = ~np.isnan(X)
            first = X[present.argmax(axis=0), np.arange(X.shape[1])]
            middle = np.where(present.any(axis=0), first, 0.0).astype(np.float64)
        return middle

    def _room(self, n_rows: int, n_columns: int) -> Floats:
        if self.scratch.shape[0] < n_rows or self.scratch.shape[1] != n_columns:
            self.scratch = aligned_empty((n_rows, n_columns))
        return self.scratch

    def _combine(self, part: MomentPart) -> None:
        """Chan's formula, for columns or for pairs."""
        total = self.weight + part.weight
        share = np.divide(part.weight, total, out=np.zeros_like(total), where=total > 0.0)
        distance = part.mean - self.mean
        cross = self.cross + part.cross
        between = distance * distance.T
        between *= self.weight * share
        cross += between
        self.cross = np.tril(cross)
        self.mean = self.mean + distance * share
        self.weight = total

    def _make_pairs(self) -> None:
        """Give each pair of columns its own weight and means."""
        if not self.gaps:
            shape = self.cross.shape
            self.weight, self.mean = (np.broadcast_to(part, shape).copy() for part in (self.weight, self.mean))

    # -- columns that come and go -------------------------------------------------------------------------------

    def make_room(self, n_features: int, n_targets: int, zero: NDArray[np.bool_]) -> None:
        """Add features, which were 0 before or (where `zero` is False) missing, and targets, which were 0 before."""
        old, old_targets = self.n_features, self.n_targets
        if (n_features, n_targets) == (old, old_targets):
            return
        if not zero.all() and self.all_weight > 0.0:
            self._make_pairs()
        size = n_features + n_targets
        places = np.concatenate([np.arange(old), n_features + np.arange(old_targets)])
        was_zero = np.setdiff1d(np.arange(size), places)
        was_zero = was_zero[(was_zero >= n_features) | np.isin(was_zero, old + np.flatnonzero(zero))]
        self._spread(places, size, was_zero)
        self.n_targets = n_targets

    def _spread(self, places: Indices, size: int, was_zero: Indices) -> None:
        """Move columns to their places in a larger state; `was_zero` are new ones that every row had, as 0."""
        cross = np.zeros((size, size))
        cross[np.ix_(places, places)] = self.cross
        self.cross = np.tril(cross + np.triu(cross, 1).T)
        if not self.gaps:
            mean = np.zeros((size, 1))
            mean[places] = self.mean
            self.mean = mean
            return
        weight, mean = np.zeros((size, size)), np.zeros((size, size))
        weight[np.ix_(places, places)], mean[np.ix_(places, places)] = self.weight, self.mean
        own = np.zeros(size)
        own[places] = np.diag(self.weight)
        own_mean = np.zeros(size)
        own_mean[places] = np.diag(self.mean)
        own[was_zero] = self.all_weight
        for place in was_zero.tolist():
            weight[place], weight[:, place], mean[:, place] = own, own, own_mean
        self.weight, self.mean = weight, mean

    def taken(self, features: Indices) -> Self:
        """A copy with some features, in this order; -1 stands for one that no row has had."""
        kept = np.flatnonzero(features >= 0)
        places = np.append(features[kept], self.n_features + np.arange(self.n_targets))
        full = self.cross + np.tril(self.cross, -1).T
        chosen = np.ix_(places, places)
        one = np.zeros(1, np.intp)
        pairs = chosen if self.gaps else np.ix_(one, one)
        means = chosen if self.gaps else np.ix_(places, one)
        part = type(self)(
            self.fading, self.age, self.n_targets, self.squared_weight, np.tril(full[chosen]),
            self.mean[means], self.weight[pairs],
        )  # fmt: skip
        if len(kept) == len(features):
            return part
        if part.all_weight > 0.0:
            part._make_pairs()
        size = len(features) + self.n_targets
        part._spread(np.append(kept, len(features) + np.arange(self.n_targets)), size, np.zeros(0, np.intp))
        return part

    def aligned(self, codes: NDArray[np.int64], n_classes: int) -> Self:
        """A copy whose target column c has moved to codes[c]."""
        size = self.n_features + n_classes
        places = np.append(np.arange(self.n_features), self.n_features + codes)
        copy = type(self)(
            self.fading, self.age, self.n_targets, self.squared_weight, self.cross, self.mean, self.weight
        )
        copy._spread(places, size, np.setdiff1d(np.arange(size), places))
        copy.n_targets = n_classes
        return copy

    def placed(self, features: NDArray[np.int64], n_features: int) -> Self:
        """A copy whose feature j has moved to features[j], of so many; every row had the others as 0."""
        size = n_features + self.n_targets
        places = np.append(features, n_features + np.arange(self.n_targets))
        copy = type(self)(
            self.fading, self.age, self.n_targets, self.squared_weight, self.cross, self.mean, self.weight
        )
        copy._spread(places, size, np.setdiff1d(np.arange(size), places))
        return copy

    def merge(self, other: Self) -> None:
        """Add the rows of another; both count as equally recent."""
        self._to_present()
        scale = other.fading**other.age
        self.squared_weight += other.squared_weight * scale * scale
        if other.gaps:
            self._make_pairs()
        self._combine(MomentPart(other.weight * scale, other.mean, other.cross * scale))

    def _to_present(self) -> None:
        self.fade(self.fading**self.age)
        self.age = 0

    # -- answers ------------------------------------------------------------------------------------------------

    def read(self) -> FeatureCorrelations:
        """FeatureCorrelations, with the mean of a feature in place of its missing values; they are within [-1, 1]."""
        full = self.cross + np.tril(self.cross, -1).T
        mean = self.mean[:, 0].copy()
        weight = self.all_weight
        if self.gaps:  # each pair was centred at its own means: move both to the means of the columns
            mean = np.diag(self.mean).copy()
            distance = self.mean - mean[:, None]
            full += self.weight * distance * distance.T
        covariance = full / weight if weight > 0.0 else np.zeros_like(full)
        scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        scale[scale <= CONSTANT * np.abs(mean)] = 0.0
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
        covariance *= inverse
        covariance *= inverse[:, None]
        np.clip(covariance, -1.0, 1.0, out=covariance)
        diagonal = np.arange(len(scale))
        covariance[diagonal, diagonal] = scale > 0.0
        j = self.n_features
        n_rows = weight * weight / self.squared_weight if self.squared_weight > 0.0 else 0.0
        return FeatureCorrelations(
            covariance[:j, :j],
            covariance[:j, j:],
            covariance[j:, j:],
            mean[:j],
            scale[:j],
            mean[j:],
            scale[j:],
            n_rows,
        )


def most_square(weight: Floats) -> Floats:
    """The largest centred square, or product, that rows of such a weight can have."""
    return np.asarray(np.maximum(weight, 1e-300) * (4.0 * LARGEST) * LARGEST)


def _part_with_gaps(rows: Floats, shift: Floats, weights: Floats | None) -> MomentPart:
    """Moments of each pair of columns over the rows that have both; `rows` are overwritten."""
    missing = np.isnan(rows)
    here = (~missing).astype(np.float64)
    rows[missing] = 0.0
    weighted = here if weights is None else here * weights[:, None]
    own = weighted.sum(axis=0)
    mean = np.divide((weighted * rows).sum(axis=0), own, out=np.zeros_like(own), where=own > 0.0)
    rows -= mean
    rows[missing] = 0.0
    weight = weighted.T @ here
    weight = np.tril(weight) + np.tril(weight, -1).T  # symmetric to the last digit
    heavy = rows if weights is None else rows * weights[:, None]
    sums = heavy.T @ here
    means = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0.0)
    cross = heavy.T @ rows
    cross -= means * sums.T
    diagonal = np.arange(len(cross))
    cross[diagonal, diagonal] = np.maximum(cross[diagonal, diagonal], 0.0)
    return MomentPart(weight, np.where(weight > 0.0, means + (shift + mean)[:, None], 0.0), cross)


def _sparse_part(X: Any, targets: Floats, weights: Floats | None, total: float) -> MomentPart:
    """Moments of CSR rows and their targets; columns with values in most rows are centred as dense ones."""
    n_rows, n_features = X.shape
    size = n_features + targets.shape[1]
    filled = np.bincount(X.indices, minlength=n_features) * 2 > n_rows
    thin, thick = np.flatnonzero(~filled), np.append(np.flatnonzero(filled), np.arange(n_features, size))
    S = X[:, thin] if filled.any() else X
    S = S.astype(np.float64)
    D = np.hstack([X[:, np.flatnonzero(filled)].toarray().astype(np.float64), targets])
    middle = D[0].copy()
    D -= middle
    row_weight = np.ones(n_rows) if weights is None else weights
    mean_D = row_weight @ D / total
    D -= mean_D
    mean_S = S.T @ row_weight / total
    heavy = D * row_weight[:, None]
    if weights is None:
        products = (S.T @ S).tocoo()
    else:
        scaled = S.copy()
        scaled.data = scaled.data * np.repeat(row_weight, np.diff(S.indptr))
        products = (S.T @ scaled).tocoo()
    cross, mean = np.zeros((size, size)), np.empty((size, 1))
    cross[thin[products.row], thin[products.col]] = products.data
    mean[thin, 0], mean[thick, 0] = mean_S, middle + mean_D
    cross[np.ix_(thin, thin)] -= total * np.outer(mean_S, mean_S)
    cross[np.ix_(thin, thick)] = S.T @ heavy
    cross[np.ix_(thick, thin)] = cross[np.ix_(thin, thick)].T
    cross[np.ix_(thick, thick)] = D.T @ heavy
    diagonal = np.arange(size)
    cross[diagonal, diagonal] = np.maximum(cross[diagonal, diagonal], 0.0)
    return MomentPart(np.full((1, 1), total), mean, cross)
