"""FIRES with the GLM: the authors' numbers, the paper's properties, streams of every kind, and no NaN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array
from tests.naive.fires import NaiveFires

from streamsift import persist
from streamsift.core.exceptions import InputError, MergeError, ParameterError, SavedStateError
from streamsift.rows.fires import ANN, FIRES, GLM, SDT, ModelTraits

MODELS = ("glm", "ann", "sdt")


def stream(n_rows: int, n_features: int = 6, seed: int = 0) -> tuple[Any, Any]:
    """Features 1 and 3 follow the class."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_rows)
    X = random.normal(size=(n_rows, n_features))
    X[:, 1] += 2.0 * y
    X[:, 3] -= 1.0 * y
    return X, y


def in_batches(selector: FIRES, X: Any, y: Any, size: int = 50) -> FIRES:
    for start in range(0, len(y), size):
        selector.partial_fit(X[start : start + size], y[start : start + size])
    return selector


@pytest.mark.parametrize(
    ("key", "data", "epochs"),
    [("raw_unscaled_ep1", "X_raw", 1), ("raw_unscaled_ep3", "X_raw", 3), ("minmax_unscaled_ep1", "X_minmax", 1)],
)
@pytest.mark.parametrize("labels", ["ypm", "y01"])
def test_the_authors_program(shared: Path, key: str, data: str, epochs: int, labels: str) -> None:
    golden = np.load(shared / "golden" / "fires" / "fires_glm.npz")
    common = np.load(shared / "golden" / "common" / "stream_1000x20.npz")
    X, y = common[data], common[labels]
    selector = FIRES(scale=None, epochs=epochs)
    for batch in range(20):
        rows = slice(50 * batch, 50 * batch + 50)
        selector.partial_fit(X[rows], y[rows])
        np.testing.assert_allclose(selector.scores_, golden[f"{key}_w"][batch], rtol=0, atol=1e-10)
        np.testing.assert_allclose(selector.importance_, golden[f"{key}_mu"][batch], rtol=0, atol=1e-10)
        np.testing.assert_allclose(selector.uncertainty_, golden[f"{key}_sigma"][batch], rtol=0, atol=1e-10)


def test_the_authors_scaled_weights_have_the_same_order(shared: Path) -> None:
    golden = np.load(shared / "golden" / "fires" / "fires_glm.npz")
    common = np.load(shared / "golden" / "common" / "stream_1000x20.npz")
    selector = in_batches(FIRES(scale=None), common["X_raw"], common["y01"])
    weights = golden["raw_scaled_ep1_w"][-1]
    scores = selector.scores_
    np.testing.assert_allclose((scores - scores.min()) / np.ptp(scores), weights, atol=1e-9)


HARD = {
    "normal": lambda r: r.normal(size=(30, 5)),
    "constant": lambda r: np.full((30, 5), 3.5),
    "zeros": lambda r: np.zeros((30, 5)),
    "one row": lambda r: r.normal(size=(1, 5)),
    "seven rows": lambda r: r.normal(size=(7, 5)),
    "offset": lambda r: 1e8 + r.random((30, 5)),
    "ties": lambda r: r.integers(0, 2, (30, 5)).astype(float),
    "tiny": lambda r: 1e-200 * r.random((30, 5)),
    "wide": lambda r: r.random((6, 200)),
}


