"""The Screener's bin scores against a target that is a number, cut at its running quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks import target_bins
from scipy import sparse, stats
from tests.naive import screening as naive
from tests.naive.target_cells import running_bins

from streamsift import InputError, ParameterError, Screener, catalog, persist
from streamsift.core.exceptions import MergeError, SavedStateError
from streamsift.engines import select
from streamsift.streams import generate

CRITERIA = ("mutual_info", "chi2", "gini")


def screener(criterion: str = "mutual_info", **settings: Any) -> Screener:
    return Screener(criterion, task="regression", **settings)


def rows(n_rows: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Five features of which the square of the third and, a little, the last tell the number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    return X, 3.0 * X[:, 2] ** 2 + X[:, 4] + rng.normal(size=n_rows) * 0.5


def in_batches(selector: Screener, X: Any, y: Any, size: int, weight: Any = None) -> Screener:
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        selector.partial_fit(X[part], y[part], sample_weight=None if weight is None else weight[part])
    return selector


def expected(criterion: str, X: np.ndarray, bins: np.ndarray, fading: float = 1.0) -> list[float]:
    """The paper's values by the naive formulas."""
    n_bins = int(bins.max()) + 1
    formula = getattr(naive, criterion)
    return [formula(naive.bin_counts(x, bins, 5, n_bins, fading)) for x in X.T]


TARGETS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "falling": lambda rng, n: -np.arange(n) - 0.5,
    "skewed": lambda rng, n: rng.lognormal(sigma=3.0, size=n),
    "many zeros": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n)),
    "whole": lambda rng, n: rng.poisson(40.0, n).astype(float),
    "few": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "one": lambda rng, n: np.full(n, 3.25),
    "huge": lambda rng, n: rng.normal(size=n) * 1e149,
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-300,
    "jump": lambda rng, n: rng.normal(size=n) + 1e6 * (np.arange(n) > n / 2),
}


