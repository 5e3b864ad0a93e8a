"""Fading that finds its own rate: summaries with several rates side by side, and a judge that says which one counts.

Each rung of the ladder is a summary with a rate of its own, from 1 (remembers everything) down. A tiny naive Bayes per
rung, over the ten features that Fisher's score puts first by the rung's own moments and category counts, classifies
every row before it is learnt: normal distributions for numbers, counts plus one for categories. Nothing fades until a
faded rung has made significantly fewer mistakes than the one that remembers everything; from then on the rung in use is
left for one that is better. Both are paired comparisons of mistakes, in which old rows fade too: the sum of differences
over the root of the sum of their squares.

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
from streamsift.core.state import MOST_ROWS, Finite, Shape, Sizes, Within
from streamsift.rows.category_scores import category_score
from streamsift.summaries.category_counts import CategoryTable
from streamsift.summaries.fading import row_weights
from streamsift.summaries.mixed import (
    MixedMoments,
    MixedQuantiles,
    MixedSparseMoments,
    MixedSparseQuantiles,
    MixedSummary,
)
from streamsift.summaries.moments import ClassMoments, Moments, SparseClassMoments
from streamsift.summaries.quantiles import QuantileSummary
from streamsift.summaries.sparse_quantiles import SparseQuantileSummary

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Relevance = Callable[[Moments], Floats]

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
    `decided[a, b]` that of rows on which they differ. Of a judged feature that is `named`, `codes` are its categories
    in increasing order (behind them MOST_ROWS), and `chances` the logarithms of their chances in each class, the last
    one that of any other category.
    """

    current: Annotated[int, Within(0, len(RATES) - 1)]
    has_drifted: bool
    n_since: Annotated[int, Within(0, STEP - 1)]  # rows since the last look
    top: Annotated[Ints, Shape(len(RATES), "n_judged"), Within(0, "n_features - 1")]
    prior: Annotated[Floats, Shape(len(RATES), "n_judged_classes"), Within(None, 0.0)]  # logarithms
    mean: Annotated[Floats, Shape(len(RATES), "n_judged_classes", "n_judged"), Finite()]
    variance: Annotated[Floats, Shape(len(RATES), "n_judged_classes", "n_judged"), Finite(), Within(0.0)]
    named: Annotated[NDArray[np.bool_], Shape(len(RATES), "n_judged")]
    codes: Annotated[Ints, Shape(len(RATES), "n_judged", "n_judged_codes"), Within(0, MOST_ROWS)]
    chances: Annotated[Floats, Shape(len(RATES), "n_judged_classes", "n_judged", "n_chances"), Within(None, 0.0)]
    better: Annotated[Floats, Shape(len(RATES), len(RATES)), Finite()]
    decided: Annotated[Floats, Shape(len(RATES), len(RATES)), Finite(), Within(0.0)]

    @classmethod
    def empty(cls) -> Self:
        n = len(RATES)
        numbers = (np.zeros((n, 0), np.int64), np.zeros((n, 0)), np.zeros((n, 0, 0)), np.zeros((n, 0, 0)))
        names = (np.zeros((n, 0), bool), np.zeros((n, 0, 0), np.int64), np.zeros((n, 0, 0, 1)))
        return cls(0, False, 0, *numbers, *names, np.zeros((n, n)), np.zeros((n, n)))

    def problem(self, sizes: Sizes) -> str | None:
        """What declarations cannot say, in a few words."""
        if self.chances.shape[3] != self.codes.shape[2] + 1:
            return f"there are {self.chances.shape[3]} chances for {self.codes.shape[2]} categories and the others"
        return None

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
        for rung, place in np.argwhere(self.named):
            given, codes = X[:, rung * self.top.shape[1] + place], self.codes[rung, place]
            where = np.searchsorted(codes, given)
            where[~np.equal(np.append(codes, -1)[where], given)] = len(codes)  # one that it has not met
            told[:, rung, :, place] = np.where(np.isnan(given)[:, None], np.nan, self.chances[rung, :, place].T[where])
        likelihood = self.prior + np.where(np.isnan(told), 0.0, told).sum(axis=3)
        return np.asarray(np.argmax(np.round(likelihood, _ROUNDING), axis=2))

    def decide(self) -> None:
        """Begin to fade, or move to another rung, where the mistakes say so."""
        with np.errstate(invalid="ignore", divide="ignore"):
            lead = np.where(self.decided > 0.0, self.better / np.sqrt(self.decided), 0.0)[self.current]
        best = int(np.argmax(lead))
        if lead[best] > (CHANGE if self.has_drifted else DRIFT):
            self.current, self.has_drifted = best, True

    def look(self, known: list[MixedSummary], relevance: Relevance) -> None:
        """Take what naive Bayes of each rung needs from the rung's moments and counts."""
        self.n_since = 0
        each = [_Known.of(summary, relevance) for summary in known]
        parts = [_bayes(one) for one in each]
        self.top, self.prior, self.mean, self.variance = (np.stack(part) for part in zip(*parts, strict=True))
        self._look_at_categories(each)

    def _look_at_categories(self, each: list[_Known]) -> None:
        tables = [[one.tables.get(int(feature)) for feature in one.top] for one in each]
        self.named = np.array([[table is not None for table in row] for row in tables], bool).reshape(self.top.shape)
        widest = max((len(table.codes) for row in tables for table in row if table is not None), default=0)
        self.codes = np.full((*self.top.shape, widest), MOST_ROWS, np.int64)
        self.chances = np.zeros((len(RATES), self.prior.shape[1], self.top.shape[1], widest + 1))
        for (rung, place), table in np.ndenumerate(np.array([[*row, None] for row in tables], object)[:, :-1]):
            if table is not None:
                self.codes[rung, place, : len(table.codes)] = table.codes
                self.chances[rung, :, place] = _chances(table, widest, self.prior.shape[1])


