"""The model parameter: which fit a name stands for, and which target it explains."""

from __future__ import annotations

from streamsift.columns.linear_fit import LinearFit
from streamsift.columns.logistic_fit import LogisticFit
from streamsift.core.column_data import Floats, Target
from streamsift.core.constraints import OneOf
from streamsift.core.tags import ColumnTags

MODEL_LIMITS = (OneOf("linear", "logistic"),)


def model_tags(model: str) -> ColumnTags:
    """Least squares explains numbers, or two classes as 0 and 1; logistic regression explains classes."""
    return ColumnTags(target="classes" if model == "logistic" else "number", weights=True)


def begin_fit(model: str, target: Target, weight: Floats, intercept: bool) -> LinearFit | LogisticFit:
    """The fit without any column."""
    kind = LogisticFit if model == "logistic" else LinearFit
    return kind.begin(target, weight, bool(intercept))
