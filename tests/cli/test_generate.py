"""generate: the files it writes, the truth beside them, and how it ends when it cannot."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import signal
import time

import numpy as np
import pytest

from streamsift.streams import generate, open_stream


def rows_of(path):
    batches = list(open_stream(path, target="label").batches(500))
    names = [[str(label) for label in batch.y] for batch in batches]
    return np.concatenate([batch.X for batch in batches]), [label for part in names for label in part], batches[0]


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_a_file_holds_the_rows_of_the_stream(sift, tmp_path, ending):
    path = tmp_path / f"an.{ending}"
    code, out, err = sift("generate", "an", "--rows", 1500, "--irrelevant", 4, "--seed", 3, "-o", path)
    assert (code, out, err) == (0, "", "")
    X, labels, first = rows_of(path)
    expected = next(generate("an", n_rows=1500, seed=3, irrelevant=4).batches(1500))
    stream = open_stream(path, target="label")
    assert stream.feature_names == generate("an", n_rows=1).feature_names + tuple(f"irrelevant_{k}" for k in range(4))
    assert labels == [str(label) for label in expected.y]
    assert first.categorical.tolist() == expected.categorical.tolist()
    np.testing.assert_allclose(X[:, 5:7], expected.X[:, 5:7], rtol=1e-6)  # numbers
    for place in (0, 1, 2, 3, 4, 7, 8):  # codes are given anew when a file is read: equal up to their names
        pairs = set(zip(X[:, place].tolist(), expected.X[:, place].tolist(), strict=True))
        assert len(pairs) == len(set(expected.X[:, place].tolist()))


def test_the_truth_lies_beside_the_file(sift, tmp_path):
    path = tmp_path / "sea.parquet"
    arguments = ["--rows", 3000, "--irrelevant", 6, "--drift", "gradual", "--width", 200]
    assert sift("generate", "sea", *arguments, "-o", path)[0] == 0
    truth = json.loads((tmp_path / "sea.truth.json").read_text())
    assert truth["drifts"] == [{"row": 1000, "first": 900, "last": 1099}, {"row": 2000, "first": 1900, "last": 2099}]
    assert [segment["relevant"] for segment in truth["segments"]] == [[0, 1], [2, 3], [4, 5]]
    assert [(segment["first"], segment["last"]) for segment in truth["segments"]] == [
        (0, 999),
        (1000, 1999),
        (2000, 2999),
    ]
    assert truth["segments"][1]["names"] == ["x2", "x3"]
    assert (truth["generator"], truth["rows"], truth["seed"], truth["n_features"]) == ("sea", 3000, 0, 12)
    assert truth["options"] == {"irrelevant": 6, "drift": "gradual", "width": 200}
    assert sorted(os.listdir(tmp_path)) == ["sea.parquet", "sea.truth.json"]


def test_every_option_reaches_the_generator(sift, tmp_path):
    path = tmp_path / "bg2.csv"
    arguments = [
        "--redundant",
        2,
        "--drift",
        "abrupt",
        "--drifts",
        1,
        "--positions",
        "70",
        "--noise",
        0,
        "--share",
        0.9,
    ]
    assert sift("generate", "bg2", "--rows", 100, *arguments, "--set", "n_values=3", "-o", path)[0] == 0
    options = {"redundant": 2, "drift": "abrupt", "n_drifts": 1, "positions": [70], "class_noise": 0.0}
    expected = next(generate("bg2", n_rows=100, class_share=0.9, n_values=3, **options).batches(100))
    assert rows_of(path)[1] == [str(label) for label in expected.y]
    assert json.loads((tmp_path / "bg2.truth.json").read_text())["drifts"] == [{"row": 70, "first": 70, "last": 70}]


def test_a_dash_is_csv_on_the_standard_output(process):
    run = process("generate", "sea", "--rows", 50, "--irrelevant", 3, "-o", "-")
    out, err = run.communicate(timeout=240)
    assert (run.returncode, err) == (0, "")
    table = list(csv.reader(io.StringIO(out)))
    assert table[0] == [*(f"x{k}" for k in range(6)), "irrelevant_0", "irrelevant_1", "irrelevant_2", "label"]
    assert len(table) == 51
    assert {row[-1] for row in table[1:]} == {"0", "1"}


def test_a_reader_that_leaves_ends_the_run_quietly(process):
    run = process("generate", "sea", "--rows", 200_000, "--irrelevant", 20, "-o", "-")
    run.stdout.readline()
    run.stdout.close()
    assert run.wait(timeout=240) == 1
    assert run.stderr.read() == ""


def test_ctrl_c_leaves_no_half_file(process, tmp_path):
    path = tmp_path / "out" / "big.csv"
    run = process("generate", "sea", "--rows", 5_000_000, "--irrelevant", 100, "-o", path)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("out/big.csv.*.partial")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(tmp_path.glob("out/big.csv.*.partial"))
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=240)
    assert run.returncode == 130
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert not path.parent.exists()


def test_a_terminal_sees_a_progress_bar(process, tmp_path):
    main, other = pty.openpty()
    run = process("generate", "sea", "--rows", 60_000, "--irrelevant", 50, "-o", tmp_path / "x.parquet", stderr=other)
    os.close(other)
    seen = b""
    while True:
        try:
            part = os.read(main, 1000)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        seen += part
    os.close(main)
    assert run.wait(timeout=240) == 0
    assert b"writing" in seen


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["seaa", "-o", "x.csv"], "There is no generator 'seaa'. Did you mean 'sea'?"),
        (["sea", "-o", "x.parket"], "There is no format '.parket' for 'x.parket'. Did you mean '.parquet'?"),
        (
            ["linear_drift", "--irrelevant", "5", "-o", "x.csv"],
            "There is no option of linear_drift called 'irrelevant'",
        ),
        (["sea", "--width", "5", "--set", "width=6", "-o", "x.csv"], "The option 'width' is given twice"),
        (["sea", "--drift", "abrupt", "--positions", "9", "--rows", "5", "-o", "x.csv"], "increasing row numbers"),
    ],
)
def test_refusals_in_one_sentence(sift, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = sift("generate", *arguments)
    assert (code, out) == (1, "")
    assert message in err
    assert os.listdir(tmp_path) == []


def test_wrong_usage(sift, tmp_path):
    code, _, err = sift("generate", "sea", "--positions", "a,b", "-o", tmp_path / "x.csv")
    assert code == 2
    assert "is not a list of row numbers" in err
    assert sift("generate", "sea")[0] == 2


def test_a_folder_that_cannot_be_written_to(sift, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = sift("generate", "sea", "--rows", 10, "-o", tmp_path / "file" / "x.csv")
    assert code == 1
    assert "cannot be written to" in err
