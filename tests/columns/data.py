"""Data and selectors the column tests share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from streamsift.columns.investing import Investing
from streamsift.columns.penalised import Penalised

Maker = Callable[[], Any]

# The rule of the naive twin, and the selector that follows it.
RULES: dict[str, Maker] = {
    "iic": lambda: Investing(),
    "iic:tail": lambda: Investing(coding="tail"),
    "alpha": lambda: Investing.paper("alpha"),
    "aic": lambda: Penalised("aic"),
    "bic": lambda: Penalised("bic"),
    "ric": lambda: Penalised("ric"),
}


def made(rule: str, model: str) -> Any:
    """A selector that follows a rule with a model."""
    return RULES[rule]().set_params(model=model)


def regression(seed: int, n_rows: int = 80, n_columns: int = 40, n_true: int = 6) -> tuple[Any, Any]:
    """Normal columns, and a target that is the sum of some of them plus noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    places = rng.choice(n_columns, min(n_true, n_columns), replace=False)
    return X, X[:, places].sum(axis=1) + rng.normal(size=n_rows)


def classes(seed: int, n_classes: int, **options: int) -> tuple[Any, Any]:
    """The same, with the target cut into classes."""
    X, y = regression(seed, **options)
    cuts = np.quantile(y + np.random.default_rng(seed).normal(size=len(y)), np.arange(1, n_classes) / n_classes)
    return X, np.digitize(y, cuts)
