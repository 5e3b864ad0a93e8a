"""The projection: 10^9 rows x 10^5 features on 100 workers, with every assumption as a named constant.

Time of a worker = its rows x features x what a value costs (processor time, reading included) + the merging that its
share of the tree takes + the bytes it sends over the network. The widest of the measured tables stands for wider ones.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

from streamsift.engines.work import FAN

N_ROWS, N_FEATURES, N_WORKERS = 10**9, 10**5, 100
PARTS_PER_WORKER = 4  # so that a slow part does not keep the others waiting
NETWORK = 1e9  # bytes per second that a worker receives
STORAGE = 1e9  # bytes per second that a worker reads; figures were measured on files in the page cache
BEGIN, END = "<!-- begin: python -m benchmarks.scale --write -->", "<!-- end -->"


@dataclass(frozen=True)
class Figures:
    """What was measured: nanoseconds per value, microseconds and bytes per feature, and the ratio of two processes."""

    learning: dict[str, float]
    merging: dict[str, float]
    size: dict[str, float]
    speed_up: dict[str, float]
    n_features: int


def from_file(path: Path) -> Figures:
    """The figures of the widest table in a file that `python -m benchmarks engines` has written."""
    rows = {row["name"]: row for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}
    widths = {int(name.split(", ")[1].split(" ")[0].replace(",", "")) for name in rows if " features: " in name}
    width, criteria = max(widths), [name.partition(":")[0] for name in rows if name.endswith(": two processes")]

    def ours(what: str) -> dict[str, float]:
        begins = {criterion: f"{criterion}, {width:,} features: {what}" for criterion in criteria}
        return {c: [row["ours"] for name, row in rows.items() if name.startswith(begins[c])][-1] for c in criteria}

    speed_up = {criterion: rows[f"{criterion}: two processes, once they run"]["ratio"] for criterion in criteria}
    return Figures(ours("learning"), ours("merging"), ours("bytes"), speed_up, width)


def table(figures: Figures) -> str:
    """The projection in Markdown."""
    values = N_ROWS * N_FEATURES / N_WORKERS
    n_parts = PARTS_PER_WORKER * N_WORKERS
    levels = math.ceil(math.log(n_parts, FAN))
    lines = [
        f"Measured with {figures.n_features:,} features; projected to {N_ROWS:,} rows x {N_FEATURES:,} features on "
        f"{N_WORKERS} workers, in {n_parts} parts:",
        "",
        "| | " + " | ".join(f"`{criterion}`" for criterion in figures.learning) + " |",
        "|---" * (len(figures.learning) + 1) + "|",
    ]

    def row(words: str, cells: list[str]) -> None:
        lines.append(f"| {words} | {' | '.join(cells)} |")

    criteria = list(figures.learning)
    row("measured: a value, read and learnt", [f"{figures.learning[c]:.3g} ns" for c in criteria])
    row("measured: merging a part, per feature", [f"{figures.merging[c]:.3g} µs" for c in criteria])
    row("measured: a part moves, per feature", [f"{figures.size[c]:,.0f} bytes" for c in criteria])
    row("measured: speed-up by a second process, once both run", [f"{figures.speed_up[c]:.2f}" for c in criteria])
    learning = {c: values * figures.learning[c] * 1e-9 for c in criteria}
    reading = 4.0 * values / STORAGE
    state = {c: figures.size[c] * N_FEATURES for c in criteria}
    merges = levels * (FAN - 1)  # the longest way up the tree: a task of each level merges FAN - 1 states into one
    merging = {c: merges * figures.merging[c] * 1e-6 * N_FEATURES for c in criteria}
    moving = {c: levels * FAN * state[c] / NETWORK for c in criteria}
    row("a worker learns", [_hours(learning[c]) for c in criteria])
    row("a worker waits for its storage (if not faster)", [_hours(reading)] * len(criteria))
    row("a state", [_bytes(state[c]) for c in criteria])
    row("all states that are sent", [_bytes(n_parts * state[c]) for c in criteria])
    row(f"merging up {levels} levels", [_hours(merging[c]) for c in criteria])
    row("sending them", [_hours(moving[c]) for c in criteria])
    row(
        "**together**, states merged",
        [f"**{_hours(max(learning[c], reading) + merging[c] + moving[c])}**" for c in criteria],
    )
    return "\n".join(lines)


def on_page(page: str, text: str) -> str:
    """The page with the table between its marks.

    >>> on_page(f"a\\n{BEGIN}\\nold\\n{END}\\nb", "new").splitlines()[2]
    'new'
    """
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def _hours(seconds: float) -> str:
    """Seconds as people say them.

    >>> _hours(5.2), _hours(600), _hours(86400)
    ('5 s', '10 min', '24 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"


def _bytes(amount: float) -> str:
    """Bytes as people say them.

    >>> _bytes(2.5e9), _bytes(12e6)
    ('2.5 GB', '12 MB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount / 1e6:.3g} MB"
