"""Joint: every rule against the offline answer on the same rows, the pool, interactions, numbers as target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse
from sklearn.linear_model import ElasticNet, Lasso
from tests.naive import joint as naive

from streamsift import InputError, Joint, MergeError, ParameterError, SavedStateError, Screener, generate
from streamsift.core.batch import Batch
from streamsift.core.categories import ColumnKinds
from streamsift.rows.joint_penalties import CONCAVITY
from streamsift.rows.joint_rules import ANNEALING, FSA_STEPS, MOMENTUM

Floats = NDArray[np.float64]
SPLIT = (slice(0, 150), slice(150, None))
RULES = ("forward", "mrmr", "ols", "lasso", "elastic_net", "mcp", "fsa")


def correlated(n: int = 400, p: int = 12, seed: int = 0) -> Floats:
    """Columns that share hidden causes, on different scales."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) + rng.normal(size=(n, p))
    return X * np.geomspace(0.1, 100.0, p) + np.arange(p)


def numbers(X: Floats, seed: int = 5) -> Floats:
    rng = np.random.default_rng(seed)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return 3.0 * Z[:, 2] - 2.0 * Z[:, 7] + Z[:, 4] + rng.normal(size=len(X)) + 10.0


def labels(X: Floats) -> NDArray[np.int64]:
    return np.digitize(numbers(X), [8.0, 11.0])


def fed(selector: Joint, X: Any, y: Any, size: int = 64) -> Joint:
    for start in range(0, len(y), size):
        selector.partial_fit(X[start : start + size], y[start : start + size])
    return selector


def tasks() -> list[tuple[str, Floats, Any, Floats]]:
    """(task, X, y, the target as columns)."""
    X = correlated()
    y = labels(X)
    classes = list(dict.fromkeys(y.tolist()))
    return [
        ("regression", X, numbers(X), naive.columns_of(numbers(X))),
        ("classification", X, y, naive.columns_of(y, classes)),
    ]


