"""Joint on wide sets with pools of different sizes: `python -m benchmarks.defaults.pools --data DIR`.

Ten features by joint:forward on the first half of the rows; accuracy on the second half (halves.py), and the memory:
the state, and the most that the process had, less what it had when the data was there. Sparse sets stay sparse. A pool
as large as the set has features is the full answer. Each line is measured in a process of its own.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.defaults.halves import accuracy
from benchmarks.defaults.sets import load
from benchmarks.factories import Found, in_its_own_process, resident
from streamsift import Joint

SETS = ("gisette_valid", "dexter", "basehock_full", "pcmac_full", "news20_w1000", "dorothea")
POOLS = (100, 500, 2000, 5000)
MOST_ROWS, MOST_FEATURES = 20_000, 200_000


def measured(folder: Path, name: str, pool: int) -> Found:
    """Accuracy, features, the state and the most memory in MB."""
    with threadpool_limits(1):
        (data,) = load(folder, (name,), MOST_ROWS, MOST_FEATURES, keep_sparse=True)
        Joint().fit(np.eye(4), [0, 1, 0, 1])  # imports and compiles what is needed
        before = resident("VmRSS")
        selector = Joint(n_features_to_select=data.n_selected, max_pool=pool)
        for start in range(0, data.middle, data.batch_size):
            rows = slice(start, min(start + data.batch_size, data.middle))
            selector.partial_fit(data.X[rows], data.y[rows])
        chosen = np.asarray(selector.get_support(indices=True))
        most = resident("VmHWM") - before
    state = sum(array.nbytes for array in selector.state_arrays().values())
    return {
        "accuracy": accuracy(data, chosen),
        "features": data.X.shape[1],
        "state": state / 2**20,
        "most": most / 2**20,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults.pools", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets and their MANIFEST.json")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET", help="which sets")
    parser.add_argument("--pools", nargs="+", type=int, default=POOLS, metavar="N", help="sizes of the pool")
    given = parser.parse_args()
    print("| set | features | max_pool | accuracy | state | most memory |\n|---|---|---|---|---|---|", flush=True)
    for name in given.sets:
        for pool in given.pools:
            found = in_its_own_process(measured, given.data, name, pool)
            sizes = f"{found['state']:.1f} MB | {found['most']:.0f} MB"
            print(f"| {name} | {found['features']:,.0f} | {pool:,} | {found['accuracy']:.3f} | {sizes} |", flush=True)
            if pool >= found["features"]:
                break  # all of them
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
