"""friedman_drift: the function, its truth, and who finds it."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift import Joint, ParameterError, Screener
from streamsift.streams import generate, task_of
from streamsift.streams.generators.friedman_drift import FriedmanDrift


def test_the_target_is_friedmans_function_of_the_roles() -> None:
    stream = generate("friedman_drift", n_rows=60, seed=3, n_features=8, shift_every=25, shift_by=3, noise=0.0)
    X = np.vstack([batch.X for batch in stream.batches(7)])
    y = np.concatenate([batch.y for batch in stream.batches(7)])
    for row in range(60):
        first = 3 * (row // 25)
        a, b, c, d, e = (X[row, (first + role) % 8] for role in range(5))
        expected = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
        assert y[row] == pytest.approx(expected, rel=1e-12)
    assert ((X >= 0.0) & (X < 1.0)).all()


def test_truth_and_drifts_go_with_the_batches() -> None:
    stream = generate("friedman_drift", n_rows=300, n_features=12, shift_every=100)
    assert [(batch.relevant.tolist(), batch.drifting) for batch in stream.batches(100)] == [
        ([0, 1, 2, 3, 4], False),
        ([5, 6, 7, 8, 9], True),
        ([0, 1, 2, 10, 11], True),
    ]
    assert [drift.row for drift in stream.drifts] == [100, 200]
    assert stream.segments()[1].relevant == (5, 6, 7, 8, 9)


def test_noise_and_seed() -> None:
    def target(seed: int, noise: float, size: int = 500) -> np.ndarray:
        stream = generate("friedman_drift", n_rows=2000, seed=seed, noise=noise)
        return np.concatenate([batch.y for batch in stream.batches(size)])

    np.testing.assert_array_equal(target(1, 1.0), target(1, 1.0, 37))
    assert not np.array_equal(target(1, 1.0), target(2, 1.0))
    assert np.std(target(1, 2.0) - target(1, 0.0)) == pytest.approx(2.0, rel=0.1)
    assert task_of(target(1, 1.0)).task == "regression"


def test_options_are_checked() -> None:
    for options in ({"n_features": 4}, {"shift_every": 0}, {"shift_by": 0}, {"noise": -1.0}):
        with pytest.raises(ParameterError, match="parameter of friedman_drift"):
            FriedmanDrift(**options)


@pytest.mark.parametrize("method", ["correlation", "forward"])
def test_faded_selectors_follow_the_roles(method: str) -> None:
    settings = {"task": "regression", "n_features_to_select": 4, "fading": 0.99}
    selector = Screener(method, **settings) if method == "correlation" else Joint(method, **settings)
    for batch in generate("friedman_drift", n_rows=6000, seed=0, n_features=20, shift_every=3000).batches(500):
        selector.partial_fit(batch)
        if batch.drifting:
            continue
        found = set(selector.get_support(indices=True).tolist())
        assert len(found & set(batch.relevant.tolist())) >= 3  # the square around the middle has no correlation