@pytest.mark.parametrize("scale", ["standard", "minmax", None])
@pytest.mark.parametrize("what", HARD)
def test_naive_twin(what: str, scale: str | None) -> None:
    random = np.random.default_rng(3)
    first, second = HARD[what](random), HARD[what](random)
    naive = NaiveFires(first.shape[1], rate_mu=0.1, rate_sigma=0.1, epochs=2, scale=scale)
    selector = FIRES(scale=scale, learning_rate_mu=0.1, learning_rate_sigma=0.1, epochs=2)
    for X in (first, second):
        y = np.arange(len(X)) % 2
        naive.learn(X, 2 * y - 1)
        selector.partial_fit(X, y, classes=[0, 1])
    # A mean around 1e8 is kept to 1.5e-8 (one unit in the last place) where deviations are about 0.3.
    rtol = 1e-6 if (what, scale) == ("offset", "standard") else 1e-9
    np.testing.assert_allclose(selector.importance_, naive.mu, rtol=rtol, atol=1e-12)
    np.testing.assert_allclose(selector.uncertainty_, naive.sigma, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("scale", ["standard", "minmax", None])
def test_a_range_of_denormals_counts_as_constant(scale: str | None) -> None:
    X = 1e-310 * np.random.default_rng(0).random((30, 5))
    selector = FIRES(scale=scale).partial_fit(X, np.arange(30) % 2)
    np.testing.assert_allclose(selector.importance_, 0.0, atol=1e-300)
    assert selector.uncertainty_.tolist() == [1.0] * 5


def test_sigma_stops_at_its_floor() -> None:
    X, y = stream(200)
    selector = in_batches(FIRES(scale=None, initial_sigma=0.05, learning_rate_mu=0.5, learning_rate_sigma=20.0), X, y)
    assert selector.uncertainty_.min() == 1e-12


# -- properties 1 to 3 of the paper -------------------------------------------------------------------------------


def scores_of(mu: Any, sigma: Any) -> Any:
    selector = FIRES().partial_fit(*stream(20, len(mu)))
    arrays = selector.state_arrays()
    arrays["state.mu"], arrays["state.sigma"] = np.array(mu, float), np.array(sigma, float)
    return selector.load_state_arrays(arrays).scores_


positive = st.floats(1e-3, 1e3)


@given(positive)
def test_property_1_attentive(sigma: float) -> None:
    assert scores_of([0.0] * 4, [sigma] * 4).max() <= 0.0


@given(positive, positive, positive)
def test_property_2_monotonic(mu: float, sigma: float, step: float) -> None:
    scores = scores_of([mu, mu, -mu, -mu - step], [sigma, sigma + step, sigma, sigma])
    assert scores[0] == scores[2] > scores[1]
    assert scores[3] > scores[0]


@pytest.mark.compiled
def test_property_3_consistent() -> None:
    X, y = stream(200)
    selector, rankings = FIRES(learning_rate_mu=1.0, learning_rate_sigma=1.0), []
    for _ in range(600):
        rankings.append(selector.partial_fit(X, y).ranking_.tolist())
    assert rankings[0] != rankings[-1]
    assert all(ranking == rankings[-1] for ranking in rankings[-100:])


# -- never NaN ----------------------------------------------------------------------------------------------------


def all_finite(selector: FIRES) -> bool:
    values = (selector.scores_, selector.importance_, selector.uncertainty_)
    return all(bool(np.isfinite(value).all()) for value in values)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", ["minmax", None])
@pytest.mark.parametrize("model", MODELS)
def test_never_nan(model: str, scale: str | None, dtype: Any) -> None:
    large = 1e300 if dtype is np.float64 else 1e38
    X, y = stream(60)
    huge, zeros, mixed = X.copy(), np.zeros_like(X), X.copy()
    huge[:, 2] = large
    mixed[::2, 0], mixed[1::2, 0] = large, -large
    selector = FIRES(model=model, scale=scale, random_state=0)
    for batch in (X, huge, X, zeros, mixed, X, 1e6 * X, X):
        selector.partial_fit(batch.astype(dtype), y)
        assert all_finite(selector)


@pytest.mark.parametrize("margin", [1e6, -1e6, 1e20, -1e20, 1e150, -1e150])
def test_huge_margins(margin: float) -> None:
    selector = FIRES(scale=None, initial_sigma=1e-9).partial_fit(np.ones((4, 3)), [0, 1, 0, 1])
    arrays = selector.state_arrays()
    arrays["state.mu"] = np.full(3, margin / 3)
    selector.load_state_arrays(arrays).partial_fit(np.ones((4, 3)), [0, 1, 0, 1])
    assert all_finite(selector)
    # One class of two pulls with the full margin, the other no longer; the pull is capped at 1e12, so that of 1e150
    # nothing can be seen.
    pull = np.copysign(min(abs(margin) / 2, 1e12), margin)
    assert selector.importance_.tolist() == pytest.approx([margin / 3 - 0.01 * pull] * 3, rel=1e-13, abs=0)
    assert np.array_equal(selector.importance_, np.full(3, margin / 3)) == (abs(margin) == 1e150)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", MODELS)
def test_many_classes_and_constant_features(model: str, dtype: Any) -> None:
    X, _ = stream(210)
    y = np.random.default_rng(5).permutation(np.arange(210) % 7)
    for value in (0.0, 1.0, -3.5, 1e8, 1e-30):
        X[:, 0] = value
        selector = in_batches(FIRES(model=model, random_state=0), X.astype(dtype), y, 70)
        assert len(selector.classes_) == 7
        assert all_finite(selector)
        assert all_finite(FIRES(model=model, random_state=0).partial_fit(np.full_like(X, value, dtype), y))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("margin", [1e6, -1e6])
@pytest.mark.parametrize("model", ["ann", "sdt"])
def test_huge_margins_in_nets_and_trees(model: str, margin: float, dtype: Any) -> None:
    X, y = np.ones((4, 3), dtype), [0, 1, 0, 1]
    selector = FIRES(model=model, scale=None, random_state=0).partial_fit(X, y)
    arrays = selector.state_arrays()
    signs = np.where(np.arange(arrays["state.mu"].size) % 3 == 0, -1.0, 1.0)
    for mu in (np.full_like(signs, margin), margin * signs):
        arrays["state.mu"] = mu
        selector.load_state_arrays(arrays)
        for _ in range(3):
            assert all_finite(selector.partial_fit(X, y))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", MODELS)
def test_one_class_for_ten_thousand_rows(model: str, dtype: Any) -> None:
    X, y = stream(10_200)
    X = X.astype(dtype)
    y[:10_000] = 0
    selector = in_batches(FIRES(model=model, random_state=0), X[:10_000], y[:10_000], 2000)
    assert not selector.scores_.any()
    selector.partial_fit(X[10_000:], y[10_000:])
    assert selector.scores_.any()
    assert all_finite(selector)


# -- streams ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_weights_are_repetitions_and_zero_is_absence(model: str) -> None:
    X, y = stream(40)
    weight = np.arange(40) % 3
    weighted = FIRES(model=model, random_state=0).partial_fit(X, y, sample_weight=weight)
    repeated = FIRES(model=model, random_state=0).partial_fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-9)
    plain = FIRES(model=model, random_state=0).partial_fit(X, y)
    for size in (7.0, 1e308):  # the sum of the latter would overflow
        even = FIRES(model=model, random_state=0).partial_fit(X, y, sample_weight=np.full(40, size))
        np.testing.assert_allclose(even.scores_, plain.scores_, rtol=1e-12)


