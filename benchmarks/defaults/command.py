"""The command line: which tables, over which folder, how large; the tables as Markdown, the figures as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.defaults import categories, empty, numbers, restarts, scales, streams, winners
from benchmarks.defaults.halves import measure, table
from benchmarks.defaults.methods import COLUMN_TABLES, ROW_TABLES
from benchmarks.defaults.sets import NAMES, load

RESULTS = Path(__file__).parents[1] / "results"
FADING, SCALE, EMPTY, RESTARTS = "fading", "scale", "empty", "restarts"
SELECT, NUMBERS, CATEGORIES = "select", "numbers", "categories"
TABLES = (*ROW_TABLES, *COLUMN_TABLES, FADING, SCALE, EMPTY, RESTARTS, SELECT, NUMBERS, CATEGORIES)
CRITERIA = ("fisher", "mutual_info")
N_ROWS, N_FEATURES = 3000, 1000
N_ROWS_OF_STREAMS, N_FEATURES_OF_STREAMS = 6000, 300
N_ROWS_OF_EMPTY, N_ROWS_OF_RESTARTS = 20_000, 1500  # boosting of river takes long
N_ROWS_OF_COLUMNS, N_COLUMNS = 1000, 300  # column methods are quadratic in rows or columns


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks defaults", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"which ones (default all): {', '.join(TABLES)}")
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets and their MANIFEST.json")
    parser.add_argument("--sets", nargs="+", default=None, metavar="SET", help="which sets (default: the chosen ones)")
    parser.add_argument("--rows", type=int, default=None, help=f"most rows of a set (default {N_ROWS})")
    parser.add_argument("--features", type=int, default=None, help=f"most features of a set (default {N_FEATURES})")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for defaults_TABLE.json")
    given = parser.parse_args(arguments)
    everywhere = given.sets is None
    given.sets = given.sets or NAMES
    for name in given.tables:
        if name not in TABLES:
            parser.error(f"no table {name!r}; there are {', '.join(TABLES)}")
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.tables or TABLES:
        with threadpool_limits(1):
            if everywhere:
                given.sets = winners.SETS if name in (SELECT, NUMBERS) else NAMES
            text, figures = _MADE_BY.get(name, partial(_halves, name))(given)
        print(f"### {name}\n\n{text}\n", flush=True)
        (given.out / f"defaults_{name}.json").write_text(json.dumps(figures, indent=1) + "\n")
    return 0


def _halves(name: str, given: argparse.Namespace) -> tuple[str, dict[str, object]]:
    by_column = name in COLUMN_TABLES
    methods = COLUMN_TABLES[name] if by_column else ROW_TABLES[name]
    rows = given.rows or (N_ROWS_OF_COLUMNS if by_column else N_ROWS)
    features = given.features or (N_COLUMNS if by_column else N_FEATURES)
    lines = measure(load(given.data, tuple(given.sets), rows, features), methods, _say)
    sizes = {"rows": rows, "features": features, "sets": list(given.sets)}
    text = f"{len(given.sets)} sets, at most {rows} rows and {features} features of each.\n\n{table(lines)}"
    return text, sizes | {"lines": {line: asdict(found) for line, found in lines.items()}}


def _fading(given: argparse.Namespace) -> tuple[str, dict[str, object]]:
    rows, features = given.rows or N_ROWS_OF_STREAMS, given.features or N_FEATURES_OF_STREAMS
    found, texts = {}, [f"At most {rows} rows and {features} features of each stream."]
    for criterion in CRITERIA:
        found[criterion] = streams.measure(streams.streams(given.data, rows, features), criterion, _say)
        texts.append(f"criterion={criterion!r}:\n\n{streams.table(found[criterion])}")
    return "\n\n".join(texts), {"rows": rows, "features": features, "streams": found}


def _scale(given: argparse.Namespace) -> tuple[str, dict[str, object]]:
    rows, features = given.rows or N_ROWS, given.features or N_FEATURES_OF_STREAMS
    found = scales.measure(load(given.data, tuple(given.sets), rows, features), _say)
    text = f"{len(given.sets)} sets, at most {rows} rows and {features} features of each.\n\n{scales.table(found)}"
    return text, {"rows": rows, "features": features, "sets": found}


def _empty(given: argparse.Namespace) -> tuple[str, dict[str, object]]:
    rows, features = given.rows or N_ROWS_OF_EMPTY, given.features or N_FEATURES_OF_STREAMS
    found = empty.measure(given.data, rows, features, _say)
    text = f"At most {rows} rows and {features} features of each stream, batches of {empty.BATCH}."
    return f"{text}\n\n{empty.table(found)}", {"rows": rows, "features": features, "streams": found}


def _restarts(given: argparse.Namespace) -> tuple[str, dict[str, object]]:
    rows, features = given.rows or N_ROWS_OF_RESTARTS, given.features or N_FEATURES_OF_STREAMS
    found = restarts.measure(given.data, rows, features, _say)
    text = f"At most {rows} rows and {features} features of each stream."
    return f"{text}\n\n{restarts.table(found)}", {"rows": rows, "features": features, "streams": found}


def _select(given: argparse.Namespace) -> tuple[str, dict[str, object]]:
    rows, features = given.rows or N_ROWS, given.features or N_FEATURES
    lines = winners.run(load(given.data, tuple(given.sets), rows, features), _say)
    sizes = {"rows": rows, "features": features, "sets": list(given.sets)}
    text = f"{len(given.sets)} sets, at most {rows} rows and {features} features of each.\n\n{winners.table(lines)}"
    return text, sizes | {"lines": {line: asdict(found) for line, found in lines.items()}}


def _numbers(given: argparse.Namespace) -> tuple[str, dict[str, object]]:
    rows, features = given.rows or N_ROWS, given.features or N_FEATURES
    found = numbers.measure(load(given.data, tuple(given.sets), rows, features), _say)
    text = (
        f"{len(found['random'])} sets, at most {rows} rows and {features} features of each.\n\n{numbers.table(found)}"
    )
    return text, {"rows": rows, "features": features, "methods": found}


def _categories(given: argparse.Namespace) -> tuple[str, dict[str, object]]:
    sizes = [(rows, values) for rows in categories.ROWS for values in categories.VALUES]
    found = {(rows, values): categories.measure(values, rows) for rows, values in sizes}
    figures = {f"{rows} rows, {values} values": its for (rows, values), its in found.items()}
    return f"{categories.REPEATS} tables each.\n\n{categories.table(found)}", {"tables": figures}


_MADE_BY = {
    FADING: _fading,
    SCALE: _scale,
    EMPTY: _empty,
    RESTARTS: _restarts,
    SELECT: _select,
    NUMBERS: _numbers,
    CATEGORIES: _categories,
}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
