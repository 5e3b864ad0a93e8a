"""Prequential runs over targets that are numbers: figures row by row, who decides on the task, drift, late targets."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor
from tests.naive import regression as naive

from streamsift import Screener, Trace
from streamsift.core.exceptions import InputError, ParameterError, ReadingNotice
from streamsift.drift import ADWIN
from streamsift.evaluate.baselines import NoFeatures, RandomSelector
from streamsift.evaluate.judges import NumberJudge, Predictions
from streamsift.evaluate.prequential import prequential
from streamsift.evaluate.tasks import settle_task
from streamsift.streams import generate


class Echo:
    """Predicts its first column plus what it learnt last; remembers what it was shown."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.last = 0.0

    def learn(self, X: Any, y: Any, selected: Any, classes: int) -> None:
        assert classes == 0
        self.last = float(y[-1])

    def predict(self, X: Any) -> Any:
        return X[:, 0] + self.last


def rows(n: int = 130, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, 1e4 + X[:, 0] + rng.normal(size=n)


@pytest.mark.parametrize("every", [1, 3])
def test_measures_are_those_of_the_rows(every: int) -> None:
    X, y = rows()
    trace = prequential((X, y), None, Echo(), task="regression", batch_size=10, window=3, every=every)
    predicted = np.concatenate([X[start : start + 10, 0] + y[start - 1] for start in range(10, 130, 10)])
    tested, ends = y[10:], trace.column("row").astype(int)
    for place, end in enumerate(ends):
        if end == 10:
            assert np.isnan(trace.column("rmse")[0])
            continue
        for prefix, first in (("", 0), ("window_", max(end - 10 - 30, 0))):
            true, guess = tested[first : end - 10].tolist(), predicted[first : end - 10].tolist()
            for name in ("rmse", "mae", "r2"):
                expected = getattr(naive, name)(true, guess)
                assert trace.column(prefix + name)[place] == pytest.approx(expected, rel=1e-7)
    assert trace.table["accuracy"].null_count == len(trace)
    assert trace.numeric
    assert {"rmse", "mae", "r2"} <= trace.summary().keys()
    assert "accuracy" not in trace.summary()


def test_the_trace_of_a_file_is_the_same(tmp_path: Any) -> None:
    X, y = rows(1500)
    kept = prequential((X, y), None, "sgd", task="regression", batch_size=1, every=7)
    prequential((X, y), None, "sgd", task="regression", batch_size=1, every=7, trace_path=tmp_path / "t.parquet")
    read = Trace.read(tmp_path / "t.parquet")
    assert read.numeric
    np.testing.assert_array_equal(read.column("window_r2"), kept.column("window_r2"))


def test_without_features_the_mean_so_far_is_predicted() -> None:
    X, y = rows()
    trace = prequential((X, y), NoFeatures(), "sgd", task="regression", batch_size=10)
    guess = np.concatenate([np.full(10, y[:start].mean()) for start in range(10, 130, 10)])
    assert trace.summary()["rmse"] == pytest.approx(naive.rmse(y[10:].tolist(), guess.tolist()), rel=1e-9)


def test_late_targets_are_learnt_late() -> None:
    X, y = rows()
    trace = prequential((X, y), None, Echo(), task="regression", batch_size=10, label_delay=20)
    guess = np.concatenate([X[start : start + 10, 0] + y[start - 21] for start in range(30, 130, 10)])
    assert trace.summary()["mae"] == pytest.approx(naive.mae(y[30:].tolist(), guess.tolist()), rel=1e-9)


def test_a_detector_sees_errors_grow() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 2))
    y = np.where(np.arange(3000) < 1500, 5.0, -5.0) * X[:, 0] + rng.normal(size=3000)
    trace = prequential((X, y), None, "sgd", task="regression", detector=ADWIN())
    found = trace.column("row")[trace.column("drift_found") == 1.0]
    assert len(found)
    assert 1500 < found[0] <= 1800
    assert (
        prequential((X[:1500], y[:1500]), None, "sgd", task="regression", detector=ADWIN()).summary()["n_restarts"] == 0
    )


def test_who_decides_on_the_task() -> None:
    X, y = rows()
    numbers = Screener("correlation", task="regression")
    assert settle_task("auto", numbers, "sgd", (X, y), None) == "regression"
    assert settle_task("auto", Screener(), "sgd", (X, y), None) == "classification"  # it was told so
    assert settle_task("auto", RandomSelector(), SGDRegressor(), None, None) == "regression"
    assert settle_task("auto", None, "sgd", iter([(X, y)]), None) == "classification"  # what is read is gone
    with pytest.warns(ReadingNotice, match=r"taken as numbers \(130 different values in 130 rows\); task='classific"):
        assert settle_task("auto", None, "sgd", (X, y), None) == "regression"
    with pytest.warns(ReadingNotice, match="taken as numbers"):
        assert settle_task("auto", None, "sgd", generate("friedman_drift", n_rows=500), None) == "regression"
    whole = np.arange(130)
    with pytest.warns(ReadingNotice, match="taken as numbers"):
        assert settle_task("auto", None, "sgd", (X, whole), None) == "regression"
    assert settle_task("auto", None, "sgd", (X, whole % 3), None) == "classification"


@pytest.mark.parametrize(
    ("selector", "task", "words"),
    [
        (Screener(), "regression", r"Screener selects for classes: set Screener\(task='regression'\)"),
        (Screener("correlation", task="regression"), "classification", "selects for numbers"),
        (None, "numbers", "'task' parameter of prequential must be"),
    ],
)
def test_contradictions_are_refused(selector: Any, task: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        prequential(rows(), selector, "sgd", task=task)


def test_targets_that_are_no_numbers_are_refused_with_their_place() -> None:
    X, y = rows()
    y[57] = np.inf
    with pytest.raises(InputError, match="Row 57 has the target inf"):
        prequential((X, y), None, "sgd", task="regression", batch_size=25)
    with pytest.raises(InputError, match="The model predicts inf"):
        prequential((X, rows()[1]), None, Runaway(), task="regression", batch_size=25)


class Runaway(Echo):
    """Its weights have grown beyond all bounds."""

    def predict(self, X: Any) -> Any:
        return np.full(len(X), np.inf)


def test_the_mean_so_far_is_what_needs_no_features():
    rng = np.random.default_rng(0)
    steps = [None, *(1e6 + rng.normal(k, 1.0, 5 + k) for k in range(7))]
    tests = [None if true is None else Predictions(true, true + 1.0) for true in steps]
    first = NumberJudge().judged(tests[:3], 3)
    second = first.after.judged(tests[3:], 3)  # cut anywhere
    found = {name: np.concatenate([first.measures[name], second.measures[name]]) for name in second.measures}
    squares, seen = [], []
    for true in steps[1:]:
        squares.append((true - np.mean(seen)) ** 2 if seen else np.empty(0))
        seen += true.tolist()
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        over_all = [np.sqrt(np.concatenate(squares[: k + 1]).mean()) for k in range(7)]
        window = [np.sqrt(np.concatenate(squares[max(k - 2, 0) : k + 1]).mean()) for k in range(7)]
    np.testing.assert_allclose(found["mean_rmse"], [np.nan, *over_all], rtol=1e-6)
    np.testing.assert_allclose(found["window_mean_rmse"], [np.nan, *window], rtol=1e-6)