@pytest.mark.parametrize("weight", [[1.0], [1.0] * 39 + [-1.0], [1.0] * 39 + [np.nan]])
def test_bad_weights_change_nothing(weight: list[float]) -> None:
    X, y = stream(40)
    selector = FIRES().partial_fit(X, y)
    before = selector.state_arrays()
    with pytest.raises(InputError, match="weight"):
        selector.partial_fit(X, y, sample_weight=weight)
    assert all(np.array_equal(array, before[name]) for name, array in selector.state_arrays().items())


def test_only_weightless_rows_teach_nothing() -> None:
    X, y = stream(40)
    selector = FIRES().partial_fit(X, y, sample_weight=np.zeros(40))
    assert not hasattr(selector, "n_rows_seen_")  # as if they had not come
    assert selector.partial_fit(X, y).scores_.tolist() == FIRES().partial_fit(X, y).scores_.tolist()


@pytest.mark.parametrize("scale", ["standard", "minmax", None])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_are_dense_rows(scale: str | None, dtype: Any) -> None:
    sparse = random_array((120, 40), density=0.2, format="csr", rng=0).astype(dtype)
    y = np.arange(120) % 3
    dense_selector = in_batches(FIRES(scale=scale), sparse.toarray(), y, 40)
    sparse_selector = in_batches(FIRES(scale=scale), sparse, y, 40)
    np.testing.assert_allclose(sparse_selector.scores_, dense_selector.scores_, rtol=1e-9)


def test_a_stream_may_change_between_sparse_and_dense() -> None:
    sparse = random_array((80, 10), density=0.3, format="csr", rng=0)
    y = np.arange(80) % 2
    wanted = in_batches(FIRES(), sparse, y, 40).scores_
    mixed = FIRES().partial_fit(sparse[:40], y[:40]).partial_fit(sparse[40:].toarray(), y[40:])
    np.testing.assert_allclose(mixed.scores_, wanted, rtol=1e-12)
    other = FIRES().partial_fit(sparse[:40].toarray(), y[:40]).partial_fit(sparse[40:], y[40:])
    np.testing.assert_allclose(other.scores_, wanted, rtol=1e-9)


