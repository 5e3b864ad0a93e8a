"""StreamPipeline: what the learner keeps, what it sees of tables, and everything a scikit-learn estimator can do."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import pickle
import threading
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import IncrementalPCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from streamsift import (
    ABFS,
    FIRES,
    GLM,
    ConcurrentUseError,
    InputError,
    ParameterError,
    RestartWarning,
    SavedStateError,
    Screener,
    StreamingSplit,
    StreamPipeline,
    UnknownNameError,
    catalog,
    load,
    prequential,
    save,
)
from streamsift.checks.samples import same_state
from streamsift.cli.errors import run
from streamsift.cli.main import cli


def data(n_rows: int = 400, seed: int = 0) -> tuple[Any, Any]:
    """Columns 1 and 4 tell the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6)) * [1, 5, 1, 100, 2, 1]
    y = np.where(X[:, 1] / 5 + X[:, 4] / 2 > 0, "yes", "no")
    return X, y


X, Y = data()


def pipeline(learner: Any = None, selector: Any = None, **options: Any) -> StreamPipeline:
    return StreamPipeline(
        [
            ("scale", StandardScaler()),
            ("select", Screener("fisher", n_features_to_select=2) if selector is None else selector),
            ("learn", SGDClassifier(loss="log_loss", random_state=0) if learner is None else learner),
        ],
        **options,
    )


class Wandering:
    """A selector that selects what it is told to."""

    def __init__(self, plan: list[list[int]]) -> None:
        self.plan, self.step = plan, -1

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        self.step += 1
        self.n_features = X.X.shape[1]
        return self

    def get_support(self) -> Any:
        mask = np.zeros(self.n_features, bool)
        mask[self.plan[min(self.step, len(self.plan) - 1)]] = True
        return mask


# -- learning ---------------------------------------------------------------------------------------------------------


def test_it_learns_batch_by_batch() -> None:
    model = pipeline()
    for first in range(0, 400, 50):
        assert model.partial_fit(X[first : first + 50], Y[first : first + 50]) is model
    assert model.n_rows_seen_ == 400
    assert model.named_steps["select"].get_support(indices=True).tolist() == [1, 4]
    assert model.named_steps["scale"].n_samples_seen_ == 400
    assert model.named_steps["learn"].coef_.shape == (1, 2)
    assert model.score(*data(seed=1)) > 0.9
    assert model.classes_.tolist() == ["no", "yes"]
    shares = model.predict_proba(X)
    assert np.array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(model.transform(X), scaled[:, [1, 4]])


def test_it_predicts_as_the_steps_one_by_one() -> None:
    scaler, selector = StandardScaler(), Screener("fisher", n_features_to_select=6)
    learner, model = SGDClassifier(random_state=0), pipeline(SGDClassifier(random_state=0), selector)
    for first in range(0, 400, 100):
        rows, labels = X[first : first + 100], Y[first : first + 100]
        learner.partial_fit(scaler.partial_fit(rows).transform(rows), labels, classes=["no", "yes"])
        model.partial_fit(rows, labels, classes=["no", "yes"])
    assert np.array_equal(model.predict(X), learner.predict(scaler.transform(X)))
    np.testing.assert_array_equal(model.named_steps["learn"].coef_, learner.coef_)


def test_a_changed_selection_keeps_the_weights_of_what_stays() -> None:
    model = pipeline(selector=Wandering([[1, 4], [1, 2, 4], [2, 4]]))
    model.partial_fit(X[:100], Y[:100])
    first = copy.deepcopy(model.named_steps["learn"])
    unmoved = SGDClassifier(loss="log_loss", random_state=0, eta0=1e-300, learning_rate="constant")
    still = pipeline(unmoved, Wandering([[1, 4], [1, 2, 4], [2, 4]]))
    still.partial_fit(X[:100], Y[:100])
    still.named_steps["learn"].coef_[:] = first.coef_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        still.partial_fit(X[100:200], Y[100:200])
        assert still.named_steps["learn"].coef_[0].tolist() == pytest.approx(
            [first.coef_[0, 0], 0.0, first.coef_[0, 1]]
        )
        still.partial_fit(X[200:300], Y[200:300])
        assert still.named_steps["learn"].coef_[0].tolist() == pytest.approx([0.0, first.coef_[0, 1]])
    assert still.n_restarts_ == 0


