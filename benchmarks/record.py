"""Where and when figures were measured: commit, date, machine, and how busy the machine was with other things.

Times on a busy machine are wrong, so a record says how busy it was: the load average before and after, and how many
cores other processes kept busy meanwhile. The latter is what counts, for the load average holds the benchmark, too.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.table import Row

ROOT = Path(__file__).resolve().parents[1]
BUSY = 0.2  # cores that others may keep busy before the page warns
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow")


class Circumstances:
    """Opened before a benchmark, asked after it."""

    def __init__(self) -> None:
        self._start, self._clock = datetime.now(UTC), time.perf_counter()
        self._load, self._all, self._own = _load(), _busy_seconds(), _own_seconds()

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        seconds = time.perf_counter() - self._clock
        busy, own = _busy_seconds(), _own_seconds() - self._own
        others = None if busy is None or self._all is None else max(busy - self._all - own, 0.0) / max(seconds, 1e-9)
        return {
            "commit": commit(),
            "date": self._start.strftime("%Y-%m-%d %H:%M UTC"),
            "seconds": round(seconds, 1),
            "load_before": self._load,
            "load_after": _load(),
            "cores_used_by_others": None if others is None else round(others, 2),
            "machine": platform.machine(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        }


def commit() -> str | None:
    """The commit of the repository, with a + behind it where files differ from it; None without git."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--abbrev=10", "--dirty=+", "--exclude=*"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip() or None


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


def _own_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _busy_seconds() -> float | None:
    """Processor time that all processes of the machine have taken; None where the system does not say."""
    try:
        words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return None
    ticks = [int(word) for word in words[1:9]]  # user, nice, system, idle, iowait, irq, softirq, steal
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def _processor() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)


def write(path: Path, name: str, rows: list[Row], *, quick: bool, circumstances: Mapping[str, Any]) -> None:
    """Write the result of a benchmark; the file is complete or not there."""
    content = {"benchmark": name, "quick": quick, **circumstances, "rows": [row.as_dict() for row in rows]}
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_suffix(".json.part")
    passing.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    passing.replace(path)


def is_current(path: Path) -> bool:
    """Whether a result is of this very commit, with no file changed since, and in full size."""
    if not path.exists():
        return False
    content, now = json.loads(path.read_text(encoding="utf-8")), commit()
    return now is not None and not now.endswith("+") and content.get("commit") == now and not content["quick"]


def rows_of(content: Mapping[str, Any]) -> list[Row]:
    """The rows of a result that was read."""
    fields = Row.__dataclass_fields__
    return [Row(**{key: value for key, value in row.items() if key in fields}) for row in content["rows"]]


def sentence(content: Mapping[str, Any]) -> str:
    """Where and when a result was measured, and a warning where the machine was busy.

    >>> sentence({"rows": []})
    'Copied from a table that an earlier run printed; its commit, date and load were not kept.'
    """
    if "date" not in content:
        return "Copied from a table that an earlier run printed; its commit, date and load were not kept."
    others = content["cores_used_by_others"]
    words = (
        f"Measured {content['date']} at commit {content['commit'] or 'unknown'}, in {content['seconds']:,.0f} seconds, "
        f"on {content['cores']} cores ({content['processor'] or content['machine']}) with Python {content['python']}; "
        f"load average {content['load_before']} before and {content['load_after']} after"
    )
    words += "." if others is None else f", {others:.2f} cores used by other processes."
    busy = others is not None and others > BUSY
    return f"{words} **The machine was busy: do not rely on these times.**" if busy else words
