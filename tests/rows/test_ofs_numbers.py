"""OFS with numbers as targets: squared loss, row by row as its naive twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.naive import ofs as naive

from streamsift import OFS


def rows(n: int = 60, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 7)) * (rng.random((n, 7)) < 0.6)
    return X, 1e5 + 4.0 * X[:, 3] - 3.0 * X[:, 6] + rng.normal(size=n)


@pytest.mark.parametrize("shape", ["dense", "sparse"])
@pytest.mark.parametrize("settings", [{}, {"step": 1.0, "shrink": 0.9}])
def test_every_row_is_learnt_as_by_the_twin(shape: str, settings: dict[str, float]) -> None:
    X, y = rows()
    expected = naive.ofs_numbers(X.tolist(), y.tolist(), 3, **settings)
    selector = OFS(3, task="regression", **settings)
    for row in range(60):
        part = X[row : row + 1] if shape == "dense" else csr_matrix(X[row : row + 1])
        selector.partial_fit(part, y[row : row + 1])
        np.testing.assert_allclose(selector._state.weights[0], expected[row], rtol=1e-6, atol=1e-9)
    assert np.count_nonzero(selector.scores_) <= 3


def test_weights_are_repetitions() -> None:
    X, y = rows()
    weight = np.arange(60) % 3 + 1
    found = OFS(3, task="regression").partial_fit(X, y, sample_weight=weight)
    wanted = OFS(3, task="regression").partial_fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(found.scores_, wanted.scores_, rtol=1e-9)


def test_it_finds_what_explains_the_number() -> None:
    X, y = rows(3000)
    selector = OFS(2, task="regression").partial_fit(X, y)
    assert set(selector.get_support(indices=True).tolist()) == {3, 6}
    assert not hasattr(selector, "classes_")


def test_long_rows_do_not_overshoot() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 400)) * 50.0
    selector = OFS(5, task="regression").partial_fit(X, X[:, 7] + rng.normal(size=500))
    assert np.isfinite(selector.scores_).all()
    assert selector.scores_.argmax() == 7


def test_equal_numbers_score_zero() -> None:
    X, _ = rows()
    assert not OFS(3, task="regression").partial_fit(X, np.full(60, 2.0)).scores_.any()


@pytest.mark.parametrize("bad", [np.array([-1.0, 0.0, 0.0]), np.array([1.0, 0.0, -2.0]), np.array([1.0, 1e200, 0.0])])
def test_saved_targets_that_cannot_be_are_refused(bad: Any) -> None:
    selector = OFS(3, task="regression").partial_fit(*rows())
    with pytest.raises(ValueError, match="target"):
        OFS(3, task="regression").load_state_arrays(selector.state_arrays() | {"state.target": bad})
