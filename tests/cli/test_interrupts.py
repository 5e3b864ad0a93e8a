"""Ctrl-C and SIGTERM, while the command line computes, waits or has workers: it ends, and leaves nothing half done.

Limits of time are those at which a test gives up; a machine that is not busy needs a second or two.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

GIVE_UP = 240


@pytest.fixture(scope="module")
def long_file(tmp_path_factory):
    """34,000 rows of 118 columns: OFS-A3M, which compares all rows with all, takes minutes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 34_000)
    X = rng.normal(size=(34_000, 118)).astype(np.float32)
    X[:, ::10] += 2 * y[:, None]
    path = tmp_path_factory.mktemp("long") / "long.npz"
    np.savez(path, X=X, y=y)
    return path


def wait_for(run, condition):
    """Wait until something is so while a process runs."""
    for _ in range(2 * GIVE_UP * 20):
        if condition():
            return
        assert run.poll() is None, run.communicate()[1]
        time.sleep(0.05)
    pytest.fail("It never came to that.")


def ended(run, number):
    """Send a signal and return the exit code and what was said."""
    run.send_signal(number)
    _, err = run.communicate(timeout=GIVE_UP)
    assert "Traceback" not in err
    return run.returncode, err


def cpu_seconds(process_id):
    with open(f"/proc/{process_id}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def alive_in_session(number):
    """The processes of a session that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended just now
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == number and fields[0] != "Z":
                found.append(path.parent.name)
    return found


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc to see a process at work")


@needs_proc
@pytest.mark.compiled
def test_ctrl_c_ends_a_long_run(process, long_file, tmp_path):
    """That each long kernel looks for the signal by itself, tests/core/test_slices.py shows."""
    out = tmp_path / "run"
    run = process("select", long_file, "--target", "y", "--method", "ofs_a3m", "--out", out)
    wait_for(run, lambda: list(out.glob("*.partial")))  # the file is read
    begun = cpu_seconds(run.pid)
    wait_for(run, lambda: cpu_seconds(run.pid) > begun + 3)  # in the kernels
    code, err = ended(run, signal.SIGINT)
    assert (code, err) == (130, err)
    assert err.splitlines()[-1].startswith("Interrupted")  # on a slow machine below lines of progress
    assert err != "Interrupted.\n"  # which is what a process says that had to be ended
    assert [path for path in out.glob("*") if path.suffix == ".partial" or "lock" in path.name] == []


@needs_proc
@pytest.mark.compiled
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_workers_end_with_the_comparison(process, long_file, tmp_path, number):
    places = tmp_path / "temporary"
    places.mkdir()
    arguments = ["compare", long_file, "--target", "y", "--methods", "ofs_density,ofs_a3m", "--jobs", 2, "--repeats", 1]
    run = process(*arguments, "-o", tmp_path / "out", env={"TMPDIR": str(places)}, start_new_session=True)
    children = f"/proc/{run.pid}/task/{run.pid}/children"

    def at_work():
        with open(children) as file:
            numbers = [int(word) for word in file.read().split()]
        return sum(cpu_seconds(number) > 2 for number in numbers) == 2

    wait_for(run, at_work)
    code, err = ended(run, number)
    assert (code, err) == (128 + number, err)
    assert "Interrupted" in err
    for _ in range(GIVE_UP * 20):  # what multiprocessing starts for itself ends when it sees that we have
        if not alive_in_session(run.pid):
            break
        time.sleep(0.05)
    assert alive_in_session(run.pid) == []
    assert list(places.iterdir()) == []
    assert [path for path in (tmp_path / "out").rglob("*") if path.suffix == ".partial" or "lock" in path.name] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", ["select", "compare"])
def test_a_pipe_that_never_closes(process, people, tmp_path, verb, number):
    places, out = tmp_path / "temporary", tmp_path / "out"
    places.mkdir()
    run = process(verb, "-", "--target", "sex", "-o", out, env={"TMPDIR": str(places)})
    header, rows = people.read_text().split("\n", 1)
    run.stdin.write(header + "\n" + rows * 10)
    run.stdin.flush()  # returns when all but a pipeful is read; then nothing more comes
    wait_for(run, lambda: list(out.glob("*.partial")) if verb == "select" else list(places.glob("*spool*")))
    code, err = ended(run, number)
    assert (code, err) == (128 + number, err)
    assert "Interrupted" in err
    assert list(places.iterdir()) == []
    assert not [path for path in out.glob("*") if path.suffix == ".partial" or "lock" in path.name]


@pytest.mark.parametrize("method", ["screen:t_score", "osfs", "etana"])
def test_a_reader_of_a_pipe_whose_writer_stalls(process, people, tmp_path, method):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDWR)  # a writer that never writes, and never ends
    run = process("select", "-", "--target", "sex", "--method", method, "--out", tmp_path / "out", stdin=reading)
    try:
        wait_for(run, lambda: (tmp_path / "out").exists())
        time.sleep(1)
        code, err = ended(run, signal.SIGINT)
    finally:
        os.close(reading)
    assert (code, err) == (130, err)
    assert "Interrupted" in err


DEAF = """
import hashlib, pathlib, sys
from streamsift.core import interrupts

interrupts.listen()
for path in map(pathlib.Path, sys.argv[1:]):
    interrupts.leaves_behind(path)
print("begun", flush=True)
hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # half an hour in which Python hears nothing
"""


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_cannot_hear_ends_all_the_same(tmp_path, number):
    file, folder, kept = tmp_path / "a.partial", tmp_path / "spool", tmp_path / "kept"
    for path in (file, kept):
        path.write_text("half")
    folder.mkdir()
    (folder / "0.arrow").write_text("rows")
    command = [sys.executable, "-c", DEAF, str(file), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline() == "begun\n"
            begun = cpu_seconds(run.pid)
            wait_for(run, lambda: cpu_seconds(run.pid) > begun + 0.3)
            code, err = ended(run, number)
        finally:
            run.kill()
    assert (code, err) == (128 + number, "Interrupted.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
