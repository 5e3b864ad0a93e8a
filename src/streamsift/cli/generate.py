"""`streamsift generate`: write a synthetic stream to a file, with the truth about it beside it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamsift.cli.parameters import assignments
from streamsift.core.exceptions import ParameterError, near_misses

if TYPE_CHECKING:
    from streamsift.streams.generation import GeneratedStream

EXAMPLES = """\b
Examples:
  streamsift generate sea --rows 200000 --irrelevant 500 --drift gradual -o sea.parquet
  streamsift generate rtg --rows 50000 --redundant 15 --drift abrupt --positions 10000,40000 -o rtg.csv
  streamsift generate linear_drift --rows 10000 --set n_features=50 --set n_relevant=5 -o - | head
"""

BATCH = 1 << 13
FORMATS = (".parquet", ".csv", ".arrow")


def row_numbers(context: click.Context, parameter: click.Parameter, text: str | None) -> list[int] | None:
    """Row numbers with commas between them."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of row numbers, for example 1000,2000.") from None


def complete_generator(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Generator names for the shell's completion."""
    from streamsift.streams.generation import GENERATORS

    return [name for name in GENERATORS if name.startswith(incomplete)]


@click.command(short_help="Write a synthetic stream to a file.", epilog=EXAMPLES)
@click.argument("name", metavar="NAME", shell_complete=complete_generator)
@click.option("--rows", default=100_000, show_default=True, type=click.IntRange(1), help="Number of rows.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed for everything random.")
@click.option("--irrelevant", type=click.IntRange(0), show_default="0", help="Number of irrelevant features to add.")
@click.option("--redundant", type=click.IntRange(0), show_default="0", help="Number of redundant features to add.")
@click.option(
    "--drift", type=click.Choice(["abrupt", "gradual"]), show_default="no drift", help="Kind of concept drift."
)
@click.option("--drifts", "n_drifts", type=click.IntRange(1), show_default="2", help="Number of drifts.")
@click.option(
    "--positions",
    callback=row_numbers,
    metavar="ROW,ROW",
    show_default="evenly spaced",
    help="Rows at which the drifts happen.",
)
@click.option("--width", type=click.IntRange(1), show_default="10,000", help="Length of a gradual drift, in rows.")
@click.option(
    "--noise", "class_noise", type=click.FloatRange(0, 1), show_default="0", help="Fraction of labels that are wrong."
)
@click.option(
    "--share",
    "class_share",
    type=click.FloatRange(0, 1),
    show_default="0.5",
    help="Fraction of rows in class 1, before noise is added.",
)
@click.option(
    "--set",
    "others",
    multiple=True,
    callback=assignments,
    metavar="NAME=VALUE",
    help="Set any other option of the generator. May be given several times.",
)
@click.option(
    "-o",
    "--out",
    required=True,
    metavar="FILE",
    help="File to write (.parquet, .csv or .arrow), or - for CSV on standard output.",
)
def generate(name: str, rows: int, seed: int, others: dict[str, Any], out: str, **options: Any) -> int:
    """Write a generated stream, whose relevant features are known, to a file. The target is the last column, label.

    NAME is one of agr, an, bg1, bg2, bg3, rtg, sea, rbf, linear_drift and friedman_drift. The relevant features and
    the drifts are written next to the file: sea.parquet comes with sea.truth.json. With -o - they are not written.
    """
    from streamsift.streams.generation import generate as make

    given = {option: value for option, value in options.items() if value is not None}
    twice = sorted((given.keys() | {"name", "n_rows", "seed"}) & others.keys())
    if twice:
        raise ParameterError(f"The option {twice[0]!r} is given twice: keep one of the two values.")
    ending = ".csv" if out == "-" else Path(out).suffix.lower()
    if ending not in FORMATS:
        raise ParameterError(f"There is no format {ending!r} for {out!r}. {near_misses(ending, FORMATS)}")
    stream = make(name, n_rows=rows, seed=seed, **given, **others)
    if out == "-":
        _write(stream, sys.stdout.buffer, ending, quiet=True)
        return 0
    _write_file(stream, Path(out), ending)
    about = {"generator": name, "rows": rows, "seed": seed, "options": {**given, **others}}
    _write_truth(stream, about, Path(out))
    return 0


def _write_file(stream: GeneratedStream, path: Path, ending: str) -> None:
    """Write the rows to a file, which is complete or not there."""
    from streamsift.cli.output import output_file
    from streamsift.core.atomic import replacing

    output_file(path)
    with replacing(path) as file:
        _write(stream, file, ending, quiet=False)


def _write_truth(stream: GeneratedStream, about: dict[str, Any], path: Path) -> None:
    from streamsift.cli.output import OutputFolder

    names = stream.feature_names
    truth = {
        **about,
        "target": stream.target_name,
        "n_features": len(names),
        "drifts": [{"row": drift.row, "first": drift.first, "last": drift.last} for drift in stream.drifts],
        "segments": [
            {
                "first": segment.first,
                "last": segment.last,
                "relevant": list(segment.relevant),
                "names": [names[place] for place in segment.relevant],
            }
            for segment in stream.segments()
        ],
    }
    OutputFolder(path.parent).write(f"{path.stem}.truth.json", json.dumps(truth, indent=1) + "\n")


def _write(stream: GeneratedStream, file: Any, ending: str, *, quiet: bool) -> None:
    from rich.console import Console

    from streamsift.cli.display import bars

    console = Console(stderr=True)
    shown = not quiet and console.is_terminal and not console.is_dumb_terminal
    with bars(shown=shown) as bar:
        task = bar.add_task("writing", total=stream.n_rows)
        with _writer(file, ending) as write:
            for batch in stream.batches(BATCH):
                write(_table(stream, batch, plain=ending == ".csv"))
                bar.advance(task, batch.n_rows)


@contextmanager
def _writer(file: Any, ending: str) -> Iterator[Any]:
    """A function that appends record batches to an open file; what is open is closed at the end."""
    writer: Any = None

    def write(rows: Any) -> None:
        nonlocal writer
        if writer is None:
            writer = _open(file, ending, rows.schema)
        writer.write_batch(rows)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


def _open(file: Any, ending: str, schema: Any) -> Any:
    if ending == ".parquet":
        from pyarrow.parquet import ParquetWriter

        named = [field.name for field in schema if str(field.type).startswith("dictionary")]
        return ParquetWriter(file, schema, use_dictionary=named)  # random numbers do not repeat
    if ending == ".arrow":
        import pyarrow as pa

        return pa.ipc.new_file(file, schema)
    from pyarrow.csv import CSVWriter

    return CSVWriter(file, schema)


def _table(stream: GeneratedStream, batch: Any, *, plain: bool) -> Any:
    """A batch as Arrow columns: categories by their names, `plain` as text, and the label last."""
    import numpy as np
    import pyarrow as pa

    columns: list[Any] = []
    for place, name in enumerate(stream.feature_names):
        values = np.ascontiguousarray(batch.X[:, place])
        if name in stream.categories:
            codes = pa.array(values.astype(np.int16))
            column = pa.DictionaryArray.from_arrays(codes, pa.array(stream.categories[name], pa.string()))
            columns.append(column.dictionary_decode() if plain else column)
        else:
            columns.append(pa.array(values))
    columns.append(pa.array(batch.y))
    return pa.RecordBatch.from_arrays(columns, names=[*stream.feature_names, stream.target_name])
