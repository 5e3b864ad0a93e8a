"""How often a feature that tells nothing is called significant, and what `fdr:0.05` selects, by simulation.

`python -m benchmarks.calibration [--repeats 200] [--quick]` prints for each criterion and each kind of data the share
of p-values of useless features that are at most 0.05 and 0.001, the share of streams of pure noise in which
`n_features_to_select="fdr:0.05"` selects anything, and the mean share of useless features among those that it selects
where 10 of 50 features tell something. `joint` is joint:forward, which tests its steps (rows/joint_levels.py).

    normal     normal numbers, two classes, 500 rows
    few        the same with 40 rows
    classes    12 classes of unequal size
    rare       two classes, 3 % of the rows in one of them
    skewed     log-normal numbers
    tied       small counts with many ties
    sparse     95 % zeros, given as a sparse matrix
    categories 30 categories of unequal size
    many       300 categories in 500 rows
    fading     fading 0.99, 1,000 rows
    weighted   weights between 0 and 2
    rare_skewed, classes_skewed    log-normal numbers with a rare class, and with 12 classes

Of targets that are numbers, which the scores of bins cut at their running quantiles (`task="regression"`):

    numbers          normal numbers explain a normal number, 500 rows
    numbers_few      the same with 40 rows
    numbers_tied     whole numbers with many ties, features and target
    numbers_skewed   log-normal numbers, features and target
    numbers_trend    the target rises by ten standard deviations from the first row to the last
    numbers_fading   fading 0.99, 1,000 rows
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from streamsift.core.batch import Batch
from streamsift.rows.joint import Joint
from streamsift.rows.screener import Screener

CRITERIA = ("fisher", "t_score", "mutual_info", "chi2", "gini", "correlation")
NUMBER_CRITERIA = ("correlation", "mutual_info", "chi2", "gini")
JOINT = "joint"
KINDS = (
    "normal", "few", "classes", "rare", "skewed", "tied", "sparse", "categories", "many", "fading", "weighted",
    "rare_skewed", "classes_skewed",
)  # fmt: skip
CATEGORIES = ("categories", "many")
NUMBER_KINDS = ("numbers", "numbers_few", "numbers_tied", "numbers_skewed", "numbers_trend", "numbers_fading")
ALL_KINDS = (*KINDS, *NUMBER_KINDS)
N_FEATURES, N_USEFUL = 50, 10


def data(kind: str, useful: int, rng: np.random.Generator) -> tuple[Any, NDArray[np.int64]]:
    """Features of which the first `useful` tell something about the labels."""
    n_rows = {"few": 40, "fading": 1000}.get(kind, 500)
    shares = {"classes": np.arange(1, 13) / 78, "rare": np.array([0.97, 0.03])}.get(
        kind.split("_")[0], np.array([0.5, 0.5])
    )
    y = rng.choice(len(shares), n_rows, p=shares)
    shift = (y % 2)[:, None] * (np.arange(N_FEATURES) < useful)
    if kind in CATEGORIES:
        n_categories = 30 if kind == "categories" else 300
        weights = rng.dirichlet(np.full(n_categories, 2.0))
        codes = rng.choice(n_categories, (n_rows, N_FEATURES), p=weights)
        swap = (rng.random((n_rows, N_FEATURES)) < 0.5) & (shift > 0)
        return Batch(np.where(swap, 0, codes).astype(float), y, categorical=np.ones(N_FEATURES, bool)), y
    X = rng.normal(size=(n_rows, N_FEATURES)) + 1.0 * shift
    if kind.endswith("skewed"):
        X = np.exp(2.0 * X)
    elif kind == "tied":
        X = rng.poisson(0.7 + shift).astype(float)
    elif kind == "sparse":
        X = X * (rng.random(X.shape) < 0.05 + 0.1 * shift)
        return sparse.csr_matrix(X), y
    return X, y


def number_data(kind: str, useful: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features of which the first `useful` tell something about a target of numbers."""
    n_rows = {"numbers_few": 40, "numbers_fading": 1000}.get(kind, 500)
    strength = 0.6 * (np.arange(N_FEATURES) < useful)
    y = rng.normal(size=n_rows)
    X = rng.normal(size=(n_rows, N_FEATURES)) + strength * y[:, None]
    if kind == "numbers_tied":
        return np.round(X), np.round(2.0 * y)
    if kind == "numbers_skewed":
        return np.exp(2.0 * X), np.exp(2.0 * y)
    return X, y + (np.linspace(0.0, 10.0, n_rows) if kind == "numbers_trend" else 0.0)


