"""ABFS: the authors' program's events, the naive twin, and what the method promises about drift, columns and state."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.naive.abfs import NaiveABFS, entropy, gini
from tests.naive.drift import NaiveADWIN, NaiveHDDMA, NaiveHDDMW

from streamsift.core.batch import Batch
from streamsift.core.exceptions import (
    EmptySelectionWarning,
    InputError,
    MergeError,
    ParameterError,
    SavedStateError,
    UnknownNameError,
)
from streamsift.drift import ADWIN, HDDM_A
from streamsift.rows.abfs import ABFS
from streamsift.rows.stump import LARGEST_CODE

GOLDEN = [
    "bg_gp200_th0.01_ADWIN",
    "bg_gp200_th0.01_HDDMA",
    "bg_gp200_th0.05_ADWIN",
    "bg_gp500_th0.01_ADWIN",
    "num_gp200_th0.01_ADWIN",
    "num_gp200_th0.05_ADWIN",
    "num_gp500_th0.05_ADWIN",
]
TWINS = {"adwin": NaiveADWIN, "hddm_a": NaiveHDDMA, "hddm_w": NaiveHDDMW}


def feed(selector: ABFS, X: Any, y: Any, size: int = 1000) -> ABFS:
    for start in range(0, len(X), size):
        selector.partial_fit(X[start : start + size], y[start : start + size])
    return selector


def drifting(n_rows: int, seed: int = 0, n_classes: int = 2) -> tuple[Any, Any]:
    """Three numeric and three categorical columns; the class follows columns 0 and 3, after half the rows 1 and 4."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n_rows, 3)), rng.integers(0, 4, (n_rows, 3))])
    numeric = np.where(np.arange(n_rows) < n_rows // 2, X[:, 0], X[:, 1])
    category = np.where(np.arange(n_rows) < n_rows // 2, X[:, 3], X[:, 4])
    y = (numeric + category * 0.8 + rng.normal(scale=0.3, size=n_rows)) // 1.3
    return X, np.clip(y, 0, n_classes - 1).astype(int)


def assert_equals_twin(selector: ABFS, twin: NaiveABFS) -> None:
    units = selector.units_
    assert [unit.feature for unit in units] == [unit.feature for unit in twin.units]
    np.testing.assert_allclose([unit.merit for unit in units], [unit.merit for unit in twin.units], rtol=1e-9)
    np.testing.assert_allclose([unit.correct for unit in units], [unit.correct for unit in twin.units], rtol=1e-9)
    np.testing.assert_allclose([unit.wrong for unit in units], [unit.wrong for unit in twin.units], rtol=1e-9)
    assert [tuple(drift) for drift in selector.drifts_] == twin.drifts


# -- against the authors' program ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOLDEN)
def test_events_equal_the_authors_program(name: str, shared: Path) -> None:
    folder = shared / "golden" / "abfs"
    kind, grace_period, threshold, detector = name.split("_")
    wanted = json.loads((folder / f"{name}_repo.json").read_text())
    with np.load(folder / f"{kind}_stream.npz") as stream:
        X, y = stream["X"].astype(np.float64), stream["y"]
    selector = ABFS(
        grace_period=int(grace_period[2:]),
        threshold=float(threshold[2:]),
        detector={"ADWIN": "adwin", "HDDMA": "hddm_a"}[detector],
        categorical="all" if kind == "bg" else None,
    )
    events = {event["t"]: event for event in wanted["events"]}
    trajectory = {point["t"]: point for point in wanted["trajectory"]}
    stops = sorted({len(X), *events, *(t - 1 for t in events), *trajectory} - {0})
    current: dict[str, Any] = {"units": [], "merits": []}
    before = 0
    for t in stops:
        selector.partial_fit(X[before:t], y[before:t], classes=[0, 1])
        before, current = t, events.get(t, current)
        units = selector.units_
        assert [unit.feature for unit in units] == current["units"], f"after {t} rows"
        np.testing.assert_allclose([unit.merit for unit in units], current["merits"], rtol=0, atol=1e-14)
        if t in trajectory:
            counters = [[unit.feature, unit.correct, unit.wrong] for unit in units]
            np.testing.assert_allclose(counters, trajectory[t]["cw"], rtol=1e-12)
    shrank = [
        (after["t"] - 1, len(after["units"]), tuple(first["units"][len(after["units"]) :]))
        for first, after in zip(wanted["events"], wanted["events"][1:], strict=False)
        if len(after["units"]) < len(first["units"])
    ]
    assert [tuple(drift) for drift in selector.drifts_] == shrank
    assert selector.n_drifts_ == len(shrank)


# -- against the naive twin -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("detector", "merit", "n_classes"),
    [("adwin", "info_gain", 2), ("adwin", "gini", 4), ("hddm_a", "info_gain", 3), ("hddm_w", "gini", 2)],
)
def test_equals_the_naive_twin(detector: str, merit: str, n_classes: int) -> None:
    X, y = drifting(1400, n_classes=n_classes)
    mask = [False] * 3 + [True] * 3
    selector = ABFS(60, 0.02, detector=detector, merit=merit, categorical=mask)
    twin = NaiveABFS(60, 0.02, TWINS[detector], mask, entropy if merit == "info_gain" else gini)
    for start in range(0, len(X), 350):
        part = slice(start, start + 350)
        selector.partial_fit(X[part], y[part], classes=list(range(n_classes)))
        for x, label in zip(X[part].tolist(), y[part].tolist(), strict=True):
            twin.learn(x, label)
        assert_equals_twin(selector, twin)
    assert selector.units_
    assert selector.drifts_


@pytest.mark.parametrize("merit", ["info_gain", "gini"])
def test_weights_of_rows_equal_the_naive_twin(merit: str) -> None:
    X, y = drifting(1400)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 1400)
    mask = [False] * 3 + [True] * 3
    selector = ABFS(60, 0.02, merit=merit, categorical=mask)
    twin = NaiveABFS(60, 0.02, TWINS["adwin"], mask, entropy if merit == "info_gain" else gini)
    for start in range(0, len(X), 350):
        part = slice(start, start + 350)
        selector.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=weight[part])
        for x, label, w in zip(X[part].tolist(), y[part].tolist(), weight[part].tolist(), strict=True):
            twin.learn(x, label, w)
        assert_equals_twin(selector, twin)
    assert selector.units_