def test_a_learner_that_cannot_says_so_once() -> None:
    model = pipeline(GaussianNB(), Wandering([[1, 4], [1, 2], [2, 4], [2, 4]]))
    model.partial_fit(X[:100], Y[:100])
    with pytest.warns(RestartWarning, match="GaussianNB cannot keep what it knows when the selected columns"):
        model.partial_fit(X[100:200], Y[100:200])
    model.partial_fit(X[200:300], Y[200:300])
    model.partial_fit(X[300:], Y[300:])
    assert model.n_restarts_ == 2


def test_it_does_what_prequential_does() -> None:
    plan = [[1, 4], [1, 2, 4], [2, 4], [0, 4]]
    trace = prequential((X, Y), Wandering(plan), SGDClassifier(random_state=0), batch_size=100)
    model = StreamPipeline([("select", Wandering(plan)), ("learn", SGDClassifier(random_state=0))])
    hits = []
    for first in range(0, 400, 100):
        rows, labels = X[first : first + 100], Y[first : first + 100]
        if first:
            hits.append(model.score(rows, labels))
        model.partial_fit(rows, labels)
    assert trace.column("accuracy")[-1] == pytest.approx(np.mean(hits))


def test_a_drift_resets_the_learner() -> None:
    flipped = np.where(Y == "yes", "no", "yes")
    model = StreamPipeline([("select", ABFS(50, 0.01)), ("learn", "naive_bayes")])
    for _ in range(3):
        model.partial_fit(X, Y)
    for _ in range(10):
        model.partial_fit(X, flipped)
    assert model.named_steps["select"].n_drifts_ > 0
    assert model.n_restarts_ > 0
    assert model.score(X, flipped) > 0.7


def test_classes_may_come_late_and_be_announced() -> None:
    model = pipeline().partial_fit(X[:200], Y[:200])
    late = np.where(X[200:, 1] > 6, "much", Y[200:])
    model.partial_fit(X[200:], late)
    assert model.classes_.tolist() == ["much", "no", "yes"]
    assert model.predict_proba(X).shape == (400, 3)
    announced = pipeline().partial_fit(X[:200], Y[:200], classes=["yes", "no", "never"])
    assert announced.classes_.tolist() == ["never", "no", "yes"]
    one = pipeline().partial_fit(X[:5], ["a"] * 5)
    assert one.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    assert one.predict(X[:2]).tolist() == ["a", "a"]


def test_nothing_selected_means_the_most_frequent_class() -> None:
    model = StreamPipeline([("select", Wandering([[]])), ("learn", SGDClassifier(loss="log_loss"))])
    model.partial_fit(X[:4], ["a", "b", "b", "b"])
    assert model.predict(X[:2]).tolist() == ["b", "b"]
    assert model.predict_proba(X[:2]).tolist() == [[0.25, 0.75]] * 2


@pytest.mark.parametrize("name", catalog.names("rows"))
def test_every_row_selector_fits_in(name: str) -> None:
    selector = catalog.make(name)
    wanted = {"n_features_to_select": 3, "random_state": 0}
    selector.set_params(**{key: value for key, value in wanted.items() if key in selector.get_params()})
    model = pipeline(selector=selector)
    for first in range(0, 400, 100):
        model.partial_fit(X[first : first + 100], Y[first : first + 100])
    assert model.score(X, Y) > 0.45
    assert len(model.get_feature_names_out()) == model.transform(X).shape[1]


