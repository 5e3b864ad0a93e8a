"""The model parameter: which fit a name stands for, and which target it explains."""

from __future__ import annotations

from streamsift.columns.linear_fit import LinearFit
from streamsift.columns.logistic_fit import LogisticFit
from streamsift.core.column_data import Floats, Target, TargetKind
from streamsift.core.constraints import OneOf

MODEL_LIMITS = (OneOf("linear", "logistic"),)


def target_of(model: str) -> TargetKind:
    """Numbers for least squares, classes for logistic regression."""
    return "classes" if model == "logistic" else "number"


def begin_fit(model: str, target: Target, weight: Floats, intercept: bool) -> LinearFit | LogisticFit:
    """The fit without any column."""
    kind = LogisticFit if model == "logistic" else LinearFit
    return kind.begin(target, weight, bool(intercept))
