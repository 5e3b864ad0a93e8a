"""`streamsift reproduce`: measure a published figure or table again."""

from __future__ import annotations

import json
from time import perf_counter
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from streamsift.reproduce.result import Options

RUNS = "runs"  # the folder of finished runs

EXAMPLES = """\b
Examples:
  streamsift reproduce screening --figure 3 --jobs 2 -o out/
  streamsift reproduce screening --figure 3 --rows 20000 -o out/
  streamsift reproduce abfs --table 3 --rows 20000 --repeats 3 --jobs 2 -o out/
  streamsift reproduce screening --table 8 --data DIR -o out/
  streamsift reproduce all --quick --data DIR --jobs 2 -o out/
  streamsift reproduce all --hours 2 --data DIR --jobs 2 -o out/
  streamsift reproduce all --only etana,abfs-figure-8 --hours 1 --data DIR -o out/
"""


@click.command(short_help="Reproduce a published figure or table.", epilog=EXAMPLES)
@click.argument("paper", metavar="PAPER")
@click.option("--figure", type=int, metavar="N", help="Number of the figure to reproduce.")
@click.option("--table", type=int, metavar="N", help="Number of the table to reproduce.")
@click.option("--rivals", is_flag=True, help="Run the column methods that the etana paper compares itself with.")
@click.option(
    "--check",
    metavar="NAME",
    help="Look into a known difference: functions, oracle, order, program or resets (abfs), rows or weights (fires), "
    "splits (etana), stepwise (investing).",
)
@click.option(
    "--rows",
    type=click.IntRange(1_000),
    show_default="as many as in the paper",
    help="Number of rows; fewer give a quick impression.",
)
@click.option("--seed", default=1, show_default=True, help="Seed for everything random.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="Number of parallel processes.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    show_default="1; investing as in the paper",
    help="Number of repeats, each with its own seed.",
)
@click.option("--data", metavar="DIR", help="Folder that holds the paper's data sets.")
@click.option("--quick", is_flag=True, help="With all: fewer rows and repeats, to finish in minutes.")
@click.option(
    "--hours",
    type=click.FloatRange(0, min_open=True),
    help="With all: as many repeats of each exhibit as so many hours allow; the same command goes on with the rest.",
)
@click.option(
    "--only",
    metavar="NAMES",
    help="With all: papers (etana) and exhibits (abfs-figure-8, abfs-table-3) to measure now, separated by commas.",
)
@click.option("-o", "--out", required=True, metavar="DIR", help="Folder to write the report and the numbers to.")
def reproduce(
    paper: str,
    figure: int | None,
    table: int | None,
    rivals: bool,
    check: str | None,
    rows: int | None,
    seed: int,
    jobs: int,
    repeats: int | None,
    data: str | None,
    quick: bool,
    hours: float | None,
    only: str | None,
    out: str,
) -> None:
    """Reproduce a figure or table of PAPER, print the numbers and draw them.

    Papers: screening (tables 1 to 9, figures 2 and 3); fires (tables 2 to 4, figures 3 to 6); abfs (tables 1 to 12,
    figures 1 to 11); investing (tables 1 to 3, figure 2); etana (tables 1 to 4, figures 2 to 6).

    With PAPER all, every table and figure of every paper is reproduced, the cheapest first, and a page gives a verdict
    on each. Finished results are kept in the output folder and are not measured again unless the settings differ; so
    are the individual runs of tables and figures that take hours (fires, abfs). With --hours every exhibit is repeated
    as often as that time allows, all calls together, but no more often than in its paper (ten times where that does not
    say). With --only, nothing else is measured; the page shows what the folder holds of the rest.
    """
    if paper == "all":
        if figure is not None or table is not None or rivals or check:
            raise click.UsageError("With all, give none of --figure, --table, --rivals and --check.")
        from streamsift.cli.reproduce_all import reproduce_all
        from streamsift.reproduce.result import Options

        options = Options(rows, seed, jobs, repeats, data, keep=f"{out}/{RUNS}")
        reproduce_all(options, out, quick=quick, hours=hours, only=only)
        return
    if quick or hours is not None or only is not None:
        raise click.UsageError(
            "--quick, --hours and --only are for all papers; for one table give --table, --rows or --repeats."
        )
    if (figure is not None) + (table is not None) + rivals + (check is not None) != 1:
        raise click.UsageError("Give one of --figure N, --table N, --rivals and --check NAME.")
    from rich.console import Console

    from streamsift.cli.display import bars
    from streamsift.cli.output import own_folder
    from streamsift.cli.reproduce_all import commit
    from streamsift.cli.table import print_table
    from streamsift.core.exceptions import UnknownNameError
    from streamsift.report.reproduction import reproduction_report
    from streamsift.reproduce.papers import exhibits
    from streamsift.reproduce.result import Options

    name = "rivals" if rivals else f"figure {figure}" if figure is not None else f"table {table}"
    if check is not None:
        name = f"check {check}"
    available = exhibits(paper)
    if name not in available:
        raise UnknownNameError(f"reproduction of {paper}", name, available)
    folder = own_folder(out)
    options = Options(rows, seed, jobs, repeats, data, keep=f"{out}/{RUNS}")
    console, began = Console(stderr=True), perf_counter()
    try:
        with bars(shown=console.is_terminal) as bar:
            task = bar.add_task(f"{paper}, {name}", total=None)
            result = available[name](options, lambda done, total: bar.update(task, completed=done, total=total))
    except KeyboardInterrupt:
        if (folder / RUNS).is_dir():
            click.echo(f"Finished runs are kept in {folder / RUNS}: the same command goes on.", err=True)
        raise
    stem = f"{paper}-{name.replace(' ', '-')}"
    origin = {"command": _typed(paper, name, options), "commit": commit(), "seconds": round(perf_counter() - began, 1)}
    folder.write(f"{stem}.json", json.dumps({**origin, **result.as_dict()}, indent=1) + "\n")
    page = folder.write(f"{stem}.html", reproduction_report(result.as_dict()))
    print_table(result.columns, result.rows, numeric=result.columns[2:])
    click.echo(result.note, err=True)
    if result.missing:
        click.echo(f"Data missing, or not whole: {', '.join(result.missing)}.", err=True)
    click.echo(f"Drawn in {page}", err=True)


def _typed(paper: str, name: str, options: Options) -> str:
    """The command, as one would type it again."""
    rows = "" if options.rows is None else f" --rows {options.rows}"
    repeats = "" if options.repeats is None else f" --repeats {options.repeats}"
    seed = "" if options.seed == 1 else f" --seed {options.seed}"
    data = "" if options.data is None else " --data DIR"
    return f"streamsift reproduce {paper} --{name}{rows}{repeats}{seed}{data} -o out/"
