"""How the command line ends when something is wrong: exit codes, one sentence, and no traceback."""

from __future__ import annotations

import json
import re
import resource
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from streamsift.core.batch import Batch
from streamsift.runs.trace import Trace


def one_sentence(text):
    return text.startswith("Error: ") and text.count("\n") == 1 and "Traceback" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "sexx"], ["'sexx'", "Did you mean 'sex'?"]),
        (["--target", "sex", "--method", "screen:chi"], ["'screen:chi'", "Did you mean 'screen:chi2'"]),
        (["--target", "sex", "--set", "fadding=0.9"], ["'fadding'", "Did you mean 'fading'?"]),
        (["--target", "sex", "--method", "screen:gini", "--set", "criterion=chi2"], ["criterion", "screen:gini"]),
        (["--target", "sex", "--fading", "2"], ["'fading'", "2"]),
        (["--target", "sex", "--fading", "0.9", "--set", "fading=0.8"], ["'fading'", "twice"]),
    ],
)
def test_wrong_names_and_values_are_one_sentence_and_exit_1(sift, people, arguments, words):
    code, out, err = sift("select", people, *arguments)
    assert (code, out) == (1, "")
    assert one_sentence(err)
    for word in words:
        assert word in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["selct"], "Did you mean 'select'?"),
        (["select"], "Missing argument 'DATA'"),
        (["select", "people.csv"], "--target"),
        (["select", "people.csv", "--target", "sex", "-k", "0"], "neither a number of features"),
        (["select", "people.csv", "--target", "sex", "-k", "1.5"], "neither a number of features"),
        (["select", "people.csv", "--target", "sex", "-k", "many"], "neither a number of features"),
        (["select", "people.csv", "--target", "sex", "--set", "fading"], "name=value"),
        (["select", "people.csv", "--target", "sex", "--set", "a=1", "--set", "a=2"], "twice"),
        (["select", "people.csv", "--target", "sex", "--missing", "guess"], "--missing"),
        (["reproduce", "screening", "-o", "out"], "--figure"),
    ],
)
def test_wrong_usage_exits_2(sift, arguments, words):
    code, out, err = sift(*arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "empty"), ("a,b,label\n", "no rows"), ("a,b,label\n1,2,x\n3,4,x\n5,6,x\n", "'x'")],
    ids=["empty", "header only", "one class"],
)
def test_files_with_nothing_to_learn(sift, tmp_path, content, words):
    path = tmp_path / "data.csv"
    path.write_text(content)
    code, out, err = sift("select", path, "--target", "label", "--out", tmp_path / "out")
    assert (code, out) == (1, "")
    assert one_sentence(err)
    assert words in err
    assert not (tmp_path / "out" / "selection.json").exists()


def test_one_class_names_the_label_and_the_rows(sift, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,label\n" + "1.5,yes\n" * 1234)
    code, _, err = sift("select", path, "--target", "label")
    assert code == 1
    assert "1,234 rows" in err
    assert "'yes'" in err


def test_a_file_that_is_not_there(sift, tmp_path):
    code, _, err = sift("select", tmp_path / "nothing.csv", "--target", "x")
    assert code == 1
    assert one_sentence(err)
    assert "nothing.csv" in err


def test_an_output_folder_that_cannot_be_made_is_found_before_the_run(sift, people, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, out, err = sift("select", people, "--target", "sex", "--out", tmp_path / "file" / "run")
    assert (code, out) == (1, "")
    assert one_sentence(err)
    assert "cannot be written to: not a directory" in err


@pytest.mark.parametrize(
    ("n_bytes", "refused", "left"),
    [(1_000, "trace.parquet", []), (100_000, "report.html", ["selection.json", "trace.parquet"])],
)
def test_a_disk_that_is_full_leaves_no_half_a_file(process, people, tmp_path, n_bytes, refused, left):
    def no_longer_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))

    out = tmp_path / "run"
    arguments = ["select", people, "--target", "sex", "--method", "screen:t_score", "--out", out, "--quiet"]
    # Without compiled kernels, which would have to be kept in files as well.
    run = process(*arguments, preexec_fn=no_longer_files, env={"NUMBA_DISABLE_JIT": "1"})
    _, err = run.communicate(timeout=240)
    assert run.returncode == 1, err
    assert one_sentence(err)
    assert refused in err
    assert "file too large" in err.lower()
    assert sorted(path.name for path in out.glob("*")) == left
    assert out.exists() == bool(left)


