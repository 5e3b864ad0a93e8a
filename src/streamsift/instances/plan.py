"""Plan: the order of buying and the rule of stopping, and how rows and single instances go through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from streamsift.core.batch import CheckedBatch, refuse_value
from streamsift.core.exceptions import InputError
from streamsift.core.instances import PurchaseStep
from streamsift.core.state import Distinct, Finite, Shape, Sizes, Within
from streamsift.instances.grid import rank_table
from streamsift.instances.likelihood import Likelihoods, no_rows, no_sparse_rows, sparse_parts
from streamsift.kernels.instances import (
    INTERVAL,
    LINEAR,
    ROUNDED_TABLE,
    TABLE,
    UNKNOWN,
    Answers,
    Purchases,
    RankTable,
    Rows,
    StopRule,
    beyond_plane,
    bin_of,
    cheapest,
    classify_rows,
    classify_three,
    classify_two,
    expected_loss,
    interpolate,
    nearest,
    normalise,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STOP_AT_ONCE = "the classes are decided without any feature"
NOT_WORTH = "the next feature costs more than it can save"
ALL_BOUGHT = "no feature is left"


@dataclass
class PurchasePlan:
    """How to decide; which of the last arrays is used depends on `mode` (kernels/instances.py).

    order: features in the order of buying, one per stage. Stage k is decided by interval[k], table[k] or plane[k].
    gap: how far the value at stage 0 may be from the optimum over all features.
    """

    order: Annotated[Ints, Shape("n_stages"), Within(0, "n_features - 1"), Distinct()]
    feature_cost: Annotated[Floats, Shape("n_features"), Within(0.0), Finite()]
    prior: Annotated[Floats, Shape("n_classes"), Within(0.0, 1.0)]
    risk: Annotated[Floats, Shape("n_classes", "n_classes"), Within(0.0), Finite()]
    mode: Annotated[int, Within(INTERVAL, LINEAR)]
    gap: Annotated[float, Within(0.0)]
    steps: Annotated[int, Within(1, 100_000)]
    shift: int
    weights: Annotated[Ints, Shape("n_tails", "n_weights")]
    interval: Annotated[Floats, Shape("n_intervals", 2), Within(None)]
    table: Annotated[Floats, Shape("n_tables", "n_points"), Finite()]
    stop_cost: Annotated[Floats, Shape("n_points"), Finite()]
    plane: Annotated[Floats, Shape("n_planes", "plane_rows", "plane_columns"), Finite()]
    _log_likelihood: Floats | None = field(default=None, init=False, repr=False)

    @property
    def n_stages(self) -> int:
        """How many features may be bought at most."""
        return len(self.order)

    # A plan does not change once it is made: what kernels take of it is put together once, not for every row.

    @cached_property
    def log_prior(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.prior)

    def _logs(self, counts: Likelihoods) -> Floats:
        if self._log_likelihood is None:
            self._log_likelihood = np.log(counts.table())
        return self._log_likelihood

    def problem(self, sizes: Sizes) -> str | None:
        """What declarations cannot say, in a few words: each mode needs its own arrays."""
        n_classes, n_stages = len(self.prior), len(self.order)
        if abs(self.prior.sum() - 1.0) > 1e-6:
            return "prior does not add up to 1"
        if self.mode == INTERVAL:
            fits = len(self.interval) == n_stages and (n_classes == 2 or n_stages == 0)
            return None if fits else "interval does not hold an interval for each stage"
        if self.mode == LINEAR:
            fits = n_stages == 0 or self.plane.shape == (n_stages, n_classes, n_classes)
            return None if fits else "plane does not hold a hyperplane for each stage and class"
        if len(self.table) != n_stages or n_classes < 2:
            return "table does not hold a row for each stage"
        if self.weights.shape != (n_classes - 1, self.steps + 2):
            return "weights are not those of the grid"
        weights, shift = rank_table(n_classes, self.steps)
        if self.shift != shift or len(self.stop_cost) != shift or not np.array_equal(self.weights, weights):
            return "shift, weights and stop_cost are not those of the grid"
        return None

    def classify(self, counts: Likelihoods, batch: CheckedBatch) -> tuple[Ints, Floats, Ints, Floats, Ints]:
        """Class, posterior, number of features and their cost for each row; and rows that bought, for each feature."""
        n_rows, n_classes = batch.n_rows, len(self.prior)
        dtype = batch.X.dtype
        if batch.sparse:
            rows = Rows(no_rows(dtype), *sparse_parts(batch), True)
        else:
            rows = Rows(batch.X, *no_sparse_rows(dtype), False)
        out = Answers(
            choice=np.zeros(n_rows, np.int64),
            posteriors=np.ones((n_rows, n_classes)),
            n_evaluated=np.zeros(n_rows, np.int64),
            cost=np.zeros(n_rows),
            bought=np.zeros(self.n_stages, np.int64),
        )
        bins, purchases, logs = counts.bins(), self._purchases, self._logs(counts)
        if self.mode == INTERVAL and n_classes == 2:
            odds, log_odds = np.empty(n_rows), np.ascontiguousarray(logs[:, 0] - logs[:, 1])
            prior_odds = float(self.log_prior[0] - self.log_prior[1])
            row, column = classify_two(rows, bins, purchases, prior_odds, log_odds, self.interval, odds, out)
            posteriors = np.column_stack([expit(odds), expit(-odds)])
            out = out._replace(posteriors=posteriors, choice=(posteriors @ self.risk).argmin(axis=1))
        elif self.mode == TABLE and n_classes == 3:
            rule = self._rule
            row, column = classify_three(rows, bins, purchases, self.log_prior, logs, rule, self.steps, out)
        else:
            given = rows, bins, purchases, self.log_prior, logs
            row, column = classify_rows(*given, self._rule, self._ranks, out)
        if row >= 0:
            refuse_value(batch, row, column, float("inf"))
        by_feature = np.zeros(len(self.feature_cost), np.int64)
        by_feature[self.order] = out.bought
        return out.choice, out.posteriors, out.n_evaluated, out.cost, by_feature

    @cached_property
    def _rule(self) -> StopRule:
        return StopRule(self.mode, self.table, self.stop_cost, self.plane, self.risk)

    @cached_property
    def _ranks(self) -> RankTable:
        return RankTable(self.steps, self.shift, self.weights)

    @cached_property
    def _purchases(self) -> Purchases:
        return Purchases(self.order, self.feature_cost)

    def stops(self, stage: int, log_weight: Floats) -> bool:
        """Whether to stop before buying the feature of a stage; the same decision as `classify` makes."""
        n = len(log_weight)
        if self.mode == INTERVAL:
            low, high = self.interval[stage]
            return not low < log_weight[0] - log_weight[1] < high
        posterior, scratch, parts = np.empty(n), np.empty(n), np.empty(n, np.int64)
        normalise(log_weight, posterior)
        if self.mode == ROUNDED_TABLE:
            rank = nearest(posterior, np.arange(n), *self._ranks, parts, scratch)
            return bool(self.stop_cost[rank] <= self.table[stage, rank])
        best = cheapest(posterior, self.risk)
        if self.mode == LINEAR:
            return beyond_plane(posterior, self.plane[stage], best)
        going_on = interpolate(posterior, *self._ranks, self.table[stage], scratch, parts)
        return expected_loss(posterior, self.risk, best) <= going_on

    def walk(self, counts: Likelihoods, acquire: Callable[[int], Any]) -> Iterator[PurchaseStep]:
        """Go through the stages with one instance, buying what is needed; the last step has a reason."""
        logs, log_weight, posterior = self._logs(counts), self.log_prior.copy(), np.empty(len(self.prior))
        feature, value, known, cost = None, np.nan, True, 0.0
        normalise(log_weight, posterior)
        for k in range(self.n_stages):
            if self.stops(k, log_weight):
                reason = STOP_AT_ONCE if feature is None else NOT_WORTH
                break
            j = int(self.order[k])
            x = _number(acquire(j), j)
            if np.isnan(x):
                continue
            yield PurchaseStep(feature, value, known, posterior.copy(), cost, int(cheapest(posterior, self.risk)), "")
            feature, value, cost = j, x, cost + float(self.feature_cost[j])
            b = bin_of(x, counts.cuts, counts.cut_start[j], counts.cut_start[j + 1], counts.categorical[j])
            known = b != UNKNOWN
            if known:
                log_weight += logs[counts.bin_start[j] + b]
                normalise(log_weight, posterior)
        else:
            reason = ALL_BOUGHT
        yield PurchaseStep(feature, value, known, posterior.copy(), cost, int(cheapest(posterior, self.risk)), reason)


def _number(value: Any, feature: int) -> float:
    if value is None:
        return float("nan")
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"acquire({feature}) gave {value!r}, which is not a number: code categories as they were in training."
        ) from error
    if np.isinf(number):
        raise InputError(f"acquire({feature}) gave infinity: give a finite number, or None if it cannot be had.")
    return number
