"""Processes that share a Kafka topic come late, are killed, stopped for a while, or leave; the states are compared.

`python -m tests.kills.groups --runs 20 --seed 1` prints what happened to them; the exit code is 1 if any state differs.
Every run has a group, a folder and a mock cluster of its own. While rows arrive, processes join, are ended by SIGKILL,
leave on SIGTERM, or are stopped (SIGSTOP) until others have their partitions, and then go on as if they still had them.
What happens next waits for what the folder says, never for a time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from streamsift import load
from streamsift.core.exceptions import ParameterError
from streamsift.runs import claims
from streamsift.runs.claims import load_shared, newest
from streamsift.streams import kafka_group
from tests.kills.killing import load_everything, start

GIVE_UP = 900.0  # seconds: something hangs, however busy the machine is
SESSION = 3.0  # seconds after which the group misses a process
TOPIC, N_PARTITIONS, BATCH = "rows", 4, 20
METHODS = {  # and their options: joint states do not merge where there are categories
    "screen:fisher": (),
    "joint:forward": ("--ignore", "colour"),
    "screen:mutual_info": (),
}
EVENTS = ("joined late", "killed by SIGKILL", "left on SIGTERM", "stopped until others had its partitions")


# -- the cluster, a process of its own ---------------------------------------------------------------------------------


def rows(first: int, last: int) -> Iterator[tuple[int, bytes]]:
    """Rows by number, each with its partition; the keys of one partition come in another order."""
    for number in range(first, last):
        rng = random.Random(number)
        y = rng.random() < 0.4
        row = {"a": rng.gauss(float(y), 1.0), "b": rng.gauss(0.0, 1.0), "colour": rng.choice("rgb" if y else "rg")}
        fields = {**row, "n": number * 37 % 1009, "y": "yes" if y else "no"}
        partition = number % N_PARTITIONS
        yield partition, json.dumps(dict(reversed(fields.items())) if partition == 2 else fields).encode()


def serve() -> None:
    """Hold a mock cluster; each line of standard input says up to which row there are to be rows."""
    from tests.streams.mock_cluster import mock_cluster

    with mock_cluster(1) as cluster:
        cluster.create(TOPIC, N_PARTITIONS)
        sys.stdout.write(f"{cluster.address}\n")
        sys.stdout.flush()
        there = 0
        for line in sys.stdin:
            found = list(rows(there, int(line)))
            for partition in range(N_PARTITIONS):
                cluster.produce(TOPIC, [value for number, value in found if number == partition], partition)
            there = int(line)
            sys.stdout.write("there\n")
            sys.stdout.flush()


class Cluster:
    """The cluster, as others see it."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.kills.groups", "--serve"]
        root = Path(__file__).resolve().parents[2]
        self._process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.n_rows = 0
        self.address = f"kafka://{self._heard()}/{TOPIC}"

    def _heard(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def grow(self, n_rows: int) -> None:
        """Send so many more rows."""
        self.n_rows += n_rows
        assert self._process.stdin is not None
        self._process.stdin.write(f"{self.n_rows}\n")
        self._process.stdin.flush()
        assert self._heard() == "there"

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A cluster that is ended afterwards."""
    found = Cluster()
    try:
        yield found
    finally:
        found.close()


# -- the processes -----------------------------------------------------------------------------------------------------


class Team:
    """The processes of a group; `log` has a line for each claim: process and partition."""

    def __init__(self, folder: Path, topic: Cluster, method: str) -> None:
        self.folder, self._topic, self._method = folder / "ckpts", topic, method
        self.log, self._said = folder / "claims.log", folder / "said"
        self.log.touch()
        self._said.mkdir()
        self.members: list[int] = []  # process ids
        self.n_handed_over = 0

    def join(self, *options: str) -> int:
        """Start a process."""
        said = self._said / str(len(list(self._said.iterdir())))
        command = ["select", f"{self._topic.address}?group=team", "--target", "y", "--method", self._method, "--quiet"]
        command += ["--checkpoint", str(self.folder), "--batch-size", str(BATCH), "--every", "1rows"]
        command += [*METHODS[self._method], *options]
        process = start(command, said, before=self._noted)
        self.members.append(process)
        return process

    def _noted(self) -> None:
        """In the process itself: note each claim."""
        kafka_group.SESSION = SESSION
        log, claim = os.open(self.log, os.O_WRONLY | os.O_APPEND), claims.Claim.__init__

        def noted(this: Any, folder: Path, partition: int) -> None:
            claim(this, folder, partition)
            os.write(log, f"{os.getpid()} {partition}\n".encode())

        claims.Claim.__init__ = noted  # type: ignore[method-assign]  # to count claims of processes that are killed

    def holders(self) -> dict[int, int]:
        """The process that claimed each partition last."""
        pairs = [line.split() for line in self.log.read_text().splitlines()]
        self.n_handed_over = len(pairs)
        return {int(partition): int(process) for process, partition in pairs}

    def wait(self, ready: Callable[[], bool], words: str) -> None:
        """Wait for something; whoever ends meanwhile has failed."""
        latest = time.monotonic() + GIVE_UP
        while not ready():
            for process in self.members:
                done, status = os.waitpid(process, os.WNOHANG)
                if done:
                    self.members.remove(process)
                    raise AssertionError(f"A process ended with {status}: {self.said()}")
            assert time.monotonic() < latest, f"waited in vain for {words}: {self.holders()} {self.members}"
            time.sleep(0.02)

    def said(self) -> str:
        """What all of them have said."""
        return " ".join(path.read_text() for path in sorted(self._said.iterdir()))

    def until_all_are_held(self, by: set[int]) -> None:
        """Wait until these processes hold all partitions, and each of them one."""
        self.wait(
            lambda: len(self.holders()) == N_PARTITIONS and set(self.holders().values()) == by, f"the claims of {by}"
        )

    def known(self) -> int:
        """Rows in the checkpoints."""
        try:
            return sum(load_shared(self.folder).rows.values())
        except ParameterError:  # none so far
            return 0

    def until_known(self) -> None:
        """Wait until all full batches are in the checkpoints."""
        per_partition = [len(range(number, self._topic.n_rows, N_PARTITIONS)) for number in range(N_PARTITIONS)]
        full = sum(count // BATCH * BATCH for count in per_partition)
        self.wait(lambda: self.known() == full, f"{full} rows")

    def end(self, process: int, number: int) -> None:
        """End a process by a signal."""
        os.kill(process, number)
        _, status = os.waitpid(process, 0)
        self.members.remove(process)
        code = os.waitstatus_to_exitcode(status)
        assert code == (-number if number == signal.SIGKILL else 128 + number), (code, self.said())

    def close(self) -> None:
        """End all that are left."""
        for process in tuple(self.members):
            self.end(process, signal.SIGKILL)


def happens(event: str, team: Team, topic: Cluster, rng: random.Random, n_rows: int) -> None:
    """Let one thing happen while rows arrive, and wait until the others have all partitions."""
    one = rng.choice(team.members)
    if event == "joined late":
        topic.grow(n_rows)
        team.join()
        team.until_all_are_held(set(team.members))
    elif event == "killed by SIGKILL":
        topic.grow(n_rows)
        time.sleep(rng.uniform(0.0, 0.2))
        team.end(one, signal.SIGKILL)
        team.until_all_are_held(set(team.members))
    elif event == "left on SIGTERM":
        topic.grow(n_rows)
        time.sleep(rng.uniform(0.0, 0.2))
        team.end(one, signal.SIGTERM)
        team.until_all_are_held(set(team.members))
    else:
        topic.grow(n_rows)
        time.sleep(rng.uniform(0.0, 0.2))
        os.kill(one, signal.SIGSTOP)
        try:
            team.until_all_are_held(set(team.members) - {one})
            topic.grow(n_rows)
            team.until_known()
        finally:
            os.kill(one, signal.SIGCONT)
        topic.grow(n_rows)
        team.until_all_are_held(set(team.members))


def disturbed(folder: Path, method: str, rng: random.Random, events: list[str], n_rows: int) -> Counter[str]:
    """One run; AssertionError where its states are not what they should be."""
    with cluster() as topic:
        team = Team(folder, topic, method)
        try:
            topic.grow(n_rows)
            team.join()
            team.join()
            team.until_all_are_held(set(team.members))
            for event in events:
                happens(event, team, topic, rng, n_rows)
                assert team.known() <= topic.n_rows
            team.until_known()
            for process in tuple(team.members):
                team.end(process, signal.SIGTERM)
            finish(team)
        finally:
            team.close()
        handed_over = team.n_handed_over
        compare(folder, team, topic, method)
    return Counter({"partitions handed over": handed_over - N_PARTITIONS, "rows": topic.n_rows})


def finish(team: Team) -> None:
    """A last process, which learns the rows that fill no batch, and ends."""
    process = team.join("--stop-after-idle", "1s", "--json")
    _, status = os.waitpid(process, 0)
    team.members.remove(process)
    assert status == 0, team.said()


def compare(folder: Path, team: Team, topic: Cluster, method: str) -> None:
    """Each partition to the last bit with a process that nobody disturbed, and all of them with one pass."""
    (folder / "calm").mkdir()
    calm = Team(folder / "calm", topic, method)
    try:
        finish(calm)
        one = start(
            ["select", topic.address, "--target", "y", "--method", method, "--batch-size", "50", "--json", "--quiet",
             "--stop-after-idle", "1s", "--save", str(folder / "one pass"), *METHODS[method]],
            folder / "one pass said",
        )  # fmt: skip
        _, status = os.waitpid(one, 0)
        assert status == 0, (folder / "one pass said").read_text()
    finally:
        calm.close()
    then, now = newest(calm.folder), newest(team.folder)
    assert then.keys() == now.keys() == set(range(N_PARTITIONS))
    for partition in then:
        refuse_different(load(then[partition]), load(now[partition]), f"partition {partition}")
    shared, passed = load_shared(team.folder).selector, load(folder / "one pass")
    assert shared.n_rows_seen_ == passed.n_rows_seen_ == topic.n_rows
    assert sorted(shared.classes_) == sorted(passed.classes_)
    order = [shared.feature_names_in_.tolist().index(name) for name in passed.feature_names_in_]
    near = 1e-9 if shared.stream_tags().mergeable == "exact" else 0.02
    np.testing.assert_allclose(shared.scores_[order], passed.scores_, rtol=near, atol=near)
    left = [path.name for path in team.folder.iterdir() if path.suffix != ".json"]
    assert all(name.endswith(".ckpt") for name in left), left


def refuse_different(then: Any, now: Any, words: str) -> None:
    """AssertionError where two selectors are not the same to the last bit."""
    first, second = then.state_arrays(), now.state_arrays()
    assert first.keys() == second.keys(), words
    for name, array in first.items():
        other = second[name]
        same = array.dtype == other.dtype and np.array_equal(array, other, equal_nan=array.dtype.kind == "f")
        assert same, f"{name} of {words} differs"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills.groups", description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--events", type=int, default=6, help="what happens in a run, beside two processes that begin")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no run after so many seconds")
    parser.add_argument("--rows", type=int, default=400, help="rows that arrive at each event")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--serve", action="store_true", help="hold a mock cluster; for the command itself")
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    load_everything()
    tally, failures, latest = Counter[str](), [], time.monotonic() + options.seconds
    for number in range(options.runs):
        if time.monotonic() > latest:
            break
        rng, method = random.Random(f"{options.seed} {number}"), list(METHODS)[(options.seed + number) % len(METHODS)]
        events = planned(rng, options.events)
        with tempfile.TemporaryDirectory() as folder:
            try:
                tally += disturbed(Path(folder), method, rng, events, options.rows) + Counter(events)
            except AssertionError as error:
                failures.append(f"run {number}, {method}, {events}: {error}")
        tally["runs"] += 1
    for words, count in tally.most_common():
        sys.stdout.write(f"{count:6}  {words}\n")
    sys.stdout.writelines(f"{failure}\n" for failure in failures)
    sys.stdout.write(f"{tally['runs']} runs: {'none' if not failures else len(failures)} differ\n")
    return 1 if failures else 0


def planned(rng: random.Random, n_events: int) -> list[str]:
    """What happens one after the other: a late one first, then anything, with two to four processes at work."""
    events, members = [EVENTS[0]], 3
    while len(events) < n_events:
        allowed = [event for event in EVENTS if (members < 4 if event == EVENTS[0] else members > 1)]
        missing = [event for event in allowed if event not in events]
        event = rng.choice(missing or allowed)
        members += {EVENTS[0]: 1, EVENTS[3]: 0}.get(event, -1)
        events.append(event)
    return events


if __name__ == "__main__":
    sys.exit(main())
