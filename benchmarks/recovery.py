"""Are the true features found? The generated data of the paper behind Joint: `python -m benchmarks.recovery`.

Sun, Wang, Zhu and Barbu (arXiv 1803.11521; settings from their program, github.com/barbua/OFSA): 1,000 features, each a
normal number of its own plus one that all features of a row share, so that any two of them correlate by 0.5. The target
is the sum of every tenth feature times a strength, plus normal noise; for classes its sign. 100 features are selected.
In each cell the mean share of the 100 true ones among them, over the streams.

One state is asked for all rules, again and again as rows come. Beside it:

    truncated gradient   scikit-learn's SGDRegressor (SGDClassifier, log loss) with an L1 penalty, one pass; the 100
                         largest coefficients of the best of twelve settings, chosen cell by cell by the truth
    offline lasso        scikit-learn's lars_path on all rows so far, the first 100 to enter; only up to 3,000 rows
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier, SGDRegressor, lars_path
from threadpoolctl import threadpool_limits

from streamsift import Joint, Screener

N_FEATURES, N_TRUE, BATCH = 1000, 100, 500
RULES = ("forward", "ols", "lasso", "elastic_net", "mcp", "fsa")
STEPS, PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3), (1e-6, 1e-4, 1e-2)  # of the truncated gradient
MOST_ROWS_OFFLINE = 3000
EXPERIMENTS = {  # task, strength of a true feature, rows after which is asked
    "numbers, 1": ("regression", 1.0, (500, 1000, 3000)),
    "numbers, 0.1": ("regression", 0.1, (1000, 3000, 10_000)),
    "numbers, 0.01": ("regression", 0.01, (10_000, 100_000)),
    "classes, 1": ("classification", 1.0, (1000, 10_000, 30_000)),
}
SMALL = 5  # by which --quick divides features, true features and rows
Floats = NDArray[np.float64]
Found = dict[str, dict[int, list[float]]]  # method -> rows -> share of the true features, by stream


def rows(
    n: int, strength: float, task: str, rng: np.random.Generator, n_features: int = N_FEATURES, n_true: int = N_TRUE
) -> tuple[Floats, Any]:
    """So many rows of the stream; every tenth feature is true."""
    X = rng.normal(size=(n, n_features)) + rng.normal(size=(n, 1))
    y = strength * X[:, truth(n_true)].sum(axis=1) + rng.normal(size=n)
    return X, y if task == "regression" else (y > 0).astype(np.int64)


def truth(n_true: int = N_TRUE) -> NDArray[np.int64]:
    """The true features."""
    return np.arange(n_true) * 10


class TruncatedGradient:
    """Stochastic gradient with an L1 penalty at twelve settings, each in one pass."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._models = [self._model(step, penalty) for step, penalty in product(STEPS, PENALTIES)]

    def _model(self, step: float, penalty: float) -> Any:
        settings = {"penalty": "l1", "alpha": penalty, "learning_rate": "constant", "eta0": step, "random_state": 0}
        return SGDRegressor(**settings) if self._task == "regression" else SGDClassifier("log_loss", **settings)

    def partial_fit(self, X: Floats, y: Any) -> None:
        """One step per row, for each setting; one that ran away stays as it is."""
        options = {} if self._task == "regression" else {"classes": np.array([0, 1])}
        for index, model in enumerate(self._models):
            if model is None:
                continue
            try:
                model.partial_fit(X, y, **options)
            except ValueError:  # scikit-learn's word for coefficients that overflow
                self._models[index] = None

    def best(self, wanted: NDArray[np.int64]) -> float:
        """The share of the true features among the largest coefficients, at the best setting."""
        coefficients = [np.abs(np.ravel(model.coef_)) for model in self._models if model is not None]
        return max(share(np.argsort(-size, kind="stable")[: len(wanted)], wanted) for size in coefficients)


def share(chosen: Any, wanted: NDArray[np.int64]) -> float:
    """Of the true features, how many were chosen."""
    return float(np.isin(wanted, chosen).mean())


