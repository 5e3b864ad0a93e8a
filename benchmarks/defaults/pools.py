"""Joint on wide sets with pools of different sizes: `python -m benchmarks.defaults.pools --data DIR`.

Ten features by joint:forward on the first half of the rows; accuracy on the second half (halves.py), and the size of
the state. A pool as large as the set has features is the full answer.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.defaults.halves import accuracy
from benchmarks.defaults.sets import load
from streamsift import Joint

SETS = ("gisette_valid", "dexter")
POOLS = (100, 500, 2000, 5000)
MOST_FEATURES = 20_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults.pools", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets and their MANIFEST.json")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET", help="which sets")
    parser.add_argument("--pools", nargs="+", type=int, default=POOLS, metavar="N", help="sizes of the pool")
    given = parser.parse_args()
    print("| set | features | max_pool | accuracy | state |\n|---|---|---|---|---|")
    with threadpool_limits(1):
        for data in load(given.data, tuple(given.sets), 3000, MOST_FEATURES):
            for pool in given.pools:
                selector = Joint(n_features_to_select=data.n_selected, max_pool=pool)
                for start in range(0, data.middle, data.batch_size):
                    rows = slice(start, min(start + data.batch_size, data.middle))
                    selector.partial_fit(data.X[rows], data.y[rows])
                found = accuracy(data, np.asarray(selector.get_support(indices=True)))
                state = sum(array.nbytes for array in selector.state_arrays().values()) / 2**20
                width = data.X.shape[1]
                print(f"| {data.name} | {width:,} | {pool:,} | {found:.3f} | {state:.1f} MB |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
