"""`python -m benchmarks [NAME ...] [--quick] [--out FILE]`: run, print the tables, write JSON.

The exit code is 1 when a wanted figure is missed by more than the noise stated beside it, else 0.
`python -m benchmarks defaults [TABLE ...] --data DIR` prints the tables behind the defaults instead.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.table import Row, conclude, show

HERE = Path(__file__).parent
OTHERS = (
    "__init__",
    "__main__",
    "page",
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
    arguments = parser.parse_args(arguments_given)
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    tables: dict[str, list[Row]] = {}
    for name in arguments.names or NAMES:
        rows = importlib.import_module(f"benchmarks.{name}").run(arguments.quick)
        print(show(name, rows), flush=True)
        print()
        tables[name] = rows
        if arguments.quick and arguments.out is None:
            continue  # not for the record
        target = arguments.out or HERE / "results" / f"{name}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        machine = {"machine": platform.machine(), "python": platform.python_version(), "quick": arguments.quick}
        target.write_text(json.dumps(machine | {"rows": [row.as_dict() for row in rows]}, indent=1) + "\n")
    words, code = conclude(tables)
    print(words)
    return code


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the first benchmark imports numpy
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:2] == ["defaults"]:
        from benchmarks.defaults.command import main as defaults

        raise SystemExit(defaults(sys.argv[2:]))
    raise SystemExit(main())
