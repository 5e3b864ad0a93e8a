"""Feed one row method a block of rows again and again, and look at its memory, counters and scores now and then."""

from __future__ import annotations

import math
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift import catalog
from streamsift.core.state import n_bytes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FAST = ("screen:t_score", "screen:fisher", "fires")
N_LOOKS = 50  # at least so many in one run, whatever the time between two
WARM = 10  # looks before memory must be flat: kernels are compiled, buffers and allocators have filled
SLACK = 0.02  # of memory
# How a score depends on the number of rows when the same rows come again; what is not listed may change.
GROWTH: dict[str, Callable[[float], float]] = {"screen:fisher": lambda _: 1.0, "screen:t_score": math.sqrt}
LARGEST_CHANGE = 1e-6  # of such a score, relative


@dataclass
class Look:
    """What was seen at one moment."""

    n_rows: int
    seconds: float
    resident: int  # bytes of the process
    state: int  # bytes of the selector's arrays
    change: float  # of the scores since the first look, relative; NaN where they may change

    def line(self) -> str:
        rate = self.n_rows / max(self.seconds, 1e-9)
        change = "" if math.isnan(self.change) else f", scores changed by {self.change:.1e}"
        return (
            f"{self.n_rows:>14,} rows, {rate:>12,.0f} per second, {self.resident / 2**20:8.1f} MiB resident, "
            f"{self.state / 2**20:8.2f} MiB of state{change}"
        )


@dataclass
class Soaked:
    """How one method fared."""

    name: str
    looks: list[Look] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def _warm(self) -> Look:
        """The look from which on memory must be flat; in a short run, one in the middle."""
        return self.looks[min(WARM, len(self.looks) // 2)]

    @property
    def growth(self) -> float:
        """The largest memory after the first looks, relative to what it was then; less than 1 where it fell."""
        warm = self._warm
        return max(look.resident for look in self.looks[self.looks.index(warm) :]) / warm.resident

    @property
    def state_growth(self) -> float:
        """The same of the state alone."""
        warm = self._warm
        return max(look.state for look in self.looks[self.looks.index(warm) :]) / warm.state

    def summary(self) -> str:
        last = self.looks[-1]
        verdict = "; ".join(self.problems) or "fine"
        return (
            f"{self.name}: {last.n_rows:,} rows, {last.n_rows / last.seconds:,.0f} per second, memory "
            f"{self.growth - 1.0:+.2%}, state {self.state_growth - 1.0:+.2%}: {verdict}"
        )


def block(n_rows: int, n_features: int, seed: int = 0) -> tuple[Floats, Ints]:
    """Rows of two classes, in which the first quarter of the features differs."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, n_features))
    X[:, : max(n_features // 4, 1)] += 0.5 * y[:, None]
    return X, y


def batches(X: Floats, y: Ints, n_rows: int) -> Iterator[tuple[Floats, Ints]]:
    """The block cut into batches, again and again without end."""
    cuts = range(0, len(X), n_rows)
    return cycle([(X[cut : cut + n_rows], y[cut : cut + n_rows]) for cut in cuts])


def resident_bytes() -> int:
    """What the process holds in memory now; where the system does not say, the most it has held."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def soak(
    name: str,
    n_rows: int,
    n_features: int,
    *,
    n_block: int = 1 << 16,
    n_batch: int | None = None,
    seconds: float = math.inf,
    every: float = 10.0,
    say: Callable[[str], None] = print,
    resident: Callable[[], int] = resident_bytes,
    dtype: type[np.floating[Any]] = np.float64,
    **arguments: Any,
) -> Soaked:
    """Let one method learn `n_rows` rows (or as many as fit into the time) and look at it every so often."""
    selector = catalog.make(name, **arguments)
    soaked, rows_between = Soaked(name), max(n_rows // N_LOOKS, 1)
    X, y = block(n_block, n_features)
    X = X.astype(dtype)
    per_row = GROWTH.get(name) if "fading" not in arguments else None
    first: Floats | None = None
    done, next_look, began = 0, 0, time.monotonic()
    latest = began
    for rows, labels in batches(X, y, n_batch or n_block):
        selector.partial_fit(rows, labels)
        done += len(rows)
        now = time.monotonic()
        over = done >= n_rows or now - began > seconds
        whole = done % n_block == 0  # scores are compared after whole passes only
        if not over and not (whole and (done >= next_look or now - latest >= every)):
            continue
        scores = np.array(selector.scores_)
        change = math.nan
        if per_row is not None and whole:
            scaled = scores / per_row(done)
            first = scaled if first is None else first
            change = float(np.max(np.abs(scaled / first - 1.0)))
        look = Look(done, now - began, resident(), n_bytes(selector.state_arrays()), change)
        soaked.looks.append(look)
        soaked.problems += _problems(selector, scores, look)
        say(f"{name:20}{look.line()}")
        latest, next_look = now, done + rows_between
        if over or soaked.problems:
            break
    soaked.problems += _growth_problems(soaked)
    return soaked


def _problems(selector: Any, scores: Floats, look: Look) -> list[str]:
    """What is wrong at this moment."""
    found = []
    if not np.isfinite(scores).all():
        found.append(f"after {look.n_rows:,} rows {np.count_nonzero(~np.isfinite(scores))} scores are not finite")
    if selector.n_rows_seen_ != look.n_rows:
        found.append(f"after {look.n_rows:,} rows n_rows_seen_ is {selector.n_rows_seen_:,}")
    if look.change > LARGEST_CHANGE:
        found.append(f"after {look.n_rows:,} rows scores of the same data have changed by {look.change:.1e}")
    return found


def _growth_problems(soaked: Soaked) -> list[str]:
    """Whether memory grew after the first looks."""
    found = []
    for what, growth in (("memory", soaked.growth), ("the state", soaked.state_growth)):
        if growth > 1.0 + SLACK:
            found.append(f"{what} grew by {growth - 1.0:.1%}")
    return found
