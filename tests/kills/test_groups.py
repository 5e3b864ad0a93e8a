"""One run of `python -m tests.kills.groups`: a process comes late, one is killed, one stopped, one leaves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.streams.mock_cluster import library

pytest.importorskip("confluent_kafka", reason="skipped: no confluent-kafka")


@pytest.mark.compiled
@pytest.mark.skipif(library() is None, reason="skipped: no librdkafka beside the package confluent-kafka")
def test_processes_that_share_a_topic_learn_each_row_once():
    command = [sys.executable, "-m", "tests.kills.groups", "--runs", "1", "--events", "4", "--rows", "200"]
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=3000, check=False)
    assert (run.returncode, run.stderr) == (0, ""), run.stdout + run.stderr
    assert run.stdout.endswith("1 runs: none differ\n")
    for event in ("joined late", "killed by SIGKILL", "left on SIGTERM", "stopped until others had its partitions"):
        assert f"1  {event}\n" in run.stdout
