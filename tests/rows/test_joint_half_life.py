"""Half-lives of Joint, in rows and in event time; FSDS; and both inside of what passes rows on."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from tests.naive import joint as naive
from tests.naive.fsds import fsds

from streamsift import FSDS, InputError, Joint, ParameterError, StreamPipeline, load, save
from streamsift.rows import joint as joint_module

pd = pytest.importorskip("pandas")
Floats = NDArray[np.float64]
RULES = ("forward", "mrmr", "ols", "lasso", "elastic_net", "mcp", "fsa")
HALF_LIFE = 300.0  # seconds: "5m"
MISSING = {"dense": "error", "sparse": "error", "gaps": "skip"}


def stream(form: str = "dense", n: int = 160) -> tuple[Any, NDArray[np.int64], Floats]:
    """Rows, classes and times that mostly rise, by unequal steps; what tells something changes half way."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, n)
    X = rng.poisson(0.7, (n, 6)) * rng.normal(1.0, 0.5, (n, 6))
    X[: n // 2, 1] += y[: n // 2]
    X[n // 2 :, 4] += y[n // 2 :]
    times = np.cumsum(rng.exponential(20.0, n)) - np.where(rng.random(n) < 0.1, 100.0, 0.0)
    if form == "gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
    return csr_matrix(X) if form == "sparse" else X, y, times


def fed(selector: Any, X: Any, y: Any, times: Any, size: int = 30) -> Any:
    for first in range(0, len(y), size):
        part = slice(first, first + size)
        selector.partial_fit(X[part], y[part], time=times[part])
    return selector


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", MISSING)
def test_times_are_weights_at_the_end(rule: str, form: str) -> None:
    X, y, times = stream(form)
    weight = 0.5 ** ((times.max() - times) / HALF_LIFE)
    wanted = Joint(rule, n_features_to_select=3, missing=MISSING[form]).partial_fit(X, y, sample_weight=weight)
    for size in (1, 30):
        found = fed(Joint(rule, n_features_to_select=3, missing=MISSING[form], half_life="5m"), X, y, times, size)
        assert found.path_.order.tolist() == wanted.path_.order.tolist()
        np.testing.assert_allclose(found.scores_, wanted.scores_, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("form", MISSING)
def test_moments_are_those_of_the_naive_twin(form: str) -> None:
    X, y, times = stream(form)
    found = fed(Joint(half_life="5m", missing=MISSING[form]), X, y, times)._state.cross
    dense = X.toarray() if form == "sparse" else X
    classes = list(dict.fromkeys(y.tolist()))
    weights = [0.5 ** ((times.max() - t) / HALF_LIFE) for t in times]
    weight, mean, cross = naive.cross_moments(dense, naive.columns_of(y, classes), weights)
    np.testing.assert_allclose(np.broadcast_to(found.weight, weight.shape), weight, rtol=1e-9)
    np.testing.assert_allclose(np.broadcast_to(found.mean, mean.shape), mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.cross, np.tril(cross), rtol=1e-8, atol=1e-9)


def test_numbers_and_products_fade_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, times = stream()
    target = X[:, 0] * X[:, 2] + np.where(times < times[80], X[:, 1], X[:, 4])
    weight = 0.5 ** ((times.max() - times) / HALF_LIFE)
    settings: dict[str, Any] = {"task": "regression", "interactions": "pairs", "n_features_to_select": 3}
    wanted = Joint(**settings).partial_fit(X, target, sample_weight=weight)
    monkeypatch.setattr(joint_module, "ROWS_AT_ONCE", 150)  # a batch is cut into several, and time goes on once
    found = fed(Joint(**settings, half_life="5m"), X, target, times)
    np.testing.assert_allclose(found.scores_, wanted.scores_, rtol=1e-7)


@pytest.mark.parametrize("form", MISSING)
def test_parts_are_merged_by_their_times_in_any_order(form: str, tmp_path: Path) -> None:
    X, y, times = stream(form)
    make: dict[str, Any] = {"half_life": "5m", "missing": MISSING[form], "n_features_to_select": 3}
    whole = fed(Joint(**make), X, y, times)
    shuffled = np.random.default_rng(0).permutation(len(y))
    parts = [fed(Joint(**make), X[rows], y[rows], times[rows]) for rows in np.array_split(shuffled, 3)]
    save(parts[1], tmp_path / "part")
    for first, second, third in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        merged = copy.deepcopy(parts[first]).merge(load(tmp_path / "part") if second == 1 else parts[second])
        merged.merge_later(parts[third])
        np.testing.assert_allclose(merged.scores_, whole.scores_, rtol=1e-7, atol=1e-12)
        assert merged._latest == times.max()


def test_saving_keeps_the_clock(tmp_path: Path) -> None:
    X, y, times = stream()
    save(fed(Joint(half_life="5m"), X[:90], y[:90], times[:90]), tmp_path / "first")
    again = fed(load(tmp_path / "first"), X[90:], y[90:], times[90:])
    np.testing.assert_allclose(again.scores_, fed(Joint(half_life="5m"), X, y, times).scores_, rtol=1e-9)


def test_the_pool_is_looked_through_again_when_time_has_gone_by() -> None:
    """With more features than the pool holds, what tells something after a long silence gets in within a few rows."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 660)
    X = rng.normal(size=(660, 9))
    X[:600, :2] += 2.0 * y[:600, None]
    X[600:, 6:8] += 2.0 * y[600:, None]
    times = np.r_[np.arange(600.0), 10_000.0 + np.arange(60.0)]
    settings: dict[str, Any] = {"max_pool": 3, "n_features_to_select": 2}
    found = fed(Joint(**settings, half_life="1m"), X, y, times, size=20)
    assert set(found.selected_) == {"x6", "x7"}
    by_number = Joint(**settings)
    for first in range(0, 660, 20):
        by_number.partial_fit(X[first : first + 20], y[first : first + 20])
    assert set(by_number.selected_) == {"x0", "x1"}


def test_a_long_silence_forgets_everything_and_nothing_breaks() -> None:
    X, y, _ = stream("gaps")
    for selector in (Joint(half_life="1s", missing="skip"), Joint(half_life="1s", missing="skip", max_pool=2)):
        selector.partial_fit(X[:60], y[:60], time=np.zeros(60))
        selector.partial_fit(X[60:], y[60:], time=np.full(100, 1e9))
        selector.partial_fit(X[:1], y[:1], time=[0.0])  # a very late row
        alone = Joint(missing="skip", max_pool=selector.max_pool).partial_fit(X[60:], y[60:])
        if selector.max_pool > 6:
            np.testing.assert_allclose(selector.scores_, alone.scores_, rtol=1e-7)
        assert np.isfinite(selector.scores_).all()


def test_the_time_may_be_a_column_beside_categories() -> None:
    X, y, times = stream()
    table = pd.DataFrame(X, columns=list("abcdef")).assign(shop=np.array(["north", "south", "east"])[y])
    wanted = fed(Joint(half_life="5m", n_features_to_select=2), table, y, times)
    table.insert(1, "at", pd.to_datetime(times, unit="s", utc=True))
    found = Joint(half_life="5m", time="at", n_features_to_select=2).fit(table, y)
    assert found.feature_names_in_.tolist() == [*"abcdef", "shop"]
    assert found.selected_[0] == "shop"
    np.testing.assert_allclose(found.scores_, wanted.scores_, rtol=1e-6, atol=1e-9)
    assert found.transform(table).columns.tolist() == wanted.transform(table.drop(columns="at")).columns.tolist()


def test_a_pipeline_and_river_pass_the_times_on() -> None:
    pytest.importorskip("river")
    from streamsift.interop.river import Selector

    X, y, times = stream()
    table = pd.DataFrame(X, columns=list("abcdef")).assign(at=times)
    settings: dict[str, Any] = {"half_life": "5m", "time": "at", "n_features_to_select": 2}
    wanted = fed(Joint(half_life="5m", n_features_to_select=2), table.drop(columns="at"), y, times)
    pipeline = StreamPipeline([("select", Joint(**settings)), ("learn", _Learner())])
    for first in range(0, len(y), 40):
        pipeline.partial_fit(table[first : first + 40], y[first : first + 40])
    np.testing.assert_allclose(pipeline.named_steps["select"].scores_, wanted.scores_, rtol=1e-7)
    for dates in (False, True):
        rows = table.assign(at=pd.to_datetime(times, unit="s")) if dates else table
        selector = Selector(Joint(**settings), batch_size=40)
        for row, label in zip(rows.to_dict("records"), y.tolist(), strict=True):
            selector.learn_one(row, label)
        assert sorted(selector.transform_one(rows.iloc[0].to_dict())) == sorted(wanted.selected_)
        assert sorted(selector.transform_many(rows).columns) == sorted(wanted.selected_)


def _Learner() -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(random_state=0)


@pytest.mark.parametrize("make", [Joint, FSDS])
def test_what_cannot_be_is_refused_in_words(make: Any) -> None:
    X, y, times = stream(n=9)
    for settings, more, kind, words in (
        ({"half_life": 10, "fading": 0.9}, {}, ParameterError, "two ways to say the same"),
        ({"half_life": "1h"}, {}, ParameterError, "needs the time of each row"),
        ({"half_life": 10}, {"time": times}, ParameterError, "a text such as '1h'"),
        ({"half_life": "soon"}, {}, ParameterError, "'half_life'"),
        ({"half_life": "1h"}, {"time": times[:8]}, InputError, "8 times for 9 rows"),
        ({"half_life": "1h", "time": "ts"}, {}, InputError, "no column names"),
    ):
        with pytest.raises(kind, match=words):
            make(**settings).partial_fit(X, y, **more)
    if make is Joint:
        with pytest.raises(InputError, match=r"Row 4 has the weight 1e\+09"):
            Joint().partial_fit(X, y, sample_weight=[0, 0, 1, 1, 1e9, 1, 1, 1, 1])


# -- FSDS ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"fading": 0.98}, {"half_life": 40}, {"half_life": "5m"}], ids=str)
def test_a_sketch_that_is_large_enough_weighs_rows_exactly(settings: dict[str, Any]) -> None:
    X, y, times = stream()
    rows = np.arange(len(y))[::-1]
    weight = {"fading": 0.98**rows, "half_life": 0.5 ** (rows / 40)}[next(iter(settings))]
    times = times if settings == {"half_life": "5m"} else None
    if times is not None:
        weight = 0.5 ** ((times.max() - times) / HALF_LIFE)
    found = FSDS(3, sketch_size=8, **settings)
    for first in range(0, len(y), 30):
        part = slice(first, first + 30)
        found.partial_fit(X[part], time=None if times is None else times[part])
    wanted = FSDS(3, sketch_size=8).partial_fit(X, sample_weight=weight)
    np.testing.assert_allclose(found.scores_, wanted.scores_, rtol=1e-8)


def test_a_small_sketch_fades_as_its_naive_twin() -> None:
    X, _, _ = stream()
    batches = np.array_split(X, 5)
    found = FSDS(3, sketch_size=4, fading=0.97)
    for batch, (scores, _) in zip(batches, fsds(batches, 4, fading=0.97), strict=True):
        np.testing.assert_allclose(found.partial_fit(batch).scores_, scores, rtol=1e-8)
