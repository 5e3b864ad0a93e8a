"""FSA: the naive twin, the laws of a linear learner, and the same as a learner of prequential runs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.naive import fsa as naive

from streamsift.core.exceptions import InputError
from streamsift.evaluate.prequential import prequential
from streamsift.learners import fsa
from streamsift.learners.fsa import FSA, OnlineFSA
from streamsift.learners.online import make_learner
from streamsift.rows.joint_rules import ANNEALING, kept_after
from streamsift.rows.screener import Screener
from streamsift.streams.arrays import ArrayStream


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 40)) * (rng.random((400, 40)) < 0.4)
    margin = 2.0 * X[:, 5] - 1.5 * X[:, 11] + X[:, 30]
    return X, (margin + 0.1 * rng.normal(size=400) > 0).astype(int)


def test_the_schedule_is_the_papers_and_done_half_way():
    left = [kept_after(step, 60, 1000, 30) for step in range(1, 61)]
    assert left == [naive.schedule(step, 60, 1000, 30, ANNEALING) for step in range(1, 61)]
    assert left[0] < 1000
    assert all(later <= earlier for earlier, later in pairwise(left))
    assert left[28] > 30
    assert left[29:] == [30] * 31


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_the_naive_twin(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(40, 8)) * [1, 100, 0.01, 1, 1, 1, 1, 0]  # the last column is constant
    y = np.arange(40) % n_classes
    X[:, 1] += 200.0 * (y == 1)
    ours = FSA(3, n_steps=20).fit(X, y)
    size = 1.0 / (0.5 * fsa._curvature(fsa._scaled(X)) + fsa.SHRINKAGE)
    kept, weights, intercept = naive.fit(
        X.tolist(), y.tolist(), n_classes, 3, 20, ANNEALING, fsa.SHRINKAGE, fsa.MOMENTUM, size
    )
    assert np.flatnonzero(ours.support_).tolist() == kept
    np.testing.assert_allclose(ours._weights, weights, rtol=1e-9)
    np.testing.assert_allclose(ours._intercept, intercept, rtol=1e-9)


def test_it_finds_the_true_features_and_predicts(rows):
    X, y = rows
    model = FSA(3).fit(X[:300], y[:300])
    assert np.flatnonzero(model.support_).tolist() == [5, 11, 30]
    assert (model.predict(X[300:]) == y[300:]).mean() > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_sparse_is_dense(rows):
    X, y = rows
    dense, sparse = FSA(0.2).fit(X, y), FSA(0.2).fit(csr_matrix(X), y)
    assert np.flatnonzero(dense.support_).tolist() == np.flatnonzero(sparse.support_).tolist()
    np.testing.assert_allclose(sparse.predict_proba(csr_matrix(X)), dense.predict_proba(X), atol=1e-9)


def test_units_and_the_order_of_columns_do_not_matter(rows):
    X, y = rows
    order = np.random.default_rng(0).permutation(40)
    plain, scaled, turned = FSA(4).fit(X, y), FSA(4).fit(X * np.geomspace(1e-6, 1e6, 40), y), FSA(4).fit(X[:, order], y)
    assert np.flatnonzero(scaled.support_).tolist() == np.flatnonzero(plain.support_).tolist()
    assert sorted(order[turned.support_].tolist()) == np.flatnonzero(plain.support_).tolist()


def test_labels_may_be_words_and_one_class_is_certain():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 1.0], [0.9, 0.0]])
    model = FSA(1).fit(X, np.array(["no", "yes", "no", "yes"]))
    assert model.predict(X).tolist() == ["no", "yes", "no", "yes"]
    alone = FSA(2).fit(X, np.zeros(4, int))
    assert alone.predict_proba(X).tolist() == [[1.0]] * 4


def test_wrong_arguments_are_refused_in_words():
    with pytest.raises(InputError, match="X has 3 rows and y 2 labels"):
        FSA().fit(np.zeros((3, 2)), [0, 1])
    with pytest.raises(InputError, match=r"must be in \(0, 1\], not 1.5"):
        FSA(1.5).fit(np.zeros((2, 2)), [0, 1])
    with pytest.raises(InputError, match="must be 1 or more, not 0"):
        FSA(0).fit(np.zeros((2, 2)), [0, 1])


def test_the_learner_drops_half_of_the_features_and_learns():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000, 10))
    y = (X[:, 2] + X[:, 7] > 0).astype(np.int64)
    learner = make_learner("fsa").learner
    assert isinstance(learner, OnlineFSA)
    for first in range(0, 5000, 100):
        learner.learn(X[first : first + 100], y[first : first + 100], np.arange(10), 2)
    assert (learner.predict(X[5000:]) == y[5000:]).mean() > 0.95
    assert np.count_nonzero(np.abs(learner._weights).sum(axis=1)) == 5
    assert {2, 7} <= set(np.flatnonzero(learner._alive).tolist())
    learner.reset()
    learner.learn(X[:100, :1], y[:100], np.array([4]), 2)
    assert learner.predict(X[:7, :1]).shape == (7,)


def test_the_learner_keeps_what_it_knows_of_features_that_stay_and_meets_new_classes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(np.int64)
    learner = OnlineFSA(share=1.0)
    learner.learn(X, y, np.array([3, 5, 8]), 2)
    before = learner._weights[0].copy()
    learner._carry_over(np.array([1, 3]), 3)
    np.testing.assert_array_equal(learner._weights[1], [*before, 0.0])
    assert not learner._weights[0].any()
    learner.learn(X[:, :2], np.where(y == 1, 2, 0), np.array([1, 3]), 3)
    assert learner.predict_proba(X[:, :2]).shape == (300, 3)


def test_a_prequential_run_takes_it_by_name():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 20))
    y = (X[:, 4] - X[:, 9] > 0).astype(int)
    trace = prequential(ArrayStream(X, y), Screener("fisher", n_features_to_select=4), "fsa", batch_size=100)
    assert trace.summary()["accuracy"] > 0.9
