"""What a benchmark returns, and how times are taken: interleaved, best of several, so that noise hits both sides."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One line: our figure, the peer's, and the ratio that is asked for.

    `ratio` is how many times better we are (or the share of the limit reached); `wanted` the least that will do.
    """

    name: str
    ours: float
    peer: float
    peer_name: str
    ratio: float
    wanted: float | None
    unit: str
    note: str = ""

    @property
    def reached(self) -> bool:
        return self.wanted is None or self.ratio >= self.wanted

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"reached": self.reached}


def best_times(*actions: Callable[[], Any], repeats: int = 5) -> list[float]:
    """Seconds of the fastest run of each action; the actions take turns, after one warm-up each."""
    for action in actions:
        action()
    best = [float("inf")] * len(actions)
    for _ in range(repeats):
        for place, action in enumerate(actions):
            start = time.perf_counter()
            action()
            best[place] = min(best[place], time.perf_counter() - start)
    return best


def show(title: str, rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [f"### {title}", "", "| what | streamsift | peer | ratio | wanted |", "|---|---|---|---|---|"]
    for row in rows:
        wanted = "–" if row.wanted is None else f"≥ {row.wanted:g} {'✓' if row.reached else '✗'}"
        name = f"{row.name} ({row.note})" if row.note else row.name
        lines.append(
            f"| {name} | {row.ours:.3g} {row.unit} | {row.peer:.3g} {row.unit}, {row.peer_name} "
            f"| {row.ratio:.3g} | {wanted} |"
        )
    return "\n".join(lines)
