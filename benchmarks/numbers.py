"""Does each method that takes numbers as targets beat random features? `python -m benchmarks.numbers`.

Prequential RMSE with `sgd` as the model, batches of 25 rows. Friedman's function with drifting roles: 4,000 rows of 25
features of which five are true, all replaced every 2,000 rows; three seeds, five features selected. scikit-learn's
diabetes data: 442 rows, ten columns, three selected, ten orders of the rows. The figure of a method is the mean over
the streams of RMSE(random features) / RMSE(method), with the least and the largest of these ratios; random features are
drawn with the seed of the stream. ABFS decides itself how many features to select.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

METHODS = (
    "screen:correlation",
    "screen:correlation(fading=0.999)",
    "screen:mutual_info",
    "screen:mutual_info(fading=0.999)",
    "joint:forward",
    "joint:lasso",
    "fires",
    "fires:ann(random_state=0)",
    "fires:sdt(random_state=0)",
    "ofs",
    "abfs",
    "abfs(split_test=hoeffding)",
)


def friedman(seeds: int) -> Iterator[tuple[Callable[[], Any], int, int]]:
    """Streams with drifting roles: how to make one, how many features to select, and the seed."""
    from streamsift.streams import generate

    for seed in range(seeds):
        yield (
            lambda seed=seed: generate("friedman_drift", n_rows=4000, n_features=25, shift_every=2000, seed=seed),
            5,
            seed,
        )


def diabetes(orders: int) -> Iterator[tuple[Callable[[], Any], int, int]]:
    """The patients in several orders."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(y))
        yield (lambda order=order: (X[order], y[order])), 3, seed


def errors(make: Callable[[], Any], count: int, seed: int, methods: tuple[str, ...]) -> dict[str, float]:
    """The RMSE of each method, and of random features, all features and the mean."""
    from streamsift import catalog, prequential
    from streamsift.comparison.methods import split_name
    from streamsift.evaluate.baselines import NoFeatures, RandomSelector

    def rmse(selector: Any) -> float:
        return float(prequential(make(), selector, "sgd", task="regression", batch_size=25).summary()["rmse"] or np.nan)

    found = {"random": rmse(RandomSelector(count, random_state=seed)), "all": rmse(None), "mean": rmse(NoFeatures())}
    for method in methods:
        name, settings = split_name(method)
        if "n_features_to_select" in catalog.parameters(name):  # ABFS decides itself
            settings = settings | {"n_features_to_select": count}
        selector = catalog.make(name, task="regression", **settings)
        found[method] = rmse(selector)
    return found


def table(seeds: int = 3, orders: int = 10, methods: tuple[str, ...] = METHODS) -> list[list[str]]:
    """One line per method: mean, least and largest gain over random features on both."""
    rows: dict[str, list[str]] = {name: [name] for name in (*methods, "all", "mean")}
    for streams in (friedman(seeds), diabetes(orders)):
        runs = [errors(*stream, methods) for stream in streams]
        for name, row in rows.items():
            gains = [run["random"] / run[name] for run in runs]
            row.append(f"{np.mean(gains):.2f} ({min(gains):.2f} to {max(gains):.2f})")
    return list(rows.values())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Gain over random features where the target is a number.")
    parser.add_argument("--quick", action="store_true", help="One stream of each.")
    arguments = parser.parse_args()
    print("| method | Friedman with drift | diabetes |\n|---|---|---|")
    for row in table(1, 1) if arguments.quick else table():
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