@pytest.mark.parametrize(("task", "X", "y", "Y"), tasks())
def test_forward_is_stepwise_least_squares(task: str, X: Floats, y: Any, Y: Floats) -> None:
    selector = fed(Joint(n_features_to_select=6, task=task), X, y)
    order, gains = naive.forward(X, Y, 6)
    path = selector.path_
    assert path.order.tolist() == order
    assert path.terms == tuple((j,) for j in order)
    np.testing.assert_allclose(path.gains, gains, rtol=1e-8)
    design = np.column_stack([np.ones(len(X)), X[:, order]])
    beta = np.linalg.lstsq(design, Y, rcond=None)[0]
    np.testing.assert_allclose(path.intercepts, beta[0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(path.coefficients, beta[1:], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("task", "X", "y", "Y"), tasks())
def test_the_ranking_is_the_order_of_the_path(rule: str, task: str, X: Floats, y: Any, Y: Floats) -> None:
    selector = fed(Joint(rule, n_features_to_select=5, task=task), X, y)
    order = selector.path_.order
    assert np.argsort(selector.ranking_)[:5].tolist() == order.tolist() == selector.selection().indices.tolist()
    assert selector.scores_.max() == selector.scores_[order[0]] == 1.0
    assert (selector.path_.gains >= 0.0).all()
    assert selector.path_.gains.sum() < 1.0
    assert selector.path_.names == tuple(f"x{j}" for j in order)


@pytest.mark.parametrize(("task", "X", "y", "Y"), tasks())
def test_mrmr_and_annealing_are_their_naive_twins(task: str, X: Floats, y: Any, Y: Floats) -> None:
    selector = fed(Joint("mrmr", n_features_to_select=6, task=task), X, y)
    assert selector.path_.order.tolist() == naive.mrmr(X, Y, 6)
    selector.set_params(rule="fsa", n_features_to_select=4)
    assert selector.path_.order.tolist() == naive.fsa(X, Y, 4, FSA_STEPS, ANNEALING, MOMENTUM)


@pytest.mark.parametrize(("task", "X", "y", "Y"), tasks())
def test_ols_is_lstsq(task: str, X: Floats, y: Any, Y: Floats) -> None:
    path = fed(Joint("ols", n_features_to_select=12, task=task), X, y).path_
    beta = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), Y, rcond=None)[0]
    np.testing.assert_allclose(path.coefficients, beta[1:][path.order], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(path.intercepts, beta[0], rtol=1e-6, atol=1e-9)
    sizes = np.linalg.norm(beta[1:] * X.std(axis=0)[:, None], axis=1)
    assert path.order.tolist() == np.argsort(-sizes).tolist()


@pytest.mark.parametrize(("task", "X", "y", "Y"), tasks())
@pytest.mark.parametrize("rule", ["lasso", "elastic_net"])
@pytest.mark.parametrize("wanted", [1, 4, 9, None])
def test_penalised_rules_are_those_of_scikit_learn(
    rule: str, wanted: int | None, task: str, X: Floats, y: Any, Y: Floats
) -> None:
    path = fed(Joint(rule, n_features_to_select=wanted, task=task, l1_ratio=0.3), X, y).path_
    Z, T = naive.standardised(X, Y)
    precise = {"fit_intercept": False, "tol": 1e-12, "max_iter": 100_000}
    penalty = path.penalty
    model = Lasso(penalty, **precise) if rule == "lasso" else ElasticNet(penalty, l1_ratio=0.3, **precise)
    wanted_beta = np.atleast_2d(model.fit(Z, T).coef_).T
    spread = np.sqrt(Y.var(axis=0).sum())
    found = np.zeros_like(wanted_beta)
    found[path.order] = path.coefficients * X.std(axis=0)[path.order, None] / spread
    np.testing.assert_allclose(found, wanted_beta, atol=1e-6)
    assert (np.diff(path.penalties) <= 0.0).all()
    if wanted is not None:
        assert len(path.order) == wanted


@pytest.mark.parametrize("rows", [40, 300])
def test_many_columns_that_share_one_cause_have_the_lasso_of_scikit_learn(rows: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 60)) + rng.normal(size=(rows, 1))
    y = X[:, ::6].sum(axis=1) + rng.normal(size=rows)
    path = Joint("lasso", n_features_to_select=20, task="regression").fit(X, y).path_
    Z, T = naive.standardised(X, y[:, None])
    model = Lasso(path.penalty, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(Z, T[:, 0])
    found = np.zeros(60)
    found[path.order] = path.coefficients[:, 0] * X.std(axis=0)[path.order] / y.std()
    np.testing.assert_allclose(found, model.coef_, atol=1e-6)
    assert len(path.order) == 20


def test_the_lasso_orders_features_as_least_angle_regression_does() -> None:
    from sklearn.linear_model import lars_path

    X = correlated()
    Z, T = naive.standardised(X, numbers(X)[:, None])
    _, _, coefficients = lars_path(Z, T[:, 0], method="lasso")
    first = (coefficients != 0.0).argmax(axis=1)
    entries = sorted(range(12), key=lambda j: first[j])
    path = Joint("lasso", n_features_to_select=8, task="regression").fit(X, numbers(X)).path_
    assert path.order.tolist() == entries[:8]


@pytest.mark.parametrize(("task", "X", "y", "Y"), tasks())
def test_mcp_is_a_minimum_that_its_naive_twin_stays_at(task: str, X: Floats, y: Any, Y: Floats) -> None:
    path = fed(Joint("mcp", n_features_to_select=4, task=task), X, y).path_
    Z, T = naive.standardised(X, Y)
    spread = np.sqrt(Y.var(axis=0).sum())
    for target in range(T.shape[1]):
        beta = np.zeros(12)
        beta[path.order] = path.coefficients[:, target] * X.std(axis=0)[path.order] / spread
        twin = naive.mcp(Z, T[:, target], path.penalty, CONCAVITY, beta, sweeps=50)
        np.testing.assert_allclose(twin, beta, atol=1e-7)
        loss = naive.mcp_loss(Z, T[:, target], beta, path.penalty, CONCAVITY)
        for j in range(12):
            for step in (-1e-3, 1e-3):
                moved = beta.copy()
                moved[j] += step
                assert naive.mcp_loss(Z, T[:, target], moved, path.penalty, CONCAVITY) > loss


def test_information_stops_where_features_are_not_worth_their_price() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 40))
    y = X[:, 3] - 0.5 * X[:, 17] + rng.normal(size=1000)
    for rule in RULES:
        selector = Joint(rule, n_features_to_select=None, task="regression").fit(X, y)
        assert {3, 17} <= set(selector.get_support(indices=True)), rule
        assert selector.get_support().sum() <= (6 if rule in ("lasso", "elastic_net") else 3), rule
    noise = Joint(n_features_to_select=None, task="regression").fit(X, rng.normal(size=1000))
    assert noise.get_support().sum() == 0


# -- one state, many rules --------------------------------------------------------------------------------------------