def fitted(kind: str, criterion: str, useful: int, rng: np.random.Generator) -> Any:
    """A selector after one stream of such data."""
    settings: dict[str, Any] = {"n_features_to_select": "fdr:0.05", "fading": 0.99 if "fading" in kind else 1.0}
    if kind in NUMBER_KINDS:
        settings["task"] = "regression"
    selector = Joint(**settings) if criterion == JOINT else Screener(criterion, eps=0.01, **settings)
    if kind in NUMBER_KINDS:
        return selector.partial_fit(*number_data(kind, useful, rng))
    X, y = data(kind, useful, rng)
    if isinstance(X, Batch):
        return selector.partial_fit(X)
    weight = rng.uniform(0.0, 2.0, len(y)) if kind == "weighted" else None
    return selector.partial_fit(X, y, sample_weight=weight)


def criteria_of(kind: str) -> tuple[str, ...]:
    """The scores that are measured on such data."""
    if kind in NUMBER_KINDS:
        return (*NUMBER_CRITERIA, JOINT)
    return CRITERIA if kind in CATEGORIES else (*CRITERIA, JOINT)


def measured(kind: str, criterion: str, repeats: int) -> tuple[float, float, float, float, float]:
    """Share of p-values below 0.05 and 0.001 and of streams with a selection on noise; false discovery rate, power."""
    p, any_of_noise, rates, powers = [np.ones(0)], [], [], []
    for repeat in range(repeats):
        rng = np.random.default_rng([repeat, ALL_KINDS.index(kind)])
        noise = fitted(kind, criterion, 0, rng)
        any_of_noise.append(bool(noise.get_support().any()))
        if criterion != JOINT:
            p.append(noise.pvalues_)
        chosen = fitted(kind, criterion, N_USEFUL, rng).get_support(indices=True)
        rates.append(np.mean(chosen >= N_USEFUL) if len(chosen) else 0.0)
        powers.append(np.count_nonzero(chosen < N_USEFUL) / N_USEFUL)
    flat = np.concatenate(p)
    below = [float(np.mean(flat <= level)) if len(flat) else np.nan for level in (0.05, 0.001)]
    return below[0], below[1], float(np.mean(any_of_noise)), float(np.mean(rates)), float(np.mean(powers))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__.split("\n\n")[0])
    parser.add_argument("--repeats", type=int, default=200, help="streams for each cell (default 200)")
    parser.add_argument("--quick", action="store_true", help="20 streams for each cell")
    parser.add_argument("--kinds", nargs="+", choices=ALL_KINDS, default=ALL_KINDS, help="kinds of data (default all)")
    arguments = parser.parse_args()
    repeats = 20 if arguments.quick else arguments.repeats
    print("| data | criterion | p ≤ 0.05 | p ≤ 0.001 | noise with a selection | false discovery rate | power |")
    print("|---|---|---|---|---|---|---|")
    for kind in arguments.kinds:
        for criterion in criteria_of(kind):
            below, far_below, noise, rate, power = measured(kind, criterion, repeats)
            p = "– | –" if criterion == JOINT else f"{below:.4f} | {far_below:.4f}"
            print(f"| {kind} | {criterion} | {p} | {noise:.3f} | {rate:.3f} | {power:.3f} |", flush=True)
    uncertain = 2.0 * np.sqrt(0.05 * 0.95 / repeats)
    print(f"\n{repeats} streams for each cell: a share of streams of 0.05 is uncertain by {uncertain:.3f}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
