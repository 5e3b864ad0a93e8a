"""A drift detector, ours or river's, that watches the errors of a model."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from streamsift.drift.error_scale import ErrorScale
from streamsift.evaluate.judges import Predictions


class ErrorWatch:
    """Feeds a copy of a detector with 1 for each wrong prediction and 0 for each other one; of numbers, with their
    absolute errors, scaled as in `streamsift.drift.error_scale`.

    >>> from streamsift.drift import ADWIN
    >>> watch, right = ErrorWatch(ADWIN()), np.zeros(300, int)
    >>> watch.sees_drift(Predictions(right, right)), watch.sees_drift(Predictions(right, right + 1))
    (False, True)
    >>> watch, true = ErrorWatch(ADWIN()), np.zeros(300)
    >>> small, large = np.random.default_rng(0).normal(size=(2, 300)) * np.array([[1.0], [20.0]])
    >>> watch.sees_drift(Predictions(true, small)), watch.sees_drift(Predictions(true, large))
    (False, True)
    """

    def __init__(self, detector: Any) -> None:
        clone = getattr(detector, "clone", None)
        self._detector = copy.deepcopy(detector) if clone is None else clone()
        self._scale = ErrorScale()

    def sees_drift(self, test: Predictions) -> bool:
        """Take the predictions of a batch; whether drift was found within it."""
        found = False
        for value in self._inputs(test):
            self._detector.update(value)
            found = found or bool(self._detector.drift_detected)
        return found

    def _inputs(self, test: Predictions) -> list[Any]:
        predicted = np.asarray(test.predicted)
        if test.true.dtype.kind == "f":
            return [self._scale.scaled(error) for error in (test.true - predicted).tolist()]
        if predicted.ndim == 2:
            predicted = predicted.argmax(axis=1)
        return [int(wrong) for wrong in (predicted != test.true).tolist()]
