"""EFS against its naive twin, the reference values and the contract."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.naive.efs import decided_by_rounding
from tests.naive.efs import efs as naive_efs

from streamsift.core.exceptions import ParameterError
from streamsift.kernels.winnow import RANGE, look_interval
from streamsift.rows.efs import EFS


def weights(selector: EFS) -> tuple[np.ndarray, np.ndarray]:
    """The weights of the first model."""
    state = selector.state_arrays()
    return tuple(
        np.ldexp(np.abs(state[f"state.{name}"][0]), -RANGE * state[f"state.{name}_halvings"][0]) for name in ("u", "v")
    )


def logs(selector: EFS) -> tuple[np.ndarray, np.ndarray]:
    state = selector.state_arrays()
    with np.errstate(divide="ignore"):
        return tuple(
            np.log(np.abs(state[f"state.{name}"][0])) - np.log(2) * RANGE * state[f"state.{name}_halvings"][0]
            for name in ("u", "v")
        )


@pytest.mark.parametrize("form", ["raw", "minmax"])
def test_reference_values_row_by_row(shared: Path, form: str) -> None:
    """Every single update agrees with the reference; only the row's least value is left alone here, as in the paper."""
    stream, wanted = np.load(shared / "golden/common/stream_1000x20.npz"), np.load(shared / "golden/efs/efs.npz")
    X, y = stream[f"X_{form}"], stream["y01"]
    selector = EFS(5, least_factor=0.0).partial_fit(X[:2], y[:2], classes=[0, 1])
    for row in range(1, 60):
        state = selector.state_arrays()
        for name in ("u", "v"):
            # Where 1 - x is 0 the reference may have -2e-16, and so a weight below 0.
            state[f"state.{name}"] = np.abs(wanted[f"{form}_perrow_{name}"][None, row - 1])
            state[f"state.{name}_halvings"][:] = 0
        selector.load_state_arrays(state).partial_fit(X[row : row + 1], y[row : row + 1])
        others = X[row] > X[row].min()
        for name, found in zip(("u", "v"), weights(selector), strict=True):
            right = wanted[f"{form}_perrow_{name}"][row]
            # The reference scales the largest value to 1 only up to rounding, so 1 - x is 2e-16 there instead of 0.
            np.testing.assert_allclose(found[others], right[others], rtol=1e-12, atol=1e-14)
            least = np.abs(wanted[f"{form}_perrow_{name}"][row - 1][~others])
            np.testing.assert_array_equal(found[~others], least)


@pytest.mark.parametrize("form", ["raw", "minmax"])
def test_twin_with_the_published_update_gives_the_reference_values(shared: Path, form: str) -> None:
    stream, wanted = np.load(shared / "golden/common/stream_1000x20.npz"), np.load(shared / "golden/efs/efs.npz")
    history = naive_efs(
        stream[f"X_{form}"][:60].tolist(), stream["ypm"][:60].tolist(), least_factor=0.0, also_zeros=True
    )
    for row, (log_u, log_v) in enumerate(history):
        np.testing.assert_allclose(np.exp(log_u), wanted[f"{form}_perrow_u"][row], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(np.exp(log_v), wanted[f"{form}_perrow_v"][row], rtol=1e-9, atol=1e-9)


HARD = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "counts": lambda rng, n, d: rng.poisson(0.4, (n, d)).astype(float),
    "constant": lambda rng, n, d: np.full((n, d), 2.0),
    "zero": lambda rng, n, d: np.zeros((n, d)),
    "denormal": lambda rng, n, d: rng.integers(0, 4, (n, d)) * 5e-324,
    "one huge": lambda rng, n, d: np.where(np.arange(d) == 0, 1e150, rng.random((n, d))),
    "both ends": lambda rng, n, d: rng.choice([-1.7e308, 0.0, 1.7e308], (n, d)),
}


