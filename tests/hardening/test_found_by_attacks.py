"""What attackers have found who looked for what the fuzzers do not make: a test for each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamsift import InputError, Joint, ParameterError, ReaderError, open_stream
from streamsift.cli.errors import run
from streamsift.cli.main import cli


def read(path: Path, data: bytes, **options: Any) -> Any:
    path.write_bytes(data)
    return list(open_stream(path, "y", **options).batches(100))


def one_sentence(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """What is said by a command line that must be refused."""
    code = run(cli, [str(argument) for argument in arguments])
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (1, 1), said
    return said


# -- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b', "y": 1}\n',
        b'{"a": ' * 20_000 + b"1" + b"}" * 20_000 + b"\n",
        b'{"a": ' + b"[\n" * 100_000 + b"]\n" * 100_000 + b"}\n",
    ],
)
def test_json_that_is_nested_until_the_stack_ends(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "first.jsonl").write_bytes(line)
    (tmp_path / "late.jsonl").write_bytes(b'{"a": 1, "y": 0}\n' * 100_000 + line)
    program = (
        "import sys\nfrom streamsift import ReaderError, open_stream\n"
        "for path in sys.argv[1:]:\n"
        "    try: list(open_stream(path, 'y').batches(1000))\n"
        "    except ReaderError as error: print(error)\n"
    )
    files = [str(tmp_path / name) for name in ("first.jsonl", "late.jsonl")]
    ended = subprocess.run([sys.executable, "-c", program, *files], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.count("\n"), ended.stderr) == (0, 2, "")


def test_brackets_inside_of_json_strings_are_no_lists(tmp_path: Path) -> None:
    line = b'{"a": "' + b'[\\"{' * 500 + b'", "y": 1}\n{"a": "u", "y": 0}\n'
    (batch,) = read(tmp_path / "a.jsonl", line)
    assert batch.y.tolist() == [1, 0]


def test_thousands_of_keys_are_looked_up_at_once(tmp_path: Path) -> None:
    keys = ", ".join(f'"k{number}": 1' for number in range(5000))
    stream_of = tmp_path / "a.jsonl"
    read(stream_of, b"{" + keys.encode() + b', "y": 0}\n')
    stream: Any = open_stream(stream_of, "y")
    assert isinstance(stream._known, frozenset)


@pytest.mark.parametrize("encoding", ["utf\0", "undefined", "rot13"])
def test_encodings_that_are_none(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(ParameterError, match="must be an encoding of text that Python knows"):
        read(tmp_path / "a.csv", b"a,y\n1,0\n", encoding=encoding)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [("punycode", b"a,y\n1,0\n"), ("unicode_escape", b"a,y\n\\ud800,0\n"), ("utf-7", b"a,y\n+2AA-,0\n")],
)
def test_text_that_an_encoding_cannot_give(tmp_path: Path, encoding: str, data: bytes) -> None:
    with pytest.raises(ReaderError, match=r"is not .* text, .* cannot be decoded"):
        read(tmp_path / "a.csv", data, encoding=encoding)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".arff"])
def test_a_limit_of_names_can_be_raised(tmp_path: Path, suffix: str) -> None:
    name = b"a" * 20_000
    data = {
        ".csv": name + b",y\n1,u\n2,v\n",
        ".jsonl": b'{"' + name + b'": 1, "y": 0}\n',
        ".arff": b"@relation r\n@attribute " + name + b" real\n@attribute y {u,v}\n@data\n1,u\n",
    }[suffix]
    path = tmp_path / f"a{suffix}"
    with pytest.raises(ReaderError, match="raise the limit with --max-name"):
        read(path, data)
    (batch,) = read(path, data, limits={"longest_name": 50_000})
    assert len(batch.feature_names[0]) == 20_000


# -- JSON from elsewhere ----------------------------------------------------------------------------------------------

DEEP = "[" * 100_000


def test_a_comparison_that_is_nested_until_the_stack_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "comparison.json").write_text(DEEP)
    said = one_sentence(capsys, "report", tmp_path, "-o", tmp_path / "report.html")
    assert "is not JSON" in said


@pytest.mark.parametrize("value", [DEEP, "9" * 5000])
def test_values_of_options_that_json_cannot_read(
    value: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = tmp_path / "a.csv"
    data.write_text("a,y\n" + "1,0\n2,1\n" * 20)
    assert run(cli, ["select", str(data), "--target", "y", "--set", f"max_pool={value}"]) in (1, 2)
    assert run(cli, ["compare", f"generate:sea,irrelevant={value}", "--rows", "100"]) in (1, 2)
    assert "Unexpected" not in capsys.readouterr().err


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_a_target_that_is_too_large_is_not_called_missing() -> None:
    with pytest.raises(InputError, match=r"Row 1 has no target within 1e\+150 \(y is 1e\+308\)"):
        Joint(task="regression").partial_fit(np.eye(2), [1.0, 1e308])
