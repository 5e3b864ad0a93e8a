"""Detectors: alarms equal to river's and to the naive twins', one at a time and many at once."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.naive.drift import NaiveADWIN, NaiveHDDMA, NaiveHDDMW

from streamsift.core.exceptions import InputError, ParameterError
from streamsift.drift import ADWIN, HDDM_A, HDDM_W

Floats = NDArray[np.float64]
DETECTORS = [ADWIN, HDDM_A, HDDM_W]
TWINS = {ADWIN: NaiveADWIN, HDDM_A: NaiveHDDMA, HDDM_W: NaiveHDDMW}


def changing_bits(n: int, pieces: int, seed: int) -> Floats:
    """Bits whose probability jumps, up and down, by little and by much."""
    rng = np.random.default_rng(seed)
    share = np.repeat(rng.choice([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7], pieces), -(-n // pieces))[:n]
    return (rng.random(n) < share).astype(np.float64)


def alarms(detector: Any, values: Floats, **settings: Any) -> list[int]:
    """All alarms over a long row of values, by scanning from one to the next."""
    bank, at, found = detector.bank(1), 0, []
    while at < len(values):
        place = int(detector.scan(bank, values[None, at:], **settings)[0])
        if place < 0:
            break
        found.append(at + place)
        at += place + 1
    return found


def alarms_one_by_one(detector: Any, values: Floats) -> list[int]:
    found = []
    for place, value in enumerate(values.tolist()):
        detector.update(value)
        if detector.drift_detected:
            found.append(place)
    return found


@pytest.mark.parametrize(
    ("ours", "theirs", "n", "settings"),
    [
        (ADWIN, "ADWIN", 1_000_000, {}),
        (ADWIN, "ADWIN", 200_000, {"delta": 0.3, "clock": 7, "max_buckets": 3, "min_window_length": 2}),
        (HDDM_A, "HDDMA", 1_000_000, {}),
        (HDDM_A, "HDDMA", 50_000, {"two_sided_test": True, "drift_confidence": 0.01}),
        (HDDM_W, "HDDMW", 1_000_000, {}),
        (HDDM_W, "HDDMW", 50_000, {"two_sided_test": True, "lambda_val": 0.1}),
    ],
)
def test_alarms_equal_river(ours: Any, theirs: str, n: int, settings: dict[str, Any], scale: float) -> None:
    drift = pytest.importorskip("river.drift", reason="skipped: no river")
    peer = getattr(drift, theirs, None) or getattr(drift.binary, theirs)
    values = changing_bits(int(n * scale), 150, seed=n)
    wanted = alarms_one_by_one(peer(**settings), values)
    assert len(wanted) > 3
    assert alarms(ours(**settings), values) == wanted
    short = values[:20_000]
    assert alarms_one_by_one(ours(**settings), short) == [place for place in wanted if place < len(short)]


def test_adwin_equals_river_on_real_numbers() -> None:
    drift = pytest.importorskip("river.drift", reason="skipped: no river")
    rng = np.random.default_rng(3)
    values = rng.normal(np.repeat([0.0, 0.4, -0.3, 5.0, 5.2], 4000)) + 1e6
    wanted = alarms_one_by_one(drift.ADWIN(), values)
    assert len(wanted) >= 3
    assert alarms(ADWIN(), values) == wanted


@pytest.mark.parametrize("kind", DETECTORS)
@pytest.mark.parametrize("seed", [0, 1])
def test_rises_equal_the_naive_twin(kind: Any, seed: int) -> None:
    share = np.repeat([0.3, 0.1, 0.6, 0.2, 0.25, 0.8], 250)
    values = (np.random.default_rng(seed).random(1500) < share).astype(np.float64)
    twin, rises = TWINS[kind](), []
    for place, value in enumerate(values.tolist()):
        if twin.update(value) == 1:
            rises.append(place)
            twin = TWINS[kind]()  # whoever watches for rises has no more use for a detector that has flagged one
    assert len(rises) >= 2
    assert alarms(kind(), values, rises_only=True) == rises


@pytest.mark.parametrize("kind", DETECTORS)
def test_many_detectors_are_many_single_ones(kind: Any) -> None:
    values = np.stack([changing_bits(3000, 5, seed) for seed in range(7)])
    bank = kind().bank(7)
    found = np.full(7, -1)
    for start in range(0, 3000, 500):  # as ABFS does: block by block, each detector until its first alarm
        block = np.ascontiguousarray(values[:, start : start + 500])
        place = kind().scan(bank, block)
        found = np.where((found < 0) & (place >= 0), start + place, found)
    first = [(alarms(kind(), row) or [-1])[0] for row in values]
    assert found.tolist() == first
    assert max(first) > 0


@pytest.mark.parametrize("kind", DETECTORS)
def test_detectors_before_the_first_one_are_left_alone(kind: Any) -> None:
    values = np.stack([changing_bits(400, 1, seed) for seed in range(3)])
    bank = kind().bank(3)
    before = copy.deepcopy(bank)
    kind().scan(bank, values, first=2)
    assert np.array_equal(bank.sums[:2], before.sums[:2])
    assert not np.array_equal(bank.sums[2], before.sums[2])


@pytest.mark.parametrize("kind", DETECTORS)
def test_falls_alone_raise_no_alarm_for_rises_only(kind: Any) -> None:
    values = np.repeat([1.0, 0.0], 2000)
    assert alarms(kind(), values, rises_only=True) == []
    assert len(alarms(kind(), values[::-1].copy(), rises_only=True)) == 1


@pytest.mark.parametrize("kind", DETECTORS)
def test_constant_values_raise_no_alarm(kind: Any) -> None:
    for value in (0.0, 1.0):
        assert alarms(kind(), np.full(5000, value)) == []


@pytest.mark.parametrize("kind", DETECTORS)
def test_a_clone_is_fresh_and_a_copy_is_not(kind: Any) -> None:
    values = np.repeat([0.0, 1.0], 200)
    detector = kind()
    wanted = alarms_one_by_one(kind(), values)
    alarms_one_by_one(detector, values[:200])
    again, copied = detector.clone(), copy.deepcopy(detector)
    assert alarms_one_by_one(again, values) == wanted
    assert [200 + place for place in alarms_one_by_one(copied, values[200:])] == wanted


def test_warnings_come_before_drifts() -> None:
    for kind in (HDDM_A, HDDM_W):
        detector, seen = kind(), []
        for bit in changing_bits(4000, 3, seed=5).tolist():
            detector.update(bit)
            seen.append((detector.warning_detected, detector.drift_detected))
        assert (True, False) in seen
        assert (True, True) not in seen


def test_a_growing_bank_keeps_its_detectors() -> None:
    values = changing_bits(300, 1, seed=0)[None]
    bank = ADWIN().bank(1)
    ADWIN().scan(bank, values)
    sums = bank.sums.copy()
    bank.grow(3)
    assert len(bank) == 3
    assert np.array_equal(bank.sums[:1], sums)
    assert not bank.sums[1:].any()
    bank.restart(0)
    assert not bank.sums.any()
    assert not bank.filled.any()


@pytest.mark.parametrize("kind", DETECTORS)
def test_values_that_are_not_finite_are_refused(kind: Any) -> None:
    with pytest.raises(InputError, match="finite"):
        kind().update(float("nan"))


def test_parameters_are_limited() -> None:
    with pytest.raises(ParameterError, match="'delta' parameter of ADWIN"):
        ADWIN(delta=0.0)
    with pytest.raises(ParameterError, match="'two_sided_test' parameter of HDDM_A"):
        HDDM_A(two_sided_test=1)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'lambda_val' parameter of HDDM_W"):
        HDDM_W(lambda_val=1.5)