@pytest.mark.parametrize("learner", ["naive_bayes", "sgd", "perceptron", "neighbours"])
def test_learners_by_name(learner: str) -> None:
    model = pipeline(learner).fit(X, Y)
    assert model.score(X, Y) > 0.85
    assert hasattr(model, "predict_proba") == (learner != "perceptron")


def test_models_of_river() -> None:
    from river.tree import HoeffdingTreeClassifier

    given = HoeffdingTreeClassifier(grace_period=50)
    model = pipeline(given).fit(X, Y)
    assert model.score(X, Y) > 0.8
    assert model.named_steps["learn"] is not given
    assert clone(model).fit(X, Y).predict(X).tolist() == model.predict(X).tolist()


def test_it_works_without_a_selector_and_with_steps_that_do_nothing() -> None:
    model = StreamPipeline([("scale", StandardScaler()), ("none", None), ("learn", SGDClassifier(random_state=0))])
    assert model.fit(X, Y).score(X, Y) > 0.8
    assert model.named_steps["learn"].coef_.shape == (1, 6)
    model.set_params(scale="passthrough", learn="naive_bayes")
    assert model.fit(X, Y).score(X, Y) > 0.9
    assert model.transform(X).tolist() == X.tolist()


def test_transformers_may_change_the_number_of_columns() -> None:
    steps = [
        ("pca", IncrementalPCA(3)),
        ("unit", Normalizer()),
        ("select", FIRES(n_features_to_select=2, random_state=0)),
        ("learn", SGDClassifier()),
    ]
    model = StreamPipeline(steps).fit(X, Y)
    assert model.transform(X).shape == (400, 2)
    assert all(name.startswith("pca__") for name in model.get_feature_names_out())
    assert set(model.predict(X)) <= {"no", "yes"}


# -- tables -----------------------------------------------------------------------------------------------------------


def people(n_rows: int = 600, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    town = rng.choice(["Oslo", "Rome", "Bern"], n_rows)
    age = rng.normal(50, 10, n_rows)
    y = (town == "Rome") | (age > 62)
    frame = pd.DataFrame({"noise": rng.normal(size=n_rows), "town": town, "age": age, "more": rng.normal(size=n_rows)})
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "town"] = None
    return frame, y


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_with_categories_and_missing_values(kind: str) -> None:
    frame, y = people()
    table = {"pandas": frame, "polars": pl.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame)}[kind]
    selector = Screener("mutual_info", n_features_to_select=2, missing="skip")
    model = pipeline(SGDClassifier(loss="log_loss", random_state=0, alpha=1e-3), selector, missing="mean").fit(table, y)
    assert model.get_feature_names_out().tolist() == ["town", "age"]
    assert model.named_steps["learn"].coef_.shape == (1, 4)  # three towns
    assert model.score(*people(seed=1)) > 0.85
    again = model.transform(table)
    assert type(again) is type(table)
    if kind == "pandas":
        assert again["age"].dtype == np.float64
        assert again["town"].isna().tolist() == frame["town"].isna().tolist()
    assert list(again.schema.names if kind == "pyarrow" else again.columns) == ["town", "age"]
    unseen = frame.head(3).assign(town=["Nice", "Rome", None])
    assert len(model.predict(unseen)) == 3


def test_a_category_becomes_columns_of_its_own() -> None:
    frame = pd.DataFrame({"town": ["Oslo", "Rome", "Rome", None], "x": [1.0, np.nan, 3.0, 5.0]})
    model = StreamPipeline([("learn", "sgd")], missing="mean").partial_fit(frame, ["a", "b", "b", "a"])
    columns = model._columns(pd.DataFrame({"town": ["Rome", None, "Bern"], "x": [2.0, np.nan, 7.0]}))
    assert columns.tolist() == [[2.0, 0.0, 1.0], [3.0, 0.0, 0.0], [7.0, 0.0, 0.0]]
    later = pd.DataFrame({"town": ["Bern", "Oslo"], "x": [3.0, 3.0]})
    model.partial_fit(later, ["a", "b"])
    assert model._columns(later).tolist() == [[3.0, 0.0, 0.0, 1.0], [3.0, 1.0, 0.0, 0.0]]


