"""`streamsift select` over a table in parts: `--engine`, `--jobs`, `--prescreen`, `--by` and `--memory`.

Parts of a method over rows are files or rows, whose states are merged; of a method over columns, blocks of columns,
whose decisions are confirmed in order.
"""

from __future__ import annotations

import glob
import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import click

from streamsift.cli.option_group import option_group
from streamsift.core.exceptions import ParameterError

_OPTIONS = (
    click.option(
        "--engine",
        metavar="NAME|ADDRESS",
        help="Where to read DATA in parts: local (processes), dask, spark, or the address of a cluster (tcp://..., "
        "spark://...).",
    ),
    click.option(
        "--jobs", type=click.IntRange(1), metavar="N", help="Number of processes that read parts of DATA in parallel."
    ),
    click.option(
        "--prescreen",
        type=click.IntRange(1),
        metavar="N",
        help="Screen the parts first; then let the method learn from the best N features, in one process.",
    ),
    click.option("--by", metavar="COLUMN", help="Keep one selector for each value of this column."),
    click.option(
        "--order-by",
        metavar="COLUMN",
        help="Column with the times of the rows, where --fading or --half-life N weighs rows of several parts.",
    ),
    click.option(
        "--memory",
        metavar="BYTES",
        help="For very many features: cut them into blocks, so that no process takes more than this (4GB, 512MiB).",
    ),
)


class InParts(NamedTuple):
    """What was asked for on the command line."""

    engine: str | None
    jobs: int | None
    prescreen: int | None
    by: str | None
    order_by: str | None
    memory: str | None

    @property
    def asked(self) -> bool:
        return any(wish is not None for wish in self)

    def refuse_endless(self) -> None:
        """A source without an end has no parts."""
        for name, wish in self._asdict().items():
            if wish is not None:
                raise ParameterError(
                    f"--{name.replace('_', '-')} is for tables; a source without an end is read by one process, or, "
                    "with kafka://broker/topic?group=NAME, by as many as are started."
                )


can_be_in_parts = option_group("parts", InParts, _OPTIONS)


def stands_for_files(data: str) -> bool:
    """Whether DATA is a folder, or a pattern for several files.

    >>> stands_for_files("data/*.parquet"), stands_for_files("people.csv")
    (True, False)
    """
    return Path(data).is_dir() or (glob.has_magic(data) and not Path(data).exists())


def first_part(data: str) -> str:
    """The file that says what the target is."""
    from streamsift.engines.parts import find_parts

    return find_parts(data, 1)[0].path


@dataclass(frozen=True)
class PartsStep:
    """How far the engine is."""

    progress: float
    seconds: float

    unit: ClassVar[str] = "% of the parts"

    @property
    def position(self) -> int:
        return round(100 * self.progress)

    def leaders(self) -> None:
        return None


def select_in_parts(
    data: str, selector: Any, target: str | None, parts: InParts, reading: dict[str, Any], show: Any
) -> tuple[Any, list[dict[str, Any]] | None]:
    """The fitted selector, or the scores of a wide table; or, one selector per key, None and their selections."""
    from streamsift.engines import select, select_by_key, select_wide

    if hasattr(selector, "offer_many"):
        return _columns_in_parts(data, selector, target, parts, reading, show), None
    if data == "-":
        raise ParameterError("Standard input cannot be read in parts: give a file, a folder or a pattern.")
    given = _engine_of(parts, show)
    given |= {name: value for name, value in reading.items() if value not in (None, [], ())}
    ways = [f"--{name}" for name in ("by", "prescreen", "memory") if getattr(parts, name) is not None]
    if len(ways) > 1:
        raise click.UsageError(f"{' and '.join(ways)} are different ways to read a table in parts: give one.")
    if parts.order_by is not None and ways and parts.prescreen is None:
        raise click.UsageError(f"--order-by is for parts that are merged, and {ways[0]} merges none: leave one out.")
    if parts.memory is not None:
        return select_wide(data, selector, target, memory=parts.memory, **given), None
    if parts.by is not None:
        return None, select_by_key(data, selector, parts.by, target, **given).to_pylist()
    return select(data, selector, target, prescreen=parts.prescreen, order_by=parts.order_by, **given), None


def _engine_of(parts: InParts, show: Any) -> dict[str, Any]:
    begun = perf_counter()

    def progress(fraction: float) -> None:
        show(PartsStep(fraction, perf_counter() - begun))

    return {"engine": parts.engine or "local", "jobs": parts.jobs or 2, "progress": progress}


def _columns_in_parts(
    data: str, selector: Any, target: str | None, parts: InParts, reading: dict[str, Any], show: Any
) -> Any:
    """The selector after all columns, of which blocks were judged side by side."""
    from streamsift.engines.columns import select_columns
    from streamsift.streams.open import READING

    for name in ("prescreen", "by", "order_by", "memory"):
        if getattr(parts, name) is not None:
            raise click.UsageError(
                f"--{name.replace('_', '-')} is for methods over rows; a method over columns takes --jobs and --engine."
            )
    if data == "-" or stands_for_files(data):
        raise ParameterError("Columns of several files, or of standard input, have no common order: give one file.")
    given = {name: value for name, value in reading.items() if name in READING and value not in (None, [], ())}
    return select_columns(data, selector, target, **_engine_of(parts, show), **given)


def show_keys(rows: list[dict[str, Any]], by: str, *, as_json: bool) -> None:
    """Print one selection per key."""
    from streamsift.cli.table import print_table

    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    cells = [
        [
            row["key"],
            str(row["rank"] or ""),
            row["feature"],
            "" if row["score"] is None else f"{row['score']:.6g}",
            str(row["rows"]),
        ]
        for row in rows
    ]
    print_table([by, "rank", "feature", "score", "rows"], cells, numeric=["rank", "score", "rows"])
    alone = sum(not row["feature"] for row in rows)
    if alone:
        click.echo(f"{alone} of the keys have no selection: all their rows are of one class, or none tells.", err=True)
