"""Learners over columns that change: what is easy is learnt, what stays is kept, probabilities are probabilities."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from streamsift import Screener
from streamsift.core.exceptions import MissingExtraError
from streamsift.evaluate.prequential import prequential
from streamsift.learners.online import LEARNERS, Perceptron, make_learner
from streamsift.streams.arrays import ArrayStream

OF_RIVER = {"hoeffding_tree", "hoeffding_tree_majority", "adaptive_tree", "boosting"}


def easy(n: int, n_classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, 5)) * 0.3 + 2.0 * np.eye(5)[y], np.array(["x", "y", "z"])[y]


def make(name: str) -> Any:
    if name in OF_RIVER:
        pytest.importorskip("river")
    return make_learner(name)


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_learner_learns_what_is_easy(name: str) -> None:
    X, y = easy(900, 3)
    y[:300] = np.where(y[:300] == "z", "x", y[:300])  # a class that arrives late
    model = make(name)
    result = prequential(ArrayStream(X, y), Screener("fisher", n_features_to_select=3), model, batch_size=100)
    least = 0.6 if name == "hoeffding_tree_majority" else 0.8  # leaves without a model of their own learn slowly
    assert result.column("batch_accuracy")[-3:].mean() > least
    assert (result.summary()["log_loss"] is None) == (name == "perceptron")
    assert result.summary()["peak_memory"] > 500
    model.reset()
    again = prequential(ArrayStream(X, y), Screener("fisher", n_features_to_select=3), model, batch_size=100)
    np.testing.assert_array_equal(again.column("batch_accuracy"), result.column("batch_accuracy"))


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - {"perceptron"}))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_sum_to_one_and_the_most_probable_class_is_predicted(name: str, n_classes: int) -> None:
    X, y = easy(300, n_classes)
    codes = np.unique(y, return_inverse=True)[1]
    model = make(name)
    model.learn(X[:200], codes[:200], np.arange(5), n_classes)
    found = model.predict_proba(X[200:])
    assert found.shape == (100, n_classes)
    assert found.sum(axis=1) == pytest.approx(np.ones(100))
    assert (found >= 0).all()
    assert model.predict(X[200:]).tolist() == found.argmax(axis=1).tolist()


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - {"perceptron"}))
def test_a_class_that_was_announced_but_never_seen_is_improbable(name: str) -> None:
    X, y = easy(200)
    model = make(name)
    model.learn(X, (y == "y").astype(np.int64), np.arange(5), 3)
    found = model.predict_proba(X)
    assert found.shape == (200, 3)
    assert found[:, 2].mean() < 0.34


def test_probabilities_of_scikit_learn_come_through() -> None:
    X, y = easy(300)
    codes = (y == "y").astype(np.int64)
    for name in ("sgd", "naive_bayes", "neighbours"):
        model = make(name)
        model.learn(X[:200], codes[:200], np.arange(5), 2)
        if name == "neighbours":
            model.predict(X[:1])  # the search structure is built when it is asked for
        np.testing.assert_allclose(model.predict_proba(X), model._model.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_constant_columns_leave_naive_bayes_with_the_shares_of_the_classes() -> None:
    model = make_learner("naive_bayes")
    model.learn(np.zeros((4, 2)), np.array([0, 0, 0, 1]), np.arange(2), 2)
    assert model.predict_proba(np.zeros((1, 2))).tolist() == [pytest.approx([0.75, 0.25])]
    assert model.predict(np.zeros((2, 2))).tolist() == [0, 0]


def test_values_beyond_all_squares_leave_naive_bayes_with_the_shares_of_the_classes() -> None:
    learner = make_learner("naive_bayes")
    learner.learn(np.array([[0.0], [1.0], [2.0], [5.0]]), np.array([0, 0, 1, 0]), np.array([0]), 2)
    np.testing.assert_allclose(learner.predict_proba(np.array([[1e200]])), [[0.75, 0.25]])


def test_neighbours_remember_the_last_500_rows() -> None:
    model = make_learner("neighbours")
    old, new = np.zeros((500, 1)), np.zeros((500, 1))
    model.learn(old, np.zeros(500, np.int64), np.array([2]), 2)
    model.learn(new, np.ones(500, np.int64), np.array([2]), 2)
    assert model.predict(np.zeros((1, 1))).tolist() == [1]
    model.learn(new[:3], np.zeros(3, np.int64), np.array([7]), 2)  # other columns: the rows are not comparable
    assert model.predict_proba(np.zeros((1, 1))).tolist() == [[1.0, 0.0]]


def test_linear_learner_keeps_the_weights_of_features_that_stay() -> None:
    X, y = easy(200)
    codes = (y == "y").astype(np.int64)
    learner = Perceptron()
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


def test_missing_river_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_river(name: str, *arguments: Any, **more: Any) -> Any:
        if name.startswith("river"):
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without_river)
    with pytest.raises(MissingExtraError, match=r"streamsift\[river\]"):
        make_learner("boosting")