def test_a_selector_that_cannot_skip_sees_means() -> None:
    rows = X.copy()
    rows[::7, 1] = np.nan
    model = pipeline(selector=FIRES(n_features_to_select=2, random_state=0), missing="mean").fit(rows, Y)
    assert model.score(X, Y) > 0.8
    assert model.transform(rows).shape == (400, 2)


@pytest.mark.parametrize("selector", [FIRES(n_features_to_select=2, random_state=0), ABFS(100, 0.01)], ids=str)
def test_a_missing_category_is_one_of_its_own_for_selectors_that_cannot_skip(selector: Any) -> None:
    frame, y = people()
    model = StreamPipeline([("select", selector), ("learn", "sgd")], missing="mean").fit(frame, y)
    assert "town" in model.get_feature_names_out()
    assert model.score(frame, y) > 0.7
    again = model.transform(frame)
    assert again["town"].isna().tolist() == frame["town"].isna().tolist()
    assert again["town"].dropna().tolist() == frame["town"].dropna().tolist()


def test_late_features_with_missing_values_as_means() -> None:
    selector = Screener("fisher", n_features_to_select=2, new_features="add", missing="skip")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = StreamPipeline([("select", selector), ("learn", "naive_bayes")], missing="mean")
    model.partial_fit(frame[["a", "b"]], Y)
    model.partial_fit(frame, Y)
    model.partial_fit(frame.drop(columns="a"), Y)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.get_feature_names_out().tolist() == ["b", "e"]
    assert model.score(frame.assign(new=1.0), Y) > 0.8
    strict = clone(model).set_params(missing="error").partial_fit(frame, Y)
    with pytest.raises(InputError, match="Column 'a' is not in this batch, and the learner has no value for it"):
        strict.partial_fit(frame.drop(columns="a"), Y)


def test_sparse_rows() -> None:
    rows = sparse.csr_matrix(np.where(np.abs(X) < 0.3, 0.0, X))
    model = pipeline().set_params(scale=MaxAbsScaler()).fit(rows, Y)
    assert model.score(rows, Y) > 0.8
    assert sparse.issparse(model.transform(rows))


def test_set_output() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(400) + 7)
    model = pipeline().set_output(transform="polars").fit(frame, Y)
    assert model.transform(frame).columns == ["b", "e"]
    plain = pipeline().fit(frame, Y).transform(frame)
    assert plain.columns.tolist() == ["b", "e"]
    assert plain.index.equals(frame.index)


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([], "needs a list of steps"),
        ([("select", Screener())], "last step of a StreamPipeline must be a learner"),
        ([("learn", None)], "must be a learner"),
        ([("select", Screener()), ("scale", StandardScaler()), ("learn", "sgd")], "put the other steps before it"),
        ([("a", Screener()), ("b", Screener()), ("learn", "sgd")], "put the other steps before it"),
        ([("poly", PolynomialFeatures()), ("learn", "sgd")], "PolynomialFeatures, cannot learn batch by batch"),
        ([("nb", GaussianNB()), ("learn", "sgd")], "cannot transform"),
        ([("learn", LogisticRegression())], "cannot learn batch by batch"),
        ([("learn", SGDRegressor())], "predicts numbers: give a classifier"),
        ([("learn", SGDClassifier(class_weight={"yes": 2.0}))], "labels may come late: leave it out"),
        ([("learn", "sgdd")], "Did you mean"),
    ],
)
def test_steps_that_do_not_fit_are_refused_in_words(steps: Any, words: str) -> None:
    model = StreamPipeline(steps)
    with pytest.raises((ParameterError, UnknownNameError), match=words):
        model.partial_fit(X, Y)
    assert not hasattr(model, "n_rows_seen_")