def test_before_the_first_unit_a_whole_weight_is_as_many_rows() -> None:
    X, y = drifting(200)
    times = np.random.default_rng(2).integers(1, 5, 200)
    weighted = ABFS(10_000).partial_fit(X, y, sample_weight=times).state_arrays()
    repeated = ABFS(10_000).partial_fit(np.repeat(X, times, axis=0), np.repeat(y, times)).state_arrays()
    for key in ("class_weight", "mean", "m2", "low", "high", "counts"):
        key = f"state.candidate.{key}"
        np.testing.assert_allclose(weighted[key], repeated[key], rtol=1e-9)


def test_weights_that_would_overflow_are_refused() -> None:
    X, y = drifting(50)
    with pytest.raises(InputError, match="divide the weights"):
        ABFS().partial_fit(X * 1e149, y, sample_weight=np.full(50, 1e6))
    with pytest.raises(InputError, match="Row 0 has the weight 1e"):
        ABFS().partial_fit(X, y, sample_weight=np.full(50, 1e7))


@pytest.mark.parametrize("merit", ["info_gain", "gini"])
def test_equals_the_naive_twin_with_a_grace_period_that_grows(merit: str) -> None:
    X, y = drifting(1400)
    mask = [False] * 3 + [True] * 3
    selector = ABFS(threshold=0.02, merit=merit, categorical=mask)
    twin = NaiveABFS(None, 0.02, NaiveADWIN, mask, entropy if merit == "info_gain" else gini)
    for start in range(0, len(X), 130):
        part = slice(start, start + 130)
        selector.partial_fit(X[part], y[part])
        for x, label in zip(X[part].tolist(), y[part].tolist(), strict=True):
            twin.learn(x, label)
        assert_equals_twin(selector, twin)
        selector = clone(selector).load_state_arrays(selector.state_arrays())
    assert selector.drifts_
    first, last = selector.units_[0], selector.units_[-1]
    assert last.row > first.row
    assert not ABFS.paper(categorical=mask).partial_fit(X[:400], y[:400]).units_
    assert ABFS(categorical=mask).partial_fit(X[:171], y[:171]).units_


