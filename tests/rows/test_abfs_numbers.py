"""ABFS with numbers as targets: the naive twin, river's rule, drift, copies, columns, weights and state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.naive.abfs_numbers import NaiveNumberABFS, bin_width
from tests.naive.drift import NaiveADWIN, NaiveHDDMA, NaiveHDDMW

from streamsift import ABFS, load, save
from streamsift.core.exceptions import InputError, ParameterError
from streamsift.drift import ADWIN
from streamsift.kernels.number_stump import N_BINS
from streamsift.rows.number_stump import NumberCandidate
from streamsift.rows.stump import CONFIDENCE, TIE
from streamsift.streams import generate

TWINS = {"adwin": NaiveADWIN, "hddm_a": NaiveHDDMA, "hddm_w": NaiveHDDMW}
CODED = [False] * 3 + [True] * 2


def drifting(n_rows: int, seed: int = 0) -> tuple[Any, Any]:
    """Three numeric and two categorical columns; the number follows columns 0 and 3, after half the rows 1 and 4."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n_rows, 3)), rng.integers(0, 4, (n_rows, 2))])
    first = np.arange(n_rows) < n_rows // 2
    effect = np.array([0.0, 3.0, -2.0, 1.0])
    code = np.where(first, X[:, 3], X[:, 4]).astype(int)
    return X, 50.0 + 3.0 * np.where(first, X[:, 0], X[:, 1]) + effect[code] + rng.normal(scale=0.5, size=n_rows)


def feed(selector: ABFS, X: Any, y: Any, size: int) -> ABFS:
    for start in range(0, len(X), size):
        selector.partial_fit(X[start : start + size], y[start : start + size])
    return selector


def numbers(*arguments: Any, **parameters: Any) -> ABFS:
    return ABFS(*arguments, task="regression", **parameters)


def assert_equals_twin(selector: ABFS, twin: NaiveNumberABFS, rtol: float = 1e-7) -> None:
    units = selector.units_
    assert [unit.feature for unit in units] == [unit.feature for unit in twin.units]
    for name in ("merit", "correct", "wrong"):
        found, wanted = ([getattr(unit, name) for unit in some] for some in (units, twin.units))
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-9, err_msg=name)
    assert [tuple(drift) for drift in selector.drifts_] == twin.drifts


# -- against the naive twin -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("detector", "grace_period", "hoeffding"),
    [("adwin", 60, False), ("hddm_a", 60, True), ("hddm_w", 80, False), ("adwin", None, False)],
)
def test_equals_the_naive_twin(detector: str, grace_period: int | None, hoeffding: bool) -> None:
    X, y = drifting(700)
    test = "hoeffding" if hoeffding else "threshold"
    period: Any = "auto" if grace_period is None else grace_period
    selector = numbers(period, 0.02, detector=detector, split_test=test, categorical=CODED)
    twin = NaiveNumberABFS(grace_period, 0.02, TWINS[detector], CODED, hoeffding)
    for start in range(0, len(X), 175):
        part = slice(start, start + 175)
        selector.partial_fit(X[part], y[part])
        for x, number in zip(X[part].tolist(), y[part].tolist(), strict=True):
            twin.learn(x, number)
        assert_equals_twin(selector, twin)
    assert selector.units_


