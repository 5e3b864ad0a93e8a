"""`select` on sources without an end: signals with a final checkpoint, resuming, sequence numbers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from streamsift.cli import following
from streamsift.cli.main import cli
from streamsift.runs.checkpoint import Checkpoint
from streamsift.streams import unbounded

HEADER = "n,a,b,y\n"


def lines(first, last):
    return "".join(f"{k},{k % 7 + k % 2}.5,{k * 37 % 11},{'yes' if k % 2 else 'no'}\n" for k in range(first, last))


def select(*arguments, stdin=None):
    command = [sys.executable, "-m", "streamsift", "select", *map(str, arguments), "--target", "y", "--ignore", "n"]
    return subprocess.Popen(
        [*command, "--json", "-k", "1", "--batch-size", "50"],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def found(process):
    out, said = process.communicate(timeout=240)
    assert process.returncode == 0, said
    result = json.loads(out)
    return result["selected"], result["n_rows_seen"], said


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEADER + lines(0, 200))
    return path


def wait_for(path):
    latest = time.monotonic() + 240
    while not path.exists():
        assert time.monotonic() < latest
        time.sleep(0.05)


def test_the_addresses_are_those_of_the_library():
    assert following.SCHEMES == unbounded.SCHEMES


@pytest.mark.compiled
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_writes_a_final_checkpoint_and_the_run_goes_on(log, tmp_path, number, code):
    kept = ("--checkpoint", tmp_path / "run.ckpt", "--every", "50rows", "--resume")
    process = select(f"tail:{log}", *kept)
    wait_for(tmp_path / "run.ckpt")
    process.send_signal(number)
    _, said = process.communicate(timeout=240)
    assert process.returncode == code
    assert "The same command with --resume goes on from" in said
    with log.open("a") as file:
        file.write(lines(200, 330))
    selected, n_rows, said = found(select(f"tail:{log}", *kept, "--stop-after-idle", "0.1s"))
    assert "Going on from" in said
    assert n_rows == 330
    assert (selected, n_rows) == found(select(log))[:2]
    assert Checkpoint.read(tmp_path / "run.ckpt").selector.n_rows_seen_ == 330


@pytest.mark.compiled
def test_standard_input_that_is_sent_again_from_anywhere(log, tmp_path):
    kept = ("--sequence", "n", "--checkpoint", tmp_path / "run.ckpt", "--every", "50rows", "--resume")
    reading, writing = os.pipe()
    process = select("-", *kept, stdin=reading)
    os.close(reading)
    os.write(writing, (HEADER + lines(0, 120)).encode())
    wait_for(tmp_path / "run.ckpt")
    process.kill()
    process.communicate()
    os.close(writing)
    again = select("-", *kept, stdin=subprocess.PIPE)
    again.stdin.write(HEADER + lines(30, 200))
    again.stdin.close()
    again.stdin = None
    selected, n_rows, said = found(again)
    assert "came again and were left out" in said
    assert (selected, n_rows) == found(select(log))[:2]


def run(*arguments):
    return CliRunner().invoke(cli, ["select", *map(str, arguments), "--target", "y"])


@pytest.mark.compiled
def test_a_rotated_file_and_its_successor(log, tmp_path):
    """As docs/unbounded.md says: the old file under its new name, then the new one with --load."""
    log.write_text(HEADER + lines(0, 120))
    whole, new = tmp_path / "whole.csv", tmp_path / "new.ckpt"
    whole.write_text(HEADER + lines(0, 200))
    how = ["--ignore", "n", "--method", "screen:fisher", "-k", "1", "--batch-size", "50", "--quiet", "--json"]
    kept = ["--stop-after-idle", "0s", "--resume", "--checkpoint"]
    assert run(f"tail:{log}", *how, *kept, tmp_path / "old.ckpt").exit_code == 0
    with log.open("a") as file:
        file.write(lines(120, 130))
    log.rename(tmp_path / "log.csv.1")
    log.write_text(HEADER + lines(130, 200))
    refused = run(f"tail:{log}", *how, *kept, tmp_path / "old.ckpt")
    assert "give the old file under its new name, then the new one with --load" in str(refused.exception)
    assert run(f"tail:{tmp_path / 'log.csv.1'}", *how, *kept, tmp_path / "old.ckpt").exit_code == 0
    how = [*how[:2], *how[6:]]  # a loaded selector goes on with its method and parameters
    found = json.loads(run(f"tail:{log}", *how, *kept, new, "--load", tmp_path / "old.ckpt").stdout)
    alone = json.loads(run(whole, "--method", "screen:fisher", "-k", "1", *how).stdout)
    assert found["n_rows_seen"] == alone["n_rows_seen"] == 200
    assert found["selected"][0]["name"] == alone["selected"][0]["name"]
    assert found["selected"][0]["score"] == pytest.approx(alone["selected"][0]["score"], rel=1e-9)
    with log.open("r+") as file:
        file.truncate(100)
    refused = run(f"tail:{log}", *how, *kept, new, "--load", tmp_path / "old.ckpt")
    assert "was cut off or replaced (rotated)" in str(refused.exception)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tail:log.csv", "--method", "osfs"], "has no end: choose a method over rows"),
        (["tail:log.csv", "--stop-after-idle", "soon"], "is no time: write 10s, 5m or 2h"),
        (["tail:log.csv", "--jobs", "2"], "--jobs is for tables; a source without an end is read by one process"),
        (["tail:log.csv", "--order-by", "x"], "--order-by is for tables; a source without an end"),
        (["rows.csv", "--stop-after-idle", "1s"], "--stop-after-idle is for data without an end"),
        (["rows.csv", "--dead-letters", "bad"], "--dead-letters is for data without an end"),
        (["redis://host"], "A Redis stream is named as redis://host:port/stream"),
        (["redis://host/s?group=3"], "'group' in"),
        (["redis://host/s?db=x"], "'db' in"),
        (["kafka://host"], "A Kafka topic is named as kafka://broker:port/topic"),
        (["kafka://host/topic?format=avro"], "format=avro needs the schema of the messages"),
        (["kafka://host/topic?format=xml"], "There is no format 'xml' of messages"),
    ],
)
def test_what_cannot_be_is_said(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(HEADER + lines(0, 60))
    result = run(*arguments)
    assert result.exit_code != 0
    assert words in str(result.exception) + result.output


@pytest.mark.parametrize("verb", ["inspect", "compare"])
def test_other_verbs_do_not_wait_for_ever(tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(HEADER + lines(0, 60))
    result = CliRunner().invoke(cli, [verb, "tail:rows.csv", "--target", "y"])
    assert "There is no file tail:rows.csv" in str(result.exception) + result.output
