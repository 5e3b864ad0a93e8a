"""The machinery of the fuzzers notices what it looks for."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from streamsift.core.exceptions import InputError
from tests.fuzz.forked import DifferenceError, Limits, Use, run
from tests.fuzz.tally import (
    ACCEPTED,
    DIFFERS,
    REFUSED,
    SIGNAL,
    TOO_LONG,
    TOO_MUCH,
    UNEXPECTED,
)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="workers are forked")

SOME = 30_000  # kilobytes


def refuse(_: Path) -> str:
    raise InputError("Row 3 is wrong: correct it.")


def ramble(_: Path) -> str:
    raise _Rambling


class _Rambling(InputError):
    def __str__(self) -> str:
        return "one line\nand another"


def differ(_: Path) -> str:
    raise DifferenceError("1.0 where the reference has 2.0")


def fail(_: Path) -> str:
    raise IndexError("list index out of range")


def abort(_: Path) -> str:
    os.abort()


def crash(_: Path) -> str:
    os.kill(os.getpid(), signal.SIGSEGV)
    return ACCEPTED


def leave(_: Path) -> str:
    os._exit(3)


def compute_for_ever(_: Path) -> str:
    while True:
        pass


def take_much(_: Path) -> str:
    return str(ACCEPTED if np.ones(10 * SOME << 7).sum() else "")  # far more than any input usually takes


def ask_for_everything(_: Path) -> str:
    np.empty(1 << 40)
    return ACCEPTED


ENDS: dict[str, tuple[Callable[[Path], str], str]] = {
    "fine": (lambda _: ACCEPTED, ACCEPTED),
    "refuse": (refuse, REFUSED),
    "differ": (differ, DIFFERS),
    "fail": (fail, UNEXPECTED),
    "abort": (abort, SIGNAL),
    "crash": (crash, SIGNAL),
    "leave": (leave, UNEXPECTED),
    "compute": (compute_for_ever, TOO_LONG),
    "memory": (take_much, TOO_MUCH),
    "address": (ask_for_everything, UNEXPECTED),
    "ramble": (ramble, UNEXPECTED),
}


def test_each_end_is_told_from_the_others() -> None:
    kinds = [kind for kind in ENDS for _ in range(1 + (kind == "fine"))]

    def make(number: int, _: int) -> tuple[str, Use]:
        return kinds[number], ENDS[kinds[number]][0]

    usual = run(lambda *_: ("", lambda _: ACCEPTED), seed=0, n_inputs=1).largest_kilobytes
    limits = Limits(cpu_seconds=5.0, kilobytes=usual + SOME)  # a machine may be slow at giving memory
    tally = run(make, limits, seed=0, n_inputs=len(kinds))
    assert {kind: dict(counts) for kind, counts in tally.counts.items()} == {
        kind: {how: kinds.count(kind)} for kind, (_, how) in ENDS.items()
    }
    assert len(tally.broken) == len(ENDS) - 2
    assert "list index out of range (test_forked.py:" in tally.table()


def test_inputs_go_on_with_a_fresh_worker() -> None:
    def make(number: int, seed: int) -> tuple[str, Use]:
        assert seed == 4
        return f"input {number}", lambda folder: REFUSED if folder.is_dir() else ACCEPTED

    tally = run(make, Limits(inputs_per_worker=3), seed=4, first=5, n_inputs=10)
    assert list(tally.counts) == [f"input {number}" for number in range(5, 15)]
    assert tally.total == {REFUSED: 10}


def test_a_worker_that_kept_addresses_is_replaced() -> None:
    """Allocators of libraries do: the inputs that follow must have as many as the first."""
    kept = []

    def keep(_: Path) -> str:
        kept.append(np.empty(3 << 26))  # 1.5 GB, of which nothing is used
        return ACCEPTED

    tally = run(lambda *_: ("", keep), Limits(address_bytes=2 << 30), seed=0, n_inputs=4)
    assert tally.total == {ACCEPTED: 4}


def test_a_run_ends_when_its_time_is_over() -> None:
    assert run(lambda *_: ("", lambda _: ACCEPTED), seed=0, seconds=0.0).n_inputs == 0