def test_weights_of_rows_equal_the_naive_twin() -> None:
    X, y = drifting(500)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 500)
    selector = numbers(60, 0.02, categorical=CODED).partial_fit(X, y, sample_weight=weight)
    twin = NaiveNumberABFS(60, 0.02, NaiveADWIN, CODED)
    for x, number, w in zip(X.tolist(), y.tolist(), weight.tolist(), strict=True):
        twin.learn(x, number, w)
    assert_equals_twin(selector, twin)
    assert selector.units_


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_hard_data_equals_the_naive_twin(data: Any) -> None:
    """Constant columns, ties, huge offsets, denormals, one value far out, a target that never varies."""
    n_rows, seed = data.draw(st.integers(12, 60)), data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    kinds = {
        "constant": lambda: np.full(n_rows, 7.0),
        "ties": lambda: rng.integers(-2, 3, n_rows).astype(float),
        "offset": lambda: 1e9 + rng.normal(size=n_rows),
        "denormal": lambda: rng.integers(0, 3, n_rows) * 5e-324,
        "far": lambda: np.where(np.arange(n_rows) == n_rows // 2, 1e100, rng.normal(size=n_rows)),
        "plain": lambda: rng.normal(size=n_rows),
    }
    columns = [data.draw(st.sampled_from(sorted(kinds))) for _ in range(3)]
    X = np.column_stack([*(kinds[kind]() for kind in columns), rng.integers(0, 3, n_rows)])
    y = data.draw(st.sampled_from([0.0, 1e6])) + data.draw(st.sampled_from([0.0, 1.0, 1e-3])) * (
        X[:, 3] + rng.normal(size=n_rows)
    )
    grace_period, mask = data.draw(st.integers(5, 25)), [False] * 3 + [True]
    selector = numbers(grace_period, 0.0001, categorical=mask).partial_fit(X, y)
    twin = NaiveNumberABFS(grace_period, 0.0001, NaiveADWIN, mask)
    for x, number in zip(X.tolist(), y.tolist(), strict=True):
        twin.learn(x, number)
    assume(twin.narrowest > 1e-7)  # rounding decides between equal splits
    assert_equals_twin(selector, twin, rtol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_bins_do_not_depend_on_the_order_and_cover_all_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=200) * 10.0 ** rng.integers(-3, 4) + rng.choice([0.0, 1e4])
    y, found = rng.normal(size=200), []
    for order in (np.arange(200), np.concatenate([[0], 1 + rng.permutation(199)])):
        state = numbers(10_000).partial_fit(values[order, None], y[order])._state.candidate
        assert state.width[0] == bin_width(values.tolist())
        assert 0 <= state.highest[0] - state.lowest[0] < N_BINS
        found.append(
            (state.lowest[0], state.bin_weight[0].copy(), state.bin_sum[0] + state.target[0] * state.bin_weight[0])
        )
    index = np.floor(values / bin_width(values.tolist())).astype(int)
    counts = np.bincount(index % N_BINS, minlength=N_BINS)
    for lowest, weight, total in found:
        assert lowest == index.min()
        np.testing.assert_array_equal(weight, counts)
        np.testing.assert_allclose(total, found[0][2], rtol=1e-9, atol=1e-40)


# -- the rule of regression trees -----------------------------------------------------------------------------------


def test_the_rule_is_rivers() -> None:
    tree = pytest.importorskip("river.tree", reason="skipped: no river")
    known = tree.HoeffdingTreeRegressor()
    assert (known.delta, known.tau) == (CONFIDENCE, TIE)
    candidate = numbers(10_000).partial_fit(np.zeros((1, 1)), [1.0])._state.candidate
    for n in (50.0, 300.0, 3000.0, 4000.0):
        candidate.weights[:] = n
        bound = known._hoeffding_bound(1.0, known.delta, n)
        for second in (0.0, 0.2, 0.42, 0.449, 0.45):
            wanted = second / 0.45 < 1.0 - bound or bound < known.tau
            assert candidate.is_certain(np.array([second, 0.45]), 1, "") == wanted


def test_hoeffding_waits_until_it_is_certain() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    equal, clear = X[:, 0] + X[:, 1], X[:, 0] + 0.1 * X[:, 1]
    assert numbers(50).partial_fit(X, equal).units_
    assert not numbers(50, split_test="hoeffding").partial_fit(X, equal).units_
    assert numbers(50, split_test="hoeffding").partial_fit(X, clear).units_[0].feature == 0


# -- what it finds --------------------------------------------------------------------------------------------------


def test_a_copy_of_a_selected_feature_has_nothing_left_to_explain() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 4)).astype(float)
    X[:, 3] = X[:, 0]
    y = 3.0 * X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=2000)
    for categorical in (None, "all"):
        selector = numbers(categorical=categorical).partial_fit(X, y)
        assert sorted(unit.feature for unit in selector.units_) == [0, 1]
        assert selector.scores_.argmax() == 0
        assert not selector.drifts_


@pytest.mark.compiled
def test_drift_is_followed() -> None:
    X, y = drifting(4000)
    selector = feed(numbers(categorical=CODED), X[:2000], y[:2000], 500)
    assert set(selector.get_support(indices=True).tolist()) == {0, 3}
    assert not selector.drifts_
    feed(selector, X[2000:], y[2000:], 500)
    assert set(selector.get_support(indices=True).tolist()) == {1, 4}
    assert 2000 < selector.drifts_[0].row < 2200
    follower, hits = numbers(), []
    for batch in generate("friedman_drift", n_rows=4000, n_features=15, shift_every=2000, seed=1).batches(100):
        follower.partial_fit(batch)
        hits.append(len(set(follower.get_support(indices=True).tolist()) & set(batch.relevant.tolist())))
    assert follower.n_drifts_ > 0
    assert hits[19] >= 4
    assert hits[39] >= 4


@pytest.mark.compiled
def test_noise_is_seldom_selected() -> None:
    """At the default settings: of twenty streams of noise few select anything."""
    selected = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        selected += len(numbers().partial_fit(rng.normal(size=(600, 30)), rng.normal(size=600)).units_)
    assert selected <= 5


# -- streams and state ----------------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_batches_do_not_matter() -> None:
    X, y = drifting(2600)
    whole = numbers(100, 0.05, categorical=CODED).partial_fit(X, y)
    assert whole.units_
    assert whole.drifts_
    for size in (1, 37, 700):
        cut = feed(numbers(100, 0.05, categorical=CODED), X, y, size)
        assert cut.units_ == whole.units_
        assert cut.drifts_ == whole.drifts_


