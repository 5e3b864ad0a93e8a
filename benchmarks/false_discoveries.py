"""How many useless columns the criteria of Investing accept, and how many useful ones they find, by simulation.

`python -m benchmarks.false_discoveries [--repeats 200] [--quick]` prints, for each kind of stream and each criterion,
the mean share of useless columns among the accepted ones (the false discovery rate), the share of streams with any
useless column accepted, and the share of the useful columns that are found (power).

A stream has 1,000 columns of 500 rows; the target is a sum of the useful columns plus normal noise.

    noise       no column is useful
    sparse      1 % are, anywhere
    mixed       10 % are, anywhere
    early       10 % are, all among the first 200
    late        10 % are, all among the last 200
    dependent   as mixed, but each column is correlated by 0.7 with the one before it, useful or not
    copies      as sparse, and behind every useful column stand four that repeat it with noise
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from benchmarks.false_alarms import autoregressive
from streamsift.columns.investing import Investing

N_ROWS, N_COLUMNS = 500, 1000
KINDS = ("noise", "sparse", "mixed", "early", "late", "dependent", "copies")
CRITERIA = {
    "iic .5/.5": lambda: Investing("iic", wealth=0.5, payoff=0.5),
    "iic .05/.05": lambda: Investing("iic", wealth=0.05, payoff=0.05),
    "alpha .5/.5": lambda: Investing("alpha", wealth=0.5, payoff=0.5),
    "alpha .05/.05": lambda: Investing("alpha", wealth=0.05, payoff=0.05),
    "lord": lambda: Investing("lord"),
    "saffron": lambda: Investing("saffron"),
    "addis": lambda: Investing("addis"),
}

Floats = NDArray[np.float64]


def stream(kind: str, rng: np.random.Generator) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The columns, the target, and which columns are useful."""
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    if kind == "dependent":
        X = autoregressive(N_COLUMNS, N_ROWS, 0.7, rng).T
    count = {"noise": 0, "sparse": 10, "copies": 10}.get(kind, 100)
    where = {"early": np.arange(200), "late": np.arange(800, 1000), "copies": np.arange(0, 1000, 5)}
    useful = np.zeros(N_COLUMNS, bool)
    useful[rng.choice(where.get(kind, np.arange(N_COLUMNS)), count, replace=False)] = True
    if kind == "copies":
        for place in np.flatnonzero(useful):
            X[:, place + 1 : place + 5] = X[:, [place]] + 0.5 * rng.normal(size=(N_ROWS, 4))
    sizes = rng.choice([-1.0, 1.0], N_COLUMNS) * rng.uniform(0.1, 0.6, N_COLUMNS) * useful
    return X, X @ sizes + rng.normal(size=N_ROWS), useful


def measured(kind: str, criterion: str, repeats: int) -> tuple[float, float, float]:
    """False discovery rate, share of streams with a false discovery, power."""
    found = np.zeros((repeats, 3))
    for repeat in range(repeats):
        X, y, useful = stream(kind, np.random.default_rng([repeat, KINDS.index(kind)]))
        accepted = CRITERIA[criterion]().fit(X, y).get_support()
        false = int((accepted & ~useful).sum())
        found[repeat] = false / max(accepted.sum(), 1), false > 0, (accepted & useful).sum() / max(useful.sum(), 1)
    rate, any_false, power = found.mean(axis=0)
    return float(rate), float(any_false), float(power)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.false_discoveries", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("--repeats", type=int, default=200, help="streams for each cell (default 200)")
    parser.add_argument("--quick", action="store_true", help="10 streams for each cell")
    arguments = parser.parse_args()
    repeats = 10 if arguments.quick else arguments.repeats
    print("| stream | criterion | false discovery rate | streams with a false one | power |")
    print("|---|---|---|---|---|")
    for kind in KINDS:
        for criterion in CRITERIA:
            rate, any_false, power = measured(kind, criterion, repeats)
            found = "" if kind == "noise" else f"{power:.3f}"
            print(f"| {kind} | {criterion} | {rate:.3f} | {any_false:.3f} | {found} |", flush=True)
    print(
        f"\n{repeats} streams for each cell: a share of 0.05 is uncertain by {2 * np.sqrt(0.05 * 0.95 / repeats):.3f}."
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
