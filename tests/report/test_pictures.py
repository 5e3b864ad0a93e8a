"""Charts of pictures and of points: every selected cell and every method is drawn once."""

from __future__ import annotations

from bokeh.models import Rect, Scatter

from streamsift.report.pictures import pictures_chart, points_chart


def test_pictures_draw_every_selected_cell_and_name_every_picture() -> None:
    picture = {"values": [[0.0, 1.0], [0.5, 0.0]], "selected": [[True, False], [False, True]]}
    pictures = [picture | {"name": name} for name in ("a", "b", "c", "d")]
    chart = pictures_chart({"title": "t", "reading": "r", "alt": "a", "pictures": pictures})
    weights, selected = (r.data_source.data for r in chart.figure.renderers if isinstance(r.glyph, Rect))
    assert len(selected["x"]) == 4 * 2
    assert sorted(set(weights["alpha"])) == [0.5, 1.0]
    assert len({(x, y) for x, y in zip(selected["x"], selected["y"], strict=True)}) == 8
    names = [item.text for item in chart.figure.center if hasattr(item, "text")]
    assert names == ["a", "b", "c", "d"]


def test_pictures_of_equal_values_are_blank() -> None:
    picture = {"name": "a", "values": [[2.0]], "selected": [[False]]}
    chart = pictures_chart({"title": "t", "reading": "r", "alt": "a", "pictures": [picture]})
    assert [r.data_source.data["x"] for r in chart.figure.renderers] == [[], []]


def test_points_grow_with_their_marks() -> None:
    curves = [{"name": name, "x": [x], "y": [0.5]} for name, x in (("a", 0.1), ("b", 0.2))]
    panel = {"title": "t", "reading": "r", "alt": "a", "x_label": "x", "y_label": "y", "curves": curves}
    chart = points_chart(panel | {"marks": (0.0, 2.0)})
    sizes = [r.glyph.size for r in chart.figure.renderers if isinstance(r.glyph, Scatter)]
    assert sizes == [9.0, 30.0]
    assert [mark.text for mark in chart.legend] == ["a", "b"]
    assert points_chart(panel | {"marks": (0.0, 0.0)}).figure.renderers[0].glyph.size == 9.0
