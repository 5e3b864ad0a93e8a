"""Learners over columns that change: what is easy is learnt, what stays is kept, probabilities are probabilities."""

from __future__ import annotations

import builtins
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from streamsift import Screener
from streamsift.core.exceptions import MissingExtraError, ParameterError
from streamsift.evaluate.prequential import prequential
from streamsift.learners.online import LEARNERS, Perceptron, make_learner
from streamsift.learners.scaling import Standardised
from streamsift.streams.arrays import ArrayStream

OF_RIVER = {"hoeffding_tree", "hoeffding_tree_majority", "adaptive_tree", "boosting"}


def easy(n: int, n_classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, 5)) * 0.3 + 2.0 * np.eye(5)[y], np.array(["x", "y", "z"])[y]


def make(name: str, scale: str = "standard") -> Any:
    if name in OF_RIVER:
        pytest.importorskip("river")
    return make_learner(name, scale)


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
    for name in ("sgd", "neighbours"):
        model = make(name, "none")
        model.learn(X[:200], codes[:200], np.arange(5), 2)
        if name == "neighbours":
            model.predict(X[:1])  # the search structure is built when it is asked for
        theirs = getattr(model, "learner", model)._model.predict_proba(X)
        np.testing.assert_allclose(model.predict_proba(X), theirs, rtol=1e-9, atol=1e-12)


class Changing:
    """A selector whose selection is another one after every batch, now and then an empty one."""

    def __init__(self, n_features: int) -> None:
        self.n_features, self.step, self.selections = n_features, 0, []

    def partial_fit(self, batch: Any) -> None:
        self.step += 1
        rng = np.random.default_rng(self.step)
        self.selections.append(np.sort(rng.choice(self.n_features, rng.integers(0, 6), replace=False)))

    def get_support(self) -> Any:
        return np.isin(np.arange(self.n_features), self.selections[-1])


