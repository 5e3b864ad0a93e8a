"""`streamsift.compare` over the real sets, prequentially: where does each method win, and where does it lose?

    python -m benchmarks.defaults.compared --data DIR --runs FOLDER
    python -m benchmarks.defaults.compared --page

The first runs `compare` on every set with at least 1,000 rows that is not another one in another form, with two
learners, and writes docs/methods/compared.json. Finished runs are kept in FOLDER, so that an interrupted command goes
on where it stopped. The second writes the tables of docs/methods/defaults.md and docs/which.md from that record.

Ten features are selected, half of them where there are fewer than twenty; ABFS decides itself. Every batch is predicted
first and then learnt. Sets are cut as `sets.py` says; the groups are those of `winners.py`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.defaults.halves import CLEAR
from benchmarks.defaults.sets import Halves, load
from benchmarks.defaults.winners import MOST_TOLD, NAMED, SETS, THE_ONE, TWICE, groups
from streamsift import compare
from streamsift.core.exceptions import StreamsiftWarning

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs" / "methods" / "compared.json"
PAGE, SHORT_PAGE = ROOT / "docs" / "methods" / "defaults.md", ROOT / "docs" / "which.md"
BLOCK = re.compile(
    r"(<!-- figures: made by python -m benchmarks.defaults.compared --page -->\n).*?(<!-- end of figures -->)",
    re.DOTALL,
)
METHODS = ("joint:forward", "joint:mrmr", "joint:lasso", "screen:fisher", "screen:mutual_info", "fires", "abfs")
BASELINES = ("random", "all", "majority")
MODELS = ("naive_bayes", "perceptron")
FEWEST_ROWS, MOST_ROWS, MOST_FEATURES, REPEATS = 1000, 5000, 1000, 1
KEPT = ("accuracy", "balanced_accuracy", "features", "stability")
Entries = dict[str, dict[str, Any]]  # method, or "method + model" -> what `compare` measured
Record = dict[str, Any]


def long_enough(folder: Path) -> tuple[str, ...]:
    """The sets that take part: enough rows for a stream, and each measurement once."""
    listed = {entry["name"]: entry for entry in json.loads((folder / "MANIFEST.json").read_text())["datasets"]}
    return tuple(name for name in SETS if name not in TWICE and listed[name]["rows"] >= FEWEST_ROWS)


def compared(data: Halves, folder: Path | None = None, methods: Sequence[str] = METHODS) -> Entries:
    """What `compare` found on a set; with a folder, finished runs are taken from there."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", StreamsiftWarning)
        found = compare(
            (data.X, data.y),
            methods=methods,
            baselines=BASELINES,
            models=MODELS,
            n_features_to_select=data.n_selected,
            repeats=REPEATS,
            metric="accuracy",
            task="classification",
            budget=None,
            folder=folder,
        ).as_dict()
    failures = [f"{entry['name']}: {entry['failures'][0]}" for entry in found["entries"] if entry["failures"]]
    if failures or not found["complete"]:
        raise RuntimeError(f"{data.name} was not measured whole: {failures}")
    return {
        entry["name"]: {name: None if entry[name] is None else round(entry[name], 5) for name in KEPT}
        for entry in found["entries"]
    }


# -- the tables -------------------------------------------------------------------------------------------------------


def figure(record: Record, one: str, method: str, model: str) -> float:
    """The accuracy of a method with a model on a set; the majority class has no model."""
    entries = record["sets"][one]
    return float(entries[method if method in entries else f"{method} + {model}"]["accuracy"])


def measured(record: Record) -> list[str]:
    """The methods of the record, in their order."""
    return [name for name in METHODS if f"{name} + {MODELS[0]}" in next(iter(record["sets"].values()))]


def gaps(record: Record, method: str, other: str, model: str, names: Sequence[str]) -> dict[str, float]:
    """By how much a method is ahead of another on each set."""
    return {name: figure(record, name, method, model) - figure(record, name, other, model) for name in names}


def won_and_lost(differences: Mapping[str, float]) -> str:
    """How many sets a method wins and loses by more than .01."""
    values = np.array(list(differences.values()))
    return f"{(values > CLEAR).sum()} won, {(values < -CLEAR).sum()} lost"


