"""`python -m benchmarks [NAME ...]`: run, print the tables, write JSON, and with all of them renew the record.

Each benchmark writes benchmarks/results/NAME.json when it ends, with its commit, date, machine and load. Without names
all are run, and their results become the record (docs/figures) behind the tables of docs/benchmarks.md and README.md;
with names, --record does so. --resume goes on after an interruption: what was measured at this commit is kept.
The exit code is 1 when a benchmark failed, or a wanted figure is missed by more than the noise stated beside it.
`python -m benchmarks defaults [TABLE ...] --data DIR` prints the tables behind the defaults instead.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks import page, record
from benchmarks.table import Row, conclude, show

HERE = Path(__file__).parent
RESULTS = HERE / "results"
OTHERS = (
    "__init__",
    "__main__",
    "page",
    "record",
    "table",
    "joint_peers",
    "calibration",
    "false_discoveries",
    "numbers",
    "recovery",
    "target_bins",
)  # parts, and own commands
NAMES = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in OTHERS)


def main(arguments_given: Sequence[str] | None = None) -> int:
    """Run the benchmarks; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones (default all): {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="smaller data, for a first impression; not for the record")
    parser.add_argument("--out", type=Path, default=None, help="JSON file (default benchmarks/results/NAME.json)")
    parser.add_argument("--resume", action="store_true", help="keep results that were measured at this very commit")
    parser.add_argument("--record", action="store_true", help="renew the record and the pages (default without NAME)")
    arguments = parser.parse_args(arguments_given)
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    if arguments.quick and arguments.record:
        parser.error("--quick is not for the record")
    tables: dict[str, list[Row]] = {}
    failed: list[str] = []
    for name in arguments.names or NAMES:
        target = arguments.out or (None if arguments.quick else RESULTS / f"{name}.json")
        if arguments.resume and target is not None and record.is_current(target):
            tables[name] = record.rows_of(json.loads(target.read_text(encoding="utf-8")))
            print(f"{name}: measured at this commit already.\n", flush=True)
            continue
        try:
            tables[name] = _measured(name, target, quick=arguments.quick)
        except Exception:  # noqa: BLE001 - whatever it was, the others are not lost with it
            traceback.print_exc()
            failed.append(name)
    if arguments.record or not (arguments.names or arguments.quick or arguments.out):
        page.main([str(RESULTS / f"{name}.json") for name in tables])
        print("The record, docs/benchmarks.md and README.md are renewed.")
    words, code = conclude(tables)
    print(words)
    if failed:
        print(f"Failed: {', '.join(failed)}; the same command with --resume measures what is missing.")
    return 1 if failed else code


def _measured(name: str, target: Path | None, *, quick: bool) -> list[Row]:
    module = importlib.import_module(f"benchmarks.{name}")
    circumstances = record.Circumstances()
    rows: list[Row] = module.run(quick)
    found = circumstances.as_dict()
    print(show(name, rows), f"\n{record.sentence(found)}\n", sep="\n", flush=True)
    if target is not None:
        record.write(target, name, rows, quick=quick, circumstances=found)
    return rows


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the first benchmark imports numpy
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:2] == ["defaults"]:
        from benchmarks.defaults.command import main as defaults

        raise SystemExit(defaults(sys.argv[2:]))
    raise SystemExit(main())
