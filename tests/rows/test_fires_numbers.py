"""FIRES with numbers as targets: the gradient of the marginal likelihood, the update, and what it finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.naive import fires as naive

from streamsift import FIRES
from streamsift.core.exceptions import ParameterError
from streamsift.rows.fires import ANN, GLM, SDT
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


def test_models_for_classes_are_refused_in_words() -> None:
    with pytest.raises(ParameterError, match=r"The model GLM tells classes apart.*set model='glm', 'ann' or 'sdt'"):
        FIRES(GLM(), task="regression").partial_fit(*rows())
    assert not FIRES(GLM()).stream_tags().regression
    for model in ("glm", "ann", "sdt", ANN(1, 5), SDT(2)):
        assert FIRES(model).stream_tags().regression
        assert FIRES(model, task="regression").partial_fit(*rows()).scores_.shape == (4,)


# -- sparse rows --------------------------------------------------------------------------------------------------


def thin(n: int, seed: int) -> tuple[Any, Any]:
    """Rows most of whose values are 0."""
    X, y = rows(n, seed)
    X = np.where(np.abs(X) > 1.0, X + 0.5, 0.0)
    return X, y + 5.0 * X[:, 1]


@pytest.mark.parametrize("scale", ["standard", "minmax", None])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_give_what_dense_ones_give(scale: str | None, weighted: bool, dtype: Any) -> None:
    dense, sparse = (FIRES(task="regression", scale=scale, learning_rate_sigma=0.2) for _ in range(2))
    for seed in range(8):
        X, y = thin(30, seed)
        X = np.abs(X).astype(dtype) if scale == "minmax" else X.astype(dtype)  # so that both scale alike
        weight = np.random.default_rng(seed).uniform(0.5, 3.0, 30) if weighted else None
        dense.partial_fit(X, y, sample_weight=weight)
        sparse.partial_fit(csr_matrix(X), y, sample_weight=weight)
    rtol = 1e-8 if dtype is np.float64 else 1e-3
    np.testing.assert_allclose(sparse.importance_, dense.importance_, rtol=rtol, atol=rtol * 1e-2)
    np.testing.assert_allclose(sparse.uncertainty_, dense.uncertainty_, rtol=rtol)
    assert sparse.importance_[1] > 0.3


@pytest.mark.parametrize("given", [None, np.array([0.5, -0.25, 0.0, 2.0])])
def test_gradients_of_sparse_rows_are_those_of_the_naive_twin(given: Any) -> None:
    X, y = thin(7, 3)
    z, mu, sigma = (y - y.mean()) / y.std(), np.array([0.3, -0.2, 0.1, 0.0]), np.array([0.5, 1.0, 0.2, 0.9])
    rest = np.zeros(4) if given is None else given
    filled = np.where(X == 0.0, rest, X)
    found = GaussianGLM(4).gradients(mu, sigma, csr_matrix(X), z, np.random.default_rng(0), rest=given)

    def likelihood(at: Any) -> float:
        values = [naive.gaussian_log_likelihood(at[:4], at[4:], x, one) for x, one in zip(filled, z, strict=True)]
        return float(np.mean(values))

    at = np.concatenate([mu, sigma])
    numerical = [(likelihood(at + 1e-6 * e) - likelihood(at - 1e-6 * e)) / 2e-6 for e in np.eye(8)]
    np.testing.assert_allclose(np.concatenate(found), numerical, rtol=2e-4, atol=1e-8)


def test_a_sparse_selector_goes_on_dense_and_saved(tmp_path: Any) -> None:
    from streamsift import load, save

    X, y = thin(90, 0)
    selector = FIRES(task="regression", scale="minmax").partial_fit(csr_matrix(X[:30]), y[:30])
    save(selector, tmp_path / "fires.streamsift")
    loaded = load(tmp_path / "fires.streamsift")
    selector.partial_fit(csr_matrix(X[30:]), y[30:])
    np.testing.assert_array_equal(loaded.partial_fit(X[30:], y[30:]).scores_, selector.scores_)


def test_net_and_tree_refuse_sparse_rows() -> None:
    X, y = thin(30, 0)
    for model in ("ann", "sdt"):
        with pytest.raises(ValueError, match="Sparse data was passed"):
            FIRES(model, task="regression").partial_fit(csr_matrix(X), y)
