"""The base models of FIRES: gradients against finite differences and the authors' tree, normals, aggregation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array
from tests.naive.fires import (
    log_phi_over_cdf,
    log_probit_likelihood,
    net_probabilities,
    tree_penalty,
    tree_probabilities,
)

from streamsift.core.exceptions import ParameterError
from streamsift.kernels.fires import mills
from streamsift.kernels.fires_networks import activate, output_gradient, pass_back
from streamsift.kernels.fires_normals import fold, normals, perturb, redraw, row_size
from streamsift.rows.fires import ANN, FIRES, GLM, SDT

STEP = 1e-6


def draws(key: int, mu: Any, sigma: Any, shapes: list[tuple[int, int]], n_samples: int) -> list[list[Any]]:
    """The sampled layers of each Monte-Carlo sample, drawn in the order the models draw them."""
    samples: list[list[Any]] = [[] for _ in range(n_samples)]
    first = at = 0
    for rows, columns in shapes:
        block = slice(at, at + rows * columns)
        drawn = np.empty((rows, row_size(n_samples, columns)), np.float32)
        redraw(np.uint64(key), np.uint64(first), drawn)
        noise = drawn[:, : n_samples * columns].reshape(rows, n_samples, columns).astype(np.float64)
        for sample in range(n_samples):
            layer = mu[block].reshape(rows, columns) + sigma[block].reshape(rows, columns) * noise[:, sample]
            samples[sample].append(layer)
        first, at = first + drawn.size, at + rows * columns
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


@pytest.mark.parametrize(("model", "n_classes"), [(ANN(2, 3), 2), (ANN(1, 5), 3), (ANN(3, 2), 2), (ANN(0), 3)])
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


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_features", [1, 5, 300, 9000])  # one vector and less, and more than a tile
def test_the_glm_computes_float32_rows_in_float32(n_features: int, n_classes: int) -> None:
    model = GLM().bind(n_features, n_classes, 5)
    random = np.random.default_rng(n_features)
    mu, sigma = random.normal(size=(2, model.n_parameters(n_features, n_classes)))
    X, y = random.normal(size=(30, n_features)).astype(np.float32), np.arange(30) % n_classes
    low, factor = random.normal(size=n_features), random.uniform(1e-9, 1e9, n_features)
    for scaling in ({}, {"low": low.astype(np.float32).astype(np.float64), "factor": factor}):
        wanted = [part.copy() for part in model.gradients(mu, sigma, X.astype(np.float64), y, **scaling)]
        for exact, found in zip(wanted, model.gradients(mu, sigma, X, y, **scaling), strict=True):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max())


def test_float32_near_its_limits_is_computed_in_float64() -> None:
    random = np.random.default_rng(0)
    flags = (random.random((20, 4)) < 0.5).astype(np.float32)
    wide = flags.copy()
    wide[:, 1] *= np.float32(9e11)
    small, large = flags.copy(), flags.copy()
    small[:, 1] *= np.float32(1e-30)
    large[:, 1] *= np.float32(1e25)
    y = np.arange(20) % 2
    cases = [(flags, 1e25, 1.0), (flags, 1e31, 1.0), (wide, 1e8, 1e-12), (small, 1e20, 1e-3), (large, 1e5, 1e-12)]
    for rows, mu, sigma in cases:
        for scale in ("minmax", None):
            for form in (rows, csr_array(rows)):
                settings: dict[str, Any] = {"scale": scale, "initial_mu": mu, "initial_sigma": sigma}
                wanted = FIRES(**settings).partial_fit(form.astype(np.float64), y)
                found = FIRES(**settings).partial_fit(form, y)
                np.testing.assert_allclose(found.importance_, wanted.importance_, rtol=1e-5)
                np.testing.assert_allclose(found.uncertainty_, wanted.uncertainty_, rtol=1e-5)


@pytest.mark.compiled
def test_float32_keeps_its_digits_over_many_rows() -> None:
    random = np.random.default_rng(0)
    X, y = (random.random((100_000, 5)) < 0.5).astype(np.float32), random.integers(0, 2, 100_000)
    model, mu, sigma = GLM().bind(5, 2, 5), np.full(5, 0.3), np.full(5, 0.7)
    wanted = [part.copy() for part in model.gradients(mu, sigma, X.astype(np.float64), y)]
    for form in (X, csr_array(X)):
        for exact, found in zip(wanted, model.gradients(mu, sigma, form, y), strict=True):
            np.testing.assert_allclose(found, exact, rtol=3e-6)
    weight = random.random(100_000)
    wanted = [part.copy() for part in model.gradients(mu, sigma, X.astype(np.float64), y, sample_weight=weight)]
    for exact, found in zip(wanted, model.gradients(mu, sigma, X, y, sample_weight=weight), strict=True):
        np.testing.assert_allclose(found, exact, rtol=3e-6)


def test_many_float32_rows_with_a_range_for_float64() -> None:
    X = np.random.default_rng(0).random((5000, 3)).astype(np.float32)
    X[:, 1] *= np.float32(1e13)
    y = np.arange(5000) % 2
    for form in (X, csr_array(X)):
        wanted = FIRES().partial_fit(form.astype(np.float64), y)
        np.testing.assert_allclose(FIRES().partial_fit(form, y).importance_, wanted.importance_, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("first", [[1.0 - 1e-9, 1.0], [-1e39, 1.0]])  # a range, and a value, that float32 cannot hold
def test_a_float32_batch_after_float64_ones(first: list[float]) -> None:
    before, after = np.array([first, [0.2, 0.9]]).T, np.array([[1.0, 0.3], [1.0, 0.7], [1.0, 0.1]], np.float32)
    wanted = FIRES().partial_fit(before, [0, 1]).partial_fit(after.astype(np.float64), [0, 0, 1])
    found = FIRES().partial_fit(before, [0, 1]).partial_fit(after, [0, 0, 1])
    np.testing.assert_allclose(found.importance_, wanted.importance_, rtol=1e-5)
    assert wanted.importance_[0] != FIRES().partial_fit(before, [0, 1]).importance_[0]


def test_a_small_step_is_not_lost() -> None:
    X = np.random.default_rng(0).random((4, 2000)).astype(np.float32)
    y = [0, 1, 0, 1]
    selector = FIRES(learning_rate_sigma=1e-5).partial_fit(X, y)
    for _ in range(50):
        selector.partial_fit(X, y)
    moved = selector.uncertainty_ - 1.0
    assert np.abs(moved).max() < 2.0**-25  # in float32 each of these is 1
    assert np.count_nonzero(moved) > 1000


@pytest.mark.compiled
@pytest.mark.parametrize("model", ["ann", "sdt"])
@pytest.mark.parametrize("n_features", [20, 150])
def test_mu_and_sigma_stay_within_bounds_at_the_published_settings(model: str, n_features: int) -> None:
    random = np.random.default_rng(0)
    selector = FIRES.paper(model, random_state=0)
    for _ in range(30):
        y = random.integers(0, 2, 100)
        X = random.normal(size=(100, n_features))
        X[:, 1] += 2 * y
        selector.partial_fit(X, y)
    assert np.abs(selector.importance_).max() < 10.0
    assert selector.uncertainty_.max() < 10.0


def batches(seed: int, n_batches: int) -> Iterator[tuple[Any, Any]]:
    """Normal noise in 12 features, of which numbers 3 and 8 decide about the class."""
    random = np.random.default_rng(seed)
    for _ in range(n_batches):
        X = random.normal(size=(100, 12))
        yield X, (X[:, 3] + 0.7 * X[:, 8] + 0.5 * random.normal(size=100) > 0).astype(int)


@pytest.mark.compiled
@pytest.mark.parametrize("model", ["ann", "sdt"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_net_and_tree_find_what_matters(model: str, seed: int) -> None:
    selector = FIRES(model=model, n_features_to_select=2, random_state=seed)
    for X, y in batches(seed, 100):
        selector.partial_fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3, 8]


@pytest.mark.compiled
@pytest.mark.parametrize("model", ["ann", "sdt"])
def test_at_the_published_settings_the_uncertainty_decides(model: str) -> None:
    selector = FIRES.paper(model, n_features_to_select=2, random_state=0)
    for X, y in batches(0, 50):
        selector.partial_fit(X, y)
    assert stats.spearmanr(selector.scores_, -selector.uncertainty_).statistic > 0.99
    assert selector.get_support(indices=True).tolist() != [3, 8]


@pytest.mark.parametrize("model", ["ann", "sdt"])
def test_squares_make_the_score_the_mean_of_the_scores_of_the_weights(model: str) -> None:
    X, y = next(batches(0, 1))
    selector = FIRES(model=model, aggregation="squares", random_state=0).partial_fit(X, y)
    state = selector._state
    nodes = getattr(selector._bound_model(state), "layer_size", 7)
    mu, sigma = (part[: 12 * nodes].reshape(12, nodes) for part in (state.mu, state.sigma))
    mean = ((mu**2 - 0.01 * sigma**2) / 0.02).mean(axis=1)
    rest = selector.scores_ - mean  # further layers of the net lie on the path of every feature
    np.testing.assert_allclose(rest, rest[0], rtol=1e-9, atol=1e-12)


def test_squares_leave_the_glm_as_it_is() -> None:
    X, y = next(batches(0, 1))
    for labels in (y, np.arange(100) % 3):
        by_mean, by_squares = (FIRES(aggregation=name).partial_fit(X, labels) for name in ("mean", "squares"))
        assert by_mean.scores_.tolist() == by_squares.scores_.tolist()
        assert by_mean.importance_.tolist() == by_squares.importance_.tolist()


def test_squares_are_refused_to_models_with_a_way_of_their_own() -> None:
    class Centred:
        def n_parameters(self, n_features: int, n_classes: int) -> int:
            return n_features

        def gradients(self, mu: Any, sigma: Any, X: Any, y: Any, rng: Any) -> Any:
            return X.mean(axis=0), X.mean(axis=0)

        def aggregate(self, mu: Any, sigma: Any) -> Any:
            return mu - mu.mean(), sigma

    X, y = next(batches(0, 1))
    with pytest.raises(ParameterError, match="Centred aggregates its parameters in its own way"):
        FIRES(model=Centred(), aggregation="squares").partial_fit(X, y)
    selector = FIRES(model=Centred()).partial_fit(X, y)
    with pytest.raises(ParameterError, match="'aggregation' at 'mean'"):
        selector.set_params(aggregation="squares").scores_


def test_parameters_set_later_count_for_the_scores() -> None:
    X, y = next(batches(0, 1))
    selector = FIRES(model="sdt", random_state=0).partial_fit(X, y)
    before = selector.scores_
    selector.set_params(aggregation="mean")
    assert not np.array_equal(selector.scores_, before)
    assert np.array_equal(selector.set_params(aggregation="squares").scores_, before)
    assert np.array_equal(selector.set_params(aggregation=None).scores_, before)


@pytest.mark.compiled
def test_the_tree_finds_what_matters() -> None:
    random = np.random.default_rng(0)
    selector = FIRES(model="sdt", n_features_to_select=2, random_state=0)
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
    n = int(200_000 * scale) * 2
    x = np.empty(n, np.float32)
    normals(np.uint64(11), np.uint64(0), x)
    assert stats.kstest(x, "norm").pvalue > 0.001
    tail = stats.norm.sf(3.0) * 2
    assert abs((np.abs(x) > 3.0).mean() - tail) < 4 * math.sqrt(tail / n)
    cosines, sines = x[: n // 2], x[n // 2 :]  # of the same angles and radii
    for a, b in ((x[1:], x[:-1]), (cosines, sines), (cosines**2, sines**2)):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4 / math.sqrt(len(a))
    other = np.empty(n, np.float32)
    normals(np.uint64(12), np.uint64(0), other)
    assert abs(np.corrcoef(x, other)[0, 1]) < 4 / math.sqrt(n)


@pytest.mark.parametrize("columns", [1, 3, 8])
def test_a_row_of_parameters_has_its_own_numbers(columns: int) -> None:
    """Whoever draws rows 2 to 4 of a layer gets what the whole layer has there; `fold` is the sum over samples."""
    size, key = row_size(3, columns), np.uint64(2**63 - 5)
    noise, again, part = (np.empty((rows, size), np.float32) for rows in (5, 5, 3))
    mu, sigma = np.random.default_rng(0).normal(size=(2, 5, columns))
    theta = np.empty((5, 3, columns))
    perturb(key, np.uint64(7), mu, sigma, noise, theta)
    redraw(key, np.uint64(7), again)
    redraw(key, np.uint64(7 + 2 * size), part)
    assert np.array_equal(again, noise)
    assert np.array_equal(part, noise[2:])
    factors = noise[:, : 3 * columns].reshape(5, 3, columns).astype(np.float64)
    np.testing.assert_allclose(theta, mu[:, None] + sigma[:, None] * factors, rtol=1e-12)
    of_mu, of_sigma = np.empty((5, columns)), np.empty((5, columns))
    gradient = np.random.default_rng(1).normal(size=theta.shape)
    fold(noise, gradient, of_mu, of_sigma)
    np.testing.assert_allclose(of_mu, gradient.sum(axis=1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(of_sigma, (gradient * factors).sum(axis=1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_chunks_of_features_change_nothing(dtype: Any) -> None:
    """The noise is drawn again where features come in several chunks, and kept where they are one."""
    net, random = ANN(1, 5).bind(23, 2, 3), np.random.default_rng(0)
    mu, sigma = random.normal(size=(2, net.n_parameters(23, 2)))
    X, y = random.random((6, 23)).astype(dtype), np.arange(6) % 2
    whole = [part.copy() for part in net.gradients(mu, sigma, X, y, np.random.default_rng(1))]
    chunked = ANN(1, 5, chunk=7).bind(23, 2, 3)
    for wanted, found in zip(whole, chunked.gradients(mu, sigma, X, y, np.random.default_rng(1)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4 if dtype is np.float32 else 1e-11, atol=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("model", ["ann", "sdt"])
def test_what_the_published_aggregation_loses(model: str) -> None:
    """The weights of the net and the tree single out the column that matters, and their mean over the nodes does not.

    Nodes that work for and against a class learn it with opposite signs, so that the mean (2.1.4) is left with chance.
    """
    found_by_weights = found_by_mean = 0
    for seed in range(12):
        random, selector = np.random.default_rng(seed), FIRES.paper(model, random_state=seed, n_samples=20)
        for _ in range(3):
            y = random.integers(0, 2, 120)
            X = random.normal(size=(120, 5))
            X[:, 2] += 3 * y
            selector.partial_fit(X, y)
        n_nodes = 100 if model == "ann" else 7
        first = selector.state_arrays()["state.mu"][: 5 * n_nodes].reshape(5, n_nodes)
        found_by_weights += int(np.argmax((first**2).sum(axis=1)) == 2)
        found_by_mean += int(np.argmax(np.abs(first.mean(axis=1))) == 2)
    assert found_by_weights >= 10
    assert found_by_mean < found_by_weights


def log_marginal_likelihood(logits: Any, y: Any, weight: Any) -> float:
    """The weighted log of the sum over samples of what softmax gives the label."""
    total = 0.0
    for i, label in enumerate(y):
        exponentials = np.exp(logits[:, i])
        total += weight[i] * math.log((exponentials[:, label] / exponentials.sum(axis=1)).sum())
    return total


@pytest.mark.parametrize("n_classes", [2, 4])
def test_gradient_by_logits(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    logits, y, weight = rng.normal(0.0, 3.0, (3, 6, n_classes)), rng.integers(0, n_classes, 6), rng.random(6)
    found = np.empty_like(logits)
    output_gradient(logits, y, weight, 0.0, found)
    wanted = differences(lambda at: log_marginal_likelihood(at.reshape(logits.shape), y, weight), logits.ravel())
    np.testing.assert_allclose(found.ravel(), wanted, atol=1e-8)
    # A shift of all logits of a sample and row changes nothing, not even where exp would overflow.
    shifted = np.empty_like(logits)
    output_gradient(logits + 1e4 * rng.choice([-1, 1], (3, 6, 1)), y, weight, 0.0, shifted)
    np.testing.assert_allclose(shifted, found, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_gradients_by_logits_are_zero_and_infinite_logits_no_error(dtype: Any) -> None:
    logits = np.array([[[0.0, 60.0], [np.inf, 0.0]]], dtype)
    found = np.empty_like(logits)
    output_gradient(logits, np.array([1, 0]), np.ones(2, dtype), 1e-20, found)
    assert not found[0, 0].any()
    assert not np.isfinite(found[0, 1, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activation_and_its_slope(dtype: Any) -> None:
    before = np.array([-2.0, 0.0, 3.0, np.nan, np.inf], dtype)
    after = before.copy()
    activate(after, dtype(0.5))
    np.testing.assert_array_equal(after, np.array([0.0, 0.0, 1.5, np.nan, np.inf]))
    delta = np.array([1.0, 1.0, 4.0, 1.0, -2.0], dtype)
    pass_back(delta, after, dtype(0.5))
    np.testing.assert_array_equal(delta, np.array([0.0, 0.0, 2.0, 0.0, -1.0]))
