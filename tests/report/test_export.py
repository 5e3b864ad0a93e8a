"""Charts as files, drawn by the browser that is installed."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest
from tests.report.conftest import CHROMIUM
from tests.report.test_browser import chart_of, quiet

from streamsift.core.exceptions import ParameterError
from streamsift.report.export import export_page
from streamsift.report.trace_page import trace_page

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="skipped: no chromium")


@needs_browser
def test_every_chart_of_a_page_becomes_a_picture(drifting_trace):
    drawn = export_page(trace_page(drifting_trace), "svg")
    assert list(drawn) == [
        "true-features-found.svg", "scores-of-all-features.svg", "the-selection-over-time.svg",
        "scores-of-the-leaders.svg",
    ]  # fmt: skip
    for content in drawn.values():
        root = ElementTree.fromstring(content)
        assert root.tag.endswith("svg")
        assert root[0].get("fill") == "#ffffff"
    words = ElementTree.tostring(ElementTree.fromstring(drawn["the-selection-over-time.svg"]), encoding="unicode")
    assert "sensor_3" in words
    assert "The selection over time" in words  # the title and the legend are in the file, too
    assert "true feature" in words
    assert drawn["scores-of-the-leaders.svg"].count(b"#0072b2") > 1  # not only in the legend: the line has its colour


@needs_browser
def test_a_plot_is_written_to_a_file(drifting_trace, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="skipped: no pillow")
    drifting_trace.plot(tmp_path / "run.png")
    picture = image.open(io.BytesIO((tmp_path / "run.png").read_bytes()))
    assert picture.size[0] >= 1400  # two dots per pixel of the page: sharp in print and on slides
    assert len(picture.convert("RGB").getcolors(1 << 24)) > 5


def test_a_page_needs_no_browser_and_other_names_are_refused(drifting_trace, tmp_path):
    drifting_trace.plot(tmp_path / "run.html")
    assert "Bokeh" in (tmp_path / "run.html").read_text("utf-8")
    with pytest.raises(ParameterError, match="name the file so"):
        drifting_trace.plot(tmp_path / "run.gif")


def test_a_chart_is_saved_from_the_page(drifting_trace, browse):
    page = browse(trace_page(drifting_trace))
    figure = chart_of(page, "The selection over time")
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as waiting:
            figure.get_by_role("button", name=kind).click()
        assert waiting.value.suggested_filename == f"the-selection-over-time.{kind.lower()}"
        assert waiting.value.path().read_bytes().startswith(start)
    drawn = figure.locator(".bk-Figure").bounding_box()["width"]
    width = int.from_bytes(waiting.value.path().read_bytes()[16:20])  # of the PNG, by its header
    assert width == pytest.approx(2 * drawn, abs=2)
    assert page.evaluate("devicePixelRatio") == 1  # as it was before
    assert quiet(page)
