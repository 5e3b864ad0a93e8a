"""Run one of the fuzzers for a while and print what came of it; the exit code is 1 if anything broke.

A fuzzer is a module of this folder with a function `make(number, seed)`, which gives the kind of an input and a
function that uses it. The input depends on the number and the seed only, so that each can be had again:
`python -m tests.fuzz readers --only 4711 --seed 0`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tests.fuzz.forked import outcome, run
from tests.fuzz.tally import Tally

FUZZERS = {
    "readers": "damaged files of every format, compared with a reference parser where they are accepted",
    "states": "forged states of every method, loaded and used",
    "batches": "hostile arrays, tables and sparse matrices for every method",
    "checkpoints": "forged checkpoints, resumed",
    "messages": "hostile messages of a broker, in JSON, Avro and Arrow",
    "commands": "command lines with hostile files and options",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description=__doc__.partition("\n")[0],
        epilog="  ".join(f"{name}: {what}." for name, what in FUZZERS.items()),
    )
    parser.add_argument("what", choices=list(FUZZERS))
    parser.add_argument("--seconds", type=float, help="how long to go on; 60 if no number of inputs is given")
    parser.add_argument("--inputs", type=int, help="how many inputs to run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--kinds", nargs="+", help="only these formats (readers), methods (states, batches) or verbs")
    parser.add_argument("--only", type=int, help="run this input alone, in this process")
    parser.add_argument("--quiet", action="store_true", help="print the last table only")
    options = parser.parse_args()
    for library in ("OPENBLAS", "OMP"):  # a thread for each processor takes longer to start than an input
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    make = importlib.import_module(f"tests.fuzz.{options.what}").maker(options.kinds)
    if options.only is not None:
        with tempfile.TemporaryDirectory() as folder:
            kind, use = make(options.only, options.seed)
            print(kind, *outcome(use, Path(folder)))
        return 0
    seconds = 60.0 if options.seconds is None and options.inputs is None else options.seconds
    began = last = time.monotonic()
    tally = Tally()

    def heard(so_far: Tally) -> None:
        nonlocal last, tally
        tally = so_far
        if not options.quiet and time.monotonic() - last > 60:
            last = time.monotonic()
            print(f"{last - began:.0f} s\n{tally.table()}", flush=True)

    with suppress(KeyboardInterrupt):  # then the table holds what there was until then
        run(make, seed=options.seed, seconds=seconds, n_inputs=options.inputs, first=options.first, heard=heard)
    print(f"{options.what}, seed {options.seed}, {time.monotonic() - began:.0f} s\n{tally.table()}", end="")
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main())