def test_two_steps_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="unique"):
        StreamPipeline([("a", StandardScaler()), ("a", "sgd")]).fit(X, Y)


def test_a_refused_batch_changes_nothing() -> None:
    model = pipeline().fit(X, Y)
    before = pickle.dumps(model)
    bad = X[:10].copy()
    bad[3, 2] = np.nan
    with pytest.raises(
        InputError, match=r"Row 3 \(row 403 of the stream\), column 'x2' of X is missing .* set missing='mean'"
    ):
        model.partial_fit(bad, Y[:10])
    with pytest.raises(InputError, match="has 5 features"):
        model.partial_fit(X[:, :5], Y)
    with pytest.raises(InputError):
        model.fit(bad, Y[:10])
    assert pickle.dumps(model) == before


def test_nothing_is_predicted_before_anything_is_learnt() -> None:
    for ask in ("predict", "predict_proba", "transform"):
        with pytest.raises(NotFittedError):
            getattr(pipeline(), ask)(X)
    with pytest.raises(NotFittedError):
        pipeline().n_restarts_


def test_a_second_thread_is_refused() -> None:
    refused: list[Any] = []

    class Asking(Wandering):
        def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
            return super().partial_fit(X, y, classes)

        def __deepcopy__(self, memo: Any) -> Any:
            return self

    def ask() -> None:
        try:
            model.predict(X)
        except ConcurrentUseError as error:
            refused.append(error)

    model = pipeline(selector=Asking([[1]]))
    model.partial_fit(X, Y)
    assert len(refused) == 1


# -- an estimator like others -----------------------------------------------------------------------------------------


def test_parameters() -> None:
    model = pipeline()
    assert model.get_params()["select__n_features_to_select"] == 2
    assert model.get_params()["learn__loss"] == "log_loss"
    model.set_params(select__n_features_to_select=3, missing="mean")
    assert model.steps[1][1].n_features_to_select == 3
    assert model.fit(X, Y).transform(X).shape == (400, 3)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(select__nothing=1)
    with pytest.raises(ParameterError, match="missing"):
        model.set_params(missing="never").fit(X, Y)


def test_the_given_steps_stay_as_they_were() -> None:
    model = pipeline().fit(X, Y)
    assert not hasattr(model.steps[0][1], "mean_")
    assert not hasattr(model.steps[1][1], "n_rows_seen_")
    assert not hasattr(model.steps[2][1], "coef_")
    again = clone(model)
    assert not hasattr(again, "n_rows_seen_")
    assert again.fit(X, Y).predict(X).tolist() == model.predict(X).tolist()


def test_a_fitted_step_goes_on() -> None:
    selector = Screener("fisher", n_features_to_select=2).partial_fit(X, Y)
    model = StreamPipeline([("select", selector), ("learn", "sgd")]).partial_fit(X[:10], Y[:10])
    assert model.named_steps["select"].n_rows_seen_ == 410
    assert selector.n_rows_seen_ == 400


@pytest.mark.parametrize("learner", [None, "naive_bayes", GaussianNB()])
def test_copies_and_pickles_go_on(learner: Any) -> None:
    model = pipeline(learner).fit(X, Y)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        again.partial_fit(X[:50], Y[:50])
        assert again.n_rows_seen_ == 450
    model.partial_fit(X[:50], Y[:50])
    assert again.predict_proba(X).tolist() == model.predict_proba(X).tolist()


def test_cross_validation_in_the_order_of_the_stream() -> None:
    scores = cross_val_score(pipeline(), X, Y, cv=StreamingSplit(4), error_score="raise")
    assert len(scores) == 4
    assert scores.min() > 0.75
    by_area = cross_val_score(pipeline(), X, Y[::1], cv=StreamingSplit(2), scoring="roc_auc", error_score="raise")
    assert by_area.min() > 0.85


