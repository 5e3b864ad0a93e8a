"""Row selectors as transformers of river, and river's detectors and learners in our runs."""

from __future__ import annotations

import builtins
import pickle
from typing import Any

import numpy as np
import pytest

from streamsift import ABFS, FIRES, FSDS, OFS, InputError, ParameterError, Screener, catalog
from streamsift.core.exceptions import MissingExtraError
from streamsift.evaluate.prequential import prequential
from streamsift.interop import river as interop

pytest.importorskip("river", reason="skipped: no river")
pd = pytest.importorskip("pandas")

from river import checks, compose, datasets, drift, evaluate, linear_model, metrics, preprocessing, tree  # noqa: E402
from streamsift.interop.river import Selector  # noqa: E402


def made(name: str) -> Any:
    parameters: dict[str, Any] = {} if name == "abfs" else {"n_features_to_select": 2}
    if name.startswith("fires"):
        parameters["random_state"] = 0
    return catalog.make(name, **parameters)


CHECKED = ["screen:t_score", "screen:mutual_info", "fires", "ofs", "efs", "fsds", "abfs"]
SLOW = {"check_bounded_memory_growth", "check_pickling"}  # thousands of rows: once is enough
APPROVAL = 41.0  # about the median of the target of river's checks, which is a number for every transformer


class ClassesOfApproval(Selector):
    """A selector for classes under checks that give numbers: it is told on which side of the median they are."""

    def learn_one(self, x: Any, y: Any = None) -> None:
        super().learn_one(x, y if y is None else y > APPROVAL)

    def learn_many(self, X: Any, y: Any = None) -> None:
        super().learn_many(X, y if y is None else y > APPROVAL)


@pytest.mark.compiled
@pytest.mark.parametrize("name", CHECKED)
def test_the_checks_of_river_pass(name: str) -> None:
    model = ClassesOfApproval(made(name))
    ran = 0
    for check in checks.yield_checks(model):
        if check.__name__ in model._unit_test_skips() or (check.__name__ in SLOW and name != "screen:t_score"):
            continue
        check(model.clone())
        ran += 1
    assert ran > 15


def test_numbers_are_not_taken_for_classes_row_by_row() -> None:
    """The target of river's own checks, and of its regression streams."""
    with pytest.raises(InputError, match="in the first 22 rows: set task='regression'"):
        checks.common.check_learn_one(Selector(FIRES()), datasets.TrumpApproval().take(200))
    selector = Selector(FIRES(task="regression", random_state=0))
    checks.common.check_learn_one(selector, datasets.TrumpApproval().take(200))


def test_only_a_method_with_fixed_features_skips_checks() -> None:
    assert [name for name in catalog.names("rows") if Selector(made(name))._unit_test_skips()] == ["abfs"]


def rows(n: int = 300, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 5))
    X[:, 3] += 2 * y
    return pd.DataFrame(X, columns=list("edcba")), pd.Series(y)


@pytest.mark.parametrize("batch_size", [1, 7, 50])
@pytest.mark.parametrize("name", catalog.names("rows"))
def test_many_rows_are_learnt_like_one_by_one(name: str, batch_size: int) -> None:
    X, y = rows(60)
    one, many = Selector(made(name), batch_size), Selector(made(name), batch_size)
    for x, label in zip(X.to_dict("records"), y.tolist(), strict=True):
        one.learn_one(x, label)
    at = 0
    for n in (3, 1, 20, 36):
        many.learn_many(X[at : at + n], y[at : at + n])
        at += n
    assert many.n_rows_waiting == one.n_rows_waiting == 60 % batch_size
    assert many.selection().names == one.selection().names
    assert many.selection().scores == pytest.approx(one.selection().scores, rel=1e-9)


def test_numbers_equal_those_of_the_selector_itself() -> None:
    X, y = rows()
    model = Selector(Screener("fisher", n_features_to_select=2), 100)
    model.learn_many(X, y)
    alone = Screener("fisher", n_features_to_select=2).fit(X[sorted(X.columns)], y)
    assert model.selection().names == alone.selection().names
    assert model.selection().scores.tolist() == alone.selection().scores.tolist()