def test_noise_is_seldom_selected_by_default() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 40)), rng.integers(0, 2, 1000)
    assert len(ABFS(50).partial_fit(X, y).units_) > 10
    assert len(ABFS().partial_fit(X, y).units_) <= 2


@pytest.mark.parametrize("merit", ["info_gain", "gini"])
def test_equals_the_naive_twin_with_the_hoeffding_test(merit: str) -> None:
    X, _ = drifting(1600)
    rng = np.random.default_rng(9)
    y = np.where(np.arange(1600) < 800, X[:, 3], X[:, 4] + rng.integers(0, 2, 1600)).astype(int) // 2
    mask = [False] * 3 + [True] * 3
    selector = ABFS(100, 0.02, detector="hddm_a", merit=merit, split_test="hoeffding", categorical=mask)
    twin = NaiveABFS(100, 0.02, NaiveHDDMA, mask, entropy if merit == "info_gain" else gini, hoeffding=True)
    selected = set()
    for start in range(0, len(X), 200):
        part = slice(start, start + 200)
        selector.partial_fit(X[part], y[part], classes=[0, 1, 2])
        for x, label in zip(X[part].tolist(), y[part].tolist(), strict=True):
            twin.learn(x, label)
        assert_equals_twin(selector, twin)
        selected |= {(unit.feature, unit.row % 100) for unit in selector.units_}
    assert len(selected) >= 2


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_equals_the_naive_twin_on_hard_columns(offset: float) -> None:
    rng = np.random.default_rng(4)
    n = 500
    noise = rng.normal(size=n)
    tied, denormal = rng.integers(0, 3, n) + offset, rng.normal(size=n) * 1e-310
    X = np.column_stack([np.full(n, 3.5), noise + offset, noise + offset, tied, denormal, np.zeros(n), tied - offset])
    y = (noise > 0.3).astype(int) + (rng.random(n) < 0.3) * (tied - offset == 2)
    mask = [False] * 5 + [True] * 2
    selector = ABFS(40, 0.0001, categorical=mask).partial_fit(X, y, classes=[0, 1, 2])
    twin = NaiveABFS(40, 0.0001, NaiveADWIN, mask)
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        twin.learn(x, label)
    units = selector.units_
    assert [unit.feature for unit in units] == [unit.feature for unit in twin.units]
    assert units[0].feature == 1  # of two equal columns the first one
    # Where the offset leaves eight digits, so does each variance.
    np.testing.assert_allclose([u.merit for u in units], [u.merit for u in twin.units], rtol=1e-6 if offset else 1e-9)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 4), st.integers(5, 40), st.booleans())
def test_equals_the_naive_twin_on_small_random_streams(
    seed: int, n: int, n_classes: int, grace_period: int, whole: bool
) -> None:
    rng = np.random.default_rng(seed)
    noise = np.zeros((2, n)) if whole else np.array([rng.normal(size=n), rng.random(n) * 0.1])
    X = np.column_stack([rng.integers(0, 3, n), rng.integers(0, 5, n) + noise[0], rng.integers(0, 9, n) + noise[1]])
    y = rng.integers(0, n_classes, n)
    mask = [True, False, False]
    selector = ABFS(grace_period, 0.0001, categorical=mask).partial_fit(X, y, classes=list(range(n_classes)))
    twin = NaiveABFS(grace_period, 0.0001, NaiveADWIN, mask)
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        twin.learn(x, label)
    assume(twin.narrowest > 1e-12)  # rounding decides between equal splits
    assert_equals_twin(selector, twin)


# -- streams --------------------------------------------------------------------------------------------------------


