"""`python -m tests.engines.killed_executor`: two real executors of Spark, one of which is killed while it reads.

It takes three Java processes and about a minute, so it is no test of the suite; there, a process of an executor dies.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from streamsift import Screener
from streamsift.engines.parts import find_parts
from streamsift.engines.spark import SparkEngine
from streamsift.engines.work import Job, unpacked
from tests.engines.slow_part import Slow
from tests.engines.tables import assert_same, one_pass, write_parts


def executors() -> list[int]:
    """The executors among the processes that this one has started."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()[1:]]
    ours = {os.getpid()}
    while grown := {int(pid) for pid, parent, _ in rows if int(parent) in ours} - ours:
        ours |= grown
    return [int(pid) for pid, _, words in rows if int(pid) in ours and "CoarseGrainedExecutorBackend" in words]


def main() -> None:
    """Learn six parts, kill the first executor when the first part is opened, and compare with one pass."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,700]").config("spark.executor.memory", "512m")
    for name, value in (
        ("spark.ui.enabled", "false"),
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.log.level", "OFF"),
        ("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path)),
    ):
        builder = builder.config(name, value)
    session, killed = builder.getOrCreate(), []
    with tempfile.TemporaryDirectory() as folder:
        data, mark = Path(folder, "data"), Path(folder, "mark")
        data.mkdir()
        table = write_parts(data, ".csv", 6)
        parts = [Slow(part, str(mark)) for part in find_parts(data, 1)]

        def kill() -> None:
            while not killed:
                time.sleep(0.05)
                if mark.exists():
                    killed.extend(executors()[:1])
            os.kill(killed[0], signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()
        job = Job.of(Screener("fisher"), "y", {}, 1000)
        state = SparkEngine(session, 2).fold(job, parts, lambda fraction: None)
        assert killed, "no executor was killed"
        assert_same(unpacked(state), one_pass(Screener("fisher"), table), "fisher")
        n_read = len(mark.read_text().split())
        sys.stdout.write(f"executor {killed[0]} was killed; {n_read} readings of {len(parts)} parts; the same answer\n")
    session.stop()


if __name__ == "__main__":
    main()
