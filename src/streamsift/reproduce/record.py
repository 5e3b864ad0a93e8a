"""What is kept of an exhibit: every repeat while it is being measured, and one record of them all for others to read.

The file of an exhibit holds its settings and its repeats, each with its seed, its seconds and its result; a repeat that
had no time for all of its runs is measured again, which costs only what was left (its finished runs are kept). The
record holds what a verdict needs: the cells of tables with mean and standard error, the series of figures, and what
they come from.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from streamsift.core.exceptions import InputError
from streamsift.reproduce.result import Options, Pair, Series

Kept = dict[str, Any]  # the file of an exhibit: settings, commits, repeats


def settings(options: Options) -> dict[str, Any]:
    """What a repeat depends on: a repeat of other settings is not taken for one of these.

    Of the data folder the names and sizes of its files count, not where it is.
    """
    return {"rows": options.rows, "seed": options.seed, "brief": options.brief, "data": fingerprint(options.data)}


def fingerprint(folder: str | None) -> str | None:
    """A folder of data sets by the names and sizes of its .npz files."""
    if folder is None:
        return None
    files = sorted((path.name, path.stat().st_size) for path in Path(folder).glob("*.npz"))
    return hashlib.blake2b(json.dumps(files).encode(), digest_size=6).hexdigest()


def read_kept(text: str, options: Options) -> Kept | None:
    """The file of an exhibit, if it is whole and of these settings."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or found.get("settings") != settings(options) or not found.get("repeats"):
        return None
    return found


def n_whole(kept: Kept) -> int:
    """How many of the repeats are finished."""
    return sum(not repeat["result"]["n_left"] for repeat in kept["repeats"])


def counted(kept: Kept) -> list[dict[str, Any]]:
    """The repeats that a record is made of: those that are finished or, where none is, what there is of the first."""
    return [repeat for repeat in kept["repeats"] if not repeat["result"]["n_left"]] or kept["repeats"][:1]


def seconds(kept: Kept) -> float:
    """The time all repeats took."""
    return float(sum(repeat["seconds"] for repeat in kept["repeats"]))


def with_repeat(kept: Kept | None, repeat: dict[str, Any], options: Options, commit: str) -> Kept:
    """The file with one more repeat, or with an unfinished one replaced by what it has become."""
    before = [] if kept is None else kept["repeats"]
    same = next((one for one in before if one["seed"] == repeat["seed"]), None)
    if same is not None:
        repeat = {**repeat, "seconds": repeat["seconds"] + same["seconds"]}
    repeats = sorted([*(one for one in before if one is not same), repeat], key=lambda one: one["seed"])
    commits = dict.fromkeys([*([] if kept is None else kept["commits"]), commit])
    return {"settings": settings(options), "commits": list(commits), "repeats": repeats}


def combined(repeats: Sequence[Sequence[Pair]]) -> list[Pair]:
    """The cells of several repeats as one: the mean of ours and its standard error.

    A word that differs from repeat to repeat is shown as the first.

    >>> one, other = Pair("table1", "a", 1.0, 2.0), Pair("table1", "a", 3.0, 2.0)
    >>> found = combined([[one], [other]])[0]
    >>> found.ours, found.error, found.repeats
    (2.0, 1.0, 2)
    """
    values: dict[tuple[str, str], list[Pair]] = {}
    for pairs in repeats:
        for pair in pairs:
            values.setdefault((pair.table, pair.cell), []).append(pair)
    return [_mean(same) for same in values.values()]


def _mean(same: list[Pair]) -> Pair:
    first = same[0]
    if len(same) == 1 or isinstance(first.ours, str):
        return replace(first, repeats=len(same))
    ours = np.array([float(pair.ours) for pair in same])
    error = float(ours.std(ddof=1) / math.sqrt(len(ours))) if np.ptp(ours) else 0.0  # not what rounding leaves
    return replace(first, ours=float(ours.mean()), error=error, repeats=len(same))


