"""The page in a real browser: drawn, answering the mouse and the keyboard, quiet, and fetching nothing."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from tests.report import test_decisions, test_purchases

from streamsift import Screener
from streamsift.report.comparison import comparison_report
from streamsift.report.summarize import summarize
from streamsift.report.trace_page import trace_page

NASTY = "<img src=x onerror=alert(1)> $$x$$"
# How many pixels of each chart's canvases are painted; bokeh draws inside shadow trees.
PAINTED = """() => [...document.querySelectorAll("main .chart")].map((chart) => {
    const roots = [chart]; let most = 0;
    while (roots.length) for (const e of roots.pop().querySelectorAll("*")) {
        if (e.shadowRoot) roots.push(e.shadowRoot);
        if (e.tagName === "CANVAS" && e.width && !e.getContext("webgl")) {
            const data = e.getContext("2d").getImageData(0, 0, e.width, e.height).data;
            let count = 0;
            for (let k = 3; k < data.length; k += 4) count += data[k] > 0;
            most = Math.max(most, count);
        }
    }
    return most;
})"""

TOOLTIPS = """() => {
    const roots = [document], texts = [];
    while (roots.length) for (const e of roots.pop().querySelectorAll("*")) {
        if (e.shadowRoot) roots.push(e.shadowRoot);
        if (e.classList.contains("bk-Tooltip")) texts.push(e.shadowRoot.textContent);
    }
    return texts.join(" ");
}"""


def quiet(page):
    """Nothing on the console, and nothing fetched but the page itself."""
    assert page.troubles == []
    assert [url for url in page.fetched if not url.startswith(("data:", "blob:"))] == [page.url.partition("#")[0]]
    return True


def chart_of(page, title):
    return page.locator("main figure", has=page.get_by_role("heading", name=title, exact=True))


def first_tooltip(page, place):
    """The tooltip that shows first when the mouse goes down the right part of a chart."""
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    for y in range(4, 60, 3):
        page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + y)
        page.wait_for_timeout(40)  # bokeh shows it with the next frame
        found = page.evaluate(TOOLTIPS)
        if found:
            return found
    return ""


def downloaded(page, button):
    with page.expect_download() as waiting:
        button.click()
    download = waiting.value
    with open(download.path(), encoding="utf-8-sig", newline="") as file:
        return download.suggested_filename, list(csv.DictReader(io.StringIO(file.read(), newline="")))


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (1200, True), (390, False)])
def test_all_charts_are_drawn_and_fit(judged_page, browse, width, dark):
    page = browse(judged_page, width=width, dark=dark)
    painted = page.evaluate(PAINTED)
    assert len(painted) == 8
    assert min(painted) > 500
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")
    assert quiet(page)


def test_a_click_on_a_lane_opens_the_feature_and_escape_closes_it(judged_page, browse):
    page = browse(judged_page)
    dialog = page.locator("#feature")
    assert not dialog.is_visible()
    lanes = chart_of(page, "The selection over time").locator(".chart")
    box = lanes.bounding_box()
    lanes.click(position={"x": box["width"] / 2, "y": 12})  # the first lane
    dialog.wait_for(state="visible")
    page.wait_for_selector("#feature[data-shown]")
    assert page.locator("#feature-name").inner_text() == "sensor_0"
    facts = page.locator("#feature-facts").inner_text()
    assert "first row selected" in facts
    assert "200" in facts  # the first look
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert quiet(page)


def test_the_keyboard_reaches_the_feature_and_another_one(judged_page, browse):
    page = browse(judged_page)
    button = page.locator("td button.open").first
    name = button.inner_text()
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#feature[data-shown]")
    assert page.locator("#feature-name").inner_text() == name
    assert page.evaluate("() => document.activeElement.id") == "feature-choice"
    page.keyboard.press("ArrowDown")
    page.wait_for_selector('#feature[data-shown="1"]')
    assert page.locator("#feature-name").inner_text() != name
    file, rows = downloaded(page, page.locator("#feature button.csv").first)
    assert file == "score.csv"
    assert len(rows) == 20
    assert rows[0].keys() == {"feature", "row", "score", "selected"}
    assert quiet(page)


def test_every_stop_of_the_tab_key_is_seen(judged_page, browse):
    page = browse(judged_page, width=1300)
    stops = []
    for _ in range(60):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate(
                "() => [document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]"
            )
        )
    assert stops[0] == ["A", "solid"]  # the way past the contents
    assert {outline for tag, outline in stops if tag != "BODY"} == {"solid"}
    assert "DIV" not in {tag for tag, _ in stops[:12]}  # no stop inside a chart


def test_the_heat_map_says_what_is_under_the_mouse(judged_page, judged_trace, browse):
    run = summarize(judged_trace, "run")
    page = browse(judged_page)
    figure = chart_of(page, "Scores of all features")
    place = figure.locator(".chart")
    box = place.bounding_box()
    place.hover(position={"x": box["width"] - 40, "y": 12})
    page.wait_for_selector("#tip:not([hidden])")
    tip = page.locator("#tip").inner_text()
    best = run["selected"][0]
    assert tip.startswith(best["name"])
    assert f"score {best['score']:.4g}"[:9] in tip
    assert "selected" in tip
    file, rows = downloaded(page, figure.locator("button.csv"))
    assert file == "scores-of-all-features.csv"
    found = {(row["feature"], int(row["row"])): float(row["score"]) for row in rows}
    last = judged_trace.table.slice(len(judged_trace) - 1).to_pylist()[0]
    for index, score in zip(last["indices"], last["scores"], strict=True):
        assert found[judged_trace.name(index), 4000] == pytest.approx(score, rel=1e-3)
    place.click(position={"x": box["width"] - 40, "y": 12})
    page.wait_for_selector("#feature[data-shown]")
    assert page.locator("#feature-name").inner_text() == best["name"]
    assert quiet(page)


def test_on_a_phone_buttons_stand_below_the_legend_and_names_are_not_broken(make_trace, browse):
    rng = np.random.default_rng(0)
    trace = make_trace(rng.random((6, 120)), names=[f"station_{k:03d}_temperature" for k in range(120)])
    page = browse(trace_page(trace), width=390)
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    legend = chart_of(page, "Scores of all features").locator(".legend li").first
    assert legend.bounding_box()["height"] < 50
    name = page.locator("td button.open").first
    assert name.bounding_box()["height"] < 30  # one line
    assert quiet(page)


# The lines of the large heat map whose names are drawn now.
NAMED = """() => Bokeh.documents.flatMap((one) => one.roots()).map((plot) => plot.left[0])
    .find((axis) => axis.major_label_overrides.size > 40).ticker.ticks"""


def test_a_large_heat_map_shows_all_names_as_one_zooms(make_trace, browse):
    rng = np.random.default_rng(0)
    trace = make_trace(rng.random((6, 120)), names=[f"sensor_{k}" for k in range(120)])
    page = browse(trace_page(trace), width=1300)
    figure = chart_of(page, "Scores of all features")
    place = figure.locator(".chart")

    def ticks():
        return page.evaluate(NAMED)

    def lines():
        return place.get_attribute("data-lines")

    assert lines() == "0-119"
    assert 20 <= len(ticks()) < 60
    button = figure.get_by_role("button", name="Fewer lines")
    assert figure.get_by_role("button", name="All lines").is_disabled()
    for _ in range(2):
        button.focus()
        page.keyboard.press("Enter")
    assert lines() == "45-74"
    assert ticks() == list(range(45, 75))  # every line has its name
    figure.get_by_role("button", name="Lines above").click()
    assert lines() == "30-59"
    figure.get_by_role("button", name="All lines").click()
    assert lines() == "0-119"
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 90, steps=5)
    page.mouse.up()
    page.wait_for_function("(e) => e.dataset.lines !== '0-119'", arg=place.element_handle())
    first, last = map(int, lines().split("-"))
    assert last - first < 40
    assert ticks() == list(range(first, last + 1))
    assert not page.locator("#feature").is_visible()  # a drag is no click
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 5)
    page.wait_for_selector("#feature[data-shown]")
    opened = page.locator("#feature-name").inner_text()
    best = np.argsort(-np.array(trace.table["scores"][-1].as_py()))
    assert opened in [f"sensor_{best[place]}" for place in (first - 1, first)]  # the line on top, perhaps cut
    assert quiet(page)


def test_a_line_shows_a_tooltip(judged_page, browse):
    page = browse(judged_page)
    assert "bytes 2.05k" in first_tooltip(page, chart_of(page, "Memory held").locator(".chart"))
    assert quiet(page)


def test_headings_stand_above_what_they_name(comparison, browse):
    page = browse(comparison_report(comparison(3)))
    table = page.get_by_role("region", name="All methods")
    for name in ("accuracy", "kappa", "stability"):
        heading = table.get_by_role("columnheader", name=name, exact=True)
        place = heading.evaluate("(e) => e.cellIndex")
        cell = table.locator("tbody tr").first.locator("td").nth(place)
        bars = cell.evaluate("(e) => e.classList.contains('bar')")
        assert heading.evaluate("(e) => getComputedStyle(e).textAlign") == ("left" if bars else "right")


def test_tables_sort_by_their_headings(comparison, browse):
    found = comparison(4)
    found["entries"][3] |= {"rank": None, "accuracy": None, "accuracy_sd": None, "curve": None, "features": None}
    page = browse(comparison_report(found))
    names = page.locator("table").first.locator("tbody tr td:nth-child(2)")
    heading = page.get_by_role("columnheader", name="features")
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert [text.strip()[:7] for text in names.all_inner_texts()] == ["method0", "method1", "method2", "method3"]
    heading.get_by_role("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert [text.strip()[:7] for text in names.all_inner_texts()] == ["method2", "method1", "method0", "method3"]
    other = page.get_by_role("columnheader", name="method", exact=True).first
    other.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") is None
    assert quiet(page)


def test_a_comparison_is_drawn_with_its_data(comparison, browse):
    page = browse(comparison_report(comparison(9)), width=390)
    assert min(page.evaluate(PAINTED)) > 500
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    figure = chart_of(page, "Accuracy against stability")
    _, rows = downloaded(page, figure.locator("button.csv"))
    assert [row["number"] for row in rows] == [str(k + 1) for k in range(9)]
    assert float(rows[2]["accuracy"]) == pytest.approx(0.8)
    place = figure.locator(".chart")
    place.scroll_into_view_if_needed()
    assert quiet(page)


def test_the_table_of_a_comparison_is_not_clipped_on_a_screen(comparison, browse):
    found = comparison(9)
    found["entries"][8]["model"] = "perceptron"
    found["entries"][0]["method"] = "screen:mutual_info(fading=0.999, n_bins=10)"
    page = browse(comparison_report(found), width=1400)
    region = page.get_by_role("region", name="All methods")
    assert region.evaluate("(e) => e.scrollWidth - e.clientWidth") <= 0
    assert region.evaluate("(e) => e.clientWidth") > 1000
    for entry in found["entries"]:  # as of a generated stream, with a remark
        entry |= {"selection_accuracy": 0.75}
    found["entries"][7] |= {"method": "majority", "kind": "baseline", "model": None}
    for width in (1400, 1290, 1150, 1050):
        page = browse(comparison_report(found), width=width)
        region = page.get_by_role("region", name="All methods")
        assert "below the most frequent class" in region.inner_text()
        assert region.evaluate("(e) => e.scrollWidth - e.clientWidth") <= 0, width


def test_contents_lead_to_sections_that_fold(comparison, browse):
    page = browse(comparison_report(comparison(4)), width=1300)
    contents = page.get_by_role("navigation", name="Contents")
    assert [link.strip() for link in contents.locator("#contents-list > ol > li > a").all_inner_texts()] == [
        "The ranking",
        "Are the differences real?",
        "What it costs",
    ]
    fold = page.get_by_role("button", name="What it costs")
    body = page.locator("section", has=fold).locator(".body")
    fold.press("Enter")
    assert fold.get_attribute("aria-expanded") == "false"
    assert not body.is_visible()
    contents.get_by_role("link", name="What it costs").press("Enter")  # opens it again and goes there
    assert body.is_visible()
    page.wait_for_function("() => document.querySelector('.contents a[aria-current]')?.textContent === 'What it costs'")
    box = contents.bounding_box()
    assert box["y"] >= 0  # it has stayed on the screen
    page.get_by_role("button", name="Collapse all").click()
    assert not page.locator("main figure").first.is_visible()
    page.get_by_role("button", name="Expand all").click()
    assert min(page.evaluate(PAINTED)) > 500
    assert quiet(page)


def test_keys_go_from_section_to_section_and_through_the_contents(comparison, browse):
    page = browse(comparison_report(comparison(4)), width=1300)
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    for heading in ("The ranking", "Are the differences real?", "What it costs", "What it costs"):
        page.keyboard.press("Alt+ArrowDown")
        assert page.evaluate("() => document.activeElement.textContent") == heading
    page.keyboard.press("Alt+ArrowUp")
    assert page.evaluate("() => document.activeElement.textContent") == "Are the differences real?"
    page.locator("#contents-list a").first.focus()
    page.keyboard.press("End")
    assert page.evaluate("() => document.activeElement.tagName") == "A"
    last = page.evaluate("() => document.activeElement.textContent")
    page.keyboard.press("Home")
    assert page.evaluate("() => document.activeElement.textContent") == "The ranking" != last
    assert quiet(page)


def test_on_a_phone_the_contents_are_a_bar_that_opens(comparison, browse):
    page = browse(comparison_report(comparison(4)), width=390)
    toggle, links = page.locator("#contents-toggle"), page.locator("#contents-list")
    assert toggle.is_visible()
    assert not links.is_visible()
    toggle.click()
    links.get_by_role("link", name="What it costs").click()
    assert not links.is_visible()
    page.wait_for_function("() => document.getElementById('contents-here').textContent === 'What it costs'")
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert quiet(page)


def test_the_recommendation_can_be_copied_from_a_file(comparison, browse):
    found = comparison(3, recommended="method0 + naive_bayes", verdict="use", n_features_to_select=5)
    found["entries"][0]["method"] = "screen:t_score"
    page = browse(comparison_report(found), width=390)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.get_by_role("button", name="Copy: In the shell")
    button.click()
    page.wait_for_function("(e) => e.textContent === 'Copied'", arg=button.element_handle())
    wanted = "streamsift select plant.csv --target alarm --method screen:t_score -k 5 --out run/"
    assert page.evaluate("() => navigator.clipboard.readText()") == wanted
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert quiet(page)


LABELS = """() => {
    const plot = Bokeh.documents[0].roots().find((root) => root.select_one("labels"));
    const {x, y, text, dx, dy} = plot.select_one("labels").data;
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = "12px " + getComputedStyle(document.body).fontFamily;
    const at = (v, range, length) => (v - range.start) / (range.end - range.start) * length;
    return Array.from(text, (words, k) => {
        const left = at(x[k], plot.x_range, plot.inner_width) + dx[k];
        const middle = plot.inner_height - at(y[k], plot.y_range, plot.inner_height) + dy[k];
        return [words, left, middle - 7, left + pen.measureText(words).width, middle + 7];
    });
}"""


@pytest.mark.parametrize("width", [1300, 390])
def test_names_beside_the_dots_avoid_each_other(comparison, browse, width):
    found = comparison(9)
    for k, entry in enumerate(found["entries"]):  # three heaps of three
        entry |= {"accuracy": 0.9 - 0.1 * (k // 3) - 0.002 * (k % 3), "stability": 0.5 + 0.01 * (k % 3)}
    page = browse(comparison_report(found), width=width)
    boxes = [box for box in page.evaluate(LABELS) if box[0]]
    assert len(boxes) >= 6
    assert boxes[0][0] == "1 method0"  # on the front
    for k, (_, left, top, right, bottom) in enumerate(boxes):
        for _, other_left, other_top, other_right, other_bottom in boxes[:k]:
            assert right <= other_left or left >= other_right or bottom <= other_top or top >= other_bottom
    assert quiet(page)


def test_the_view_of_a_feature_says_why(make_trace, browse):
    selector = Screener(n_features_to_select=1).partial_fit(np.arange(60.0).reshape(20, 3) % 7, np.arange(20) % 2)
    trace = make_trace(np.array([selector.scores_] * 3), k=1)
    trace = replace(trace, result={"why": [why.as_dict() for why in selector.explain_leaders()]})
    page = browse(trace_page(trace), width=390)
    assert page.locator("article .why").count() == 3
    page.locator("td button.open").first.click()
    page.wait_for_selector("#feature[data-shown]")
    assert page.locator("#feature-why").inner_text().startswith(page.locator("#feature-name").inner_text())
    assert page.locator("#feature-why svg rect").count() > 0
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert quiet(page)


def test_hard_names_are_text(make_trace, browse):
    names = [NASTY, 'comma, "quote"\nline', "Überfüllung 🚰 温度 with forty characters!!", "d"]
    scores = np.array([[np.inf, 3, 2, 1], [4, 3, 2, -np.inf]])
    page = browse(trace_page(make_trace(scores, k=4, names=names)), width=390)
    assert NASTY in first_tooltip(page, chart_of(page, "The selection over time").locator(".chart"))
    assert page.locator("img").count() == 0  # looks into shadow trees too
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    _, rows = downloaded(page, chart_of(page, "Scores of all features").locator("button.csv"))
    assert {row["feature"] for row in rows} == set(names)
    assert {row["score"] for row in rows} >= {"Infinity", "-Infinity"}
    page.locator("td button.open").first.click()
    page.wait_for_selector("#feature[data-shown]")
    assert page.locator("#feature-name").inner_text().split() == names[0].split()
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert quiet(page)


def test_a_download_holds_no_formulas(make_trace, browse):
    formulas = ["=1+1", "+a", "-a", "@a", "\ta", "\ra"]
    plain = ["-1.5e-3", "a=1", "'=", ""]
    scores = np.array([np.arange(10.0), -np.arange(10.0)])
    page = browse(trace_page(make_trace(scores, k=4, names=[*formulas, *plain])))
    _, rows = downloaded(page, chart_of(page, "Scores of all features").locator("button.csv"))
    assert {row["feature"] for row in rows} == {f"'{name}" for name in formulas} | set(plain)
    assert {"-3", "3"} <= {row["score"] for row in rows}
    assert quiet(page)


def test_columns_and_instances_are_drawn(browse):
    columns = test_decisions.recorded(
        [test_decisions.Decision(f"x{k}", k % 3 == 0, (), float(k + 1), 4.0, 0.5, 0.5) for k in range(30)]
    )
    for trace, n_charts in ((columns, 4), (test_purchases.traced(), 3)):
        page = browse(trace_page(trace), width=390)
        painted = page.evaluate(PAINTED)
        assert len(painted) == n_charts
        assert min(painted) > 500
        assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
        assert quiet(page)


def test_it_prints(judged_page, browse, tmp_path):
    page = browse(judged_page, dark=True)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("button.csv").first.is_visible()
    path = tmp_path / "page.pdf"
    page.pdf(path=path)
    assert path.read_bytes().startswith(b"%PDF")
    assert quiet(page)


# What a printer is given: the colours of a chart's canvases as soon as the media change, within the same moment.
PRINTED = """() => matchMedia("print").addEventListener("change", () => {
    const roots = [document.querySelector("main .chart")], found = new Set();
    while (roots.length) for (const e of roots.pop().querySelectorAll("*")) {
        if (e.shadowRoot) roots.push(e.shadowRoot);
        if (e.tagName === "CANVAS" && e.width && !e.getContext("webgl")) {
            const data = e.getContext("2d").getImageData(0, 0, e.width, e.height).data;
            for (let k = 0; k < data.length; k += 4)
                if (data[k + 3] === 255) found.add([...data.slice(k, k + 3)].join());
        }
    }
    window.printed = [...found];
})"""


def test_charts_of_a_dark_page_are_printed_on_white_paper(judged_page, browse):
    page = browse(judged_page, width=1300, dark=True)
    page.evaluate(PRINTED)
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_function("() => window.printed")
    printed = page.evaluate("() => window.printed")
    assert "0,114,178" in printed  # --series-0 in light
    assert "92,179,232" not in printed  # and in dark


def test_the_button_for_all_sections_says_what_it_will_do(comparison, browse):
    page = browse(comparison_report(comparison(3)), width=1300)
    for button in page.locator("button.fold").all():
        button.click()
    page.get_by_role("button", name="Expand all").click()
    assert page.locator("button.fold[aria-expanded=false]").count() == 0
    assert page.get_by_role("button", name="Collapse all").is_visible()
