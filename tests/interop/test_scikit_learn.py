"""Every selector of the catalog inside scikit-learn: pipelines, searches, containers, clones and pickles."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import set_config
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from streamsift import ABFS, ETANA, FIRES, GLM, Screener, catalog
from streamsift.checks.samples import same_state
from streamsift.core.exceptions import ConcurrentUseError, EmptySelectionWarning, SavedStateError

ROWS, COLUMNS = catalog.names("rows"), catalog.names("columns")
SELECTORS = [*ROWS, *COLUMNS]
NAMES = ["a", "b", "c", "d", "e"]
every_selector = pytest.mark.parametrize("name", SELECTORS)
pytestmark = pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.EmptySelectionWarning")


def data(n_rows: int = 90) -> tuple[Any, Any]:
    """`b` and `d` tell the class, which is a word."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, 5))
    y = rng.integers(0, 2, n_rows)
    X[:, 1] += 3.0 * y
    X[:, 3] -= 2.0 * y
    return X, np.array(["no", "yes"])[y]


X, Y = data()
FRAME = pd.DataFrame(X, columns=NAMES, index=[f"row {k}" for k in range(len(X))])


def make(name: str, **parameters: Any) -> Any:
    selector = catalog.make(name)
    wanted = {"n_features_to_select": 2, "random_state": 0} | parameters
    return selector.set_params(**{key: value for key, value in wanted.items() if key in selector.get_params()})


def values(table: Any) -> Any:
    """Any container as an array."""
    if sparse.issparse(table):
        return table.toarray()
    return np.asarray(table.to_pandas() if isinstance(table, pa.Table | pa.RecordBatch) else table, float)


def selected(selector: Any) -> list[str]:
    return [name for name, chosen in zip(NAMES, selector.get_support(), strict=True) if chosen]


# -- steps of something larger ----------------------------------------------------------------------------------------


@every_selector
def test_a_pipeline(name: str) -> None:
    pipeline = Pipeline([("scale", StandardScaler()), ("select", make(name)), ("learn", LogisticRegression())])
    assert pipeline.fit(X, Y).score(X, Y) > 0.7
    names = pipeline[:-1].get_feature_names_out(NAMES)
    assert names.tolist() == selected(pipeline["select"])
    assert pipeline[:-1].transform(X).shape == (len(X), len(names))


@every_selector
def test_a_pipeline_of_frames_keeps_the_names(name: str) -> None:
    pipeline = make_pipeline(make(name), LogisticRegression()).fit(FRAME, Y)
    assert pipeline[-1].feature_names_in_.tolist() == selected(pipeline[0])
    pipeline.set_output(transform="polars")
    pipeline = make_pipeline(StandardScaler(), make(name), LogisticRegression()).set_output(transform="pandas")
    assert pipeline.fit(FRAME, Y)[-1].feature_names_in_.tolist() == selected(pipeline[1])


@every_selector
def test_a_column_transformer(name: str) -> None:
    table = FRAME.assign(town=np.where(Y == "yes", "Rome", "Oslo"))
    both = ColumnTransformer(
        [
            ("numbers", make(name), make_column_selector(dtype_include=float)),
            ("words", OneHotEncoder(sparse_output=False), ["town"]),
        ]
    )
    result = both.set_output(transform="pandas").fit_transform(table, Y)
    kept = [f"numbers__{column}" for column in selected(both.named_transformers_["numbers"])]
    assert list(result.columns) == [*kept, "words__town_Oslo", "words__town_Rome"]
    assert list(result.index) == list(table.index)
    np.testing.assert_array_equal(both.get_feature_names_out(), result.columns)


@every_selector
def test_a_feature_union(name: str) -> None:
    union = FeatureUnion([("ours", make(name)), ("scaled", StandardScaler())])
    kept = len(selected(make(name).fit(X, Y)))
    assert union.fit_transform(X, Y).shape == (len(X), kept + 5)
    named = union.set_output(transform="pandas").fit_transform(FRAME, Y)
    assert [column.partition("__")[0] for column in named.columns] == ["ours"] * kept + ["scaled"] * 5


@every_selector
def test_cross_validation_and_search(name: str) -> None:
    pipeline = Pipeline([("select", make(name)), ("learn", LogisticRegression())])
    scores = cross_val_score(pipeline, FRAME, Y, cv=3, error_score="raise")
    assert scores.mean() > 0.7
    grid: dict[str, Any] = {"learn__C": [0.1, 10.0]}
    if "n_features_to_select" in pipeline["select"].get_params():
        grid["select__n_features_to_select"] = [1, 3]
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(FRAME, Y)
    assert search.best_estimator_["select"].get_params().keys() == pipeline["select"].get_params().keys()
    assert search.best_score_ > 0.7


def test_a_search_in_several_processes() -> None:
    pipeline = make_pipeline(Screener("fisher"), LogisticRegression())
    grid = {"screener__n_features_to_select": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=2, n_jobs=2, error_score="raise").fit(FRAME, Y)
    assert search.best_score_ > 0.7


