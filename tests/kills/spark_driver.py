"""A driver of Spark that follows a folder, one file per micro-batch, and may end itself by SIGKILL, Java and all.

`python -m tests.kills.spark_driver SOURCE CHECKPOINT METHOD [before|after NUMBER]`: with `after` it dies when the state
of that micro-batch has been written and Spark has not noted it, with `before` when the rows have been learnt but not
written. "following" on standard output says that it has begun.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streamsift import persist
from streamsift.catalog import make

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = "x0 double, x1 double, x2 double, colour string, y string"


def write_source(folder: Path, n_files: int, n_rows: int) -> None:
    """Files with numbers, categories that are met late, and a class that is."""
    folder.mkdir()
    rng = np.random.default_rng(7)
    for number in range(n_files):
        y = rng.integers(0, 2 + (number > 1), n_rows)
        columns: dict[str, Any] = {f"x{k}": rng.normal(size=n_rows) + (k < 2) * y / (1 + k) for k in range(3)}
        columns["colour"] = [f"c{k}" for k in rng.integers(0, 2 + number, n_rows)]
        columns["y"] = np.array(["no", "yes", "late"])[y]
        path = folder / f"part{number:03}.parquet"
        pq.write_table(pa.table(columns), path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))  # Spark takes the oldest first


def session() -> Any:
    """A Spark on this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("streamsift tests")
    for key, value in (
        ("spark.ui.enabled", "false"),
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.sql.shuffle.partitions", "2"),
        ("spark.log.level", "OFF"),
    ):
        builder = builder.config(key, value)
    return builder.getOrCreate()


def followed(spark: Any, source: Path, checkpoint: Path, selector: Any) -> None:
    """Follow the files that are there, one micro-batch for each."""
    from streamsift.engines.spark import stream

    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(source))
    stream(rows, selector, checkpoint, target="y", trigger={"availableNow": True}).awaitTermination()


def _die(when: str, number: int) -> None:
    """Let the writing of a state end the process, before or after it."""
    write = persist.write

    def last(path: Any, parts: Any, sections: Any) -> None:
        mine = sections["position"].facts["batch"] == number
        if mine and when == "before":
            os.killpg(0, signal.SIGKILL)
        write(path, parts, sections)
        if mine:
            os.killpg(0, signal.SIGKILL)

    persist.write = last


def started(*arguments: object) -> subprocess.Popen[str]:
    """A driver with these arguments, in a process group of its own, to which its Java process belongs."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.kills.spark_driver", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def main() -> None:
    source, checkpoint, method, *death = sys.argv[1:]
    if death:
        _die(death[0], int(death[1]))
    spark = session()
    sys.stdout.write("following\n")
    sys.stdout.flush()
    followed(spark, Path(source), Path(checkpoint), make(method))
    spark.stop()


if __name__ == "__main__":
    main()