def mean_series(repeats: Sequence[Sequence[Series]]) -> list[Series]:
    """The series of several repeats as one: the means of what lies at the same place, and their standard errors.

    >>> one, other = Series("a", "b", [1.0, 2.0], [3.0, 4.0]), Series("a", "b", [1.0, 2.0], [5.0, 4.0])
    >>> found = mean_series([[one], [other]])[0]
    >>> found.y, found.error
    ([4, 4], [1, 0])
    """
    found: dict[tuple[str, str], list[Series]] = {}
    for repeat in repeats:
        for one in repeat:
            if np.isfinite(one.y).all():  # a run of too few rows for a window has none
                found.setdefault((one.panel, one.name), []).append(one)
    return [_mean_line(same) for same in found.values()]


def _mean_line(same: list[Series]) -> Series:
    first = same[0]
    alike = [one for one in same if len(one.y) == len(first.y)]
    words = any(isinstance(place, str) for place in first.x)
    return replace(
        first,
        x=first.x if words else _means([one.x for one in alike]),
        y=_means([one.y for one in alike]),
        error=_errors([one.y for one in alike]),
    )


def _means(lines: Any) -> list[float]:
    return _short_numbers(np.mean(np.array(lines, float), axis=0))


def _errors(lines: Any) -> list[float] | None:
    """The standard errors of the means; None of a single line."""
    if len(lines) == 1:
        return None
    values = np.array(lines, float)
    errors = values.std(axis=0, ddof=1) / math.sqrt(len(values))
    return _short_numbers(np.where(np.ptp(values, axis=0) > 0.0, errors, 0.0))  # not what rounding leaves


def _short_numbers(values: Any) -> list[float]:
    return [int(value) if float(value).is_integer() else float(f"{value:.6g}") for value in values]


def text(record: Mapping[str, Any]) -> str:
    """A record as the text of its file, lists of values on one line.

    >>> print(text({"y": [1, 2.5]}), end="")
    {
     "y": [1, 2.5]
    }
    """
    value = r'(?:-?[\d.]+(?:e[+-]?\d+)?|NaN|"[^"\n]*")'
    plain = json.dumps(record, indent=1)
    return re.sub(rf"\[\s+({value}(?:,\s+{value})*)\s+\]", lambda found: f"[{_one_line(found[1])}]", plain) + "\n"


def _one_line(values: str) -> str:
    return re.sub(r",\n\s+", ", ", values)


def record(paper: str, exhibit: str, kept: Kept, *, command: str, paper_repeats: int) -> dict[str, Any]:
    """What the repository keeps of an exhibit."""
    repeats = counted(kept)
    first, seeds = repeats[0]["result"], [repeat["seed"] for repeat in repeats]
    cells = combined([[Pair(**pair) for pair in repeat["result"]["pairs"]] for repeat in repeats])
    series = mean_series([[Series(**one) for one in repeat["result"].get("series", [])] for repeat in repeats])
    return {
        "paper": paper,
        "exhibit": exhibit,
        "title": first["title"],
        "command": command,
        "commits": kept["commits"],
        "seconds": float(f"{seconds({'repeats': repeats}):.3g}"),
        "rows": kept["settings"]["rows"],
        "brief": kept["settings"]["brief"],
        "seeds": seeds,
        "repeats": 0 if first["n_left"] else len(repeats),
        "paper_repeats": paper_repeats,
        "n_left": first["n_left"],
        "missing": first["missing"],
        "note": _of_seed(first["note"], seeds),
        "cells": [_short(asdict(cell)) for cell in cells],
        "series": [_kept_line(asdict(one)) for one in series],
    }


def _of_seed(note: str, seeds: Sequence[int]) -> str:
    """A note was written for the first repeat; where there are more, it says so."""
    said = f" (The figures of this note are of seed {seeds[0]}.)"
    return note.removesuffix(said) + said if note and len(seeds) > 1 else note


