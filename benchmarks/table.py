"""What a benchmark returns, how times are taken, and when a wanted figure counts as missed.

Times are interleaved and the best of several, so that noise hits both sides. What noise is left is stated with every
figure: a figure is missed only when it is below what is wanted by more than that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

NOISE = 0.1  # share of a ratio that counts as noise; an allowance we chose, not a measured spread


@dataclass(frozen=True)
class Row:
    """One measurement: our figure, the peer's, and the ratio that is asked for.

    `ratio` is how many times better we are (or the share of the limit reached); `wanted` the least that will do.
    `noise` is the share of the ratio that counts as noise: the allowance `NOISE`, or a measured spread if given.
    """

    name: str
    ours: float
    peer: float
    peer_name: str
    ratio: float
    wanted: float | None
    unit: str
    note: str = ""
    noise: float = NOISE

    @property
    def reached(self) -> bool:
        """Whether the figure is what is wanted, or better."""
        return self.wanted is None or self.ratio >= self.wanted

    @property
    def missed(self) -> bool:
        """Whether the figure is below what is wanted by more than the noise; a ratio that is no number is missed."""
        return self.wanted is not None and not self.ratio >= self.wanted * (1.0 - self.noise)

    @property
    def title(self) -> str:
        """The name and the note."""
        return f"{self.name} ({self.note})" if self.note else self.name

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return asdict(self) | {"reached": self.reached, "missed": self.missed}


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
    """The rows as a Markdown table; ✓ reached, ≈ below what is wanted but within the noise, ✗ missed."""
    lines = [f"### {title}", "", "| what | streamsift | peer | ratio | wanted | noise |", "|---|---|---|---|---|---|"]
    for row in rows:
        sign = "✗" if row.missed else "✓" if row.reached else "≈"
        wanted, noise = ("–", "–") if row.wanted is None else (f"≥ {row.wanted:g} {sign}", f"{row.noise:.0%}")
        lines.append(
            f"| {row.title} | {row.ours:.3g} {row.unit} | {row.peer:.3g} {row.unit}, {row.peer_name} "
            f"| {row.ratio:.3g} | {wanted} | {noise} |"
        )
    return "\n".join(lines)


def conclude(tables: Mapping[str, Sequence[Row]]) -> tuple[str, int]:
    """What to print at the end, and the exit code: 1 when a wanted figure is missed by more than its noise."""
    rows = [(title, row) for title, table in tables.items() for row in table]
    near = sum(not row.reached and not row.missed for _, row in rows)
    misses = [
        f"{title}: {row.title}, against {row.peer_name}: {row.ratio:.3g} where {row.wanted:g} is wanted "
        f"(noise {row.noise:.0%})"
        for title, row in rows
        if row.missed
    ]
    within = f"; {near} below what is wanted, but within the noise" if near else ""
    if not misses:
        return f"No figure is missed{within}.", 0
    return "\n".join([f"{len(misses)} figure{'s' if len(misses) > 1 else ''} missed{within}:", *misses]), 1