def test_every_rule_can_be_asked_of_one_state() -> None:
    X = correlated()
    selector = fed(Joint(n_features_to_select=4), X, labels(X))
    for rule in RULES:
        asked = selector.set_params(rule=rule).selected_
        assert asked == fed(Joint(rule, n_features_to_select=4), X, labels(X)).selected_


def test_weights_count_as_repetitions() -> None:
    X = correlated(80)
    y = labels(X)
    times = np.random.default_rng(0).integers(0, 4, 80)
    weighted = Joint(n_features_to_select=6).partial_fit(X, y, classes=np.unique(y), sample_weight=times)
    repeated = Joint(n_features_to_select=6).partial_fit(np.repeat(X, times, axis=0), np.repeat(y, times), np.unique(y))
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-8)
    with pytest.raises(InputError, match="divide the weights"):
        weighted.partial_fit(X * 1e147, y, sample_weight=np.full(80, 1e6))
    with pytest.raises(InputError, match=r"Row 3 has the weight 1e\+200: weights are at most 1e\+06"):
        weighted.partial_fit(X, y, sample_weight=np.where(np.arange(80) == 3, 1e200, 1.0))


def test_fading_forgets_the_old_concept() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6))
    y = np.where(np.arange(4000) < 3000, X[:, 1], X[:, 4])
    assert fed(Joint(n_features_to_select=1, task="regression"), X, y).selected_ == ["x1"]
    assert fed(Joint(n_features_to_select=1, task="regression", fading=0.99), X, y).selected_ == ["x4"]


@pytest.mark.parametrize("rule", RULES)
def test_a_missing_value_counts_as_the_mean_of_its_feature(rule: str) -> None:
    X = correlated()
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    filled = np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)
    holed = fed(Joint(rule, n_features_to_select=5, missing="skip"), gaps, labels(X))
    whole = fed(Joint(rule, n_features_to_select=5), filled, labels(X))
    np.testing.assert_allclose(holed.scores_, whole.scores_, rtol=1e-6)
    np.testing.assert_allclose(holed.path_.coefficients, whole.path_.coefficients, rtol=1e-5, atol=1e-9)
    parts = [fed(Joint(rule, n_features_to_select=5, missing="skip"), gaps[i], labels(X)[i]) for i in SPLIT]
    np.testing.assert_allclose(parts[0].merge(parts[1]).scores_, whole.scores_, rtol=1e-6)


def test_weights_of_zero_leave_rows_out_of_the_numbers_to_explain() -> None:
    X = correlated(60)
    y = numbers(X)
    weight = np.tile([1.0, 0.0, 1.0], 20)
    weighted = Joint(task="regression").partial_fit(X, y, sample_weight=weight)
    without = Joint(task="regression").partial_fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(weighted.scores_, without.scores_, rtol=1e-9)


def test_numbers_are_refused_where_they_are_none() -> None:
    X = correlated(10)
    selector = Joint(task="regression")
    for y, words in (
        (["a"] * 10, "Row 0 has the target 'a', which is not a number"),
        ([np.nan, "a"] + [1.0] * 8, "Row 1 has the target 'a', which is not a number"),
        ([np.nan] + [1.0] * 8 + [np.inf], "Row 9 has no target"),
        ([1.0] * 9, "give one number per row"),
    ):
        with pytest.raises(InputError, match=words):
            selector.fit(X, y)
    selector.fit(X, np.append(np.arange(9.0), np.nan))
    assert (selector.n_rows_seen_, selector.n_rows_unlabelled_) == (9, 1)
    np.testing.assert_array_equal(selector.scores_, Joint(task="regression").fit(X[:9], np.arange(9.0)).scores_)
    assert not hasattr(selector, "classes_")
    with pytest.raises(ParameterError, match="cannot change after the first batch"):
        selector.set_params(task="classification").partial_fit(X, [0, 1] * 5)


def test_a_state_of_numbers_is_saved_loaded_and_merged() -> None:
    X = correlated()
    y = numbers(X)
    whole = Joint(task="regression").fit(X, y)
    half, rest = Joint(task="regression").fit(X[:150], y[:150]), Joint(task="regression").fit(X[150:], y[150:])
    np.testing.assert_allclose(half.merge(rest).scores_, whole.scores_, rtol=1e-8)
    loaded = Joint(task="regression").load_state_arrays(whole.state_arrays())
    np.testing.assert_array_equal(loaded.scores_, whole.scores_)
    with pytest.raises(SavedStateError, match="another 'task'"):
        Joint().load_state_arrays(whole.state_arrays())


