"""Outputs: devices and pipes are never replaced, a folder belongs to one run, and locked-down machines are served."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import streamsift
from streamsift import Screener, persist
from streamsift.comparison.compare import compare
from streamsift.core.exceptions import ParameterError
from streamsift.core.folder_lock import NAME, FolderLock
from streamsift.runs.row_trace import RowTraceWriter
from streamsift.runs.run import Run

SOURCE = Path(streamsift.__file__).parents[1]


@pytest.fixture
def trace(sift, people, tmp_path):
    """The folder of a finished run."""
    out = tmp_path / "run"
    assert sift("select", people, "--target", "sex", "--method", "screen:t_score", "-o", out)[0] == 0
    return out


def fitted():
    return Screener("t_score").fit([[0.0, 1.0], [1.0, 1.0], [0.2, 0.0]], ["no", "yes", "no"])


def drained(pipe):
    """Read a pipe in the background; returns the list that will hold what came, and the thread."""
    found = []
    thread = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    thread.start()
    return found, thread


# -- devices and pipes ------------------------------------------------------------------------------------------------


def test_a_device_stays_a_device(sift, people, trace, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(os.devnull)
    for target in (os.devnull, link):
        assert sift("report", trace, "-o", target)[0] == 0
        arguments = ["select", people, "--target", "sex", "--method", "screen:t_score", "--save", target]
        assert sift(*arguments)[0] == 0
        persist.save(fitted(), target)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert link.is_symlink()


@pytest.mark.parametrize("verb", ["select", "compare", "demo", "reproduce"])
def test_a_device_is_no_folder(sift, people, verb):
    given = {"reproduce": ["screening", "--table", 1], "demo": []}.get(verb, [people, "--target", "sex"])
    code, out, err = sift(verb, *given, "-o", os.devnull)
    assert (code, out) == (1, "")
    assert err.startswith(f"Error: The folder {os.devnull!r} cannot be written to: ")


def test_a_pipe_is_written_to_and_stays_a_pipe(sift, trace, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found, thread = drained(pipe)
    assert sift("report", trace, "-o", pipe)[0] == 0
    thread.join(30)
    assert found[0].startswith(b"<!doctype html>")
    found, thread = drained(pipe)
    persist.save(fitted(), pipe)
    thread.join(30)
    (tmp_path / "saved").write_bytes(found[0])
    assert persist.load(tmp_path / "saved").n_rows_seen_ == 3
    assert stat.S_ISFIFO(pipe.stat().st_mode)


# -- names that cannot be ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "words"), [("", "is empty"), ("a\0b", "NUL character")])
def test_paths_that_cannot_be_are_refused_before_the_run(sift, people, trace, path, words):
    told = ["select", people, "--target", "sex"]
    for arguments in (
        [*told, "-o", path],
        [*told, "--save", path],
        ["compare", people, "--target", "sex", "-o", path],
        ["report", trace, "-o", path],
        ["demo", "-o", path],
        ["reproduce", "screening", "--table", 1, "-o", path],
    ):
        code, out, err = sift(*arguments)
        assert (code, out) == (1, "")
        assert words in err
        assert err.count("\n") == 1
    for write in (lambda: persist.save(fitted(), path), lambda: RowTraceWriter(path, Run("screen:t_score"))):
        with pytest.raises(ParameterError, match=words):
            write()


# -- one run at a time ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["select", "compare", "demo", "reproduce", "report"])
def test_a_second_run_into_a_folder_is_refused_with_the_first_ones_process(sift, people, trace, verb):
    given = {
        "reproduce": ["screening", "--table", 1, "-o", trace],
        "demo": ["-o", trace],
        "report": [trace, "-o", trace / "again.html"],
    }.get(verb, [people, "--target", "sex", "-o", trace])
    before = sorted(path.name for path in trace.iterdir())
    with FolderLock(trace):
        code, out, err = sift(verb, *given)
    assert (code, out) == (1, "")
    assert f"is being written to by process {os.getpid()}: " in err
    assert sorted(path.name for path in trace.iterdir()) == before


def test_compare_in_python_takes_the_folder_too(tmp_path):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    with FolderLock(tmp_path), pytest.raises(ParameterError, match=f"process {os.getpid()}"):
        compare(data, methods=["screen:t_score"], repeats=1, batch_size=10, folder=tmp_path)


HOLDER = """
import sys, time
from streamsift.core.folder_lock import FolderLock
with FolderLock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_lock_of_a_process_that_was_killed_holds_nobody_up(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], env=environment, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout.readline() == b"held\n"
            with pytest.raises(ParameterError, match=f"process {holder.pid}"), FolderLock(tmp_path):
                pass
        finally:
            holder.send_signal(signal.SIGKILL)
    assert (tmp_path / NAME).exists()
    with FolderLock(tmp_path):
        assert (tmp_path / NAME).read_text() == f"{os.getpid()}\n"
    assert list(tmp_path.iterdir()) == []


