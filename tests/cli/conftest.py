"""Small files with a known answer, and two ways to run the command line: here, and as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from streamsift.cli import display
from streamsift.cli.errors import run
from streamsift.cli.main import cli


@pytest.fixture
def people(tmp_path, scale):
    """A CSV of 3,000 rows: `height` and `weight` depend on the label, `noise_0` to `noise_7` do not."""
    rng, n = np.random.default_rng(7), 3000 if scale == 1.0 else 1000
    label = rng.integers(0, 2, n)
    columns = {f"noise_{k}": rng.normal(size=n) for k in range(8)}
    columns["height"] = 2.0 * label + rng.normal(size=n)
    columns["weight"] = 1.0 * label + rng.normal(size=n)
    path = tmp_path / "people.csv"
    with path.open("w") as file:
        file.write(",".join([*columns, "sex"]) + "\n")
        for row in range(n):
            cells = [f"{column[row]:.5f}" for column in columns.values()]
            file.write(",".join([*cells, "fm"[label[row]]]) + "\n")
    return path


@pytest.fixture
def n_people(people):
    """How many rows that file has."""
    return len(people.read_text().splitlines()) - 1


@pytest.fixture
def sift(capsys, monkeypatch):
    """Run a command line in this process; returns (exit code, standard output, standard error).

    However slow the machine is, no line of progress comes in between.
    """
    monkeypatch.setattr(display, "SECONDS_BETWEEN_LINES", 1e6)

    def call(*arguments):
        code = run(cli, [str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def process(tmp_path):
    """Start a command line as a process of its own, in an empty folder; ended and cleared away after the test.

    Kernels are compiled there, also while coverage is measured: it does not look into other processes.
    """
    started = []

    def start(*arguments, **options):
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        environment = {**os.environ, "COLUMNS": "100", "NUMBA_DISABLE_JIT": "0"} | options.pop("env", {})
        command = [sys.executable, "-m", "streamsift", *map(str, arguments)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        run = subprocess.Popen(command, cwd=tmp_path / "elsewhere", env=environment, text=True, **pipes)
        started.append(run)
        return run

    yield start
    for each in started:
        if each.poll() is None:
            each.kill()
        each.wait()
        for pipe in (each.stdin, each.stdout, each.stderr):
            if pipe is not None:
                pipe.close()
