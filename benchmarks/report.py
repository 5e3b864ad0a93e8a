"""The report of a run of 10,000 steps and 500 features: to build it, draw it and scroll it in a browser, and its size.

The limits are ours (2 s, 2 s, 3 MB and the frames below), for no other package makes this page. Drawing is measured
from opening the file to the last chart, by the browser's own clock. Scrolling is the wheel turned from the top of the
page to its end, one notch of 100 pixels after the other, with the pointer above the charts; between two frames of a
smooth page lie 17 ms, and one that misses a frame now and then still looks smooth. Without Playwright or Chromium these
lines are left out.
"""

from __future__ import annotations

import importlib.util
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.table import Row, best_times
from streamsift.report.trace_page import trace_page
from streamsift.runs.row_trace import MEASURES
from streamsift.runs.run import Run
from streamsift.runs.trace import Trace

if TYPE_CHECKING:
    from playwright.sync_api import Page

STEPS, FEATURES, SELECTED = 10_000, 500, 20
BUILD_LIMIT, DRAW_LIMIT, SIZE_LIMIT = 2.0, 2.0, 3.0  # seconds, seconds, megabytes
FRAME_LIMIT, STALL_LIMIT = 34.0, 100.0  # milliseconds: 95 of 100 frames come after at most one missed, none stalls
NOTCH, PAUSE = 100, 20  # pixels a notch of the wheel, milliseconds between two
WATCH_FRAMES = """() => {
    window.frames_at = [];
    const note = (now) => { window.frames_at.push(now); requestAnimationFrame(note); };
    requestAnimationFrame(note);
}"""


def run(quick: bool) -> list[Row]:
    """Measure; `quick` takes a tenth of the steps."""
    steps = STEPS // 10 if quick else STEPS
    trace = _trace(steps)
    page = trace_page(trace)
    note = f"{steps:,} steps, {FEATURES} features"
    (built,) = best_times(lambda: trace_page(trace), repeats=2 if quick else 4)
    rows = [Row("build the page", built, BUILD_LIMIT, "limit", BUILD_LIMIT / built, 1.0, "s", note)]
    seen = _browse(page, 2 if quick else 5)
    if seen is not None:
        drawn, frame, stall = seen
        rows += [
            Row("open to drawn, in Chromium", drawn, DRAW_LIMIT, "limit", DRAW_LIMIT / drawn, 1.0, "s", note),
            Row("scrolling: 95 % of frames within", frame, FRAME_LIMIT, "limit", FRAME_LIMIT / frame, 1.0, "ms", note),
            Row("scrolling: longest frame", stall, STALL_LIMIT, "limit", STALL_LIMIT / stall, 1.0, "ms", note),
        ]
    size = len(page.encode()) / 1e6
    return [*rows, Row("size of the page", size, SIZE_LIMIT, "limit", SIZE_LIMIT / size, 1.0, "MB", note)]


def _trace(steps: int) -> Trace:
    """A judged run with true features that move on and noise in all scores, which is the hardest to compress."""
    rng = np.random.default_rng(0)
    step = np.arange(1, steps + 1)
    first = (step * 10 // (steps + 1)).astype(int)  # ten shifts
    scores = np.abs(rng.normal(0, 0.3, (steps, FEATURES)))
    for k in range(SELECTED):
        scores[np.arange(steps), first + k] += 3.0
    chosen = np.argsort(-scores, axis=1)[:, :SELECTED]
    relevant = first[:, None] + np.arange(SELECTED)
    columns = {
        "row": pa.array(50 * step),
        "seconds": pa.array(0.001 * step),
        "indices": _lists(np.tile(np.arange(FEATURES), (steps, 1)), pa.int32()),
        "scores": _lists(scores, pa.float64()),
        "selected": _lists(chosen, pa.int32()),
        "relevant": _lists(relevant, pa.int32()),
        "drifting": pa.array(np.diff(first, prepend=0) > 0),
    }
    for name, kind in MEASURES.items():
        values = rng.random(steps) if pa.types.is_floating(kind) else rng.integers(0, 2, steps)
        columns[name] = pa.array(values).cast(kind)
    names = {k: f"sensor_{k}" for k in range(FEATURES)}
    return Trace(pa.table(columns), Run("fires", data="plant.csv", target="alarm"), names, FEATURES)


def _lists(values: np.ndarray, kind: pa.DataType) -> pa.Array:
    starts = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
    return pa.ListArray.from_arrays(pa.array(starts), pa.array(values.ravel(), kind))


def _browse(page: str, repeats: int) -> tuple[float, float, float] | None:
    """Of several openings the best time to drawn in seconds, the median of the 95 % frame and of the longest in ms."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None or importlib.util.find_spec("playwright") is None:
        return None
    from playwright.sync_api import sync_playwright

    drawn, frames, stalls = [], [], []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        path.write_text(page, "utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(repeats):
            tab = browser.new_page(viewport={"width": 1200, "height": 900})
            tab.goto(path.as_uri())
            tab.wait_for_selector("body[data-drawn]")
            drawn.append(int(tab.get_attribute("body", "data-drawn")) / 1000)
            frame, stall = _scroll(tab)
            frames.append(frame)
            stalls.append(stall)
            tab.close()
        browser.close()
    return min(drawn), statistics.median(frames), statistics.median(stalls)


def _scroll(tab: Page) -> tuple[float, float]:
    """Turn the wheel from the top of the page to its end; the 95th percentile and the longest of the frames' times."""
    height = tab.evaluate("document.documentElement.scrollHeight - window.innerHeight")
    tab.mouse.move(600, 450)
    tab.evaluate(WATCH_FRAMES)
    for _ in range(height // NOTCH + 1):
        tab.mouse.wheel(0, NOTCH)
        tab.wait_for_timeout(PAUSE)
    if tab.evaluate("window.scrollY") < height - 1:
        raise RuntimeError("The wheel did not reach the end of the page: something on it takes the wheel for itself.")
    gaps = np.diff(tab.evaluate("window.frames_at"))
    return float(np.quantile(gaps, 0.95)), float(gaps.max())
