"""Servers that hold the rows: a real Redis, and librdkafka's mock cluster in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.kills.sources import ADDRESSES, Case
from tests.streams.redis_server import PROGRAM, running

TOPIC = "rows"


def why_not(case: Case) -> str | None:
    """Why a case cannot be run here; None: it can."""
    if case.source.startswith("redis:") and (PROGRAM is None or find_spec("redis") is None):
        return "redis-server or the package redis is not installed"
    if case.source.startswith("kafka:") and find_spec("confluent_kafka") is None:
        return "the package confluent-kafka is not installed"
    return None


@contextmanager
def serving(folder: Path, cases: list[Case]) -> Iterator[None]:
    """All servers that the cases need, with the rows of rows.jsonl and rows.csv in them."""
    needed = {case.source.partition(":")[0] for case in cases}
    with ExitStack() as stack:
        if "redis" in needed:
            port = stack.enter_context(running(folder))
            ADDRESSES["redis"] = f"redis://127.0.0.1:{port}"
            _add_entries(port, folder / "rows.jsonl")
        if "kafka" in needed:
            ADDRESSES["kafka"] = f"kafka://{stack.enter_context(mock_kafka(folder / 'rows.jsonl'))}"
        yield


def _add_entries(port: int, path: Path) -> None:
    """Each row as an entry of two streams: as its fields, and as JSON in the field `row`."""
    import redis

    with redis.Redis(port=port) as client, client.pipeline(transaction=False) as many:
        for line in path.read_text(encoding="utf-8").splitlines():
            many.xadd("rows", json.loads(line))
            many.xadd("objects", {"row": line})
        many.execute()


@contextmanager
def mock_kafka(path: Path, n_partitions: int = 1) -> Iterator[str]:
    """A mock cluster with the lines of a file in the first partitions of a topic; gives the address of its broker.

    It makes the topic by itself when somebody asks for it, with four partitions.
    """
    command = [sys.executable, "-m", "tests.kills.brokers", str(path), str(n_partitions)]
    root = Path(__file__).resolve().parents[2]
    server = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()
        for pipe in (server.stdout, server.stdin):
            if pipe is not None:
                pipe.close()


def serve(path: Path, n_partitions: int) -> None:
    """Hold a mock cluster until standard input ends; lines that come there are produced, too."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient

    cluster = AdminClient({"test.mock.num.brokers": 1, "log_level": 0})
    broker = next(iter(cluster.list_topics(timeout=10).brokers.values()))
    address = f"{broker.host}:{broker.port}"
    producer: Any = Producer({"bootstrap.servers": address, "linger.ms": 5, "log_level": 0})
    for number, line in enumerate(path.read_bytes().splitlines()):
        producer.produce(TOPIC, line, partition=number % n_partitions)
        if number % 1000 == 0:
            producer.flush(10)
    producer.flush(10)
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
