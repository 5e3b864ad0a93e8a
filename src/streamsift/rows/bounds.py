"""Oracle and RandomSelector: what the best and the luckless selector would do, as bounds for all others.

The oracle is told the true features by the stream, as only generated streams can; the random selector draws its
features once and learns nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from streamsift.core.batch import CheckedBatch
from streamsift.core.constraints import ArrayLike, IsNone, Limits, RandomSeed
from streamsift.core.exceptions import InputError
from streamsift.core.rows import N_FEATURES_LIMITS, RowSelector
from streamsift.core.tags import StreamTags


@dataclass
class Relevant:
    """Which features are relevant now, and how often that has changed."""

    mask: NDArray[np.bool_]
    n_drifts: int


class Oracle(RowSelector):
    """Select exactly the relevant features, as the stream names them.

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
    >>> import numpy as np
    >>> from streamsift.core.batch import Batch
    >>> from streamsift.rows.bounds import Oracle
    >>> oracle = Oracle().partial_fit(Batch(np.zeros((2, 4)), [0, 1], relevant=np.array([1, 3])))
    >>> oracle.get_support(indices=True).tolist()
    [1, 3]
    """

    parameter_limits: ClassVar[Limits] = {"relevant": (IsNone(), ArrayLike())}
    state_type = Relevant

    def __init__(self, relevant: Any = None) -> None:
        self.relevant = relevant

    def stream_tags(self) -> StreamTags:
        """Labels are not looked at."""
        return StreamTags(batch_invariant=True, supervised=False, ignores_constants=False)

    def _begin(self, batch: CheckedBatch) -> Relevant:
        return Relevant(self._mask(batch), 0)

    def _learn(self, state: Relevant, batch: CheckedBatch) -> None:
        mask = self._mask(batch)
        state.n_drifts += int((mask != state.mask).any())
        state.mask = mask

    def _mask(self, batch: CheckedBatch) -> NDArray[np.bool_]:
        n_features = batch.features.n_features
        told = batch.truth if self.relevant is None else self.relevant
        if told is None:
            raise InputError(
                "Oracle was given rows that do not say which features are relevant: give batches of a generated "
                "stream, or name the features with relevant=[...]."
            )
        relevant = np.asarray(told, np.intp)
        outside = relevant[(relevant < 0) | (relevant >= n_features)]
        if len(outside):
            raise InputError(
                f"Feature {outside[0]} is said to be relevant, but X has the columns 0 to {n_features - 1}."
            )
        mask = np.zeros(n_features, bool)
        mask[relevant] = True
        return mask

    def _score(self, state: Relevant) -> NDArray[np.float64]:
        return state.mask.astype(np.float64)

    def _chosen(self) -> NDArray[np.intp]:
        return np.flatnonzero(self._state.mask)

    @property
    def n_drifts_(self) -> int:
        """How often the relevant features have changed."""
        check_is_fitted(self)
        return int(self._state.n_drifts)


@dataclass
class Drawn:
    """Scores drawn once."""

    scores: NDArray[np.float64]


class RandomSelector(RowSelector):
    """Select features by lot, once.

    Parameters
    ----------
    n_features_to_select : int or float, default 10
        How many features to select: a number (all, where there are fewer), or a fraction in (0, 1].
    random_state : None, int or numpy generator, default None
        The seed of the draw.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Uniform random numbers.
    n_rows_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.rows.bounds import RandomSelector
    >>> selector = RandomSelector(n_features_to_select=2, random_state=0).partial_fit(np.zeros((3, 5)))
    >>> int(selector.get_support().sum())
    2
    """

    parameter_limits: ClassVar[Limits] = {
        "n_features_to_select": N_FEATURES_LIMITS,
        "random_state": (RandomSeed(),),
    }
    state_type = Drawn

    def __init__(self, n_features_to_select: int | float = 10, *, random_state: Any = None) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def stream_tags(self) -> StreamTags:
        """Rows are not looked at."""
        return StreamTags(batch_invariant=True, supervised=False, ignores_constants=False)

    def _begin(self, batch: CheckedBatch) -> Drawn:
        seed = self.random_state
        random = seed if isinstance(seed, np.random.Generator) else check_random_state(seed)
        return Drawn(random.uniform(size=batch.features.n_features))

    def _learn(self, state: Drawn, batch: CheckedBatch) -> None:
        """There is nothing to learn."""

    def _score(self, state: Drawn) -> NDArray[np.float64]:
        return state.scores.copy()
