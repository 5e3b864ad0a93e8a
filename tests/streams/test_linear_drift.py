"""generate("linear_drift"): the equations of the paper, the truth that comes with each batch, one seed one stream."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.streams.drain import drain

from streamsift.core.exceptions import ParameterError, UnknownNameError
from streamsift.streams import generate
from streamsift.streams.generators.linear_drift import LinearDrift


@settings(max_examples=25)
@given(size=st.integers(1, 4000), seed=st.integers(0, 5), n_features=st.sampled_from([3, 300, 5000]))
def test_one_seed_one_stream_for_every_batch_size(size: int, seed: int, n_features: int) -> None:
    rows = 1500 if n_features < 5000 else 300
    options = {"n_rows": rows, "seed": seed, "n_features": n_features, "n_relevant": 2}
    X, y = drain(generate("linear_drift", **options), size)
    whole, labels = drain(generate("linear_drift", **options), rows)
    np.testing.assert_array_equal(X, whole)
    assert y == labels


def test_more_rows_prolong_the_stream_and_other_seeds_change_it() -> None:
    short, _ = drain(generate("linear_drift", n_rows=1100, n_features=5, n_relevant=2), 100)
    long, _ = drain(generate("linear_drift", n_rows=3000, n_features=5, n_relevant=2), 100)
    np.testing.assert_array_equal(short, long[:1100])
    other, _ = drain(generate("linear_drift", n_rows=1100, seed=1, n_features=5, n_relevant=2), 100)
    assert not np.isin(short, other).any()
    assert len(np.unique(long)) > 0.99 * long.size  # no block repeats another


def test_the_defaults_are_those_of_the_paper() -> None:
    stream = generate("linear_drift")
    assert (stream.n_rows, len(stream.feature_names), stream.target_name) == (100_000, 1000, "label")
    batch = next(stream.batches(10))
    assert batch.relevant is not None
    assert batch.relevant.tolist() == list(range(100))
    assert batch.X.shape == (10, 1000)
    assert set(np.unique(batch.y)) <= {-1, 1}


def test_features_share_one_normal_part() -> None:
    X, _ = drain(generate("linear_drift", n_rows=40_000, n_features=6, n_relevant=1, common=0.5), 10_000)
    covariance = np.cov(X, rowvar=False)
    # Eq. 21: variance 1 + nu² on the diagonal, nu² elsewhere. The standard error of each is below 0.01.
    np.testing.assert_allclose(covariance, np.full((6, 6), 0.25) + np.eye(6), atol=0.04)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.03)


def test_labels_follow_the_window() -> None:
    """Without the shared part, the label correlates with the features of the window and no others (Eqs. 20 and 22)."""
    n, k = 8, 3
    stream = generate("linear_drift", n_rows=30_000, n_features=n, n_relevant=k, shift_every=5000, common=0.0)
    for number, batch in enumerate(stream.batches(5000)):
        window = [(number + j) % n for j in range(k)]
        assert batch.relevant is not None
        assert batch.relevant.tolist() == sorted(window)
        correlation = np.array([np.corrcoef(batch.X[:, j], batch.y)[0, 1] for j in range(n)])
        # sign(s + e) with s of variance k and e of variance 1: sqrt(2 / pi) / sqrt(k + 1) = 0.4; the error is 0.014.
        expected = np.where(np.isin(np.arange(n), window), np.sqrt(2 / np.pi / (k + 1)), 0.0)
        np.testing.assert_allclose(correlation, expected, atol=0.07)
        assert abs(batch.y.mean()) < 0.07


def test_the_strength_scales_the_signal() -> None:
    def correlation(strength: float) -> float:
        options = {"n_features": 2, "n_relevant": 1, "strength": strength, "common": 0.0, "shift_every": 20_000}
        stream = generate("linear_drift", n_rows=20_000, **options)
        batch = next(stream.batches(20_000))
        return float(np.corrcoef(batch.X[:, 0], batch.y)[0, 1])

    assert abs(correlation(0.0)) < 0.04
    assert correlation(-2.0) < -0.6
    assert correlation(1.0) == pytest.approx(np.sqrt(2 / np.pi / 2), abs=0.03)


@given(size=st.integers(1, 60), shift_every=st.integers(1, 40))
def test_every_shift_belongs_to_one_batch(size: int, shift_every: int) -> None:
    rows, n = 120, 7
    stream = generate("linear_drift", n_rows=rows, n_features=n, n_relevant=2, shift_every=shift_every)
    first = 0
    for batch in stream.batches(size):
        last = first + batch.n_rows - 1
        shifts = [row for row in range(max(first, 1), last + 1) if row % shift_every == 0]
        assert batch.drifting == bool(shifts)
        start = last // shift_every
        assert batch.relevant is not None
        assert batch.relevant.tolist() == sorted({start % n, (start + 1) % n})
        first = last + 1


def test_progress_counts_the_rows_given() -> None:
    stream = generate("linear_drift", n_rows=40, n_features=3, n_relevant=1)
    assert stream.progress() == 0
    seen = [stream.progress() for _ in stream.batches(10)]
    assert seen == [0.25, 0.5, 0.75, 1.0]


def test_rows_of_the_naive_formula() -> None:
    """The same draws, put together one row and one feature at a time."""
    generator = LinearDrift(n_features=5, n_relevant=3, shift_every=2, strength=0.7, common=0.3)
    X, y = generator.rows(np.random.default_rng(3), first=6, n_rows=8)
    rng = np.random.default_rng(3)
    z = rng.standard_normal((8, 1), dtype=np.float32)
    e = rng.standard_normal(8)
    noise = rng.standard_normal((8, 5), dtype=np.float32)
    for i in range(8):
        row = [np.float32(0.3) * z[i, 0] + noise[i, j] for j in range(5)]
        np.testing.assert_array_equal(X[i], row)
        start = (6 + i) // 2
        total = sum(0.7 * float(row[(start + j) % 5]) for j in range(3)) + e[i]
        assert y[i] == (1 if total > 0 else -1)


def test_refusals() -> None:
    with pytest.raises(UnknownNameError, match=r"There is no generator 'linear_drit'. Did you mean 'linear_drift'\?"):
        generate("linear_drit")
    with pytest.raises(UnknownNameError, match=r"There is no option of linear_drift called 'n_feature'. Did you mean"):
        generate("linear_drift", n_feature=5)
    with pytest.raises(ParameterError, match="'shift_every' parameter of linear_drift must be an int"):
        generate("linear_drift", shift_every=0)
    with pytest.raises(ParameterError, match=r"'n_relevant' parameter of linear_drift must be an int .* 10"):
        generate("linear_drift", n_features=10, n_relevant=11)
    with pytest.raises(ParameterError, match="'n_rows' parameter of generate"):
        generate("linear_drift", n_rows=0)
    with pytest.raises(ParameterError, match="'seed' parameter of generate"):
        generate("linear_drift", seed=-1)
