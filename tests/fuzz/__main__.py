"""Run one of the fuzzers for a while and print what came of it; the exit code is 1 if anything broke.

A fuzzer is a module of this folder with a function `one(number, seed, folder)`, which makes an input, uses it and
returns a word for how it ended. The input depends on the number and the seed only, so that each can be had again:
`python -m tests.fuzz readers --only 4711 --seed 0`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

from tests.fuzz.forked import Limits, run


def main() -> int:
    if sys.argv[1:2] == ["states"]:  # it has options of its own
        return int(importlib.import_module("tests.fuzz.states").main(sys.argv[2:]) or 0)
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["readers", "states"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--only", type=int, help="run this input alone, in this process")
    options = parser.parse_args()
    fuzzer = importlib.import_module(f"tests.fuzz.{options.what}")
    if options.only is not None:
        with tempfile.TemporaryDirectory() as folder:
            sys.stdout.write(f"{fuzzer.one(options.only, options.seed, Path(folder))}\n")
        return 0
    tally = run(fuzzer.one, Limits(), seconds=options.seconds, seed=options.seed, first=options.first)
    sys.stdout.write(tally.table())
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main())