def test_what_dead_runs_left_half_written_is_cleared(sift, people, tmp_path):
    (tmp_path / "runs").mkdir()
    ours = [tmp_path / "trace.parquet.0123abcd.partial", tmp_path / "runs" / "fires.json.99999999.partial"]
    theirs = [tmp_path / "film.partial", tmp_path / "film.0123abcd.partially"]
    for path in ours + theirs:
        path.write_text("half")
    assert sift("report", tmp_path / "nothing", "-o", tmp_path / "page.html")[0] == 1
    assert all(path.exists() for path in ours)  # a report does not own the folder it is written to
    assert sift("select", people, "--target", "sex", "--method", "screen:t_score", "-o", tmp_path)[0] == 0
    assert not any(path.exists() for path in ours)
    assert all(path.exists() for path in theirs)


# -- a machine that lets nothing be written ---------------------------------------------------------------------------

TRIED = "from streamsift.kernels.independence import fisher_z; print(round(fisher_z(0.5, 103, 0), 3))"
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'


def sandbox(*command):
    """A command for which the package lies on a read-only file system."""
    return ["unshare", "-rm", "sh", "-c", READ_ONLY, str(SOURCE), *map(str, command)]


def has_sandbox():
    return bool(shutil.which("unshare")) and subprocess.run(sandbox("true"), capture_output=True).returncode == 0


needs_sandbox = pytest.mark.skipif(not has_sandbox(), reason="needs unshare and the right to mount read-only")


def locked_down(*command, **variables):
    known = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    known |= {"HOME": "/proc", "PYTHONPATH": str(SOURCE), "NUMBA_DISABLE_JIT": "0"} | variables
    return subprocess.run(sandbox(sys.executable, *command), env=known, capture_output=True, text=True, timeout=300)


@needs_sandbox
def test_kernels_compile_in_memory_where_nothing_can_be_cached(people):
    arguments = ["select", people, "--target", "sex", "--method", "screen:t_score", "-k", 1]
    run = locked_down("-m", "streamsift", *arguments)
    assert run.returncode == 0, run.stderr
    assert "height" in run.stdout
    assert run.stderr.startswith("Warning: Kernels cannot be cached (")
    assert "compiling in memory, about " in run.stderr
    others = [
        line for line in run.stderr.splitlines() if not line.startswith("reading, ")
    ]  # progress, if it takes long
    assert len(others) == 1


@needs_sandbox
def test_a_folder_for_kernels_is_used_on_a_read_only_machine(tmp_path):
    run = locked_down("-W", "error", "-c", TRIED, NUMBA_CACHE_DIR=str(tmp_path))
    assert (run.returncode, run.stdout) == (0, "5.493\n"), run.stderr
    assert list(tmp_path.rglob("*.nbc"))


# -- folders of runs that wrote nothing -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("select", "{empty}", "--target", "y", "--out", "{out}"),
        ("select", "{empty}", "--target", "y", "--method", "investing", "--out", "{out}"),
        ("select", "{empty}", "--target", "y", "--method", "etana", "--out", "{out}"),
        ("compare", "{empty}", "--target", "y", "--out", "{out}"),
        ("report", "{empty}", "--out", "{out}/page.html"),
    ],
    ids=" ".join,
)
def test_an_error_before_anything_is_written_leaves_no_folder_behind(sift, tmp_path, arguments):
    (tmp_path / "empty.csv").touch()
    out = tmp_path / "several" / "runs" / "run"
    given = [word.format(empty=tmp_path / "empty.csv", out=out) for word in arguments]
    assert sift(*given)[0] != 0
    assert list(tmp_path.iterdir()) == [tmp_path / "empty.csv"]


def test_a_folder_that_was_there_stays_although_nothing_was_written(sift, tmp_path):
    (tmp_path / "empty.csv").touch()
    kept = tmp_path / "kept"
    kept.mkdir()
    assert sift("select", tmp_path / "empty.csv", "--target", "y", "--out", kept)[0] != 0
    assert sift("select", tmp_path / "empty.csv", "--target", "y", "--out", kept / "run")[0] != 0
    assert list(kept.iterdir()) == []