def offline_lasso(parts: list[tuple[Floats, Any]], n_wanted: int) -> NDArray[np.int64]:
    """The features that enter scikit-learn's lasso first, on all rows at once."""
    X, y = np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts]).astype(np.float64)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    _, _, path = lars_path(X, y - y.mean(), method="lasso", max_iter=3 * n_wanted)
    came = np.where(path.any(axis=1), (path != 0).argmax(axis=1), path.shape[1])
    return np.argsort(came, kind="stable")[:n_wanted]


def measured(
    task: str, strength: float, sizes: tuple[int, ...], repeats: int, n_features: int = N_FEATURES, n_true: int = N_TRUE
) -> Found:
    """The share of the true features after so many rows, of each method in each stream."""
    screen = "screen:correlation"
    names = ("offline lasso", "truncated gradient", screen, *(f"joint:{rule}" for rule in RULES))
    found: Found = {name: {size: [] for size in sizes} for name in names}
    wanted = truth(n_true)
    for repeat in range(repeats):
        rng = np.random.default_rng(repeat)
        joint = Joint(task=task, n_features_to_select=n_true)
        single = Screener("correlation", task=task, n_features_to_select=n_true)
        gradient, kept = TruncatedGradient(task), []
        for size, part in _stream(sizes, strength, task, rng, n_features, n_true):
            if part is not None:
                for learner in (joint, single, gradient):
                    learner.partial_fit(*part)
                if size <= MOST_ROWS_OFFLINE:
                    kept.append(part)
                continue
            for rule in RULES:
                chosen = joint.set_params(rule=rule).get_support(indices=True)
                found[f"joint:{rule}"][size].append(share(chosen, wanted))
            found[screen][size].append(share(single.get_support(indices=True), wanted))
            found["truncated gradient"][size].append(gradient.best(wanted))
            if size <= MOST_ROWS_OFFLINE:
                found["offline lasso"][size].append(share(offline_lasso(kept, n_true), wanted))
    return found


def _stream(
    sizes: tuple[int, ...], strength: float, task: str, rng: np.random.Generator, n_features: int, n_true: int
) -> Iterator[tuple[int, tuple[Floats, Any] | None]]:
    """Rows so far and the next ones; None where the methods are asked."""
    seen = 0
    for size in sizes:
        while seen < size:
            n = min(BATCH, size - seen)
            seen += n
            yield seen, rows(n, strength, task, rng, n_features, n_true)
        yield seen, None


def table(results: dict[str, Found]) -> str:
    """A row per method, a column per experiment and number of rows."""
    columns = [(name, size) for name, found in results.items() for size in next(iter(found.values()))]
    methods = list(next(iter(results.values())))
    text = [
        f"| target, strength | {' | '.join(name for name, _ in columns)} |",
        "|---" * (len(columns) + 1) + "|",
        f"| rows | {' | '.join(f'{size:,}' for _, size in columns)} |",
    ]
    for method in methods:
        shares = [results[name][method][size] for name, size in columns]
        text.append(f"| {method} | {' | '.join(f'{np.mean(its):.3f}' if its else '–' for its in shares)} |")
    return "\n".join(text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recovery", description=__doc__.split("\n\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="streams of each experiment (default 5; the paper: 100)")
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS), help="which experiments")
    parser.add_argument("--quick", action="store_true", help="200 features, 20 true ones, a fifth of the rows")
    parser.add_argument("--out", type=Path, default=None, help="JSON file that keeps what was measured")
    given = parser.parse_args(arguments)
    results = {} if given.out is None or not given.out.exists() else json.loads(given.out.read_text())
    results = {name: {m: {int(n): its for n, its in by.items()} for m, by in r.items()} for name, r in results.items()}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of steps that are too long
        for name in given.only:
            if name in results:
                continue  # measured before
            task, strength, sizes = EXPERIMENTS[name]
            by = SMALL if given.quick else 1
            sizes = tuple(size // by for size in sizes)
            results[name] = measured(task, strength, sizes, given.repeats, N_FEATURES // by, N_TRUE // by)
            if given.out is not None:
                given.out.write_text(json.dumps(results, indent=1) + "\n")
    print(table(results))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
