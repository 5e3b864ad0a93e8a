"""The tables of a comparison: how good each entry is, and what it costs, with a column for its learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamsift.comparison.kinds import is_baseline
from streamsift.learners.online import ALIASES
from streamsift.report.measures import measure, worse
from streamsift.report.numbers import listed
from streamsift.report.page import Cell, Table

Entry = dict[str, Any]

QUALITY = (
    "accuracy", "balanced_accuracy", "f1", "kappa", "log_loss", "rmse", "mae", "r2", "selection_accuracy", "stability",
    "features", "cost",
)  # fmt: skip
_SHORT_NAMES = {name: short for short, name in ALIASES.items()}
COST = ("rows_per_second", "memory", "seconds", "ram_hours")
NOTE = (
    "Best first; * marks the front: no other method beats it in {metric}, stability and features together.{spread} "
    "A click on a heading sorts."
)


def models(entries: Sequence[Entry]) -> list[str]:
    """The learners that judged, in the order of their first entry."""
    return list(dict.fromkeys(entry["model"] for entry in entries if entry["model"] is not None))


def learners(entries: Sequence[Entry]) -> str:
    """The learners that judged, with the short names by which charts call them where there are several.

    >>> learners([{"model": "naive_bayes"}, {"model": "perceptron"}]), learners([{"model": "naive_bayes"}])
    ('naive_bayes (nb) and perceptron', 'naive_bayes')
    """
    names = models(entries)
    if len(names) > 1:
        names = [f"{name} ({_SHORT_NAMES[name]})" if name in _SHORT_NAMES else name for name in names]
    return listed(names)


def labels(entries: Sequence[Entry]) -> dict[str, str]:
    """What to call the entries beside a chart, where there is little room: one learner for all is not repeated."""
    alone = len(models(entries)) <= 1
    return {entry["name"]: entry["method"] if alone else _short(entry) for entry in entries}


def _short(entry: Entry) -> str:
    """A method with its learner, by the learner's short name where it has one.

    >>> _short({"method": "fires", "model": "naive_bayes"}), _short({"method": "etana", "model": None})
    ('fires + nb', 'etana')
    """
    model = entry["model"]
    return str(entry["method"]) if model is None else f"{entry['method']} + {_SHORT_NAMES.get(model, model)}"


def majority(entries: Sequence[Entry]) -> Entry | None:
    """The finished baseline that predicts the most frequent class (of numbers: their mean); None without one."""
    found = (one for one in entries if is_baseline(one) and one["method"] in ("majority", "mean"))
    return next((one for one in found if one["rank"] is not None), None)


def remark(entry: Entry, entries: Sequence[Entry], metric: str) -> str:
    """What a reader of the table should know about an entry: that it is below chance."""
    chance = majority(entries)
    if chance is None or entry["name"] == chance["name"] or not worse(entry, chance, metric):
        return ""
    return "below the most frequent class" if chance["method"] == "majority" else "worse than the mean"


def quality_table(entries: Sequence[Entry], everyone: Sequence[Entry], metric: str) -> Table:
    """How good each entry is: the metric they are ranked by first; columns that nobody has a value for are left out."""
    keys = [metric, *(key for key in QUALITY if key != metric)]
    if all(entry.get("cost") == entry["features"] for entry in entries):
        keys.remove("cost")  # the same figure twice, where every feature costs 1
    remarks = {entry["name"]: remark(entry, everyone, metric) for entry in entries}
    spread = any(entry.get(f"{key}_sd") is not None for entry in entries for key in keys)
    told = " ± is the standard deviation over the repeats." if spread else ""
    note = NOTE.format(metric=measure(metric).label, spread=told)
    table = _table("All methods", entries, keys, note, ranked=True)
    if not any(remarks.values()):
        return table
    rows = [[*row, remarks[entry["name"]]] for row, entry in zip(table.rows, entries, strict=True)]
    return Table(table.title, [*table.columns, "remark"], rows, table.note, table.numeric)


def cost_table(entries: Sequence[Entry]) -> Table:
    """What each entry costs."""
    note = "Means over the repeats; seconds are those of a whole run."
    return _table("All costs", entries, COST, note, ranked=False)


def _table(title: str, entries: Sequence[Entry], keys: Sequence[str], note: str, *, ranked: bool) -> Table:
    shown = [measure(key) for key in keys if any(entry.get(key) is not None for entry in entries)]
    judges = models(entries)
    several = len(judges) > 1
    rows: list[list[str | Cell]] = []
    for entry in entries:
        rank = "–" if entry["rank"] is None else f"{entry['rank']}{'*' * entry['on_front']}"
        line: list[str | Cell] = [Cell(rank, entry["rank"])] if ranked else []
        line.append(entry["method"])
        line += [entry["model"] or "–"] if several else []
        line += [_cell(entry, one.key) for one in shown]
        rows.append(line)
    names = [*(["rank"] if ranked else []), "method", *(["learner"] if several else [])]
    numeric = frozenset(one.label for one in shown) | ({"rank"} if ranked else frozenset())
    judged = f"{title}, judged by {judges[0]}" if len(judges) == 1 else title
    return Table(judged, [*names, *(one.label for one in shown)], rows, note, numeric)


def _cell(entry: Entry, key: str) -> Cell:
    value, one = entry.get(key), measure(key)
    text = one.write(value)
    deviation = entry.get(f"{key}_sd")
    if value is not None and deviation is not None:
        digits = ".2g" if deviation < 10 else ",.0f"
        text += f" ± {100 * deviation:.1f}" if key == "accuracy" else f" ± {deviation:{digits}}"
    bar = min(max(value, 0.0), 1.0) if key in ("accuracy", "stability") and value is not None else None
    return Cell(text, value, bar)
