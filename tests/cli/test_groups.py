"""`select 'kafka://...?group=NAME'`: what is refused before a broker is asked, and `inspect` of the folder."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from streamsift import ParameterError, Screener, persist
from streamsift.cli.main import cli
from streamsift.runs.claims import Claim, agree_on_run
from streamsift.runs.run import Run
from streamsift.streams import open_stream

TOPIC = "kafka://localhost:1/rows?group=team"


def refused(*options, data=TOPIC):
    result = CliRunner().invoke(cli, ["select", data, "--target", "y", *map(str, options)])
    assert result.exit_code != 0
    return result.exception if isinstance(result.exception, ParameterError) else result.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "fires"], "FIRES cannot share a topic: its state depends on the order of the rows"),
        (["--method", "abfs"], "leave group= out (one process), or give each process partitions and a checkpoint"),
        (["--method", "screen:gini", "--fading", "0.9"], "let times decide (--half-life 1h --time COLUMN)"),
        (["--method", "screen:gini", "--half-life", "10000"], "Fading by rows needs to know which rows are older"),
        (["--method", "screen:gini", "--set", "new_features=add"], "new_features='add' cannot share a topic"),
        (["--method", "screen:gini", "--out", "run"], "--out does not go with group="),
        (["--method", "screen:gini", "--save", "file"], "--save does not go with group="),
        (["--method", "screen:gini", "--sequence", "n"], "--sequence does not go with group="),
        (["--method", "screen:gini", "--dead-letters", "bad"], "--dead-letters does not go with group="),
        (["--method", "screen:gini", "--sep", ";"], "--sep does not go with group="),
        (["--method", "investing"], "choose a method over rows"),
    ],
)
def test_what_cannot_be_shared(tmp_path, options, words):
    assert words in str(refused(*options, "--checkpoint", tmp_path / "ckpts"))
    assert not (tmp_path / "ckpts").exists()


def test_where_the_checkpoints_are(tmp_path):
    assert "group= needs --checkpoint FOLDER" in str(refused("--method", "screen:gini"))
    (tmp_path / "file").touch()
    said = refused("--method", "screen:gini", "--checkpoint", tmp_path / "file")
    assert "is a file, and group= keeps a folder of checkpoints" in str(said)


def test_addresses(tmp_path):
    kept = ("--method", "screen:gini", "--checkpoint", tmp_path)
    assert "is empty: give the processes a name in common" in str(
        refused(*kept, data="kafka://localhost:1/rows?group=")
    )
    both = refused(*kept, data=f"{TOPIC}&partitions=0-3")
    assert "'partitions' in" in str(both)
    with pytest.raises(ParameterError, match="use `streamsift select` with --checkpoint FOLDER, or leave group= out"):
        open_stream(TOPIC, target="y")


@pytest.mark.parametrize("as_json", [False, True])
def test_inspect_merges_what_the_partitions_know(tmp_path, as_json):
    agree_on_run(tmp_path, Run("screen:fisher", data="rows", target="y"))
    said = CliRunner().invoke(cli, ["inspect", str(tmp_path)])
    assert "No partition has a checkpoint in" in str(said.exception)
    for number in (0, 1):
        rows = [{"a": float(k % 2 + number), "b": float(k * 7 % 5)} for k in range(20)]
        selector = Screener("fisher").partial_fit(rows, [k % 2 for k in range(20)])
        Claim(tmp_path, number).write(persist.parts_of(selector), {})
    said = CliRunner().invoke(cli, ["inspect", str(tmp_path), *(["--json"] if as_json else [])])
    assert said.exit_code == 0, said.output
    if as_json:
        found = json.loads(said.stdout)
        assert (found["rows"], found["rows_of_partitions"]) == (40, {"0": 20, "1": 20})
        assert [one["name"] for one in found["top"]] == ["a", "b"]
    else:
        assert "rows: 40\n" in said.stdout
        assert "rows of partitions: 0=20, 1=20\n" in said.stdout
