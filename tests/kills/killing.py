"""A run as a process of its own that is killed after some seconds, and what is compared when it has come to its end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from streamsift import persist
from streamsift.runs.checkpoint import Checkpoint
from streamsift.runs.column_trace import ColumnTraceWriter
from streamsift.runs.instances import InstanceTraceWriter
from streamsift.runs.row_trace import RowTraceWriter
from streamsift.runs.trace import Trace
from tests.kills.sources import Case, address

GIVE_UP = 3000.0  # seconds: a run hangs, however busy the machine is
CHECKPOINT, OUT, SAVED = "run.ckpt", "out", "saved"
LETTERS = "bad.jsonl"
CALM = "calm"  # the folder of the run that nobody disturbs


class Killed(AssertionError):
    """A run that did not end as it should have."""


def command(case: Case, folder: Path, *options: str) -> list[str]:
    """The arguments of a run in `folder`, whose parent holds the sources."""
    data = address(case, folder)
    target = [] if ".libsvm" in case.source else ["--target", "y"]
    given = [str(folder / LETTERS) if option == LETTERS else option for option in case.options]
    return ["select", data, *target, "--method", case.method, *given, "--quiet", "--json", *options]


@contextmanager
def _fed(case: Case, folder: Path) -> Iterator[int | None]:
    """What a run reads from: the file again, where it is a pipe. A growing file grows meanwhile."""
    if case.source.startswith("grow:"):
        with _growing(folder, case.source.removeprefix("grow:")):
            yield None
        return
    if not case.source.startswith("pipe"):
        yield None
        return
    path = folder.parent / case.source.removeprefix("pipe ")
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        try:
            yield writer.stdout.fileno()
        finally:
            writer.kill()


@contextmanager
def _growing(folder: Path, name: str) -> Iterator[None]:
    """Another process appends to the file of a run, in pieces that end anywhere, from where it was stopped last."""
    text = (folder.parent / name).read_bytes()
    if folder.name == CALM:
        (folder / name).write_bytes(text)
    writer = os.fork()
    if writer == 0:
        try:
            rng = random.Random()
            with (folder / name).open("ab", buffering=0) as file:
                while (size := file.seek(0, os.SEEK_END)) < len(text):
                    file.write(text[size : size + rng.randint(1, 60_000)])
                    time.sleep(rng.uniform(0.0, 0.03))
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)


def run(case: Case, folder: Path, *options: str, seconds: float | None = None, late: bool = False) -> float | None:
    """Run it and return the seconds it took; with `seconds` it is killed after so many, and None returned.

    With `late` these count from when it has written a checkpoint. The process is a copy of this one, in which
    everything is imported, and does what `python -m streamsift` does.
    """
    began, before = time.monotonic(), _stamp(folder / CHECKPOINT)
    with _fed(case, folder) as source:
        process = _started(command(case, folder, *options), folder, source)
        latest = began + (GIVE_UP if seconds is None else seconds)
        while time.monotonic() < latest:
            done, status = os.waitpid(process, os.WNOHANG)
            if done:
                break
            if late and _stamp(folder / CHECKPOINT) == before:
                latest = min(time.monotonic() + (seconds or 0.0), began + GIVE_UP)
            time.sleep(0.002)
        else:
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL and seconds is not None:
        return None
    if status != 0:
        raise Killed(f"{case.name} ended with {status}: {(folder / 'said').read_text()}")
    return time.monotonic() - began


def _started(arguments: list[str], folder: Path, source: int | None) -> int:
    return start(arguments, folder / "said", source)


def start(
    arguments: list[str], said: Path, source: int | None = None, before: Callable[[], None] = lambda: None
) -> int:
    """A copy of this process that does what `python -m streamsift` does; its id. `before` is called in it first."""
    process = os.fork()
    if process:
        return process
    try:
        output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        if source is not None:
            os.dup2(source, 0)
            sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  the process ends with it
        os.dup2(output, 1)
        os.dup2(output, 2)
        from streamsift.cli.errors import run as run_command
        from streamsift.cli.main import cli
        from streamsift.core.interrupts import listen

        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        before()
        listen()
        code = run_command(cli, arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    except BaseException as error:  # noqa: BLE001  nothing may return into the tests
        os.write(2, f"{error!r}\n".encode())
        os._exit(70)


WRITERS = {"rows": RowTraceWriter, "columns": ColumnTraceWriter, "instances": InstanceTraceWriter}
Found = tuple[Any, Any, dict[str, Any]]  # selection, trace and state


def found(folder: Path) -> Found:
    """What a run with a checkpoint has found, without the seconds it took."""
    end = Checkpoint.read(folder / CHECKPOINT)
    with WRITERS[end.saved.run.kind](None, end.saved.run) as record:
        record.resume(end.trace)
    return _selection(folder), _plain(record.trace()), end.selector.state_arrays()


def found_without(folder: Path) -> Found:
    """The same of a run without a checkpoint."""
    trace = Trace.read(folder / OUT / "trace.parquet")
    return _selection(folder), _plain(trace), persist.load(folder / SAVED).state_arrays()


def _selection(folder: Path) -> Any:
    selection = json.loads((folder / "said").read_text())
    selection.pop("seconds")
    return selection


def _plain(trace: Trace) -> Any:
    columns = [name for name in trace.table.schema.names if name != "seconds"]
    return trace.table.select(columns).to_pylist(), trace.names, trace.n_features


def refuse_different(case: Case, then: Found, now: Found) -> None:
    """Raise Killed where something is not exactly as in the run that nobody disturbed."""
    for what, a, b in zip(("selection", "trace"), then[:2], now[:2], strict=True):
        if repr(a) != repr(b):  # NaN equals NaN
            raise Killed(f"{case.name}: the {what} differs:\n{a!r:.2000}\n{b!r:.2000}")
    if then[2].keys() != now[2].keys():
        raise Killed(f"{case.name}: the state has other arrays")
    for key, array in then[2].items():
        other = now[2][key]
        if array.dtype != other.dtype or not np.array_equal(array, other, equal_nan=array.dtype.kind == "f"):
            raise Killed(f"{case.name}: {key} of the state differs")


class Undisturbed:
    """A case, the result of a run that nobody disturbs, and the seconds a run with checkpoints takes."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case, self._folder = case, folder / case.name.translate(str.maketrans(" ,:?&={}", "________"))
        calm = self._folder / CALM
        calm.mkdir(parents=True)
        for path in folder.iterdir():
            if path.is_file():
                (self._folder / path.name).symlink_to(path)
        run(case, calm, "--save", str(calm / SAVED), "--out", str(calm / OUT))
        self.result = found_without(calm)
        self._number = 0
        watched = self._fresh()
        taken = run(case, watched, *self._options(watched))
        assert taken is not None
        self.seconds = taken
        refuse_different(case, self.result, found(watched))

    def _fresh(self) -> Path:
        self._number += 1
        folder = self._folder / f"killed_{self._number}"
        folder.mkdir()
        return folder

    def _options(self, folder: Path) -> list[str]:
        return ["--checkpoint", str(folder / CHECKPOINT), "--every", "1rows", "--resume"]

    def until_finished(self, rng: random.Random, times: int) -> Counter[str]:
        """Kill it up to so many times, each at a random moment, then let it finish; how the kills fell."""
        folder, tally = self._fresh(), Counter[str]()
        for _ in range(times):
            before = _stamp(folder / CHECKPOINT)
            late = rng.random() < 0.5  # on a busy machine most of the time goes by before anything is learnt
            seconds = rng.uniform(0.0, self.seconds / (4 if late else 1))
            taken = run(self.case, folder, *self._options(folder), seconds=seconds, late=late)
            if taken is not None:
                tally["ended before it was killed"] += 1
                self.seconds = min(taken, self.seconds)  # the machine is less busy by now
                break
            if list(folder.glob("*.partial")):
                tally["killed while a checkpoint was being written"] += 1
            elif _stamp(folder / CHECKPOINT) == before:
                tally["killed before its first checkpoint"] += 1
            else:
                tally["killed between two checkpoints"] += 1
        else:
            run(self.case, folder, *self._options(folder))
        refuse_different(self.case, self.result, found(folder))
        letters = [path / LETTERS for path in (folder, self._folder / CALM)]
        if LETTERS in self.case.options and letters[0].read_bytes() != letters[1].read_bytes():
            raise Killed(f"{self.case.name}: the dead letters differ")
        left = [path.name for path in folder.rglob("*") if path.suffix == ".partial" or "lock" in path.name]
        if left:
            raise Killed(f"{self.case.name} left {left}")
        return tally


def _stamp(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def load_everything() -> None:
    """Import what a run needs, so that its copies need not; nothing may be computed, since threads are not copied."""
    from importlib import import_module

    from numba.core.registry import cpu_target

    from streamsift import catalog

    cpu_target.target_context.refresh()
    for name in catalog.names():
        catalog.class_at(catalog.entry(name).target)
    for module in (
        "streamsift.cli.main", "streamsift.runs.lead", "streamsift.runs.rows", "streamsift.runs.columns",
        "streamsift.runs.instances", "streamsift.report.trace_page", "streamsift.streams.csv",
        "streamsift.streams.libsvm", "streamsift.streams.parquet", "streamsift.streams.ipc",
        "streamsift.streams.lines", "streamsift.streams.message_stream", "streamsift.runs.sharing",
        "streamsift.streams.kafka_group",
    ):  # fmt: skip
        import_module(module)
    for package in ("redis", "confluent_kafka", "fastavro"):
        with suppress(ImportError):
            import_module(package)