def test_standardised_sparse_rows_are_dense_rows_with_weights_and_late_features() -> None:
    rng = np.random.default_rng(7)
    X = rng.integers(0, 3, (90, 6)) * (rng.random((90, 6)) < 0.4)
    X[:, 0] += 5  # hardly sparse
    X, y, weight = X.astype(float), np.arange(90) % 2, rng.random(90)
    dense, sparse = (FIRES(learning_rate_mu=1.0, new_features="add") for _ in range(2))
    for first, n_features in ((0, 4), (30, 6), (60, 6)):
        rows = slice(first, first + 30)
        known = np.where(np.arange(6) < n_features, X[rows], 0.0)  # absent is 0 in sparse rows
        dense.partial_fit(known, y[rows], sample_weight=weight[rows])
        sparse.partial_fit(csr_matrix(X[rows, :n_features]), y[rows], sample_weight=weight[rows])
    np.testing.assert_allclose(sparse.importance_, dense.importance_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sparse.uncertainty_, dense.uncertainty_, rtol=1e-9)


def test_sparse_margins_beyond_overflow_take_the_long_way() -> None:
    X, y = csr_matrix(np.eye(4)), [0, 1, 0, 1]
    selector = FIRES().partial_fit(X, y)
    arrays = selector.state_arrays()
    arrays["state.mu"] = np.array([1e120, -1e120, 1.0, 2.0])
    sparse = FIRES().load_state_arrays(arrays).partial_fit(X, y)
    arrays["state.sparse"] = np.array(False)
    moments = arrays["state.moments"]  # of the ones; those of dense rows count the zeros too
    arrays["state.moments"] = np.stack([np.full(4, 4.0), moments[1] / 4, np.full(4, 0.75)])
    dense = FIRES().load_state_arrays(arrays).partial_fit(X.toarray(), y)
    assert all_finite(sparse)
    np.testing.assert_allclose(sparse.importance_, dense.importance_, rtol=1e-9)
    assert np.array_equal(sparse.importance_ != arrays["state.mu"], dense.importance_ != arrays["state.mu"])


@pytest.mark.parametrize("model", MODELS)
def test_standardised_features_may_have_any_unit_and_origin(model: str) -> None:
    X, y = stream(300)
    scores = in_batches(FIRES(model=model, random_state=0), X, y, 50).scores_
    moved = in_batches(FIRES(model=model, random_state=0), 3.0 + 1000.0 * X, y, 50).scores_
    np.testing.assert_allclose(moved, scores, rtol=1e-6)
    assert not np.allclose(in_batches(FIRES.paper(model, random_state=0), X, y, 50).scores_, scores, rtol=1e-6)


def test_standardisation_does_not_depend_on_how_its_rows_were_cut() -> None:
    X, y = stream(120)
    state = [in_batches(FIRES(), X, y, size).state_arrays()["state.moments"] for size in (120, 1)]
    np.testing.assert_allclose(state[1], state[0], rtol=1e-12)
    np.testing.assert_allclose(state[0], [np.full(X.shape[1], 120.0), X.mean(axis=0), 120 * X.var(axis=0)], rtol=1e-9)


def test_an_outlier_is_cut_at_five_deviations() -> None:
    X, y = stream(400)
    X[-1, 0] = 1e9
    first = FIRES(learning_rate_mu=1.0).partial_fit(X[:200], y[:200])
    calm = FIRES(learning_rate_mu=1.0).partial_fit(X[:200], y[:200])
    X_calm = X.copy()
    X_calm[-1, 0] = 0.0
    moved = np.abs(
        first.partial_fit(X[200:], y[200:]).importance_ - calm.partial_fit(X_calm[200:], y[200:]).importance_
    )
    assert moved[1:].max() < 0.05


@pytest.mark.parametrize("form", [np.array, csr_matrix])
def test_values_whose_squares_overflow_are_refused_where_variances_are_needed(form: Any) -> None:
    X, y = stream(20)
    selector = FIRES().partial_fit(form(X), y)
    before = selector.state_arrays()
    X[3, 1] = 1e200
    with pytest.raises(InputError, match="overflow"):
        selector.partial_fit(form(X), y)
    assert all(np.array_equal(array, before[name]) for name, array in selector.state_arrays().items())


def test_sparse_rows_of_huge_values_and_of_nothing() -> None:
    X = csr_matrix(np.array([[0.0, 1e300], [2.0, 0.0], [0.0, 0.0], [1e300, -1e300]]))
    for scale in ("minmax", None):
        assert all_finite(FIRES(scale=scale).partial_fit(X, [0, 1, 0, 1]).partial_fit(csr_matrix((4, 2)), [0, 1, 0, 1]))


