"""The default of `select` for numbers: a column of each set is the target, and the others explain it.

The target is the first column with more than 50 different values in the first half of the rows. Ten of the others are
selected there; least squares on these, fitted on the first half, is judged by its R squared on the second (0 where it
is negative).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

from benchmarks.defaults.halves import CLEAR
from benchmarks.defaults.sets import N_SELECTED, Halves
from streamsift import Joint, Screener
from streamsift.core.exceptions import StreamsiftWarning

MANY_VALUES = 50
N_DRAWS = 5
METHODS = {
    "screen:correlation": lambda wanted: Screener("correlation", task="regression", n_features_to_select=wanted),
    "joint:forward": lambda wanted: Joint(task="regression", n_features_to_select=wanted),
    "joint:mrmr": lambda wanted: Joint("mrmr", task="regression", n_features_to_select=wanted),
    "joint:lasso": lambda wanted: Joint("lasso", task="regression", n_features_to_select=wanted),
    "joint:forward, fdr:0.05": lambda wanted: Joint(task="regression", n_features_to_select="fdr:0.05"),
}
Found = dict[str, dict[str, tuple[float, int]]]  # method -> set -> R squared and number of features


def measure(sets: Iterator[Halves], say: Callable[[str], None]) -> Found:
    """Every method on every set that has such a column."""
    found: Found = {name: {} for name in ("random", *METHODS)}
    for data in sets:
        target = next((j for j, column in enumerate(data.X[: data.middle].T) if _varied(column)), None)
        if target is None:
            continue
        X, y, middle = np.delete(data.X, target, axis=1), data.X[:, target], data.middle
        wanted = min(N_SELECTED, X.shape[1] // 2)
        rng = np.random.default_rng(0)
        draws = [_r2(X, y, middle, rng.permutation(X.shape[1])[:wanted]) for _ in range(N_DRAWS)]
        found["random"][data.name] = float(np.mean(draws)), wanted
        for name, make in METHODS.items():
            selector = make(wanted)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StreamsiftWarning)
                for start in range(0, middle, data.batch_size):
                    part = slice(start, min(start + data.batch_size, middle))
                    selector.partial_fit(X[part], y[part])
                chosen = np.asarray(selector.get_support(indices=True))
            found[name][data.name] = _r2(X, y, middle, chosen), len(chosen)
        say(f"{data.name}: column {target}")
    return found


def _varied(column: NDArray[np.float64]) -> bool:
    return len(np.unique(column)) > MANY_VALUES


def _r2(X: NDArray[np.float64], y: NDArray[np.float64], middle: int, chosen: NDArray[np.int64]) -> float:
    if not len(chosen):
        return 0.0
    model = LinearRegression().fit(X[:middle, chosen], y[:middle])
    return max(float(model.score(X[middle:, chosen], y[middle:])), 0.0)


def table(found: Found) -> str:
    """Means, and what joint:forward wins and loses to each."""
    text = ["| features chosen by | mean R² | number of features | joint:forward against it |", "|---|---|---|---|"]
    ours = found["joint:forward"]
    for name, its in found.items():
        gaps = np.array([ours[one][0] - its[one][0] for one in ours])
        against = "–" if its is ours else f"{(gaps > CLEAR).sum()} won, {(gaps < -CLEAR).sum()} lost"
        mean, number = np.mean([r2 for r2, _ in its.values()]), np.median([count for _, count in its.values()])
        text.append(f"| {name} | {mean:.3f} | {number:g} | {against} |")
    return "\n".join(text)
