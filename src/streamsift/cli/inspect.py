"""`streamsift inspect`: what a file holds, and what each column is taken for, before a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from streamsift.cli.parameters import how_to_read, refuse_missing_file, refuse_missing_target

if TYPE_CHECKING:
    from streamsift.streams.inspection import ColumnFacts, Inspection

EXAMPLES = """\b
Examples:
  streamsift inspect people.csv --target income
  streamsift inspect people.csv --target income --decimal , --all
  streamsift inspect clicks.parquet --target bought --json
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
    """
    refuse_missing_target(data, target)
    refuse_missing_file(data)
    _inspect_data(data, target, reading, None if everything else rows, as_json=as_json, quiet=quiet)


def _inspect_data(
    data: str, target: str | None, reading: dict[str, Any], most_rows: int | None, *, as_json: bool, quiet: bool
) -> None:
    """What a file of rows holds."""
    from streamsift.cli.display import lines, silenced
    from streamsift.streams.inspection import inspect as inspect_stream
    from streamsift.streams.open import open_stream

    position = [0]

    def progress(n_rows: int, fraction: float | None) -> None:
        position[0] = n_rows

    with silenced(quiet), lines(lambda: f"{position[0]:,} rows", quiet=quiet):
        found = inspect_stream(open_stream(data, target, **reading), most_rows=most_rows, progress=progress)
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
        click.echo(f"{all_of} {found.n_rows:,} rows were read{rest}.", err=True)


def _row(column: ColumnFacts) -> list[str]:
    distinct = f"more than {column.distinct:,}" if column.more else f"{column.distinct:,}"
    return [column.name, column.kind, f"{column.missing:.1%}", distinct, ", ".join(column.examples)]