def test_many_classes_are_the_mean_of_one_against_the_rest() -> None:
    X, _ = stream(120)
    y = np.random.default_rng(5).permutation(np.arange(120) % 4)
    y[:4] = np.arange(4)  # all in the first batch
    whole = in_batches(FIRES(), X, y, 60)
    single = [in_batches(FIRES(), X, np.where(y == c, 1, -1), 60).scores_ for c in range(4)]
    np.testing.assert_allclose(whole.scores_, np.mean(single, axis=0), rtol=1e-9)


def test_a_third_class_may_come_late() -> None:
    X, y = stream(100)
    binary = FIRES().partial_fit(X, y)
    later = FIRES().partial_fit(X, y).partial_fit(X, np.where(y == 0, 2, y))
    assert later.scores_.shape == (6,)
    assert all_finite(later)
    # Growing alone changes nothing for the classes there were: their models are mirror images of each other.
    state, model = binary._state, GLM().bind(6, 3, 5)
    mu, sigma = np.zeros(18), np.ones(18)
    model.carry(state.mu, state.sigma, mu, sigma, 6, 2)
    assert np.array_equal(mu.reshape(3, 6), [-state.mu, state.mu, np.zeros(6)])
    assert np.array_equal(sigma.reshape(3, 6), [state.sigma, state.sigma, np.ones(6)])


@pytest.mark.parametrize("model", MODELS)
def test_late_features_start_anew_and_absent_ones_rest(model: str) -> None:
    import pandas as pd

    X, y = stream(60)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    selector = FIRES(model=model, new_features="add", random_state=0).partial_fit(frame[["a", "b"]], y)
    before = selector.importance_
    selector.partial_fit(frame[["c", "b"]], y)
    assert selector.feature_names_in_.tolist() == ["a", "b", "c"]
    if model == "glm":
        assert selector.importance_[0] == before[0]
    assert all_finite(selector)


def test_importance_has_the_sign_of_the_greater_label() -> None:
    X, y = stream(100)
    for labels in (y, -y, np.array(["a", "b"])[y]):
        importance = FIRES(scale=None).partial_fit(X, labels).importance_
        sign = -1 if labels is not y and labels.dtype.kind == "i" else 1
        assert np.sign(importance[[1, 3]]).tolist() == [sign, -sign]


def test_it_cannot_be_merged() -> None:
    selector = FIRES().partial_fit(*stream(20))
    with pytest.raises(MergeError):
        selector.merge(FIRES().partial_fit(*stream(20)))


# -- random numbers and state -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_save_load_continue_is_bit_equal(model: str, tmp_path: Path) -> None:
    X, y = stream(150)
    y[100:] += np.arange(50) % 2  # a late class, after loading
    writer = in_batches(FIRES(model=model, random_state=4), X[:100], y[:100])
    reader = FIRES(model=model, random_state=4).load_state_arrays(writer.state_arrays())
    for selector in (writer, reader):
        selector.partial_fit(X[100:], y[100:])
    theirs = reader.state_arrays()
    assert all(np.array_equal(array, theirs[name]) for name, array in writer.state_arrays().items())


@pytest.mark.parametrize("model", [ANN(1, 8), SDT(depth=2), GLM()])
def test_a_model_object_is_not_saved_but_its_state_goes_on(model: Any, tmp_path: Path) -> None:
    """A file holds numbers and text only: the error says so, and the arrays go into a selector with an equal model."""
    X, y = stream(60)
    selector = FIRES(model=model, random_state=0).partial_fit(X, y)
    with pytest.raises(SavedStateError, match=r"^The parameter model=.* cannot be saved: .*\.$"):
        persist.save(selector, tmp_path / "selector.streamsift")
    assert not list(tmp_path.iterdir())
    np.savez(tmp_path / "state.npz", **selector.state_arrays())
    with np.load(tmp_path / "state.npz", allow_pickle=False) as arrays:
        twin = FIRES(model=model, random_state=0).load_state_arrays(dict(arrays))
    assert twin.partial_fit(X, y).scores_.tolist() == selector.partial_fit(X, y).scores_.tolist()


def test_seeds() -> None:
    X, y = stream(60)

    def scores(seed: Any) -> Any:
        return FIRES(model="ann", random_state=seed).partial_fit(X, y).scores_.tolist()

    assert scores(1) == scores(1) != scores(2)
    assert scores(np.random.default_rng(3)) == scores(np.random.default_rng(3))
    assert scores(np.random.RandomState(3)) == scores(np.random.RandomState(3))
    assert scores(None) != scores(None)


