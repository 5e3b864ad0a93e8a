"""The trace: what is written comes back, in bounded memory, and a broken run leaves no broken file."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from streamsift.core.exceptions import MissingExtraError, ReaderError
from streamsift.core.selection import Selection, rank_scores
from streamsift.evaluate.follow import Look, Step
from streamsift.evaluate.trace import ALL_SCORES_UP_TO, SCORES_PER_GROUP, Trace, TraceWriter


def step(row, scores, *, k=2, names=None, relevant=None, drifting=False):
    scores = np.asarray(scores, float)
    chosen = rank_scores(scores)[:k]
    chosen_names = tuple(f"x{i}" if names is None else names[i] for i in chosen)
    selection = Selection(chosen, chosen_names, scores[chosen], len(scores), row)
    return Step(row, row / 100, None, Look(selection, scores, names, relevant, drifting))


def test_what_is_written_comes_back(tmp_path):
    path = tmp_path / "trace.parquet"
    with TraceWriter(path, {"method": "screen:gini", "k": 2}) as writer:
        writer.append(step(10, [0.1, 0.5, 0.3], names=["a", "b", "c"]))
        writer.append(Step(15, 0.2, None, None))
        writer.append(step(20, [0.9, 0.5, np.inf], names=["a", "b", "c"], relevant=np.array([2]), drifting=True))
    trace = Trace.read(path)
    assert trace.settings == {"method": "screen:gini", "k": 2}
    assert [trace.name(k) for k in range(3)] == ["a", "b", "c"]
    assert trace.n_features == 3
    assert trace.table.to_pylist() == [
        {
            "row": 10,
            "seconds": 0.1,
            "indices": [0, 1, 2],
            "scores": [0.1, 0.5, 0.3],
            "selected": [1, 2],
            "relevant": None,
            "drifting": False,
        },
        {
            "row": 20,
            "seconds": 0.2,
            "indices": [0, 1, 2],
            "scores": [0.9, 0.5, np.inf],
            "selected": [2, 0],
            "relevant": [2],
            "drifting": True,
        },
    ]


def test_wide_data_keeps_the_scores_of_the_selected_features_only(tmp_path):
    path = tmp_path / "trace.parquet"
    scores = np.arange(ALL_SCORES_UP_TO + 1.0)
    with TraceWriter(path, {}) as writer:
        writer.append(step(10, scores, k=3, names=[f"f{k}" for k in range(len(scores))]))
    trace = Trace.read(path)
    assert trace.table["indices"].to_pylist() == [[1000, 999, 998]]
    assert trace.table["scores"].to_pylist() == [[1000.0, 999.0, 998.0]]
    assert trace.names == {1000: "f1000", 999: "f999", 998: "f998"}
    assert trace.n_features == ALL_SCORES_UP_TO + 1


def test_unnamed_features_are_numbered(tmp_path):
    path = tmp_path / "trace.parquet"
    with TraceWriter(path, {}) as writer:
        writer.append(step(10, [1.0, 2.0]))
    assert Trace.read(path).name(1) == "x1"


def test_row_groups_are_written_as_the_run_goes_on(tmp_path):
    path = tmp_path / "trace.parquet"
    lines = 3 * SCORES_PER_GROUP // 500
    with TraceWriter(path, {}) as writer:
        for k in range(lines):
            writer.append(step(k, np.arange(500.0)))
            assert len(writer._lines) * 500 < SCORES_PER_GROUP
    assert pq.ParquetFile(path).num_row_groups == 3
    assert len(Trace.read(path)) == lines


def write_and_fail(path, failure):
    with TraceWriter(path, {}) as writer:
        writer.append(step(10, [1.0, 2.0]))
        raise failure


def test_a_failed_run_leaves_no_file(tmp_path):
    with pytest.raises(RuntimeError):
        write_and_fail(tmp_path / "trace.parquet", RuntimeError)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_leaves_what_it_has(tmp_path):
    path = tmp_path / "trace.parquet"
    with pytest.raises(KeyboardInterrupt):
        write_and_fail(path, KeyboardInterrupt)
    assert len(Trace.read(path)) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_without_a_look_leaves_no_file(tmp_path):
    with TraceWriter(tmp_path / "trace.parquet", {}):
        pass
    assert list(tmp_path.iterdir()) == []


def test_an_old_trace_stays_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "trace.parquet"
    with TraceWriter(path, {"run": 1}) as writer:
        writer.append(step(10, [1.0, 2.0]))
    with TraceWriter(path, {"run": 2}) as writer:
        writer.append(step(10, [1.0, 2.0]))
        assert Trace.read(path).settings == {"run": 1}
    assert Trace.read(path).settings == {"run": 2}


def test_other_files_are_refused_in_words(tmp_path):
    text = tmp_path / "people.csv"
    text.write_text("a,b\n1,2\n")
    with pytest.raises(ReaderError, match="is not a Parquet file"):
        Trace.read(text)
    import pyarrow as pa

    foreign = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"a": [1]}), foreign)
    with pytest.raises(ReaderError, match="is not a trace of streamsift"):
        Trace.read(foreign)


def test_frames(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    path = tmp_path / "trace.parquet"
    with TraceWriter(path, {}) as writer:
        writer.append(step(10, [1.0, 2.0]))
    trace = Trace.read(path)
    assert trace.to_pandas()["row"].tolist() == [10]
    assert trace.to_polars()["row"].to_list() == [10]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_frame_package_is_named(tmp_path, monkeypatch, package):
    path = tmp_path / "trace.parquet"
    with TraceWriter(path, {}) as writer:
        writer.append(step(10, [1.0, 2.0]))
    trace = Trace.read(path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"streamsift\[{package}\]"):
        getattr(trace, f"to_{package}")()