def changing_rows(seed: int = 0) -> tuple[Any, Any]:
    """Rows with many zeros, columns of many sizes, and a class that arrives late."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([[0, 1], rng.integers(0, 2, 58), rng.integers(0, 3, 140)])
    X = rng.normal(size=(200, 12)) * 10.0 ** rng.integers(-2, 4, 12) + codes[:, None] * rng.normal(size=12)
    X[rng.random(X.shape) < 0.3] = 0.0
    return X, codes


class Watching:
    """A learner that hands everything on and writes down the probabilities."""

    def __init__(self, learner: Any) -> None:
        self.learner, self.found = learner, []
        self.learn, self.learn_rows, self.predict = learner.learn, learner.learn_rows, learner.predict
        self.reset = learner.reset

    def predict_proba(self, X: Any) -> Any:
        self.found.append(self.learner.predict_proba(X))
        return self.found[-1]


@pytest.mark.parametrize("sparse", [False, True])
def test_naive_bayes_is_that_refitted_on_all_rows_so_far_although_the_selection_changes(sparse: bool) -> None:
    X, codes = changing_rows()
    selector, learner = Changing(12), Watching(make_learner("naive_bayes"))
    trace = prequential(ArrayStream(csr_matrix(X) if sparse else X, codes), selector, learner, batch_size=10)
    wanted = []
    for first, selected in zip(range(10, 200, 10), selector.selections, strict=False):
        if len(selected):
            model = GaussianNB().fit(X[:first][:, selected], codes[:first])
            wanted.append(model.predict_proba(X[first : first + 10][:, selected]))
    assert len(wanted) == len(learner.found) > 10
    for ours, refitted in zip(learner.found, wanted, strict=True):
        np.testing.assert_allclose(ours, refitted, rtol=1e-6, atol=1e-9)
    assert trace.summary()["n_restarts"] == 0


def test_features_that_were_missing_while_others_were_selected_tell_nothing() -> None:
    """Given the selected columns only, naive Bayes knows of a feature what came while it was selected."""
    X, codes = changing_rows()
    learner = make_learner("naive_bayes")
    learner.learn(X[:50, [0, 1]], codes[:50], np.array([0, 1]), 2)
    learner.learn(X[50:60, [1, 5]], codes[50:60], np.array([1, 5]), 2)
    wanted = np.tile(np.log(np.bincount(codes[:60]) / 60), (10, 1))
    smoothing = 1e-9 * max(X[:60, 1].var(), X[50:60, 5].var())  # as scikit-learn's, of the values that are known
    for column, first in ((1, 0), (5, 50)):
        for label in (0, 1):
            known = X[first:60, column][codes[first:60] == label]
            wanted[:, label] += stats.norm.logpdf(X[60:70, column], known.mean(), np.sqrt(known.var() + smoothing))
    np.testing.assert_allclose(learner.predict_logarithms(X[60:70, [1, 5]]), wanted, rtol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_neighbours_are_those_among_the_whole_rows_of_the_window(sparse: bool) -> None:
    X, codes = changing_rows()
    learner = make_learner("neighbours")
    rows = csr_matrix(X) if sparse else X
    for first, selected in ((0, [3]), (60, []), (70, [1, 4])):
        learner.learn_rows(rows[first : first + 60], codes[first : first + 60], np.array(selected, np.intp), 3)
    window = np.concatenate([np.arange(60), np.arange(60, 120), np.arange(70, 130)])
    columns = X[:, [1, 4]]
    scaled = (columns - columns[window].mean(axis=0)) / columns[window].std(axis=0)
    wanted = KNeighborsClassifier(5).fit(scaled[window], codes[window]).predict_proba(scaled[150:])
    np.testing.assert_allclose(learner.predict_proba(columns[150:]), np.pad(wanted, ((0, 0), (0, 3 - wanted.shape[1]))))


@pytest.mark.parametrize("sparse", [False, True])
def test_standardised_columns_are_those_of_the_rows_learnt_so_far(sparse: bool) -> None:
    X, codes = changing_rows()
    X[:, 7] = 3.0  # constant: only centred
    seen: list[Any] = []

    class Seeing:
        def learn(self, columns: Any, y: Any, selected: Any, classes: int) -> None:
            seen.append(columns)

        def predict(self, columns: Any) -> Any:
            seen.append(columns)
            return np.zeros(len(columns), np.int64)

        def reset(self) -> None:
            pass

    learner = Standardised(Seeing())
    selector = Changing(12)
    prequential(ArrayStream(csr_matrix(X) if sparse else X, codes), selector, learner, batch_size=10)
    wanted, before = [], None
    for first, selected in zip(range(0, 200, 10), selector.selections, strict=True):
        rows = X[first : first + 10]
        if before is not None and len(before):
            wanted.append(scaled_by(X[:first], rows, before))
        if len(selected):
            wanted.append(scaled_by(X[: first + 10], rows, selected))
        before = selected
    assert len(wanted) == len(seen)
    for ours, theirs in zip(seen, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


def scaled_by(known: Any, rows: Any, selected: Any) -> Any:
    deviation = known[:, selected].std(axis=0)
    return (rows[:, selected] - known[:, selected].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


@pytest.mark.parametrize("name", ["perceptron", "sgd", "neighbours"])
def test_columns_of_many_sizes_are_no_trouble_unless_scaling_is_switched_off(name: str) -> None:
    X, y = easy(900)
    X = X * [1e-3, 1.0, 1e4, 1.0, 1.0]  # the third says nothing and is by far the largest
    found = {scale: prequential(ArrayStream(X, y), None, name, scale=scale) for scale in ("standard", "none")}
    assert found["standard"].summary()["accuracy"] > 0.9 > found["none"].summary()["accuracy"] + 0.1
    assert {scale: trace.run.settings["scale"] for scale, trace in found.items()} == {
        "standard": "standard",
        "none": "none",
    }
    with pytest.raises(ParameterError, match="scale"):
        prequential(ArrayStream(X, y), None, name, scale="minmax")


def test_missing_values_in_columns_that_are_not_selected_do_no_harm() -> None:
    X, y = easy(300)
    X[::3, 2] = np.nan
    for name in ("naive_bayes", "perceptron", "neighbours"):
        trace = prequential(
            ArrayStream(X, y), Screener("fisher", n_features_to_select=2, missing="skip"), name, batch_size=50
        )
        assert trace.summary()["accuracy"] > 0.9


def test_a_learner_that_cannot_go_on_with_other_columns_is_reset_and_the_run_counts_it() -> None:
    X, codes = changing_rows()
    selector = Changing(12)

    class Restarting(Perceptron):
        restarts = True
        n_resets = 0

        def learn(self, X: Any, y: Any, selected: Any, classes: int) -> None:
            assert self._classes == 0, "it was reset before it met other columns"
            super().learn(X, y, selected, classes)

        def reset(self) -> None:
            super().reset()
            self.n_resets += 1

    learner = Restarting()
    trace = prequential(ArrayStream(X, codes), selector, learner, batch_size=10)
    changes = sum(not np.array_equal(a, b) for a, b in pairwise(selector.selections))
    assert changes > 10
    assert learner.n_resets == 1 + changes  # the first is that of the constructor
    assert trace.summary()["n_restarts"] == changes
    assert trace.column("n_restarts")[0] == 0


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


def test_the_short_names_of_compare_are_understood():
    assert type(make_learner("nb")) is type(make_learner("naive_bayes"))
    assert type(make_learner("knn")) is type(make_learner("neighbours"))
