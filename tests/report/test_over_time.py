"""Lines over time: what coincides is said, and the level that needs no features is shaded."""

from __future__ import annotations

from streamsift.report.over_time import Reference, accuracy_chart, error_chart, joined, stability_chart, told

ROWS = [100, 200, 300]


def test_lines_that_coincide_are_one_and_the_file_has_all():
    lines = [("chi2", ROWS, [0.7, 0.8, 0.9]), ("fisher", ROWS, [0.5, 0.6, 0.6]), ("gini", ROWS, [0.7, 0.8, 0.9001])]
    assert [name for name, _, _ in joined(lines)] == ["chi2 = gini", "fisher"]
    chart = accuracy_chart(lines, "Accuracy")
    assert "These lines coincide: chi2 = gini." in chart.reading
    assert [mark.text for mark in chart.legend] == ["chi2 = gini", "fisher"]
    assert chart.data["method"] == ["chi2"] * 3 + ["fisher"] * 3 + ["gini"] * 3


def test_the_file_of_an_error_chart_has_all_lines_too():
    lines = [("chi2", ROWS, [7.0, 8.0, 9.0]), ("fisher", ROWS, [5.0, 6.0, 6.0]), ("gini", ROWS, [7.0, 8.0, 9.001])]
    chart = error_chart(lines, "RMSE")
    assert [mark.text for mark in chart.legend] == ["chi2 = gini", "fisher"]
    assert chart.data["method"] == ["chi2"] * 3 + ["fisher"] * 3 + ["gini"] * 3


def test_lines_of_other_rows_gaps_or_values_stay_apart():
    line = ("a", ROWS, [0.5, None, 0.9])
    others = [("b", [1, 2, 3], line[2]), ("c", ROWS, [0.5, 0.7, 0.9]), ("d", ROWS, [0.5, None, 0.8])]
    assert joined([line, *others]) == [line, *others]
    assert told([line]) == ""
    assert joined([line, ("e", ROWS, [0.5, None, 0.9])])[0][0] == "a = e"


def test_the_level_without_features_is_drawn_and_within_the_chart():
    chart = accuracy_chart([("a", ROWS, [0.8, 0.9, 0.9])], "Accuracy", Reference("the most frequent class", [], [0.35]))
    assert "Shaded: no better than the most frequent class." in chart.reading
    assert [mark.text for mark in chart.legend] == ["a", "the most frequent class"]
    area = chart.figure.renderers[0].data_source.data
    assert area["x"] == [100, 300]
    assert area["y"] == [0.35, 0.35]
    assert chart.figure.y_range.start < 0.35
    assert "Shaded" not in stability_chart([("a", ROWS, [0.8, 0.9, 0.9])]).reading