def test_areas_under_the_curve_do_not_depend_on_which_class_comes_first() -> None:
    for first in ("no", "yes"):
        order = np.argsort(Y[:100] != first, kind="stable")
        rows = np.concatenate([order, np.arange(100, 400)])
        scores = cross_val_score(pipeline(), X[rows], Y[rows], cv=StreamingSplit(2), scoring="roc_auc")
        assert scores.min() > 0.85


def test_a_search() -> None:
    grid = {"select__n_features_to_select": [1, 2], "learn__alpha": [1e-4, 1e-2]}
    search = GridSearchCV(pipeline(), grid, cv=StreamingSplit(2), error_score="raise").fit(X, Y)
    assert search.best_params_["select__n_features_to_select"] == 2


def test_html() -> None:
    for model in (pipeline(), pipeline().fit(X, Y)):
        page = model._repr_html_()
        assert all(name in page for name in ("StreamPipeline", "StandardScaler", "Screener", "SGDClassifier"))


@parametrize_with_checks([pipeline(SGDClassifier(random_state=0)).set_params(scale=StandardScaler(with_mean=False))])
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)


# -- in a file --------------------------------------------------------------------------------------------------------


def saved_and_loaded(model: StreamPipeline, path: Path) -> StreamPipeline:
    save(model, path)
    return load(path, method=StreamPipeline)


@pytest.mark.parametrize(
    "learner",
    [
        SGDClassifier(loss="log_loss", random_state=0),
        Perceptron(random_state=0),
        GaussianNB(),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((0, 2)), MaxAbsScaler(), "passthrough"], ids=str)
def test_a_saved_pipeline_goes_on(learner: Any, scaler: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = pipeline(learner, missing="mean").set_params(scale=scaler).fit(frame, Y)
    again = saved_and_loaded(model, tmp_path / "pipeline")
    assert again.predict(frame).tolist() == model.predict(frame).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RestartWarning)
        for each in (model, again):
            each.partial_fit(frame * 2, np.where(X[:, 3] > 0, "more", Y))
    assert again.predict(frame).tolist() == model.predict(frame).tolist()
    assert again.n_restarts_ == model.n_restarts_
    assert again.classes_.tolist() == model.classes_.tolist() == ["more", "no", "yes"]
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    same_state(again.state_arrays(), model.state_arrays(), "a saved pipeline")


@pytest.mark.parametrize("name", catalog.names("rows"))
def test_a_pipeline_is_saved_with_every_row_selector(name: str, tmp_path: Path) -> None:
    selector = catalog.make(name)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    model = pipeline(selector=selector).fit(X, Y)
    again = saved_and_loaded(model, tmp_path / "pipeline")
    same_state(again.state_arrays(), model.state_arrays(), name)
    assert again.predict_proba(X).tolist() == model.predict_proba(X).tolist()


def test_categories_and_gaps_are_saved(tmp_path: Path) -> None:
    frame, y = people()
    selector = Screener("mutual_info", n_features_to_select=2, missing="skip")
    model = pipeline(selector=selector, missing="mean").fit(frame, y)
    again = saved_and_loaded(model, tmp_path / "pipeline")
    for each in (model, again):
        each.partial_fit(*people(seed=2))
    assert again.predict_proba(frame).tolist() == model.predict_proba(frame).tolist()
    same_state(again.state_arrays(), model.state_arrays(), "categories")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (
            [("learn", "naive_bayes")],
            r"step 'learn' \('naive_bayes'\) cannot be saved without pickle: use one of Gauss",
        ),
        ([("learn", SGDClassifier(average=True))], "step 'learn' .a SGDClassifier. cannot be saved"),
        ([("unit", Normalizer()), ("learn", SGDClassifier())], "step 'unit' .a Normalizer. cannot be saved"),
        ([("select", Wandering([[0]])), ("learn", SGDClassifier())], "'select' .a Wandering. cannot be saved"),
        ([("select", FIRES(GLM())), ("learn", SGDClassifier())], "parameter model=.* cannot be saved"),
        ([("learn", SGDClassifier(random_state=np.random.RandomState(0)))], "learn__random_state=.* cannot be saved"),
    ],
)
def test_a_step_that_cannot_be_saved_is_named(steps: Any, words: str, tmp_path: Path) -> None:
    model = StreamPipeline(steps).partial_fit(X, Y)
    with pytest.raises(SavedStateError, match=words):
        save(model, tmp_path / "pipeline")
    assert list(tmp_path.iterdir()) == []


