"""fold_selections: which rows each fold sees, and that nothing else decides what it selects."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsift.core.batch import Batch
from streamsift.core.exceptions import ParameterError
from streamsift.evaluate.folds import fold_selections
from streamsift.metrics import nogueira_stability, pearson_stability
from streamsift.rows.abfs import ABFS
from streamsift.rows.screener import Screener
from streamsift.streams import generate


class Recorder:
    """A selector that keeps the numbers of the rows it has seen."""

    made: list[Recorder] = []  # noqa: RUF012 - the test clears it

    def __init__(self):
        Recorder.made.append(self)
        self.seen = []

    def get_params(self, deep=False):
        return {}

    def partial_fit(self, batch, y=None, classes=None):
        assert isinstance(batch, Batch)
        np.testing.assert_array_equal(batch.X[:, 0], batch.y)
        self.seen += batch.X[:, 0].tolist()
        self.n_rows_seen_ = len(self.seen)
        return self

    def get_support(self):
        return np.array([len(self.seen) % 2 == 0, True])


class Numbers:
    """A stream whose rows are their own numbers."""

    def __init__(self, n):
        self.n_rows, self.feature_names = n, ("row", "other")

    def batches(self, size):
        for first in range(0, self.n_rows, size):
            rows = np.arange(first, min(first + size, self.n_rows), dtype=float)
            yield Batch(np.column_stack([rows, rows]), rows)


def run(scheme, n=103, size=10, n_folds=5, **options):
    Recorder.made.clear()
    original = Recorder()
    snapshots = list(fold_selections(Numbers(n), original, scheme, n_folds=n_folds, batch_size=size, **options))
    assert original.seen == []
    return [fold.seen for fold in Recorder.made[1:]], snapshots


@settings(max_examples=20)
@given(size=st.integers(1, 200), n_folds=st.integers(2, 12))
def test_cross_leaves_one_fold_out_and_split_takes_one(size, n_folds):
    rows = set(range(103))
    cross, _ = run("cross", size=size, n_folds=n_folds)
    split, _ = run("split", size=size, n_folds=n_folds)
    for fold in range(n_folds):
        own = [float(row) for row in range(103) if row % n_folds == fold]
        assert split[fold] == own
        assert cross[fold] == sorted(rows - set(own))


def test_bootstrap_takes_rows_by_poisson_whatever_the_batch():
    folds, _ = run("bootstrap", n=5000, size=1000, n_folds=4, seed=3)
    again, _ = run("bootstrap", n=5000, size=77, n_folds=4, seed=3)
    other, _ = run("bootstrap", n=5000, size=1000, n_folds=4, seed=4)
    assert folds == again
    assert folds != other
    counts = np.array([np.bincount(np.array(fold, int), minlength=5000) for fold in folds])
    # P(0) = P(1) = 1/e, P(2) = 1/2e; standard error 0.0034
    np.testing.assert_allclose(
        [(counts == k).mean() for k in (0, 1, 2)], np.exp(-1) * np.array([1, 1, 0.5]), atol=0.015
    )
    assert abs(np.corrcoef(counts)[0, 1]) < 0.06  # folds draw on their own


def test_snapshots_come_when_due_and_at_the_end():
    _, snapshots = run("cross", n=103, size=10, every=30)
    assert [snapshot.n_rows for snapshot in snapshots] == [30, 60, 90, 103]
    _, snapshots = run("cross", n=103, size=10)
    assert [snapshot.n_rows for snapshot in snapshots] == [103]
    _, snapshots = run("split", n=103, size=50, every=30)
    assert [snapshot.n_rows for snapshot in snapshots] == [50, 100, 103]
    folds, snapshots = run("split", n=100, size=50, every=50)
    assert [snapshot.n_rows for snapshot in snapshots] == [50, 100]
    assert snapshots[-1].selected.tolist() == [[len(fold) % 2 == 0, True] for fold in folds]


def test_a_fold_without_rows_has_selected_nothing():
    folds, snapshots = run("split", n=3, size=3, n_folds=5)
    assert [len(fold) for fold in folds] == [1, 1, 1, 0, 0]
    assert snapshots[0].selected.tolist() == [[False, True]] * 3 + [[False, False]] * 2


@pytest.mark.parametrize("scheme", ["cross", "split", "bootstrap"])
def test_folds_of_a_real_selector_and_their_stability(scheme):
    stream = generate("bg2", n_rows=6000, irrelevant=20, class_noise=0.0)
    snapshots = list(fold_selections(stream, Screener("t_score", n_features_to_select=3), scheme, every=3000))
    assert [snapshot.selected.shape for snapshot in snapshots] == [(10, 26)] * 2
    assert snapshots[-1].selected[:, :3].all()  # the true ones, in every fold
    assert pearson_stability(snapshots[-1].selected) == pytest.approx(1.0)
    assert nogueira_stability(snapshots[-1].selected) == pytest.approx(1.0)


@pytest.mark.compiled
def test_folds_that_share_most_of_their_rows_agree_more():
    """Figure 8 of the ABFS paper, small: cross-validation is more stable than the bootstrap."""
    found = {}
    for scheme in ("cross", "bootstrap"):
        stream = generate("bg1", n_rows=10_000, irrelevant=30)
        snapshots = fold_selections(stream, ABFS.paper(), scheme, every=1000, n_folds=5)
        found[scheme] = np.mean([pearson_stability(snapshot.selected) for snapshot in snapshots])
    assert found["cross"] > found["bootstrap"] + 0.05, found


def test_refusals():
    with pytest.raises(ParameterError, match="'scheme' parameter of fold_selections must be one of 'cross', 'split'"):
        fold_selections(Numbers(5), Screener(), "loo")
    with pytest.raises(ParameterError, match="'n_folds' parameter"):
        fold_selections(Numbers(5), Screener(), n_folds=1)
