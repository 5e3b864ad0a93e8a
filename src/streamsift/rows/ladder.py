"""Fading that finds its own rate: summaries with several rates side by side, and a judge that says which one counts.

Each rung of the ladder is a summary with a rate of its own, from 1 (remembers everything) down. A tiny naive Bayes per
rung, over the ten features that Fisher's score puts first by the rung's own moments, classifies every row before it is
learnt. Nothing fades until a faded rung has made significantly fewer mistakes than the one that remembers everything;
from then on the rung in use is left for one that is better. Both are paired comparisons of mistakes, in which old rows
fade too: the sum of differences over the root of the sum of their squares.

What naive Bayes knows is brought up to date every 50 rows of the stream, and decisions are made then: neither depends
on how the stream is cut into batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.selection import rank_scores
from streamsift.core.state import Finite, Shape, Within
from streamsift.summaries.fading import row_weights
from streamsift.summaries.moments import ClassMoments, Moments, SparseClassMoments, refuse_bad_values
from streamsift.summaries.quantiles import QuantileSummary
from streamsift.summaries.sparse_quantiles import SparseQuantileSummary

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Summary = ClassMoments | SparseClassMoments | QuantileSummary | SparseQuantileSummary

RATES = (1.0, 0.9999, 0.999, 0.995, 0.98)
STEP = 50  # rows between two looks
N_JUDGED = 10  # features of naive Bayes
MEMORY = 0.999  # weight of a comparison relative to the next one
DRIFT, CHANGE = 3.0, 1.5  # standard errors that end the time without fading, and that move on to another rung
_ROUNDING = 6  # digits of log-likelihoods that count, so that ties do not depend on the order of sums


@dataclass
class Judge:
    """What naive Bayes of each rung knew at the last look, and how the rungs compare.

    `better[a, b]` is the faded number of rows that rung b got right and a wrong less those the other way round,
    `decided[a, b]` that of rows on which they differ.
    """

    current: Annotated[int, Within(0, len(RATES) - 1)]
    has_drifted: bool
    n_since: Annotated[int, Within(0, STEP - 1)]  # rows since the last look
    top: Annotated[Ints, Shape(len(RATES), "n_judged"), Within(0, "n_features - 1")]
    prior: Annotated[Floats, Shape(len(RATES), "n_judged_classes"), Within(None, 0.0)]  # logarithms
    mean: Annotated[Floats, Shape(len(RATES), "n_judged_classes", "n_judged"), Finite()]
    variance: Annotated[Floats, Shape(len(RATES), "n_judged_classes", "n_judged"), Finite(), Within(0.0)]
    better: Annotated[Floats, Shape(len(RATES), len(RATES)), Finite()]
    decided: Annotated[Floats, Shape(len(RATES), len(RATES)), Finite(), Within(0.0)]

    @classmethod
    def empty(cls) -> Self:
        n = len(RATES)
        nothing = (np.zeros((n, 0), np.int64), np.zeros((n, 0)), np.zeros((n, 0, 0)), np.zeros((n, 0, 0)))
        return cls(0, False, 0, *nothing, np.zeros((n, n)), np.zeros((n, n)))

    def compare(self, batch: CheckedBatch) -> None:
        """Count the mistakes of each rung on rows that it has not learnt."""
        self.n_since += batch.n_rows
        if self.prior.shape[1] < 2 or batch.n_rows == 0:
            return
        wrong = (self._classified(batch) != batch.codes[:, None]).astype(np.float64)
        gained = wrong[:, :, None] - wrong[:, None, :]
        weights, decay = row_weights(MEMORY, batch.n_rows), MEMORY**batch.n_rows
        self.better = self.better * decay + np.tensordot(weights, gained, 1)
        self.decided = self.decided * decay + np.tensordot(weights, gained * gained, 1)

    def _classified(self, batch: CheckedBatch) -> Ints:
        """The class each rung gives to each row; a value that is missing tells nothing."""
        columns = batch.X[:, self.top.ravel()]
        X = np.asarray(columns.toarray() if batch.sparse else columns, np.float64)
        away = X.reshape(batch.n_rows, len(self.top), 1, -1) - self.mean
        with np.errstate(over="ignore"):
            told = -0.5 * (away * away / self.variance + np.log(self.variance))
        likelihood = self.prior + np.where(np.isnan(told), 0.0, told).sum(axis=3)
        return np.asarray(np.argmax(np.round(likelihood, _ROUNDING), axis=2))

    def decide(self) -> None:
        """Begin to fade, or move to another rung, where the mistakes say so."""
        with np.errstate(invalid="ignore", divide="ignore"):
            lead = np.where(self.decided > 0.0, self.better / np.sqrt(self.decided), 0.0)[self.current]
        best = int(np.argmax(lead))
        if lead[best] > (CHANGE if self.has_drifted else DRIFT):
            self.current, self.has_drifted = best, True

    def look(self, known: list[Moments], relevance: Callable[[Moments], Floats]) -> None:
        """Take what naive Bayes of each rung needs from the rung's moments."""
        self.n_since = 0
        each = [_bayes(moments, rank_scores(relevance(moments))[:N_JUDGED]) for moments in known]
        self.top, self.prior, self.mean, self.variance = (np.stack(part) for part in zip(*each, strict=True))


