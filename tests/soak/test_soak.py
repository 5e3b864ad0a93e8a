"""A short run of the soak: it feeds, it notices what it looks for, and counters go beyond 2^32."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from streamsift import catalog
from tests.soak import counters, fading, feeding
from tests.soak.__main__ import methods, parser

pytestmark = pytest.mark.compiled
N_BATCH = 4096


@pytest.mark.parametrize("name", ["screen:t_score", "screen:fisher", "fires", "screen:mutual_info"])
def test_a_short_soak_is_fine(name: str) -> None:
    lines: list[str] = []
    sizes = itertools.repeat(1 << 20)  # of the process: that of a test session is not the method's
    soaked = feeding.soak(name, 60_000, 6, n_block=2000, n_batch=1000, say=lines.append, resident=lambda: next(sizes))
    assert soaked.problems == []
    assert soaked.looks[-1].n_rows == 60_000
    assert len(lines) == len(soaked.looks) >= 25
    assert "fine" in soaked.summary()
    if name in feeding.GROWTH:
        assert max(look.change for look in soaked.looks) < 1e-9


def test_memory_that_grows_is_noticed() -> None:
    sizes = itertools.count(1 << 20, 1 << 14)
    soaked = feeding.soak("ofs", 60_000, 4, n_block=1000, say=lambda _: None, resident=lambda: next(sizes))
    assert any(problem.startswith("memory grew by") for problem in soaked.problems)


def test_scores_that_drift_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(feeding.GROWTH, "screen:fisher", lambda n_rows: n_rows)
    soaked = feeding.soak("screen:fisher", 60_000, 4, n_block=1000, say=lambda _: None)
    assert "have changed by" in soaked.problems[0]


def test_the_time_is_a_limit() -> None:
    soaked = feeding.soak("ofs", 10**12, 4, n_block=1000, seconds=0.0, say=lambda _: None)
    assert soaked.looks[-1].n_rows == 1000


@pytest.mark.parametrize("name", [name for name in catalog.names("rows") if name not in ("fires:ann", "screen:chi2")])
def test_counters_go_beyond_32_bits(name: str) -> None:
    """chi2 keeps what mutual_info does, the net what the tree does; `python -m tests.soak counters` runs all."""
    assert counters.beyond(name, 4, 256 if name.startswith("fires") else N_BATCH) == []


def test_a_counter_of_32_bits_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "LIMIT", 1 << 40)
    assert "n_rows_seen_ is" not in str(counters.beyond("ofs", 4, 256))
    learn = catalog.class_at("streamsift.rows.ofs:OFS").partial_fit

    def wrapped(self, X, y, classes=None):  # type: ignore[no-untyped-def]
        learn(self, X, y, classes)
        self.n_rows_seen_ &= 0xFFFFFFFF
        return self

    monkeypatch.setattr("streamsift.rows.ofs.OFS.partial_fit", wrapped)
    assert "n_rows_seen_ is" in str(counters.beyond("ofs", 4, 256))


@pytest.mark.parametrize("rate", fading.RATES)
def test_weights_of_any_fading_add_up(rate: float) -> None:
    assert fading.weight_error(rate, 50_000, 500) < fading.LARGEST_ERROR


def test_a_wrong_weight_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.soak.fading.weight_error", lambda rate, n_rows: 1e-3)
    monkeypatch.setattr("tests.soak.fading.RATES", (0.9,))
    problems = fading.run(4000, 4, say=lambda _: None, names=("screen:fisher",))
    assert problems == ["with fading 0.9 the sum of weights is wrong by 1.0e-03"]


def test_words_for_methods() -> None:
    assert methods("fast") == list(feeding.FAST)
    assert sorted(methods("fast") + methods("others")) == sorted(methods("all"))
    assert methods("ofs,efs") == ["ofs", "efs"]


def test_settings_and_rows_of_float32() -> None:
    name, value = parser().parse_args(["--set", "epochs=1"]).set[0]
    soaked = feeding.soak("fires:sdt", 2000, 4, n_block=1000, say=lambda _: None, dtype=np.float32, **{name: value})
    assert soaked.problems == []
    assert soaked.looks[-1].n_rows == 2000