def test_keys_come_and_go() -> None:
    X, y = rows()
    for selector in (Screener("t_score", n_features_to_select=2), OFS(2), FIRES(n_features_to_select=2)):
        model = Selector(selector, 4)
        for place, (x, label) in enumerate(zip(X.to_dict("records"), y.tolist(), strict=True)):
            if place < 100 or place % 3 == 0:
                del x["c"]
            if place % 5 == 0:
                x["a"] = None  # a value of None is no value
            model.learn_one(x, label)
        model.flush()
        assert "b" in model.selection().names
        assert set(model._keys) == set("abcde")
        assert "b" not in model.transform_one({"a": 1.0, "zzz": 2.0})


def test_a_missing_key_is_a_missing_value() -> None:
    X, y = rows()
    holes = X.where(np.random.default_rng(1).random(X.shape) > 0.2)
    model = Selector(Screener("t_score"), 10)
    for x, label in zip(holes.to_dict("records"), y.tolist(), strict=True):
        model.learn_one({key: value for key, value in x.items() if value == value}, label)
    alone = Screener("t_score", missing="skip").fit(holes[sorted(X.columns)], y)
    assert model.selection().names == alone.selection().names
    assert model.selection().scores == pytest.approx(alone.selection().scores, rel=1e-12)


def test_text_is_a_category() -> None:
    rng = np.random.default_rng(0)
    for selector in (Screener(n_features_to_select=1), FIRES(n_features_to_select=1), ABFS(100, categorical=None)):
        model = Selector(selector, 5)
        for _ in range(400):
            shop = str(rng.choice(["north", "south", "east"]))
            model.learn_one({"price": rng.normal(), "shop": shop, "open": bool(rng.random() < 0.5)}, shop == "east")
        assert model.selection().names[0] == "shop"
        assert model.transform_one({"price": 1.0, "shop": "west"}) == {"shop": "west"}


def test_a_column_that_changes_its_kind_is_refused_and_nothing_changes() -> None:
    model = Selector(Screener(n_features_to_select=1))
    for value, label in ((1.0, "a"), (2.0, "b")):
        model.learn_one({"x": value}, label)
    before = model.selection().scores
    with pytest.raises(InputError, match="'x'"):
        model.learn_one({"x": "north"}, "a")
    assert model.selection().scores == before
    assert model.n_rows_waiting == 0


def test_names_may_be_numbers_but_not_twice_the_same() -> None:
    model = Selector(Screener("t_score", n_features_to_select=1))
    for value, label in ((0.0, 0), (1.0, 1), (0.2, 0), (1.2, 1)):
        model.learn_one({0: 3.0 + value % 0.7, 1: value}, label)
    assert model.transform_one({0: 5.0, 1: 6.0}) == {1: 6.0}
    with pytest.raises(InputError, match="Two features are called '1'"):
        model.learn_one({1: 1.0, "1": 2.0}, 0)


def test_before_anything_is_learnt_all_features_pass() -> None:
    model = Selector(Screener(), 10)
    model.learn_one({"a": 1.0}, 0)
    assert model.transform_one({"a": 1.0, "b": 2.0}) == {"a": 1.0, "b": 2.0}
    assert model.transform_many(rows()[0]).shape == (300, 5)
    with pytest.raises(InputError, match="1 wait for a full batch: call flush"):
        model.selection()


def test_rows_without_label_are_left_out() -> None:
    model = Selector(Screener("t_score", n_features_to_select=1))
    model.learn_one({"a": 1.0, "b": 2.0}, None)
    assert model.transform_one({"a": 1.0, "b": 2.0}) == {"a": 1.0, "b": 2.0}
    for value, label in ((0.0, 0), (1.0, 1), (0.2, 0), (9.0, None), (1.2, 1)):
        model.learn_one({"a": 3.0 + value % 0.7, "b": value}, label)
    assert model.selection().names == ("b",)
    assert model._own.n_rows_unlabelled_ == 2


def test_tables_of_every_package() -> None:
    X, y = rows()
    tables = {"pandas": X}
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    tables |= {"polars": polars.from_pandas(X), "pyarrow": arrow.Table.from_pandas(X, preserve_index=False)}
    for name, table in tables.items():
        model = Selector(Screener("t_score", n_features_to_select=1), 70)
        model.learn_many(table, y.tolist())
        kept = model.transform_many(table)
        assert type(kept).__module__.partition(".")[0] == name
        assert kept.shape == (300, 1)
        assert model.n_rows_waiting == 300 % 70
    with pytest.raises(InputError, match="give a table"):
        model.learn_many([1.0, 2.0])
    with pytest.raises(InputError, match="300 rows but y has 2 labels"):
        model.learn_many(X, [0, 1])


