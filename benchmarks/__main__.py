"""`python -m benchmarks [NAME ...] [--quick] [--out FILE]`: run, print the tables, write JSON.

`python -m benchmarks defaults [TABLE ...] --data DIR` prints the tables behind the defaults instead.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.defaults.command import main as defaults
from benchmarks.table import show

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("__init__", "__main__", "table"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones (default all): {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="smaller data, for a first look; not for the record")
    parser.add_argument("--out", type=Path, default=None, help="JSON file (default benchmarks/results/NAME.json)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    missed = 0
    for name in arguments.names or NAMES:
        rows = importlib.import_module(f"benchmarks.{name}").run(arguments.quick)
        print(show(name, rows), flush=True)
        print()
        missed += sum(not row.reached for row in rows)
        if arguments.quick and arguments.out is None:
            continue  # not for the record
        target = arguments.out or HERE / "results" / f"{name}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        machine = {"machine": platform.machine(), "python": platform.python_version(), "quick": arguments.quick}
        target.write_text(json.dumps(machine | {"rows": [row.as_dict() for row in rows]}, indent=1) + "\n")
    print(f"{missed} figure(s) below what is wanted" if missed else "all figures reached")
    return 0


if __name__ == "__main__":
    raise SystemExit(defaults(sys.argv[2:]) if sys.argv[1:2] == ["defaults"] else main())
