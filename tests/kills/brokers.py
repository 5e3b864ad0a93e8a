"""Servers that hold the rows: a real Redis, and librdkafka's mock cluster in a process of its own."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.kills.sources import ADDRESSES, SCHEMA, Case
from tests.streams.redis_server import PROGRAM, running

TOPIC = "rows"


def why_not(case: Case) -> str | None:
    """Why a case cannot be run here; None: it can."""
    if case.source.startswith("redis:") and (PROGRAM is None or find_spec("redis") is None):
        return "redis-server or the package redis is not installed"
    if case.source.startswith("kafka:") and find_spec("confluent_kafka") is None:
        return "the package confluent-kafka is not installed"
    if "format=avro" in case.source and find_spec("fastavro") is None:
        return "the package fastavro is not installed"
    return None


@contextmanager
def serving(folder: Path, cases: list[Case]) -> Iterator[None]:
    """All servers that the cases need, with the rows of rows.jsonl and rows.csv in them."""
    needed = {case.source.partition(":")[0] for case in cases}
    with ExitStack() as stack:
        if "redis" in needed:
            port = stack.enter_context(running(folder))
            ADDRESSES["redis"] = f"redis://127.0.0.1:{port}"
            _add_entries(port, folder)
        if "kafka" in needed:
            contents = {TOPIC: folder / "rows.jsonl", "poison": folder / "poison.jsonl"}
            if find_spec("fastavro") is not None:
                contents["avro"] = folder / "rows.avro"
                _write_avro(folder)
            ADDRESSES["kafka"] = f"kafka://{stack.enter_context(mock_kafka(contents))}"
        yield


def _add_entries(port: int, folder: Path) -> None:
    """Each row as an entry of two streams, as its fields and as JSON; poison; and rows of Arrow, seven at a time."""
    import redis

    lines = (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    with redis.Redis(port=port) as client, client.pipeline(transaction=False) as many:
        for row, line in zip(rows, lines, strict=True):
            many.xadd("rows", row)
            many.xadd("objects", {"row": line})
        for line in (folder / "poison.jsonl").read_text(encoding="utf-8").splitlines():
            many.xadd("poison", {"row": line})
        for first in range(0, len(rows), 7):
            table = pa.Table.from_pylist(rows[first : first + 7])
            sink = io.BytesIO()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            many.xadd("arrow", {"row": sink.getvalue()})
        many.execute()


def _write_avro(folder: Path) -> None:
    """The records of Avro, each behind its length."""
    import fastavro

    schema = fastavro.parse_schema(json.loads((folder / SCHEMA).read_text()))
    with (folder / "rows.avro").open("wb") as file:
        for line in (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines():
            sink = io.BytesIO()
            fastavro.schemaless_writer(sink, schema, json.loads(line))
            file.write(len(sink.getvalue()).to_bytes(4, "big") + sink.getvalue())


@contextmanager
def mock_kafka(contents: dict[str, Path], n_partitions: int = 1) -> Iterator[str]:
    """A mock cluster with the contents of files in the first partitions of topics; gives the address of its broker.

    It is a process of its own. It makes a topic by itself when somebody asks for it, with four partitions.
    """
    topics = [f"{topic}={path}" for topic, path in contents.items()]
    command = [sys.executable, "-m", "tests.kills.brokers", str(n_partitions), *topics]
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


def serve(contents: dict[str, Path], n_partitions: int) -> None:
    """Hold a mock cluster until standard input ends."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient

    cluster = AdminClient({"test.mock.num.brokers": 1, "log_level": 0})
    broker = next(iter(cluster.list_topics(timeout=10).brokers.values()))
    address = f"{broker.host}:{broker.port}"
    producer: Any = Producer({"bootstrap.servers": address, "linger.ms": 5, "log_level": 0})
    for topic, path in contents.items():
        for number, message in enumerate(_messages(path)):
            producer.produce(topic, message, partition=number % n_partitions)
            if number % 1000 == 0:
                producer.flush(10)
    producer.flush(10)
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stdin.read()


def _messages(path: Path) -> list[bytes]:
    """The lines of a file, or its records of Avro."""
    data = path.read_bytes()
    if path.suffix != ".avro":
        return data.splitlines()
    found, place = [], 0
    while place < len(data):
        end = place + 4 + int.from_bytes(data[place : place + 4], "big")
        found.append(data[place + 4 : end])
        place = end
    return found


if __name__ == "__main__":
    serve({topic: Path(path) for topic, _, path in (text.partition("=") for text in sys.argv[2:])}, int(sys.argv[1]))