def pooled(known: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """One record of the repeats of two, as if all had been measured in one folder; `more` has the seeds that follow.

    So repeats add up over days and machines: `streamsift reproduce all --seed N` measures further ones.
    """
    same = ("paper", "exhibit", "rows", "brief", "missing", "paper_repeats")
    unlike = [name for name in same if known[name] != more[name]]
    if unlike:
        raise InputError(f"The results differ in {', '.join(unlike)}, so they are not repeats of each other.")
    if known["n_left"] or more["n_left"]:
        raise InputError("Runs of a result are left: only whole repeats can be added up.")
    seeds = [*known["seeds"], *more["seeds"]]
    if seeds != list(range(seeds[0], seeds[0] + len(seeds))):
        raise InputError(
            f"The seeds {more['seeds']} do not follow {known['seeds']}: measure with --seed {known['seeds'][-1] + 1}."
        )
    n_known, n_more = known["repeats"], more["repeats"]
    cells = {(cell["table"], cell["cell"]): cell for cell in more["cells"]}
    lines = {(one["panel"], one["name"]): one for one in more["series"]}
    plain = re.sub(r" --(repeats|seed) \d+", "", known["command"])
    return {
        **known,
        "command": plain.replace(" --data", f" --repeats {len(seeds)} --data"),
        "commits": list(dict.fromkeys([*known["commits"], *more["commits"]])),
        "seconds": float(f"{known['seconds'] + more['seconds']:.3g}"),
        "seeds": seeds,
        "repeats": n_known + n_more,
        "note": _of_seed(known["note"], seeds),
        "cells": [_pooled_cell(cell, cells.get((cell["table"], cell["cell"]))) for cell in known["cells"]],
        "series": [
            _pooled_line(one, n_known, lines.get((one["panel"], one["name"])), n_more) for one in known["series"]
        ],
    }


def _pooled_cell(one: dict[str, Any], other: dict[str, Any] | None) -> dict[str, Any]:
    """Mean and standard error of all repeats, from those of two parts."""
    if other is None:
        return one
    n, m = one["repeats"], other["repeats"]
    if isinstance(one["ours"], str):
        return {**one, "repeats": n + m}
    mean = (n * one["ours"] + m * other["ours"]) / (n + m)
    error = _pooled_error((one["ours"], one["error"]), n, (other["ours"], other["error"]), m)
    return _short({**one, "ours": mean, "error": error, "repeats": n + m})


Mean = tuple[float, float | None]  # with its standard error


def _pooled_error(one: Mean, n: int, other: Mean, m: int) -> float:
    """The standard error of the mean of n and m repeats together, from the means and standard errors of both."""
    squares = n * (n - 1) * (one[1] or 0.0) ** 2 + m * (m - 1) * (other[1] or 0.0) ** 2
    squares += (one[0] - other[0]) ** 2 * n * m / (n + m)
    return math.sqrt(squares / ((n + m - 1) * (n + m)))


def _pooled_line(one: dict[str, Any], n: int, other: dict[str, Any] | None, m: int) -> dict[str, Any]:
    """Means of what lies at the same place; a line of another length is left out, as `mean_series` does."""
    if other is None or len(one["y"]) != len(other["y"]):
        return one
    weights = [*[one] * n, *[other] * m]
    words = any(isinstance(place, str) for place in one["x"])
    x = one["x"] if words else _means([line["x"] for line in weights])
    return _kept_line(
        {**one, "x": x, "y": _means([line["y"] for line in weights]), "error": _line_error(one, n, other, m)}
    )


def _line_error(one: dict[str, Any], n: int, other: dict[str, Any], m: int) -> list[float] | None:
    """Those of the means of both together; None where some repeats came without, as long ago."""
    if any(count > 1 and "error" not in line for line, count in ((one, n), (other, m))):
        return None
    return _short_numbers([_pooled_error(a, n, b, m) for a, b in zip(means_of(one), means_of(other), strict=True)])


def means_of(line: Mapping[str, Any]) -> list[Mean]:
    """The means of a line that is kept, each with its standard error; None where it has none."""
    return list(zip(line["y"], line.get("error") or [None] * len(line["y"]), strict=True))


def _kept_line(line: dict[str, Any]) -> dict[str, Any]:
    """A line as a record has it: without errors where there is a single repeat."""
    return {name: value for name, value in line.items() if value is not None}


def _short(cell: dict[str, Any]) -> dict[str, Any]:
    """Six digits are more than any table prints."""
    for name in ("ours", "error"):
        if isinstance(cell[name], float):
            cell[name] = float(f"{cell[name]:.6g}")
    return cell


def rests_on(record: Mapping[str, Any] | None) -> str:
    """One of "full size", "full size, part of the runs", "quick" and "nothing".

    >>> rests_on(None), rests_on({"rows": 500, "brief": False, "n_left": 0})
    ('nothing', 'quick')
    """
    if record is None:
        return "nothing"
    if record["rows"] is not None or record["brief"]:
        return "quick"
    return "full size, part of the runs" if record["n_left"] else "full size"
