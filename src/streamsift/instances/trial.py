"""A trial of a classifier that buys features: fit on some rows, judge on the others, in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch, check_batch
from streamsift.core.categories import ColumnKinds
from streamsift.core.exceptions import InputError
from streamsift.core.instances import InstanceClassifier


@dataclass(frozen=True)
class Trial:
    """How a classifier did on rows it had not seen.

    n_evaluated: features used by each held-out row. bought: (name, share of held-out rows that bought it), most
    bought first. cost: mean price and misclassification cost of a row.
    """

    accuracy: float
    cost: float
    n_evaluated: NDArray[np.int64]
    bought: tuple[tuple[str, float], ...]
    n_train: int

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON and tables."""
        used = self.n_evaluated
        quarters = np.quantile(used, [0.0, 0.25, 0.5, 0.75, 1.0])
        return {
            "accuracy": self.accuracy,
            "mean_cost": self.cost,
            "rows_trained": self.n_train,
            "rows_held_out": len(used),
            "features_used": {
                "mean": float(used.mean()),
                **dict(zip(("min", "q1", "median", "q3", "max"), quarters.tolist(), strict=True)),
                "histogram": np.bincount(used).tolist(),
            },
            "bought": [{"name": name, "share": share} for name, share in self.bought],
        }


def try_out(model: InstanceClassifier, X: Any, y: Any = None, *, held_out: float = 0.3, random_state: int = 0) -> Trial:
    """Fit a model on a random part of the rows and judge it on the rest; the model is then fitted on that part.

    Parameters
    ----------
    model : ETANA or FETANA
    X, y : data
        All rows; X may be a `Batch`, whose names and categories are used (y is then None).
    held_out : float in (0, 1), default 0.3
        The share of rows to judge on, drawn class by class.
    random_state : int, default 0
        Seed of the draw.

    Returns
    -------
    Trial

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import ETANA
    >>> from streamsift.instances.trial import try_out
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 5)) + 3.0 * y[:, None] * [1, 1, 0, 0, 0]
    >>> trial = try_out(ETANA(feature_cost=0.05), X, y)
    >>> trial.accuracy > 0.9, trial.bought[0][0]
    (True, 'x0')
    """
    rows = check_batch(X, y, owner=type(model).__name__, missing=True)
    labels, names = rows.labels.as_array()[rows.codes], rows.features.names
    train, test = _split(rows.codes, held_out, random_state)
    kinds = ColumnKinds(rows.categories.names, tuple(rows.categories.undecided))
    model.fit(Batch(rows.X[train], labels[train], names, rows.categorical, kinds=kinds))
    result = model.classify(Batch(rows.X[test], None, names, rows.categorical, kinds=kinds))
    places = {label: code for code, label in enumerate(model.classes_.tolist())}
    truth = [places[label] for label in labels[test].tolist()]
    answered = [places[label] for label in result.labels.tolist()]
    losses = model._current_plan().risk[truth, answered]
    bought = tuple(
        (rows.features.name(int(j)), float(result.bought[j] / len(test)))
        for j in np.argsort(-result.bought, kind="stable")[: np.count_nonzero(result.bought)]
    )
    return Trial(
        float(np.mean(np.equal(truth, answered))),
        float(losses.mean() + result.cost.mean()),
        result.n_evaluated,
        bought,
        len(train),
    )


def _split(codes: NDArray[np.int64], held_out: float, random_state: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers to train and to judge on; each class keeps at least one row to train on."""
    random = np.random.default_rng(random_state)
    chosen = np.zeros(len(codes), bool)
    for code in np.unique(codes):
        rows = random.permutation(np.flatnonzero(codes == code))
        chosen[rows[: min(round(held_out * len(rows)), len(rows) - 1)]] = True
    if not chosen.any():
        raise InputError("No row can be held out: give at least two rows of some class.")
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)