# -- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", catalog.names())
@pytest.mark.parametrize("way", ["pickle", "joblib", "deepcopy"])
def test_a_fitted_method_survives_being_copied(name: str, way: str) -> None:
    method = make(name).fit(FRAME, Y)
    if hasattr(method, "set_output"):
        method.set_output(transform="pandas")
    again = copied(method, way)
    assert type(again) is type(method)
    assert again.get_params() == method.get_params()
    same_state(again.state_arrays(), method.state_arrays(), way)
    assert again.feature_names_in_.tolist() == NAMES
    for each in (method, again):
        if hasattr(each, "partial_fit"):
            each.partial_fit(FRAME, Y)
    same_state(again.state_arrays(), method.state_arrays(), f"{way}, and going on")
    if hasattr(method, "transform"):
        pd.testing.assert_frame_equal(again.transform(FRAME), method.transform(FRAME))
    else:
        assert again.predict(FRAME).tolist() == method.predict(FRAME).tolist()


def copied(method: Any, way: str) -> Any:
    if way == "deepcopy":
        return copy.deepcopy(method)
    if way == "pickle":
        return pickle.loads(pickle.dumps(method))
    file = io.BytesIO()
    joblib.dump(method, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize("name", catalog.names())
def test_an_unfitted_method_is_copied_and_cloned(name: str) -> None:
    method = make(name)
    for again in (pickle.loads(pickle.dumps(method)), clone(method), clone(make(name).fit(X, Y))):
        assert again.get_params() == method.get_params()
        assert not hasattr(again, "n_features_in_")
        assert again.fit(X, Y).n_features_in_ == 5


def test_a_pickle_holds_arrays_and_no_lock() -> None:
    selector = Screener("fisher").fit(X, Y)
    selector.note = "mine"
    selector.scores_
    state = selector.__getstate__()
    assert state["attributes"].keys() == selector.get_params().keys() | {"note"}
    assert all(isinstance(array, np.ndarray) for array in state["arrays"].values())
    again = pickle.loads(pickle.dumps(selector))
    assert again.note == "mine"
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(again.scores_.tolist()))
    thread.start()
    thread.join()
    assert answers == [selector.scores_.tolist()]


def test_the_state_in_a_pickle_is_checked() -> None:
    state = Screener("fisher").fit(X, Y).__getstate__()
    state["arrays"]["n_features"] = np.array(7)
    with pytest.raises(SavedStateError, match="instead of 7"):
        Screener.__new__(Screener).__setstate__(state)


def test_a_plan_that_is_not_made_yet_is_made_for_the_copy() -> None:
    classifier = ETANA().partial_fit(X, Y)
    assert pickle.loads(pickle.dumps(classifier)).predict(X).tolist() == classifier.predict(X).tolist()


def test_objects_as_parameters_are_copied_with_the_state() -> None:
    selector = FIRES(model=GLM(), random_state=0).fit(X, Y)
    again = pickle.loads(pickle.dumps(selector))
    assert again.partial_fit(X, Y).scores_.tolist() == selector.partial_fit(X, Y).scores_.tolist()


class Never:
    """A detector that finds nothing, and counts."""

    drift_detected = False
    seen = 0

    def update(self, value: int) -> None:
        self.seen += 1


def test_a_state_with_objects_of_the_users_is_copied_as_it_is() -> None:
    selector = ABFS(20, 0.01, detector=Never()).fit(X, Y)
    again = copy.deepcopy(selector)
    assert again.scores_.tolist() == selector.scores_.tolist()
    assert again._state.objects[0] is not selector._state.objects[0]
    assert [each.seen for each in again._state.objects] == [each.seen for each in selector._state.objects]


def test_a_pickle_is_refused_while_another_thread_is_inside() -> None:
    selector, refused = Screener("fisher").fit(X, Y), []
    inside, leave = threading.Event(), threading.Event()

    class Slow:
        """A matrix that takes its time."""

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            inside.set()
            leave.wait()
            return X

    thread = threading.Thread(target=lambda: selector.transform(Slow()))
    thread.start()
    inside.wait()
    try:
        pickle.dumps(selector)
    except ConcurrentUseError as error:
        refused.append(error)
    finally:
        leave.set()
        thread.join()
    assert len(refused) == 1


@pytest.mark.parametrize("name", catalog.names())
def test_html(name: str) -> None:
    method = make(name)
    assert type(method).__name__ in method._repr_html_()
    assert "fitted" in method.fit(X, Y)._repr_html_()
    assert type(method).__name__ in make_pipeline(method, LogisticRegression())._repr_html_()


# -- the same kind out ------------------------------------------------------------------------------------------------

TABLES = {
    "pandas": FRAME,
    "polars": pl.DataFrame(X, schema=NAMES),
    "pyarrow": pa.table(dict(zip(NAMES, X.T, strict=True))),
    "record batch": pa.RecordBatch.from_arrays([pa.array(column) for column in X.T], names=NAMES),
}


