"""Judges: what predictions of many steps are worth, over all steps so far and over a window of the last ones.

A judge is a value: it knows the steps before, and judging gives the judge of the steps that follow, so that an
interrupt in between leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from streamsift.metrics.classification import class_counts, classification_scores, log_losses, softmax
from streamsift.metrics.regression import N_SUMS, error_sums, joined_sums, regression_scores
from streamsift.runs.trace import PREDICTION

AT_ONCE = 50  # steps whose rows are counted together: arrays of more rows leave the cache and cost more a row

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Measures = dict[str, Floats]


class Predictions(NamedTuple):
    """Truth and predictions of the rows of a step.

    `predicted` are class codes, or an array of probabilities with one column per class, of which the largest counts.
    Of these there may be only the logarithms, each up to a constant of its row. Where the truth are numbers (floats),
    so are the predictions.
    """

    true: NDArray[Any]
    predicted: NDArray[Any]
    are_logarithms: bool = False


Tests = Sequence[Predictions | None]  # None: nothing was tested in the step


class JudgedTests(NamedTuple):
    """The measures after each step, the judge of the steps that follow, and what was counted in each step."""

    measures: Measures
    after: StepJudge
    counted: tuple[NDArray[Any], ...]


class StepJudge(Protocol):
    """Knows the steps before, and judges those that follow."""

    def judged(self, tests: Tests, window: int) -> JudgedTests: ...


# -- classes ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassJudge:
    """Judges predictions of classes.

    What it counts in each step: hits, rows and predictions of each class, in an array of shape (3, n_steps, n_classes),
    and the sums of the logarithmic losses, NaN without probabilities.
    """

    counts: Codes = field(default_factory=lambda: np.zeros((3, 1, 1), np.int64))  # of all steps
    latest_counts: Codes = field(default_factory=lambda: np.zeros((3, 0, 1), np.int64))  # of each step in the window
    loss: float = 0.0
    latest_losses: Floats = field(default_factory=lambda: np.zeros(0))

    def judged(self, tests: Tests, window: int) -> JudgedTests:
        """Judge the steps that come next."""
        counts, losses = _counted(tests, self.counts.shape[2])
        totals = _wider(self.counts, counts.shape[2]) + counts.cumsum(axis=1)
        recent = np.concatenate([_wider(self.latest_counts, counts.shape[2]), counts], axis=1)
        total_loss, recent_losses = self.loss + losses.cumsum(), np.concatenate([self.latest_losses, losses])
        n_steps = len(tests)
        windows = _windowed(recent, n_steps, window)
        measures = {
            **_predicted("", totals, total_loss),
            **_predicted("window_", windows, _windowed(recent_losses, n_steps, window)),
            "majority": _majority(totals),
            "window_majority": _majority(windows),
            "batch_accuracy": classification_scores(counts).accuracy,
        }
        if not n_steps:
            return JudgedTests(measures, self, (counts, losses))
        after = ClassJudge(
            totals[:, -1:],
            recent[:, max(recent.shape[1] - window + 1, 0) :],
            float(total_loss[-1]),
            recent_losses[max(len(recent_losses) - window + 1, 0) :],
        )
        return JudgedTests(measures, after, (counts, losses))


def _counted(tests: Tests, n_classes: int) -> tuple[Codes, Floats]:
    """Hits, rows and predictions of each class, and the sum of the losses, of each step; NaN without probabilities."""
    few = [tests[first : first + AT_ONCE] for first in range(0, len(tests), AT_ONCE)] or [[]]
    counts, losses = zip(*(_counted_at_once(part, n_classes) for part in few), strict=True)
    widest = max(part.shape[2] for part in counts)
    return np.concatenate([_wider(part, widest) for part in counts], axis=1), np.concatenate(losses)


def _counted_at_once(steps: Tests, n_classes: int) -> tuple[Codes, Floats]:
    groups, tests = _tested(steps)
    if not tests:
        return np.zeros((3, len(steps), n_classes), np.int64), np.zeros(len(steps))
    true = np.concatenate([test.true for test in tests])
    predicted, losses = _chosen(tests, true)
    n_classes = max(n_classes, int(true.max()) + 1, int(predicted.max()) + 1)
    counts = class_counts(groups, true, predicted, len(steps), n_classes)
    return counts, np.asarray(np.bincount(groups, losses, len(steps)), np.float64)


def _tested(steps: Tests) -> tuple[Codes, list[Predictions]]:
    """The step of each row that was tested, and the tests that there were."""
    numbers = [number for number, test in enumerate(steps) if test is not None]
    tests = [test for test in steps if test is not None]
    return np.repeat(np.array(numbers, np.int64), [len(test.true) for test in tests]), tests


def _chosen(tests: list[Predictions], true: Codes) -> tuple[Codes, Floats]:
    """The class predicted for each row, and the loss; a model gives probabilities always, or never."""
    given: list[NDArray[Any]] = [test.predicted for test in tests]
    if given[0].ndim == 1:
        return np.concatenate(given), np.full(len(true), np.nan)
    are_logarithms = {test.are_logarithms for test in tests}
    widths = {part.shape[1] for part in given}  # classes arrive late, and a reset may forget them
    if len(are_logarithms) == len(widths) == 1:
        probabilities = np.concatenate(given)
        if are_logarithms.pop():
            probabilities = softmax(probabilities)
    else:
        widest = max(widths)
        parts = [softmax(part) if test.are_logarithms else part for part, test in zip(given, tests, strict=True)]
        probabilities = np.concatenate([np.pad(part, ((0, 0), (0, widest - part.shape[1]))) for part in parts])
    return probabilities.argmax(axis=1), log_losses(probabilities, true)


def _predicted(prefix: str, counts: Codes, losses: Floats) -> Measures:
    scores = classification_scores(counts)
    with np.errstate(invalid="ignore"):  # 0 / 0 before the first test
        log_loss = losses / counts[1].sum(axis=1)
    values = scores._asdict() | {"log_loss": log_loss}
    return {prefix + name: values[name] for name in PREDICTION}


def _majority(counts: Codes) -> Floats:
    """The share of the most frequent class among the rows counted; NaN before the first test."""
    rows = counts[1]
    with np.errstate(invalid="ignore"):
        return np.asarray(rows.max(axis=1) / rows.sum(axis=1))


def _windowed(values: NDArray[Any], n_steps: int, window: int) -> NDArray[Any]:
    """Sums over the last `window` steps, for each of the last `n_steps`; steps are the last axis but classes."""
    axis = values.ndim // 2  # 0 for losses, 1 for counts of classes
    start = np.zeros_like(values.take([], axis).sum(axis, keepdims=True))
    sums = np.concatenate([start, values.cumsum(axis=axis)], axis=axis)
    ends = np.arange(values.shape[axis] - n_steps, values.shape[axis]) + 1
    return np.asarray(sums.take(ends, axis) - sums.take(np.maximum(ends - window, 0), axis))


def _wider(counts: Codes, n_classes: int) -> Codes:
    missing = n_classes - counts.shape[2]
    return np.pad(counts, ((0, 0), (0, 0), (0, missing))) if missing else counts


# -- numbers ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumberJudge:
    """Judges predictions of numbers.

    What it counts in each step are the five sums of `streamsift.metrics.regression`, in an array of shape (5, n_steps).
    Beside them go the rows and the squared errors of whoever predicts the mean of all rows tested before the step:
    what needs no features.
    """

    total: Floats = field(default_factory=lambda: np.zeros((N_SUMS, 1)))  # of all steps
    latest: Floats = field(default_factory=lambda: np.zeros((N_SUMS, 0)))  # of each step in the window
    mean_total: Floats = field(default_factory=lambda: np.zeros((2, 1)))  # rows, squared errors of the mean so far
    mean_latest: Floats = field(default_factory=lambda: np.zeros((2, 0)))

    def judged(self, tests: Tests, window: int) -> JudgedTests:
        """Judge the steps that come next."""
        groups, tested = _tested(tests)
        sums, n_steps = np.zeros((N_SUMS, len(tests))), len(tests)
        if tested:
            true, predicted = (np.concatenate([test[part] for test in tested]) for part in (0, 1))
            sums = error_sums(groups, true, predicted, n_steps)
        recent = np.hstack([self.latest, sums])
        first = recent.shape[1] - n_steps
        total, totals, windows = self.total, np.zeros((N_SUMS, n_steps)), np.zeros((N_SUMS, n_steps))
        of_mean = np.zeros((2, n_steps))
        for step in range(n_steps):
            of_mean[:, step] = _errors_of_mean(total[:, 0], sums[:, step])
            total = joined_sums(np.hstack([total, sums[:, [step]]]))
            end = first + step + 1
            windows[:, [step]] = joined_sums(recent[:, max(end - window, 0) : end])
            totals[:, [step]] = total
        over_all, over_window = regression_scores(totals)._asdict(), regression_scores(windows)._asdict()
        measures = over_all | {f"window_{name}": values for name, values in over_window.items()}
        recent_mean = np.hstack([self.mean_latest, of_mean])
        mean_totals = self.mean_total + of_mean.cumsum(axis=1)
        measures["mean_rmse"] = _root_mean(mean_totals)
        in_window = np.array([_windowed(part, n_steps, window) for part in recent_mean])
        measures["window_mean_rmse"] = _root_mean(in_window)
        kept = max(recent.shape[1] - window + 1, 0)
        if not n_steps:
            return JudgedTests(measures, self, (sums,))
        after = NumberJudge(total, recent[:, kept:], mean_totals[:, -1:], recent_mean[:, kept:])
        return JudgedTests(measures, after, (sums,))


def _errors_of_mean(before: Floats, step: Floats) -> tuple[float, float]:
    """The rows of a step, and their squared errors where the mean of the rows before is predicted; no mean, no rows.

    >>> _errors_of_mean(np.array([2.0, 0, 0, 5.0, 0]), np.array([3.0, 0, 0, 6.0, 2.0]))
    (3.0, 5.0)
    """
    if before[0] == 0.0:
        return 0.0, 0.0
    return float(step[0]), float(step[4] + step[0] * (step[3] - before[3]) ** 2)


def _root_mean(sums: Floats) -> Floats:
    """The root of the mean squared error; NaN before the first."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(sums[1] / sums[0]))
