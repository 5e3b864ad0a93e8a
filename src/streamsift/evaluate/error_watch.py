"""A drift detector, ours or river's, that watches the errors of a model."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from streamsift.evaluate.scoreboard import Predictions


class ErrorWatch:
    """Feeds a copy of a detector with 1 for each wrong prediction and 0 for each other one.

    >>> from streamsift.drift import ADWIN
    >>> watch, right = ErrorWatch(ADWIN()), np.zeros(300, int)
    >>> watch.sees_drift(Predictions(right, right)), watch.sees_drift(Predictions(right, right + 1))
    (False, True)
    """

    def __init__(self, detector: Any) -> None:
        clone = getattr(detector, "clone", None)
        self._detector = copy.deepcopy(detector) if clone is None else clone()

    def sees_drift(self, test: Predictions) -> bool:
        """Take the predictions of a batch; whether drift was found within it."""
        predicted = np.asarray(test.predicted)
        if predicted.ndim == 2:
            predicted = predicted.argmax(axis=1)
        found = False
        for wrong in (predicted != test.true).astype(int).tolist():
            self._detector.update(wrong)
            found = found or bool(self._detector.drift_detected)
        return found
