"""prequential: test, then train, batch by batch, with a model that sees only the selected features.

For each batch the model first predicts it from the features selected so far; then the selector learns the batch, and
then the model learns it from the features that are selected now.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import Integer, IsNone, check_parameters
from streamsift.core.contracts import RowContract
from streamsift.core.exceptions import InputError, OneClassWarning
from streamsift.core.vocabulary import LabelVocabulary
from streamsift.evaluate.learners import Learner
from streamsift.metrics.stability import nogueira_stability
from streamsift.streams.stream import RowStream

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class PrequentialResult:
    """One entry a step (batch).

    rows: rows seen after the step; batch_accuracy: share of the batch predicted rightly (NaN in the first step, when
    nothing has been learnt); selection_seconds and learner_seconds: time spent learning the batch; selected: which
    features were selected after the step, shape (n_steps, n_features).
    """

    rows: NDArray[np.int64]
    batch_accuracy: Floats
    selection_seconds: Floats
    learner_seconds: Floats
    selected: NDArray[np.bool_]

    @property
    def n_selected(self) -> NDArray[np.int64]:
        """Number of selected features after each step."""
        return np.asarray(self.selected.sum(axis=1))

    def accuracy(self) -> float:
        """The mean accuracy over all batches that could be predicted; NaN if there was one batch only."""
        tested = self.batch_accuracy[1:]
        return float(tested.mean()) if len(tested) else float("nan")

    def stability(self, window: int = 10) -> Floats:
        """Nogueira stability of the selections in each window of steps; a shorter run is one window."""
        last = max(len(self.selected) - window, 0)
        return np.array([nogueira_stability(self.selected[k : k + window]) for k in range(last + 1)])


def prequential(
    stream: RowStream,
    selector: RowContract | None,
    model: Learner,
    *,
    batch_size: int = 100,
    n_batches: int | None = None,
) -> PrequentialResult:
    """Test, then train, a selector and a model over a stream.

    Parameters
    ----------
    stream : a stream
        Anything of `streamsift.streams`.
    selector : a row selector or None
        None selects all features. Where its `drifts_` (or the count `n_drifts_`) grew while it learnt a batch, the
        model is reset before it learns that batch.
    model : a learner
        See `streamsift.evaluate.learners`.
    batch_size : int, default 100
        Rows a batch.
    n_batches : int or None
        Stop after so many batches; None goes on to the end.

    Returns
    -------
    PrequentialResult

    Examples
    --------
    >>> from streamsift import Screener
    >>> from streamsift.evaluate.learners import make_learner
    >>> from streamsift.evaluate.prequential import prequential
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", rows=2000, seed=0, n_features=20, n_relevant=2, shift_every=5000)
    >>> result = prequential(stream, Screener("fisher", n_features_to_select=2), make_learner("naive_bayes"))
    >>> result.accuracy() > 0.8, result.n_selected[-1], len(result.rows)
    (True, np.int64(2), 20)
    """
    check_parameters(
        "prequential",
        {"batch_size": batch_size, "n_batches": n_batches},
        {"batch_size": (Integer(1, None),), "n_batches": (Integer(1, None), IsNone())},
    )
    labels, counts = LabelVocabulary(), np.zeros(0, np.int64)
    selected = np.empty(0, np.intp)  # what the model was trained on last
    rows, accuracies, selection_seconds, learner_seconds, masks = [0], [], [], [], []
    for batch in islice(stream.batches(batch_size), n_batches):
        codes, labels = labels.encode(batch.y)
        accuracies.append(_tested(model, batch.X, codes, selected, counts))
        counts = np.bincount(codes, minlength=len(labels)) + np.pad(counts, (0, len(labels) - len(counts)))

        start = perf_counter()
        drifts = _n_drifts(selector)
        mask = _select(selector, batch)
        selection_seconds.append(perf_counter() - start)

        start = perf_counter()
        if _n_drifts(selector) > drifts:
            model.reset()
        selected = np.flatnonzero(mask)
        if len(selected):
            model.learn(_columns(batch.X, selected), codes, selected, len(labels))
        learner_seconds.append(perf_counter() - start)
        rows.append(rows[-1] + batch.n_rows)
        masks.append(mask)
    if not masks:
        raise InputError("The stream has no rows: there is nothing to test or to learn.")
    width = max(len(mask) for mask in masks)  # features may arrive late
    return PrequentialResult(
        np.array(rows[1:]),
        np.array(accuracies),
        np.array(selection_seconds),
        np.array(learner_seconds),
        np.array([np.pad(mask, (0, width - len(mask))) for mask in masks]),
    )


def _tested(model: Learner, X: Any, codes: Codes, selected: NDArray[np.intp], counts: Codes) -> float:
    """The accuracy on a batch before it is learnt; with nothing selected, that of the most frequent class so far."""
    if not len(counts):
        return float("nan")
    if len(selected):
        predicted = model.predict(_columns(X, selected))
    else:
        predicted = np.full(len(codes), np.argmax(counts))
    return float(np.mean(predicted == codes))


def _select(selector: RowContract | None, batch: Any) -> NDArray[np.bool_]:
    if selector is None:
        return np.ones(batch.X.shape[1], bool)
    selector.partial_fit(batch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)  # a stream may begin with one class
        return np.asarray(selector.get_support(), bool)


def _columns(X: Any, selected: NDArray[np.intp]) -> Floats:
    kept = X[:, selected]
    return np.asarray(kept.toarray() if hasattr(kept, "toarray") else kept, np.float64)


def _n_drifts(selector: RowContract | None) -> int:
    """How often the selector has found drift; a list of them may be cut to the latest, a count is not."""
    return int(getattr(selector, "n_drifts_", len(getattr(selector, "drifts_", ()))))
