"""`.ci/run` with stand-ins for everything that installs or tests: what decides its exit code, and what it says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = '<testcase file="tests/test_a.py" name="t"><skipped message="no torch"/></testcase>'
FIRST_RESULTS = f"<testsuites>{SKIPPED}</testsuites>"

# Takes the place of python3 and, since the stand-in of the environment changes no PATH, of the python in it.
PYTHON = f"""#!/usr/bin/env bash
echo "$*" >> calls
case "$*" in
"-m venv .venv-ci") mkdir -p .venv-ci/bin && touch .venv-ci/bin/activate ;;
"-m pip install -e .[test]") exit 0 ;;
"-m pytest") results=${{PYTEST_ADDOPTS#--junitxml=}} && echo '{FIRST_RESULTS}' > "${{results%% *}}" && exit $FIRST ;;
"-m pip install -q -e .[test-all]") exit $EXTRAS ;;
".ci/skipped.py"*) exec {sys.executable} "$@" ;;
"-m pytest -p skipped @"*) cat "${{5#@}}" >> calls && exit $SECOND ;;
*) exit 99 ;;
esac
"""


def run_ci(folder: Path, first: int = 0, extras: int = 0, second: int = 0) -> tuple[int, str, str]:
    """The exit code, the last line, and what was called."""
    (folder / "bin").mkdir()
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    for name, text in {"python": PYTHON, "python3": PYTHON, "apt-get": "#!/bin/sh\nexit 100\n"}.items():
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    environment = {"FIRST": str(first), "EXTRAS": str(extras), "SECOND": str(second)}
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", ".ci/run"],
        cwd=folder,
        env={**os.environ, **environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.rstrip().rpartition("\n")[2], (folder / "calls").read_text()


@pytest.mark.skipif(shutil.which("bash") is None, reason="skipped: no bash")
@pytest.mark.parametrize(
    ("outcomes", "code", "words"),
    [
        ({}, 0, "second step: passed"),
        ({"extras": 1}, 0, "second step: left out, [test-all] could not be installed"),
        ({"second": 1}, 0, "second step: FAILED, see above"),
        ({"second": 124}, 0, "second step: cut off, it would have taken too long"),
        ({"second": 5}, 0, "second step: nothing was left to run"),
    ],
)
def test_the_first_step_decides_and_the_last_line_says_how_the_second_ended(tmp_path, outcomes, code, words):
    found, last_line, calls = run_ci(tmp_path, **outcomes)
    assert (found, words in last_line) == (code, True), last_line
    assert ("tests/test_a.py" in calls.splitlines()) is ("extras" not in outcomes)


@pytest.mark.skipif(shutil.which("bash") is None, reason="skipped: no bash")
def test_a_failure_of_the_first_step_ends_it(tmp_path):
    code, _, calls = run_ci(tmp_path, first=1)
    assert code == 1
    assert "test-all" not in calls
