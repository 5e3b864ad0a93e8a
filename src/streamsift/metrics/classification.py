"""How good predictions of classes are, from three counts per class: rows of the class, predictions of it, and hits.

Accuracy, balanced accuracy, Cohen's kappa and the macro-averaged F1 all follow from these counts, so that a run needs
neither its rows nor a table of all pairs of classes, and counts of steps add up to those of any window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

LEAST_PROBABILITY = float(np.finfo(np.float64).eps)  # as in scikit-learn: one certain error must not cost infinitely


class ClassificationScores(NamedTuple):
    """One value per row of counts; NaN where a score says nothing, because no row or only one class was there."""

    accuracy: Floats
    balanced_accuracy: Floats
    kappa: Floats
    f1: Floats


def class_counts(groups: Counts, true: Counts, predicted: Counts, n_groups: int, n_classes: int) -> Counts:
    """Return hits, rows and predictions of each class in each group, in an array of shape (3, n_groups, n_classes).

    Parameters
    ----------
    groups : array of int of shape (n_rows,)
        The group of each row, 0 to n_groups - 1.
    true, predicted : array of int of shape (n_rows,)
        Class codes, 0 to n_classes - 1.
    n_groups, n_classes : int
        How many there are.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.metrics.classification import class_counts
    >>> class_counts(np.zeros(3, int), np.array([0, 1, 1]), np.array([0, 1, 0]), 1, 2).tolist()
    [[[1, 1]], [[1, 2]], [[2, 1]]]
    """
    cells = n_groups * n_classes
    true_cell, predicted_cell = groups * n_classes + true, groups * n_classes + predicted
    hits = true_cell[true == predicted]
    counts = [np.bincount(places, minlength=cells) for places in (hits, true_cell, predicted_cell)]
    return np.array(counts, np.int64).reshape(3, n_groups, n_classes)


def classification_scores(counts: Counts) -> ClassificationScores:
    """Return accuracy, balanced accuracy, kappa and F1 of counts as `class_counts` gives them.

    Parameters
    ----------
    counts : array of int of shape (3, n_groups, n_classes)
        Hits, rows and predictions of each class.

    Returns
    -------
    ClassificationScores
        Balanced accuracy is the mean recall of the classes that have rows. F1 is the mean over the classes that have
        rows or predictions, 0 for a class without hits. Kappa is NaN where chance alone would be right always.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.metrics.classification import class_counts, classification_scores
    >>> true, predicted = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    >>> scores = classification_scores(class_counts(np.zeros(4, int), true, predicted, 1, 2))
    >>> [round(float(score[0]), 3) for score in scores]
    [0.75, 0.833, 0.5, 0.733]
    """
    hits, true, predicted = counts
    n_rows = true.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 is NaN, which is what it means
        accuracy = hits.sum(axis=1) / n_rows
        recall = np.where(true > 0, hits / true, 0.0).sum(axis=1) / (true > 0).sum(axis=1)
        chance = (true * predicted).sum(axis=1) / np.square(n_rows)
        kappa = np.where(chance < 1.0, (accuracy - chance) / (1.0 - chance), np.nan)
        either = true + predicted
        f1 = np.where(either > 0, 2.0 * hits / either, 0.0).sum(axis=1) / (either > 0).sum(axis=1)
    return ClassificationScores(accuracy, recall, kappa, f1)


def softmax(logarithms: Floats) -> Floats:
    """Return probabilities from their logarithms, each up to a constant of its row.

    Parameters
    ----------
    logarithms : array of shape (n_rows, n_classes)
        At least one of a row is finite.

    Returns
    -------
    ndarray of float
        One row sums to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.metrics.classification import softmax
    >>> softmax(np.log([[1.0, 3.0], [2.0, 2.0]])).round(2).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    by_class = np.array(logarithms.T, order="C")  # many times faster where there are many rows and few classes
    by_class -= by_class.max(axis=0)
    np.exp(by_class, out=by_class)
    by_class /= by_class.sum(axis=0)
    return np.ascontiguousarray(by_class.T)


def log_losses(probabilities: Floats, true: Counts) -> Floats:
    """Return the logarithmic loss of each row: minus the logarithm of the probability its class was given.

    Parameters
    ----------
    probabilities : array of shape (n_rows, n_known_classes)
        One row sums to 1.
    true : array of int of shape (n_rows,)
        Class codes; a class beyond the known ones was given no probability.

    Returns
    -------
    ndarray of float
        Probabilities are kept off 0 and 1 by the smallest step of a float, so that no row costs more than about 36.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.metrics.classification import log_losses
    >>> log_losses(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1, 1])).round(2).tolist()
    [0.69, 36.04]
    """
    n_rows, n_known = probabilities.shape
    if n_rows and true.max() >= n_known:
        probabilities = np.hstack([probabilities, np.zeros((n_rows, int(true.max()) + 1 - n_known))])
    given = probabilities[np.arange(n_rows), true]
    return np.asarray(-np.log(given.clip(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)))
