"""Small files with a known answer, and two ways to run the command line: here, and as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from streamsift.cli.errors import run
from streamsift.cli.main import cli


@pytest.fixture
def people(tmp_path):
    """A CSV of 3,000 rows: `height` and `weight` depend on the label, `noise_0` to `noise_7` do not."""
    rng = np.random.default_rng(7)
    label = rng.integers(0, 2, 3000)
    columns = {f"noise_{k}": rng.normal(size=3000) for k in range(8)}
    columns["height"] = 2.0 * label + rng.normal(size=3000)
    columns["weight"] = 1.0 * label + rng.normal(size=3000)
    path = tmp_path / "people.csv"
    with path.open("w") as file:
        file.write(",".join([*columns, "sex"]) + "\n")
        for row in range(3000):
            cells = [f"{column[row]:.5f}" for column in columns.values()]
            file.write(",".join([*cells, "fm"[label[row]]]) + "\n")
    return path


@pytest.fixture
def sift(capsys):
    """Run a command line in this process; returns (exit code, standard output, standard error)."""

    def call(*arguments):
        code = run(cli, [str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def process(tmp_path):
    """Start a command line as a process of its own, in an empty folder; ended and cleared away after the test."""
    started = []

    def start(*arguments, **options):
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        environment = {**os.environ, "COLUMNS": "100"} | options.pop("env", {})
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
