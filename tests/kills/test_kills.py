"""A few of the kills of `python -m tests.kills`, in a process that nothing has been computed in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.kills.brokers import why_not
from tests.kills.sources import CASES

ROOT = Path(__file__).resolve().parents[2]


def kill(times, *options):
    command = [sys.executable, "-m", "tests.kills", "--times", str(times), "--rows", "15000", *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False)
    assert (run.returncode, run.stderr) == (0, ""), run.stdout + run.stderr
    assert run.stdout.rstrip().endswith("all as if undisturbed")
    assert f"{times} kills" in run.stdout


@pytest.mark.compiled
def test_killed_runs_end_as_if_nothing_had_happened():
    kill(len(CASES))


@pytest.mark.compiled
@pytest.mark.parametrize(("only", "times"), [("redis", 12), ("grow", 6)])
def test_killed_runs_without_an_end(only, times):
    for case in CASES:
        if only in case.name and why_not(case) is not None:
            pytest.skip(why_not(case))
    kill(times, "--only", only)
