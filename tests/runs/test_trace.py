"""The trace: what is written comes back, in bounded memory, and a broken run leaves no broken file."""

from __future__ import annotations

import math
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from bokeh.models import Span
from tests.report.test_plots import figures

from streamsift.core.exceptions import MissingExtraError, ReaderError
from streamsift.core.selection import Selection, rank_scores
from streamsift.runs.row_trace import ALL_SCORES_UP_TO, MEASURES, NUMBERS_PER_GROUP, SCHEMA, RowTraceWriter
from streamsift.runs.rows import RowStep, Snapshot
from streamsift.runs.run import Run
from streamsift.runs.trace import Trace

RUN = Run("screen:t_score")


def step(row, scores, *, k=2, names=None, relevant=None, drifting=False):
    scores = np.asarray(scores, float)
    chosen = rank_scores(scores)[:k]
    chosen_names = tuple(f"x{i}" if names is None else names[i] for i in chosen)
    selection = Selection(chosen, chosen_names, scores[chosen], len(scores), row)
    return RowStep(row, row / 100, None, Snapshot(selection, scores, names, relevant, drifting))


def test_what_is_written_comes_back(tmp_path):
    path = tmp_path / "trace.parquet"
    with RowTraceWriter(path, Run("screen:gini", data="a.csv", settings={"k": 2})) as writer:
        writer.append(step(10, [0.1, 0.5, 0.3], names=["a", "b", "c"]))
        writer.append(RowStep(15, 0.2, None, None))
        writer.append(step(20, [0.9, 0.5, np.inf], names=["a", "b", "c"], relevant=np.array([2]), drifting=True))
    trace = Trace.read(path)
    assert trace.run == Run("screen:gini", data="a.csv", settings={"k": 2}, seconds=0.2)
    assert [trace.name(k) for k in range(3)] == ["a", "b", "c"]
    assert trace.n_features == 3
    assert trace.table.schema.names == SCHEMA.names
    assert all(trace.table[name].null_count == 2 for name in MEASURES)  # the run was followed, not judged
    assert trace.table.drop_columns(list(MEASURES)).to_pylist() == [
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
    with RowTraceWriter(path, RUN) as writer:
        writer.append(step(10, scores, k=3, names=[f"f{k}" for k in range(len(scores))]))
    trace = Trace.read(path)
    assert trace.table["indices"].to_pylist() == [[1000, 999, 998]]
    assert trace.table["scores"].to_pylist() == [[1000.0, 999.0, 998.0]]
    assert trace.names == {1000: "f1000", 999: "f999", 998: "f998"}
    assert trace.n_features == ALL_SCORES_UP_TO + 1


def test_unnamed_features_are_numbered(tmp_path):
    path = tmp_path / "trace.parquet"
    with RowTraceWriter(path, RUN) as writer:
        writer.append(step(10, [1.0, 2.0]))
    assert Trace.read(path).name(1) == "x1"


def test_row_groups_are_written_as_the_run_goes_on(tmp_path):
    path = tmp_path / "trace.parquet"
    lines = 3 * math.ceil(NUMBERS_PER_GROUP / (500 + 7))  # scores and plain columns of a line
    with RowTraceWriter(path, RUN) as writer:
        for k in range(lines):
            writer.append(step(k, np.arange(500.0)))
            assert len(writer._steps) * 500 < NUMBERS_PER_GROUP
    assert pq.ParquetFile(path).num_row_groups == 3
    assert len(Trace.read(path)) == lines


def write_and_fail(path, failure):
    with RowTraceWriter(path, RUN) as writer:
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


def test_a_run_without_a_snapshot_leaves_no_file(tmp_path):
    with RowTraceWriter(tmp_path / "trace.parquet", RUN):
        pass
    assert list(tmp_path.iterdir()) == []


def test_an_old_trace_stays_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "trace.parquet"
    with RowTraceWriter(path, Run("first")) as writer:
        writer.append(step(10, [1.0, 2.0]))
    with RowTraceWriter(path, Run("second")) as writer:
        writer.append(step(10, [1.0, 2.0]))
        assert Trace.read(path).run.method == "first"
    assert Trace.read(path).run.method == "second"


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


def judged(n_lines, **columns):
    empty = [None] * n_lines
    return {"row": np.arange(1, n_lines + 1) * 100, "indices": empty, "scores": empty, "selected": empty} | columns


def test_lines_may_be_given_as_columns_and_kept_in_memory(tmp_path):
    accuracy = np.array([np.nan, 0.5, 0.75])
    chosen = [np.array([2, 0]), None, np.array([], int)]
    traces = []
    for path in (None, tmp_path / "trace.parquet"):
        with RowTraceWriter(path, Run("a", settings={"window": 2})) as writer:
            writer.extend(judged(3, accuracy=accuracy, selected=chosen, indices=chosen), 3, ["a", "b", "c"])
            writer.extend(judged(0), 3)
            writer.append(step(400, [0.1, 0.2, 0.3]))
        traces.append(writer.trace())
    for trace in traces:
        assert trace.table["accuracy"].to_pylist() == [None, 0.5, 0.75, None]
        assert trace.table["selected"].to_pylist() == [[2, 0], None, [], [2, 1]]
        assert trace.table["kappa"].null_count == 4
        assert trace.names == {0: "a", 2: "c"}
        assert trace.snapshots().column("row").tolist() == [100, 300, 400]
        assert trace.masks().tolist() == [[True, False, True], [False, False, False], [False, True, True]]
    assert traces[0].table.equals(traces[1].table)


def test_what_waits_is_bounded_for_lines_without_scores(tmp_path):
    with RowTraceWriter(tmp_path / "trace.parquet", RUN) as writer:
        for _ in range(40):
            writer.extend(judged(300), 5)
            assert sum(len(block["row"]) for block in writer._blocks) * len(SCHEMA) < NUMBERS_PER_GROUP
    assert pq.ParquetFile(tmp_path / "trace.parquet").num_row_groups > 2


def test_the_summary_of_a_run_that_was_only_followed():
    with RowTraceWriter(None, RUN) as writer:
        writer.append(step(100, [0.1, 0.5, 0.3]))
        writer.append(step(200, [0.1, 0.5, 0.3], k=1))
    summary = writer.trace().summary()
    assert summary["n_selected"] == 1.5
    assert summary["rows_per_second"] == 100.0
    assert summary["rows"] == 200
    assert [name for name, value in summary.items() if value is None] == [
        "accuracy", "balanced_accuracy", "kappa", "log_loss", "f1", "stability", "selection_accuracy",
        "selection_seconds", "learner_seconds", "peak_memory", "ram_hours", "n_restarts",
    ]  # fmt: skip


def test_stability_is_summarised_over_whole_windows():
    def summarised(values, **settings):
        with RowTraceWriter(None, Run("a", settings=settings)) as writer:
            writer.extend(judged(len(values), stability=np.array(values)), 5)
        return writer.trace().summary()["stability"]

    assert summarised([np.nan, 0.0, 0.0, 0.5, 1.0], window=4) == 0.75
    assert summarised([np.nan, 0.0, 0.25], window=10) == 0.25
    assert summarised([0.0, 0.5, 1.0], window=4, every=2) == 0.75
    assert summarised([np.nan], window=4) is None


def test_a_file_of_another_version_is_refused_in_words(tmp_path):
    path = tmp_path / "trace.parquet"
    pq.write_table(SCHEMA.empty_table().replace_schema_metadata({b"streamsift": b'{"settings": {}}'}), path)
    with pytest.raises(ReaderError, match="written by another version"):
        Trace.read(path)


def curves():
    with RowTraceWriter(None, Run("<Screener>", settings={"model": "naive_bayes", "window": 3})) as writer:
        found = np.array([False, True, False])
        accuracy, features = np.array([np.nan, 0.5, 0.8]), np.array([3, 3, 4])
        lines = judged(3, window_accuracy=accuracy, accuracy=accuracy, n_selected=features, drift_found=found)
        writer.extend(lines, 5)
    return writer.trace()


def test_the_plot_shows_the_curves_that_have_values_and_where_drift_was_found():
    panels = figures(curves().plot())
    assert [panel.yaxis.axis_label for panel in panels] == ["accuracy", "features"]  # stability has none
    curve = panels[0].renderers[0].data_source.data
    assert list(curve["x"]) == [100, 200, 300]
    assert list(curve["y"])[1:] == [0.5, 0.8]
    assert [line.location for line in panels[0].center if isinstance(line, Span)] == [200]
    assert panels[0].renderers[0].glyph.line_color == "#0072b2"


def test_a_notebook_shows_numbers_and_sparklines():
    from xml.etree import ElementTree

    page = ElementTree.fromstring(curves()._repr_html_())  # well formed, names escaped
    text = "".join(page.itertext())
    assert "<Screener> judged by naive_bayes" in text
    assert "80.0 %" in text
    assert "accuracy: 50.0 % to 80.0 %, at the end 80.0 %" in text
    assert len(page.findall(".//polyline")) == 2  # stability has no values
    points = page.findall(".//polyline")[0].attrib["points"].split()
    assert len(points) == 2


def test_frames(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    path = tmp_path / "trace.parquet"
    with RowTraceWriter(path, RUN) as writer:
        writer.append(step(10, [1.0, 2.0]))
    trace = Trace.read(path)
    assert trace.to_pandas()["row"].tolist() == [10]
    assert trace.to_polars()["row"].to_list() == [10]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_frame_package_is_named(tmp_path, monkeypatch, package):
    path = tmp_path / "trace.parquet"
    with RowTraceWriter(path, RUN) as writer:
        writer.append(step(10, [1.0, 2.0]))
    trace = Trace.read(path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"streamsift\[{package}\]"):
        getattr(trace, f"to_{package}")()
