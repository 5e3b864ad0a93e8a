"""What only pairs of features tell: `python -m benchmarks.defaults.interactions --data DIR`.

BG3 with `all_true=0.5`, where no feature alone tells anything, and madelon, a parity of five dimensions among 500
columns. Features are selected on the first half of the rows by a screen, by joint:forward, and by joint:forward with
products of pairs; nearest neighbours on them, which see any dependence, are tested on the second half. Of BG3 three
features are true.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.defaults.sets import Halves, load
from streamsift import Joint, Screener, generate

N_ROWS, N_NEIGHBOURS = 3000, 15
WANTED = {"bg3": 3, "madelon": 10}
METHODS: dict[str, Any] = {
    "screen:mutual_info": lambda k: Screener(n_features_to_select=k),
    "joint:forward": lambda k: Joint(n_features_to_select=k),
    "joint:forward, pairs": lambda k: Joint(n_features_to_select=k, interactions="pairs"),
}


def data(folder: Path) -> Iterator[tuple[Halves, set[int] | None]]:
    """The two sets, and the true features where they are known."""
    stream = generate("bg3", n_rows=N_ROWS, seed=1, irrelevant=9, all_true=0.5, drift=None)
    (batch,) = stream.batches(N_ROWS)
    yield Halves("bg3", np.asarray(batch.X, np.float64), np.asarray(batch.y)), set(batch.relevant.tolist())
    for found in load(folder, ("madelon",), N_ROWS, 1000):
        yield found, None


def neighbours(found: Halves, features: list[int]) -> float:
    """Share of the second half that nearest neighbours of the first get right."""
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(N_NEIGHBOURS))
    model.fit(found.X[: found.middle, features], found.y[: found.middle])
    return float(model.score(found.X[found.middle :, features], found.y[found.middle :]))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults.interactions", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets and their MANIFEST.json")
    given = parser.parse_args()
    print("| set | features chosen by | accuracy of neighbours | true ones |\n|---|---|---|---|", flush=True)
    with threadpool_limits(1):
        for found, true in data(given.data):
            for name, make in METHODS.items():
                selector = make(WANTED[found.name])
                for start in range(0, found.middle, found.batch_size):
                    rows = slice(start, min(start + found.batch_size, found.middle))
                    selector.partial_fit(found.X[rows], found.y[rows])
                chosen = selector.get_support(indices=True).tolist()
                right = "" if true is None else f"{len(true & set(chosen))} of {len(true)}"
                print(f"| {found.name} | {name} | {neighbours(found, chosen):.3f} | {right} |", flush=True)
            everything = neighbours(found, list(range(found.X.shape[1])))
            print(f"| {found.name} | all | {everything:.3f} | |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
