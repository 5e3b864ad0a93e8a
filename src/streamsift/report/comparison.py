"""The report of a comparison: the recommendation, the ranked table, and the charts that say why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streamsift.comparison.kinds import is_baseline
from streamsift.report.chart import Chart
from streamsift.report.numbers import duration, number, share, size
from streamsift.report.page import Cell, Section, Table, render
from streamsift.report.quality import (
    accuracy_chart,
    cost_charts,
    differences_chart,
    ranks_chart,
    stability_chart,
    trade_chart,
)
from streamsift.report.run import run_section
from streamsift.report.summarize import summarize
from streamsift.runs.trace import Trace

Entry = dict[str, Any]

# How each kind of method was judged; figures of two protocols are about different rows.
JUDGED = {
    "prequential": "Each batch is predicted first and learnt afterwards, row by row through the stream.",
    "columns": "The columns are offered on the first half of the rows, and a learner is judged on the second.",
    "instances": "Learnt on the first half of the rows, judged on the second; features are those bought per row.",
}


def comparison_report(comparison: dict[str, Any], folder: Path | None = None) -> str:
    """Return the HTML report of a comparison.

    Parameters
    ----------
    comparison : dict
        As `Comparison.as_dict()` gives it and comparison.json holds it.
    folder : path, optional
        Where the traces lie that the entries name; that of the recommended one is shown feature by feature.

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
    sections = [_group(name, entries, alone=len(groups) == 1) for name, entries in groups.items()]
    sections += _tested(comparison)
    if comparison.get("untested"):
        sections.append(Section("Are the differences real?", [], [], note=comparison["untested"]))
    ranked = [entry for entry in comparison["entries"] if entry["rank"] is not None]
    if ranked:
        labels = _labels(comparison)
        costs = cost_charts([entry | {"name": labels[entry["name"]]} for entry in ranked])
        sections.append(Section("What it costs", [], costs, columns=2))
    run = _shown_run(comparison, folder)
    if run is not None:
        sections.append(run_section(run, 0, f"The run of {run['name']}"))
    sections += _troubles(comparison)
    return render(
        comparison["data"], _lead(comparison), sections, [] if run is None else [run["grid"]], _callout(comparison)
    )


def _tested(comparison: dict[str, Any]) -> list[Section]:
    """A section for each protocol whose entries were tested; files of earlier versions have one test at most."""
    first = comparison["tests"]
    tests = comparison.get("tests_by_protocol", {} if first is None else {first.get("protocol", "prequential"): first})
    return [
        Section(
            "Are the differences real?" + (f" ({protocol})" if len(tests) > 1 else ""),
            charts=_test_charts(_labelled(test, _labels(comparison))),
            note=test["sentence"],
        )
        for protocol, test in tests.items()
    ]


def _test_charts(test: dict[str, Any]) -> list[Chart]:
    """The differences from the best entry, and the ranks where there are several streams to rank on."""
    charts = [differences_chart(test["pairs"])] if test.get("pairs") else []
    return charts + ([ranks_chart(test)] if test["average_ranks"] is not None else [])


def _labels(comparison: dict[str, Any]) -> dict[str, str]:
    """What to call the entries beside a chart, where there is little room: one model for all need not be repeated."""
    entries, alone = comparison["entries"], len(_models(comparison)) == 1
    return {entry["name"]: entry["method"] if alone else entry["name"] for entry in entries}


def _models(comparison: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(entry["model"] for entry in comparison["entries"] if entry["model"] is not None))