def test_batches_do_not_matter() -> None:
    X, y = drifting(2600, n_classes=3)
    whole = ABFS(100, 0.05, categorical=[3, 4, 5]).partial_fit(X, y)
    assert whole.units_
    assert whole.drifts_
    for size in (1, 37, 700):
        cut = feed(ABFS(100, 0.05, categorical=[3, 4, 5]), X, y, size)
        assert cut.units_ == whole.units_
        assert cut.drifts_ == whole.drifts_


def test_float32_and_float64_select_alike() -> None:
    X, y = drifting(1500)
    small = X.astype(np.float32)
    first = ABFS(100, categorical=[3, 4, 5]).partial_fit(small, y)
    second = ABFS(100, categorical=[3, 4, 5]).partial_fit(small.astype(np.float64), y)
    assert first.units_ == second.units_


def test_drift_drops_the_unit_that_flags_and_all_behind_it() -> None:
    X, y = drifting(3000)
    selector = ABFS(100, 0.05, categorical=[3, 4, 5])
    known: dict[int, list[int]] = {}
    for row in range(len(X)):
        known[row] = [unit.feature for unit in selector.units_] if row else []
        selector.partial_fit(X[row : row + 1], y[row : row + 1])
        if len(selector.drifts_) and selector.drifts_[-1].row == row:
            drift = selector.drifts_[-1]
            assert drift.features == tuple(known[row][drift.unit :])
            assert [unit.feature for unit in selector.units_] == known[row][: drift.unit]
            assert not selector._state.candidate.class_weight.any()  # that row trains nothing behind the flag
    assert selector.n_drifts_ > 0
    assert {1, 4} <= set(selector.get_support(indices=True).tolist())


def test_unknown_values_are_errors() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 1)).astype(float)
    selector = ABFS(100, categorical="all").partial_fit(X, X[:, 0].astype(int))
    before = selector.units_[0]
    selector.partial_fit(np.full((3, 1), 900.0), [0, 1, 0])
    after = selector.units_[0]
    assert after.correct == before.correct
    assert after.wrong > before.wrong == 0.0


def test_late_codes_and_classes_count_like_early_ones() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 9, 900), rng.integers(0, 3, 900)]).astype(float)
    y = X[:, 0].astype(int) % 3
    order = np.argsort(X[:, 0], kind="stable")
    late = feed(ABFS(300, categorical="all"), X[order], y[order], 100)
    announced = ABFS(300, categorical="all").partial_fit(X[order], y[order], classes=[0, 1, 2])
    assert late.units_ == announced.units_
    assert late.drifts_ == announced.drifts_
    assert late.drifts_[0].features == (0,)  # codes the stump had not met


def test_drifts_are_kept_up_to_a_number() -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (6000, 3)).astype(float)
    turn = np.arange(6000) // 1000 % 2
    y = np.where(turn == 0, X[:, 0], X[:, 1]).astype(int)
    selector = ABFS(100, 0.05, detector="hddm_a", categorical="all").partial_fit(X[:1], y[:1])
    selector._state.kept_drifts = 2
    feed(selector, X[1:], y[1:])
    assert selector.n_drifts_ > 2
    assert len(selector.drifts_) == 2
    assert all(drift.features for drift in selector.drifts_)
    assert selector.drifts_[-1].row > selector.drifts_[0].row >= 2000


