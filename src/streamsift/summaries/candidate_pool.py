"""A pool of candidates: cross moments of the features that may be chosen, target moments of all.

Cross moments of J features take J^2 numbers. Up to `max_pool` features, the pool holds all of them and is exactly
CrossMoments. Beyond, the pool holds the `max_pool` features that explain most by themselves (TargetMoments, which are
kept for all), and is looked through again when the rows have doubled, or with fading when half of what it knows has
faded (with event time, when one of the half-lives into which time is divided has ended). A feature that enters has
cross moments from then on, with weights of its own (the rows before count as missing values do, as its mean); one that
leaves is forgotten. A newcomer must explain a tenth more than the member whose place it takes.

The first look is at the first batch, before its cross products are added. So with more than max_pool features the
result depends a little on how the stream is cut into batches, and merging is exact for what features explain by
themselves, and for pairs of features that are in both pools.

The tails of all columns, and of a target that is a number, are kept beside them (summaries/tails.py): tests need them.

Memory: 8 (max_pool + T)^2 bytes with T targets, three times that once a feature has entered late, and TargetMoments;
40 bytes per column for tails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.state import Distinct, Shape, Sizes, Within
from streamsift.summaries.cross_moments import CrossMoments
from streamsift.summaries.fading import row_weights
from streamsift.summaries.tails import Tails
from streamsift.summaries.target_moments import TargetMoments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MARGIN = 1.1  # how much better a newcomer must be than the member that leaves


@dataclass
class CandidatePool:
    """Features of the pool in the order of `cross`; `screened` is of no feature while the pool holds all."""

    max_pool: Annotated[int, Within(1)]
    pairs: bool  # products of two columns are columns, too
    numeric: bool  # the target is a number, not classes
    n_rows: Annotated[int, Within(0, "n_rows_seen")]
    next_look: Annotated[int, Within(0)]
    pool: Annotated[Ints, Shape("n_pool"), Within(0), Distinct()]
    cross: CrossMoments
    screened: TargetMoments
    tails: Tails = field(default_factory=Tails.empty)
    target_tails: Tails = field(default_factory=Tails.empty)
    own_sizes: ClassVar[dict[str, dict[str, str]]] = {"tails": {}, "target_tails": {}}

    def problem(self, sizes: Sizes) -> str | None:
        n = sizes["n_features"]
        width = n * (n + 1) // 2 if self.pairs else n
        if len(self.pool) != self.cross.n_features:
            return "pool does not have one feature for each column of cross"
        n_targets = 1 if self.numeric else sizes["n_classes"]
        if self.cross.n_targets != n_targets or len(self.screened.cross) != n_targets:
            return "cross and screened do not have one target for each class"
        if self.wide:
            if (self.cross.fading, self.cross.age) != (self.screened.fading, self.screened.age):
                return "cross and screened are not of the same age"
            if len(self.pool) > self.max_pool or (self.pool >= width).any() or self.screened.n_features != width:
                return "pool or screened are of other features"
        elif len(self.pool) != width or not np.array_equal(self.pool, np.arange(width)):
            return "pool does not hold all features"
        if self.tails.n_columns > self.n_columns or self.target_tails.n_columns > int(self.numeric):
            return "tails are of other columns"
        return None

    @classmethod
    def empty(cls, fading: float, max_pool: int, pairs: bool, n_columns: int, n_classes: int | None) -> Self:
        """Nothing learnt yet; without classes the target is a number."""
        n_targets = 1 if n_classes is None else n_classes
        wide = n_columns > max_pool
        pool = np.zeros(0, np.int64) if wide else np.arange(n_columns)
        screened = TargetMoments.empty(fading, n_columns if wide else 0, n_targets)
        cross = CrossMoments.empty(fading, len(pool), n_targets)
        return cls(max_pool, pairs, n_classes is None, 0, 0, pool, cross, screened)

    @property
    def wide(self) -> bool:
        """Whether there are more features than the pool holds."""
        return self.screened.n_features > 0

    @property
    def n_columns(self) -> int:
        """How many columns have been met."""
        return self.screened.n_features or len(self.pool)

    def learn(self, X: Any, targets: Floats, weight: Floats | None, late_zero: NDArray[np.bool_]) -> None:
        """Add a batch; `late_zero` says of each feature not met before whether it was 0 (else missing) until now."""
        n_features, n_targets = X.shape[1], targets.shape[1]
        self._learn_tails(X, targets, weight, late_zero)
        if not self.wide and n_features > self.max_pool:
            self.screened = TargetMoments.of(self.cross)
            self.next_look = 0
        if self.wide:
            self.cross.make_room(len(self.pool), n_targets, np.zeros(0, bool))
            self.screened.make_room(n_features, late_zero, self.cross.all_weight, self.cross.target_mean)
            self.screened.learn(X, targets, weight)
            self.n_rows += len(targets)
            if self.n_rows >= self.next_look:
                self._look(targets)
            X = X[:, self.pool]
        else:
            self.cross.make_room(n_features, n_targets, late_zero)
            self.screened.make_room(0, np.zeros(0, bool), 0.0, np.zeros(n_targets))
            self.pool = np.arange(n_features)
            self.n_rows += len(targets)
        self.cross.learn(X, targets, weight)

    def _learn_tails(self, X: Any, targets: Floats, weight: Floats | None, late_zero: NDArray[np.bool_]) -> None:
        weights = row_weights(self.cross.fading, len(targets))
        weights = weights if weight is None else weights * weight
        decay = math.pow(self.cross.fading, len(targets))
        self.tails.learn(X, weights, decay, late_zero)
        if self.numeric:
            self.target_tails.learn(targets, weights, decay)

    def _look(self, targets: Floats) -> None:
        """Let better features into the pool, and set the time of the next look."""
        scale = self.cross.read().target_scale if self.cross.all_weight > 0.0 else targets.std(axis=0)
        if not scale.any():
            scale = np.ones(len(scale))
        explained = self.screened.explained(scale)
        pool = chosen(explained, self.pool, self.max_pool)
        if not np.array_equal(pool, self.pool):
            place = np.full(self.n_columns, -1)
            place[self.pool] = np.arange(len(self.pool))
            self.cross = self.cross.taken(place[pool])
            self.pool = pool
        fading = self.cross.fading
        wait = self.n_rows if fading == 1.0 else min(self.n_rows, math.ceil(math.log(0.5) / math.log(fading)))
        self.next_look = self.n_rows + max(wait, 1)

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self.cross.fade(factor)
        self.screened.fade(factor)
        self.tails.fade(factor)
        self.target_tails.fade(factor)

    def aligned(self, codes: Ints, n_classes: int) -> Self:
        """A copy whose target c has moved to codes[c]."""
        cross, screened = self.cross.aligned(codes, n_classes), self.screened.aligned(codes, n_classes)
        tails, target_tails = self.tails.copy(), self.target_tails.copy()
        return replace(
            self, pool=self.pool.copy(), cross=cross, screened=screened, tails=tails, target_tails=target_tails
        )

    def placed(self, places: Ints, n_columns: int) -> Self:
        """A copy of a pool of all features, of which j has moved to places[j]; every row had the others as 0."""
        cross, tails = self.cross.placed(places, n_columns), self.tails.placed(places, n_columns)
        return replace(self, pool=np.arange(n_columns), cross=cross, tails=tails, target_tails=self.target_tails.copy())

    def merge(self, other: Self) -> None:
        """Add the rows of another over the same features."""
        self.n_rows += other.n_rows
        self.tails.merge(other.tails)
        self.target_tails.merge(other.target_tails)
        self.screened.merge(other.screened)
        if self.wide:
            both = np.union1d(self.pool, other.pool)
            explained = self.screened.explained(np.ones(len(self.screened.cross)))
            both = np.sort(both[np.argsort(-explained[both], kind="stable")[: self.max_pool]])
            mine, theirs = (_taken(state, both) for state in (self, other))
            self.pool, self.cross = both, mine
            self.cross.merge(theirs)
        else:
            self.cross.merge(other.cross)


def _taken(state: CandidatePool, pool: Ints) -> CrossMoments:
    place = np.full(state.n_columns, -1)
    place[state.pool] = np.arange(len(state.pool))
    return state.cross.taken(place[pool])


def chosen(explained: Floats, pool: Ints, max_pool: int) -> Ints:
    """The pool after a look: the best of all, but members stay where the newcomer is not clearly better.

    >>> chosen(np.array([0.3, 0.2, 0.21, 0.5]), np.array([0, 1]), 2).tolist()
    [0, 3]
    >>> chosen(np.array([0.3, 0.2, 0.21, 0.1]), np.array([0, 1]), 2).tolist()
    [0, 1]
    """
    worth = explained.copy()
    worth[pool] *= MARGIN
    worth[pool] += 1e-300  # a member that explains nothing is as good as a newcomer that explains nothing
    return np.sort(np.argsort(-worth, kind="stable")[:max_pool])
