"""A run beside an earlier one: which features entered, which left, since when, and what moved among the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from streamsift.catalog import Kind
from streamsift.core.exceptions import InputError
from streamsift.report.measures import measure
from streamsift.report.numbers import number
from streamsift.report.page import Cell, Section, Table
from streamsift.runs.trace import Trace

WORDS = {"rows": "row", "columns": "column", "instances": "row"}


@dataclass(frozen=True)
class Held:
    """A feature of a final selection: its place in it, its figure, and since which row or column it is held."""

    rank: int
    value: float | None
    since: int | None


def final(trace: Trace) -> dict[str, Held]:
    """The selection at the end of a run, by name, best first."""
    return FINALS[trace.run.kind](trace)


def _of_rows(trace: Trace) -> dict[str, Held]:
    table = trace.snapshots().table
    rows, lists = table["row"].to_pylist(), table["selected"].to_pylist()
    if not lists:
        return {}
    scores = dict(zip(table["indices"][-1].as_py() or (), table["scores"][-1].as_py() or (), strict=True))
    found = {}
    for rank, index in enumerate(lists[-1], 1):
        place = len(lists) - 1
        while place and index in lists[place - 1]:
            place -= 1
        found[trace.name(index)] = Held(rank, scores.get(index), rows[place])
    return found


def _of_columns(trace: Trace) -> dict[str, Held]:
    return {
        one["name"]: Held(int(one["rank"]), float(one["statistic"]), int(one["index"]) + 1)
        for one in trace.result["selected"]
    }


def _of_instances(trace: Trace) -> dict[str, Held]:
    return {one["name"]: Held(rank, one["share"], None) for rank, one in enumerate(trace.result["bought"], 1)}


FINALS: dict[Kind, Callable[[Trace], dict[str, Held]]] = {
    "rows": _of_rows,
    "columns": _of_columns,
    "instances": _of_instances,
}


def last_held(trace: Trace, name: str) -> int | None:
    """The row at which a feature was last selected in a run over rows; None where it never was, or nobody knows."""
    if "selected" not in trace.table.column_names:
        return None
    table = trace.snapshots().table
    found = None
    for row, indices in zip(table["row"].to_pylist(), table["selected"].to_pylist(), strict=True):
        if any(trace.name(index) == name for index in indices):
            found = row
    return found


def changes_section(new: Trace, old: Trace, old_name: str) -> Section:
    """What changed since an earlier run of the same kind.

    Parameters
    ----------
    new, old : Trace
        The two runs.
    old_name : str
        What the earlier one is called: its file or folder.

    Returns
    -------
    Section
    """
    if new.run.kind != old.run.kind:
        raise InputError(
            f"{old_name!r} is a run over {old.run.kind} and this one over {new.run.kind}: give two of the same kind."
        )
    now, before = final(new), final(old)
    unit = WORDS[new.run.kind]
    rows: list[list[str | Cell]] = []
    for name, held in now.items():
        if name not in before:
            rows.append(_line(name, "entered", _since(held, unit), held, None))
    for name, held in before.items():
        if name not in now:
            gone = last_held(new, name)
            rows.append(_line(name, "left", "" if gone is None else f"last held at {unit} {gone:,}", None, held))
    stayed = [name for name in now if name in before]
    rows += [_line(name, "stayed", _since(now[name], unit), now[name], before[name]) for name in stayed]
    either = len(now) + len(before) - len(stayed)
    facts = [
        (f"{len(now) - len(stayed):,}", "entered"),
        (f"{len(before) - len(stayed):,}", "left"),
        (f"{len(stayed):,}", "stayed"),
        (f"{len(stayed) / either:.0%}" if either else "–", "in common"),
    ]
    columns = ["feature", "change", "since", "rank", "rank before", "score", "score before"]
    note = f"The selection at the end beside that of {old_name} ({_about(old)})." + _other_settings(new, old)
    table = Table("What changed", columns, rows, numeric=frozenset(columns[3:]))
    return Section(f"Since {old_name}", facts, tables=[table], note=note)


def _since(held: Held, unit: str) -> str:
    return "" if held.since is None else f"{unit} {held.since:,}"


def _line(name: str, change: str, since: str, now: Held | None, before: Held | None) -> list[str | Cell]:
    def rank(held: Held | None) -> Cell:
        return Cell("–") if held is None else Cell(f"{held.rank:,}", held.rank)

    def value(held: Held | None) -> Cell:
        if held is None or held.value is None or math.isnan(held.value):
            return Cell("–")
        return Cell(number(held.value), held.value)

    return [name, change, since, rank(now), rank(before), value(now), value(before)]


def _about(trace: Trace) -> str:
    last = trace.table["row"][-1].as_py() if "row" in trace.table.column_names and len(trace) else None
    return f"{trace.run.method}, {last:,} rows" if last else trace.run.method


def _other_settings(new: Trace, old: Trace) -> str:
    """A sentence on what was run differently; scores of two methods cannot be compared."""
    mine, theirs = new.run.shown(), old.run.shown()
    other = [name for name in mine if name in theirs and str(mine[name]) != str(theirs[name])]
    if not other:
        return ""
    told = "; ".join(f"{name.replace('_', ' ')} {_said(theirs[name])} → {_said(mine[name])}" for name in other[:6])
    return f" Settings that differ: {told}." + (
        " Scores of two methods cannot be compared." if "method" in other else ""
    )


def _said(value: Any) -> str:
    return "–" if value is None else str(value)


def comparison_changes(new: Mapping[str, Any], old: Mapping[str, Any], old_name: str) -> Section:
    """What changed since an earlier comparison: the entries' metric, and the recommendation."""
    metric = new.get("metric", "accuracy")
    mine, theirs = ({entry["name"]: entry for entry in one["entries"]} for one in (new, old))
    write = measure(metric).write
    rows: list[list[str | Cell]] = []
    for name in dict.fromkeys([*mine, *theirs]):
        values = [None if name not in one else one[name].get(metric) for one in (mine, theirs)]
        change = None if None in values else values[0] - values[1]  # type: ignore[operator]
        state = "both" if name in mine and name in theirs else "new" if name in mine else "left out now"
        cells = [Cell(write(value), value) for value in values]
        rows.append([name, state, *cells, Cell(_difference(change, metric), change)])
    label = measure(metric).label
    columns = ["entry", "in", label, f"{label} before", "difference"]
    advice = [one.get("recommended") or "nothing" for one in (new, old)]
    moved = f"Recommended was {advice[1]}, now it is {advice[0]}."
    same = f"Both recommend {advice[0]}." if advice[0] == advice[1] else moved
    table = Table("What changed", columns, rows, numeric=frozenset(columns[2:]))
    return Section(f"Since {old_name}", tables=[table], note=same)


def _difference(change: float | None, metric: str) -> str:
    """How much a metric changed: shares in points of per cent.

    >>> _difference(-0.0038, "accuracy"), _difference(0.25, "rmse"), _difference(None, "rmse")
    ('-0.4 points', '+0.2500', '–')
    """
    if change is None:
        return "–"
    return f"{100 * change:+.1f} points" if measure(metric).format.endswith("%") else f"{change:+.4f}"


def page_name(path: str) -> str:
    """What to call an earlier run: the last part of its path that says something.

    >>> page_name("runs/monday/trace.parquet"), page_name("monday/")
    ('monday', 'monday')
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    return parts[-2] if len(parts) > 1 and parts[-1] in ("trace.parquet", "comparison.json") else parts[-1]
