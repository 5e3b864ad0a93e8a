"""A comparison on the screen: the table on the standard output, what there is to say about it on the standard error."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import click

from streamsift.cli.table import print_table
from streamsift.comparison.metrics import METRIC_NAMES, NUMBER_METRICS
from streamsift.report.numbers import joined_failures, size

Entry = dict[str, Any]

DISPENSABLE = ("memory", "rows/s", "late")  # in this order, on a narrow terminal
GAP = 3  # characters between two columns


def print_comparison(found: dict[str, Any]) -> None:
    """Print a comparison, as `Comparison.as_dict()` gives it: for people on a terminal, for programs into a pipe."""
    entries = found["entries"]
    protocols = list(dict.fromkeys(entry["protocol"] for entry in entries))
    late = [(one["method"], f"left out: {one['reason']}") for one in found["left_out"] if one.get("by") == "budget"]
    metric = found.get("metric", "accuracy")
    if sys.stdout.isatty():
        notes = _print_for_people(entries, protocols, metric)
        if late:
            print_table(["entry", "why it is not above"], late)
    else:
        notes = _print_for_programs(entries, metric, late)
    notes += [
        f"Left out: {one['method']}, for {one['reason']}." for one in found["left_out"] if one.get("by") != "budget"
    ]
    budget = found.get("budget") or {"sentence": ""}
    notes += [sentence for sentence in (budget["sentence"], found.get("metric_sentence", "")) if sentence]
    notes += [
        f"Failed: {entry['name']}, {failure}" for entry in entries for failure in joined_failures(entry["failures"])
    ]
    notes += [judge["sentence"] for judge in found.get("judges", ()) if judge["sentence"]]
    notes += [rival["sentence"] for rival in found.get("rivals", ())]
    notes += _tested(found["tests_by_protocol"])
    notes += [found["untested"]] if found["untested"] is not None else []
    for note in [*notes, found["recommendation"]]:
        click.echo(note, err=True)


def _tested(tests: dict[str, Any]) -> list[str]:
    """What the tests say; of several protocols, which one each is about.

    >>> _tested({"columns": {"sentence": "Distinguished."}})
    ['Distinguished.']
    """
    if len(tests) == 1:
        return [test["sentence"] for test in tests.values()]
    return [f"Protocol {protocol}: {test['sentence']}" for protocol, test in tests.items()]


def _print_for_programs(entries: list[Entry], metric: str, late: list[tuple[str, str]]) -> list[str]:
    """One table, every figure in a column of its own, and what was left out; needs no notes."""
    numeric = metric in NUMBER_METRICS
    main = "rmse" if numeric else "accuracy"
    other = ["mae", "r2"] if numeric else [] if metric == "accuracy" else [metric]
    form = ".6g" if numeric else ".4f"
    rows = [
        {
            "rank": _number(entry["rank"], "d"),
            "entry": entry["name"],
            "protocol": entry["protocol"],
            **{name: _number(entry[name], form) for name in other},
            main: _number(entry[main], form),
            "sd": _number(entry[f"{main}_sd"], form),
            "late": _number(entry[f"late_{main}"], form),
            "stability": _number(entry["stability"], ".4f"),
            "features": _number(entry["features"], ".4g"),
            "rows/s": _number(entry["rows_per_second"], ".0f"),
            "bytes": _number(entry["memory"], ".0f"),
            "front": "yes" if entry["on_front"] else "no",
            "failed": str(len(entry["failures"])),
        }
        for entry in entries
    ]
    if late:
        empty = dict.fromkeys(rows[0], "")
        rows = [row | {"note": ""} for row in rows]
        rows += [empty | {"entry": name, "note": reason} for name, reason in late]
    print_table(list(rows[0]), [list(row.values()) for row in rows])
    return []


def _print_for_people(entries: list[Entry], protocols: list[str], metric: str) -> list[str]:
    """A table for each protocol, without columns that have no room; returns notes on how to read it."""
    numeric = metric in NUMBER_METRICS
    rows = [
        {
            "rank": "-" if entry["rank"] is None else f"{entry['rank']}{'*' if entry['on_front'] else ' '}",
            "entry": entry["name"],
            **(_errors(entry) if numeric else _accuracies(entry, metric)),
            "stability": _number(entry["stability"], ".3f"),
            "features": _number(entry["features"], ".4g"),
            "rows/s": _number(entry["rows_per_second"], ",.0f"),
            "memory": size(entry["memory"]),
        }
        for entry in entries
    ]
    if len(protocols) == 1:
        for row in rows:
            del row["late"]  # it is there to compare protocols
    left_out = _narrow(rows, shutil.get_terminal_size().columns)
    headings = list(rows[0])
    for protocol in protocols:
        if len(protocols) > 1:
            click.echo(f"Protocol {protocol}:")
        shown = [list(row.values()) for row, entry in zip(rows, entries, strict=True) if entry["protocol"] == protocol]
        print_table(headings, shown, numeric=[heading for heading in headings if heading != "entry"])
    named = METRIC_NAMES.get(metric, metric.replace("_", " "))
    notes = [f"* on the front: no other method beats it in {named}, stability and features together."]
    if left_out:
        notes.append(f"No room for {', '.join(left_out)}: a wider terminal, a pipe or --json shows all.")
    if "late" in headings:
        late = "RMSE" if numeric else "accuracy"
        notes.append(f"Compare within a protocol; 'late' is the {late} over the second half, the same rows for all.")
    return notes


def _accuracies(entry: Entry, metric: str) -> dict[str, str]:
    return {
        **({} if metric == "accuracy" else {metric.replace("_", " "): _number(entry[metric], ".3f")}),
        "accuracy": _number(entry["accuracy"], ".3f") + _number(entry["accuracy_sd"], ".3f", before=" ± "),
        "late": _number(entry["late_accuracy"], ".3f"),
    }


def _errors(entry: Entry) -> dict[str, str]:
    return {
        "RMSE": _number(entry["rmse"], ".4g") + _number(entry["rmse_sd"], ".2g", before=" ± "),
        "MAE": _number(entry["mae"], ".4g"),
        "R²": _number(entry["r2"], ".3f"),
        "late": _number(entry["late_rmse"], ".4g"),
    }


def _narrow(rows: list[dict[str, str]], width: int) -> list[str]:
    """Take columns away until the table fits; returns their headings.

    >>> rows = [{"entry": "fires", "rows/s": "1,000", "memory": "2.0 KiB"}]
    >>> _narrow(rows, 20), rows
    (['memory'], [{'entry': 'fires', 'rows/s': '1,000'}])
    """
    left_out: list[str] = []
    for heading in DISPENSABLE:
        widths = [max(len(name), *(len(row[name]) for row in rows)) + GAP for name in rows[0]]
        if sum(widths) > width and heading in rows[0]:
            left_out.append(heading)
            for row in rows:
                del row[heading]
    return left_out


def _number(value: float | None, form: str, *, before: str = "") -> str:
    return "" if value is None else before + format(value, form)
