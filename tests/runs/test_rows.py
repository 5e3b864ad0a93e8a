"""Rows: when a snapshot is taken, what a step holds, that rows are read once; on a selector whose answers are known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from streamsift.core.batch import Batch
from streamsift.core.selection import Selection
from streamsift.runs.rows import SNAPSHOTS_BEFORE_DOUBLING, follow_rows


class Numbers:
    """A stream of `n_rows` rows of two features; rows of every third hundred drift."""

    def __init__(self, n_rows, known=True):
        self.total, self.known, self.read = n_rows, known, 0

    def progress(self):
        return self.read / self.total if self.known else None

    def batches(self, size):
        for start in range(0, self.total, size):
            stop = min(start + size, self.total)
            self.read = stop
            X = np.arange(2 * start, 2 * stop, dtype=float).reshape(-1, 2)
            drifting = start // 100 % 3 == 2
            yield Batch(X, np.zeros(stop - start), ("a", "b"), relevant=np.array([start % 2]), drifting=drifting)


class Sum:
    """A selector whose scores are the sums of the columns; it counts how often it is asked."""

    def __init__(self):
        self.scores_ = np.zeros(2)
        self.feature_names_in_ = np.array(["a", "b"], object)
        self.rows = self.asked = 0

    def partial_fit(self, batch):
        self.scores_ = self.scores_ + batch.X.sum(axis=0)
        self.rows += batch.n_rows
        return self

    def selection(self):
        self.asked += 1
        return Selection(np.array([1]), ("b",), self.scores_[[1]], 2, self.rows)


def test_every_batch_is_a_step_and_every_row_is_learnt_once():
    selector = Sum()
    steps = list(follow_rows(Numbers(1050), selector, 100))
    assert [step.n_rows for step in steps] == [*range(100, 1001, 100), 1050, 1050]
    assert selector.scores_.sum() == sum(range(2100))
    assert [step.snapshot is None for step in steps] == [False] * 10 + [True, False]
    assert steps[-1].progress == 1.0
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(steps))


def test_a_snapshot_holds_what_the_selector_said_then():
    steps = list(follow_rows(Numbers(300), Sum(), 100))
    first = steps[0].snapshot
    assert first.selection.n_rows_seen == 100
    assert first.scores.tolist() == [sum(range(0, 200, 2)), sum(range(1, 200, 2))]
    assert list(first.feature_names) == ["a", "b"]
    assert first.relevant.tolist() == [0]


def test_it_takes_one_every_so_many_rows_and_always_at_the_end():
    selector = Sum()
    steps = list(follow_rows(Numbers(1000), selector, 100, trace_every=300))
    assert [step.n_rows for step in steps if step.snapshot] == [300, 600, 900, 1000]
    assert selector.asked == 4
    assert [step.n_rows for step in steps] == [*range(100, 1001, 100), 1000]


def test_drift_between_two_snapshots_is_not_forgotten():
    steps = list(follow_rows(Numbers(1200), Sum(), 100, trace_every=400))
    assert [step.snapshot.drifting for step in steps if step.snapshot] == [True, True, True]
    steps = list(follow_rows(Numbers(600), Sum(), 100))
    assert [step.snapshot.drifting for step in steps] == [False, False, True, False, False, True]


def test_the_number_of_snapshots_grows_with_the_logarithm_of_the_stream():
    selector = Sum()
    steps = list(follow_rows(Numbers(20_000, known=False), selector, 1))
    rows = np.array([step.n_rows for step in steps if step.snapshot])
    assert len(rows) == selector.asked < 10 * SNAPSHOTS_BEFORE_DOUBLING
    gaps = np.diff(rows)
    assert gaps[0] == 1
    assert gaps[-1] > 32
    late = rows[1:] > SNAPSHOTS_BEFORE_DOUBLING
    assert (gaps[late] <= rows[1:][late] / 100).all()
    assert steps[-1].progress is None


def test_an_empty_stream_has_no_steps():
    assert list(follow_rows(Numbers(0), Sum(), 10)) == []


@pytest.mark.parametrize("size", [7, 100, 5000])
def test_the_last_step_has_a_snapshot_whatever_the_batch(size):
    *_, last = follow_rows(Numbers(1000), Sum(), size, trace_every=333)
    assert last.snapshot.selection.n_rows_seen == 1000
