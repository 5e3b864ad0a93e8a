"""What a selector must be measured against: random selection, and the true features where they are known.

A useful selector lies between the two. All features need no selector: `prequential` takes None for them. With no
feature at all (`NoFeatures`) the most frequent class so far is predicted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from streamsift.core.batch import CheckedBatch
from streamsift.core.constraints import ArrayLike, IsNone, Limits, RandomSeed
from streamsift.core.exceptions import InputError
from streamsift.core.rows import N_FEATURES_LIMITS, RowSelector
from streamsift.core.tags import StreamTags


@dataclass
class DrawnScores:
    """One random score per feature, drawn once."""

    scores: NDArray[np.float64]


class RandomSelector(RowSelector):
    """Random selection: the features are drawn once, with the first batch, and kept.

    Parameters
    ----------
    n_features_to_select : int or float, default 10
        How many features to select: a number (all, where there are fewer), or a fraction in (0, 1].
    random_state : None, int, numpy Generator or RandomState, default 0
        The seed of the draw, or what draws.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Uniform random numbers.
    n_rows_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.evaluate.baselines import RandomSelector
    >>> selector = RandomSelector(n_features_to_select=3, random_state=1).partial_fit(np.zeros((1, 20)))
    >>> len(selector.get_support(indices=True))
    3
    """

    state_type = DrawnScores
    parameter_limits: ClassVar[Limits] = {
        "n_features_to_select": N_FEATURES_LIMITS,
        "random_state": (RandomSeed(),),
    }

    def __init__(self, n_features_to_select: int | float = 10, *, random_state: Any = 0) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def stream_tags(self) -> StreamTags:
        """It never looks at the rows."""
        return StreamTags(batch_invariant=True, supervised=False, sparse=True, ignores_constants=False)

    def _begin(self, batch: CheckedBatch) -> DrawnScores:
        seed = self.random_state
        drawing = seed if isinstance(seed, np.random.RandomState) else np.random.default_rng(seed)
        return DrawnScores(drawing.uniform(size=batch.features.n_features))

    def _learn(self, state: DrawnScores, batch: CheckedBatch) -> None:
        """There is nothing to learn."""

    def _score(self, state: DrawnScores) -> NDArray[np.float64]:
        return state.scores.copy()


@dataclass
class KnownTruth:
    """Which features are relevant now, and how often that has changed."""

    mask: NDArray[np.bool_]
    n_drifts: int


class Oracle(RowSelector):
    """Select exactly the relevant features, as a generated stream names them with every batch.

    Parameters
    ----------
    relevant : None or list of columns, default None
        The positions of the relevant features. None takes them from each batch (`Batch.relevant`).

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        1 for the relevant features, 0 for all others.
    n_drifts_ : int
        How often the relevant features have changed.
    n_rows_seen_ : int

    Examples
    --------
    >>> from streamsift.evaluate.baselines import Oracle
    >>> from streamsift.streams import generate
    >>> oracle = Oracle()
    >>> for batch in generate("sea", n_rows=200, irrelevant=5).batches(100):
    ...     oracle = oracle.partial_fit(batch)
    >>> oracle.get_support(indices=True).tolist()
    [0, 1]
    """

    parameter_limits: ClassVar[Limits] = {"relevant": (IsNone(), ArrayLike())}
    state_type = KnownTruth

    def __init__(self, relevant: Any = None) -> None:
        self.relevant = relevant

    def stream_tags(self) -> StreamTags:
        """It looks at the truth, never at the rows."""
        return StreamTags(batch_invariant=True, supervised=False, sparse=True, ignores_constants=False)

    def _begin(self, batch: CheckedBatch) -> KnownTruth:
        return KnownTruth(self._mask(batch), 0)

    def _learn(self, state: KnownTruth, batch: CheckedBatch) -> None:
        mask = self._mask(batch)
        state.n_drifts += int((mask != state.mask).any())
        state.mask = mask

    def _mask(self, batch: CheckedBatch) -> NDArray[np.bool_]:
        n_features = batch.features.n_features
        truth = batch.truth if self.relevant is None else self.relevant
        if truth is None:
            raise InputError(
                "Oracle was given rows that do not say which features are relevant: give batches of a generated "
                "stream, or name the features with relevant=[...]."
            )
        relevant = np.asarray(truth, np.intp)
        outside = relevant[(relevant < 0) | (relevant >= n_features)]
        if len(outside):
            raise InputError(
                f"Feature {outside[0]} is said to be relevant, but X has the columns 0 to {n_features - 1}."
            )
        mask = np.zeros(n_features, bool)
        mask[relevant] = True
        return mask

    def _score(self, state: KnownTruth) -> NDArray[np.float64]:
        return state.mask.astype(np.float64)

    def _chosen(self) -> NDArray[np.intp]:
        return np.flatnonzero(self._state.mask)

    @property
    def n_drifts_(self) -> int:
        """How often the relevant features have changed."""
        check_is_fitted(self)
        return int(self._state.n_drifts)


@dataclass
class Width:
    """How many features there are."""

    n_features: int


class NoFeatures(RowSelector):
    """Select nothing, so that the most frequent class so far is predicted.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Zeros.
    n_rows_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.evaluate.baselines import NoFeatures
    >>> NoFeatures().partial_fit(np.zeros((1, 20))).get_support(indices=True).tolist()
    []
    """

    parameter_limits: ClassVar[Limits] = {}
    state_type = Width

    def stream_tags(self) -> StreamTags:
        """It never looks at the rows."""
        return StreamTags(batch_invariant=True, supervised=False, sparse=True, ignores_constants=False)

    def _begin(self, batch: CheckedBatch) -> Width:
        return Width(batch.features.n_features)

    def _learn(self, state: Width, batch: CheckedBatch) -> None:
        """There is nothing to learn."""

    def _score(self, state: Width) -> NDArray[np.float64]:
        return np.zeros(state.n_features)

    def _chosen(self) -> NDArray[np.intp]:
        return np.zeros(0, np.intp)
