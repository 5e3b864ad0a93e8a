"""What ETANA and FETANA have in common: their parameters, and the stopping problem these and the counts make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.constraints import ArrayLike, Integer, IsNone, Limits, OneOf, Real
from streamsift.core.exceptions import InputError, ParameterError, near_misses
from streamsift.instances.likelihood import Likelihoods
from streamsift.instances.ordering import by_error, by_variance
from streamsift.instances.plan import PurchasePlan

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LIMITS: Limits = {
    "feature_cost": (Real(0, None, closed="left"), ArrayLike()),
    "misclassification_cost": (IsNone(), ArrayLike()),
    "n_bins": (Integer(2, 10_000), OneOf("classes")),
    "binning": (OneOf("quantile", "width", "integer_width"),),
    "ordering": (OneOf("error", "variance"),),
    "prior": (OneOf("empirical", "uniform"),),
    "categorical": (IsNone(), ArrayLike()),
}


def begin(model: Any, batch: CheckedBatch) -> Likelihoods:
    """Empty counts for the first rows, after checking what depends on the number of features."""
    feature_costs(model, batch.features.n_features)
    n_bins = max(len(batch.labels), 2) if model.n_bins == "classes" else int(model.n_bins)
    return Likelihoods.begin(batch, n_bins, model.binning, _categorical(model, batch))


def feature_costs(model: Any, n_features: int) -> Floats:
    """The price of each feature."""
    cost = _numbers(model, "feature_cost")
    if cost.ndim == 0:
        return np.full(n_features, float(cost))
    if cost.shape != (n_features,):
        raise ParameterError(
            f"feature_cost of {type(model).__name__} has shape {cost.shape}, but X has {n_features} features: give one "
            "price per feature, or one number for all."
        )
    bad = np.flatnonzero(~(np.isfinite(cost) & (cost >= 0)))
    if len(bad):
        raise ParameterError(f"feature_cost[{bad[0]}] is {cost[bad[0]]}: a price is a finite number of at least 0.")
    return cost


def risk(model: Any, n_classes: int) -> Floats:
    """The misclassification costs: entry (i, j) is the cost of answering j when i is true."""
    if model.misclassification_cost is None:
        return 1.0 - np.eye(n_classes)
    cost = _numbers(model, "misclassification_cost")
    if cost.shape != (n_classes, n_classes):
        raise ParameterError(
            f"misclassification_cost of {type(model).__name__} has shape {cost.shape}, but there are {n_classes} "
            f"classes: give a matrix of {n_classes} by {n_classes}."
        )
    if not (np.isfinite(cost) & (cost >= 0)).all():
        i, j = np.argwhere(~(np.isfinite(cost) & (cost >= 0)))[0]
        raise ParameterError(
            f"misclassification_cost[{i}, {j}] is {cost[i, j]}: a cost is a finite number of at least 0."
        )
    return np.ascontiguousarray(cost)


def _numbers(model: Any, name: str) -> Floats:
    value = getattr(model, name)
    try:
        return np.array(value, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} of {type(model).__name__} must hold numbers only. Got {value!r}.") from error


def _categorical(model: Any, batch: CheckedBatch) -> NDArray[np.bool_]:
    n_features, names = batch.features.n_features, batch.features.names
    mask = np.zeros(n_features, bool)
    if batch.categorical is not None:
        mask |= batch.categorical
    if model.categorical is None:
        return mask
    given = np.asarray(model.categorical)
    if given.dtype.kind == "b":
        if given.shape != (n_features,):
            raise ParameterError(
                f"The 'categorical' parameter is a mask of shape {given.shape}, but X has {n_features} features."
            )
        return np.asarray(mask | given)
    for column in given.tolist():
        if isinstance(column, str):
            if names is None or column not in names:
                raise InputError(f"There is no column {column!r} to be categorical. {near_misses(column, names or ())}")
            mask[names.index(column)] = True
        elif isinstance(column, int) and 0 <= column < n_features:
            mask[column] = True
        else:
            raise ParameterError(
                f"The 'categorical' parameter names the column {column!r}, but X has the columns 0 to {n_features - 1}."
            )
    return mask


@dataclass(frozen=True)
class Problem:
    """The stopping problem: features in the order of buying, with their prices and likelihoods, bins laid out flat."""

    order: Ints
    feature_cost: Floats  # by column
    cost: Floats  # by stage
    available: Floats  # by stage: the share of rows that had a value
    likelihood: Floats
    bin_start: Ints
    prior: Floats
    risk: Floats

    def plan(
        self,
        mode: int,
        *,
        n_stages: int,
        gap: float = 0.0,
        steps: int = 1,
        shift: int = 0,
        weights: Ints | None = None,
        interval: Floats | None = None,
        table: Floats | None = None,
        stop_cost: Floats | None = None,
        plane: Floats | None = None,
    ) -> PurchasePlan:
        """A plan for this problem; what its mode does not use stays empty."""
        return PurchasePlan(
            self.order[:n_stages].copy(),
            self.feature_cost,
            self.prior,
            self.risk,
            mode,
            gap,
            steps,
            shift,
            np.empty((0, 0), np.int64) if weights is None else weights,
            np.empty((0, 2)) if interval is None else interval,
            np.empty((0, 0)) if table is None else np.ascontiguousarray(table),
            np.empty(0) if stop_cost is None else stop_cost,
            np.empty((0, 0, 0)) if plane is None else plane,
        )


def problem(model: Any, counts: Likelihoods) -> Problem:
    """The problem that the parameters of a model and its counts make."""
    likelihood, n_classes = counts.table(), len(counts.class_counts)
    cost = feature_costs(model, len(counts.categorical))
    if model.ordering == "variance":
        order = by_variance(likelihood, counts.bin_start, cost)
    else:
        order = by_error(likelihood, counts.bin_start, counts.class_counts, cost)
    available = counts.available()
    order = order[available[order] > 0.0]  # a feature that never had a value tells nothing, whatever it costs
    if model.prior == "uniform":
        prior = np.full(n_classes, 1.0 / n_classes)
    else:
        prior = counts.class_counts / counts.class_counts.sum()
    n_bins = np.diff(counts.bin_start)[order]
    bin_start = np.concatenate([[0], np.cumsum(n_bins)]).astype(np.int64)
    rows = np.arange(bin_start[-1]) + np.repeat(counts.bin_start[:-1][order] - bin_start[:-1], n_bins)
    return Problem(
        order.astype(np.int64),
        cost,
        cost[order],
        available[order],
        likelihood[rows],
        bin_start,
        prior,
        risk(model, n_classes),
    )
