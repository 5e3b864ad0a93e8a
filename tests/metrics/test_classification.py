"""Classification measures from counts: against the naive twins and scikit-learn, on easy and on odd labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import special
from sklearn import metrics
from tests.naive import classification as naive

from streamsift.metrics.classification import class_counts, classification_scores, log_losses, softmax

ODD = {
    "one class": ([0, 0, 0], [0, 0, 0]),
    "one class, never predicted": ([0, 0, 0], [1, 1, 1]),
    "a class that is only predicted": ([0, 0, 1], [2, 0, 1]),
    "a class that is never predicted": ([0, 1, 2, 2], [0, 1, 0, 1]),
    "one row": ([1], [0]),
    "a gap among the codes": ([0, 5, 5], [5, 5, 0]),
}


def scores(true, predicted, n_classes=6):
    groups = np.zeros(len(true), int)
    found = classification_scores(class_counts(groups, np.array(true, int), np.array(predicted, int), 1, n_classes))
    return {name: float(values[0]) for name, values in found._asdict().items()}


@pytest.mark.parametrize("case", ODD)
def test_odd_labels_as_the_naive_twin_says(case):
    true, predicted = ODD[case]
    wanted = naive.everything(true, predicted, None)
    for name, value in scores(true, predicted).items():
        assert value == pytest.approx(wanted[name], abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize("seed", range(20))
def test_random_labels_as_scikit_learn_says(seed):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 7))
    true = rng.integers(0, n_classes, 200)
    predicted = np.where(rng.random(200) < 0.6, true, rng.integers(0, n_classes, 200))
    found = scores(true, predicted, n_classes)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(true, predicted), abs=1e-12)
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(true, predicted), abs=1e-12)
    assert found["kappa"] == pytest.approx(metrics.cohen_kappa_score(true, predicted), abs=1e-12)
    assert found["f1"] == pytest.approx(metrics.f1_score(true, predicted, average="macro"), abs=1e-12)
    probabilities = rng.dirichlet(np.ones(n_classes) * 0.3, 200)
    wanted = metrics.log_loss(true, probabilities, labels=np.arange(n_classes))
    assert log_losses(probabilities, true).mean() == pytest.approx(wanted, rel=1e-12)


def test_certain_errors_cost_as_much_as_in_scikit_learn():
    true, probabilities = np.array([0, 1]), np.array([[0.0, 1.0], [0.0, 1.0]])
    assert log_losses(probabilities, true).mean() == pytest.approx(metrics.log_loss(true, probabilities), rel=1e-12)


def test_a_class_nobody_expected_costs_as_much_as_a_certain_error():
    assert (
        log_losses(np.array([[1.0]]), np.array([3])).tolist() == log_losses(np.array([[0.0]]), np.array([0])).tolist()
    )


def test_groups_are_counted_apart_and_empty_ones_say_nothing():
    groups, true, predicted = np.array([0, 0, 2]), np.array([0, 1, 1]), np.array([0, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = classification_scores(class_counts(groups, true, predicted, 3, 2))
    assert found.accuracy[[0, 2]].tolist() == [0.5, 1.0]
    assert all(np.isnan(values[1]) for values in found)


def test_a_certain_hit_costs_next_to_nothing_and_never_less():
    (loss,) = log_losses(np.array([[1.0, 0.0]]), np.array([0]))
    assert 0.0 < loss < 1e-15


def test_the_classes_of_a_batch_may_be_fewer_or_more_than_those_known():
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    assert log_losses(probabilities, np.array([0, 1])) == pytest.approx(-np.log([0.5, 0.1]))
    certain = -np.log(np.finfo(float).eps)
    assert log_losses(probabilities, np.array([2, 3])) == pytest.approx([-np.log(0.2), certain])
    assert log_losses(np.empty((0, 3)), np.empty(0, np.int64)).shape == (0,)


def test_softmax_is_that_of_scipy_for_logarithms_of_any_size():
    logarithms = np.random.default_rng(0).normal(scale=5.0, size=(6, 4))
    logarithms[1] += 2000.0
    logarithms[2] -= 2000.0
    logarithms[3, :3] = -np.inf
    before = logarithms.copy()
    np.testing.assert_allclose(softmax(logarithms), special.softmax(logarithms, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(logarithms, before)
