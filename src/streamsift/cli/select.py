"""`streamsift select`: read a file once and say which features matter."""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamsift.cli.parameters import (
    assignments,
    complete_method,
    count_or_fraction,
    how_to_read,
    refuse_missing_file,
    refuse_missing_target,
)
from streamsift.core.exceptions import ParameterError, StreamsiftWarning

if TYPE_CHECKING:
    from streamsift.cli.output import OutputFolder
    from streamsift.runs.lead import Ended

EXAMPLES = """\b
Examples:
  streamsift select people.csv --target income
  streamsift select clicks.parquet --target bought --method screen:t_score -k 0.1 --fading 0.999 --out run/
  zcat log.csv.gz | streamsift select - --target alarm -k 5 --json
  streamsift select people.csv --target income --method screen:chi2 --set n_bins=10 --missing skip
  streamsift select table.parquet --target y --method investing
  streamsift select patients.csv --target disease --method etana --costs prices.csv
  streamsift select people.csv --target income --ignore id --categorical zip_code
"""


@click.command(short_help="Select the features of a file.", epilog=EXAMPLES)
@click.argument("data", metavar="DATA")
@click.option("--target", metavar="COLUMN", help="Column that holds the label. Not needed for LIBSVM files.")
@click.option(
    "--method",
    default="screen:mutual_info",
    show_default=True,
    metavar="NAME",
    shell_complete=complete_method,
    help="Selection method. `streamsift methods` lists them all.",
)
@click.option(
    "-k",
    "count",
    callback=count_or_fraction,
    metavar="N",
    show_default="10",
    help="Number of features to select (20), or a fraction of them (0.1). Some methods choose the number themselves.",
)
@click.option(
    "--fading",
    type=float,
    show_default="1, no fading",
    help="Factor by which each new row fades the rows before it. Use about 0.999 for streams that drift.",
)
@click.option(
    "--missing", type=click.Choice(["error", "skip"]), show_default="error", help="What to do about missing values."
)
@click.option(
    "--eps",
    type=float,
    show_default="0.001",
    help="Largest rank error of the quantile summaries, as a fraction of the rows.",
)
@click.option("--bins", type=int, show_default="5", help="Number of bins, for methods that cut features into bins.")
@click.option(
    "--set",
    "others",
    multiple=True,
    callback=assignments,
    metavar="NAME=VALUE",
    help="Set any other parameter of the method. May be given several times.",
)
@how_to_read
@click.option("--costs", metavar="FILE", help="CSV file of `feature,price`, for methods that buy features (etana).")
@click.option("--batch", default=1000, show_default=True, type=click.IntRange(1), help="Rows per batch.")
@click.option("-o", "--out", metavar="DIR", help="Folder to write selection.json, trace.parquet and report.html to.")
@click.option("--save", metavar="FILE", help="File to save the fitted selector to, so that it can continue later.")
@click.option("--json", "as_json", is_flag=True, help="Print the selection as JSON and nothing else.")
@click.option("--quiet", is_flag=True, help="Print no progress and no remarks, only the result and what went wrong.")
def select(
    data: str,
    target: str | None,
    method: str,
    count: int | float | None,
    fading: float | None,
    missing: str | None,
    eps: float | None,
    bins: int | None,
    others: dict[str, Any],
    reading: dict[str, Any],
    costs: str | None,
    batch: int,
    out: str | None,
    save: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Read DATA once and print the features that tell the most about the target.

    DATA is a file, whose extension gives its format, or - for CSV from standard input. The method decides how it is
    read: row by row, column by column (investing, osfs, ...), or as instances whose values are bought one at a time
    (etana). You can interrupt a long run with Ctrl-C; with --out, what was found so far is written.
    """
    refuse_missing_target(data, target)
    refuse_missing_file(data)
    from streamsift import catalog
    from streamsift.cli.display import RunView, live
    from streamsift.cli.output import output_file, own_folder
    from streamsift.cli.parameters import make_selector
    from streamsift.runs.lead import lead, loop_for
    from streamsift.runs.run import Run

    shortcuts = {"n_features_to_select": count, "fading": fading, "missing": missing, "eps": eps, "n_bins": bins}
    selector = make_selector(method, shortcuts, others)
    if costs is not None and not loop_for(method).takes_prices:
        raise ParameterError(f"--costs is for methods that buy features; {method!r} does not.")
    folder = None if out is None else own_folder(out)
    if save is not None:
        output_file(save)  # a run must not end by saying that its result cannot be kept
    run = Run(
        method,
        catalog.entry(method).kind,
        "standard input" if data == "-" else Path(data).name,
        target or "label",
        selector.get_params(),
        {"batch_size": batch, "categorical": [], "ignore": [], **reading},
    )
    view, trace_path = RunView(), None if folder is None else folder / "trace.parquet"
    with live(view.render, view.line, drawn=not as_json, quiet=quiet):
        ended = lead(selector, run, data, prices=costs, trace_path=trace_path, show=view.update)
    if not ended.run.complete:
        return _interrupted(ended, folder)
    with ExitStack() as last:  # each of these is done whatever happens to the others, the last one first
        last.callback(_show, ended, count, as_json=as_json)
        if save is not None:
            last.callback(_save, selector, save)
        if folder is not None:
            last.callback(_write, folder, ended)
    if folder is not None and sys.stdout.isatty():
        click.echo(f"{folder / 'report.html'} shows the whole run; selection.json and trace.parquet lie beside it.")
    return 0


def _interrupted(ended: Ended, folder: OutputFolder | None) -> int:
    """Keep what was found, where there is a folder for it. No selector is saved: it may be in the middle of a batch."""
    from streamsift.core.interrupts import exit_code

    if ended.result is None:
        text = "Interrupted before anything was read: nothing was found yet."
    elif folder is None:
        text = f"Interrupted after {ended.result.reach()}."
    else:
        _write(folder, ended)
        text = f"Interrupted: what was found in the first {ended.result.reach()} is in {folder.path}."
    click.echo(text, err=True)
    return exit_code()


def _write(folder: OutputFolder, ended: Ended) -> None:
    from streamsift.report.trace_page import trace_page
    from streamsift.runs.trace import Trace

    folder.write("selection.json", _json(ended) + "\n")
    folder.write("report.html", trace_page(Trace.read(folder / "trace.parquet")))


def _save(selector: Any, path: str) -> None:
    from streamsift.core.atomic import reason
    from streamsift.persist import save

    try:
        save(selector, path)
    except OSError as error:
        raise OSError(f"The selector cannot be saved to {path!r}: {reason(error)}.") from error


def _show(ended: Ended, count: int | float | None, *, as_json: bool) -> None:
    """Print the result; what goes with it goes to the standard error."""
    from streamsift.cli.table import print_table

    if ended.result is None:
        return
    there_are = ended.result.as_dict().get("n_features")
    if isinstance(count, int) and there_are is not None and count > there_are:
        words = f"{count:,} features were asked for and there are {there_are:,}"
        warnings.warn(f"{words}: all of them are selected, so ask for fewer.", StreamsiftWarning, stacklevel=1)
    if as_json:
        click.echo(_json(ended))
        return
    for table in ended.result.tables():
        print_table(table.columns, table.rows, numeric=table.numeric)
    if ended.result.note():
        click.echo(ended.result.note(), err=True)


def _json(ended: Ended) -> str:
    from streamsift.runs.trace_writer import plain

    return json.dumps(ended.as_dict(), indent=2, ensure_ascii=False, allow_nan=False, default=plain)
