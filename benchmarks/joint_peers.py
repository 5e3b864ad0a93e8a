"""Ten features by Joint, in one pass over batches, and by what one would use offline: accuracy, time and memory.

Each method has a process of its own; memory is the most the process had, less what it had when the data was there and
everything was imported. Times are those of the processor. Features are selected on the first half of the rows; a
logistic regression on them is tested on the second. Peers that are not installed are left out, and said.

    generated   20,000 rows, 200 columns, two classes: 10 tell something, 60 are mixtures of these, 130 are noise
    digits      1,797 pictures of 64 pixels (scikit-learn), odd or even
    cancer      569 rows of 30 columns (scikit-learn)
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.feature_selection import SelectKBest, SequentialFeatureSelector, f_classif, mutual_info_classif
from sklearn.linear_model import LassoCV, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.factories import Found, in_its_own_process, resident
from benchmarks.table import Row
from streamsift import Joint

N_KEPT, BATCH = 10, 1000
OURS = "joint:forward"
DATA = ("generated", "digits", "cancer")


def run(quick: bool) -> list[Row]:
    """A row for each peer and each set."""
    rows = []
    for name in DATA:
        found = {method: in_its_own_process(judged, method, name, quick) for method in METHODS if installed(method)}
        ours = found[OURS]
        for method, its in found.items():
            if method == OURS:
                continue
            note = f"{its['seconds']:.2f} s, {its['megabytes']:.0f} MB; ours {ours['seconds']:.2f} s, "
            note += f"{ours['megabytes']:.0f} MB"
            ratio = ours["accuracy"] / its["accuracy"]
            rows.append(Row(f"{name}: accuracy", ours["accuracy"], its["accuracy"], method, ratio, None, "", note))
    return rows


def load(name: str, quick: bool) -> tuple[Any, Any]:
    """The columns and the two classes, shuffled."""
    if name == "generated":
        X, y = make_classification(
            2000 if quick else 20_000, 200, n_informative=10, n_redundant=60, class_sep=0.7, random_state=0
        )
    elif name == "digits":
        X, y = load_digits(return_X_y=True)
        y = y % 2
    else:
        X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def judged(method: str, name: str, quick: bool) -> Found:
    """Accuracy on the second half, seconds and megabytes of the selection on the first."""
    X, y = load(name, quick)
    half = len(y) // 2
    select = METHODS[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        select(X[:60, :20].copy(), y[:60])  # imports and compiles what is needed
        before, start = resident("VmRSS"), time.process_time()
        chosen = select(X[:half], y[:half])
        seconds, most = time.process_time() - start, resident("VmHWM")
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X[:half, chosen], y[:half])
    right = float(model.score(X[half:, chosen], y[half:]))
    return {"accuracy": right, "seconds": seconds, "megabytes": (most - before) / 1e6}


def installed(method: str) -> bool:
    """Whether the package of a method is there."""
    there = importlib.util.find_spec(_PACKAGE.get(method, "sklearn")) is not None
    if not there:
        print(f"{method} is left out: {_PACKAGE[method]} is not installed.")
    return there


# -- the methods: columns and classes in, ten places out ----------------------------------------------------------


def _joint(rule: str) -> Callable[[Any, Any], Any]:
    def select(X: Any, y: Any) -> Any:
        selector = Joint(rule, n_features_to_select=N_KEPT)
        for start in range(0, len(y), BATCH):
            selector.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
        return selector.get_support(indices=True)

    return select


def _k_best(score: Any) -> Callable[[Any, Any], Any]:
    return lambda X, y: SelectKBest(score, k=N_KEPT).fit(X, y).get_support(indices=True)


def _sequential(X: Any, y: Any) -> Any:
    model = SequentialFeatureSelector(RidgeClassifier(), n_features_to_select=N_KEPT, cv=2)
    return model.fit(StandardScaler().fit_transform(X), y).get_support(indices=True)


def _lasso(X: Any, y: Any) -> Any:
    """The ten largest coefficients at the penalty that five folds choose."""
    model = LassoCV(random_state=0).fit(StandardScaler().fit_transform(X), 2.0 * y - 1.0)
    return np.argsort(-np.abs(model.coef_), kind="stable")[:N_KEPT]


def _fastcan(X: Any, y: Any) -> Any:
    from fastcan import FastCan

    return FastCan(N_KEPT, verbose=0).fit(X, y).get_support(indices=True)


def _mrmr(X: Any, y: Any) -> Any:
    import pandas as pd
    from mrmr import mrmr_classif

    return np.array(mrmr_classif(X=pd.DataFrame(X), y=pd.Series(y), K=N_KEPT, show_progress=False, n_jobs=1))


def _river(X: Any, y: Any) -> Any:
    from river import feature_selection, stats

    model = feature_selection.SelectKBest(stats.PearsonCorr(), k=N_KEPT, use_abs=True)
    names = list(range(X.shape[1]))
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(dict(zip(names, row, strict=True)), label)
    return np.array(sorted(names, key=lambda name: -abs(model.leaderboard[name]))[:N_KEPT])


METHODS: dict[str, Callable[[Any, Any], Any]] = {
    OURS: _joint("forward"),
    "joint:mrmr": _joint("mrmr"),
    "SelectKBest(f_classif)": _k_best(f_classif),
    "SelectKBest(mutual_info_classif)": _k_best(mutual_info_classif),
    "SequentialFeatureSelector": _sequential,
    "LassoCV": _lasso,
    "fastcan": _fastcan,
    "mrmr_selection": _mrmr,
    "river's SelectKBest": _river,
}
_PACKAGE = {"fastcan": "fastcan", "mrmr_selection": "mrmr", "river's SelectKBest": "river"}
