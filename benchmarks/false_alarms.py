"""How often the tests of `compare` find a difference between equals, and how often a true one, by simulation.

`python -m benchmarks.false_alarms [--repeats 400] [--quick]` prints three tables: the chance that *any* pair of equally
good entries is distinguished (at most 5 % is promised), the same for a test that treats steps as independent, and the
chance that an entry that is better is found to be. Each cell also says how often the answer was "too few rows to tell".

The entries predict batches of 100 rows; their chances to be right are equal on average, and vary in time:

    independent   not at all
    ar 0.3 ... 0.9   each by an autoregressive series of its own (standard deviation 8 points)
    drift         with a difficulty that all share and that drifts, and a series of their own that is larger where it
                  is hard
    bursts        each falls by 30 points for ten batches now and then
    regimes       each is 5 points better or worse for 20 batches on average, then the other way round
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import signal, special, stats

from benchmarks.table import Row
from streamsift.comparison.significance import LEVEL, compare_over_time, holm

BATCH = 100
KINDS = ("independent", "ar 0.3", "ar 0.6", "ar 0.9", "drift", "bursts", "regimes")
LENGTHS = (50, 100, 200, 500, 1000, 5000)

Floats = NDArray[np.float64]


def autoregressive(n_steps: int, n_entries: int, r: float, rng: np.random.Generator) -> Floats:
    """Series of variance 1 that keep the share r from step to step."""
    news = rng.normal(size=(n_steps, n_entries))
    news[1:] *= np.sqrt(1.0 - r * r)
    return np.asarray(signal.lfilter([1.0], [1.0, -r], news, axis=0))


def accuracies(kind: str, n_steps: int, n_entries: int, rng: np.random.Generator, better_by: float = 0.0) -> Floats:
    """The accuracy of equally good entries in each step; the first may be better than the others."""
    size = (n_steps, n_entries)
    base: Floats | float = 0.75
    own: Floats = np.zeros(size)
    if kind.startswith("ar"):
        own = 0.08 * autoregressive(*size, float(kind.removeprefix("ar ")), rng)
    elif kind == "drift":
        turns = 2.0 * np.pi * (rng.uniform() + np.arange(n_steps) * rng.uniform(0.5, 4.0) / n_steps)
        base = (0.7 + 0.25 * np.sin(turns))[:, None]
        own = 0.24 * autoregressive(*size, 0.5, rng) * (1.0 - base)
    elif kind == "bursts":
        begins = np.pad(rng.random(size) < 0.02, ((10, 0), (0, 0)))
        own = -0.3 * np.any([begins[10 - lag : 10 - lag + n_steps] for lag in range(10)], axis=0)
    elif kind == "regimes":
        turns = np.cumsum(rng.random(size) < 0.05, axis=0) + rng.integers(0, 2, n_entries)
        own = 0.05 * (1.0 - 2.0 * (turns % 2))
    own[:, 0] += better_by
    return rng.binomial(BATCH, np.clip(base + own, 0.02, 0.98)) / BATCH


def alarms(kind: str, n_steps: int, n_entries: int, repeats: int, better_by: float = 0.0) -> tuple[float, float, float]:
    """The share of streams with an alarm, of those with one by a test that treats steps as independent, of pairs
    without an answer. An alarm: any pair is distinguished; with a true difference, the first from all others."""
    names, found = [f"entry {k}" for k in range(n_entries)], []
    for repeat in range(repeats):
        rng = np.random.default_rng([repeat, n_steps, n_entries, KINDS.index(kind)])
        table = accuracies(kind, n_steps, n_entries, rng, better_by)
        pairs = compare_over_time(table, names).pairs
        told = [pair.verdict in ("better", "worse") for pair in pairs]
        gaps = np.stack([table[:, a] - table[:, b] for a, b in combinations(range(n_entries), 2)])
        statistic = np.abs(gaps.mean(axis=1)) / (gaps.std(axis=1, ddof=1) / np.sqrt(n_steps))
        naive = [p <= LEVEL for p in holm((2.0 * special.stdtr(n_steps - 1, -statistic)).tolist())[0]]
        if better_by:
            told, naive = [all(told[: n_entries - 1])], [all(naive[: n_entries - 1])]
        found.append((any(told), any(naive), np.mean([pair.verdict == "too few" for pair in pairs])))
    shares = np.mean(found, axis=0)
    return float(shares[0]), float(shares[1]), float(shares[2])


def table(title: str, lengths: tuple[int, ...], cells: dict[str, list[str]]) -> str:
    """A table in Markdown, one column for each length of the stream."""
    head = [f"{title} | " + " | ".join(f"{n:,} batches" for n in lengths), "---|" + "---|" * len(lengths)]
    lines = [f"{name} | " + " | ".join(texts) for name, texts in cells.items()]
    return "\n".join(f"| {line} |" if "---" not in line else f"|{line}" for line in [*head, *lines])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.false_alarms", description=__doc__.split("\n\n")[0])
    parser.add_argument("--repeats", type=int, default=400, help="simulated streams for each cell (default 400)")
    parser.add_argument("--quick", action="store_true", help="short streams and 100 repeats")
    arguments = parser.parse_args()
    lengths, repeats = (LENGTHS[:3], 100) if arguments.quick else (LENGTHS, arguments.repeats)
    ours: dict[str, list[str]] = {}
    naive: dict[str, list[str]] = {}
    power: dict[str, list[str]] = {}
    worst = 0.0
    for n_entries in (2, 6):
        for kind in KINDS:
            found = [alarms(kind, n_steps, n_entries, repeats) for n_steps in lengths]
            worst = max(worst, *(share for share, _, _ in found))
            name = f"{n_entries} entries, {kind}"
            ours[name] = [f"{100 * share:.1f} % ({100 * few:.0f} %)" for share, _, few in found]
            naive[name] = [f"{100 * share:.1f} %" for _, share, _ in found]
        for points in (2, 5, 10):
            found = [alarms("ar 0.3", n_steps, n_entries, repeats, points / 100) for n_steps in lengths]
            power[f"{n_entries} entries, {points} points"] = [
                f"{100 * share:.0f} % ({100 * few:.0f} %)" for share, _, few in found
            ]
    print(table("false alarms (too few rows)", lengths, ours), end="\n\n")
    print(table("steps treated as independent", lengths, naive), end="\n\n")
    print(table("true differences found (too few rows)", lengths, power), end="\n\n")
    noise = 100 * float(stats.binom.ppf(0.999, repeats, LEVEL)) / repeats
    print(f"The most false alarms: {100 * worst:.1f} % of {repeats} streams (up to {noise:.1f} % is noise at 5 %).")
    return 0


def run(quick: bool) -> list[Row]:
    """The share of false alarms beside the level, for the benchmarks' own table."""
    repeats, lengths = (50, (50, 200)) if quick else (400, (50, 200, 1000))
    rows = []
    for kind in KINDS:
        worst = 100 * max(alarms(kind, n, k, repeats)[0] for n in lengths for k in (2, 6))
        least = max(worst, 0.1)
        rows.append(Row(f"false alarms, {kind}", worst, 5.0, "the level", 5.0 / least, 1.0, "%", f"{repeats} streams"))
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