def test_a_pipeline_that_knows_nothing_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        save(pipeline(), tmp_path / "pipeline")


def forged(path: Path, change: Any) -> None:
    """The same file with its manifest and arrays changed, and checksums that fit."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "SHA256SUMS"}
    manifest = json.loads(members["manifest.json"])
    change(manifest, members)
    members["manifest.json"] = json.dumps(manifest).encode()
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in members.items())
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | {"SHA256SUMS": sums.encode()}).items():
            archive.writestr(name, content)


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest, _: manifest["parameters"]["steps"][0].update({"class": "subprocess:Popen"}),
        lambda manifest, _: manifest["parameters"]["steps"][1].update({"class": "subprocess:Popen"}),
        lambda manifest, _: manifest["parameters"]["steps"][0]["parameters"].update({"nothing": 1}),
        lambda manifest, _: manifest["parameters"]["steps"][0]["parameters"].update({"with_mean": "perhaps"}),
        lambda manifest, _: manifest["parameters"]["steps"][1]["parameters"].update({"fading": 7}),
        lambda manifest, _: manifest["parameters"]["steps"].reverse(),
        lambda manifest, _: manifest["parameters"]["steps"].pop(0),
        lambda manifest, _: manifest["parameters"].update({"steps": []}),
        lambda manifest, _: manifest["parameters"].update({"steps": [1, 2]}),
        lambda manifest, _: manifest["parameters"].update({"missing": 3}),
        lambda manifest, _: manifest["parameters"]["steps"][1].update({"labels": [1, 2, 3]}),
        lambda manifest, _: manifest["parameters"]["steps"][1].update({"labels": "no"}),
        lambda _, members: members.update({"step.learn.coef_.npy": npy(np.zeros((1, 3)))}),
        lambda _, members: members.update({"step.learn.coef_.npy": npy(np.full((1, 2), np.nan))}),
        lambda _, members: members.update({"step.learn.t_.npy": npy(np.array("text"))}),
        lambda _, members: members.update({"step.scale.mean_.npy": npy(np.zeros(2))}),
        lambda _, members: members.update({"pipeline.widths.npy": npy(np.array([2**31 - 1]))}),
        lambda _, members: members.update({"pipeline.chosen.npy": npy(np.array([0, 9]))}),
        lambda _, members: members.update({"pipeline.learner_selected.npy": npy(np.array([0, 2**31 - 5]))}),
        lambda _, members: members.update({"pipeline.learner_classes.npy": npy(np.array(1))}),
        lambda _, members: members.update({"pipeline.sums.npy": npy(np.zeros(7))}),
    ],
)
def test_a_forged_pipeline_is_refused(change: Any, tmp_path: Path) -> None:
    save(pipeline().fit(X, Y), tmp_path / "pipeline")
    forged(tmp_path / "pipeline", change)
    with pytest.raises(SavedStateError):
        load(tmp_path / "pipeline")


def test_inspect_shows_the_selector_of_a_pipeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(pipeline().fit(X, Y), tmp_path / "pipeline")
    assert run(cli, ["inspect", str(tmp_path / "pipeline")]) == 0
    out = capsys.readouterr().out
    assert "class: streamsift.interop.stream_pipeline:StreamPipeline" in out
    assert "features: 6" in out
    assert "steps=scale (StandardScaler) > select (Screener) > learn (SGDClassifier)" in out
    assert "1\tx1\t" in out or "1\tx4\t" in out
