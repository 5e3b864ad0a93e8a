"""What a comparison goes by: the metrics, and the score of each step of a run, which the tests compare.

A metric that is no mean over rows (balanced accuracy, kappa, F1) has no value of a single step that would add up to it.
The score of a step is therefore what the step contributes to the metric of the whole run, to first order: the mean of
these scores is the metric itself, and their variation is that of the metric.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.metrics.regression import joined_sums

METRICS = ("accuracy", "balanced_accuracy", "kappa", "f1", "log_loss")
NUMBER_METRICS = ("rmse", "mae", "r2")  # where the target is a number
METRIC_NAMES = {"rmse": "RMSE", "mae": "MAE", "r2": "R²"}  # the others are called by their own words
SHARES = frozenset({"accuracy", "balanced_accuracy", "f1"})  # written in per cent
LOWER_IS_BETTER = frozenset({"log_loss", "rmse", "mae"})
CLOSE = 0.01  # of the metric: less is no reason to prefer an entry
UNEQUAL = 0.6  # of the rows: where the largest class has more, accuracy says little about the others
MOST_STEPS = 4_000  # that are kept of a run; of longer runs neighbours are joined

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def metric_for(largest_share: float) -> str:
    """The metric to go by where nobody names one: balanced accuracy where the classes are unequal.

    >>> metric_for(0.5), metric_for(0.9)
    ('accuracy', 'balanced_accuracy')
    """
    return "balanced_accuracy" if largest_share > UNEQUAL else "accuracy"


def merit(figures: dict[str, Any], metric: str) -> float | None:
    """The metric of an entry or a run, such that more is better; None where it has none.

    >>> merit({"accuracy": 0.9, "log_loss": 0.2}, "log_loss"), merit({"rmse": 2.0}, "rmse")
    (-0.2, -2.0)
    """
    value = figures[metric]
    return None if value is None else -float(value) if metric in LOWER_IS_BETTER else float(value)


def in_units_of_target(metric: str) -> bool:
    """Whether a metric is as large as the target is, so that points and shares mean nothing.

    >>> in_units_of_target("rmse"), in_units_of_target("r2"), in_units_of_target("accuracy")
    (True, False, False)
    """
    return metric in ("rmse", "mae")


def close_to(best: float, metric: str) -> float:
    """The merit from which on an entry is as good as the best: 0.01 below it, or 1 % of an error of numbers.

    >>> close_to(0.9, "accuracy"), close_to(-200.0, "rmse")
    (0.89, -202.0)
    """
    return best - CLOSE * (abs(best) if in_units_of_target(metric) else 1.0)


def written(value: float, metric: str) -> str:
    """A metric as sentences show it.

    >>> written(0.91234, "accuracy"), written(0.41234, "kappa"), written(1234.567, "rmse")
    ('91.2 %', '0.412', '1235')
    """
    if metric in SHARES:
        return f"{100 * value:.1f} %"
    return f"{value:.4g}" if in_units_of_target(metric) else f"{value:.3f}"


def gap_written(value: float, metric: str) -> str:
    """A difference of two metrics: in points, or in the units of the target.

    >>> gap_written(0.021, "accuracy"), gap_written(0.0213, "mae")
    ('2.1', '0.0213')
    """
    return f"{value:.3g}" if in_units_of_target(metric) else f"{100 * value:.1f}"


def unit_of(metric: str) -> str:
    """What such a difference is counted in.

    >>> unit_of("f1"), unit_of("rmse")
    ('points', 'RMSE')
    """
    return metric.upper() if in_units_of_target(metric) else "points"


def scored_steps(ends: Floats, counts: Counts, losses: Floats) -> dict[str, Any]:
    """The steps of a run as plain values: the row behind each, its rows, its hits and its score by each metric.

    Parameters
    ----------
    ends : array of shape (n_steps,)
        The row behind each step.
    counts : array of int of shape (3, n_steps, n_classes)
        Hits, rows and predictions of each class in each step.
    losses : array of shape (n_steps,)
        The sum of the logarithmic losses of each step; NaN without probabilities.

    Returns
    -------
    dict
        The scores of a metric are None where it has no value.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.comparison.metrics import scored_steps
    >>> counts = np.array([[[1, 1], [2, 0]], [[1, 1], [2, 0]], [[1, 1], [2, 0]]])
    >>> found = scored_steps(np.array([2.0, 4.0]), counts, np.array([0.2, 0.4]))
    >>> found["ends"], found["hits"], found["log_loss"]
    ([2, 4], [2, 2], [-0.1, -0.2])
    """
    size = -(-len(ends) // MOST_STEPS) or 1
    firsts = np.arange(0, len(ends), size)
    if not len(ends):
        return {name: [] for name in ("ends", "rows", "hits", *METRICS)}
    ends = ends[np.minimum(firsts + size, len(ends)) - 1]
    counts, losses = np.add.reduceat(counts, firsts, axis=1), np.add.reduceat(losses, firsts)
    rows, hits = counts[1].sum(axis=1), counts[0].sum(axis=1)
    found: dict[str, Any] = {
        name: values.astype(int).tolist() for name, values in (("ends", ends), ("rows", rows), ("hits", hits))
    }
    by_metric = {
        "accuracy": hits / rows.mean(),
        "balanced_accuracy": _balanced(counts),
        "kappa": _kappa(counts),
        "f1": _f1(counts),
        "log_loss": -losses / rows.mean(),
    }
    for name, values in by_metric.items():
        found[name] = values.round(9).tolist() if np.isfinite(values).all() else None
    return found


def scored_number_steps(ends: Floats, sums: Floats) -> dict[str, Any]:
    """The same for numbers, from the sums of each step as `streamsift.metrics.regression` gives them.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.comparison.metrics import scored_number_steps
    >>> sums = np.array([[2.0, 2.0], [2.0, 6.0], [2.0, 3.0], [1.0, 5.0], [2.0, 2.0]])
    >>> found = scored_number_steps(np.array([2.0, 4.0]), sums)
    >>> found["ends"], found["mae"], round(float(np.mean(found["rmse"]) ** 2), 9), round(float(np.mean(found["r2"])), 9)
    ([2, 4], [-1.0, -1.5], 2.0, 0.6)
    """
    size = -(-len(ends) // MOST_STEPS) or 1
    firsts = np.arange(0, len(ends), size)
    if not len(ends):
        return {name: [] for name in ("ends", "rows", *NUMBER_METRICS)}
    ends = ends[np.minimum(firsts + size, len(ends)) - 1]
    rows, squared, absolute, mean, spread = np.hstack([joined_sums(sums[:, a : a + size]) for a in firsts.tolist()])
    total = joined_sums(sums)[:, 0]
    rmse, n_steps = float(np.sqrt(total[1] / total[0])), len(ends)
    change = (squared - rmse**2 * rows) / (2.0 * rmse * total[0]) if rmse > 0.0 else np.zeros(n_steps)
    found: dict[str, Any] = {
        "ends": ends.astype(int).tolist(),
        "rows": rows.astype(int).tolist(),
        "rmse": (-(rmse + n_steps * change)).tolist(),
        "mae": (-absolute / rows.mean()).tolist(),
        "r2": None,
    }
    if total[4] > 0.0:
        about = spread + rows * (mean - total[3]) ** 2  # about the mean of all rows
        wrong = total[1] / total[4]
        found["r2"] = (1.0 - wrong - n_steps * (squared - wrong * about) / total[4]).tolist()
    return found


def _balanced(counts: Counts) -> Floats:
    hits, true, _ = counts
    there = true.sum(axis=0) > 0
    hits, true = hits[:, there], true[:, there]
    totals = true.sum(axis=0)
    recall = hits.sum(axis=0) / totals
    change = (hits - recall * true) / totals
    return np.asarray(recall.mean() + len(hits) * change.mean(axis=1))


def _f1(counts: Counts) -> Floats:
    hits, either = counts[0], counts[1] + counts[2]
    there = either.sum(axis=0) > 0
    hits, either = hits[:, there], either[:, there]
    n_hits, n_either = hits.sum(axis=0), either.sum(axis=0)
    change = 2.0 * hits / n_either - 2.0 * n_hits * either / np.square(n_either)
    return np.asarray(np.mean(2.0 * n_hits / n_either) + len(hits) * change.mean(axis=1))


def _kappa(counts: Counts) -> Floats:
    hits, true, predicted = counts.astype(np.float64)
    n_steps, n_rows = len(hits), true.sum()
    all_true, all_predicted = true.sum(axis=0), predicted.sum(axis=0)
    accuracy, chance = hits.sum() / n_rows, float(all_true @ all_predicted) / n_rows**2
    if chance >= 1.0:
        return np.full(n_steps, np.nan)
    share = true.sum(axis=1) / n_rows
    by_accuracy = hits.sum(axis=1) / n_rows - accuracy * share
    by_chance = (true @ all_predicted + predicted @ all_true) / n_rows**2 - 2.0 * chance * share
    change = by_accuracy / (1.0 - chance) - (1.0 - accuracy) / (1.0 - chance) ** 2 * by_chance
    return np.asarray((accuracy - chance) / (1.0 - chance) + n_steps * change)
