"""The scatter of a comparison: who is on the front, what is below chance, and dots that hide each other."""

from __future__ import annotations

import pytest

from streamsift.report.trade import trade_chart


def numbered(comparison, n):
    return [entry | {"number": entry["rank"], "label": entry["method"]} for entry in comparison(n)["entries"]]


def labels_of(chart):
    return chart.figure.select_one({"name": "labels"}).data


def test_the_chart_shows_the_front_of_the_comparison(comparison):
    entries = numbered(comparison, 4)
    entries[2] |= {"kind": "baseline"}
    entries[3]["stability"] = None
    chart = trade_chart(entries)
    assert chart.data["number"] == [1, 2, 3]
    assert chart.data["on the front"] == [True, False, False]  # as said, though all differ in accuracy and stability
    assert chart.data["features"] == [5.0, 6.0, 7.0]
    assert [mark.text for mark in chart.legend] == ["beaten by another method", "baseline", "on the front"]
    assert trade_chart(entries[3:]) is None


def test_labels_name_the_entries_those_of_the_front_first(comparison):
    entries = numbered(comparison, 3)
    entries[0]["on_front"], entries[2]["on_front"] = False, True
    found = labels_of(trade_chart(entries))
    assert found["long"] == ["3 method2", "1 method0", "2 method1"]
    assert found["short"] == ["3", "1", "2"]


def test_dots_that_hide_each_other_become_one(comparison):
    entries = [one | {"accuracy": 0.8, "stability": 1.0, "on_front": True} for one in numbered(comparison, 5)]
    two, five = (trade_chart(entries[:n]) for n in (2, 5))
    assert labels_of(two)["short"] == ["1, 2"]
    assert labels_of(five)["short"] == ["1, 2, 3 +2"]
    assert labels_of(five)["long"] == ["1, 2, 3 +2 method0, method1, method2, method3, method4"]


def test_up_is_better_for_a_loss_too(comparison):
    entries = [one | {"log_loss": 0.1 * one["rank"]} for one in numbered(comparison, 3)]
    chance = entries[2]
    plot = trade_chart(entries, "log_loss", chance).figure
    assert plot.y_range.start > 0.3 > 0.1 > plot.y_range.end  # the lowest loss on top
    box = next(one for one in plot.center if type(one).__name__ == "BoxAnnotation")
    assert box.top == pytest.approx(0.3)  # on the screen: the axis is turned over, so worse is below in both
    assert not isinstance(box.bottom, float)
    plot = trade_chart(entries, "accuracy", chance).figure
    assert plot.y_range.start < 0.8 < 0.9 < plot.y_range.end
    box = next(one for one in plot.center if type(one).__name__ == "BoxAnnotation")
    assert box.top == pytest.approx(0.8)


def test_chance_is_in_the_legend_where_it_is_in_sight(comparison):
    entries = numbered(comparison, 3)
    near, far = (trade_chart(entries, "accuracy", entries[2] | {"accuracy": level}) for level in (0.8, 0.3))
    assert near.legend[-1].text == "no better than without features"
    assert far.legend[-1].text == "on the front"