def test_categories_are_columns_of_their_own() -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    shop = rng.choice(["north", "south", "east", "west"], 600)
    table = pd.DataFrame({"price": rng.normal(size=600), "shop": shop, "width": rng.normal(size=600)})
    y = np.where(shop == "south", 1, 0) + (table["price"] > 1.0)
    selector = Joint(n_features_to_select=2)
    selector.partial_fit(table[shop != "west"], y[shop != "west"])  # a category comes late
    selector.partial_fit(table[shop == "west"], y[shop == "west"])
    assert selector.selected_ == ["shop", "price"]
    assert selector.path_.names[0] == "shop=south"
    flags = pd.get_dummies(table, dtype=float)
    order = np.argsort(np.append(np.flatnonzero(shop != "west"), np.flatnonzero(shop == "west")))
    assert len(order) == len(flags)
    whole = Joint(n_features_to_select=6).fit(flags, y)
    np.testing.assert_allclose(selector.path_.gains, whole.path_.gains[: len(selector.path_.gains)], rtol=1e-8)


# -- more features than fit -------------------------------------------------------------------------------------------


def test_a_pool_that_holds_everything_gives_the_full_answer() -> None:
    X = correlated()
    y = labels(X)
    full, pooled = fed(Joint(n_features_to_select=5), X, y), fed(Joint(n_features_to_select=5, max_pool=12), X, y)
    np.testing.assert_array_equal(full.scores_, pooled.scores_)
    assert full.path_.order.tolist() == pooled.path_.order.tolist()


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_a_pool_gives_the_full_answer_on_what_it_holds(form: Any) -> None:
    X = np.column_stack([correlated(), np.ones(400)])  # of 13 columns the constant one is left out
    y = labels(X[:, :12])
    full = fed(Joint(n_features_to_select=5), form(X), y)
    pooled = fed(Joint(n_features_to_select=5, max_pool=12), form(X), y)
    assert pooled.state_arrays()["state.pool"].tolist() == list(range(12))
    assert full.path_.order.tolist() == pooled.path_.order.tolist()
    np.testing.assert_allclose(full.path_.coefficients, pooled.path_.coefficients, rtol=1e-9, atol=1e-12)


def wide(n: int = 600, p: int = 300) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, p))
    X[:, 100] = X[:, 50] + 0.1 * rng.normal(size=n)
    return X, X[:, 50] + X[:, 120] + 0.7 * X[:, 250] + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_a_pool_finds_features_among_many_in_bounded_memory(form: Any) -> None:
    X, y = wide()
    selector = fed(Joint(n_features_to_select=3, task="regression", max_pool=20), form(X), y)
    assert set(selector.selected_) == {"x50", "x120", "x250"}
    arrays = selector.state_arrays()
    assert len(arrays["state.pool"]) == 20
    assert sum(array.nbytes for array in arrays.values()) < 3 * 8 * 21**2 + 8 * 6 * 300 + 40 * 301 + 1000
    reader = Joint(n_features_to_select=3, task="regression", max_pool=20).load_state_arrays(arrays)
    for joint in (selector, reader):
        joint.partial_fit(form(X[:50]), y[:50])
    np.testing.assert_array_equal(selector.scores_, reader.scores_)


def test_a_feature_that_enters_late_has_moments_from_then_on() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 60))
    early, late = X[:, 3] + 0.3 * rng.normal(size=3000), X[:, 40] + 0.3 * rng.normal(size=3000)
    y = np.where(np.arange(3000) < 500, early, late)
    selector = fed(Joint(n_features_to_select=1, task="regression", max_pool=5, fading=0.995), X, y, 100)
    assert selector.selected_ == ["x40"]
    weight = selector.state_arrays()["state.cross.weight"]
    place = selector.state_arrays()["state.pool"].tolist().index(40)
    assert 0.0 < weight[place, place] <= weight[-1, -1]


def test_pools_merge_what_both_know() -> None:
    X, y = wide()
    parts = [
        fed(Joint(n_features_to_select=3, task="regression", max_pool=20), X[rows], y[rows])
        for rows in (slice(0, 300), slice(300, None))
    ]
    merged = parts[0].merge(parts[1])
    assert set(merged.selected_) == {"x50", "x120", "x250"}
    assert len(merged.state_arrays()["state.pool"]) == 20
    with pytest.raises(MergeError, match="max_pool"):
        merged.merge(Joint(n_features_to_select=3, task="regression", max_pool=30).fit(X, y))


