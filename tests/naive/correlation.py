"""Correlations with a number, in the plainest way: from all rows at once, with loops over features and categories."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def correlation(x: Any, y: Any, weight: Any = None) -> float:
    """|r| over the rows that have x."""
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    here = ~np.isnan(x)
    x, y, weight = x[here], y[here], weight[here]
    if weight.sum() == 0.0:
        return 0.0
    mean_x, mean_y = (weight * x).sum() / weight.sum(), (weight * y).sum() / weight.sum()
    xx, yy = (weight * (x - mean_x) ** 2).sum(), (weight * (y - mean_y) ** 2).sum()
    if xx == 0.0 or yy == 0.0:
        return 0.0
    return abs((weight * (x - mean_x) * (y - mean_y)).sum()) / math.sqrt(xx * yy)


def eta(names: Any, y: Any) -> float:
    """The correlation ratio of categories and numbers."""
    names, y = np.asarray(names), np.asarray(y, float)
    total = ((y - y.mean()) ** 2).sum()
    between = sum(np.sum(names == name) * (y[names == name].mean() - y.mean()) ** 2 for name in np.unique(names))
    return math.sqrt(between / total)