# -- answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("when_empty", "left"), [("keep", [1]), ("all", [0, 1, 2]), ("none", [])])
def test_everything_passes_until_something_is_selected_and_what_is_asked_for_after_a_drift_of_all(
    when_empty: str, left: list[int]
) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (3000, 3)).astype(float)
    y = X[:, 1].astype(int)
    selector = ABFS(200, 0.1, detector="hddm_a", when_empty=when_empty, categorical="all")
    selector.partial_fit(X[:150], y[:150])
    with pytest.warns(EmptySelectionWarning, match="150 rows: all features are passed through"):
        assert selector.transform(X).shape == (3000, 3)
    assert selector.transform(X).shape == (3000, 3)  # no second warning: it would be an error here
    assert selector.get_support().all()
    assert not selector.scores_.any()
    selector.partial_fit(X[150:1500], y[150:1500])
    assert selector.get_support(indices=True).tolist() == [1]
    assert selector.scores_[1] == selector.units_[0].merit == pytest.approx(1.0, abs=0.01)
    selector.partial_fit(X[1500:1600], 1 - y[1500:1600])
    assert [drift.features for drift in selector.drifts_] == [(1,)]
    assert selector.units_ == []
    for asked in (selector, clone(selector).load_state_arrays(selector.state_arrays())):
        assert asked.get_support(indices=True).tolist() == left
        assert np.flatnonzero(asked.scores_).tolist() == (left if when_empty == "keep" else [])
    if left:
        assert selector.transform(X).shape == (3000, len(left))
    else:
        with pytest.warns(EmptySelectionWarning, match="no columns"):
            selector.transform(X)
    selector.partial_fit(X[1600:2500], y[1600:2500])
    assert selector.get_support(indices=True).tolist() == [1]


def test_selection_is_sorted_by_merit() -> None:
    X, y = drifting(1200)
    selector = ABFS(100, categorical=[3, 4, 5]).partial_fit(X, y)
    chosen = selector.selection()
    assert len(chosen) == len(selector.units_) > 1
    assert chosen.scores is not None
    assert all(np.diff(chosen.scores) <= 0)
    assert sorted(chosen.indices) == sorted(unit.feature for unit in selector.units_)


def test_hoeffding_waits_until_it_is_certain() -> None:
    X, y = drifting(400)
    quick = ABFS(50, categorical=[3, 4, 5]).partial_fit(X[:60], y[:60])
    slow = ABFS(50, split_test="hoeffding", categorical=[3, 4, 5]).partial_fit(X[:60], y[:60])
    assert quick.units_
    assert not slow.units_
    clear = (X[:, 0] > 0).astype(int)
    assert ABFS(50, split_test="hoeffding", categorical=[3, 4, 5]).partial_fit(X, clear).units_[0].feature == 0


def test_every_feature_may_be_selected() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    selector = ABFS(50, 0.0).partial_fit(X, (X.sum(axis=1) > 0).astype(int))
    assert len(selector.units_) == 2
    assert selector.get_support().all()


# -- columns --------------------------------------------------------------------------------------------------------


def test_columns_are_named_in_every_way() -> None:
    pandas = pytest.importorskip("pandas", reason="skipped: no pandas")
    X, y = drifting(600)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    mask = np.array([False] * 3 + [True] * 3)
    wanted = ABFS(100, categorical=mask).partial_fit(X, y).units_
    assert ABFS(100, categorical=["d", "e", "f"]).partial_fit(frame, y).units_ == wanted
    assert ABFS(100, categorical=(3, 4, 5)).partial_fit(X, y).units_ == wanted
    assert ABFS(100).partial_fit(Batch(X, y, categorical=mask)).units_ == wanted
    assert ABFS(100, categorical=[]).partial_fit(X, y).units_ == ABFS(100).partial_fit(X, y).units_ != wanted


def test_bad_columns_are_refused() -> None:
    X, y = drifting(20)
    with pytest.raises(ParameterError, match=r"mask of shape \(2,\), but X has 6 features"):
        ABFS(categorical=[True, False]).partial_fit(X, y)
    with pytest.raises(ParameterError, match="the column 6, but X has the columns 0 to 5"):
        ABFS(categorical=[6]).partial_fit(X, y)
    with pytest.raises(ParameterError, match=r"the column 1.5"):
        ABFS(categorical=[1.5]).partial_fit(X, y)
    with pytest.raises(UnknownNameError, match="no column 'y0'"):
        ABFS(categorical=["y0"]).partial_fit(X, y)


@pytest.mark.parametrize("value", [-1.0, 0.5, LARGEST_CODE + 1.0])
def test_bad_codes_are_refused(value: float) -> None:
    X, y = drifting(40)
    selector = ABFS(10, categorical=[3, 4, 5]).partial_fit(X, y)
    before = selector.units_
    bad = X.copy()
    bad[7, 4] = value
    with pytest.raises(InputError, match=r"Row 7 \(row 47 of the stream\), column 'x4' of X is .* from 0 to 1048575"):
        selector.partial_fit(bad, y)
    assert selector.units_ == before
    assert selector.n_rows_seen_ == 40


