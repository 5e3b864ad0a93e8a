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
from streamsift.evaluate.judges import ClassJudge, Predictions, StepJudge
from streamsift.metrics.cost import ram_hours
from streamsift.metrics.window_stability import WindowStability
from streamsift.runs.row_trace import kept_scores
from streamsift.runs.rows import SnapshotSchedule

MOST_STEPS, MOST_NUMBERS = 500, 1_000_000  # that wait for their records

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
OnCounts = Callable[..., None]  # with what the judge counts in each step


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
    judge: StepJudge = field(default_factory=ClassJudge)
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
        Called with what the judge counted in the steps whose records were asked for; see `evaluate.judges`.
    judge : StepJudge, optional
        By default of classes.
    """

    def __init__(
        self, window: int, every: int, on_counts: OnCounts | None = None, judge: StepJudge | None = None
    ) -> None:
        self._window, self._every, self._on_counts = window, every, on_counts
        self._schedule = SnapshotSchedule(every)
        self._stability = WindowStability(window)
        self._n_steps = 0
        self._steps: list[JudgedStep] = []  # whose records have not been asked for
        self._stabilities: list[float] = []  # of the first of them
        self._numbers_waiting = 0
        self._past = _Past(judge=judge or ClassJudge())

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
) -> tuple[dict[str, NDArray[Any]], _Past, tuple[NDArray[Any], ...]]:
    """The measures after each step, the past of the steps that follow, and what was counted in each step."""
    facts = _by_name(steps)
    judged = past.judge.judged(facts.test, window)
    memory = np.array(facts.memory, np.int64)
    peak = np.maximum.accumulate(np.maximum(memory, past.peak_memory))
    selection, learner = np.array(facts.selection_seconds), np.array(facts.learner_seconds)
    byte_seconds = past.byte_seconds + (memory * np.diff(selection + learner, prepend=past.busy_seconds)).cumsum()
    columns = {
        "row": np.array(facts.row, np.int64),
        "seconds": np.array(facts.seconds),
        **judged.measures,
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
        return columns, past, judged.counted
    after = _Past(
        past.n_steps + len(steps),
        judged.after,
        float(selection[-1] + learner[-1]),
        int(peak[-1]),
        float(byte_seconds[-1]),
    )
    return columns, after, judged.counted


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
