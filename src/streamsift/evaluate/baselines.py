"""What a selector must be measured against: features drawn at random, and the true ones where they are known.

The third baseline, all features, needs no selector: `prequential` takes None for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.constraints import Integer, Limits
from streamsift.core.exceptions import InputError
from streamsift.core.rows import N_FEATURES_LIMITS, RowSelector
from streamsift.core.tags import StreamTags


@dataclass
class FixedScores:
    """One score a feature."""

    scores: NDArray[np.float64]


class RandomChoice(RowSelector):
    """Features drawn once, with the first batch, and kept.

    Parameters
    ----------
    n_features_to_select : int or float, default 10
        How many.
    random_state : int, default 0
        Seed of the draw.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.evaluate.baselines import RandomChoice
    >>> chosen = RandomChoice(n_features_to_select=3, random_state=1).partial_fit(np.zeros((1, 20)), [0])
    >>> len(chosen.get_support(indices=True))
    3
    """

    state_type = FixedScores
    parameter_limits: ClassVar[Limits] = {
        "n_features_to_select": N_FEATURES_LIMITS,
        "random_state": (Integer(0),),
    }

    def __init__(self, n_features_to_select: int | float = 10, *, random_state: int = 0) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def stream_tags(self) -> StreamTags:
        """It never looks at the rows."""
        return StreamTags(batch_invariant=True, supervised=False, sparse=True, ignores_constants=False)

    def _begin(self, batch: CheckedBatch) -> FixedScores:
        return FixedScores(np.random.default_rng(self.random_state).random(batch.features.n_features))

    def _learn(self, state: FixedScores, batch: CheckedBatch) -> None:
        pass

    def _score(self, state: FixedScores) -> NDArray[np.float64]:
        return state.scores


class Oracle(RowSelector):
    """The true features, as a generated stream tells them with every batch.

    Examples
    --------
    >>> from streamsift.evaluate.baselines import Oracle
    >>> from streamsift.streams import generate
    >>> oracle = Oracle()
    >>> for batch in generate("sea", rows=200, irrelevant=5).batches(100):
    ...     oracle = oracle.partial_fit(batch)
    >>> oracle.get_support(indices=True).tolist()
    [0, 1]
    """

    state_type = FixedScores

    def stream_tags(self) -> StreamTags:
        """It looks at the truth, never at the rows."""
        return StreamTags(supervised=False, sparse=True, ignores_constants=False)

    def _begin(self, batch: CheckedBatch) -> FixedScores:
        return FixedScores(np.zeros(batch.features.n_features))

    def _learn(self, state: FixedScores, batch: CheckedBatch) -> None:
        if batch.truth is None:
            raise InputError("The true features are not known here: only generated streams know them.")
        scores = np.zeros(batch.features.n_features)
        scores[batch.truth] = 1.0
        state.scores = scores

    def _score(self, state: FixedScores) -> NDArray[np.float64]:
        return state.scores

    def _chosen(self) -> NDArray[np.intp]:
        return np.flatnonzero(self._state.scores)
