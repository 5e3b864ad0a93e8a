"""The report of a comparison: the recommendation, the ranked table, and the charts that say why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streamsift.comparison.kinds import is_baseline
from streamsift.report.advice import card
from streamsift.report.chart import Chart
from streamsift.report.numbers import joined_failures
from streamsift.report.over_time import (
    MEAN_SO_FAR,
    MOST_FREQUENT,
    Reference,
    accuracy_chart,
    error_chart,
    stability_chart,
)
from streamsift.report.page import Cell, Section, Table, render
from streamsift.report.quality import cost_charts, differences_chart, ranks_chart
from streamsift.report.ranking import cost_table, labels, learners, majority, quality_table
from streamsift.report.run import run_section, why_sections
from streamsift.report.summarize import summarize
from streamsift.report.trade import trade_chart
from streamsift.runs.trace import Trace

Entry = dict[str, Any]

# How each kind of method was judged; figures of two protocols are about different rows.
JUDGED = {
    "prequential": "Each batch is predicted first and learnt afterwards, row by row through the stream.",
    "columns": "The columns are offered on the first half of the rows, and a learner is judged on the second.",
    "instances": "Learnt on the first half of the rows, judged on the second; features are those bought per row.",
}


def comparison_report(comparison: dict[str, Any], folder: Path | None = None, first: Sequence[Section] = ()) -> str:
    """Return the HTML report of a comparison.

    Parameters
    ----------
    comparison : dict
        As `Comparison.as_dict()` gives it and comparison.json holds it.
    folder : path, optional
        Where the traces lie that the entries name; that of the recommended one is shown feature by feature.
    first : sequence of Section
        What stands above the ranking.

    Returns
    -------
    str
        A complete page that needs no other file and no network.

    Examples
    --------
    >>> from streamsift.comparison.compare import compare
    >>> comparison = compare("generate:sea", methods=["screen:fisher", "random"], models=["nb"], repeats=1, n_rows=600)
    >>> comparison_report(comparison.as_dict())[:15]
    '<!doctype html>'
    """
    groups: dict[str, list[Entry]] = {}
    for entry in comparison["entries"]:
        groups.setdefault(entry.get("protocol", "prequential"), []).append(entry)
    sections = [*first]
    sections += [_group(name, entries, comparison, alone=len(groups) == 1) for name, entries in groups.items()]
    sections += _tested(comparison)
    if comparison.get("untested"):
        sections.append(Section("What was not tested", [], [], note=comparison["untested"]))
    ranked = [entry for entry in comparison["entries"] if entry["rank"] is not None]
    if ranked:
        called = labels(comparison["entries"])
        costs = cost_charts([entry | {"name": called[entry["name"]]} for entry in ranked])
        sections.append(Section("What it costs", [], costs, [cost_table(ranked)], columns=2))
    run = _shown_run(comparison, folder)
    if run is not None:
        sections += [run_section(run, 0, f"The run of {run['name']}"), *why_sections(run, 0)]
    sections += _troubles(comparison)
    grids = [] if run is None else [run["grid"]]
    return render(
        comparison["data"], _lead(comparison), sections, grids, card=card(comparison), notes=_notes(comparison)
    )


def _tested(comparison: dict[str, Any]) -> list[Section]:
    """A section for each protocol whose entries were tested; files of earlier versions have one test at most."""
    first = comparison["tests"]
    tests = comparison.get("tests_by_protocol", {} if first is None else {first.get("protocol", "prequential"): first})
    return [
        Section(
            "Are the differences real?" + (f" ({protocol})" if len(tests) > 1 else ""),
            charts=_test_charts(_labelled(test, labels(comparison["entries"]))),
            note=test["sentence"],
        )
        for protocol, test in tests.items()
    ]


def _test_charts(test: dict[str, Any]) -> list[Chart]:
    """The differences from the best entry, and the ranks where there are several streams to rank on."""
    charts = [differences_chart(test["pairs"])] if test.get("pairs") else []
    return charts + ([ranks_chart(test)] if test["average_ranks"] is not None else [])


def _labelled(test: dict[str, Any], called: dict[str, str]) -> dict[str, Any]:
    def label(name: str) -> str:
        return called.get(name, name)

    found = dict(test)
    found["pairs"] = [
        pair | {"first": label(pair["first"]), "second": label(pair["second"])} for pair in test.get("pairs", ())
    ]
    if test["average_ranks"] is not None:
        found["average_ranks"] = {label(name): rank for name, rank in test["average_ranks"].items()}
        found["groups"] = [[label(name) for name in group] for group in test["groups"]]
    return found


def _lead(comparison: dict[str, Any]) -> str:
    facts = [f"{comparison['n_rows']:,} rows", f"{comparison['n_features']:,} features"]
    facts.append("a number as target" if _numeric(comparison) else f"{comparison['n_classes']:,} classes")
    target = f" to predict {comparison['target']!r}," if comparison["target"] else ""
    times = comparison["repeats"]
    times = min(times, (comparison.get("budget") or {"repeats": times})["repeats"])
    repeats = {1: "once", 2: "twice"}.get(times, f"{times} times")
    judges = learners(comparison["entries"])
    judged = f", judged by {judges}" if judges else ""
    return (
        f"{len(comparison['entries'])} ways{target} side by side: {', '.join(facts)}, each run {repeats} in batches of "
        f"{comparison['batch_size']:,}{judged}."
    )


def _notes(comparison: dict[str, Any]) -> str:
    """What to know about the learners, the budget and the metric."""
    sentences = [judge["sentence"] for judge in comparison.get("judges", ())]
    sentences += [(comparison.get("budget") or {"sentence": ""})["sentence"], comparison.get("metric_sentence", "")]
    return " ".join(sentence for sentence in sentences if sentence)


def _group(protocol: str, entries: Sequence[Entry], comparison: dict[str, Any], *, alone: bool) -> Section:
    """The entries that were judged alike: their table, and how good and how stable they are."""
    everyone, metric = comparison["entries"], comparison.get("metric", "accuracy")
    called, chance = labels(everyone), majority(everyone)
    shown = [
        _finite(entry | {"number": entry["rank"], "label": called[entry["name"]]}, metric)
        for entry in entries
        if entry["rank"] is not None
    ]
    charts: list[Chart | None] = [trade_chart(shown, metric, chance)]
    curves = [entry for entry in shown if entry["curve"]]
    judged, chart_of = ("rmse", error_chart) if _numeric(comparison) else ("accuracy", accuracy_chart)
    lines = _lines([entry for entry in curves if chance is None or entry["name"] != chance["name"]], judged)
    if lines:
        reference = _reference(chance, comparison, lines[0][1][0], judged)
        charts.append(chart_of(lines, f"{'RMSE' if judged == 'rmse' else 'Accuracy'} over the latest steps", reference))
    stabilities = _lines(_by_method(curves), "stability")
    charts.append(stability_chart(stabilities) if stabilities else None)
    heading = "The ranking" if alone else f"The ranking: {protocol}"
    drawn = [chart for chart in charts if chart is not None]
    table = quality_table(entries, everyone, metric)
    present = {entry["method"].partition("(")[0] for entry in entries}
    known = [rival for rival in comparison.get("rivals", ()) if rival["method"] in present]
    tables = [table, *([_known_of(known)] if known else [])]
    return Section(heading, [], drawn, above=tables, note=JUDGED.get(protocol, ""))


def _known_of(rivals: Sequence[dict[str, str]]) -> Table:
    """What was measured elsewhere of methods that others often beat."""
    rows: list[list[str | Cell]] = [
        [one["method"], one["sentence"].removeprefix(f"{one['method']}: ")] for one in rivals
    ]
    return Table("What is known of these methods", ["method", "on other data"], rows)


def _by_method(entries: Sequence[Entry]) -> list[Entry]:
    """One entry per method where its learners do not change what is selected, called by the method alone."""
    found: list[Entry] = []
    for method in dict.fromkeys(entry["method"] for entry in entries):
        own = [entry for entry in entries if entry["method"] == method]
        alike = all(one["curve"].get("stability") == own[0]["curve"].get("stability") for one in own)
        found += [own[0] | {"label": method}] if alike else own
    return found


def _lines(entries: Sequence[Entry], key: str) -> list[Any]:
    """The curves of some entries, without those that have no value at all."""
    lines = [
        (entry["label"], entry["curve"]["rows"], _values(entry["curve"][key]))
        for entry in entries
        if entry["curve"].get(key)
    ]
    return [line for line in lines if any(value is not None for value in line[2])]


def _numeric(comparison: dict[str, Any]) -> bool:
    return bool(comparison.get("task") == "regression")


def _reference(chance: Entry | None, comparison: dict[str, Any], first_row: float, judged: str) -> Reference | None:
    """What the most frequent class reaches on the rows of a chart; without that baseline, one of so many classes."""
    if chance is not None and chance["curve"]:
        points = zip(chance["curve"]["rows"], _values(chance["curve"][judged]), strict=True)
        known = [(row, value) for row, value in points if row >= first_row and value is not None]
        if known:
            name = MEAN_SO_FAR if _numeric(comparison) else MOST_FREQUENT
            return Reference(name, [row for row, _ in known], [value for _, value in known])
    n_classes = comparison["n_classes"]
    return Reference(f"one guess in {n_classes} classes", [], [1.0 / n_classes]) if n_classes > 1 else None


def _values(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None or math.isnan(value) else value for value in values]


def _finite(entry: Entry, metric: str) -> Entry:
    return entry | {key: _values([entry[key]])[0] for key in (metric, "stability")}


def _shown_run(comparison: dict[str, Any], folder: Path | None) -> dict[str, Any] | None:
    """The recommended entry, summarized; else the best one whose trace is there, methods before baselines."""

    def first(entry: Entry) -> tuple[bool, bool]:
        return entry["name"] != comparison.get("recommended"), is_baseline(entry)

    for entry in sorted(comparison["entries"], key=first):
        path = None if folder is None or entry["trace"] is None else folder / entry["trace"]
        if path is not None and entry["rank"] is not None and path.exists():
            return summarize(Trace.read(path), entry["name"])
    return None


def _troubles(comparison: dict[str, Any]) -> list[Section]:
    """What failed and what was left out, with the reasons; nothing where all went well."""
    failed = [[entry["name"], words] for entry in comparison["entries"] for words in joined_failures(entry["failures"])]
    left_out = [[one["method"], one["reason"]] for one in comparison.get("left_out", ())]
    tables = [
        Table(title, ["method", "reason"], [list(row) for row in rows])
        for title, rows in (("Failed runs", failed), ("Left out", left_out))
        if rows
    ]
    return [Section("What is missing", [], [], tables)] if tables else []
