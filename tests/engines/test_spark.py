"""A real Spark on this machine: the answer of one pass; without a Java runtime the tests say so."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamsift import Screener
from streamsift.core.exceptions import ParameterError, StreamsiftError
from streamsift.engines import select, select_by_key
from tests.engines.tables import assert_same, frame, one_pass, write_parts

sql = pytest.importorskip("pyspark.sql", reason="skipped: no pyspark (pip install 'streamsift[spark]')")
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="skipped: no Java runtime (default-jre-headless)"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.xdist_group("spark"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2,4]").appName("streamsift tests")
    session = (
        builder.config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.mark.parametrize("criterion", ["fisher", "mutual_info"])
def test_files(tmp_path: Path, spark: Any, criterion: str) -> None:
    table = write_parts(tmp_path, ".csv", 10)  # more than one level of the tree
    heard: list[float] = []
    found = select(tmp_path, Screener(criterion), "y", engine=spark, progress=heard.append)
    assert_same(found, one_pass(Screener(criterion), table), criterion)
    assert heard == sorted(heard)
    assert heard[-1] == 1.0


def test_a_spark_frame(spark: Any) -> None:
    table = frame(0, 900)
    found = select(spark.createDataFrame(table).repartition(5), Screener("fisher"), "y", engine=spark)
    assert_same(found, one_pass(Screener("fisher"), table), "fisher")


def test_a_session_that_was_running_goes_on(tmp_path: Path, spark: Any) -> None:
    table = write_parts(tmp_path, ".csv", 2)
    for engine in ("spark", spark.sparkContext.master):
        found = select(tmp_path, Screener("fisher"), "y", engine=engine)
        assert_same(found, one_pass(Screener("fisher"), table), "fisher")
        assert spark.range(3).count() == 3
    with pytest.raises(ParameterError, match=r"with the master local\[2,4\], and cannot have local\[1\] beside it"):
        select(tmp_path, Screener("fisher"), "y", engine="local[1]")
    assert spark.range(3).count() == 3


ALONE = """
import os, sys
from pyspark import SparkContext
from streamsift import Screener, StreamsiftError
from streamsift.engines import select

for python in (None, sys.executable):
    if python is not None:
        os.environ["PYSPARK_PYTHON"] = python
    try:
        print(select(sys.argv[1], Screener("fisher", n_features_to_select=1), "y", engine="spark", jobs=1).selected_)
    except StreamsiftError as error:
        print(error)
    print("stopped" if SparkContext._active_spark_context is None else "running")
"""


def test_a_session_of_our_own_needs_a_python_that_has_us_and_is_stopped(tmp_path: Path) -> None:
    """Without PYSPARK_PYTHON Spark takes the `python3` of the PATH: here one that is not ours."""
    write_parts(tmp_path, ".csv", 2)
    others = tmp_path / "bin"
    others.mkdir()
    (others / "python3").write_text("#!/bin/sh\necho \"can't open file 'daemon'\" >&2\nexit 2\n")
    (others / "python3").chmod(0o755)
    here = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    here |= {"SPARK_LOCAL_IP": "127.0.0.1", "PATH": f"{others}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-c", ALONE, str(tmp_path)]
    done = subprocess.run(command, env=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sentence, *others_said = done.stdout.strip().splitlines()
    assert sentence.startswith("Spark's executors cannot run the work")
    assert "set PYSPARK_PYTHON to a Python 3." in sentence
    assert others_said == ["stopped", "['n0']", "stopped"]


def test_a_python_without_pyarrow_is_refused(tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write_parts(tmp_path, ".csv", 2)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import importlib.metadata as known\n"
        "told = known.version\n"
        "def version(name):\n"
        "    if name == 'pyarrow':\n"
        "        raise known.PackageNotFoundError(name)\n"
        "    return told(name)\n"
        "known.version = version\n"
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{hidden}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    with pytest.raises(StreamsiftError, match=r"has no pyarrow: install .*, or set PYSPARK_PYTHON to one"):
        select(tmp_path, Screener(), "y", engine=spark)


def test_one_selector_per_key(tmp_path: Path, spark: Any) -> None:
    table = write_parts(tmp_path, ".csv", 2)
    found = select_by_key(tmp_path, Screener("fisher", n_features_to_select=1), "shop", "y", engine=spark, jobs=2)
    assert set(found["key"].to_pylist()) == set(table["shop"])


def test_a_part_that_cannot_be_read_is_named(tmp_path: Path, spark: Any) -> None:
    write_parts(tmp_path, ".csv", 3)
    (tmp_path / "part2.csv").write_text("n0,y\n")
    with pytest.raises(StreamsiftError, match=r"part2\.csv cannot be used"):
        select(tmp_path, Screener(), "y", engine=spark)


def test_another_version_is_refused(tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write_parts(tmp_path, ".csv", 2)
    monkeypatch.setattr("streamsift.engines.spark.__version__", "9.9.9")
    with pytest.raises(StreamsiftError, match=r"and here is 9\.9\.9: install the same there"):
        select(tmp_path, Screener(), "y", engine=spark)


class Dying:
    """A part whose first reading ends the process that reads it."""

    def __init__(self, part: Any, mark: str) -> None:
        self.part, self.mark = part, mark

    def open(self, target: str | None, reading: dict[str, Any]) -> Any:
        if not Path(self.mark).exists():
            Path(self.mark).write_text("died")
            os.kill(os.getpid(), signal.SIGKILL)
        return self.part.open(target, reading)


def test_a_killed_process_changes_nothing(tmp_path: Path, spark: Any) -> None:
    from streamsift.engines.parts import find_parts
    from streamsift.engines.spark import SparkEngine
    from streamsift.engines.work import Job, unpacked

    (tmp_path / "data").mkdir()
    table = write_parts(tmp_path / "data", ".csv", 4)
    parts: list[Any] = find_parts(tmp_path / "data", 1)
    parts[1] = Dying(parts[1], str(tmp_path / "mark"))
    state = SparkEngine(spark, 2).fold(Job.of(Screener("fisher"), "y", {}, 1000), parts, lambda fraction: None)
    assert (tmp_path / "mark").exists()
    assert_same(unpacked(state), one_pass(Screener("fisher"), table), "fisher")


@pytest.mark.parametrize("python", ["no-such-python", "/usr/bin/env", "/usr/bin/python3"])
def test_executors_without_our_python_are_refused(
    tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    if python == "/usr/bin/python3" and (not Path(python).exists() or Path(python).samefile(sys.executable)):
        pytest.skip("skipped: no Python without streamsift on this machine")
    write_parts(tmp_path, ".csv", 2)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", python)
    with pytest.raises(StreamsiftError, match=r"set PYSPARK_PYTHON to (a Python|one that)"):
        select(tmp_path, Screener(), "y", engine=spark)
