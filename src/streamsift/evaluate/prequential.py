"""prequential: test, then train, batch by batch, with a model that sees only the selected features.

For each batch the model first predicts it from the features selected so far; then the selector learns the batch, and
then the model learns it, to predict from the features that are selected now. A model that keeps what it knows of all
features is shown the whole rows, so that a change of the selection does not cost it what it knew; one that cannot go on
with other columns (`restarts`) is reset when the selection changes, which the trace counts. Where labels arrive late,
selector and model learn the rows whose labels have arrived by then; predictions are judged in the step in which they
are made. Nothing is tested before the first labels have been learnt.

While no feature is selected, the most frequent class so far is predicted, with the shares of the classes so far as
its probabilities, or the mean of the numbers so far (`targets`). The logarithmic loss needs probabilities and is null
for models without `predict_proba`.

A step costs little beside selector and model: its facts are kept, and the measures of many steps are computed at once
(`scoreboard`). Memory is measured now and then (`memory`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch, check_batch
from streamsift.core.categories import Names
from streamsift.core.constraints import HasMethods, Integer, IsNone, check_parameters
from streamsift.core.contracts import RowContract
from streamsift.core.exceptions import InputError, OneClassWarning, StreamsiftError
from streamsift.core.interrupts import check
from streamsift.core.live import live_line
from streamsift.evaluate.error_watch import ErrorWatch
from streamsift.evaluate.judges import ClassJudge, NumberJudge, Predictions
from streamsift.evaluate.label_delay import LabelDelay
from streamsift.evaluate.memory import MemoryMeter
from streamsift.evaluate.scoreboard import JudgedStep, OnCounts, Scoreboard
from streamsift.evaluate.targets import ClassTargets, NumberTargets, Targets
from streamsift.evaluate.tasks import settle_task
from streamsift.learners.carried import drifts_found, restart_if_needed
from streamsift.learners.categories import RunCategories
from streamsift.learners.foreign import as_learner
from streamsift.learners.online import Learner
from streamsift.learners.whole_rows import columns_of
from streamsift.metrics.selection import selection_accuracy
from streamsift.runs.row_trace import RowTraceWriter
from streamsift.runs.run import Run
from streamsift.runs.trace import Trace
from streamsift.streams.open import as_stream
from streamsift.streams.stream import with_width

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def prequential(
    stream: Any,
    selector: RowContract | None,
    model: Any,
    *,
    target: str | None = None,
    task: str = "auto",
    batch_size: int = 100,
    n_batches: int | None = None,
    label_delay: int = 0,
    window: int = 10,
    scale: str = "standard",
    detector: Any = None,
    trace_path: str | Path | None = None,
    every: int = 1,
    progress: Callable[[int, float | None], None] | None = None,
    on_counts: OnCounts | None = None,
) -> Trace:
    """Test, then train, a selector and a model over a stream.

    Parameters
    ----------
    stream : a stream, or anything `open_stream` takes
        A path, a pair (X, y), a table that holds the target, an iterable of pairs (X, y) or of pairs (dict, label).
    selector : a row selector or None
        None selects all features. Where its `drifts_` (or the count `n_drifts_`) grew while it learnt a batch, the
        model is reset before it learns that batch.
    model : a learner, its name, or a classifier or regressor of scikit-learn (with `partial_fit`) or river
        See `streamsift.learners.online` for classes, `streamsift.learners.regressors` for numbers and, for what becomes
        of a model of another package when the selection changes, `streamsift.learners.foreign`.
    target : str, optional
        The column with the labels, where the stream is a table or a file.
    task : {"auto", "classification", "regression"}, default "auto"
        Whether the target holds classes or numbers. "auto" goes by the task of the selector or, where that looks at no
        targets, by the model; where that could be either, by the first 1,000 rows, and says so.
    batch_size : int, default 100
        Rows per batch, and so per step.
    n_batches : int or None
        Stop after so many batches; None goes on to the end.
    label_delay : int, default 0
        Rows that come between a row and its label; labels still on their way at the end are never learnt.
    window : int, default 10
        Steps that the windowed measures and the stability look back.
    scale : {"standard", "none"}, default "standard"
        Linear models and neighbours, given by name, see columns standardised by the mean and the standard deviation of
        the rows learnt so far; "none" gives them the columns as they are.
    detector : a drift detector or None
        Of `streamsift.drift` or of river: anything with `update(x)` and `drift_detected`. A copy of it is given 1 for
        each row predicted wrongly and 0 for each other row; of numbers, the absolute error over six times its standard
        deviation so far, plus 1/2. When it finds drift, the model is reset before it learns on, which the trace counts
        and marks as drift found; the selector goes on.
    trace_path : path or None
        A Parquet file to which the trace is written as the run goes on. A run that is interrupted (Ctrl-C) leaves
        the trace so far, one that fails leaves no file. None keeps the trace in memory.
    every : int, default 1
        Steps per record of the trace; the last step always has one.
    progress : callable or None
        Called after each step with the rows so far and the fraction of the stream behind us (None: unknown). Where
        none is given, a notebook shows a bar.
    on_counts : callable or None
        Called now and then, for the steps since the last call, with the hits, rows and predictions of each class, in
        an array of shape (3, n_steps, n_classes), and the sums of their logarithmic losses; of numbers, with the sums
        of `streamsift.metrics.regression`, in an array of shape (5, n_steps).

    Returns
    -------
    Trace
        One record per step; `streamsift.runs.row_trace` says what is in it.

    Examples
    --------
    >>> from streamsift import Screener
    >>> from streamsift.evaluate.prequential import prequential
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", n_rows=2000, seed=0, n_features=20, n_relevant=2, shift_every=5000)
    >>> trace = prequential(stream, Screener("fisher", n_features_to_select=2), "naive_bayes")
    >>> summary = trace.summary()
    >>> summary["accuracy"] > 0.8, summary["n_selected"], len(trace)
    (True, 2.0, 20)

    A number to predict:

    >>> stream = generate("friedman_drift", n_rows=2000, seed=0)
    >>> selector = Screener("correlation", task="regression", n_features_to_select=4)
    >>> summary = prequential(stream, selector, "sgd").summary()
    >>> summary["rmse"] < 4.0, summary["r2"] > 0.5
    (True, True)
    """
    numbers = {"batch_size": batch_size, "n_batches": n_batches, "label_delay": label_delay}
    numbers |= {"window": window, "every": every}
    positive = (Integer(1, None),)
    check_parameters(
        "prequential",
        numbers,
        {
            "batch_size": positive,
            "n_batches": (*positive, IsNone()),
            "label_delay": (Integer(0, None),),
            "window": (Integer(2, None),),
            "every": positive,
        },
    )
    watch = (IsNone(), HasMethods("update", "drift_detected"))
    check_parameters("prequential", {"detector": detector}, {"detector": watch})
    found_task = settle_task(task, selector, model, stream, target)
    rows, learner = as_stream(stream, target), as_learner(model, scale, found_task)
    run = Run(
        "all features" if selector is None else type(selector).__name__,
        parameters=getattr(selector, "get_params", dict)(),
        settings={
            "model": model if isinstance(model, str) else type(model).__name__,
            "scale": getattr(learner, "scale", "none"),
            **({} if detector is None else {"detector": type(detector).__name__}),
            **({"task": found_task} if found_task == "regression" else {}),
            **numbers,
        },
    )
    numeric = found_task == "regression"
    targets: Targets = NumberTargets(learner) if numeric else ClassTargets(learner)
    contest = _Contest(selector, learner, targets, label_delay, detector)
    board = Scoreboard(window, every, on_counts, NumberJudge() if numeric else ClassJudge())
    start = perf_counter()
    with RowTraceWriter(trace_path, run) as writer, warnings.catch_warnings(), live_line("prequential") as tell:
        progress = progress or (lambda n_rows, fraction: tell(fraction, f"{n_rows:,} rows, {contest.told()}"))
        warnings.simplefilter("ignore", OneClassWarning)  # a stream may begin with one class
        try:
            for batch in islice(rows.batches(batch_size), n_batches):
                check()
                board.add(contest.step(batch, start, board.wants_snapshot()))
                if board.is_full:
                    writer.extend(board.records(), contest.n_features, contest.names)
                progress(contest.n_rows, rows.progress())
        except KeyboardInterrupt:
            board.snapshot_of_last(None)
            writer.extend(board.records(end=True), contest.n_features, contest.names)
            raise
        if contest.n_rows == 0:
            raise InputError("The stream has no rows: there is nothing to test or to learn.")
        board.snapshot_of_last(contest.scores(), contest.memory(anyway=True))
        writer.extend(board.records(end=True), contest.n_features, contest.names)
        if trace_path is not None and hasattr(selector, "n_rows_seen_"):
            writer.result = {"why": [one.as_dict() for one in getattr(selector, "explain_leaders", tuple)()]}
    return writer.trace()


class _Contest:
    """A selector and a model on their way through a stream."""

    def __init__(
        self, selector: RowContract | None, model: Learner, targets: Targets, label_delay: int, detector: Any = None
    ) -> None:
        self._selector, self._model, self._targets = selector, model, targets
        self._categories = RunCategories()  # of what the model sees
        self._names: Names | None = None  # of what the model was told
        self._knows_categories = hasattr(model, "know_categories")
        self._delay = LabelDelay(label_delay)
        self._watch = None if detector is None else ErrorWatch(detector)
        self._meter = MemoryMeter(selector, model)
        self._n_drifts = drifts_found(selector)
        self._mask = b""
        self._selected: Indices | None = None  # what the model was trained on last
        self._n_restarts = 0
        self._selection_seconds = self._learner_seconds = 0.0
        self._judged: tuple[Any, Any, float] = (None, None, float("nan"))
        self.n_rows = self.n_features = 0
        self.names: tuple[str, ...] | None = None

    def step(self, batch: Batch, start: float, is_snapshot: bool) -> JudgedStep:
        """Test the batch and learn what can be learnt."""
        if batch.y is None:
            raise InputError("The stream has no labels: give one that has, for predictions are compared with them.")
        y = self._targets.encode(batch, self.n_rows)
        self.n_features = max(self.n_features, batch.X.shape[1])
        self.names = batch.feature_names
        try:
            test = self._test(batch, y)
            self.n_rows += batch.n_rows
            alarm = self._watch is not None and test is not None and self._watch.sees_drift(test)
            late = self._delay.exchange(batch, y)
            if alarm:
                self._model.reset()
                self._n_restarts += 1
            drift_found = (late is not None and self._learn(*late)) or alarm
        except StreamsiftError:
            raise
        except ValueError:  # NaN, perhaps, in the words of the learner's package; ours name row and column
            self._refuse_bad_values(batch, self.n_rows)
            raise
        return JudgedStep(
            self.n_rows,
            perf_counter() - start,
            self._selection_seconds,
            self._learner_seconds,
            self.memory(),
            test,
            self._selected,
            self.n_features,
            self._selection_accuracy(batch.relevant),
            batch.relevant,
            batch.drifting,
            drift_found,
            is_snapshot,
            self.scores() if is_snapshot else None,
            self._n_restarts + max(getattr(self._model, "n_restarts", 0), 0),
        )

    def told(self) -> str:
        """What is selected now, in a few words."""
        return "nothing learnt yet" if self._selected is None else f"{len(self._selected):,} features selected"

    def scores(self) -> Floats | None:
        """The scores of the features now, if there are any."""
        return None if self._selected is None else getattr(self._selector, "scores_", None)

    def memory(self, *, anyway: bool = False) -> int:
        """Bytes held; measured only now and then, unless asked for anyway."""
        return self._meter.read(self._selection_seconds + self._learner_seconds, anyway=anyway)

    def _test(self, batch: Batch, y: NDArray[Any]) -> Predictions | None:
        """Predictions for a batch before it is learnt; None while nothing has been learnt."""
        if self._selected is None:
            return None
        if not len(self._selected):
            return self._targets.test_without_features(y)
        start = perf_counter()
        test = self._targets.test(y, columns_of(self._rows_for_model(batch), self._selected))
        self._learner_seconds += perf_counter() - start
        return test

    def _rows_for_model(self, batch: Batch) -> Any:
        """Whole rows, in which the codes of categories are those that the model was told of."""
        if not self._knows_categories:
            return _of_width(batch.X, self.n_features)
        X = self._categories.encode(batch)
        if self._categories.names is not self._names:
            self._names = self._categories.names
            self._model.know_categories(self._names)  # type: ignore[attr-defined]  # see above
        return _of_width(X, self.n_features)

    def _learn(self, batch: Batch, y: NDArray[Any]) -> bool:
        """Let selector and model learn rows; return whether the selector found drift."""
        start, before = perf_counter(), self._selected
        self._select(batch)
        drifts, self._n_drifts = self._n_drifts, drifts_found(self._selector)
        drift_found = self._n_drifts > drifts
        middle = perf_counter()
        self._selection_seconds += middle - start
        self._targets.learn(y)
        self._n_restarts += restart_if_needed(self._model, before, self._selected, drift_found=drift_found)
        if self._selected is not None:
            self._targets.teach(self._rows_for_model(batch), y, self._selected, late=self._delay.n_rows > 0)
        self._learner_seconds += perf_counter() - middle
        return drift_found

    def _select(self, batch: Batch) -> None:
        if self._selector is None:
            self._refuse_bad_values(batch, self.n_rows - batch.n_rows)
            mask = np.ones(batch.X.shape[1], bool)
        else:
            self._selector.partial_fit(batch)
            mask = np.asarray(self._selector.get_support(), bool)
        as_bytes = mask.tobytes()
        if self._selected is None or as_bytes != self._mask:  # else the same object says that nothing has changed
            self._mask, self._selected = as_bytes, np.flatnonzero(mask)
            self.n_features = max(self.n_features, len(mask))

    def _refuse_bad_values(self, batch: Batch, first_row: int) -> None:
        check_batch(replace(batch, y=None), None, owner="The model", first_row=first_row, needs_y=False)

    def _selection_accuracy(self, relevant: Indices | None) -> float:
        if relevant is None or self._selected is None:
            return float("nan")
        selected, true, value = self._judged
        if selected is not self._selected or not np.array_equal(true, relevant):
            value = float(selection_accuracy(self._selected, relevant, self.n_features))
            self._judged = self._selected, relevant, value
        return value


def _of_width(X: Any, n_features: int) -> Any:
    """Sparse rows may be narrower than what has been seen."""
    return X if isinstance(X, np.ndarray) else with_width(X, n_features)