def test_an_unexpected_error_leaves_a_log_to_attach(sift, people, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("the unexpected")

    monkeypatch.setattr("streamsift.runs.rows.open_stream", broken)
    code, _, err = sift("select", people, "--target", "sex")
    assert code == 3
    assert "the unexpected" in err
    assert "Traceback" not in err
    log = Path(re.search(r"attach (\S+)", err).group(1))
    assert 'RuntimeError("the unexpected")' in log.read_text()
    log.unlink()


def test_ctrl_c_writes_what_was_found_and_exits_130(process, people, tmp_path):
    out = tmp_path / "run"
    run = process("select", "-", "--target", "sex", "-k", 2, "--out", out, "--quiet")
    header, rows = people.read_text().split("\n", 1)
    run.stdin.write(header + "\n" + rows * 60)
    run.stdin.flush()  # returns when all but a pipeful of these megabytes is read; then nothing more comes
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=240)
    assert run.returncode == 130
    assert err.strip().startswith("Interrupted: what was found in the first")
    assert err.strip().count("\n") == 0
    document = json.loads((out / "selection.json").read_text())
    assert document["complete"] is False
    assert [row["name"] for row in document["selected"]] == ["height", "weight"]
    assert Trace.read(out / "trace.parquet").table["row"].to_pylist()[-1] == document["n_rows_seen"]
    assert "interrupted" in (out / "report.html").read_text()
    assert not list(out.glob("*.partial"))


def test_ctrl_c_before_the_first_rows(process):
    run = process("select", "-", "--target", "sex")
    run.stdin.write("a," * 100_000)
    run.stdin.flush()  # returns when the process has begun to read: a pipe holds 64 KiB
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=240)
    assert run.returncode == 130
    assert "Interrupted" in err
    assert "Traceback" not in err


class Interrupted:
    """A stream that is interrupted after some batches of 100 rows."""

    def __init__(self, n_batches):
        self.n_batches = n_batches

    def progress(self):
        return None

    def batches(self, size):
        rng = np.random.default_rng(0)
        for _ in range(self.n_batches):
            y = rng.integers(0, 2, 100)
            yield Batch(rng.normal(size=(100, 3)) + y[:, None] * [0, 0, 2], y, ("a", "b", "c"))
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("n_batches", "words"),
    [
        (0, "Interrupted before anything was read: nothing was found yet."),
        (3, "Interrupted after 300 rows."),
    ],
)
def test_ctrl_c_without_out_writes_nothing(sift, people, tmp_path, monkeypatch, n_batches, words):
    monkeypatch.setattr("streamsift.runs.rows.open_stream", lambda *_, **__: Interrupted(n_batches))
    saved = tmp_path / "selector.sift"
    code, out, err = sift("select", people, "--target", "sex", "--batch-size", 100, "--save", saved)
    assert (code, out, err.strip()) == (130, "", words)
    assert not saved.exists()


def test_a_stream_without_rows_is_refused(sift, people, monkeypatch):
    class Nothing(Interrupted):
        def batches(self, size):
            return iter(())

    monkeypatch.setattr("streamsift.runs.rows.open_stream", lambda *_, **__: Nothing(0))
    code, _, err = sift("select", people, "--target", "sex")
    assert code == 1
    assert "There are no rows in 'people.csv'" in err


def test_a_folder_for_the_saved_selector_is_checked_before_the_run(sift, people, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, out, err = sift("select", people, "--target", "sex", "--save", tmp_path / "file" / "selector.sift")
    assert (code, out) == (1, "")
    assert "cannot be written to" in err


def test_a_reader_that_leaves_early_is_no_error(process):
    run = process("methods")
    run.stdout.close()
    err = run.stderr.read()
    assert run.wait(timeout=240) in (0, 1)
    assert err == ""


@pytest.mark.parametrize("method", ["screen:t_score", "saola", "stepwise", "ofs_density", "investing"])
@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("bad.csv", "a,b,y\n1,2,0\n\n2,3,1\n3,inf,0\n5,6,1\n", "Line 5 of the file, column 'b' is infinity"),
        ("bad.csv", "a,b,y\n1,2,0\n2,3,1\n3,,0\n5,6,1\n", "Line 4 of the file, column 'b' is NaN"),
        ("bad.libsvm", "0 1:1\n1 1:2\n# rows\n0 1:nan\n1 1:2\n", "Line 4 of the file, column 'x0' is NaN"),
    ],
)
def test_a_bad_value_is_found_by_the_line_of_the_file(sift, tmp_path, method, name, text, words):
    """For methods that take columns as for those that take rows."""
    (tmp_path / name).write_text(text)
    target = ["--target", "y"] if name.endswith(".csv") else []
    code, _, err = sift("select", str(tmp_path / name), *target, "--method", method)
    assert code == 1
    assert f"Error: {words}: " in err
