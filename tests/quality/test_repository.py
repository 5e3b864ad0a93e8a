"""The files around the code: workflows, extras, what CI runs again."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
HEAVY = {"torch", "dask", "distributed", "pyspark", "playwright", "sphinx"}  # large, or slow to install
YAML = sorted([*ROOT.glob(".github/**/*.yml"), *ROOT.glob("*.yaml"), *ROOT.glob("*.cff")])


def packages(extra: str) -> set[str]:
    """The names an extra installs, those of the extras it names included."""
    found = set()
    for requirement in EXTRAS[extra]:
        name = re.match(r"[\w-]+", requirement)[0]
        inner = re.match(r"streamsift\[(.*?)\]", requirement)
        found |= set().union(*(packages(one) for one in inner[1].split(","))) if inner else {name}
    return found


def test_the_plain_tests_need_nothing_heavy_and_all_tests_need_everything() -> None:
    assert not packages("test") & HEAVY
    everything = set().union(*(packages(extra) for extra in EXTRAS if extra not in ("bench", "test-all")))
    assert everything <= packages("test-all")
    assert HEAVY - {"distributed"} <= packages("test-all")


def test_ci_begins_with_the_command_of_the_readme() -> None:
    command = 'python -m pip install -e ".[test]" && python -m pytest'
    for name in ("README.md", ".ci/run"):
        assert command in (ROOT / name).read_text(encoding="utf-8").splitlines(), name


def test_every_supported_python_is_tested() -> None:
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    oldest = re.fullmatch(r">=(3\.\d+)", PROJECT["requires-python"])[1]
    versions = re.search(r"python: \[(.*)\]", text)[1].replace('"', "").split(", ")
    assert versions == ["3.11", "3.12", "3.13", "3.14"]
    assert versions[0] == oldest
    stated = [line.rpartition(" :: ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    assert stated == versions


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_it_is_yaml(path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="skipped: no pyyaml (pip install 'streamsift[test-all]')")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    if path.parent.name == "workflows":
        assert all(job["timeout-minutes"] and job["steps"] for job in content["jobs"].values())
    if path.parent.name == "ISSUE_TEMPLATE" and path.name != "config.yml":
        assert {"name", "description", "body"} <= set(content)


def run_pytest(folder: Path, *options: str, **environment: str) -> str:
    """What pytest prints in the folder; nothing of the run that this test is part of reaches it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={**kept, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_was_skipped_is_run_again_and_nothing_else(tmp_path: Path) -> None:
    names = {
        "test_whole.py": "import pytest\npytest.importorskip('late_package')\ndef test_e(): pass\n",
        "test_part.py": "import os, pytest\ndef test_a(): assert 'FIRST_RESULTS' not in os.environ\n"
        "@pytest.mark.parametrize('n', ['a b', '[x]'])\n"
        "def test_b(n):\n    if 'FIRST_RESULTS' not in os.environ: pytest.skip('no redis-server')\n",
        "test_data.py": "import pytest\ndef test_c(): pytest.skip('skipped: no ../shared')\n",
        "test_fine.py": "def test_d(): pass\n",
    }
    (tmp_path / "inner").mkdir()
    for name, text in names.items():
        (tmp_path / "inner" / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -n 1 --import-mode=importlib\npythonpath = .\n")
    run_pytest(tmp_path, "--junitxml=results.xml", "--override-ini=junit_family=xunit1", "inner")
    skipped_files = runpy.run_path(str(ROOT / ".ci" / "skipped.py"))["skipped_files"]
    assert skipped_files(str(tmp_path / "results.xml")) == ["inner/test_part.py", "inner/test_whole.py"]

    (tmp_path / "late_package.py").touch()  # installed by now
    (tmp_path / "files").write_text("inner/test_part.py\ninner/test_whole.py\n")
    printed = run_pytest(
        *(tmp_path, "-p", "skipped", "-v", "@files"),
        FIRST_RESULTS=str(tmp_path / "results.xml"),
        PYTHONPATH=str(ROOT / ".ci"),
    )
    assert "3 passed" in printed  # test_b twice, and the file that was skipped as a whole; test_a would fail


def test_ci_does_not_fail_for_want_of_a_registry() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    first, second = text.split("unset PYTEST_ADDOPTS")
    assert "set -euo pipefail" in first
    assert '|| end "left out, [test-all] could not be installed"' in second
    assert subprocess.run(["bash", "-n", ".ci/run"], cwd=ROOT, check=False).returncode == 0