# -- detectors of one's own -----------------------------------------------------------------------------------------


class Patient:
    """Flags a drift when three of the last four values are errors; has no clone."""

    def __init__(self) -> None:
        self.recent: list[int] = []

    @property
    def drift_detected(self) -> bool:
        return sum(self.recent[-4:]) >= 3

    def update(self, x: int) -> None:
        self.recent.append(x)


def test_own_detectors_are_copied_for_each_unit() -> None:
    X, y = drifting(1500)
    given_one = Patient()
    selector = ABFS(100, detector=given_one, categorical=[3, 4, 5])
    whole = clone(selector).partial_fit(X, y)
    cut = feed(selector, X, y, 70)
    assert whole.n_drifts_ > 0
    assert cut.units_ == whole.units_
    assert cut.drifts_ == whole.drifts_
    assert given_one.recent == []


def test_detector_of_the_package_or_of_river_may_be_passed() -> None:
    drift = pytest.importorskip("river.drift", reason="skipped: no river")
    X, y = drifting(2000)
    for mine, peer in ((ADWIN(), drift.ADWIN()), (HDDM_A(), drift.binary.HDDMA())):
        found = ABFS(100, 0.05, detector=mine, categorical=[3, 4, 5]).partial_fit(X, y)
        wanted = ABFS(100, 0.05, detector=peer, categorical=[3, 4, 5]).partial_fit(X, y)
        assert found.drifts_ == wanted.drifts_ != []
        assert found.units_ == wanted.units_


class Failing(Patient):
    drift_detected = False

    def update(self, x: int) -> None:
        super().update(x)
        if len(self.recent) > 250:
            raise RuntimeError("worn out")


def test_a_detector_that_raises_changes_nothing() -> None:
    X, y = drifting(1000)
    selector = ABFS(100, 0.05, detector=Failing(), categorical=[3, 4, 5]).partial_fit(X[:250], y[:250])
    before, n_seen = selector.units_, len(selector._state.objects[0].recent)
    with pytest.raises(RuntimeError, match="worn out"):
        selector.partial_fit(X[250:], y[250:])
    assert selector.units_ == before
    assert len(selector._state.objects[0].recent) == n_seen
    assert selector.n_rows_seen_ == 250


# -- state ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("detector", ["adwin", "hddm_a", "hddm_w"])
def test_a_loaded_selector_goes_on_like_the_saved_one(detector: str) -> None:
    X, y = drifting(2000)
    selector = ABFS(100, 0.05, detector=detector, categorical=[3, 4, 5]).partial_fit(X[:900], y[:900])
    twin = clone(selector).load_state_arrays(selector.state_arrays())
    selector.partial_fit(X[900:], y[900:])
    twin.partial_fit(X[900:], y[900:])
    assert twin.units_ == selector.units_
    assert twin.drifts_ == selector.drifts_ != []


def test_what_cannot_be_saved_or_merged_says_so() -> None:
    X, y = drifting(50)
    selector = ABFS(10, detector=Patient(), categorical=[3, 4, 5]).partial_fit(X, y)
    with pytest.raises(SavedStateError, match="its detector Patient"):
        selector.state_arrays()
    with pytest.raises(MergeError, match="depends on the order of the rows"):
        ABFS(10).partial_fit(X, y).merge(ABFS(10).partial_fit(X, y))


def test_memory_does_not_grow_with_the_rows() -> None:
    sizes = []
    for n_rows in (4000, 16000):
        X, y = drifting(n_rows)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            selector = feed(ABFS(200, 0.05, categorical=[3, 4, 5]), X, y)
        arrays = selector.state_arrays()
        sizes.append(sum(a.nbytes for k, a in arrays.items() if not k.startswith("state.bank") and "drift" not in k))
    assert sizes[1] <= sizes[0] * 1.2