def _labelled(test: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    def label(name: str) -> str:
        return labels.get(name, name)

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
    facts.append(f"{comparison['n_classes']:,} classes")
    target = f" to tell {comparison['target']!r}" if comparison["target"] else ""
    times = comparison["repeats"]
    budget = comparison.get("budget") or {"repeats": times, "sentence": ""}
    times = min(times, budget["repeats"])
    repeats = "once" if times == 1 else f"{times} times"
    models = _models(comparison)
    judged = f", judged by {' and '.join(models)}" if models else ""
    sentences = [judge["sentence"] for judge in comparison.get("judges", ())]
    sentences += [budget["sentence"], comparison.get("metric_sentence", "")]
    sentences += [rival["sentence"] for rival in comparison.get("rivals", ())]
    notes = "".join(f" {sentence}" for sentence in sentences if sentence)
    return (
        f"{len(comparison['entries'])} ways{target} side by side: {', '.join(facts)}, each run {repeats} in batches of "
        f"{comparison['batch_size']:,}{judged}.{notes}"
    )


def _callout(comparison: dict[str, Any]) -> str:
    if comparison["complete"]:
        return str(comparison["recommendation"])
    return f"This comparison is not complete: some runs are still missing. So far: {comparison['recommendation']}"


def _group(protocol: str, entries: Sequence[Entry], *, alone: bool) -> Section:
    """The entries that were judged alike: their table, and how accurate and how stable they are."""
    shown = [entry | {"number": entry["rank"]} for entry in entries if entry["rank"] is not None]
    charts: list[Chart | None] = [trade_chart([_finite(entry) for entry in shown])]
    curves = [entry for entry in shown if entry["curve"]]
    for key, draw in (("accuracy", _accuracy), ("stability", stability_chart)):
        lines = [(entry["name"], entry["curve"]["rows"], _values(entry["curve"][key])) for entry in curves]
        lines = [line for line in lines if any(value is not None for value in line[2])]
        charts.append(draw(lines) if lines else None)
    heading = "The ranking" if alone else f"The ranking: {protocol}"
    drawn = [chart for chart in charts if chart is not None]
    return Section(heading, [], drawn, [_table(entries)], note=JUDGED.get(protocol, ""), tables_first=True)


def _accuracy(lines: Any) -> Chart:
    return accuracy_chart(lines, "Accuracy over the latest steps")


def _values(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None or math.isnan(value) else value for value in values]


def _finite(entry: Entry) -> Entry:
    measures = dict(zip(("accuracy", "stability"), _values([entry["accuracy"], entry["stability"]]), strict=True))
    return entry | measures


def _table(entries: Sequence[Entry]) -> Table:
    """One line per entry; columns that nobody has a value for are left out."""
    shares = ("accuracy", "balanced_accuracy", "f1", "selection_accuracy", "stability")
    writers = {
        **dict.fromkeys(shares, share), "kappa": number, "log_loss": number, "features": _count, "cost": _count,
        "rows_per_second": _count, "memory": size, "seconds": duration, "ram_hours": number,
    }  # fmt: skip
    order = [
        "accuracy", "stability", "features", "cost", "balanced_accuracy", "kappa", "f1", "log_loss",
        "selection_accuracy", "rows_per_second", "memory", "seconds", "ram_hours",
    ]  # fmt: skip
    keys = [key for key in order if any(entry.get(key) is not None for entry in entries)]
    if all(entry.get("cost") == entry["features"] for entry in entries):
        keys = [key for key in keys if key != "cost"]  # the same figure twice, where every feature costs 1
    rows: list[list[str | Cell]] = []
    for entry in entries:
        rank = "–" if entry["rank"] is None else f"{entry['rank']}{'*' * entry['on_front']}"
        line: list[str | Cell] = [Cell(rank, entry["rank"]), entry["name"]]
        for key in keys:
            value = entry.get(key)
            text = writers[key](value)
            if key == "accuracy" and value is not None and entry["accuracy_sd"] is not None:
                text += f" ± {100 * entry['accuracy_sd']:.1f}"
            bar = min(max(value, 0.0), 1.0) if key in ("accuracy", "stability") and value is not None else None
            line.append(Cell(text, value, bar))
        rows.append(line)
    columns = ["rank", "method", *("rows/s" if key == "rows_per_second" else key.replace("_", " ") for key in keys)]
    note = (
        "Best first; * marks the front: no other method beats it in accuracy, stability and features together. ± is "
        "the standard deviation over the repeats. A click on a heading sorts."
    )
    return Table("All methods", columns, rows, note, frozenset(columns) - {"method"})


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.2f}"


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
    failed = [[entry["name"], failure] for entry in comparison["entries"] for failure in entry["failures"]]
    left_out = [[one["method"], one["reason"]] for one in comparison.get("left_out", ())]
    tables = [
        Table(title, ["method", "reason"], [list(row) for row in rows])
        for title, rows in (("Failed runs", failed), ("Left out", left_out))
        if rows
    ]
    return [Section("What is missing", [], [], tables)] if tables else []
