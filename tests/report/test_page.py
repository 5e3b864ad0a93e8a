"""The HTML page: one file, nothing fetched, every chart in words too; and in a real browser without errors."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from streamsift.report.figures import lanes_chart, scores_chart
from streamsift.report.reproduction import reproduction_report
from streamsift.report.run import run_report
from streamsift.report.summarize import summarize

NASTY = "</script><script>alert(1)</script>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page(HTMLParser):
    """Collects the tags, the attributes and the visible text of a page."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self._inside = [], "", ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.text += data

    def all(self, tag, kind=None):
        return [a for t, a in self.tags if t == tag and (kind is None or kind in a.get("class", "").split())]


@pytest.fixture
def page(drifting_trace):
    runs = [summarize(drifting_trace, "with fading"), summarize(drifting_trace, "no fading")]
    return run_report("people.csv", "What tells the most.", runs)


RESULT = {
    "title": "Figure 3",
    "lead": "Detection rates.",
    "note": "The paper prints no numbers.",
    "columns": ["l", "score", "rate@100"],
    "rows": [["250", "t_score", "0.500"]],
    "x_label": "selected features",
    "dashed_means": "without fading",
    "panels": [
        {
            "title": "A shift every 250 rows",
            "reading": "More with fading.",
            "alt": "Curves.",
            "curves": [
                {"name": "t", "colour_by": "t_score", "dashed": False, "x": [100.0, 200.0], "y": [0.5, 0.7]},
                {"name": "t plain", "colour_by": "t_score", "dashed": True, "x": [100.0, 200.0], "y": [0.3, 0.4]},
            ],
        }
    ],
}


def test_nothing_is_loaded_from_elsewhere(page):
    parsed = Page(page)
    for tag, attributes in parsed.tags:
        assert "src" not in attributes, tag
        assert attributes.get("href", "data:").startswith("data:"), tag
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    policy = next(a["content"] for a in parsed.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_every_chart_has_a_title_a_reading_and_alt_text(page):
    parsed = Page(page)
    charts = parsed.all("div", "chart")
    assert len(charts) == 5  # detection, then scores and lanes of two runs
    assert len(parsed.all("figcaption")) == len(parsed.all("figure")) == 5
    assert all(chart["role"] == "img" and len(chart["aria-label"]) > 20 for chart in charts)


def test_the_table_and_the_settings_are_on_the_page(page):
    text = Page(page).text
    for words in ("people.csv", "sensor_8", "screen:t_score", "mean over the second half", "4,000", "true feature"):
        assert words in text
    assert 'lang="en"' in page
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_a_run_without_true_features_says_nothing_about_them(make_trace):
    html = run_report("data", "lead", [summarize(make_trace([[1, 2, 3], [3, 2, 1]]), "run")])
    assert "true feature" not in Page(html).text
    assert len(Page(html).all("div", "chart")) == 2


def test_names_from_the_data_cannot_become_markup(make_trace):
    trace = make_trace([[1, 2, 3]] * 2, names=["a", NASTY, "$$x$$"], settings={"target": NASTY})
    html = run_report(NASTY, NASTY, [summarize(trace, NASTY)])
    assert NASTY not in html
    assert NASTY in Page(html).text
    assert len(Page(html).all("script")) == 3


def test_charts_say_what_they_leave_out():
    lane = {"index": 0, "name": "a", "selected": [(0, 10)], "relevant": []}
    chart = lanes_chart({"features": [lane], "n_ever_selected": 4, "drift": [], "true_features_known": False})
    assert "3 more features" in chart.reading
    scores = {"rows": [1], "leaders": [{"name": "a", "values": [None]}], "others": [], "infinite": ["a"]}
    assert "perfect separation" in scores_chart(scores).reading


def test_a_reproduction_has_panels_a_table_and_the_note():
    parsed = Page(reproduction_report(RESULT))
    assert len(parsed.all("div", "chart")) == 1
    for words in ("Figure 3", "0.500", "The paper prints no numbers.", "without fading", "A shift every 250 rows"):
        assert words in parsed.text


@pytest.fixture
def browse(tmp_path):
    """A function that opens a page in headless Chromium; it returns the finished document and the console's lines."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")

    def open_page(html, width=1200):
        path = tmp_path / "report.html"
        # The script reports at the end how much of each canvas is painted: shadow trees are not in a dumped document.
        probe = """<script>setTimeout(() => {
            const roots = [document]; let found = [];
            while (roots.length) { for (const e of roots.pop().querySelectorAll("*")) {
                if (e.shadowRoot) roots.push(e.shadowRoot);
                if (e.tagName === "CANVAS" && e.width) {
                    const d = e.getContext("2d").getImageData(0, 0, e.width, e.height).data;
                    found.push(d.filter((v, i) => i % 4 === 3 && v > 0).length);
                } } }
            document.body.dataset.painted = JSON.stringify(found);
            document.body.dataset.overflow = document.documentElement.scrollWidth - innerWidth;
        }, 2500)</script></body>"""
        path.write_text(html.replace("</body>", probe), "utf-8")
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
        command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        command += [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},1200", "--enable-logging=stderr"]
        command += ["--virtual-time-budget=6000", "--dump-dom", path.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    return open_page


def test_it_draws_in_a_real_browser(page, browse):
    document, console = browse(page)
    painted = [int(n) for n in re.search(r'data-painted="\[([^"]*)\]"', document).group(1).split(",")]
    assert sum(count > 1000 for count in painted) >= 5
    # The browser's own words, and those of bokeh, which begins its lines with its name.
    assert not [line for line in console if "bokeh" not in line or "error" in line.lower()], console


def test_it_fits_a_phone(page, browse):
    document, _ = browse(page, width=500)  # the narrowest window headless Chromium opens
    assert int(re.search(r'data-overflow="(-?\d+)"', document).group(1)) <= 0