def test_more_features_than_the_pool_holds_may_come_later() -> None:
    X, y = wide()
    selector = Joint(n_features_to_select=3, task="regression", max_pool=40, new_features="add")
    selector.partial_fit(X[:200, :30], y[:200])
    fed(selector, X[200:], y[200:])
    assert set(selector.selected_) == {"x50", "x120", "x250"}
    assert selector.scores_.shape == (300,)


def test_sparse_text_is_never_made_dense() -> None:
    rng = np.random.default_rng(0)
    X = random_sparse(400, 20_000, 0.002, format="csr", random_state=0)
    X = (X + csr_matrix(([1.0] * 200, (range(200), [77] * 200)), X.shape)).tocsr()
    y = np.repeat([1, 0], 200)
    order = rng.permutation(400)
    selector = fed(Joint(n_features_to_select=1, max_pool=100), X[order], y[order])
    assert selector.selected_ == ["x77"]


# -- interactions -----------------------------------------------------------------------------------------------------


def test_products_find_the_three_features_of_bg3_where_linear_rules_are_blind() -> None:
    batches = generate("bg3", n_rows=4000, irrelevant=6, seed=1, all_true=0.5, drift=None).batches(500)
    linear, pairs = Joint(n_features_to_select=3), Joint(n_features_to_select=3, interactions="pairs")
    marginal = Screener("mutual_info", n_features_to_select=3)
    for batch in batches:
        numbers = np.asarray(batch.X, np.float64)
        for selector in (linear, pairs, marginal):
            selector.partial_fit(numbers, batch.y)
    assert set(pairs.get_support(indices=True)) == {0, 1, 2}
    assert set(linear.get_support(indices=True)) != {0, 1, 2}
    assert set(marginal.get_support(indices=True)) != {0, 1, 2}
    assert len(pairs.path_.terms[0]) == 2
    assert "*" in pairs.path_.names[0]


@pytest.mark.parametrize("max_pool", [2000, 15])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_exclusive_or_is_found_by_products(form: Any, max_pool: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1000, 9)).astype(float)
    y = (X[:, 2] != X[:, 6]).astype(int)
    selector = fed(Joint(n_features_to_select=2, interactions="pairs", max_pool=max_pool), form(X), y, 100)
    assert selector.get_support(indices=True).tolist() == [2, 6]
    assert selector.path_.names[0] == "x2*x6"
    assert selector.scores_.shape == (9,)


def test_products_of_late_features_and_their_limits() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = X[:, 1] * X[:, 4]
    selector = Joint(n_features_to_select=2, interactions="pairs", task="regression", new_features="add")
    selector.partial_fit(X[:100, :3], y[:100])
    selector.partial_fit(X[100:], y[100:])
    assert selector.selected_ == ["x1", "x4"]
    with pytest.raises(InputError, match="at most 547"):
        Joint(interactions="pairs").fit(np.ones((2, 600)), [0, 1])
    with pytest.raises(InputError, match="too large"):
        Joint(interactions="pairs").fit(np.full((2, 3), 1e80), [0, 1])


@pytest.mark.parametrize("sparse", [False, True])
def test_missing_values_beside_categories(sparse: bool) -> None:
    rng = np.random.default_rng(0)
    town = rng.integers(0, 4, 300)
    X = np.column_stack([rng.normal(size=300), town])
    y = (X[:, 0] + 2.0 * (town == 3) + rng.normal(size=300) * 0.2 > 0.5).astype(int)
    X[rng.random(300) < 0.1, 0] = np.nan
    X[rng.random(300) < 0.1, 1] = np.nan
    columns = np.column_stack([X[:, 0], *((X[:, 1] == code).astype(float) for code in range(4))])
    wanted = Joint(missing="skip", n_features_to_select=5).fit(columns, y)
    kinds = ColumnKinds({1: ("Oslo", "Rome", "Bern", "Ulm")})

    def rows(part: slice) -> Batch:
        return Batch(csr_matrix(X[part]) if sparse else X[part], y[part], kinds=kinds)

    for size in (300, 7):  # some categories come late
        found = Joint(missing="skip", n_features_to_select=2)
        for start in range(0, 300, size):
            found.partial_fit(rows(slice(start, start + size)))
        assert found.scores_[0] == pytest.approx(wanted.scores_[0])
        assert found.scores_[1] == pytest.approx(wanted.scores_[1:].max())
    with pytest.raises(InputError, match=r"column 'x[01]' of X is NaN"):
        Joint().fit(rows(slice(0, 300)))
