"""Draw the pictures of the README: the terminal during `streamsift demo`, moving, and the top of its report.

    python docs/pictures.py

Writes terminal.svg and, where Playwright and Chromium are installed, report.png into docs/images. The terminal is drawn
by what draws it in a terminal; its frames lie on top of each other, and a style sheet shows one after the other.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.terminal_theme import MONOKAI

from streamsift.cli.demo import Race, _side_by_side, demo
from streamsift.cli.display import RunView

IMAGES = Path(__file__).resolve().parent / "images"
COLUMNS = 96
EVERY = 6  # batches between two frames
SECONDS = 0.5  # per frame
CHAR_WIDTH, LINE_HEIGHT, MARGIN, TITLE = 12, 26, 18, 64
PAGE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>streamsift demo: a selector with fading follows the true features, one without does not</title>
<style>
text {{ font: 20px ui-monospace, Menlo, Consolas, monospace; white-space: pre; }}
.frame {{ visibility: hidden; animation: show {length}s step-end infinite; }}
@keyframes show {{ 0% {{ visibility: visible; }} {share}% {{ visibility: hidden; }} }}
@media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none; }} .last {{ visibility: visible; }} }}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#1b1f27"/>
<text x="{margin}" y="30" fill="#9aa5b1">$ streamsift demo</text>
<g transform="translate({margin}, {title})">
{frames}
</g>
</svg>
"""


def frame(view: RunView) -> list[str]:
    """The lines of one frame, as elements of SVG: one for each run of characters of one colour."""
    console = Console(width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    lines = []
    for number, segments in enumerate(console.render_lines(view.render(), pad=False)):
        spans, column = [], 0
        for colour, run in groupby(segments, key=colour_of):
            text = "".join(segment.text for segment in run)
            if text.strip():
                spans.append(f'<tspan x="{column * CHAR_WIDTH:g}" fill="{colour}">{escape(text)}</tspan>')
            column += cell_len(text)
        lines.append(f'<text y="{number * LINE_HEIGHT:g}">{"".join(spans)}</text>')
    return lines


def colour_of(segment: Segment) -> str:
    """The colour of a piece of text as a web page writes it."""
    style = segment.style
    if style is None or style.color is None:
        return "#6b7480" if style is not None and style.dim else "#dfe3e8"
    return style.color.get_truecolor(MONOKAI).hex


def terminal() -> str:
    """The demo as an SVG that moves."""
    view, frames = RunView(Race()), []
    for number, steps in enumerate(_side_by_side(seed=0)):
        for step in steps:
            view.update(replace(step, seconds=0.0))  # no rows per second: they are not those of the reader's machine
        if number % EVERY == EVERY - 1:
            frames.append(frame(view))
    groups = [
        f'<g class="frame{" last" if number == len(frames) - 1 else ""}" style="animation-delay:{number * SECONDS}s">'
        f"{''.join(lines)}</g>"
        for number, lines in enumerate(frames)
    ]
    return PAGE.format(
        width=round(COLUMNS * CHAR_WIDTH + 2 * MARGIN),
        height=round(TITLE + max(map(len, frames)) * LINE_HEIGHT + MARGIN),
        length=len(frames) * SECONDS,
        share=round(100 / len(frames), 3),
        frames="\n".join(groups),
        margin=MARGIN,
        title=TITLE,
    )


def report(path: Path) -> bool:
    """The top of the demo's report, if there is a browser to draw it."""
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return False
    if browser_path is None:
        return False
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        demo.main(["--out", folder], standalone_mode=False)
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 820})
        page.goto((Path(folder) / "report.html").as_uri())
        page.wait_for_timeout(1500)
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    picture.convert("RGB").quantize(48).save(path, optimize=True)
    return True


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "terminal.svg").write_text(terminal(), encoding="utf-8")
    if not report(IMAGES / "report.png"):
        sys.exit("There is no Playwright or no Chromium: report.png stays as it is.")
