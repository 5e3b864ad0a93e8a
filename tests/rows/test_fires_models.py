"""The base models of FIRES: gradients against finite differences and the authors' tree, normals, aggregation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.naive.fires import (
    log_phi_over_cdf,
    log_probit_likelihood,
    net_probabilities,
    tree_penalty,
    tree_probabilities,
)

from streamsift.kernels.fires import mills
from streamsift.kernels.normals import normal, perturb
from streamsift.rows.fires import ANN, FIRES, GLM, SDT

STEP = 1e-6


def draws(key: int, mu: Any, sigma: Any, shapes: list[tuple[int, int]], n_samples: int) -> list[list[Any]]:
    """The sampled layers of each Monte-Carlo sample, drawn in the order the models draw them."""
    samples: list[list[Any]] = [[] for _ in range(n_samples)]
    first = at = 0
    for rows, columns in shapes:
        block = slice(at, at + rows * columns)
        noise = np.empty((rows, n_samples, columns))
        perturb(np.uint64(key), np.uint64(first), np.zeros((rows, columns)), np.ones((rows, columns)), noise)
        for sample in range(n_samples):
            layer = mu[block].reshape(rows, columns) + sigma[block].reshape(rows, columns) * noise[:, sample]
            samples[sample].append(layer)
        first, at = first + noise.size, at + rows * columns
    return samples


def differences(objective: Any, at: Any) -> Any:
    gradient = np.empty(len(at))
    for k in range(len(at)):
        up, down = at.copy(), at.copy()
        up[k] += STEP
        down[k] -= STEP
        gradient[k] = (objective(up) - objective(down)) / (2 * STEP)
    return gradient


def problem(n_parameters: int, n_classes: int) -> tuple[Any, ...]:
    random = np.random.default_rng(2)
    X = random.random((7, 4))
    y = np.arange(7) % n_classes
    weight = random.random(7)
    return random.normal(size=n_parameters) * 0.7, 0.2 + random.random(n_parameters), X, y, weight / weight.sum()


def key_of(seed: int) -> int:
    return int(np.random.default_rng(seed).integers(2**63))


def test_gradients_of_the_glm() -> None:
    mu, sigma, X, y, _ = problem(4, 2)
    of_mu, of_sigma = GLM().bind(4, 2, 5).gradients(mu, sigma, X, y)
    sign = 2 * y - 1
    np.testing.assert_allclose(of_mu, differences(lambda m: log_probit_likelihood(m, sigma, X, sign), mu), atol=1e-8)
    np.testing.assert_allclose(of_sigma, differences(lambda s: log_probit_likelihood(mu, s, X, sign), sigma), atol=1e-8)


@pytest.mark.parametrize(("model", "n_classes"), [(ANN(2, 3), 2), (ANN(1, 5), 3), (ANN(3, 2), 2)])
def test_gradients_of_the_net(model: ANN, n_classes: int) -> None:
    net = model.bind(4, n_classes, 3)
    mu, sigma, X, y, weight = problem(net.n_parameters(4, n_classes), n_classes)
    shapes = net._shapes(4, n_classes)

    def objective(m: Any, s: Any) -> float:
        samples = draws(key_of(1), m, s, shapes, 3)
        likelihood = [
            np.mean([net_probabilities(layers, x)[c] for layers in samples]) for x, c in zip(X, y, strict=True)
        ]
        return float(weight @ np.log(likelihood))

    of_mu, of_sigma = net.gradients(mu, sigma, X, y, np.random.default_rng(1), sample_weight=weight)
    np.testing.assert_allclose(of_mu, differences(lambda m: objective(m, sigma), mu), atol=1e-7)
    np.testing.assert_allclose(of_sigma, differences(lambda s: objective(mu, s), sigma), atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradients_of_the_tree(n_classes: int) -> None:
    tree = SDT(depth=2).bind(4, n_classes, 3)
    mu, sigma, X, y, _ = problem(tree.n_parameters(4, n_classes), n_classes)
    shapes = [(5, 3), (4, n_classes)]

    def objective(m: Any, s: Any) -> float:
        samples = draws(key_of(1), m, s, shapes, 3)
        total = 0.0
        for x, c in zip(X, y, strict=True):
            total += math.log(np.mean([tree_probabilities(*layers, x, 2)[c] for layers in samples])) / len(X)
        return total - float(np.mean([tree_penalty(inner, X, 2, 0.01) for inner, _ in samples]))

    of_mu, of_sigma = tree.gradients(mu, sigma, X, y, np.random.default_rng(1))
    np.testing.assert_allclose(of_mu, differences(lambda m: objective(m, sigma), mu), atol=1e-7)
    np.testing.assert_allclose(of_sigma, differences(lambda s: objective(mu, s), sigma), atol=1e-7)


def test_the_authors_tree(shared: Path) -> None:
    golden = np.load(shared / "golden" / "fires_sdt_ann" / "sdt_forward.npz")
    X, y = golden["X"], golden["y"]

    def ours(weights: Any) -> Any:  # their bias comes first
        return np.concatenate([weights[:, 1:], weights[:, :1]], axis=1).T

    tree = SDT().bind(20, 2, 1)
    parameters = np.concatenate([ours(golden["inner_W"]).ravel(), golden["leaf_W"].T.ravel()])
    inner, leaves = tree._parts(parameters, 20, 2)
    reached, _ = tree._forward(X, np.ascontiguousarray(inner)[:, None, :])
    np.testing.assert_allclose(reached[-1][:, 0], golden["leaf_prob"], atol=1e-12)
    np.testing.assert_allclose(reached[-1][:, 0] @ leaves, golden["output"], atol=1e-12)
    assert tree_penalty(inner, X, 3, 0.01) == pytest.approx(float(golden["penalty"]), abs=1e-12)
    of_mu, _ = tree.gradients(parameters, np.zeros_like(parameters), X, y, np.random.default_rng(0))
    of_inner, of_leaves = tree._parts(of_mu, 20, 2)
    np.testing.assert_allclose(of_inner, -ours(golden["grad_inner"]), atol=1e-12)  # theirs go down a loss
    np.testing.assert_allclose(of_leaves, -golden["grad_leaf"].T, atol=1e-12)


@pytest.mark.parametrize("model", [ANN(2, 30), SDT()])
def test_float32_rows_give_almost_the_same_gradients(model: Any) -> None:
    bound = model.bind(300, 2, 5)
    random = np.random.default_rng(0)
    mu, sigma = random.normal(size=(2, bound.n_parameters(300, 2))) * 0.1
    X, y = random.random((20, 300)), np.arange(20) % 2
    exact = [part.copy() for part in bound.gradients(mu, sigma, X, y, np.random.default_rng(1))]
    short = bound.gradients(mu, sigma, X.astype(np.float32), y, np.random.default_rng(1))
    for wanted, found in zip(exact, short, strict=True):
        assert found.dtype == np.float64
        assert not np.array_equal(found, wanted)  # it really was computed in float32
        np.testing.assert_allclose(found, wanted, atol=1e-4 * np.abs(wanted).max())


def test_float32_rows_are_the_same_numbers_to_the_glm() -> None:
    random = np.random.default_rng(0)
    X = random.random((30, 100)).astype(np.float32)
    y = np.arange(30) % 2
    for scale in ("minmax", None):
        wanted = FIRES(scale=scale).partial_fit(X.astype(np.float64), y)
        np.testing.assert_allclose(FIRES(scale=scale).partial_fit(X, y).scores_, wanted.scores_, rtol=1e-12)


@pytest.mark.parametrize("model", ["ann", "sdt"])
@pytest.mark.parametrize("n_features", [20, 150])
def test_mu_and_sigma_stay_within_bounds_at_the_published_settings(model: str, n_features: int) -> None:
    random = np.random.default_rng(0)
    selector = FIRES(model=model, random_state=0)
    for _ in range(30):
        y = random.integers(0, 2, 100)
        X = random.normal(size=(100, n_features))
        X[:, 1] += 2 * y
        selector.partial_fit(X, y)
    assert np.abs(selector.importance_).max() < 10.0
    assert selector.uncertainty_.max() < 10.0


def test_the_tree_finds_what_matters() -> None:
    random = np.random.default_rng(0)
    settings: dict[str, Any] = {"initial_sigma": 0.1, "learning_rate_mu": 1.0, "random_state": 0}
    selector = FIRES(model="sdt", n_features_to_select=2, **settings)
    for _ in range(100):
        y = random.integers(0, 2, 100)
        X = random.normal(size=(100, 20))
        X[:, 2] += 1.5 * y
        X[:, 5] -= 1.5 * y
        selector.partial_fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2, 5]


def test_aggregation() -> None:
    net = ANN(1, 2).bind(2, 2, 1)
    layers = (np.array([[1.0, 3.0], [5.0, 7.0], [90.0, 90.0]]), np.array([[1.0, 2.0], [3.0, 6.0], [90.0, 90.0]]))
    mu = np.concatenate([layer.ravel() for layer in layers])
    importance, uncertainty = net.aggregate(mu, 2 * mu)
    assert importance.tolist() == [2.0 + 3.0, 6.0 + 3.0]
    assert uncertainty.tolist() == [10.0, 18.0]
    tree = SDT(depth=2).bind(2, 2, 1)
    mu = np.concatenate([np.array([1.0, 2.0, 6.0, 0.0, 1.0, 2.0, 90.0, 90.0, 90.0]), np.full(8, 90.0)])
    assert tree.aggregate(mu, mu)[0].tolist() == [3.0, 1.0]


@pytest.mark.parametrize("t", [-1e6, -500.0, -40.0, -20.5, -19.5, -5.0, 0.0, 1.0, 8.0])
def test_mills_ratio(t: float) -> None:
    assert mills(t) == pytest.approx(log_phi_over_cdf(t), rel=1e-9)


def test_normal_numbers(scale: float) -> None:
    n = int(200_000 * scale)
    values = np.empty((1, 1, n))
    perturb(np.uint64(11), np.uint64(0), np.zeros((1, n)), np.ones((1, n)), values)
    x = values.ravel()
    assert stats.kstest(x, "norm").pvalue > 0.001
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 4 / math.sqrt(n)
    tail = stats.norm.sf(3.0) * 2
    assert abs((np.abs(x) > 3.0).mean() - tail) < 4 * math.sqrt(tail / n)
    assert [normal(np.uint64(11), np.uint64(k)) for k in (5, 0, 17)] == [x[5], x[0], x[17]]
