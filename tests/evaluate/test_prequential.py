"""Prequential runs: the order of test and training, what the model sees, when labels arrive, what the trace says."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.naive import classification as naive

from streamsift import Screener
from streamsift.core.batch import Batch
from streamsift.core.exceptions import InputError, ParameterError, UnknownNameError
from streamsift.evaluate.prequential import prequential
from streamsift.learners.online import make_learner
from streamsift.metrics import nogueira_stability, selection_accuracy
from streamsift.runs.trace import Trace


class Rows:
    """A stream over arrays."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y = X, np.asarray(y)

    def progress(self) -> float | None:
        return self.read / len(self.y)

    def batches(self, batch_size: int) -> Any:
        for start in range(0, self.X.shape[0], batch_size):
            self.read = min(start + batch_size, len(self.y))
            yield Batch(self.X[start : start + batch_size], self.y[start : start + batch_size])


class Recorder:
    """A learner that writes down what happens and always predicts class 1."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def learn(self, X: Any, y: Any, selected: Any, classes: int) -> None:
        self.events.append(("learn", X.shape, selected.tolist(), classes))

    def predict(self, X: Any) -> Any:
        self.events.append(("predict", X.shape))
        return np.ones(len(X), np.int64)

    def reset(self) -> None:
        self.events.append("reset")


class Scripted:
    """A selector that selects by script and reports drift by script."""

    def __init__(self, selections: list[list[int]], drift_at: int = -1) -> None:
        self.selections, self.drift_at, self.step, self.drifts_ = selections, drift_at, 0, []

    def partial_fit(self, batch: Batch) -> None:
        if self.step == self.drift_at:
            self.drifts_.append(self.step)
        self.step += 1

    def get_support(self) -> Any:
        return np.isin(np.arange(4), self.selections[self.step - 1])


X = np.arange(24.0).reshape(6, 4)


def test_tests_before_it_trains_and_shows_only_selected_columns() -> None:
    model = Recorder()
    result = prequential(Rows(X, [0, 1, 1, 1, 0, 1]), Scripted([[0, 1], [2], [2, 3]]), model, batch_size=2)
    assert model.events == [
        ("learn", (2, 2), [0, 1], 2),
        ("predict", (2, 2)),
        ("learn", (2, 1), [2], 2),
        ("predict", (2, 1)),
        ("learn", (2, 2), [2, 3], 2),
    ]
    assert result.column("row").tolist() == [2, 4, 6]
    assert result.column("n_selected").tolist() == [2, 1, 2]
    assert result.table["batch_accuracy"].to_pylist() == [None, 1.0, 0.5]
    assert result.table["accuracy"].to_pylist() == [None, 1.0, 0.75]
    assert result.masks().tolist() == [
        [True, True, False, False],
        [False, False, True, False],
        [False, False, True, True],
    ]


def test_drift_resets_the_model_before_it_learns() -> None:
    model = Recorder()
    result = prequential(Rows(X, [0, 1] * 3), Scripted([[0], [0], [0]], drift_at=1), model, batch_size=2)
    assert result.table["drift_found"].to_pylist() == [False, True, False]
    assert [event if event == "reset" else event[0] for event in model.events] == [
        "learn", "predict", "reset", "learn", "predict", "learn",
    ]  # fmt: skip


def test_without_selected_features_the_most_frequent_class_is_predicted() -> None:
    model = Recorder()
    result = prequential(Rows(X, ["b", "a", "a", "a", "a", "b"]), Scripted([[], [], [1]]), model, batch_size=2)
    assert [event[0] for event in model.events] == ["learn"]
    # "b" came first, then "a" is more frequent
    assert result.table["batch_accuracy"].to_pylist() == [None, 0.0, 0.5]


def test_all_features_without_a_selector_and_a_limit_of_batches() -> None:
    model = Recorder()
    result = prequential(Rows(X, [0, 1] * 3), None, model, batch_size=2, n_batches=2)
    assert result.masks().all()
    assert result.masks().shape == (2, 4)


def test_sparse_rows() -> None:
    result = prequential(Rows(csr_matrix(X), [0, 1] * 3), Scripted([[0], [1], [1]]), "sgd", batch_size=2)
    dense = prequential(Rows(X, [0, 1] * 3), Scripted([[0], [1], [1]]), "sgd", batch_size=2)
    assert result.column("log_loss")[1:].tolist() == dense.column("log_loss")[1:].tolist()


class Ramp:
    """A learner with fixed probabilities, that depend on the first selected column and on the classes it has met."""

    def __init__(self) -> None:
        self.classes = 0

    def learn(self, X: Any, y: Any, selected: Any, classes: int) -> None:
        self.classes = max(classes, 2)

    def predict_proba(self, X: Any) -> Any:
        weights = np.exp(np.outer(X[:, 0], np.arange(self.classes)))
        return weights / weights.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        raise AssertionError("probabilities are enough")

    def reset(self) -> None:
        pass


class Truth(Rows):
    """Rows of which the true features are known; they drift in the third batch."""

    def batches(self, batch_size: int) -> Any:
        for step, batch in enumerate(super().batches(batch_size)):
            yield Batch(batch.X, batch.y, ("a", "b", "c", "d"), relevant=np.array([step % 2, 3]), drifting=step == 2)


def test_every_measure_as_computed_from_all_predictions() -> None:
    rng = np.random.default_rng(3)
    n_steps, window = 40, 6
    X = rng.normal(size=(n_steps * 10 - 3, 4))
    y = np.where(np.arange(len(X)) < 150, rng.integers(0, 2, len(X)), rng.integers(0, 4, len(X)))  # late classes
    y[:30] = 1  # one class at first
    sets = [np.flatnonzero(rng.random(4) < 0.5).tolist() for _ in range(n_steps)]
    trace = prequential(Truth(X, y), Scripted(sets), Ramp(), batch_size=10, window=window)
    codes = [list(dict.fromkeys(y.tolist())).index(label) for label in y.tolist()]

    counts: list[int] = []
    steps: list[Any] = [([], [], [])]
    for step in range(1, n_steps):
        rows = slice(10 * step, min(10 * step + 10, len(X)))
        learnt = codes[: 10 * step]
        counts = [learnt.count(code) for code in range(max(learnt) + 1)]
        if sets[step - 1]:
            first = X[rows, sets[step - 1][0]]
            weights = np.exp(np.outer(first, np.arange(max(len(counts), 2))))
            shares = (weights / weights.sum(axis=1, keepdims=True)).tolist()
        else:
            shares = [[count / len(learnt) for count in counts]] * len(codes[rows])
        steps.append((codes[rows], [row.index(max(row)) for row in shares], shares))
    for line in range(n_steps):
        for prefix, part in (("", steps[: line + 1]), ("window_", steps[max(0, line + 1 - window) : line + 1])):
            wanted = naive.everything(*([value for step in part for value in step[k]] for k in range(3)))
            for name, value in wanted.items():
                found = trace.column(prefix + name)[line]
                assert found == pytest.approx(value, abs=1e-10, nan_ok=True), (prefix + name, line)
    masks = np.array([np.isin(np.arange(4), chosen) for chosen in sets])
    for line in range(1, n_steps):
        part = masks[max(0, line + 1 - window) : line + 1]
        assert trace.column("stability")[line] == pytest.approx(nogueira_stability(part), abs=1e-12)
    wanted = [selection_accuracy(masks[step], [step % 2, 3], 4) for step in range(n_steps)]
    assert trace.column("selection_accuracy").tolist() == pytest.approx(wanted)
    assert trace.table["drifting"].to_pylist() == [step == 2 for step in range(n_steps)]
    assert trace.table["relevant"].to_pylist() == [[step % 2, 3] for step in range(n_steps)]
    assert [sorted(look) for look in trace.table["selected"].to_pylist()] == sets
    summary = trace.summary()
    assert summary["accuracy"] == trace.column("accuracy")[-1]
    assert summary["stability"] == pytest.approx(trace.column("stability")[window - 1 :].mean())
    assert summary["n_selected"] == pytest.approx(masks.sum() / n_steps)
    assert summary["selection_accuracy"] == pytest.approx(np.mean(wanted))


def test_without_probabilities_there_is_no_log_loss() -> None:
    trace = prequential(Rows(X, [0, 1] * 3), Scripted([[0], [], [0]]), Recorder(), batch_size=2)
    assert trace.table["log_loss"].null_count == trace.table["window_log_loss"].null_count == 3
    assert trace.summary()["log_loss"] is None


def test_several_steps_a_line() -> None:
    sets = [[0], [1], [0], [0], [2], [0], [1]]
    y = np.random.default_rng(0).integers(0, 2, 14)
    X = np.random.default_rng(1).normal(size=(14, 4))
    fine, coarse = (
        prequential(Truth(X, y), Scripted(sets, drift_at=3), Ramp(), batch_size=2, window=3, every=every)
        for every in (1, 3)
    )
    assert coarse.column("row").tolist() == [6, 12, 14]
    for name in ("accuracy", "window_kappa", "log_loss", "stability", "n_selected", "batch_accuracy"):
        np.testing.assert_array_equal(coarse.column(name), fine.column(name)[[2, 5, 6]], err_msg=name)
    assert coarse.table["drifting"].to_pylist() == [True, False, False]
    assert coarse.table["drift_found"].to_pylist() == [False, True, False]


def test_time_and_memory_only_grow() -> None:
    trace = prequential(Rows(*easy(3000)), Screener("fisher", n_features_to_select=3), "naive_bayes")
    for name in ("seconds", "selection_seconds", "learner_seconds", "ram_hours", "peak_memory"):
        values = trace.column(name)
        assert (np.diff(values) >= 0).all(), name
        assert values[0] > 0, name
    assert (trace.column("memory") <= trace.column("peak_memory")).all()
    assert (trace.column("selection_seconds") + trace.column("learner_seconds") <= trace.column("seconds")).all()
    seconds = trace.column("selection_seconds") + trace.column("learner_seconds")
    wanted = (trace.column("memory") * np.diff(seconds, prepend=0.0)).cumsum() / 2**30 / 3600
    # The memory of the last line is measured after its step.
    assert trace.column("ram_hours")[:-1] == pytest.approx(wanted[:-1])


class Wide(Scripted):
    """A selector with a score for each of very many features."""

    def get_support(self) -> Any:
        return np.arange(300_000) == self.step

    @property
    def scores_(self) -> Any:
        return np.zeros(300_000)


def test_scores_of_wide_data_do_not_pile_up() -> None:
    rows = Rows(csr_matrix((80, 300_000)), np.arange(80) % 2)
    tracemalloc.start()
    try:
        trace = prequential(rows, Wide([]), Recorder(), batch_size=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(trace) == 80
    assert peak < 80 * 300_000 * 8 / 2


def test_late_labels_reach_selector_and_model_when_they_arrive() -> None:
    class Diary(Recorder):
        def learn(self, X: Any, y: Any, selected: Any, classes: int) -> None:
            self.events.append(("learn", X[:, 0].tolist(), y.tolist(), classes))

        def predict(self, X: Any) -> Any:
            self.events.append(("predict", X[:, 0].tolist()))
            return np.ones(len(X), np.int64)

    class All(Scripted):
        seen: list[Any]

        def partial_fit(self, batch: Batch) -> None:
            self.seen = [*getattr(self, "seen", []), (batch.X[:, 0].tolist(), batch.y.tolist())]
            super().partial_fit(batch)

    rows = np.arange(11.0)[:, None] * np.ones(4)
    labels = ["a", "a", "a", "b", "b", "c", "c", "a", "b", "b", "b"]
    model, selector = Diary(), All([[0], [0], [0], [0]])
    trace = prequential(Rows(rows, labels), selector, model, batch_size=3, label_delay=4)
    # After 3, 6, 9 and 11 rows the labels of none, 2, 5 and 7 rows are known.
    assert model.events == [
        ("learn", [0, 1], [0, 0], 1),
        ("predict", [6, 7, 8]),
        ("learn", [2, 3, 4], [0, 1, 1], 2),
        ("predict", [9, 10]),
        ("learn", [5, 6], [2, 2], 3),
    ]
    assert selector.seen == [([0, 1], ["a", "a"]), ([2, 3, 4], ["a", "b", "b"]), ([5, 6], ["c", "c"])]
    assert trace.column("row").tolist() == [3, 6, 9, 11]
    assert trace.table["batch_accuracy"].to_pylist() == [None, None, 1 / 3, 1.0]
    assert trace.table["n_selected"].to_pylist() == [None, 1, 1, 1]
    assert trace.table["stability"].to_pylist() == [None, None, 1.0, 1.0]


def test_labels_that_never_arrive_are_never_learnt() -> None:
    model = Recorder()
    trace = prequential(Rows(X, [0, 1] * 3), Scripted([]), model, batch_size=2, label_delay=6)
    assert model.events == []
    assert trace.summary()["accuracy"] is None
    assert trace.summary()["n_selected"] is None


@pytest.mark.parametrize("sparse", [False, True])
def test_a_delay_of_whole_batches_only_moves_them(sparse: bool) -> None:
    X, y = easy(600)
    rows = csr_matrix(X) if sparse else X
    late = prequential(Rows(rows, y), Screener("fisher", n_features_to_select=2), "sgd", label_delay=200)
    prompt = prequential(Rows(rows[:400], y[:400]), Screener("fisher", n_features_to_select=2), "sgd")
    assert late.table["selected"].to_pylist()[2:] == prompt.table["selected"].to_pylist()


def easy(n: int, n_classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, 5)) * 0.3 + 2.0 * np.eye(5)[y], np.array(["x", "y", "z"])[y]


def test_a_trace_in_a_file_is_the_trace_in_memory(tmp_path: Any) -> None:
    def run(path: Any) -> Trace:
        selector = Screener("fisher", n_features_to_select=2)
        return prequential(
            Truth(easy(500)[0][:, :4], easy(500)[1]), selector, "naive_bayes", batch_size=1, trace_path=path
        )

    path = tmp_path / "trace.parquet"
    written, kept = run(path), run(None)
    assert list(tmp_path.iterdir()) == [path]
    assert written.table.equals(Trace.read(path).table)
    assert written.run.settings == kept.run.settings
    assert written.names == kept.names == {0: "a", 1: "b", 2: "c", 3: "d"}
    assert written.n_features == kept.n_features == 4
    timed = {"seconds", "selection_seconds", "learner_seconds", "memory", "peak_memory", "ram_hours"}
    names = [name for name in kept.table.column_names if name not in timed]
    assert written.table.select(names).equals(kept.table.select(names).combine_chunks())
    assert len(kept) == 500
    # Snapshots thin out after the first 200 steps, measures do not, and the last step has one.
    taken = kept.snapshots().column("row")
    assert taken.tolist() == [*range(1, 201), *range(202, 501, 2)]
    assert kept.masks().shape == (350, 4)
    assert kept.table["accuracy"].null_count == 1


def test_progress_is_told_after_each_step() -> None:
    told: list[Any] = []
    prequential(Rows(X, [0, 1] * 3), None, Recorder(), batch_size=4, progress=lambda *step: told.append(step))
    assert told == [(4, 4 / 6), (6, 1.0)]


def test_an_interrupted_run_leaves_a_readable_trace(tmp_path: Any) -> None:
    def interrupt(rows: int, fraction: float | None) -> None:
        if rows == 60_000:
            raise KeyboardInterrupt

    path, selector = tmp_path / "trace.parquet", Screener("fisher", n_features_to_select=2)
    X, y = easy(70_000)
    with pytest.raises(KeyboardInterrupt):
        prequential(Rows(X, y), selector, Recorder(), trace_path=path, progress=interrupt)
    assert list(tmp_path.iterdir()) == [path]
    trace = Trace.read(path)
    assert trace.column("row").tolist() == list(range(100, 60_001, 100))
    assert trace.table["selected"].to_pylist()[-1] is not None
    assert trace.summary()["accuracy"] == trace.column("accuracy")[-1]


def test_a_run_that_fails_leaves_no_file(tmp_path: Any) -> None:
    X, y = easy(600)
    X[550, 2] = np.nan
    with pytest.raises(InputError, match="550"):
        prequential(Rows(X, y), Screener("fisher"), "naive_bayes", trace_path=tmp_path / "trace.parquet")
    assert list(tmp_path.iterdir()) == []


def test_refusals() -> None:
    with pytest.raises(UnknownNameError, match="perceptron"):
        make_learner("perceptrn")
    with pytest.raises(ParameterError, match="batch_size"):
        prequential(Rows(X, [0] * 6), None, Recorder(), batch_size=0)
    with pytest.raises(InputError, match="no rows"):
        prequential(Rows(X[:0], []), None, Recorder())
    for name, value in (("label_delay", -1), ("window", 1), ("every", 0), ("n_batches", 0)):
        with pytest.raises(ParameterError, match=name):
            prequential(Rows(X, [0] * 6), None, Recorder(), **{name: value})
    with pytest.raises(UnknownNameError, match="naive_bayes"):
        prequential(Rows(X, [0] * 6), None, "naive_bays")


def test_bad_rows_and_labels_are_refused_in_words() -> None:
    holes = np.where(np.arange(24).reshape(6, 4) == 17, np.nan, X)
    with pytest.raises(InputError, match=r"row 4.*column|column.*row 4"):
        prequential(Rows(holes, [0, 1] * 3), None, "naive_bayes", batch_size=2)
    with pytest.raises(InputError, match=r"begins with row 2: Row 1 has no label"):
        prequential(Rows(X, np.array([0.0, 1.0, 0.0, np.nan, 0.0, 1.0])), None, Recorder(), batch_size=2)

    class Unlabelled(Rows):
        def batches(self, batch_size: int) -> Any:
            yield Batch(self.X, None)

    with pytest.raises(InputError, match="no labels"):
        prequential(Unlabelled(X, [0]), None, Recorder())


class RampInLogarithms(Ramp):
    """The same probabilities, but only their logarithms, each row with a constant of its own."""

    def predict_logarithms(self, X: Any) -> Any:
        return np.outer(X[:, 0], np.arange(self.classes)) + X[:, :1]

    def predict_proba(self, X: Any) -> Any:
        raise AssertionError("their logarithms are enough")


def test_logarithms_say_the_same_as_probabilities() -> None:
    """Whether classes arrive late, and whether some steps have nothing selected and so no logarithms."""
    rows, labels = np.random.default_rng(0).normal(size=(60, 4)), ["a", "b"] * 20 + ["a", "b", "c", "a"] * 5
    for selections in ([[0]] * 15, [[0]] * 5 + [[]] * 5 + [[0]] * 5):
        made = [prequential(Rows(rows, labels), Scripted(selections), one(), batch_size=4, window=3)
                for one in (Ramp, RampInLogarithms)]  # fmt: skip
        for name in ("accuracy", "log_loss", "kappa", "window_log_loss", "window_f1"):
            np.testing.assert_allclose(made[0].column(name), made[1].column(name), rtol=1e-12, err_msg=name)
