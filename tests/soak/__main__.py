"""Let row methods learn for hours and print what became of memory, counters and scores; exit code 1 if anything broke.

python -m tests.soak --rows 1e9 --features 20 --methods fast
python -m tests.soak --rows 1e8 --methods others --seconds 600
python -m tests.soak --rows 1e8 --methods fires:ann --batch 1024 --float32 --set epochs=1
python -m tests.soak counters
python -m tests.soak fading --rows 1e7
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from streamsift import catalog
from tests.soak import counters, fading
from tests.soak.feeding import FAST, soak

_THREADS = "OPENBLAS_NUM_THREADS"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m tests.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "what",
        nargs="?",
        choices=["rows", "counters", "fading"],
        default="rows",
        help="many rows; counters that start just below 2^32; fading from 0.5 to 1 - 1e-12 (default: rows)",
    )
    made.add_argument("--rows", type=float, default=1e7, help="rows for each method (default: 1e7)")
    made.add_argument("--features", type=int, default=20)
    made.add_argument("--methods", default="fast", help="names with commas between them, or fast, others, all")
    made.add_argument("--batch", type=int, default=1 << 16, help="rows of one batch")
    made.add_argument("--seconds", type=float, default=float("inf"), help="the longest time for one method")
    made.add_argument("--every", type=float, default=10.0, help="seconds between two lines")
    made.add_argument("--float32", action="store_true", help="rows of float32 instead of float64")
    made.add_argument(
        "--set", type=_setting, action="append", default=[], metavar="NAME=VALUE", help="a parameter of the methods"
    )
    return made


def _setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    return name, json.loads(value)


def methods(wanted: str) -> list[str]:
    """The row methods behind a word or a list of names."""
    known = catalog.names("rows")
    words = {"fast": list(FAST), "others": [name for name in known if name not in FAST], "all": known}
    return words.get(wanted) or [name for name in wanted.split(",") if catalog.entry(name).kind == "rows"]


def main() -> int:
    options = parser().parse_args()
    names = methods(options.methods)
    if options.what == "rows":
        # Each in a process of its own: memory that one has freed is not the next one's. And with one thread for matrix
        # products: several wait for each other on a busy machine.
        if len(names) > 1 or _THREADS not in os.environ:
            return max(_alone(name) for name in names)
        return _report(_soak(names[0], options))
    run: Callable[..., list[str]] = counters.run if options.what == "counters" else fading.run
    return _report(run(names if options.what == "counters" else int(options.rows), options.features, say=_say))


def _soak(name: str, options: argparse.Namespace) -> list[str]:
    n_batch = min(options.batch, int(options.rows))
    n_block = n_batch * max((1 << 16) // n_batch, 1)
    soaked = soak(
        name,
        int(options.rows),
        options.features,
        n_block=n_block,
        n_batch=n_batch,
        seconds=options.seconds,
        every=options.every,
        say=_say,
        dtype=np.float32 if options.float32 else np.float64,
        **dict(options.set),
    )
    _say(soaked.summary())
    return soaked.problems


def _alone(name: str) -> int:
    """The same command for one method."""
    return subprocess.run(
        [sys.executable, "-m", "tests.soak", *sys.argv[1:], "--methods", name],
        check=False,
        env=os.environ | {_THREADS: os.environ.get(_THREADS, "1")},
    ).returncode


def _report(problems: list[str]) -> int:
    for problem in problems:
        _say(f"PROBLEM: {problem}")
    return 1 if problems else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
