"""The measures of an entry: what they are called, how they are written, and which way is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamsift.report.numbers import duration, number, share, size


@dataclass(frozen=True)
class Measure:
    """A measure by its key in comparison.json.

    `format` is bokeh's, for axes and tooltips.
    """

    key: str
    label: str
    write: Callable[[float | None], str]
    format: str = "0.[000]"
    lower_is_better: bool = False


def count(value: float | None) -> str:
    """A number of features, or a price, as a table shows it.

    >>> count(None), count(12.0), count(3.14159), count(12345.6)
    ('–', '12', '3.14', '12,346')
    """
    return "–" if value is None else f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.2f}"


_SHARE = "0.[0]%"
MEASURES = {
    one.key: one
    for one in (
        Measure("accuracy", "accuracy", share, _SHARE),
        Measure("balanced_accuracy", "balanced accuracy", share, _SHARE),
        Measure("f1", "F1", share, _SHARE),
        Measure("selection_accuracy", "selection accuracy", share, _SHARE),
        Measure("stability", "stability", share, _SHARE),
        Measure("kappa", "kappa", number),
        Measure("log_loss", "log loss", number, lower_is_better=True),
        Measure("rmse", "RMSE", number, lower_is_better=True),
        Measure("mae", "MAE", number, lower_is_better=True),
        Measure("r2", "R²", number),
        Measure("features", "features", count, lower_is_better=True),
        Measure("cost", "cost", count, lower_is_better=True),
        Measure("rows_per_second", "rows/s", count),
        Measure("memory", "memory", size, lower_is_better=True),
        Measure("seconds", "seconds", duration, lower_is_better=True),
        Measure("ram_hours", "RAM-hours", number, lower_is_better=True),
    )
}


def measure(key: str) -> Measure:
    """The measure of that key; one that nobody has described is a number, and more of it is better.

    >>> measure("rmse").lower_is_better, measure("late_rmse").label
    (True, 'late rmse')
    """
    return MEASURES.get(key) or Measure(key, key.replace("_", " "), number)


def worse(entry: dict[str, Any], than: dict[str, Any], key: str) -> bool:
    """Whether an entry is strictly worse than another in a measure; never where one of them has none.

    >>> worse({"rmse": 2.0}, {"rmse": 1.0}, "rmse"), worse({"accuracy": None}, {"accuracy": 1.0}, "accuracy")
    (True, False)
    """
    mine, theirs = entry.get(key), than.get(key)
    if mine is None or theirs is None:
        return False
    return bool(mine > theirs if measure(key).lower_is_better else mine < theirs)
