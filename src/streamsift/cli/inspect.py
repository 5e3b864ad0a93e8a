"""`streamsift inspect`: what each column of a file of data is taken for, or what a saved selector knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamsift.cli.parameters import how_to_read, refuse_missing_file, refuse_missing_target

if TYPE_CHECKING:
    from streamsift.runs.standing import Standing
    from streamsift.streams.inspection import ColumnFacts, Inspection

EXAMPLES = """\b
Examples:
  streamsift inspect people.csv --target income
  streamsift inspect people.csv --target income --decimal , --all
  streamsift inspect clicks.parquet --target bought --json
  streamsift inspect selector.streamsift
  streamsift inspect clicks.ckpts/
"""
N_CLASSES = 10  # that are printed


@click.command(short_help="Show what a file holds.", epilog=EXAMPLES)
@click.argument("data", metavar="DATA")
@click.option("--target", metavar="COLUMN", help="Column that holds the label. Not needed for LIBSVM files.")
@how_to_read
@click.option(
    "--rows", type=click.IntRange(1), default=100_000, show_default=True, help="Number of rows to read at most."
)
@click.option("--all", "everything", is_flag=True, help="Read all rows.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON and nothing else.")
@click.option("--quiet", is_flag=True, help="Print no progress and no remarks, only the result and what went wrong.")
def inspect(
    data: str,
    target: str | None,
    reading: dict[str, Any],
    rows: int,
    everything: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read the first rows of DATA and print what each column is taken for.

    A column is a number, a category, a date, text (of which most values occur once), constant, id-like (another value
    in every row) or empty. For each there are the share of missing values, the number of different values and examples;
    then come the classes of the target, and what deserves a second look before a run.

    DATA may also be a selector that `select --save` or `streamsift.save` has written: then its method, parameters,
    rows, features, size and the top of its ranking are printed. Or a folder in which processes that share a Kafka topic
    (`select 'kafka://...?group=NAME' --checkpoint FOLDER`) keep their checkpoints: then what all of them know together.
    """
    if Path(data).is_dir() and _is_shared(data):
        _inspect_shared(data, as_json=as_json)
        return
    if data != "-" and Path(data).is_file() and _is_saved(data):
        _inspect_saved(data, as_json=as_json)
        return
    refuse_missing_file(data)  # first: a saved selector needs no target
    refuse_missing_target(data, target)
    _inspect_data(data, target, reading, None if everything else rows, as_json=as_json, quiet=quiet)


def _is_saved(data: str) -> bool:
    from streamsift.core.atomic import reason
    from streamsift.core.exceptions import ReaderError
    from streamsift.persist import is_saved_file

    try:
        return is_saved_file(data)
    except OSError as error:
        raise ReaderError(f"The file {data} cannot be read: {reason(error)}.") from error


def _inspect_saved(path: str, *, as_json: bool) -> None:
    """What a saved selector holds; the ranking is missing where its class is not one of streamsift's."""
    from streamsift import catalog
    from streamsift.core.exceptions import UnknownNameError
    from streamsift.persist import describe, load
    from streamsift.runs.standing import standing_of

    found = describe(path)
    name = catalog.name_of(found.method, found.parameters) or found.method
    standing, known = None, True
    try:
        catalog.class_at(found.method)
    except UnknownNameError:
        known = False
    if known:
        loaded = load(path)
        selector = getattr(loaded, "selector_", getattr(loaded, "selector", loaded))  # of a pipeline, or of LateLabels
        has_learnt = selector is loaded or hasattr(selector, "n_rows_seen_")
        standing = standing_of(selector) if has_learnt else None
    facts: dict[str, Any] = {
        "file": path,
        "method": name,
        "class": found.method,
        "parameters": found.parameters,
        "classes": found.labels,
        "rows": None if standing is None else standing.n_rows,
        "features": None if standing is None else standing.n_features,
        "selected": None if standing is None else standing.n_selected,
        "written_by": f"streamsift {found.streamsift}",
        "format_version": found.format_version,
        "bytes": found.n_bytes,
        "sections": found.sections,
    }
    _show_saved(facts, standing, as_json=as_json)
    if not known and not as_json:
        click.echo("The class is not one of streamsift's, so its ranking is not shown.", err=True)


def _is_shared(data: str) -> bool:
    from streamsift.runs.claims import is_shared_folder

    return is_shared_folder(Path(data))


