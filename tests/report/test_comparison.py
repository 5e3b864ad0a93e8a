"""The report of a comparison: recommendation first, nothing hidden."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.report.test_page import NASTY, Page

from streamsift.report.comparison import comparison_report
from streamsift.report.quality import cost_charts, differences_chart, ranks_chart
from streamsift.runs.row_trace import RowTraceWriter
from streamsift.runs.run import Run


def test_everything_is_on_the_page(comparison, unpack):
    html = comparison_report(comparison())
    text = Page(html).text
    for words in (
        "Use method0.",
        "The methods differ (p = 0.01).",
        "90.0 % ± 1.0",
        "4 ways to predict",
        "Critical differences",
    ):
        assert words in text
    assert "not complete" not in text
    assert "What is missing" not in text
    files = [chart["file"] for chart in unpack(html)["charts"]]
    assert files[:5] == [
        "accuracy-against-stability.csv",
        "accuracy-over-time.csv",
        "stability-over-time.csv",
        "differences-from-the-best.csv",
        "critical-differences.csv",
    ]
    assert files[5:] == ["speed.csv", "memory.csv", "features-used.csv", "time.csv"]


def test_a_comparison_from_json_reads_the_same(comparison):
    found = comparison()
    assert Page(comparison_report(json.loads(json.dumps(found)))).text == Page(comparison_report(found)).text


def test_what_failed_and_what_is_missing_is_said(comparison):
    found = comparison(2, complete=False, tests=None, left_out=[{"method": "osfs", "reason": "it needs all rows"}])
    nothing = {"rank": None, "accuracy": None, "accuracy_sd": None, "stability": None, "curve": None, "memory": None}
    found["entries"][1] |= nothing | {"failures": ["repeat 3: the disk is full."]}
    text = Page(comparison_report(found)).text
    for words in ("This comparison is not complete", "repeat 3: the disk is full.", "it needs all rows"):
        assert words in text
    assert "Are the differences real?" not in text


def test_the_same_failure_of_several_repeats_is_said_once(comparison):
    found = comparison(2)
    found["entries"][1]["failures"] = ["repeat 1: the disk is full.", "repeat 2: the disk is full."]
    text = Page(comparison_report(found)).text
    assert text.count("the disk is full.") == 1
    assert "repeats 1, 2: the disk is full." in text


def test_nothing_finished_yet(comparison):
    found = comparison(1, tests=None, complete=False)
    found["entries"][0] |= {"rank": None, "accuracy": None, "accuracy_sd": None, "stability": None, "curve": None}
    assert "not complete" in Page(comparison_report(found)).text


def test_protocols_are_kept_apart(comparison):
    found = comparison(4)
    found["entries"][3] |= {"protocol": "columns", "rank": 1, "stability": None}
    text = Page(comparison_report(found)).text
    assert "The ranking: prequential" in text
    assert "The ranking: columns" in text


def _write(trace, path):
    """Write a trace as a run of fires leaves it."""
    with RowTraceWriter(path, Run("fires")) as writer:
        columns = {name: trace.table[name].to_pylist() for name in trace.table.column_names}
        for name in ("indices", "scores", "selected", "relevant"):
            columns[name] = [None if one is None else np.array(one) for one in columns[name]]
        writer.extend(columns, trace.n_features, list(trace.names.values()))


def test_the_best_run_with_a_trace_is_shown_in_full(comparison, judged_trace, tmp_path):
    _write(judged_trace, tmp_path / "one.parquet")
    found = comparison(3)
    found["entries"][0]["trace"] = "gone.parquet"
    found["entries"][1]["trace"] = "one.parquet"
    text = Page(comparison_report(found, tmp_path)).text
    assert "The run of method1 + naive_bayes" in text
    assert "Selected features" in text


def test_the_run_shown_is_the_recommended_one_and_no_baseline(comparison, judged_trace, tmp_path):
    _write(judged_trace, tmp_path / "one.parquet")
    found = comparison(3)
    found["entries"] = [entry | {"trace": "one.parquet"} for entry in found["entries"]]
    found["entries"][0] |= {"kind": "baseline", "method": "oracle"}
    assert "The run of method1 + naive_bayes" in Page(comparison_report(found, tmp_path)).text
    found["recommended"] = "method2 + naive_bayes"
    assert "The run of method2 + naive_bayes" in Page(comparison_report(found, tmp_path)).text


def test_the_table_marks_the_front_and_a_missing_test_is_said(comparison):
    found = comparison(2, tests=None, untested="Not tested: too few repeats.")
    text = Page(comparison_report(found)).text
    assert "1*" in text
    assert "2*" not in text
    assert "Not tested: too few repeats." in text


def test_every_protocol_that_was_tested_has_its_section(comparison, unpack):
    found = comparison(4)
    first, second = found["tests"], found["tests"] | {"sentence": "Nothing tells the two apart.", "protocol": "columns"}
    assert comparison_report(found).count('-body">Are the differences real?') == 1  # a file without the others
    found |= {"tests_by_protocol": {"prequential": first, "columns": second}}
    html = comparison_report(found)
    text = Page(html).text
    assert "Are the differences real? (prequential)" in text
    assert "Are the differences real? (columns)" in text
    assert first["sentence"] in text
    assert second["sentence"] in text
    charts = [chart["data"] for chart in unpack(html)["charts"] if "average rank" in chart["data"]]
    assert [chart["method"] for chart in charts] == [["method0", "method1", "method2", "method3"]] * 2  # one model
    found["entries"][3] |= {"model": "perceptron"}
    charts = [chart["data"] for chart in unpack(comparison_report(found))["charts"] if "average rank" in chart["data"]]
    assert charts[-1]["method"] == ["method0 + nb", "method1 + nb", "method2 + nb", "method3 + perceptron"]


def test_features_bought_are_not_said_twice(comparison):
    found = comparison(2)
    assert "judged by naive_bayes." in Page(comparison_report(found)).text
    for entry in found["entries"]:
        entry |= {"cost": entry["features"]}
    assert "cost" not in Page(comparison_report(found)).text.split()
    found["entries"][0]["cost"] = 17.5
    assert "cost" in Page(comparison_report(found)).text.split()


def test_names_cannot_become_markup(comparison):
    found = comparison(2)
    found["entries"][0]["name"] = NASTY
    found["tests"]["average_ranks"] = {NASTY: 1.0, found["entries"][1]["name"]: 2.0}
    found["tests"]["groups"] = [[NASTY]]
    html = comparison_report(found)
    assert NASTY not in html
    assert len(Page(html).all("script")) == 2


def test_critical_differences_name_who_was_not_told_apart(comparison):
    chart = ranks_chart(comparison(3)["tests"])
    assert chart.data["average rank"] == [1.0, 1.8, 2.6]
    assert chart.data["not distinguished from"] == ["method1 + naive_bayes", "method0 + naive_bayes", ""]
    assert "critical difference, 1.20" in [mark.text for mark in chart.legend]
    two = comparison(2)["tests"] | {"critical_difference": None, "groups": []}
    assert ranks_chart(two).legend == []


def test_differences_from_the_best_have_their_intervals(comparison, unpack):
    found = comparison(3)
    found["tests"] |= {"average_ranks": None, "critical_difference": None, "groups": None}  # one stream has no ranks
    found["tests"]["pairs"][1] |= {"low": None, "high": None, "p_adjusted": None, "verdict": "too few"}
    found["judges"] = [{"model": "naive_bayes", "sentence": "naive_bayes started again 2.0 times."}]
    chart = differences_chart(found["tests"]["pairs"])
    assert chart.data["method"] == ["method1 + naive_bayes", "method2 + naive_bayes"]
    assert chart.data["points ahead"] == pytest.approx([5.0, 5.0])
    assert chart.data["from"] == [pytest.approx(1.0), None]
    assert chart.data["verdict"] == ["better", "too few"]
    html = comparison_report(found)
    assert "naive_bayes started again 2.0 times." in Page(html).text
    assert [c["data"]["method"] for c in unpack(html)["charts"] if "points ahead" in c["data"]] == [
        ["method1", "method2"]
    ]
    assert not any("average rank" in c["data"] for c in unpack(html)["charts"])


@pytest.mark.parametrize("values", [[0.0, 5.0], [1e-3, 1e3], [7.0], [0.0]])
def test_costs_of_any_size(comparison, values):
    entries = comparison(len(values))["entries"]
    for entry, value in zip(entries, values, strict=True):
        entry["rows_per_second"] = value
    chart = cost_charts(entries)[0]
    assert chart.data["rows per second"] == values
    assert chart.figure.x_range.start <= min(values)
    assert chart.figure.x_range.end > max(values)


def test_stability_is_one_line_per_method_where_learners_do_not_change_it(comparison, unpack):
    found = comparison(2)
    twins = [
        entry | {"name": f"{entry['method']} + perceptron", "model": "perceptron", "rank": entry["rank"] + 2}
        for entry in found["entries"]
    ]
    html = comparison_report(found | {"entries": [*found["entries"], *twins]})
    stability = next(chart for chart in unpack(html)["charts"] if chart["file"] == "stability-over-time.csv")
    assert set(stability["data"]["method"]) == {"method0", "method1"}
    assert "method0 + nb" in Page(html).text  # short names of learners beside the other charts


def test_what_is_known_of_weak_methods_stands_below_the_ranking_and_not_above_the_advice(comparison):
    found = comparison(2)
    known = [{"method": found["entries"][0]["method"], "sentence": f"{found['entries'][0]['method']}: Often beaten."}]
    text = Page(comparison_report(found | {"rivals": known})).text
    assert text.index("The ranking") < text.index("What is known of these methods") < text.index("Often beaten.")
