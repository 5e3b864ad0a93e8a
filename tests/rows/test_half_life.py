"""Fading as a half-life, in rows and in event time, and rows with weights."""

from __future__ import annotations

import copy
import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from streamsift import FSDS, InputError, ParameterError, Screener, load, save
from streamsift.checks.samples import counts_sample, sample

pd = pytest.importorskip("pandas")
CRITERIA = ("t_score", "fisher", "mutual_info", "chi2", "gini")
EVERY = pytest.mark.parametrize("criterion", CRITERIA)


def unequal_times(n: int, seed: int = 1) -> Any:
    """Times that mostly rise by unequal steps; some rows come late."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.exponential(20.0, n))
    return times - np.where(rng.random(n) < 0.1, 100.0, 0.0)


@EVERY
def test_a_half_life_in_rows_is_fading_in_other_words(criterion: str) -> None:
    X, y = sample()
    found = Screener(criterion, half_life=40).fit(X, y)
    wanted = Screener(criterion, fading=0.5 ** (1 / 40)).fit(X, y)
    assert found.scores_.tolist() == wanted.scores_.tolist()
    assert found.fading_ == wanted.fading_


@EVERY
@pytest.mark.parametrize("form", ["dense", "sparse", "categories"])
def test_equal_steps_of_time_are_fading_by_row(criterion: str, form: str) -> None:
    X, y = counts_sample()
    rows: Any = {"dense": X, "sparse": sparse.csr_matrix(X)}.get(form)
    if rows is None:
        rows = pd.DataFrame({"shop": np.array(list("abcde"))[X[:, 2].astype(int)], "size": X[:, 1]})
    by_row = Screener(criterion, half_life=30).fit(rows, y)
    by_time = Screener(criterion, half_life="1h")
    for part in (slice(0, 1), slice(1, 50), slice(50, 120)):
        by_time.partial_fit(rows[part], y[part], time=np.arange(120)[part] * 120.0)  # 30 rows to the hour
    assert by_time.scores_ == pytest.approx(by_row.scores_, rel=1e-9, abs=1e-12)


@EVERY
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("size", [1, 7, 60])
def test_unequal_times_are_weights_at_the_end_however_the_stream_is_cut(criterion: str, form: str, size: int) -> None:
    X, y = counts_sample()
    times = unequal_times(120)
    weight = 0.5 ** ((times.max() - times) / 300.0)
    rows = sparse.csr_matrix(X) if form == "sparse" else X
    wanted = Screener(criterion).partial_fit(rows, y, sample_weight=weight)
    found = Screener(criterion, half_life="5m")
    for first in range(0, 120, size):
        part = slice(first, first + size)
        found.partial_fit(rows[part], y[part], time=times[part])
    assert found.scores_ == pytest.approx(wanted.scores_, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_moments_with_weights_are_those_of_the_textbook(form: str) -> None:
    X, y = sample(n_classes=2)
    weight = np.random.default_rng(0).uniform(0.1, 5.0, len(y))
    rows = sparse.csr_matrix(X) if form == "sparse" else X
    found = Screener("t_score").partial_fit(rows[:50], y[:50], sample_weight=weight[:50])
    found.partial_fit(rows[50:], y[50:], sample_weight=weight[50:])
    moments = found._state.numbers.read()
    for label in (0, 1):
        w, values = weight[y == label][:, None], X[y == label]
        mean = (w * values).sum(axis=0) / w.sum()
        code = found.classes_.tolist().index(label)
        assert np.broadcast_to(moments.weight[code], mean.shape) == pytest.approx(np.full(5, w.sum()), rel=1e-12)
        assert moments.mean[code] == pytest.approx(mean, rel=1e-9)
        assert moments.m2[code] == pytest.approx((w * (values - mean) ** 2).sum(axis=0), rel=1e-9)


@pytest.mark.parametrize("make", [lambda: Screener("t_score"), lambda: Screener("fisher"), lambda: FSDS(3)])
def test_whole_weights_are_repeated_rows(make: Any) -> None:
    X, y = sample()
    times = np.random.default_rng(0).integers(1, 4, len(y))
    found = make().partial_fit(X, y, sample_weight=times)
    wanted = make().partial_fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert found.scores_ == pytest.approx(wanted.scores_, rel=1e-9)


@EVERY
def test_weights_of_categories_count(criterion: str) -> None:
    rng = np.random.default_rng(0)
    shop = rng.choice(list("abc"), 200)
    y = np.where(rng.random(200) < 0.7, shop == "a", rng.random(200) < 0.5).astype(int)
    times = rng.integers(1, 4, 200)
    table = pd.DataFrame({"shop": shop})
    found = Screener(criterion, n_features_to_select=1).partial_fit(table, y, sample_weight=times)
    wanted = Screener(criterion, n_features_to_select=1).fit(
        table.iloc[np.repeat(np.arange(200), times)], y.repeat(times)
    )
    mine, theirs = (each._state.categories.tables()[0] for each in (found, wanted))
    assert mine.weights.tolist() == theirs.weights.tolist()


def test_the_time_may_be_a_column_of_any_table() -> None:
    X, y = sample()
    seconds = unequal_times(120)
    wanted = Screener("fisher", half_life="5m", n_features_to_select=2)
    wanted.partial_fit(pd.DataFrame(X, columns=list("abcde")), y, time=seconds)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.insert(2, "ts", pd.to_datetime(seconds, unit="s", utc=True))
    polars = pytest.importorskip("polars")
    tables = {
        "pandas": frame,
        "polars": polars.from_pandas(frame),
        "dicts": frame.assign(ts=seconds).to_dict("records"),
    }
    for name, table in tables.items():
        found = Screener("fisher", half_life="5m", time="ts", n_features_to_select=2).fit(table, y)
        assert found.feature_names_in_.tolist() == list("abcde"), name
        assert found.scores_ == pytest.approx(wanted.scores_, rel=1e-6), name
        assert found.transform(table).shape == (120, 2), name
        assert found.transform(frame.drop(columns="ts")).shape == (120, 2), name
    moments = [datetime.datetime.fromtimestamp(second, datetime.UTC) for second in seconds]
    for times in (moments, pd.Series(moments), np.array(seconds * 1e6, "M8[us]")):
        again = Screener("fisher", half_life="5m", n_features_to_select=2).partial_fit(X, y, time=times)
        assert again.scores_ == pytest.approx(wanted.scores_, rel=1e-6)


def test_a_late_row_weighs_less_and_ages_nobody() -> None:
    X, y = sample(60)
    on_time = Screener("t_score", half_life="1m").partial_fit(X[:50], y[:50], time=np.arange(50.0))
    weights = on_time._state.numbers.read().weight.sum()
    on_time.partial_fit(X[50:51], y[50:51], time=[-11.0])
    assert on_time._state.numbers.read().weight.sum() == pytest.approx(weights + 0.5)
    on_time.partial_fit(X[51:52], y[51:52], time=[109.0])  # a minute later all others weigh half
    assert on_time._state.numbers.read().weight.sum() == pytest.approx(0.5 * (weights + 0.5) + 1.0)


@EVERY
def test_a_long_silence_forgets_everything_and_nothing_breaks(criterion: str) -> None:
    X, y = sample()
    found = Screener(criterion, half_life="1s").partial_fit(X[:60], y[:60], time=np.zeros(60))
    found.partial_fit(X[60:], y[60:], time=np.full(60, 1e9))
    found.partial_fit(X[:1], y[:1], time=[0.0])  # a very late row
    assert np.isfinite(found.scores_).all()


@EVERY
def test_saving_keeps_the_clock(criterion: str, tmp_path: Path) -> None:
    X, y = sample()
    times = unequal_times(120)
    whole = Screener(criterion, half_life="5m").partial_fit(X, y, time=times)
    first = Screener(criterion, half_life="5m").partial_fit(X[:60], y[:60], time=times[:60], sample_weight=None)
    save(first, tmp_path / "first")
    again = load(tmp_path / "first").partial_fit(X[60:], y[60:], time=times[60:])
    assert again.scores_ == pytest.approx(whole.scores_, rel=1e-9)
    heavy = Screener(criterion).partial_fit(X, y, sample_weight=np.full(len(y), 1000.0))
    save(heavy, tmp_path / "heavy")
    assert load(tmp_path / "heavy").scores_.tolist() == heavy.scores_.tolist()


def test_rows_without_label_take_their_times_with_them() -> None:
    X, y = sample()
    labels = np.where(np.arange(120) % 3 == 0, np.nan, y)
    kept, times = ~np.isnan(labels), unequal_times(120)
    found = Screener("fisher", half_life="5m").partial_fit(X, labels, time=times)
    wanted = Screener("fisher", half_life="5m").partial_fit(X[kept], y[kept], time=times[kept])
    assert found.scores_ == pytest.approx(wanted.scores_, rel=1e-12)
    assert found.n_rows_unlabelled_ == 40


@pytest.mark.parametrize(
    ("parameters", "more", "kind", "words"),
    [
        ({"half_life": 10, "fading": 0.9}, {}, ParameterError, "two ways to say the same"),
        ({"half_life": "1h", "fading": "auto"}, {"time": [0.0] * 9}, ParameterError, "two ways to say the same"),
        ({"half_life": "1h"}, {}, ParameterError, "needs the time of each row"),
        ({"half_life": 10}, {"time": [0.0] * 9}, ParameterError, "a text such as '1h'"),
        ({"half_life": "soon"}, {}, ParameterError, "'half_life'"),
        ({"half_life": 0}, {}, ParameterError, "'half_life'"),
        ({"half_life": "1h"}, {"time": [0.0] * 8}, InputError, "8 times for 9 rows"),
        ({"half_life": "1h"}, {"time": [0.0] * 8 + [np.nan]}, InputError, "Row 8 has no time"),
        ({"half_life": "1h"}, {"time": ["now"] * 9}, InputError, "Row 0 has the time 'now'"),
        ({"half_life": "1h", "time": "ts"}, {}, InputError, "no column names"),
        ({}, {"sample_weight": [1e9] * 9}, InputError, "at most 1e"),
        ({"fading": "auto"}, {"sample_weight": [1.0] * 9}, ParameterError, "leave sample_weight out"),
    ],
)
def test_what_cannot_be_is_refused_in_words(parameters: Any, more: Any, kind: type[Exception], words: str) -> None:
    X, y = sample(9)
    with pytest.raises(kind, match=words):
        Screener("fisher", **parameters).partial_fit(X, y, **more)


def test_a_column_that_is_no_time_is_refused() -> None:
    table = pd.DataFrame({"ts": list("abcd"), "x": [1.0, 2.0, 3.0, 4.0], "when": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(InputError, match="'ts' of X holds text"):
        Screener(half_life="1h", time="ts").fit(table, [0, 1, 0, 1])
    with pytest.raises(InputError, match=r"no column 'wen' with the times.*'when'"):
        Screener(half_life="1h", time="wen").fit(table, [0, 1, 0, 1])


def test_selectors_with_event_time_are_merged_by_their_times() -> None:
    X, y = sample()
    when = np.arange(len(y)) * 60.0
    whole, early, late = (Screener("fisher", half_life="1h") for _ in range(3))
    whole.partial_fit(X, y, time=when)
    early.partial_fit(X[:50], y[:50], time=when[:50])
    late.partial_fit(X[50:], y[50:], time=when[50:])
    for first, second in ((early, late), (late, early)):
        np.testing.assert_allclose(copy.deepcopy(first).merge(second).scores_, whole.scores_, rtol=1e-9)
