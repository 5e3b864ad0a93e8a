"""`select` on a real Redis and on librdkafka's mock cluster: a signal, a resumed run, rows that change meanwhile."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from tests.streams.mock_cluster import library, mock_cluster
from tests.streams.redis_server import PROGRAM, running

from streamsift.cli.display import RunView
from streamsift.cli.main import cli
from streamsift.runs.checkpoint import Checkpoint
from streamsift.streams import Unbounded, open_stream

FIRST = [json.dumps({"a": k % 7 + k % 2, "b": k * 37 % 11, "y": "yes" if k % 2 else "no"}) for k in range(200)]
FIRST.insert(120, "poison")
# A feature and a class that nobody has met before, and a message that is no row.
CHANGED = [json.dumps({"a": k % 5, "late": k % 3, "y": ["no", "yes", "maybe"][k % 3]}) for k in range(100)] + ["poison"]


@contextmanager
def redis_stream(folder):
    redis = pytest.importorskip("redis", reason="skipped: no redis")
    if PROGRAM is None:
        pytest.skip("skipped: no redis-server")
    with running(folder) as port, redis.Redis(port=port) as client:

        def push(lines):
            for line in lines:
                client.xadd("rows", {"row": line})

        yield f"redis://127.0.0.1:{port}/rows?field=row", push


@contextmanager
def kafka_topic(folder):
    pytest.importorskip("confluent_kafka", reason="skipped: no confluent-kafka")
    if library() is None:
        pytest.skip("skipped: no librdkafka beside the package confluent-kafka")
    with mock_cluster(1) as cluster:
        cluster.create("rows", 1)
        yield (
            f"kafka://{cluster.address}/rows",
            lambda lines: cluster.produce("rows", [line.encode() for line in lines], 0),
        )


def options(address, folder, name, *others):
    kept = ["--checkpoint", folder / f"{name}.ckpt", "--dead-letters", folder / f"{name}.jsonl", "--every", "1h"]
    how = ["--method", "screen:fisher", "-k", "2", "--set", "new_features=add", "--missing", "skip"]
    command = ["select", address, "--target", "y", "--json", "--batch-size", "50", *how, *kept, *others]
    return [str(word) for word in command]


def to_the_end(*arguments):
    result = CliRunner().invoke(cli, [*options(*arguments), "--stop-after-idle", "0.3s", "--quiet"])
    assert result.exit_code == 0, result.output
    return {key: value for key, value in json.loads(result.stdout).items() if key != "seconds"}


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("source", "number", "code"), [(redis_stream, signal.SIGTERM, 143), (kafka_topic, signal.SIGINT, 130)]
)
def test_a_signal_a_resumed_run_and_rows_that_change(tmp_path, source, number, code):
    with source(tmp_path) as (address, push):
        push(FIRST)
        command = [sys.executable, "-m", "streamsift", *options(address, tmp_path, "run", "--resume")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        latest = time.monotonic() + 900
        while not (tmp_path / "run.jsonl").exists():  # two batches have been learnt when the third meets the poison
            assert time.monotonic() < latest
            time.sleep(0.05)
        process.send_signal(number)
        _, said = process.communicate(timeout=900)
        assert process.returncode == code, said
        assert "The same command with --resume goes on from" in said
        assert Checkpoint.read(tmp_path / "run.ckpt").selector.n_rows_seen_ in (50, 100, 150, 200)
        push(CHANGED)
        resumed = to_the_end(address, tmp_path, "run", "--resume")
        calm = to_the_end(address, tmp_path, "calm")
    assert resumed == calm
    assert resumed["n_rows_seen"] == 300
    end, other = (Checkpoint.read(tmp_path / f"{name}.ckpt").selector for name in ("run", "calm"))
    assert sorted(end.classes_) == ["maybe", "no", "yes"]
    assert end.feature_names_in_.tolist() == ["a", "b", "late"]
    assert {name: array.tolist() for name, array in end.state_arrays().items()} == {
        name: array.tolist() for name, array in other.state_arrays().items()
    }
    assert (tmp_path / "run.jsonl").read_text() == (tmp_path / "calm.jsonl").read_text()
    letters = [json.loads(line)["message"] for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert letters == ["poison", "poison"]


def test_nothing_is_read_while_a_batch_is_learnt(tmp_path):
    """Back pressure: what is not asked for stays at the server."""
    with redis_stream(tmp_path) as (address, push):
        push(FIRST[:120])
        stream = open_stream(Unbounded(address, stop_after_idle=0.0), target="y")
        asked, look = [], stream._source._look
        stream._source._look = lambda most: asked.append(most) or look(most)
        for number, batch in enumerate(stream.batches(32), start=1):
            assert max(asked) == 32
            assert len(asked) == number + 1 or batch.n_rows < 32  # the first look only asks whether there is a server
    assert sum(asked) >= 120


def test_what_is_waited_for_is_shown(tmp_path):
    with redis_stream(tmp_path) as (address, push):
        push([*FIRST[:30], "poison"])
        view = RunView()
        source = Unbounded(address, stop_after_idle=0.0, heard=view.wait, dead_letters=tmp_path / "bad")
        stream = open_stream(source, target="y")
        with pytest.warns(UserWarning, match="1 message was no row"):
            list(stream.batches(50))
    assert view.line().startswith("reading, 30 of 50 rows for the next batch, 1 dead letter, ")
    assert view.line() == ""  # nothing new: a log does not grow while nobody sends anything
    assert "waiting: 30 of 50 rows" in view.render().plain
