"""Learners for numbers over columns that change: what is easy is learnt, what stays is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

from streamsift import Screener
from streamsift.core.exceptions import ParameterError, UnknownNameError
from streamsift.evaluate.prequential import prequential
from streamsift.learners.foreign import as_learner, task_of_model
from streamsift.learners.online import make_learner
from streamsift.learners.regressors import REGRESSORS
from streamsift.streams.arrays import ArrayStream

RIVER = "hoeffding_tree"


def easy(n: int, offset: float = 0.0, size: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * size
    return X, offset + 3.0 * X[:, 1] / size - 2.0 * X[:, 3] / size + 0.1 * rng.normal(size=n)


def make(name: str, scale: str = "standard") -> Any:
    if name == RIVER:
        pytest.importorskip("river")
    return make_learner(name, scale, "regression")


@pytest.mark.parametrize("name", sorted(REGRESSORS))
@pytest.mark.parametrize(("offset", "size"), [(0.0, 1.0), (1e6, 1e4)])
def test_every_learner_learns_what_is_easy(name: str, offset: float, size: float) -> None:
    X, y = easy(1500, offset, size)
    model = make(name)
    selector = Screener("correlation", task="regression", n_features_to_select=2)
    trace = prequential(ArrayStream(X, y), selector, model, batch_size=100)
    late = trace.column("window_rmse")[-1]
    assert late == pytest.approx(np.sqrt(13.0), rel=0.1) if name == "mean" else late < 1.0
    model.reset()
    again = prequential(ArrayStream(X, y), Screener("correlation", task="regression", n_features_to_select=2), model)
    np.testing.assert_array_equal(again.column("rmse"), trace.column("rmse"))


def test_linear_weights_stay_with_their_features() -> None:
    X, y = easy(2000, offset=50.0)
    model = make("sgd")
    model.learn_rows(X, y, np.array([1, 3]), 0)
    at = np.array([[2.0, 1.0]])
    both = model.predict(at)[0]
    model.learn_rows(X[:1], y[:1], np.array([3, 4]), 0)  # 1 leaves, 4 comes
    kept = model.predict(np.array([[1.0, 0.0]]))[0]
    assert both == pytest.approx(50.0 + 6.0 - 2.0, abs=0.6)
    assert kept == pytest.approx(50.0 - 2.0, abs=0.6)  # the weight of 3, and nothing for 4
    assert model.predict(np.array([[1.0, 7.0]]))[0] == pytest.approx(kept, abs=0.3)


def test_many_columns_do_not_make_the_weights_grow_without_bounds() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 800))
    y = X[:, :8].sum(axis=1) + rng.normal(size=1500)
    trace = prequential((X, y), None, make("sgd"), task="regression")
    assert trace.column("window_rmse")[-1] < 1.2 * y.std()


def test_neighbours_are_the_mean_of_the_nearest() -> None:
    X, y = easy(600)
    model = make("neighbours", "none")
    model.learn_rows(X[:500], y[:500], np.array([1, 3]), 0)
    expected = KNeighborsRegressor(5).fit(X[:500][:, [1, 3]], y[:500]).predict(X[500:][:, [1, 3]])
    np.testing.assert_allclose(model.predict(X[500:][:, [1, 3]]), expected)
    model.learn_rows(X[:1], y[:1], np.array([0]), 0)  # another selection sees the same rows
    window = np.vstack([X[1:500], X[:1]])[:, [0]], np.append(y[1:500], y[:1])
    np.testing.assert_allclose(model.predict(X[500:, [0]]), KNeighborsRegressor(5).fit(*window).predict(X[500:, [0]]))


@pytest.mark.parametrize("name", sorted(set(REGRESSORS) - {"mean"}))
def test_categories_are_categories(name: str) -> None:
    rng = np.random.default_rng(1)
    shops = rng.choice(["north", "south", "east"], 1200)
    worth = {"north": 10.0, "south": -10.0, "east": 30.0}
    table = pd.DataFrame({"shop": shops, "noise": rng.normal(size=1200)})
    y = np.array([worth[shop] for shop in shops]) + rng.normal(size=1200)
    trace = prequential((table, y), None, make(name), task="regression")
    assert trace.column("window_rmse")[-1] < 4.0  # the deviation of y is 16


@pytest.mark.parametrize(
    ("model", "restarts"),
    [(SGDRegressor(random_state=0), 0), (MLPRegressor(hidden_layer_sizes=(4,), random_state=0), 2)],
)
def test_models_of_scikit_learn(model: Any, restarts: int) -> None:
    learner: Any = as_learner(model, task="regression")
    X, y = easy(400)
    for selected in ([1, 3], [1, 3], [3, 4], [1, 3]):
        learner.learn(X[:, selected], y, np.array(selected), 0)
    assert learner.predict(X[:, [1, 3]]).shape == (400,)
    assert learner.n_restarts == restarts
    assert not hasattr(model, "coef_")


def test_a_linear_model_of_scikit_learn_is_trained_as_by_hand() -> None:
    X, y = easy(400)
    ours = as_learner(SGDRegressor(random_state=0), task="regression")
    theirs = SGDRegressor(random_state=0)
    for part in np.array_split(np.arange(400), 4):
        ours.learn(X[part], y[part], np.arange(5), 0)
        theirs.partial_fit(X[part], y[part])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_models_of_river() -> None:
    pytest.importorskip("river")
    from river import linear_model, preprocessing, tree

    X, y = easy(800)
    models = (tree.HoeffdingTreeRegressor(), preprocessing.StandardScaler() | linear_model.LinearRegression())
    for model in models:
        assert task_of_model(model) == "regression"
        trace = prequential((X, y), None, model)  # the model says that these are numbers
        assert trace.column("window_rmse")[-1] < 2.0
    assert task_of_model(tree.HoeffdingTreeClassifier()) == "classification"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("naive_bayes", "the model 'naive_bayes' predicts classes: give one that predicts numbers"),
        (SGDClassifier(), "the model SGDClassifier predicts classes"),
    ],
)
def test_models_for_classes_are_refused_in_words(model: Any, words: str) -> None:
    X, y = easy(100)
    with pytest.raises(ParameterError, match=words):
        prequential((X, y), None, model, task="regression")
    with pytest.raises(UnknownNameError, match="no learner for numbers 'sgdd'"):
        make_learner("sgdd", task="regression")