def _inspect_shared(folder: str, *, as_json: bool) -> None:
    """What the processes that share a topic know together."""
    from streamsift.runs.claims import load_shared, run_of
    from streamsift.runs.standing import standing_of

    run, shared = run_of(Path(folder)), load_shared(folder)
    standing = standing_of(shared.selector)
    facts = {
        "file": folder,
        "method": run.method,
        "data": run.data,
        "target": run.target,
        "parameters": run.parameters,
        "rows": standing.n_rows,
        "features": standing.n_features,
        "selected": standing.n_selected,
        "rows_of_partitions": {str(number): rows for number, rows in shared.rows.items()},
    }
    _show_saved(facts, standing, as_json=as_json)


def _show_saved(facts: dict[str, Any], standing: Standing | None, *, as_json: bool) -> None:
    from streamsift.cli.table import print_table, printable
    from streamsift.runs.rows import distinct_numbers

    if as_json:
        top = [] if standing is None else [{"name": name, standing.number: value} for name, value in standing.top]
        click.echo(json.dumps({**facts, "top": top}, indent=2, ensure_ascii=False, default=str))
        return
    for key, value in facts.items():
        if value is not None and key != "file":
            click.echo(f"{key.replace('_', ' ')}: {printable(_in_words(value))}")
    if standing is not None and standing.top:
        numbers = distinct_numbers([value for _, value in standing.top])
        names = [name for name, _ in standing.top]
        rows = [[str(rank), name, number] for rank, (name, number) in enumerate(zip(names, numbers, strict=True), 1)]
        print_table(["rank", "feature", standing.number], rows, numeric=["rank", standing.number])


def _in_words(value: Any) -> str:
    """A fact on one line: long lists are cut short."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={_steps(item)}" for key, item in value.items())
    if isinstance(value, list):
        more = f" and {len(value) - N_CLASSES:,} more" if len(value) > N_CLASSES else ""
        return ", ".join(map(str, value[:N_CLASSES])) + more
    return f"{value:,}" if type(value) is int else str(value)


def _steps(value: Any) -> Any:
    """The steps of a pipeline by their classes; any other value as it is."""
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return value
    return " > ".join(f"{item.get('name')} ({str(item.get('class')).partition(':')[2]})" for item in value)


def _inspect_data(
    data: str, target: str | None, reading: dict[str, Any], most_rows: int | None, *, as_json: bool, quiet: bool
) -> None:
    """What a file of rows holds."""
    from streamsift.cli.display import lines, silenced
    from streamsift.streams.blocks import BlockStream
    from streamsift.streams.inspection import inspect as inspect_stream
    from streamsift.streams.open import open_stream

    position = [0]

    def progress(n_rows: int, fraction: float | None) -> None:
        position[0] = n_rows

    with silenced(quiet), lines(lambda: f"{position[0]:,} rows", quiet=quiet):
        stream = open_stream(data, target, **reading)
        if "unlabelled" not in reading and isinstance(stream, BlockStream):
            stream.keep_unlabelled()  # they are counted
        found = inspect_stream(stream, most_rows=most_rows, progress=progress)
    if as_json:
        click.echo(json.dumps({"data": data, **found.as_dict()}, indent=2, ensure_ascii=False, allow_nan=False))
        return
    _show(found, quiet=quiet)


def _show(found: Inspection, *, quiet: bool) -> None:
    from streamsift.cli.table import print_table, printable

    heads = ["column", "taken for", "missing", "different", "examples"]
    print_table(heads, [_row(column) for column in found.columns], numeric=["missing", "different"])
    target = found.target
    name = printable(target.name)
    if target.kind == "classes":
        shares = ", ".join(f"{printable(label)} {share:.1%}" for label, share in target.shares[:N_CLASSES])
        more = f" and {target.distinct - N_CLASSES:,} more" if target.distinct > N_CLASSES else ""
        words = "class" if target.distinct == 1 else "classes"
        click.echo(f"target {name}: {target.distinct:,} {words}: {shares}{more}")
    else:
        click.echo(f"target {name}: a number with {target.distinct:,} different values")
    for warning in found.warnings:
        click.echo(f"Warning: {printable(warning)}", err=True)
    if not quiet:
        all_of = "All" if found.complete else "The first"
        rest = "" if found.complete else "; --all reads the whole file"
        which = "The only row was" if found.complete and found.n_rows == 1 else f"{all_of} {found.n_rows:,} rows were"
        click.echo(f"{which} read{rest}.", err=True)


def _row(column: ColumnFacts) -> list[str]:
    distinct = f"more than {column.distinct:,}" if column.more else f"{column.distinct:,}"
    return [column.name, column.kind, f"{column.missing:.1%}", distinct, ", ".join(column.examples)]
