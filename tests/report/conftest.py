"""Traces built by hand, so that the tests know what a report must say about them."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.core.selection import Selection, rank_scores
from streamsift.evaluate.follow import Look, Step
from streamsift.evaluate.trace import Trace, TraceWriter


@pytest.fixture
def make_trace(tmp_path):
    """A function from a matrix of scores (a look a line) to a Trace."""

    def make(scores, *, k=2, names=None, relevant=None, drifting=None, rows=None, settings=None):
        path = tmp_path / "trace.parquet"
        with TraceWriter(path, settings or {"method": "screen:t_score"}) as writer:
            for line, look in enumerate(np.asarray(scores, float)):
                chosen = rank_scores(look)[:k]
                labels = names or [f"x{i}" for i in range(len(look))]
                row = (line + 1) * 100 if rows is None else rows[line]
                selection = Selection(chosen, tuple(labels[i] for i in chosen), look[chosen], len(look), row)
                true = None if relevant is None else np.array(relevant[line], np.intp)
                moves = False if drifting is None else drifting[line]
                writer.append(Step(row, row / 1000, None, Look(selection, look, labels, true, moves)))
        return Trace.read(path)

    return make


@pytest.fixture
def drifting_trace(make_trace):
    """Forty looks at ten features; the two best are 0 and 1 at first and move on by one every five looks."""
    rng = np.random.default_rng(1)
    first = [look // 5 for look in range(40)]
    scores = rng.random((40, 10))
    for line, start in enumerate(first):
        scores[line, start : start + 2] += 3 - 0.5 * np.arange(2)
    return make_trace(
        scores,
        relevant=[[start, start + 1] for start in first],
        drifting=[look % 5 == 0 for look in range(40)],
        names=[f"sensor_{k}" for k in range(10)],
    )
