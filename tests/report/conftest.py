"""Traces built by hand, so that the tests know what a report must say about them, and a browser to look at pages."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from streamsift.core.selection import Selection, rank_scores
from streamsift.report.trace_page import trace_page
from streamsift.runs.row_trace import RowTraceWriter
from streamsift.runs.rows import RowStep, Snapshot
from streamsift.runs.run import Run
from streamsift.runs.trace import Trace

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def make_trace(tmp_path_factory):
    """A function from a matrix of scores (one row per snapshot) to a Trace."""

    def make(scores, *, k=2, names=None, relevant=None, drifting=None, rows=None, target=""):
        path = tmp_path_factory.mktemp("trace") / "trace.parquet"
        with RowTraceWriter(path, Run("screen:t_score", target=target)) as writer:
            for line, values in enumerate(np.asarray(scores, float)):
                chosen = rank_scores(values)[:k]
                labels = names or [f"x{i}" for i in range(len(values))]
                row = (line + 1) * 100 if rows is None else rows[line]
                selection = Selection(chosen, tuple(labels[i] for i in chosen), values[chosen], len(values), row)
                true = None if relevant is None else np.array(relevant[line], np.intp)
                moves = False if drifting is None else drifting[line]
                writer.append(RowStep(row, row / 1000, None, Snapshot(selection, values, labels, true, moves)))
        return Trace.read(path)

    return make


@pytest.fixture(scope="session")
def drifting_trace(make_trace):
    """Forty snapshots of ten features; the two best are 0 and 1 at first and move on by one every five."""
    rng = np.random.default_rng(1)
    first = [step // 5 for step in range(40)]
    scores = rng.random((40, 10))
    for line, start in enumerate(first):
        scores[line, start : start + 2] += 3 - 0.5 * np.arange(2)
    return make_trace(
        scores,
        relevant=[[start, start + 1] for start in first],
        drifting=[step % 5 == 0 for step in range(40)],
        names=[f"sensor_{k}" for k in range(10)],
    )


@pytest.fixture(scope="session")
def judged_trace(drifting_trace):
    """The same run with the measures of a judged one; only every second step has a snapshot, and the last."""
    table, n = drifting_trace.table, len(drifting_trace)
    steps = np.arange(1, n + 1)
    measures = {
        "drift_found": steps % 10 == 3,
        "accuracy": steps / (n + 1),
        "window_accuracy": 0.5 + 0.01 * steps,
        "stability": [None, *np.linspace(0.5, 1.0, n - 1)],
        "selection_seconds": 0.01 * steps,
        "learner_seconds": 0.03 * steps,
        "memory": np.full(n, 2048),
        "peak_memory": np.full(n, 4096),
    }
    for name, values in measures.items():
        column = pa.array(values)
        places = table.column_names
        table = (
            table.set_column(places.index(name), name, column) if name in places else table.append_column(name, column)
        )
    taken = [k % 2 == 1 for k in range(n)]
    for name in ("indices", "scores", "selected", "relevant"):
        kept = [value if kept else None for value, kept in zip(table[name].to_pylist(), taken, strict=True)]
        table = table.set_column(table.column_names.index(name), name, pa.array(kept, table[name].type))
    return replace(drifting_trace, table=table)


@pytest.fixture(scope="session")
def judged_page(judged_trace):
    """The report of the judged run."""
    return trace_page(judged_trace)


@pytest.fixture
def unpack():
    """A function from a page to what its script unpacks."""

    def read(html):
        text = re.search(r'<script type="text/plain" id="pack">([^<]*)</script>', html).group(1)
        return json.loads(zlib.decompress(base64.b64decode(text)))

    return read


@pytest.fixture
def comparison():
    """A function that makes a comparison of n methods, as `Comparison.as_dict` gives it."""

    def make(n=4, **changes):
        names = [f"method{k} + naive_bayes" for k in range(n)]
        entries = [_entry(name, k, n) for k, name in enumerate(names)]
        ranks = {name: 1 + 0.8 * k for k, name in enumerate(names)}
        tests = {
            "kind": "over streams",
            "n": 3,
            "level": 0.05,
            "pairs": [
                {
                    "first": first,
                    "second": second,
                    "difference": 0.05,
                    "low": 0.01,
                    "high": 0.09,
                    "p": 0.01,
                    "p_adjusted": 0.02,
                    "verdict": "better",
                    "sentence": f"{first} is better than {second}",
                }
                for first, second in combinations(names, 2)
            ],
            "average_ranks": ranks,
            "critical_difference": 1.2,
            "groups": [names[:2], names[2:]],
            "sentence": "The methods differ (p = 0.01).",
        }
        found = {
            "data": "plant.csv",
            "target": "alarm",
            "n_rows": 2000,
            "n_features": 60,
            "n_classes": 2,
            "repeats": 3,
            "batch_size": 100,
            "complete": True,
            "left_out": [],
            "entries": entries,
            "tests": tests,
            "recommendation": "Use method0. It is the best.",
        }
        return found | changes

    return make


def _entry(name, k, n):
    rows = [100 * (step + 1) for step in range(20)]
    accuracy = 0.9 - 0.05 * k
    return {
        "method": name.split(" + ")[0],
        "model": "naive_bayes",
        "kind": "rows",
        "protocol": "prequential",
        "name": name,
        "rank": k + 1,
        "on_front": k == 0,
        "accuracy": accuracy,
        "accuracy_sd": 0.01,
        "balanced_accuracy": accuracy,
        "kappa": 2 * accuracy - 1,
        "log_loss": 0.4,
        "f1": accuracy,
        "stability": (k + 1) / (n + 1),
        "features": 5.0 + k,
        "rows_per_second": 1000.0 * 10**k,
        "memory": 2048.0,
        "ram_hours": 1e-9,
        "seconds": 1.5,
        "selection_accuracy": None,
        "accuracies": [accuracy] * 3,
        "failures": [],
        "cost": None,
        "trace": None,
        "curve": {
            "rows": rows,
            "accuracy": [accuracy] * 20,
            "stability": [None, *[0.5] * 19],
            "n_selected": [5] * 20,
            "drift_found": [],
        },
    }


@pytest.fixture(scope="session")
def chromium():
    """Headless Chromium, driven by Playwright."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="skipped: playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("skipped: chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def browse(chromium, tmp_path):
    """A function that opens a page; the page carries what went wrong as `troubles` and what it fetched as `fetched`."""
    contexts = []

    def open_page(html, *, width=1200, dark=False):
        path = tmp_path / "report.html"
        path.write_text(html, "utf-8")
        scheme = "dark" if dark else "light"
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.troubles, page.fetched = [], []
        page.on("console", lambda message: message.type in ("error", "warning") and page.troubles.append(message.text))
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on("request", lambda request: page.fetched.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-drawn]", timeout=30_000)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def browse_raw(chromium):
    """A function that opens HTML that is not a page of the report; `troubles` is what went wrong."""
    contexts = []

    def open_page(html):
        context = chromium.new_context(viewport={"width": 1000, "height": 900}, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.troubles = []
        page.on("console", lambda message: message.type == "error" and page.troubles.append(message.text))
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.set_content(html)
        return page

    yield open_page
    for context in contexts:
        context.close()