def means(record: Record, model: str) -> str:
    """Mean accuracy by group, and wins and losses on the sets that the proposal did not name."""
    parts = {name: sets for name, sets in groups(list(record["sets"])).items() if sets}
    confirming = groups(list(record["sets"]))["others and new"]
    sizes = " | ".join(f"{name} ({len(sets)})" for name, sets in parts.items())
    head = f"| {model}, features chosen by | {sizes} | against random | {THE_ONE} against it |"
    text = [head, "|---" * (len(parts) + 3) + "|"]
    for method in (*BASELINES, *measured(record)):
        cells = [f"{np.mean([figure(record, one, method, model) for one in sets]):.3f}" for sets in parts.values()]
        over = won_and_lost(gaps(record, method, "random", model, confirming)) if method != "random" else "–"
        under = won_and_lost(gaps(record, THE_ONE, method, model, confirming)) if method != THE_ONE else "–"
        text.append(f"| {method} | {' | '.join(cells)} | {over} | {under} |")
    return "\n".join(text)


def where(record: Record, model: str) -> str:
    """On which sets each method beats every other one, and where it is furthest behind the best of the others."""
    names, methods = list(record["sets"]), measured(record)
    clear = "by more than .01"
    text = [
        f"| with {model} | best, or within .005 | ahead of all others {clear} | behind the best {clear} |",
        "|---|---|---|---|",
    ]
    for method in methods:
        lead = {
            name: figure(record, name, method, model)
            - max(figure(record, name, other, model) for other in methods if other != method)
            for name in names
        }
        order = sorted(names, key=lambda name: lead[name], reverse=True)
        best = sum(lead[name] > -CLEAR / 2 for name in names)
        ahead = [f"{name} {lead[name]:+.3f}" for name in order if lead[name] > CLEAR]
        behind = [f"{name} {lead[name]:+.3f}" for name in reversed(order) if lead[name] < -CLEAR]
        most = ", ".join(behind[:MOST_TOLD]) + (", …" if len(behind) > MOST_TOLD else "")
        text.append(
            f"| {method} | {best} of {len(names)} | {', '.join(ahead) or 'nowhere'} "
            f"| {len(behind)} set{'' if len(behind) == 1 else 's'}{': ' if behind else ''}{most} |"
        )
    return "\n".join(text)


def set_by_set(record: Record) -> str:
    """Both models on every set, the best method of each model in bold."""
    methods = measured(record)
    columns = [*BASELINES, *methods]
    text = [f"| set | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name in record["sets"]:
        best = {model: max(figure(record, name, method, model) for method in methods) for model in MODELS}
        cells = []
        for method in columns:
            shown = []
            for model in MODELS:
                value = figure(record, name, method, model)
                bold = method in methods and value > best[model] - CLEAR / 2
                shown.append(f"**{value:.3f}**" if bold else f"{value:.3f}")
            cells.append(shown[0] if method == "majority" else " / ".join(shown))
        text.append(f"| {name}{'*' if name in NAMED else ''} | {' | '.join(cells)} |")
    return "\n".join(text)


def tables(record: Record) -> str:
    """What docs/methods/defaults.md shows."""
    size = (
        f"{len(record['sets'])} sets, at most {record['rows']} rows and {record['features']} features of each, "
        "prequentially, one pass."
    )
    parts = [size, *(means(record, model) for model in MODELS), *(where(record, model) for model in MODELS)]
    return "\n\n".join([*parts, set_by_set(record)])


def short_table(record: Record) -> str:
    """What docs/which.md shows."""
    return "\n\n".join(where(record, model) for model in MODELS)


# -- the command ------------------------------------------------------------------------------------------------------


def renewed(text: str, table: str) -> str:
    """The text with another table between its marks."""
    return BLOCK.sub(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", text)


def write_pages() -> None:
    """The tables of both pages, from the record."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    for path, table in ((PAGE, tables(record)), (SHORT_PAGE, short_table(record))):
        path.write_text(renewed(path.read_text(encoding="utf-8"), table), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults.compared", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the sets and their MANIFEST.json")
    parser.add_argument("--runs", type=Path, default=None, help="folder that keeps finished runs")
    parser.add_argument("--sets", nargs="+", default=None, metavar="SET", help="which sets (default: the long ones)")
    parser.add_argument("--rows", type=int, default=MOST_ROWS, help=f"most rows of a set (default {MOST_ROWS})")
    parser.add_argument("--out", type=Path, default=RECORD, help="the JSON file")
    parser.add_argument("--page", action="store_true", help="write the tables of the documentation from the record")
    given = parser.parse_args(arguments)
    if given.page:
        write_pages()
        return 0
    if given.data is None:
        parser.error("say with --data where the sets are, or --page")
    record: Record = {"rows": given.rows, "features": MOST_FEATURES, "repeats": REPEATS, "sets": {}}
    for data in load(given.data, tuple(given.sets or long_enough(given.data)), given.rows, MOST_FEATURES):
        record["sets"][data.name] = compared(data, None if given.runs is None else given.runs / data.name)
        given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(f"{data.name}: {len(data.y)} rows, {data.X.shape[1]} features", file=sys.stderr, flush=True)
    print(tables(record))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