@pytest.mark.parametrize("name", list(TARGETS))
@pytest.mark.parametrize("fading", [1.0, 0.97])
def test_values_equal_the_naive_twin(name: str, fading: float) -> None:
    rng = np.random.default_rng(list(TARGETS).index(name))
    X, y = rng.normal(size=(250, 3)), TARGETS[name](rng, 250)
    X[:, 1] += stats.rankdata(y) / 50
    bins = running_bins(y, 5, np.ones(250), fading)
    for criterion in CRITERIA:
        selector = in_batches(screener(criterion, fading=fading), X, y, 41)
        np.testing.assert_allclose(
            selector.criterion_values_, expected(criterion, X, bins, fading), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("target_bins", [2, 3, 12])
def test_the_number_of_bins_is_the_callers(target_bins: int) -> None:
    X, y = rows(400)
    selector = screener(target_bins=target_bins).partial_fit(X, y)
    bins = running_bins(y, target_bins, np.ones(400))
    assert bins.max() + 1 == target_bins
    np.testing.assert_allclose(selector.criterion_values_, expected("mutual_info", X, bins), rtol=1e-9)


def test_bins_are_about_those_of_the_exact_quantiles() -> None:
    rng = np.random.default_rng(1)
    n_rows = 4000
    for name in ("normal", "sorted", "skewed", "jump"):
        y = TARGETS[name](rng, n_rows)
        exact = np.floor((stats.rankdata(y) - 0.5) / n_rows * 5).astype(int)
        found = running_bins(y, 5, np.ones(n_rows))
        assert np.mean(found != exact) < 0.2, name  # half a cell, a fortieth, on either side of four borders
        assert np.mean(np.abs(found - exact) > 1) < 0.02, name
        assert np.bincount(found).max() < 0.3 * n_rows, name


def test_the_table_of_the_documentation_is_measured_as_it_says() -> None:
    """A small version of `python -m benchmarks.target_bins`: in another bin, in the heaviest bin, information kept."""
    y = np.random.default_rng(0).permutation(np.arange(1000.0))
    np.testing.assert_array_equal(target_bins.running_bins(y), running_bins(y, 5, np.ones(1000)))
    for name in target_bins.TARGETS:
        for figures in target_bins.cut_row(name, 0, 2000)[1:]:
            other, heaviest, kept = map(float, figures.split(" · "))
            assert other < 0.3, name
            assert heaviest < 0.6, name
            assert 0.75 < kept < 1.05, name


@pytest.mark.parametrize("size", [1, 7, 300])
def test_the_cut_into_batches_does_not_matter(size: int) -> None:
    X, y = rows()
    for fading in (1.0, 0.97):
        whole = screener(fading=fading).partial_fit(X, y)
        cut = in_batches(screener(fading=fading), X, y, size)
        np.testing.assert_allclose(cut.scores_, whole.scores_, rtol=1e-10, atol=1e-15)
        for name in ("means", "weights", "codes"):
            np.testing.assert_array_equal(
                cut.state_arrays()[f"state.cells.{name}"], whole.state_arrays()[f"state.cells.{name}"]
            )


def test_what_a_correlation_does_not_see_is_found() -> None:
    X, y = rows(1000)
    for criterion in CRITERIA:
        selector = in_batches(screener(criterion, n_features_to_select="fdr:0.05"), X, y, 100)
        assert selector.selected_[0] == "x2", criterion
        assert {"x2", "x4"} <= set(selector.selected_), criterion
    assert Screener("correlation", task="regression").partial_fit(X, y).ranking_[2] > 1


def test_weights_missing_values_and_weightless_rows() -> None:
    X, y = rows()
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, len(y)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    with pytest.raises(InputError, match="NaN"):
        screener().partial_fit(X, y)
    selector = in_batches(screener(missing="skip", eps=0.001), X, y, 50, weight)
    kept = weight > 0
    bins = running_bins(y[kept], 5, weight[kept])
    heavy = np.repeat(np.arange(kept.sum()), weight[kept].astype(int))
    for j, x in enumerate(X[kept].T):
        place = naive.bin_counts(x, np.arange(kept.sum()), 5, int(kept.sum()))  # which bin each row is in
        counts = np.zeros((5, 5))
        for row in heavy:
            counts[:, bins[row]] += place[:, row]
        np.testing.assert_allclose(selector.criterion_values_[j], naive.mutual_info(counts), rtol=1e-9)


def test_event_time_fades() -> None:
    X, y = rows(200)
    seconds, selector = np.arange(200.0), screener(half_life="10s")
    for part in (slice(0, 90), slice(90, 200)):
        selector.partial_fit(X[part], y[part], time=seconds[part])
    by_row = in_batches(screener(half_life=10.0), X, y, 60)
    np.testing.assert_allclose(selector.scores_, by_row.scores_, rtol=1e-9)


def test_sparse_rows_give_the_same() -> None:
    X, y = rows()
    X[X < 0.3] = 0.0
    for criterion in CRITERIA:
        dense = screener(criterion).partial_fit(X, y)
        matrix = sparse.csr_matrix(X)
        found = in_batches(screener(criterion), matrix, y, 60)
        np.testing.assert_allclose(found.scores_, dense.scores_, rtol=1e-9)
        np.testing.assert_allclose(found.pvalues_, dense.pvalues_, rtol=1e-6)


def test_a_late_feature_counts_from_its_first_row_on() -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcde"))
    selector = screener(new_features="add").partial_fit(frame[["a", "b"]][:100], y[:100])
    selector.partial_fit(frame[100:], y[100:])
    X[:100, 2:] = np.nan
    whole = screener(missing="skip").partial_fit(X, y)
    np.testing.assert_allclose(selector.scores_, whole.scores_, rtol=1e-10)


def test_categories_are_counted_one_by_one_and_chance_is_taken_off() -> None:
    rng = np.random.default_rng(3)
    town = rng.choice(["Oslo", "Rome", "Zürich"], 900)
    y = rng.normal(size=900) + 2.0 * (town == "Rome") - (town == "Oslo")
    ident = np.array([f"id{i % 450}" for i in rng.permutation(900)])
    table = pd.DataFrame({"town": town, "x": rng.normal(size=900), "id": ident, "half": 0.5 * y + rng.normal(size=900)})
    bins = running_bins(y, 5, np.ones(900))
    codes = {name: np.unique(column, return_inverse=True)[1] for name, column in (("town", town), ("id", ident))}
    for criterion in ("mutual_info", "chi2"):
        selector = screener(criterion, n_features_to_select="fdr:0.05")
        for start in range(0, 900, 250):
            selector.partial_fit(table[start : start + 250], y[start : start + 250])
        for place, name in ((0, "town"), (2, "id")):
            counts = np.zeros((codes[name].max() + 1, 5))
            np.add.at(counts, (codes[name], bins), 1.0)
            np.testing.assert_allclose(selector.criterion_values_[place], getattr(naive, criterion)(counts), rtol=1e-9)
        assert selector.criterion_values_[2] > selector.criterion_values_[0]  # by chance alone
        assert sorted(selector.selected_) == ["half", "town"]
        assert selector.pvalues_[2] > 1e-3


def test_p_values_of_noise_are_calibrated() -> None:
    rng = np.random.default_rng(6)
    for y in (rng.exponential(size=300), np.sort(rng.normal(size=300)), rng.poisson(2.0, 300).astype(float)):
        p = in_batches(screener(), rng.normal(size=(300, 1500)), y, 100).pvalues_
        assert 0.033 < np.mean(p < 0.05) < 0.072
    faded = screener("chi2", fading=0.99).partial_fit(rng.normal(size=(600, 1500)), rng.normal(size=600)).pvalues_
    assert 0.03 < np.mean(faded < 0.05) < 0.075


def test_merging_is_near_one_pass_and_loses_nothing() -> None:
    X, y = rows(3000)
    for order in (np.arange(3000), np.argsort(y)):  # parts alike, and parts whose targets do not overlap
        X, y = X[order], y[order]
        parts = [
            screener().partial_fit(X[part], y[part]) for part in (slice(0, 900), slice(900, 2000), slice(2000, 3000))
        ]
        merged, whole = parts[0].merge(parts[1]).merge(parts[2]), screener().partial_fit(X, y)
        assert merged.n_rows_seen_ == 3000
        assert merged.state_arrays()["state.cells.weights"].sum() == 3000.0
        np.testing.assert_allclose(merged.scores_, whole.scores_, atol=0.05 * whole.scores_.max())
        assert merged.ranking_[2] == 1
    later = (
        screener(fading=0.99)
        .partial_fit(X[:900], y[:900])
        .merge_later(screener(fading=0.99).partial_fit(X[900:], y[900:]))
    )
    total = later.state_arrays()["state.cells.weights"].sum()
    np.testing.assert_allclose(total, (1.0 - 0.99**3000) / 0.01, rtol=1e-9)


def test_targets_of_few_values_merge_exactly() -> None:
    X, y = rows(600)
    y = np.round(np.clip(y, 0, 9))
    parts = [screener("chi2").partial_fit(X[part], y[part]) for part in (slice(0, 250), slice(250, 600))]
    whole = screener("chi2").partial_fit(X, y)
    np.testing.assert_allclose(parts[0].merge(parts[1]).scores_, whole.scores_, rtol=1e-12)


def test_categories_in_another_order_are_merged_by_name() -> None:
    rng = np.random.default_rng(2)
    town, y = rng.choice(["Oslo", "Rome", "Zürich"], 300), rng.integers(0, 8, 300).astype(float)
    table = pd.DataFrame({"town": town, "x": y + rng.normal(size=300)})
    order = np.argsort(town[150:])[::-1] + 150
    first = screener().partial_fit(table[:150], y[:150])
    first.merge(screener().partial_fit(table.iloc[order], y[order]))
    np.testing.assert_allclose(first.scores_, screener().partial_fit(table, y).scores_, rtol=1e-12)


def test_parts_over_an_engine(tmp_path: Any) -> None:
    X, y = rows(1200)
    for number, part in enumerate(np.array_split(np.argsort(X[:, 0]), 3)):
        table = pd.DataFrame(X[part], columns=list("abcde")).assign(price=y[part])
        table.to_csv(tmp_path / f"{number}.csv", index=False)
    found = select(tmp_path, screener(n_features_to_select=2), "price", jobs=1)
    assert found.n_rows_seen_ == 1200
    assert found.selected_ == ["c", "e"]
    whole = screener().partial_fit(X, y)
    np.testing.assert_allclose(found.scores_, whole.scores_, atol=0.05 * whole.scores_.max())


def test_settings_that_do_not_go_together_are_refused() -> None:
    X, y = rows()
    with pytest.raises(ParameterError, match="fading='auto'"):
        screener(fading="auto").partial_fit(X, y)
    with pytest.raises(ParameterError, match="target_bins"):
        screener(target_bins=1).partial_fit(X, y)
    with pytest.raises(MergeError, match="target_bins"):
        screener().partial_fit(X, y).merge(screener(target_bins=4).partial_fit(X, y))
    selector = screener().partial_fit(X, y)
    with pytest.raises(ParameterError, match="task cannot change"):
        selector.set_params(task="classification").partial_fit(X, y > 1)


def test_a_constant_target_tells_nothing() -> None:
    X, _ = rows()
    for criterion in CRITERIA:
        selector = screener(criterion).partial_fit(X, np.full(300, 7.0))
        assert not selector.scores_.any()
        assert (selector.pvalues_ == 1.0).all()


def test_explanations_name_the_bins() -> None:
    X, y = rows()
    why = screener().partial_fit(X, y).explain("x2")
    assert len(why.classes) == 5
    assert all(name.startswith("about ") for name in why.classes)
    middle = [float(name.removeprefix("about ")) for name in why.classes]
    assert middle == sorted(middle)
    assert {len(one.weights) for one in why.evidence.bins} == {5}
    assert sum(sum(one.weights) for one in why.evidence.bins) == 300.0


def test_saving_and_going_on(tmp_path: Any) -> None:
    X, y = rows()
    table = pd.DataFrame(X, columns=list("abcde")).assign(town=np.where(X[:, 2] > 0.5, "Oslo", "Rome"))
    for data in (table, sparse.csr_matrix(X)):
        selector = screener(fading=0.99).partial_fit(data[:200], y[:200])
        persist.save(selector, tmp_path / "s.streamsift")
        loaded = persist.load(tmp_path / "s.streamsift")
        for each in (selector, loaded):
            each.partial_fit(data[200:], y[200:])
        np.testing.assert_array_equal(loaded.scores_, selector.scores_)
    assert catalog.name_of("streamsift.rows.screener:Screener", selector.get_params()) == "screen:mutual_info"


FORGED = {
    "means backwards": ("means", lambda a: a[::-1].copy()),
    "a mean twice": ("means", lambda a: np.append(a[:-1], a[-2])),
    "no number": ("means", lambda a: np.append(a[:-1], np.nan)),
    "heavy": ("weights", lambda a: a + 1e12),
    "negative": ("weights", lambda a: -a),
    "a code twice": ("codes", lambda a: np.append(a[:-1], a[0])),
    "a code of none": ("codes", lambda a: a + 1),
    "no cells": ("means", lambda a: a[:0]),
    "few cells": ("most", lambda a: np.array(3)),
    "many cells": ("most", lambda a: np.array(10**9)),
    "another fading": ("fading", lambda a: np.array(0.5)),
}


@pytest.mark.parametrize("what", list(FORGED))
def test_forged_states_are_refused(what: str) -> None:
    X, y = rows()
    name, forge = FORGED[what]
    arrays = screener().partial_fit(X, y).state_arrays()
    arrays[f"state.cells.{name}"] = forge(arrays[f"state.cells.{name}"])
    with pytest.raises(SavedStateError):
        screener().load_state_arrays(arrays)


def test_a_refused_batch_changes_nothing() -> None:
    X, y = rows()
    selector = screener().partial_fit(X[:60], y[:60])
    before = selector.state_arrays()
    wrong = X[60:].copy()
    wrong[100, 3] = np.inf
    with pytest.raises(InputError, match="infinity"):
        selector.partial_fit(wrong, np.sort(y[60:]) + 100.0)  # cells would have been joined
    for key, array in selector.state_arrays().items():
        np.testing.assert_array_equal(array, before[key])


def test_features_of_friedmans_function_are_found() -> None:
    stream = generate("friedman_drift", n_rows=3000, n_features=15, shift_every=3000, seed=2)
    selector = screener(n_features_to_select=5)
    for batch in stream.batches(100):
        selector.partial_fit(batch.X, batch.y)
        truth = set(batch.relevant.tolist())
    assert set(selector.get_support(indices=True).tolist()) == truth


@pytest.mark.parametrize(
    ("learnt", "asked", "task"),
    [
        ("mutual_info", "fisher", "classification"),
        ("fisher", "gini", "classification"),
        ("correlation", "chi2", "regression"),
        ("chi2", "correlation", "regression"),
    ],
)
def test_a_criterion_that_what_was_learnt_cannot_tell(learnt: str, asked: str, task: str) -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X[:, 0] if task == "regression" else X[:, 0] > 0.0
    selector = Screener(learnt, task=task).fit(X, y)
    before = selector.scores_
    selector.set_params(criterion=asked)
    for read in (lambda: selector.scores_, lambda: selector.pvalues_, lambda: selector.criterion_values_):
        with pytest.raises(ParameterError, match=f"'{asked}' cannot be told from what was learnt, only .*{learnt}"):
            read()
    np.testing.assert_array_equal(selector.set_params(criterion=learnt).scores_, before)
