"""Prequential runs: the order of test and training, what the model sees, and what it keeps."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from streamsift import Screener
from streamsift.core.batch import Batch
from streamsift.core.exceptions import InputError, MissingExtraError, ParameterError, UnknownNameError
from streamsift.evaluate.learners import LEARNERS, Linear, make_learner
from streamsift.evaluate.prequential import PrequentialResult, prequential
from streamsift.metrics import nogueira_stability


class Rows:
    """A stream over arrays."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y = X, np.asarray(y)

    def batches(self, size: int) -> Any:
        for start in range(0, self.X.shape[0], size):
            yield Batch(self.X[start : start + size], self.y[start : start + size])


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
    assert result.rows.tolist() == [2, 4, 6]
    assert result.n_selected.tolist() == [2, 1, 2]
    assert np.isnan(result.batch_accuracy[0])
    assert result.batch_accuracy[1:].tolist() == [1.0, 0.5]
    assert result.accuracy() == 0.75
    assert result.selected.tolist() == [
        [True, True, False, False],
        [False, False, True, False],
        [False, False, True, True],
    ]
    assert (result.selection_seconds >= 0).all()
    assert (result.learner_seconds >= 0).all()


def test_drift_resets_the_model_before_it_learns() -> None:
    model = Recorder()
    prequential(Rows(X, [0, 1] * 3), Scripted([[0], [0], [0]], drift_at=1), model, batch_size=2)
    assert [event if event == "reset" else event[0] for event in model.events] == [
        "learn", "predict", "reset", "learn", "predict", "learn",
    ]  # fmt: skip


def test_without_selected_features_the_most_frequent_class_is_predicted() -> None:
    model = Recorder()
    result = prequential(Rows(X, ["b", "a", "a", "a", "a", "b"]), Scripted([[], [], [1]]), model, batch_size=2)
    assert [event[0] for event in model.events] == ["learn"]
    assert result.batch_accuracy[1:].tolist() == [0.0, 0.5]  # "b" came first, then "a" is more frequent


def test_all_features_without_a_selector_and_a_limit_of_batches() -> None:
    model = Recorder()
    result = prequential(Rows(X, [0, 1] * 3), None, model, batch_size=2, n_batches=2)
    assert result.selected.all()
    assert result.selected.shape == (2, 4)


def test_sparse_rows() -> None:
    result = prequential(Rows(csr_matrix(X), [0, 1] * 3), Scripted([[0], [1], [1]]), make_learner("sgd"), batch_size=2)
    assert np.isfinite(result.batch_accuracy[1:]).all()


def test_stability_looks_at_whole_windows() -> None:
    masks = np.random.default_rng(0).random((13, 6)) < 0.5
    steps = np.arange(13)
    result = PrequentialResult(steps, steps * 0.1, steps * 1.0, steps * 1.0, masks)
    wanted = [nogueira_stability(masks[k : k + 10]) for k in range(4)]
    assert result.stability().tolist() == wanted
    assert result.stability(window=50).tolist() == [nogueira_stability(masks)]


def easy(n: int, n_classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, 5)) * 0.3 + 2.0 * np.eye(5)[y], np.array(["x", "y", "z"])[y]


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_learner_learns_what_is_easy(name: str) -> None:
    if name in ("hoeffding_tree", "hoeffding_tree_majority", "adaptive_tree", "boosting"):
        pytest.importorskip("river")
    X, y = easy(900, 3)
    y[:300] = np.where(y[:300] == "z", "x", y[:300])  # a class that arrives late
    model = make_learner(name)
    result = prequential(Rows(X, y), Screener("fisher", n_features_to_select=3), model, batch_size=100)
    least = 0.6 if name == "hoeffding_tree_majority" else 0.8  # leaves without a model of their own learn slowly
    assert result.batch_accuracy[-3:].mean() > least
    model.reset()
    again = prequential(Rows(X, y), Screener("fisher", n_features_to_select=3), model, batch_size=100)
    np.testing.assert_array_equal(again.batch_accuracy, result.batch_accuracy)


def test_linear_learner_keeps_the_weights_of_features_that_stay() -> None:
    X, y = easy(200)
    codes = (y == "y").astype(np.int64)
    learner = Linear("perceptron")
    learner.learn(X[:, [0, 1, 4]], codes, np.array([0, 1, 4]), 2)
    before, intercept = learner._model.coef_.copy(), learner._model.intercept_.copy()
    nothing = np.zeros((1, 3))
    # A row that is classified rightly changes nothing: what is left are the weights carried over.
    learner._carry_over(np.array([1, 2, 4]), 2)
    assert learner._model.coef_.tolist() == [[before[0, 1], 0.0, before[0, 2]]]
    assert learner._model.intercept_.tolist() == intercept.tolist()
    learner._selected = np.array([1, 2, 4])
    learner._carry_over(np.array([1, 2, 4]), 3)
    assert learner._model.coef_.tolist() == [
        [-before[0, 1], 0.0, -before[0, 2]], [before[0, 1], 0.0, before[0, 2]], [0.0, 0.0, 0.0],
    ]  # fmt: skip
    assert learner.predict(nothing).shape == (1,)


def test_refusals() -> None:
    with pytest.raises(UnknownNameError, match="perceptron"):
        make_learner("perceptrn")
    with pytest.raises(ParameterError, match="batch_size"):
        prequential(Rows(X, [0] * 6), None, Recorder(), batch_size=0)
    with pytest.raises(InputError, match="no rows"):
        prequential(Rows(X[:0], []), None, Recorder())


def test_missing_river_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_river(name: str, *arguments: Any, **more: Any) -> Any:
        if name.startswith("river"):
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without_river)
    with pytest.raises(MissingExtraError, match=r"streamsift\[river\]"):
        make_learner("boosting")