@pytest.mark.parametrize(("offset", "factor"), [(0.0, 1e140), (0.0, 1e-100), (1e8, 1.0), (-3e4, 2.0**40)])
def test_the_units_of_the_target_do_not_matter(offset: float, factor: float) -> None:
    X, y = drifting(900)
    found = numbers(100, categorical=CODED).partial_fit(X, y)
    other = numbers(100, categorical=CODED).partial_fit(X, offset + factor * y)
    assert [unit.feature for unit in other.units_] == [unit.feature for unit in found.units_]
    np.testing.assert_allclose(other.scores_, found.scores_, rtol=1e-5)
    assert np.isfinite(other.scores_).all()


def test_late_codes_have_the_mean_of_all_rows() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (300, 2)).astype(float)
    y = np.array([0.0, 5.0, 10.0])[X[:, 0].astype(int)] + 0.1 * rng.normal(size=300)
    selector = numbers(100, categorical="all").partial_fit(X, y)
    assert selector.units_[0].feature == 0
    before = selector.units_[0]
    centre = float(y[:100].mean())
    selector.partial_fit([[9.0, 0.0]], [centre])
    assert selector.units_[0].wrong == pytest.approx(before.wrong, abs=1e-6)
    selector.partial_fit([[9.0, 0.0]], [centre + 50.0])
    assert selector.units_[0].wrong == pytest.approx(before.wrong + 1.0, abs=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("detector", ["adwin", "hddm_a", "hddm_w"])
def test_a_loaded_selector_goes_on_like_the_saved_one(detector: str, tmp_path: Any) -> None:
    X, y = drifting(2000)
    selector = numbers(100, 0.05, detector=detector, categorical=[3, 4]).partial_fit(X[:900], y[:900])
    save(selector, tmp_path / "abfs.streamsift")
    twin = load(tmp_path / "abfs.streamsift")
    for one in (selector, twin):
        one.partial_fit(X[900:], y[900:])
    assert twin.units_ == selector.units_
    assert twin.drifts_ == selector.drifts_ != []


def test_forged_candidates_are_refused() -> None:
    X, y = drifting(50)
    arrays = numbers(1000, categorical=CODED).partial_fit(X, y).state_arrays()
    low = arrays["state.candidate.lowest"]
    target = arrays["state.candidate.target"]
    for key, bad in (
        ("lowest", low - N_BINS),
        ("lowest", low + 0.5),
        ("highest", np.full(3, np.nan)),
        ("width", np.zeros(3)),
        ("target", target * [1, 1, -1]),
        ("bin_weight", np.zeros((3, N_BINS - 1))),
    ):
        with pytest.raises(ValueError, match=key.replace("highest", "highest|lowest")):
            numbers(categorical=CODED).load_state_arrays(arrays | {f"state.candidate.{key}": bad})


class Recorder:
    """Keeps what it is given, and never flags."""

    drift_detected = False

    def __init__(self) -> None:
        self.values: list[float] = []

    def update(self, x: float) -> None:
        self.values.append(x)


def test_detectors_are_given_errors_between_0_and_1() -> None:
    X, y = drifting(600)
    selector = numbers(100, detector=Recorder(), categorical=CODED).partial_fit(X, y)
    values = np.array(selector._state.objects[0].values)
    assert values.min() >= 0.0
    assert values.max() == 1.0  # after the drift
    assert 0.1 < np.median(values[:100]) < 0.5  # the median of |z| / 3 is 0.22 if errors are normal
    peer = numbers(100, detector=ADWIN(), categorical=CODED).partial_fit(X, y)
    assert peer.units_[0].feature == selector.units_[0].feature


def test_what_does_not_fit_is_refused() -> None:
    X, y = drifting(60)
    with pytest.raises(ParameterError, match=r"merit='gini' compares classes.*leave merit out"):
        numbers(merit="gini").partial_fit(X, y)
    selector = numbers(20, categorical=CODED).partial_fit(X, y)
    before = selector.state_arrays()
    bad = y.copy()
    bad[7] = np.inf
    with pytest.raises(InputError, match="Row 7"):
        selector.partial_fit(X, bad)
    after = selector.state_arrays()
    assert all(np.array_equal(after[key], array) for key, array in before.items())
    assert not hasattr(selector, "classes_")
    assert clone(selector).task == "regression"


def test_a_target_that_never_varies_selects_nothing() -> None:
    X, _ = drifting(300)
    selector = numbers(50, 0.0, categorical=CODED).partial_fit(X, np.full(300, 3.0))
    assert selector.units_ == []
    assert math.isfinite(selector.scores_.sum())
    assert isinstance(selector._state.candidate, NumberCandidate)
