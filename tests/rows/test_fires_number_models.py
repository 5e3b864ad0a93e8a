"""The net and the tree of FIRES with a number as target: gradients against finite differences, and what they find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.naive.fires import log_mean_density, net_outputs, tree_outputs, tree_penalty
from tests.rows.test_fires_models import differences, draws, key_of, problem

from streamsift import FIRES, load, save
from streamsift.kernels.fires_networks import number_gradient
from streamsift.rows.fires import ANN, SDT


def numbers(n_parameters: int) -> tuple[Any, ...]:
    mu, sigma, X, _, weight = problem(n_parameters, 2)
    return mu, sigma, X, np.random.default_rng(3).normal(size=len(X)) * 1.5, weight


@pytest.mark.parametrize("model", [ANN(2, 3), ANN(1, 5), ANN(3, 2), ANN(0)])
def test_gradients_of_the_net(model: ANN) -> None:
    net = model.bind(4, 1, 3)
    mu, sigma, X, z, weight = numbers(net.n_parameters(4, 1))
    shapes = net._shapes(4, 1)

    def objective(m: Any, s: Any) -> float:
        samples = draws(key_of(1), m, s, shapes, 3)
        logs = [
            log_mean_density([net_outputs(layers, x)[0] for layers in samples], one)
            for x, one in zip(X, z, strict=True)
        ]
        return float(weight @ np.array(logs))

    of_mu, of_sigma = net.gradients(mu, sigma, X, z, np.random.default_rng(1), sample_weight=weight)
    np.testing.assert_allclose(of_mu, differences(lambda m: objective(m, sigma), mu), atol=1e-7)
    np.testing.assert_allclose(of_sigma, differences(lambda s: objective(mu, s), sigma), atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_of_the_tree(weighted: bool) -> None:
    tree = SDT(depth=2, penalty=0.0 if weighted else 0.01).bind(4, 1, 3)
    mu, sigma, X, z, given = numbers(tree.n_parameters(4, 1))
    weight = given if weighted else np.full(len(X), 1.0 / len(X))

    def objective(m: Any, s: Any) -> float:
        samples = draws(key_of(1), m, s, [(5, 3), (4, 1)], 3)
        logs = [
            log_mean_density([tree_outputs(*layers, x, 2)[0] for layers in samples], one)
            for x, one in zip(X, z, strict=True)
        ]
        penalty = float(np.mean([tree_penalty(inner, X, 2, tree.penalty) for inner, _ in samples]))
        return float(weight @ np.array(logs)) - penalty

    of_mu, of_sigma = tree.gradients(mu, sigma, X, z, np.random.default_rng(1), sample_weight=weight)
    np.testing.assert_allclose(of_mu, differences(lambda m: objective(m, sigma), mu), atol=1e-7)
    np.testing.assert_allclose(of_sigma, differences(lambda s: objective(mu, s), sigma), atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_outputs_underflow_nowhere(dtype: Any) -> None:
    """Where all densities are 0 as floats, the nearest sample has the whole share; NaN stays in its row."""
    outputs = np.array([[[100.0], [0.0], [np.nan]], [[101.0], [1e-3], [0.0]]], dtype)
    gradient = np.empty_like(outputs)
    number_gradient(outputs, np.zeros(3), np.full(3, 0.5, dtype), 1e-30, gradient)
    np.testing.assert_allclose(gradient[:, 0, 0], [-50.0, 0.0], rtol=1e-5)
    np.testing.assert_allclose(gradient[:, 1, 0], [0.0, -0.25e-3], rtol=1e-5)
    assert np.isnan(gradient[:, 2]).all()


@pytest.mark.compiled
@pytest.mark.parametrize("model", ["ann", "sdt"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_net_and_tree_find_what_explains_the_number(model: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    selector = FIRES(model, task="regression", n_features_to_select=2, random_state=seed)
    for _ in range(40):
        X = rng.normal(size=(100, 15))
        selector.partial_fit(X, 50.0 + 4.0 * X[:, 3] - 3.0 * X[:, 11] + rng.normal(size=100))
    assert set(selector.get_support(indices=True).tolist()) == {3, 11}


@pytest.mark.compiled
@pytest.mark.parametrize("model", ["ann", "sdt"])
@pytest.mark.parametrize("kind", ["copies", "heavy tails"])
def test_long_steps_stay_within_bounds(model: str, kind: str) -> None:
    """Squared errors have slopes without a bound, unlike the softmax: copies of a feature add their steps up."""
    rng = np.random.default_rng(0)
    selector = FIRES(model, task="regression", random_state=0)
    for _ in range(60):
        X, common = rng.normal(size=(20, 120)), rng.normal(size=20)
        if kind == "copies":
            X[:, :100] = common[:, None] + 0.01 * X[:, :100]
        noise = rng.standard_cauchy(20) * 10.0 if kind == "heavy tails" else 0.1 * rng.normal(size=20)
        selector.partial_fit(X, common + noise)
    assert float(np.abs(selector.state_arrays()["state.mu"]).max()) < 10.0
    assert float(selector.uncertainty_.max()) < 1.0


@pytest.mark.parametrize("model", ["ann", "sdt"])
def test_life_of_a_selector(model: str, tmp_path: Any) -> None:
    """Weights of 0, late features, saving: as for classes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    settings: dict[str, Any] = {"task": "regression", "random_state": 1, "new_features": "add"}
    first, second = FIRES(model, **settings), FIRES(model, **settings)
    weight = np.repeat([1.0, 0.0], 15)
    first.partial_fit(pd.DataFrame(X[:30, :3], columns=list("abc")), y[:30], sample_weight=weight)
    second.partial_fit(pd.DataFrame(X[:15, :3], columns=list("abc")), y[:15], sample_weight=np.ones(15))
    np.testing.assert_array_equal(first.scores_, second.scores_)
    save(first, tmp_path / "fires.streamsift")
    loaded = load(tmp_path / "fires.streamsift")
    for selector in (first, loaded):
        selector.partial_fit(pd.DataFrame(X[30:], columns=list("abcd")), y[30:])
    np.testing.assert_array_equal(first.scores_, loaded.scores_)
    assert len(first.scores_) == 4
    assert not hasattr(first, "classes_")


@pytest.mark.parametrize("model", ["ann", "sdt"])
def test_float32_rows_give_almost_the_same_gradients(model: str) -> None:
    bound: Any = {"ann": ANN(2, 30), "sdt": SDT()}[model].bind(300, 1, 5)
    random = np.random.default_rng(0)
    mu, sigma = random.normal(size=(2, bound.n_parameters(300, 1))) * 0.1
    X, z = random.random((20, 300)), random.normal(size=20)
    exact = [part.copy() for part in bound.gradients(mu, sigma, X, z, np.random.default_rng(1))]
    short = bound.gradients(mu, sigma, X.astype(np.float32), z, np.random.default_rng(1))
    for long, brief in zip(exact, short, strict=True):
        np.testing.assert_allclose(brief, long, atol=2e-5 * np.abs(long).max())
