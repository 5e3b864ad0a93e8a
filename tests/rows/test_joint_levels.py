"""How many features `forward` takes at a level: the test of a step against its naive twin, and what chance lets in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from tests.naive import joint as naive

from streamsift import Fdr, Fpr, Fwe, Joint, ParameterError, Screener
from streamsift.rows.joint_levels import highest_p


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def made(rng: np.random.Generator, n: int = 400, p: int = 15) -> Any:
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + rng.normal(size=(n, p))
    return X * np.geomspace(0.01, 50.0, p), X[:, 2] - 0.8 * X[:, 9] + 0.3 * X[:, 5] + rng.normal(size=n)


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("rule", ["forward", "mrmr", "fsa"])
def test_the_p_value_of_each_step_is_its_naive_twin(rng: np.random.Generator, rule: str, classes: bool) -> None:
    X, y = made(rng)
    y = np.digitize(y, [-1.0, 1.0]) if classes else y
    path = Joint(rule, n_features_to_select=6, task="classification" if classes else "regression").fit(X, y).path_
    order = path.order.tolist()
    wanted = [naive.step_p_value(X, y, order[:k], order[k], classes) for k in range(6)]
    np.testing.assert_allclose(path.p_values, wanted, rtol=1e-6)


def test_the_first_step_is_the_f_test_of_the_screen(rng: np.random.Generator) -> None:
    X, y = made(rng)
    labels = np.digitize(y, [-1.0, 1.0])
    path = Joint(n_features_to_select=1, fading=0.99).fit(X, labels).path_
    screened = Screener("fisher", fading=0.99).fit(X, labels).pvalues_
    np.testing.assert_allclose(path.p_values[0], screened[path.order[0]], rtol=1e-6)


@pytest.mark.parametrize("rule", [Fdr(0.05), Fwe(0.05), Fpr(0.05), "fdr:0.2"])
def test_it_stops_at_the_first_step_that_chance_explains(rng: np.random.Generator, rule: str) -> None:
    X, y = made(rng)
    stopped, whole = (Joint(n_features_to_select=k, task="regression").fit(X, y).path_ for k in (rule, 15))
    n = len(stopped.order)
    assert stopped.order.tolist() == whole.order[:n].tolist()
    assert all(p <= highest_p(rule, step, 15) for step, p in enumerate(stopped.p_values, 1))
    assert n == 15 or whole.p_values[n] > highest_p(rule, n + 1, 15)
    assert {2, 9} <= set(stopped.order.tolist())


@pytest.mark.parametrize("form", ["dense", "sparse", "classes", "fading", "pool", "skewed"])
def test_noise_lets_a_feature_in_as_rarely_as_the_level_says(rng: np.random.Generator, form: str) -> None:
    streams, found = 120, 0
    for _ in range(streams):
        X, y = rng.normal(size=(250, 25)), rng.integers(0, 6 if form == "classes" else 2, 250)
        X = np.exp(X) if form == "skewed" else X
        rows = csr_matrix(X * (rng.random(X.shape) < 0.2)) if form == "sparse" else X
        settings = {"fading": 0.99} if form == "fading" else {"max_pool": 8} if form == "pool" else {}
        found += len(Joint(n_features_to_select="fdr:0.1", **settings).fit(rows, y).selected_) > 0
    assert found / streams <= 0.1 + 3.0 * np.sqrt(0.1 * 0.9 / streams)


def test_copies_are_taken_once_however_many_rows_there_are(rng: np.random.Generator) -> None:
    hidden = rng.normal(size=(5000, 2))
    X = np.repeat(hidden, 30, axis=1) + 0.1 * rng.normal(size=(5000, 60))
    y = hidden[:, 0] + hidden[:, 1] > 0
    alone = Screener("fisher", n_features_to_select="fdr:0.05").fit(X, y)
    exact = Joint(n_features_to_select="fdr:0.05").fit(np.repeat(hidden, 30, axis=1), y)
    assert (len(alone.selected_), len(exact.selected_)) == (60, 2)


def test_many_categories_of_a_true_feature_do_not_let_in_false_ones(rng: np.random.Generator) -> None:
    n_false = 0
    for _ in range(10):
        codes = rng.integers(0, 50, (3000, 6))
        y = rng.normal(size=50)[codes[:, 0]] + rng.normal(size=50)[codes[:, 1]] + rng.logistic(size=3000) > 0
        table = pd.DataFrame({f"c{k}": [f"v{code}" for code in codes[:, k]] for k in range(6)})
        chosen = Joint(n_features_to_select="fdr:0.05").fit(table, y).selected_
        assert {"c0", "c1"} <= set(chosen)
        n_false += len(chosen) - 2
    assert n_false <= 4  # where categories counted as features: 16


def test_other_rules_take_no_level(rng: np.random.Generator) -> None:
    X, y = made(rng)
    with pytest.raises(ParameterError, match="goes with rule='forward'"):
        Joint("lasso", n_features_to_select="fdr:0.05", task="regression").fit(X, y)
    selector = Joint(n_features_to_select="fdr:0.05", task="regression").fit(X, y)
    with pytest.raises(ParameterError, match="goes with rule='forward'"):
        _ = selector.set_params(rule="mrmr").selected_


def test_rows_that_do_not_suffice_let_nothing_in() -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]]), ["a", "b", "c"]
    assert Joint(n_features_to_select="fdr:0.05").fit(X, y).selected_ == []
