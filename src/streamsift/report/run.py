"""The report of a run, or of several runs side by side: which sections, which words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from streamsift.report.figures import detection_chart, lanes_chart, scores_chart
from streamsift.report.page import Bar, Section, Table, number, render


def run_report(title: str, lead: str, runs: Sequence[dict[str, Any]]) -> str:
    """Return the HTML report of one or more runs.

    Parameters
    ----------
    title, lead : str
        The heading of the page and the sentence below it.
    runs : sequence of dict
        Each run as `summarize` gives it.

    Returns
    -------
    str
        A complete page that needs no other file and no network.

    Examples
    --------
    >>> import tempfile
    >>> from streamsift import Screener
    >>> from streamsift.evaluate.follow import follow
    >>> from streamsift.evaluate.trace import Trace, TraceWriter
    >>> from streamsift.report.summarize import summarize
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", rows=300, seed=0, n_features=10, n_relevant=2, shift_every=100)
    >>> path = f"{tempfile.mkdtemp()}/trace.parquet"
    >>> with TraceWriter(path, {"method": "screen:t_score"}) as writer:
    ...     for step in follow(stream, Screener(n_features_to_select=2), batch_size=100):
    ...         writer.append(step)
    >>> page = run_report("A drift", "Two of ten features are true.", [summarize(Trace.read(path), "t-score")])
    >>> page[:15]
    '<!doctype html>'
    """
    sections = []
    judged = [run for run in runs if run["detection"] is not None]
    if judged:
        facts = [
            (f"{run['detection']['mean_second_half']:.0%}", f"{run['name']}, mean over the second half")
            for run in judged
        ]
        sections.append(Section("Are the true features found?", facts, [detection_chart(judged)]))
    sections += [_section(run, alone=len(runs) == 1) for run in runs]
    return render(title, lead, sections)


def _section(run: dict[str, Any], alone: bool) -> Section:
    facts = [
        (f"{run['n_rows']:,}", "rows"),
        (f"{run['n_features']:,}", "features"),
        (f"{len(run['selected']):,}", "selected"),
        (_duration(run["seconds"]), "reading and learning"),
    ]
    charts = [scores_chart(run["scores"]), lanes_chart(run["lanes"])]
    return Section("The run" if alone else run["name"], facts, charts, [_selected(run), _settings(run)])


def _duration(seconds: float) -> str:
    """Seconds, minutes or hours, whichever reads best.

    >>> _duration(0.4), _duration(75), _duration(7260)
    ('0.4 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _selected(run: dict[str, Any]) -> Table:
    rows = run["selected"]
    best = max((row["score"] for row in rows if row["score"] is not None and math.isfinite(row["score"])), default=0.0)
    known = run["lanes"]["true_features_known"]
    columns = ["rank", "feature", "score", "time selected"] + (["true feature"] if known else [])
    cells: list[list[str | Bar]] = []
    for row in rows:
        line: list[str | Bar] = [str(row["rank"]), row["name"], _score_bar(row["score"], best)]
        line.append(Bar(f"{row['share']:.0%}", row["share"]))
        cells.append(line + (["yes" if row["relevant"] else "no"] if known else []))
    note = (
        "Higher scores are more relevant. Time selected is the share of the rows during which a feature was selected."
    )
    return Table("Selected features", columns, cells, note, frozenset({"rank"}))


def _score_bar(score: float | None, best: float) -> Bar:
    if score is None:
        return Bar("–", 0.0)
    length = 1.0 if math.isinf(score) and score > 0 else score / best if best > 0 else 0.0
    return Bar(number(score), min(max(length, 0.0), 1.0))


def _settings(run: dict[str, Any]) -> Table:
    rows: list[list[str | Bar]] = [[key.replace("_", " "), str(value)] for key, value in run["settings"].items()]
    return Table("Settings", ["setting", "value"], rows)
