"""The scoreboard: what happened in each step of a judged run, and the records of the trace that follow from it.

A step only leaves its facts here. The measures of many steps are computed at once, when their records are asked for,
which is what keeps judging cheap beside a selector and a model that are fast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.core.selection import rank_scores
from streamsift.metrics.classification import class_counts, classification_scores, log_losses, softmax
from streamsift.metrics.cost import ram_hours
from streamsift.metrics.window_stability import WindowStability
from streamsift.runs.row_trace import kept_scores
from streamsift.runs.rows import SnapshotSchedule
from streamsift.runs.trace import PREDICTION

MOST_STEPS, MOST_NUMBERS = 500, 1_000_000  # that wait for their records
AT_ONCE = 50  # steps whose rows are counted together: arrays of more rows leave the cache and cost more a row

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
OnCounts = Callable[[Codes, Floats], None]


class Predictions(NamedTuple):
    """Truth and predictions of the rows of a step.

    `predicted` are class codes, or an array of probabilities with one column per class, of which the largest counts.
    Of these there may be only the logarithms, each up to a constant of its row.
    """

    true: Codes
    predicted: Codes | Floats
    are_logarithms: bool = False


class JudgedStep(NamedTuple):
    """The facts of a step.

    `test` is None while nothing had been learnt, `selected` while the selector had learnt nothing. The seconds are
    all those so far, the memory is that held now. `scores` are those of a snapshot, `is_snapshot` whether this is one.
    `n_restarts` is how often the model has forgotten everything so far.
    """

    row: int
    seconds: float
    selection_seconds: float
    learner_seconds: float
    memory: int
    test: Predictions | None
    selected: Indices | None
    n_features: int
    selection_accuracy: float
    relevant: Indices | None
    drifting: bool
    drift_found: bool
    is_snapshot: bool
    scores: Floats | None
    n_restarts: int = 0


@dataclass(frozen=True)
class _Past:
    """What records need to know of the steps before theirs."""

    n_steps: int = 0
    counts: Codes = field(default_factory=lambda: np.zeros((3, 1, 1), np.int64))  # of all steps
    latest_counts: Codes = field(default_factory=lambda: np.zeros((3, 0, 1), np.int64))  # of each step in the window
    loss: float = 0.0
    latest_losses: Floats = field(default_factory=lambda: np.zeros(0))
    busy_seconds: float = 0.0  # of selector and model
    peak_memory: int = 0
    byte_seconds: float = 0.0
    drifting: bool = False  # since the last record
    drift_found: bool = False


class Scoreboard:
    """Collects the steps of a run and turns them into records.

    Parameters
    ----------
    window : int
        Steps that the windowed measures look back.
    every : int
        Steps per record.
    on_counts : callable or None
        Called with what was counted in the steps whose records were asked for: hits, rows and predictions of each
        class, in an array of shape (3, n_steps, n_classes), and the sums of their losses (NaN without probabilities).
    """

    def __init__(self, window: int, every: int, on_counts: OnCounts | None = None) -> None:
        self._window, self._every, self._on_counts = window, every, on_counts
        self._schedule = SnapshotSchedule(every)
        self._stability = WindowStability(window)
        self._n_steps = 0
        self._steps: list[JudgedStep] = []  # whose records have not been asked for
        self._stabilities: list[float] = []  # of the first of them
        self._numbers_waiting = 0
        self._past = _Past()

    @property
    def is_full(self) -> bool:
        """Whether records should be asked for now."""
        return len(self._steps) > MOST_STEPS or self._numbers_waiting > MOST_NUMBERS

    def wants_snapshot(self) -> bool:
        """Whether the step that is added next should be a snapshot; asked once per step."""
        self._n_steps += 1
        return self._schedule.is_due(self._n_steps)

    def add(self, step: JudgedStep) -> None:
        """Add a step."""
        if step.test is not None:
            self._numbers_waiting += step.test.predicted.size + step.test.true.size
        if step.scores is not None:
            self._numbers_waiting += step.scores.size
        if step.selected is not None and (not self._steps or self._steps[-1].selected is not step.selected):
            self._numbers_waiting += step.selected.size
        self._steps.append(step)

    def snapshot_of_last(self, scores: Floats | None, memory: int | None = None) -> None:
        """Make the step added last a snapshot, and give the memory held after it, if it was measured again."""
        if self._steps:
            last = self._steps[-1]
            memory = last.memory if memory is None else memory
            self._steps[-1] = last._replace(is_snapshot=True, scores=scores, memory=memory)

    def records(self, *, end: bool = False) -> dict[str, Any]:
        """The records of the steps that wait, as columns of a trace; the last step waits for the end of the run."""
        n_steps = len(self._steps) - (0 if end else 1)
        steps, past = self._steps[:n_steps], self._past
        numbers = past.n_steps + 1 + np.arange(n_steps)
        is_recorded = (numbers % self._every == 0) | (end & (numbers == past.n_steps + n_steps))
        measured, after, counted = _measured(steps, past, self._window)
        for step in steps[len(self._stabilities) :]:
            selected = step.selected
            self._stabilities.append(np.nan if selected is None else self._stability.add(selected, step.n_features))
        measured["stability"] = np.array(self._stabilities[:n_steps])
        columns: dict[str, Any] = {name: values[is_recorded] for name, values in measured.items()}
        facts = _by_name(steps)
        columns["drifting"], drifting = _since_record(facts.drifting, is_recorded, past.drifting)
        columns["drift_found"], found = _since_record(facts.drift_found, is_recorded, past.drift_found)
        columns |= _snapshots([step for step, kept in zip(steps, is_recorded.tolist(), strict=True) if kept])
        # Last of all: an interrupt before this leaves the steps to be asked for again.
        self._past = replace(after, drifting=drifting, drift_found=found)
        self._steps, self._stabilities = self._steps[n_steps:], self._stabilities[n_steps:]
        self._numbers_waiting = 0
        if self._on_counts is not None:
            self._on_counts(*counted)
        return columns


def _by_name(steps: list[JudgedStep]) -> Any:
    """The same facts, a tuple per name instead of a tuple per step."""
    return JudgedStep._make(zip(*steps, strict=True) if steps else [()] * len(JudgedStep._fields))


def _measured(
    steps: list[JudgedStep], past: _Past, window: int
) -> tuple[dict[str, NDArray[Any]], _Past, tuple[Codes, Floats]]:
    """The measures after each step, the past of the steps that follow, and what was counted in each step."""
    counts, losses = _counted(steps, past.counts.shape[2])
    totals = _wider(past.counts, counts.shape[2]) + counts.cumsum(axis=1)
    recent = np.concatenate([_wider(past.latest_counts, counts.shape[2]), counts], axis=1)
    total_loss, recent_losses = past.loss + losses.cumsum(), np.concatenate([past.latest_losses, losses])

    facts = _by_name(steps)
    memory = np.array(facts.memory, np.int64)
    peak = np.maximum.accumulate(np.maximum(memory, past.peak_memory))
    selection, learner = np.array(facts.selection_seconds), np.array(facts.learner_seconds)
    byte_seconds = past.byte_seconds + (memory * np.diff(selection + learner, prepend=past.busy_seconds)).cumsum()
    columns = {
        "row": np.array(facts.row, np.int64),
        "seconds": np.array(facts.seconds),
        **_predicted("", totals, total_loss),
        **_predicted("window_", _windowed(recent, len(steps), window), _windowed(recent_losses, len(steps), window)),
        "majority": _majority(totals),
        "window_majority": _majority(_windowed(recent, len(steps), window)),
        "batch_accuracy": classification_scores(counts).accuracy,
        "selection_seconds": selection,
        "learner_seconds": learner,
        "memory": memory,
        "peak_memory": peak,
        "ram_hours": byte_seconds * ram_hours(1.0, 1.0),
        "n_selected": np.array([np.nan if selected is None else len(selected) for selected in facts.selected]),
        "selection_accuracy": np.array(facts.selection_accuracy),
        "n_restarts": np.array(facts.n_restarts, np.int64),
    }
    if not steps:
        return columns, past, (counts, losses)
    after = _Past(
        past.n_steps + len(steps),
        totals[:, -1:],
        recent[:, max(recent.shape[1] - window + 1, 0) :],
        float(total_loss[-1]),
        recent_losses[max(len(recent_losses) - window + 1, 0) :],
        float(selection[-1] + learner[-1]),
        int(peak[-1]),
        float(byte_seconds[-1]),
    )
    return columns, after, (counts, losses)


def _counted(steps: list[JudgedStep], n_classes: int) -> tuple[Codes, Floats]:
    """Hits, rows and predictions of each class, and the sum of the losses, of each step; NaN without probabilities."""
    few = [steps[first : first + AT_ONCE] for first in range(0, len(steps), AT_ONCE)] or [[]]
    counts, losses = zip(*(_counted_at_once(part, n_classes) for part in few), strict=True)
    widest = max(part.shape[2] for part in counts)
    return np.concatenate([_wider(part, widest) for part in counts], axis=1), np.concatenate(losses)


def _counted_at_once(steps: list[JudgedStep], n_classes: int) -> tuple[Codes, Floats]:
    tested = [number for number, step in enumerate(steps) if step.test is not None]
    tests = [step.test for step in steps if step.test is not None]
    if not tests:
        return np.zeros((3, len(steps), n_classes), np.int64), np.zeros(len(steps))
    groups = np.repeat(tested, [len(test.true) for test in tests])
    true = np.concatenate([test.true for test in tests])
    predicted, losses = _chosen(tests, true)
    n_classes = max(n_classes, int(true.max()) + 1, int(predicted.max()) + 1)
    counts = class_counts(groups, true, predicted, len(steps), n_classes)
    return counts, np.asarray(np.bincount(groups, losses, len(steps)), np.float64)


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


def _predicted(prefix: str, counts: Codes, losses: Floats) -> dict[str, Floats]:
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


def _since_record(flags: tuple[bool, ...], is_recorded: Flags, before: bool) -> tuple[Flags, bool]:
    """Whether any flag was up since the record before, for each record, and since the last one."""
    seen = np.array([before, *flags], bool)
    ends = np.flatnonzero(is_recorded) + 2  # behind the record: `before` is the first
    if not len(ends):
        return np.empty(0, bool), bool(seen.any())
    found = np.logical_or.reduceat(seen[: ends[-1]], np.concatenate([[0], ends[:-1]]))
    return found, bool(seen[ends[-1] :].any())


def _snapshots(steps: list[JudgedStep]) -> dict[str, list[Any]]:
    """The selections of snapshots; None in the records between."""
    columns: dict[str, list[Any]] = {
        name: [None] * len(steps) for name in ("indices", "scores", "selected", "relevant")
    }
    for place, step in enumerate(steps):
        if step.is_snapshot:
            selected = np.empty(0, np.intp) if step.selected is None else step.selected
            if step.scores is not None:
                selected = selected[rank_scores(step.scores[selected])]
            columns["indices"][place], columns["scores"][place] = kept_scores(step.scores, selected)
            columns["selected"][place], columns["relevant"][place] = selected, step.relevant
    return columns