@dataclass(frozen=True)
class _Known:
    """What a summary knows of its features: moments of the numbers, tables of the categories, and the best features."""

    moments: Moments
    place_of: Ints  # of each feature among the numbers; -1 for all others
    tables: dict[int, CategoryTable]
    top: NDArray[np.intp]
    weight: Floats  # of each class

    @classmethod
    def of(cls, summary: MixedSummary, relevance: Relevance) -> _Known:
        moments = summary.numbers.read()
        tables = dict(zip(summary.category_slots.tolist(), summary.categories.tables(), strict=True))
        scores, place_of = np.zeros(summary.n_features), np.full(summary.n_features, -1)
        if len(summary.number_slots):
            scores[summary.number_slots] = relevance(moments)
            place_of[summary.number_slots] = np.arange(len(summary.number_slots))
        weight = moments.weight.max(axis=1, initial=0.0)
        for slot, table in tables.items():
            scores[slot] = category_score("fisher", table, 2).score
            rows = table.weights.sum(axis=0) + table.other
            weight[: len(rows)] = np.maximum(weight[: len(rows)], rows)
        return cls(moments, place_of, tables, rank_scores(scores)[:N_JUDGED], weight)


def _chances(table: CategoryTable, widest: int, n_classes: int) -> Floats:
    """Logarithms of the chances of the kept categories in each class, and last that of any other one."""
    rows = np.zeros((len(table.codes) + 1, n_classes))
    rows[:, : len(table.other)] = np.vstack([table.weights, table.other])
    n_categories = max(len(table.codes) + bool(table.other.any()), 1)
    found = np.zeros((n_classes, widest + 1))
    found[:, np.append(np.arange(len(table.codes)), widest)] = (
        np.log(rows + 1.0) - np.log(rows.sum(axis=0) + n_categories)
    ).T
    return found


def _bayes(known: _Known) -> tuple[Ints, Floats, Floats, Floats]:
    """Features, logarithms of priors, means and variances; a class with few rows leans on the variance of all."""
    moments, top, weight = known.moments, known.top, known.weight[:, None]
    place = known.place_of[top]
    total, (mean, m2) = max(float(weight.sum()), 1e-300), np.zeros((2, len(weight), len(top)))
    mean[:, place >= 0], m2[:, place >= 0] = moments.mean[:, place[place >= 0]], moments.m2[:, place[place >= 0]]
    within = m2.sum(axis=0) / total
    centre = (weight * mean).sum(axis=0) / total
    whole = within + (weight * (mean - centre) ** 2).sum(axis=0) / total
    variance = (m2 + 2.0 * within) / (weight + 2.0) + 1e-6 * whole
    tells = (variance.min(axis=0) > 0.0) & (place >= 0)
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
        """The moments and counts of each rate: the rungs themselves where these are moments."""
        return [getattr(self, f"pilot_{place}", rung) for place, rung in enumerate(self.rungs)]

    @property
    def in_use(self) -> MixedSummary:
        summary: MixedSummary = self.rungs[self.judge.current]
        return summary

    @property
    def rate(self) -> float:
        return RATES[self.judge.current]

    def learn(self, batch: CheckedBatch, relevance: Relevance, *, skip_missing: bool) -> None:
        """Judge, then learn the rows, from look to look."""
        batch = batch.as_sparse(self.in_use.sparse)
        self.in_use.refuse(batch, skip_missing=skip_missing)
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
                self.judge.look(pilots, relevance)
            first = max(end, 1)


@dataclass
class MomentsLadder(Ladder):
    """Moments of dense rows."""

    rung_0: MixedMoments
    rung_1: MixedMoments
    rung_2: MixedMoments
    rung_3: MixedMoments
    rung_4: MixedMoments


@dataclass
class SparseMomentsLadder(Ladder):
    """Moments of sparse rows."""

    rung_0: MixedSparseMoments
    rung_1: MixedSparseMoments
    rung_2: MixedSparseMoments
    rung_3: MixedSparseMoments
    rung_4: MixedSparseMoments


@dataclass
class BinsLadder(Ladder):
    """Bins of dense rows, and moments and counts for the judge."""

    rung_0: MixedQuantiles
    rung_1: MixedQuantiles
    rung_2: MixedQuantiles
    rung_3: MixedQuantiles
    rung_4: MixedQuantiles
    pilot_0: MixedMoments
    pilot_1: MixedMoments
    pilot_2: MixedMoments
    pilot_3: MixedMoments
    pilot_4: MixedMoments


@dataclass
class SparseBinsLadder(Ladder):
    """Bins of sparse rows, and moments and counts for the judge."""

    rung_0: MixedSparseQuantiles
    rung_1: MixedSparseQuantiles
    rung_2: MixedSparseQuantiles
    rung_3: MixedSparseQuantiles
    rung_4: MixedSparseQuantiles
    pilot_0: MixedSparseMoments
    pilot_1: MixedSparseMoments
    pilot_2: MixedSparseMoments
    pilot_3: MixedSparseMoments
    pilot_4: MixedSparseMoments


LADDERS: dict[type[Any], type[Ladder]] = {
    ClassMoments: MomentsLadder,
    SparseClassMoments: SparseMomentsLadder,
    QuantileSummary: BinsLadder,
    SparseQuantileSummary: SparseBinsLadder,
}
