"""Kill runs of every format and kind at random moments, resume them, and compare what they find in the end.

`python -m tests.kills --times 300 --seed 1` prints how the kills fell; the exit code is 1 if any result differs.
`--only rows.csv` keeps the cases whose name has that in it, `--brokers` those of Redis and Kafka and more of them,
`--seconds 600` ends it early.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.kills.brokers import serving, why_not
from tests.kills.killing import Killed, Undisturbed, load_everything
from tests.kills.sources import BROKER_CASES, CASES, Case, write_sources

MOST_IN_A_ROW = 8  # kills of one run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=300, help="how often runs are killed, all cases together")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so many seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=15_000)
    parser.add_argument("--only", default="", help="only the cases whose name has this in it")
    parser.add_argument("--brokers", action="store_true", help="only Redis and Kafka, with Avro, Arrow and poison")
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    load_everything()
    with tempfile.TemporaryDirectory() as folder:
        write_sources(Path(folder), options.rows)
        wanted = [case for case in (BROKER_CASES if options.brokers else CASES) if options.only in case.name]
        for case in wanted:
            if why_not(case) is not None:
                sys.stdout.write(f"not run: {case.name}, because {why_not(case)}\n")
        cases = [case for case in wanted if why_not(case) is None]
        with serving(Path(folder), cases):
            return killed(Path(folder), options, cases)


def killed(folder: Path, options: argparse.Namespace, cases: list[Case]) -> int:
    """One case after the other, again and again, until they have been killed often enough."""
    rng, latest = random.Random(options.seed), time.monotonic() + options.seconds
    waiting = {case.name: Undisturbed(case, folder) for case in cases}
    kills, runs, how = Counter[str](), Counter[str](), Counter[str]()
    failures: list[str] = []
    names = list(waiting)
    while waiting and kills.total() < options.times and time.monotonic() < latest:
        name = next((name for name in names if name in waiting and runs[name] == min(runs[n] for n in waiting)), "")
        try:
            most = min(rng.randint(1, MOST_IN_A_ROW), options.times - kills.total())
            tally = waiting[name].until_finished(rng, most)
        except Killed as error:
            failures.append(str(error))
            del waiting[name]
            continue
        how += tally
        kills[name] += sum(count for words, count in tally.items() if words.startswith("killed"))
        runs[name] += 1
    for name in names:
        sys.stdout.write(f"{kills[name]:5} kills, {runs[name]:4} runs resumed to the end: {name}\n")
    for words, count in how.most_common():
        sys.stdout.write(f"{count:5}  {words}\n")
    verdict = "all as if undisturbed" if not failures else f"{len(failures)} cases failed"
    sys.stdout.write(f"{kills.total()} kills, {runs.total()} runs: {verdict}\n")
    sys.stdout.writelines(f"{failure}\n" for failure in failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
