"""A number as target, cut at its running quantiles: how near to the exact quantiles, and what it finds.

`python -m benchmarks.target_bins` prints two tables.

1. Targets of 20,000 rows, cut into five bins by streamsift.summaries.target_cells, beside the bins of the exact
   quantiles of all rows: the share of the rows in another bin, the share of the heaviest bin, and the mutual
   information with a noisy copy of the ranks as a share of that of the exact bins. The same for ten parts of the rows,
   each cut by itself and then merged.
2. Friedman's function without drift, 25 features of which five are true: how many of the five best are true, on average
   over streams of 500 and of 2,000 rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
N_ROWS, N_BINS, N_PARTS = 20_000, 5, 10
METHODS = ("screen:correlation", "screen:mutual_info", "screen:chi2", "screen:gini", "joint:forward")
LENGTHS = (500, 2000)
TARGETS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "log-normal, sigma 3": lambda rng, n: rng.lognormal(sigma=3.0, size=n),
    "half of it 0": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, rng.lognormal(size=n)),
    "Poisson, mean 50": lambda rng, n: rng.poisson(50.0, n).astype(np.float64),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "trend": lambda rng, n: 20.0 * np.arange(n) / n + rng.normal(size=n),
    "random walk": lambda rng, n: np.cumsum(rng.normal(size=n)),
    "jumps by 100 half-way": lambda rng, n: rng.normal(size=n) + 100.0 * (np.arange(n) >= n / 2),
    "a hundredth of the spread half-way": lambda rng, n: rng.normal(size=n) * np.where(np.arange(n) < n / 2, 1.0, 0.01),
}


def running_bins(target: Floats, n_parts: int = 1) -> Ints:
    """The bin of each row, where each part of the rows is cut by itself and the parts are merged in their order."""
    from streamsift.summaries.target_cells import TargetCells, n_cells_for

    whole, codes = TargetCells.empty(1.0, n_cells_for(N_BINS)), np.zeros(0, np.int64)
    for part in np.array_split(target, n_parts):
        placed = TargetCells.empty(1.0, n_cells_for(N_BINS)).placed(part, None, 1.0)
        mine, theirs = whole.merge(placed.cells)
        codes = np.append(mine[codes] if len(codes) else codes, theirs[placed.codes])
    return whole.groups(N_BINS).of_code[codes]


def ranks(values: Floats) -> Floats:
    """Ranks in (0, 1), equal values in the middle of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return ((np.cumsum(counts) - counts / 2.0) / len(values))[place]


def compact(bins: Ints) -> Ints:
    """Bins numbered without gaps."""
    return np.unique(bins, return_inverse=True)[1]


def cut_row(name: str, seed: int, n_rows: int) -> list[str]:
    """One kind of target: how far its bins are from the exact ones, in one pass and in parts."""
    from streamsift.rows.screening_formulas import mutual_info

    rng = np.random.default_rng(seed)
    y = TARGETS[name](rng, n_rows)
    exact = compact(np.minimum((ranks(y) * N_BINS).astype(np.int64), N_BINS - 1))
    feature = (ranks(ranks(y) + 0.2 * rng.normal(size=n_rows)) * N_BINS).astype(np.int64)

    def information(bins: Ints) -> float:
        counts = np.zeros((1, N_BINS, N_BINS))
        np.add.at(counts[0], (np.minimum(feature, N_BINS - 1), bins), 1.0)
        return float(mutual_info(counts)[0])

    row = [name]
    for n_parts in (1, N_PARTS):
        found = running_bins(y, n_parts)
        heaviest = np.bincount(found).max() / n_rows
        other = np.mean(found != exact) if found.max() == exact.max() else np.nan
        row.append(f"{other:.3f} · {heaviest:.2f} · {information(found) / information(exact):.3f}")
    return row


def found_row(method: str, n_streams: int) -> list[str]:
    """How many of the five best features of a method are true, for each length."""
    from streamsift import catalog
    from streamsift.streams import generate

    row = [method]
    for n_rows in LENGTHS:
        hits = []
        for seed in range(n_streams):
            stream = generate("friedman_drift", n_rows=n_rows, n_features=25, shift_every=n_rows, seed=seed)
            selector = catalog.make(method, task="regression", n_features_to_select=5)
            for batch in stream.batches(100):
                selector.partial_fit(batch.X, batch.y)
                truth = set(batch.relevant.tolist())
            hits.append(len(truth & set(selector.get_support(indices=True).tolist())))
        row.append(f"{np.mean(hits):.2f} ({min(hits)} to {max(hits)})")
    return row


def tables(n_rows: int = N_ROWS, n_streams: int = 20) -> tuple[list[list[str]], list[list[str]]]:
    """Both tables, one list per line."""
    cuts = [cut_row(name, seed, n_rows) for seed, name in enumerate(TARGETS)]
    return cuts, [found_row(method, n_streams) for method in METHODS]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Targets cut at their running quantiles.")
    parser.add_argument("--quick", action="store_true", help="Fewer rows and streams.")
    cuts, found = tables(2000, 2) if parser.parse_args().quick else tables()
    print(f"| target | one pass | {N_PARTS} parts, merged |\n|---|---|---|")
    print("\n".join(f"| {' | '.join(row)} |" for row in cuts))
    print(f"\n| method | {' | '.join(f'{n:,} rows' for n in LENGTHS)} |\n|---|---|---|")
    print("\n".join(f"| {' | '.join(row)} |" for row in found))


if __name__ == "__main__":
    main()