def test_same_result_after_other_sizes_in_between() -> None:
    """Scratch space of one size must not leak into the next."""
    X, y = stream(90)
    selector = FIRES(model="ann", random_state=0).partial_fit(X[:50], y[:50]).partial_fit(X[50:60], y[50:60])
    twin = FIRES(model="ann", random_state=0).load_state_arrays(selector.state_arrays())
    assert selector.partial_fit(X[60:], y[60:]).scores_.tolist() == twin.partial_fit(X[60:], y[60:]).scores_.tolist()


# -- models of one's own ------------------------------------------------------------------------------------------


class MeanGap:
    """The least a model can be: the gradient is the difference of class means."""

    def n_parameters(self, n_features: int, n_classes: int) -> int:
        return n_features * n_classes

    def gradients(self, mu: Any, sigma: Any, X: Any, y: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        sums = [X[y == c].sum(axis=0) / len(X) for c in range(len(mu) // X.shape[1])]
        return np.concatenate(sums), rng.normal(size=len(sigma)) * 1e-3

    def aggregate(self, mu: Any, sigma: Any) -> tuple[Any, Any]:
        n_features = len(mu) // 2
        return mu[n_features:] - mu[:n_features], sigma[:n_features]


def test_a_model_of_ones_own() -> None:
    X, y = stream(100)
    selector = in_batches(FIRES(model=MeanGap(), n_features_to_select=1, random_state=0), X, y)
    twin = in_batches(FIRES(model=MeanGap(), n_features_to_select=1, random_state=0), X, y)
    assert selector.get_support(indices=True).tolist() == [1]
    assert selector.uncertainty_.tolist() == twin.uncertainty_.tolist()
    with pytest.raises(InputError, match="takes no weights"):
        selector.partial_fit(X, y, sample_weight=np.ones(100))
    with pytest.raises(InputError, match="announce all classes"):
        selector.partial_fit(X, y + 1)
    assert twin.state_arrays().keys() == selector.state_arrays().keys()
    with pytest.raises(InputError, match="NaN"):
        selector.partial_fit(np.full((2, 6), np.nan), [0, 1])


class GrowingMeanGap(MeanGap):
    """The same with sizes, one logit per class more where a class arrives late."""

    traits = ModelTraits(grows=True)

    def bind(self, n_features: int, n_classes: int, n_samples: int) -> GrowingMeanGap:
        bound = GrowingMeanGap()
        bound.sizes = (n_features, n_classes)
        return bound

    def start(self, rng: np.random.Generator) -> Any:
        return np.zeros(self.n_parameters(*self.sizes))

    def carry(self, mu: Any, sigma: Any, into_mu: Any, into_sigma: Any, n_features: int, n_classes: int) -> None:
        into_mu[: len(mu)], into_sigma[: len(sigma)] = mu, sigma


def test_a_model_of_ones_own_declares_that_it_grows() -> None:
    X, y = stream(100)
    selector = in_batches(FIRES(model=GrowingMeanGap(), n_features_to_select=1, random_state=0), X, y)
    assert selector.get_support(indices=True).tolist() == [1]
    assert len(selector.partial_fit(X, y + 1)._state.mu) == 3 * X.shape[1]


@pytest.mark.parametrize("method", ["bind", "start", "carry", "of_features"])
def test_a_model_that_lacks_what_it_declares_is_refused_by_name(method: str) -> None:
    X, y = stream(20)
    names = {"bind", "start", "carry", "of_features"} - {method}
    kind = type("Odd", (MeanGap,), {name: lambda self, *_: self for name in names})
    kind.traits = ModelTraits(grows=True, scales=True)  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match=f"The model Odd declares ModelTraits but has no method {method}:"):
        FIRES(model=kind()).partial_fit(X, y)


def test_traits_must_be_model_traits() -> None:
    X, y = stream(20)
    model = MeanGap()
    model.traits = {"grows": True}  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match=r"'traits' of the model MeanGap is \{'grows': True\}: make it"):
        FIRES(model=model).partial_fit(X, y)


def test_announced_classes_size_a_model_that_cannot_grow() -> None:
    X, y = stream(50)
    selector = FIRES(model=MeanGap(), random_state=0).partial_fit(X, np.zeros(50, int), classes=[0, 1])
    assert not selector.scores_.any()
    assert selector.partial_fit(X, y).scores_.any()
