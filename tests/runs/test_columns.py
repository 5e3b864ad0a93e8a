"""Columns: the loop offers everything once and in order, and its record stays small and true."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.columns.osfs import OSFS
from streamsift.columns.stepwise import Stepwise
from streamsift.core.selection import Decision, Decisions
from streamsift.runs.column_trace import N_UNCHANGED, SCHEMA, ColumnTraceWriter
from streamsift.runs.columns import N_LATEST, ColumnResult, follow_columns
from streamsift.runs.run import Run
from streamsift.runs.trace import Trace

RUN = Run("osfs", "columns")


class Source:
    """Twelve columns in blocks of a given width, or one by one; `f3` and `f8` tell the class."""

    def __init__(self, width):
        rng = np.random.default_rng(0)
        self.y = rng.integers(0, 2, 200)
        self.X = rng.normal(size=(200, 12))
        self.X[:, [3, 8]] += 2.0 * self.y[:, None]
        self.names, self._width = [f"f{k}" for k in range(12)], width

    def __iter__(self):
        for first in range(0, 12, self._width or 1):
            if self._width is None:
                yield self.names[first], self.X[:, first]
            else:
                last = first + self._width
                yield self.names[first:last], self.X[:, first:last]


@pytest.mark.parametrize("width", [None, 1, 5, 12])
def test_the_steps_are_blocks_and_the_selection_is_that_of_all_columns(width):
    source, selector = Source(width), OSFS()
    steps = list(follow_columns(source, selector))
    assert [step.position for step in steps] == [*range(width or 1, 12, width or 1), 12]
    assert steps[-1].progress == 1.0
    assert selector.selected_ == OSFS().fit(source.X, source.y).get_feature_names_out([*source.names]).tolist()
    assert [name for name, _ in steps[-1].latest] == selector.selected_[::-1][:N_LATEST]
    leaders = steps[-1].leaders()
    assert (leaders.names, leaders.ranked) == (selector.selected_[::-1], False)


def test_a_method_for_whole_tables_makes_one_step():
    source, selector = Source(5), Stepwise()
    (step,) = follow_columns(source, selector)
    assert step.decisions is None
    assert step.position == 12
    assert {name for name, _ in step.latest} == set(selector.selected_)
    result = ColumnResult.of(selector, 12)
    with ColumnTraceWriter(None, RUN) as writer:
        writer.append(step)
        writer.result = result.as_dict()
    trace = writer.trace()
    assert (len(trace), trace.n_features) == (0, 12)
    assert [row["name"] for row in trace.result["selected"]] == selector.selected_


def recorded(*blocks):
    with ColumnTraceWriter(None, RUN) as writer:
        for block in blocks:
            writer.add(Decisions.of(block))
    return writer.trace().table.to_pydict()


def test_what_was_selected_from_when_to_when():
    found = recorded(
        [Decision("a", True, statistic=9.0, threshold=4.0), Decision("b", False, statistic=1.0, threshold=4.0)],
        [Decision("c", True, ("a",), 8.0, 4.0), Decision("d", False, (), 2.0, 4.0)],
    )
    assert found["offered"] == [1, 2, 3, 4]
    assert found["name"] == ["a", "b", "c", "d"]
    assert found["until"] == [3, None, None, None]
    assert found["n_selected"] == [1, 1, 1, 1]
    assert found["n_accepted"] == [1, 1, 2, 2]
    assert found["dropped"] == [[], [], ["a"], []]
    assert found["statistic"] == [9.0, 1.0, 8.0, 2.0]
    assert found["wealth"] == [None] * 4


def test_many_columns_make_a_small_record(tmp_path):
    n, path = 5000, tmp_path / "trace.parquet"
    rng = np.random.default_rng(0)
    with ColumnTraceWriter(path, RUN) as writer:
        for first in range(0, 20 * n, n):
            accepted = np.zeros(n, bool)
            accepted[::1000] = True
            names = [f"x{first + k}" for k in range(n)]
            writer.add(Decisions(names, accepted, rng.random(n), np.full(n, 0.5), rng.random(n), rng.random(n)))
        writer.result = {"n_offered": 20 * n}
    table = Trace.read(path).table
    assert table.schema.equals(SCHEMA)
    found = table.to_pydict()
    assert sum(found["accepted"]) == found["n_selected"][-1] == 100
    assert found["offered"][-1] == 20 * n
    others = [k for k, accepted in zip(found["offered"], found["accepted"], strict=True) if not accepted]
    assert N_UNCHANGED <= len(others) <= 2 * N_UNCHANGED + 1
    gaps = np.diff(others[:-1])  # the last decision is always kept
    assert gaps.max() - gaps.min() <= 1  # every so manieth of those not accepted
    assert path.stat().st_size < 100_000


def test_a_run_that_found_nothing_leaves_no_file(tmp_path):
    with ColumnTraceWriter(tmp_path / "trace.parquet", RUN):
        pass
    assert list(tmp_path.iterdir()) == []