@given(
    st.sampled_from(sorted(HARD)),
    st.integers(2, 80),
    st.integers(1, 10),
    st.sampled_from([0.0, 0.01, 0.5]),
    st.integers(0, 999),
)
def test_equals_naive_twin(kind: str, n_rows: int, n_features: int, least: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = HARD[kind](rng, n_rows, n_features), rng.integers(0, 2, n_rows)
    y[:2] = 0, 1
    assume(not decided_by_rounding(X.tolist(), (2 * y - 1).tolist(), least))
    wanted = naive_efs(X.tolist(), (2 * y - 1).tolist(), least)[-1]
    dense = EFS(least_factor=least).partial_fit(X, y, classes=[0, 1])
    sparse = EFS(least_factor=least).partial_fit(csr_matrix(X), y, classes=[0, 1])
    for found, other, right in zip(logs(dense), logs(sparse), wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(other, found)
    difference = np.abs(np.exp(wanted[0]) - np.exp(wanted[1]))
    np.testing.assert_allclose(dense.scores_, difference, rtol=1e-6, atol=1e-12)


@given(st.integers(2, 40), st.integers(1, 8), st.sampled_from([0.0, 0.01, 0.5]), st.integers(0, 999))
def test_weights_of_rows_equal_the_naive_twin_and_whole_ones_are_repetitions(
    n_rows: int, n_features: int, least: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.random((n_rows, n_features)), rng.integers(0, 2, n_rows)
    y[:2] = 0, 1
    weight = rng.choice([0.25, 0.5, 1.0, 2.5, 3.0], n_rows)
    stream = (X.tolist(), (2 * y - 1).tolist(), least)
    assume(not decided_by_rounding(*stream, given=weight.tolist()))
    wanted = naive_efs(*stream, given=weight.tolist())[-1]
    whole = np.ceil(weight).astype(int)
    for rows in (X, csr_matrix(X)):
        found = EFS(least_factor=least).partial_fit(rows, y, classes=[0, 1], sample_weight=weight)
        for one, right in zip(logs(found), wanted, strict=True):
            np.testing.assert_allclose(one, right, rtol=1e-9, atol=1e-9)
        found = EFS(least_factor=least).partial_fit(rows, y, classes=[0, 1], sample_weight=whole)
        again = EFS(least_factor=least).partial_fit(np.repeat(X, whole, axis=0), np.repeat(y, whole), classes=[0, 1])
        for one, other in zip(logs(found), logs(again), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("least", [0.0, 1e-60])
def test_weights_stay_in_range_however_heavy_rows_follow_each_other(least: float) -> None:
    """Batches of heavy rows and of others in turn: weights are brought into range often enough all the same."""
    rng = np.random.default_rng(1)
    X, y = rng.random((64, 3)), np.arange(64) % 2
    settings = {"least_factor": least, "demotion": 1e-3, "margin": 1e300}
    mixed, plain = EFS(**settings), EFS(**settings)
    for start in range(0, 64, 4):
        part = slice(start, start + 4)
        times = np.full(4, 16) if start % 8 else np.ones(4, int)
        mixed.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=times if start % 8 else None)
        plain.partial_fit(np.repeat(X[part], times, axis=0), np.repeat(y[part], times), classes=[0, 1])
    for found, wanted in zip(logs(mixed), logs(plain), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_weights_neither_underflow_nor_lose_their_order() -> None:
    """On noise all weights shrink without end; as plain floats they would all be 0 after a few thousand rows."""
    rng = np.random.default_rng(3)
    X, y = rng.random((4000, 12)), rng.integers(0, 2, 4000)
    selector = EFS(3).partial_fit(X, y, classes=[0, 1])
    log_u, log_v = logs(selector)
    assert max(log_u.max(), log_v.max()) < np.log(5e-324)
    assert np.isfinite(log_u).all()
    assert np.isfinite(log_v).all()
    assert int(np.argmax(selector.scores_)) == int(np.argmax(np.maximum(log_u, log_v)))
    assert selector.scores_.max() > 0.0
    np.testing.assert_allclose((log_u, log_v), naive_efs(X.tolist(), (2 * y - 1).tolist())[-1], rtol=1e-9)


def test_weights_are_kept_in_range_where_the_rows_of_a_look_teach_nothing() -> None:
    settings = {"promotion": 1.01, "demotion": 0.01, "threshold": 1.0, "margin": 0.5}
    X = np.hstack([np.full((300, 1), 0.01), np.eye(300)])  # the first weight shrinks by 2**-6.7 with every row
    X[:: look_interval(1.01, 0.01, 0.01)] = 0.0
    y = np.zeros(300, int)
    dense, sparse = (EFS(**settings).partial_fit(rows, y, classes=[0, 1]) for rows in (X, csr_matrix(X)))
    wanted = naive_efs(X.tolist(), (2 * y - 1).tolist(), **settings)[-1]
    for found, other, right in zip(logs(dense), logs(sparse), wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(other, right, rtol=1e-9, atol=1e-9)


def test_no_nan_from_hard_streams(scale: float) -> None:
    rng = np.random.default_rng(1)
    n = max(int(10_000 * scale), 100)
    selector = EFS(5).partial_fit(rng.random((n, 8)), np.zeros(n, int))
    assert not selector.scores_.any()
    X = rng.normal(size=(200, 8))
    X[:50] *= 1e6
    X[50:100, 3] = 1e150
    X[100:150] = 0.0
    X[150:, 2], X[160:, 3] = 1.7e308, -1.7e308
    for start in range(0, 200, 50):
        selector.partial_fit(X[start : start + 50], rng.integers(0, 3, 50))
        assert np.isfinite(selector.scores_).all()


def test_weights_stop_growing() -> None:
    X = np.tile([1e-300, 0.0, 1.0], (3000, 1))
    X[::2] = [1e-300, 0.0, 0.0]
    selector = EFS(1, promotion=1e6).partial_fit(X, np.arange(3000) % 2)
    assert np.isfinite(selector.scores_).all()


def test_third_class_mirrors_the_first_model() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 4)), rng.permutation(np.arange(60) % 2)
    selector = EFS(2).partial_fit(X, y, classes=[0, 1])
    u, v = weights(selector)
    selector.partial_fit(np.zeros((1, 4)), [2])  # a row without values changes no weight
    state = selector.state_arrays()
    np.testing.assert_array_equal(state["state.u"], [u, v, np.full(4, 2.0)])
    np.testing.assert_array_equal(state["state.v"], [v, u, np.full(4, 1.0)])
    np.testing.assert_allclose(selector.scores_, (2 * np.abs(u - v) + 1) / 3)


def test_rows_of_extreme_spread_with_absent_features() -> None:
    """The scale of a row means nothing, also where a feature is absent."""
    rng = np.random.default_rng(3)
    X, y = rng.random((40, 5)), np.arange(40) % 2
    wanted, found = (
        EFS(new_features="add").partial_fit(X, y).partial_fit(X[:, :4] * scale, y).scores_ for scale in (1.0, 2.0**900)
    )
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("least", [1e-60, 1e-48, 1e-30])
def test_a_tiny_least_factor_lets_no_weight_die(least: float, sparse: bool) -> None:
    X = np.array([[1.0, 0.0, 0.5]] * 12)
    rows = csr_matrix(X) if sparse else X
    selector = EFS(2, least_factor=least, margin=1e300).partial_fit(rows, [0, 1] * 3 + [0] * 6)
    arrays = selector.state_arrays()
    for name in ("u", "v"):
        assert arrays[f"state.{name}"].all()
    # u of the first column was multiplied by 0.5 * least nine times and by 3 thrice.
    log = np.log2(np.abs(arrays["state.u"][0, 0])) - 512.0 * arrays["state.u_halvings"][0, 0]
    assert log == pytest.approx(1.0 + 9 * np.log2(0.5 * least) + 3 * np.log2(3.0), abs=1e-6)


def test_a_least_factor_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(ParameterError, match="least_factor"):
        EFS(least_factor=1e-70).partial_fit([[0.0, 1.0]], [0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_too_small_for_a_float_keep_their_order(n_classes: int) -> None:
    random = np.random.default_rng(0)
    shape = (1 if n_classes == 2 else 3, 40)
    y = np.arange(60) % n_classes
    arrays = EFS(3).partial_fit(random.random((60, 40)), y).state_arrays()
    arrays["state.u"] = random.uniform(0.5, 2.0, shape)
    arrays["state.v"] = random.uniform(0.5, 2.0, shape)
    for name in ("u", "v"):
        halvings = random.integers(0, 60, shape)
        halvings[:, 5] = 1000  # a feature that is as good as dead
        arrays[f"state.{name}_halvings"] = halvings
        arrays[f"state.{name}"][halvings > 0] *= -1.0
    arrays["state.u"][:, 7], arrays["state.v"][:, 7] = 0.0, 0.0
    scores = EFS(3).load_state_arrays(arrays).scores_

    def exact(name: str, model: int, feature: int) -> Fraction:
        halvings = int(arrays[f"state.{name}_halvings"][model, feature])
        return abs(Fraction(float(arrays[f"state.{name}"][model, feature]))) / Fraction(2) ** (RANGE * halvings)

    wanted = [sum(abs(exact("u", m, j) - exact("v", m, j)) for m in range(shape[0])) for j in range(40)]
    assert np.count_nonzero(scores < 1e-300) > 20
    assert np.argsort(scores, kind="stable").tolist() == sorted(range(40), key=lambda j: wanted[j])
    assert scores[7] == 0.0
    assert scores[5] > 0.0


@pytest.mark.compiled
def test_long_streams_are_not_ranked_by_place() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 5000)
    X = (random.random((5000, 12)) < 0.5).astype(np.float64)
    X[:, 3] = np.where(random.random(5000) < 0.9, y, X[:, 3])
    scores = EFS(3).partial_fit(X, y).scores_
    assert len(set(scores.tolist())) == 12
    assert (scores > 0.0).all()


@pytest.mark.compiled
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("least", "demotion"), [(1e-3, 0.5), (1e-4, 0.5), (1e-60, 0.5), (0.01, 0.1), (1.0, 1e-6)])
def test_weights_live_through_long_streams(least: float, demotion: float, sparse: bool) -> None:
    X, y = np.tile([1.0, 0.5, 0.0], (1500, 1)), np.ones(1500, int)
    y[0] = 0
    selector = EFS(1, least_factor=least, demotion=demotion, margin=1e300)
    state = selector.partial_fit(csr_matrix(X) if sparse else X, y, classes=[0, 1])._state
    assert state.v.all()
    log = np.log2(np.abs(state.v[0, 0])) - float(RANGE) * state.v_halvings[0, 0]
    assert log == pytest.approx(np.log2(3.0) + 1499 * np.log2(demotion * least), rel=1e-9)


def test_dead_weights_do_not_hide_small_ones() -> None:
    arrays = EFS(1).partial_fit([[0.0, 1.0, 0.5]] * 2, [0, 1]).state_arrays()
    arrays["state.u"], arrays["state.v"] = np.array([[0.0, 0.0, 0.0]]), np.array([[-1.0, -1.5, 0.0]])
    arrays["state.u_halvings"], arrays["state.v_halvings"] = np.array([[0, 0, 0]]), np.array([[9, 9, 9]])
    scores = EFS(1).load_state_arrays(arrays).scores_
    assert scores[1] > scores[0] > scores[2] == 0.0