@every_selector
@pytest.mark.parametrize("kind", TABLES)
def test_a_table_comes_back_as_one(name: str, kind: str) -> None:
    table = TABLES[kind]
    selector = make(name).fit(table, Y)
    for again in (selector.transform(table), make(name).fit_transform(table, Y)):
        assert type(again) is type(table)
        names = again.schema.names if kind in ("pyarrow", "record batch") else list(again.columns)
        assert names == selected(selector) == selector.get_feature_names_out().tolist()
        np.testing.assert_array_equal(values(again), X[:, selector.get_support()])
    if kind == "pandas":
        assert again.index.equals(table.index)


SPARSE = [name for name in SELECTORS if catalog.make(name).stream_tags().sparse]


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil"])
def test_a_sparse_matrix_comes_back_as_one(name: str, kind: str) -> None:
    for family in ("matrix", "array"):
        matrix = getattr(sparse, f"{kind}_{family}")(np.where(np.abs(X) < 0.5, 0.0, X))
        selector = make(name).fit(matrix, Y)
        again = selector.transform(matrix)
        assert type(again) is type(matrix)
        np.testing.assert_array_equal(again.toarray(), matrix.toarray()[:, selector.get_support()])


@every_selector
def test_set_output_decides_over_the_kind_given(name: str) -> None:
    for table in [X, *TABLES.values()]:
        selector = make(name).set_output(transform="polars").fit(table, Y)
        again = selector.transform(table)
        assert isinstance(again, pl.DataFrame)
        assert again.columns == selector.get_feature_names_out().tolist()
        np.testing.assert_array_equal(values(again), X[:, selector.get_support()])
    with_pandas = make(name).set_output(transform="pandas").fit_transform(TABLES["pyarrow"], Y)
    assert isinstance(with_pandas, pd.DataFrame)


def test_the_global_output_decides_too() -> None:
    set_config(transform_output="pandas")
    try:
        assert isinstance(Screener("fisher").fit_transform(TABLES["polars"], Y), pd.DataFrame)
    finally:
        set_config(transform_output="default")
    assert isinstance(Screener("fisher").fit_transform(X, Y), np.ndarray)


MIXED = FRAME.assign(
    whole=np.arange(len(X), dtype=np.int32) * (Y == "yes"), town=pd.Categorical(np.where(Y == "yes", "Rome", "Oslo"))
)


@pytest.mark.parametrize("name", ["screen:fisher", "abfs", "penalised:bic"])
def test_types_of_columns_are_kept(name: str) -> None:
    selector = make(name, n_features_to_select=7).fit(MIXED, Y)
    again = selector.transform(MIXED)
    pd.testing.assert_frame_equal(again, MIXED[selector.get_feature_names_out()])
    arrow = pa.Table.from_pandas(MIXED, preserve_index=False)
    assert selector.transform(arrow).equals(arrow.select(again.columns.tolist()))
    turned = MIXED[MIXED.columns[::-1]]
    pd.testing.assert_frame_equal(selector.transform(turned), again)


@pytest.mark.parametrize("kind", TABLES)
def test_a_late_feature_that_is_gone_is_empty(kind: str) -> None:
    selector = Screener("fisher", n_features_to_select=2, new_features="add").fit(TABLES[kind], Y)
    without = FRAME.drop(columns="b").assign(more=1.0)
    table = {
        "pandas": lambda: without,
        "polars": lambda: pl.from_pandas(without),
        "pyarrow": lambda: pa.Table.from_pandas(without, preserve_index=False),
        "record batch": lambda: pa.RecordBatch.from_pandas(without, preserve_index=False),
    }[kind]()
    again = selector.transform(table)
    assert type(again) is type(table)
    found = values(again)
    assert np.isnan(found[:, 0]).all()
    np.testing.assert_array_equal(found[:, 1], X[:, 3])


def test_frames_without_names_keep_their_numbers() -> None:
    numbered = pd.DataFrame(X)
    selector = Screener("fisher", n_features_to_select=2).fit(X, Y)
    assert selector.transform(numbered).columns.tolist() == [1, 3]
    by_name = Screener("fisher", n_features_to_select=2).fit(FRAME, Y)
    assert by_name.transform(numbered).columns.tolist() == [1, 3]


def test_elements_of_lists_are_columns_of_the_result() -> None:
    table = pa.table({"a": X[:, 0], "pair": pa.array(X[:, [1, 2]].tolist(), pa.list_(pa.float64(), 2))})
    selector = Screener("fisher", n_features_to_select=1).fit(table, Y)
    again = selector.transform(table)
    assert again.schema.names == selector.get_feature_names_out().tolist() == ["pair[0]"]
    np.testing.assert_array_equal(values(again)[:, 0], X[:, 1])


def test_nothing_selected_is_a_table_without_columns() -> None:
    frame = FRAME[["a", "c"]]
    selector = catalog.make("osfs").set_params(alpha=1e-12).fit(frame, Y)
    assert selector.transform(frame).shape == (len(X), 0)
    assert isinstance(selector.transform(frame), pd.DataFrame)


def test_the_warning_of_an_empty_selection_stays() -> None:
    with pytest.warns(EmptySelectionWarning):
        ABFS(1000).fit(FRAME, Y).transform(FRAME)
