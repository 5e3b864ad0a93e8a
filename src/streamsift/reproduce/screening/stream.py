"""What Figures 2 and 3 of the screening paper share: the drifting stream of section 3.2, and the detection rate.

100,000 rows of 1,000 features, 100 of them true; every l rows the window of true features moves on by one.

The paper's fading factor is applied once a mini-batch whose size it does not give; ours is applied every row, so a
fading that fits each l was chosen: a row counts half after log(2) / (1 - fading) rows. Two values were tried for
l = 250 and three for each other l, with the t-score on the stream of seed 0, and the best by rate@100 was kept. So
seed 0 favours the faded curves a little; the default is another seed, which had no part in the choice. Nothing was
tuned for the other four scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamsift.core.selection import rank_scores
from streamsift.streams import generate
from streamsift.streams.generation import GeneratedStream

SCORES = ("t_score", "fisher", "mutual_info", "chi2", "gini")
FADING = {250: 0.9998, 500: 0.9999, 1000: 0.99993, 2000: 0.99995}  # rows between two shifts (l) -> fading per row
ROWS, N_FEATURES, N_RELEVANT = 100_000, 1_000, 100


@dataclass(frozen=True)
class DetectionRun:
    """One curve: a score, a fading (1: none) and the stream it runs over."""

    score: str
    fading: float
    shift_every: int
    rows: int = ROWS
    n_features: int = N_FEATURES
    n_relevant: int = N_RELEVANT
    seed: int = 1


def drifting_stream(run: DetectionRun) -> GeneratedStream:
    """The stream of a run."""
    return generate(
        "linear_drift",
        n_rows=run.rows,
        seed=run.seed,
        n_features=run.n_features,
        n_relevant=run.n_relevant,
        shift_every=run.shift_every,
    )


def rates_by_count(
    scores: NDArray[np.float64], relevant: NDArray[np.intp], counts: Sequence[int]
) -> NDArray[np.float64]:
    """The detection rate of the k best features, for many k at once.

    >>> rates_by_count(np.array([0.9, 0.1, 0.5, 0.7]), np.array([0, 2]), [1, 2, 3])
    array([0.5, 0.5, 1. ])
    """
    ranks = np.empty(len(scores), np.intp)
    ranks[rank_scores(scores)] = np.arange(1, len(scores) + 1)
    return np.searchsorted(np.sort(ranks[relevant]), counts, side="right") / len(relevant)