@pytest.mark.parametrize("batch_size", [1, 25])
def test_pipelines_and_unions_in_progressive_val_score(batch_size: int) -> None:
    def score(transformer: Any) -> float:
        model = preprocessing.StandardScaler() | transformer | linear_model.LogisticRegression()
        return float(evaluate.progressive_val_score(datasets.Phishing().take(600), model, metrics.Accuracy()).get())

    three = Selector(Screener("t_score", n_features_to_select=3), batch_size)
    assert score(three) > 0.8
    assert score(Selector(FIRES(n_features_to_select=3, random_state=0), batch_size)) > 0.7
    assert score(three.clone() + compose.Select("age_of_domain")) > 0.8
    assert score(Selector(FSDS(3), 10)) > 0.4


def test_tables_go_through_pipelines_of_river() -> None:
    X, y = rows()
    model = compose.Pipeline(
        Selector(Screener("t_score", n_features_to_select=1), 50), linear_model.LogisticRegression()
    )
    for first in range(0, 300, 50):
        model.learn_many(X[first : first + 50], y[first : first + 50].astype(bool))
    assert (model.predict_many(X) == y.astype(bool)).mean() > 0.75
    assert list(model["Selector"].transform_many(X).columns) == ["b"]


def test_a_copy_learns_and_pickles_go_on() -> None:
    X, y = rows()
    given = Screener("t_score", n_features_to_select=1)
    model = Selector(given, 7)
    model.learn_many(X[:100], y[:100])
    assert not hasattr(given, "n_rows_seen_")
    again = pickle.loads(pickle.dumps(model))
    for each in (model, again):
        each.learn_many(X[100:], y[100:])
    assert again.selection().scores.tolist() == model.selection().scores.tolist()
    assert type(again) is Selector


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ParameterError, match="batch_size"):
        Selector(Screener(), 0)
    with pytest.raises(ParameterError, match="selector"):
        Selector("screen:t_score")
    with pytest.raises(AttributeError, match="no attribute 'Selectors'"):
        interop.Selectors  # type: ignore[attr-defined]


def test_missing_river_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = builtins.__import__

    def without_river(name: str, *arguments: Any, **more: Any) -> Any:
        if name.startswith("river"):
            raise ImportError(name)
        return whole(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without_river)
    with pytest.raises(MissingExtraError, match=r"streamsift\[river\]"):
        interop._selector_class.__wrapped__()


# -- river in our runs ----------------------------------------------------------------------------------------------


def changing(n: int = 3000) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = (X[:, 1] > 0).astype(int)
    y[n // 2 :] = 1 - y[n // 2 :]
    return X, y


DETECTORS = {
    "adwin": drift.ADWIN,
    "page hinkley": drift.PageHinkley,
    "ddm": drift.binary.DDM,
    "hddm": drift.binary.HDDM_A if hasattr(drift.binary, "HDDM_A") else drift.binary.HDDMA,
}


@pytest.mark.parametrize("name", DETECTORS)
def test_detectors_of_river_watch_the_model(name: str) -> None:
    X, y = changing()
    given = DETECTORS[name]()
    plain = prequential((X, y), Screener("t_score", n_features_to_select=2), "naive_bayes")
    watched = prequential((X, y), Screener("t_score", n_features_to_select=2), "naive_bayes", detector=given)
    assert watched.summary()["accuracy"] > plain.summary()["accuracy"] + 0.1
    found = [record["row"] for record in watched.table.to_pylist() if record["drift_found"]]
    assert found
    assert 1500 < found[0] <= 2500
    assert not any(record["drift_found"] for record in plain.table.to_pylist())
    assert not given.drift_detected


@pytest.mark.parametrize("detector", [drift.ADWIN, drift.binary.DDM])
def test_detectors_of_river_inside_the_selector(detector: Any) -> None:
    X, y = changing()
    trace = prequential((X, y), ABFS(200, detector=detector()), "naive_bayes")
    assert any(record["drift_found"] for record in trace.table.to_pylist())


def test_learners_of_river_with_their_own_detectors() -> None:
    X, y = changing()
    model = drift.DriftRetrainingClassifier(tree.HoeffdingTreeClassifier(), drift.binary.DDM())
    trace = prequential((X, y), Screener("t_score", n_features_to_select=2), model)
    assert trace.summary()["accuracy"] > 0.7


def test_what_is_no_detector_is_refused() -> None:
    with pytest.raises(ParameterError, match="detector"):
        prequential(changing(100), None, "naive_bayes", detector="adwin")
