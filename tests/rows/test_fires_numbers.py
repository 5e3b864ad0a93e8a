"""FIRES with numbers as targets: the gradient of the marginal likelihood, the update, and what it finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.naive import fires as naive

from streamsift import FIRES
from streamsift.core.exceptions import ParameterError
from streamsift.rows.fires.numbers import GaussianGLM
from streamsift.streams import generate


def rows(n: int = 40, seed: int = 0, size: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * size
    return X, 700.0 + 3.0 * X[:, 2] - X[:, 0] + rng.normal(size=n)


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_gradients_are_those_of_the_marginal_likelihood(size: float) -> None:
    rng = np.random.default_rng(1)
    X, z = rng.normal(size=(6, 4)) * size, rng.normal(size=6)
    mu, sigma, weight = rng.normal(size=4), rng.uniform(0.1, 2.0, 4), rng.uniform(0.5, 2.0, 6)
    found = GaussianGLM(4).gradients(mu, sigma, X, z, rng, sample_weight=weight)

    def likelihood(parameters: Any) -> float:
        values = [
            naive.gaussian_log_likelihood(parameters[:4], parameters[4:], x, one) for x, one in zip(X, z, strict=True)
        ]
        return float(np.average(values, weights=weight))

    at, step = np.concatenate([mu, sigma]), 1e-6
    numerical = [(likelihood(at + step * e) - likelihood(at - step * e)) / (2 * step) for e in np.eye(8)]
    np.testing.assert_allclose(np.concatenate(found), numerical, rtol=2e-4, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_update_is_that_of_the_naive_twin(weighted: bool) -> None:
    selector = FIRES(task="regression", scale=None, learning_rate_mu=0.3, learning_rate_sigma=0.2)
    batches = []
    for seed in range(5):
        X, y = rows(12, seed)
        weight = np.random.default_rng(seed).uniform(0.5, 3.0, 12) if weighted else np.ones(12)
        selector.partial_fit(X, y, sample_weight=weight if weighted else None)
        batches.append((X.tolist(), y.tolist(), weight.tolist()))
    mu, sigma = naive.gaussian_fires(batches, 0.3, 0.2)
    np.testing.assert_allclose(selector.importance_, mu, rtol=1e-9)
    np.testing.assert_allclose(selector.uncertainty_, sigma, rtol=1e-9)


@pytest.mark.parametrize(
    ("scale", "offset", "factor"), [("standard", 0.0, 1.0), ("standard", 1e7, 1e5), ("minmax", 0.0, 1e-5)]
)
def test_the_units_of_the_target_do_not_matter(scale: str, offset: float, factor: float) -> None:
    found = []
    for shift, size in ((0.0, 1.0), (offset, factor)):
        selector = FIRES(task="regression", scale=scale)
        for seed in range(20):
            X, y = rows(50, seed)
            selector.partial_fit(X, shift + size * y)
        found.append(selector.scores_)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    assert found[0].argmax() == 2
    assert selector.importance_[2] > 0.0 > selector.importance_[0]


def test_true_features_of_friedmans_function_are_found() -> None:
    selector, found = FIRES(task="regression", n_features_to_select=4), []
    for batch in generate("friedman_drift", n_rows=4000, n_features=25, seed=5).batches(100):
        selector.partial_fit(batch)
        found.append(len(set(selector.get_support(indices=True).tolist()) & set(batch.relevant.tolist())))
    assert np.mean(found[10:]) > 3.5  # of four; the fifth has no correlation


def test_late_features_start_with_weights_of_their_own() -> None:
    import pandas as pd

    selector = FIRES(task="regression", new_features="add", n_features_to_select=1)
    X, y = rows(60)
    names = list("abcd")
    selector.partial_fit(pd.DataFrame(X[:30, :3], columns=names[:3]), y[:30])
    before = selector.importance_
    selector.partial_fit(pd.DataFrame(X[30:], columns=names), y[30:])
    assert len(selector.importance_) == 4
    assert selector.get_feature_names_out().tolist() == ["c"]
    assert not np.array_equal(before, selector.importance_[:3])


def test_saved_and_loaded_it_goes_on(tmp_path: Any) -> None:
    from streamsift import load, save

    X, y = rows(90)
    selector = FIRES(task="regression").partial_fit(X[:30], y[:30])
    save(selector, tmp_path / "fires.streamsift")
    loaded = load(tmp_path / "fires.streamsift")
    for one in (selector, loaded):
        one.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(loaded.scores_, selector.scores_)
    arrays = selector.state_arrays()
    for bad in (np.array([-1.0, 0.0, 1.0]), np.array([1.0, 0.0, -1.0]), np.zeros(2)):
        with pytest.raises(ValueError, match="target"):
            FIRES(task="regression").load_state_arrays(arrays | {"state.target": bad})


def test_one_number_for_all_rows_scores_zero() -> None:
    X, _ = rows()
    assert not FIRES(task="regression").partial_fit(X, np.full(len(X), 5.0)).scores_.any()


@pytest.mark.parametrize("model", ["ann", "sdt"])
def test_models_for_classes_are_refused_in_words(model: str) -> None:
    with pytest.raises(ParameterError, match=r"tells classes apart.*set model='glm', or use Joint"):
        FIRES(model, task="regression").partial_fit(*rows())
    assert not FIRES(model).stream_tags().regression
    assert FIRES().stream_tags().regression