def _bayes(moments: Moments, top: NDArray[np.intp]) -> tuple[Ints, Floats, Floats, Floats]:
    """Features, logarithms of priors, means and variances; a class with few rows leans on the variance of all."""
    weight = moments.weight.max(axis=1, keepdims=True)
    total, mean, m2 = max(float(weight.sum()), 1e-300), moments.mean[:, top], moments.m2[:, top]
    within = m2.sum(axis=0) / total
    centre = (weight * mean).sum(axis=0) / total
    whole = within + (weight * (mean - centre) ** 2).sum(axis=0) / total
    variance = (m2 + 2.0 * within) / (weight + 2.0) + 1e-6 * whole
    tells = variance.min(axis=0) > 0.0
    with np.errstate(divide="ignore"):
        prior = np.log(weight[:, 0] / total)
    return top.astype(np.int64), prior, np.where(tells, mean, 0.0), np.where(tells, variance, 1.0)


@dataclass
class Ladder:
    """The base of the four kinds of ladder: a judge and, in fields of their own, a summary for each of RATES."""

    judge: Judge

    # Each summary has sizes of its own.
    own_sizes: ClassVar[dict[str, dict[str, str]]] = {
        f"{name}_{place}": {} for name in ("rung", "pilot") for place in range(len(RATES))
    }

    @property
    def rungs(self) -> list[Any]:
        return [getattr(self, f"rung_{place}") for place in range(len(RATES))]

    @property
    def pilots(self) -> list[Any]:
        """The moments of each rate: the rungs themselves where these are moments."""
        return [getattr(self, f"pilot_{place}", rung) for place, rung in enumerate(self.rungs)]

    @property
    def in_use(self) -> Summary:
        summary: Summary = self.rungs[self.judge.current]
        return summary

    @property
    def rate(self) -> float:
        return RATES[self.judge.current]

    def learn(self, batch: CheckedBatch, relevance: Callable[[Moments], Floats], *, skip_missing: bool) -> None:
        """Judge, then learn the rows, from look to look."""
        refuse_bad_values(batch, nan_allowed=skip_missing or batch.has_absent)
        rungs, pilots, first = self.rungs, self.pilots, 0
        summaries = rungs if pilots[0] is rungs[0] else rungs + pilots
        while first < max(batch.n_rows, 1):
            end = min(first + STEP - self.judge.n_since, batch.n_rows)
            part = replace(batch, X=batch.X[first:end], codes=batch.codes[first:end], first_row=batch.first_row + first)
            self.judge.compare(part)
            for summary in summaries:
                summary.learn(part, skip_missing=skip_missing)
            if self.judge.n_since == STEP:
                self.judge.decide()
                self.judge.look([pilot.read() for pilot in pilots], relevance)
            first = max(end, 1)


@dataclass
class MomentsLadder(Ladder):
    """Moments of dense rows."""

    rung_0: ClassMoments
    rung_1: ClassMoments
    rung_2: ClassMoments
    rung_3: ClassMoments
    rung_4: ClassMoments


@dataclass
class SparseMomentsLadder(Ladder):
    """Moments of sparse rows."""

    rung_0: SparseClassMoments
    rung_1: SparseClassMoments
    rung_2: SparseClassMoments
    rung_3: SparseClassMoments
    rung_4: SparseClassMoments


@dataclass
class BinsLadder(Ladder):
    """Bins of dense rows, and moments for the judge."""

    rung_0: QuantileSummary
    rung_1: QuantileSummary
    rung_2: QuantileSummary
    rung_3: QuantileSummary
    rung_4: QuantileSummary
    pilot_0: ClassMoments
    pilot_1: ClassMoments
    pilot_2: ClassMoments
    pilot_3: ClassMoments
    pilot_4: ClassMoments


@dataclass
class SparseBinsLadder(Ladder):
    """Bins of sparse rows, and moments for the judge."""

    rung_0: SparseQuantileSummary
    rung_1: SparseQuantileSummary
    rung_2: SparseQuantileSummary
    rung_3: SparseQuantileSummary
    rung_4: SparseQuantileSummary
    pilot_0: SparseClassMoments
    pilot_1: SparseClassMoments
    pilot_2: SparseClassMoments
    pilot_3: SparseClassMoments
    pilot_4: SparseClassMoments


LADDERS: dict[type[Any], type[Ladder]] = {
    ClassMoments: MomentsLadder,
    SparseClassMoments: SparseMomentsLadder,
    QuantileSummary: BinsLadder,
    SparseQuantileSummary: SparseBinsLadder,
}
