"""`streamsift select`: read a file once and say which features matter."""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamsift.cli.choosing import MEMORY, USUAL
from streamsift.cli.following import SCHEMES, Following, can_follow, shown
from streamsift.cli.in_parts import InParts, can_be_in_parts, first_part, select_in_parts, show_keys, stands_for_files
from streamsift.cli.parameters import (
    assignments,
    complete_method,
    count_or_rule,
    half_life,
    how_to_read,
    refuse_missing_file,
    refuse_missing_target,
)
from streamsift.cli.resuming import Wishes, begun, can_go_on, checkpointing, load_selector
from streamsift.cli.sharing import group_in, refuse_what_cannot_be_shared, select_in_group
from streamsift.cli.tasks import refuse_other_task, settle, task_option
from streamsift.core.exceptions import ParameterError, StreamsiftWarning

if TYPE_CHECKING:
    from streamsift.cli.output import OutputFolder
    from streamsift.runs.lead import Ended

EXAMPLES = """\b
Examples:
  streamsift select people.csv --target income
  streamsift select people.csv --target income -k fwe:0.01
  streamsift select clicks.parquet --target bought --method screen:t_score -k 0.1 --fading 0.999 --out run/
  streamsift select clicks.parquet --target bought --half-life 1h --time clicked_at
  zcat log.csv.gz | streamsift select - --target alarm -k 5 --json
  streamsift select people.csv --target income --method screen:chi2 --set n_bins=10 --missing skip
  streamsift select table.parquet --target y --method investing
  streamsift select houses.csv --target price --method joint:forward --task regression
  streamsift select table.parquet --target y --method investing --make pairs,squares,logs
  streamsift select prices.csv --target tomorrow --method investing:alpha --make lags:5,splines --out run/
  streamsift select patients.csv --target disease --method etana --costs prices.csv
  streamsift select people.csv --target income --ignore id --categorical zip_code
  streamsift select huge.csv --target income --checkpoint huge.ckpt --every 5m --resume
  streamsift select new.csv --target income --load huge.ckpt
  streamsift select 'data/*.parquet' --target income --jobs 8
  streamsift select data/ --target income --method fires --engine dask --prescreen 2000
  streamsift select data/ --target income --by country
  streamsift select 'words/*.npz' --target topic --method screen:chi2 --memory 4GB --jobs 8
  streamsift select tail:clicks.csv --target bought --checkpoint clicks.ckpt --resume --dead-letters bad.jsonl
  streamsift select 'redis://localhost:6379/clicks?field=row' --target bought --stop-after-idle 5m
  streamsift select 'kafka://localhost:9092/clicks?group=team' --target bought --checkpoint clicks.ckpts
"""


@click.command(short_help="Select the features of a file.", epilog=EXAMPLES)
@click.argument("data", metavar="DATA")
@click.option("--target", metavar="COLUMN", help="Column that holds the label. Not needed for LIBSVM files.")
@task_option
@click.option(
    "--method",
    show_default="joint:forward",
    metavar="NAME",
    shell_complete=complete_method,
    help="Selection method; `streamsift methods` lists them all. Where categories of many values dominate, the default "
    "is screen:mutual_info (for numbers screen:correlation).",
)
@click.option(
    "-k",
    "count",
    callback=count_or_rule,
    metavar="N|RULE",
    show_default="fdr:0.05 for joint:forward and screen:*, else 10",
    help="Number of features to select (20), a fraction of them (0.1), or as many as a false discovery rate "
    "(fdr:0.05), a chance of any false selection (fwe:0.05) or a false positive rate (fpr:0.05) allows. Some methods "
    "choose the number themselves.",
)
@click.option(
    "--fading",
    type=float,
    show_default="1, no fading",
    help="Factor by which each new row fades the rows before it. Use about 0.999 for streams that drift.",
)
@click.option(
    "--half-life",
    callback=half_life,
    metavar="ROWS|TIME",
    help="Fading by half-life: a row counts half after this many rows (10000) or this long (1h, 7d; needs --time).",
)
@click.option(
    "--time", metavar="COLUMN", help="Column with the times of the rows, for --half-life 1h. It is not a feature."
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
@click.option(
    "--make",
    metavar="RECIPES",
    help="Columns to make from those of DATA, for methods that judge columns (investing, osfs, ...): pairs, triples, "
    "squares, cubes, polynomial:3, logs, splines:5 and lags:5 of numbers, onehot and crosses:16 of categories, with "
    "commas between them. They follow the columns of DATA, and are made, judged and forgotten block by block.",
)
@click.option("--costs", metavar="FILE", help="CSV file of `feature,price`, for methods that buy features (etana).")
@click.option("--batch-size", default=1000, show_default=True, type=click.IntRange(1), help="Rows per batch.")
@click.option("-o", "--out", metavar="DIR", help="Folder to write selection.json, trace.parquet and report.html to.")
@click.option("--save", metavar="FILE", help="File to save the fitted selector to, so that --load can go on with it.")
@can_go_on
@can_be_in_parts
@can_follow
@click.option("--json", "as_json", is_flag=True, help="Print the selection as JSON and nothing else.")
@click.option("--quiet", is_flag=True, help="Print no progress and no remarks, only the result and what went wrong.")
def select(
    data: str,
    target: str | None,
    task: str,
    method: str | None,
    count: int | float | str | None,
    fading: float | None,
    half_life: float | str | None,
    time: str | None,
    missing: str | None,
    eps: float | None,
    bins: int | None,
    others: dict[str, Any],
    reading: dict[str, Any],
    make: str | None,
    costs: str | None,
    batch_size: int,
    out: str | None,
    save: str | None,
    wishes: Wishes,
    parts: InParts,
    following: Following,
    as_json: bool,
    quiet: bool,
) -> int:
    """Read DATA once and print the features that tell the most about the target.

    DATA is a file, whose extension gives its format, or - for CSV from standard input; or a source without an end:
    tail:FILE (a growing file), redis://HOST:PORT/STREAM?field=NAME or kafka://BROKER:PORT/TOPIC?format=json. The
    method decides how it is read: row by row, column by column (investing, osfs, ...), or as instances whose values
    are bought one at a time (etana). You can interrupt a long run with Ctrl-C; with --out, what was found so far is
    written. With --checkpoint, the same command and --resume goes on where the run was interrupted or killed, and ends
    with the same result. With kafka://BROKER:PORT/TOPIC?group=NAME several processes share a topic, and --checkpoint is
    a folder for all of them, whose common result `streamsift inspect FOLDER` shows.
    """
    refuse_missing_target(data, target)
    endless = data.startswith(SCHEMES)
    if endless:
        parts.refuse_endless()
    in_parts = not endless and (parts.asked or stands_for_files(data))
    if not in_parts and not endless:
        refuse_missing_file(data)
    from streamsift import catalog
    from streamsift.cli.display import RunView, live, silenced
    from streamsift.cli.making import check_make, refuse_rows_for_make, with_made_columns
    from streamsift.cli.output import output_file, own_folder
    from streamsift.cli.parameters import make_selector
    from streamsift.runs.lead import lead, loop_for
    from streamsift.runs.run import Run

    shortcuts = {"n_features_to_select": count, "fading": fading, "half_life": half_life, "time": time}
    shortcuts |= {"missing": missing, "eps": eps, "n_bins": bins}
    loaded, why = None, ""
    if wishes.load is not None:
        loaded = load_selector(wishes.load, method, shortcuts | others, target)
        method = loaded.method
        selector, of_run = loaded.selector, refuse_other_task(task, loaded.selector, wishes.load)
    else:
        if make is not None:
            refuse_rows_for_make(method or USUAL)
        with silenced(quiet):
            task = str(others.get("task", task))
            sample = first_part(data) if in_parts else data
            given = [*others, *(name for name, value in shortcuts.items() if value is not None)]
            given += [MEMORY] if parts.memory is not None else []
            method, of_method, of_run, why = settle(task, sample, target, method, reading, given, in_parts=in_parts)
        selector = make_selector(method, shortcuts, of_method | others)
    if loaded is None and count is None and "n_features_to_select" not in others and hasattr(selector, "usual_rule"):
        selector.set_params(n_features_to_select=selector.usual_rule)
    if in_parts:
        _refuse_beside_parts(out=out, costs=costs, make=make, checkpoint=wishes.checkpoint, load=wishes.load)
        if save is not None and parts.memory is not None:
            raise click.UsageError("--save keeps a selector, and --memory gives scores only: leave one out.")
        if save is not None:
            output_file(save)
        view = RunView()
        with live(view.render, view.line, drawn=not as_json, quiet=quiet):
            fitted, keys = select_in_parts(
                data, selector, target, parts, {"batch_size": batch_size, **reading, **of_run}, view.update
            )
        return _show_parts(fitted, keys, target or "label", parts.by or "", save, why, as_json=as_json, quiet=quiet)
    if costs is not None and loaded is not None:
        raise ParameterError("--costs does not go with --load: a classifier goes on with the prices it was saved with.")
    if costs is not None and not loop_for(method).takes_prices:
        raise ParameterError(f"--costs is for methods that buy features; {method!r} does not.")
    endless = endless or following.sequence is not None
    view = RunView()
    source = following.source(data, resumes=wishes.resume, heard=view.wait)
    if endless and not loop_for(method).without_end:
        raise ParameterError(f"{method!r} needs all rows at once, and {data} has no end: choose a method over rows.")
    group = group_in(data)
    if group is not None:
        beside = {"out": out, "save": save, "make": make, "costs": costs}
        refuse_what_cannot_be_shared(
            selector, wishes, reading, **beside, dead_letters=following.dead_letters, sequence=following.sequence
        )
    recipes = None if make is None else check_make(make, method, selector, goes_on=loaded is not None)
    if recipes is not None:
        source = with_made_columns(data, target, recipes, reading)
        of_run = of_run | {"make": recipes}
    folder = None if out is None else own_folder(out)
    if save is not None:
        output_file(save)  # a run must not end by saying that its result cannot be kept
    if save is not None and save == wishes.checkpoint:
        raise ParameterError("--save and --checkpoint name the same file: give two.")
    run = Run(
        method,
        catalog.entry(method).kind,
        "standard input" if data == "-" else shown(data) if endless else Path(data).name,
        target or "label",
        selector.get_params(),
        {"batch_size": batch_size, "categorical": [], "ignore": [], **reading, **of_run},
    )
    if group is not None:
        run = replace(run, settings={**run.settings, "topic": run.data, "group": group})
        drawn = live(view.render, view.line, drawn=not as_json, quiet=quiet)
        complete, shared = select_in_group(source, selector, run, wishes, view, drawn)
        return _show_shared(shared, run.target, why, complete=complete, as_json=as_json, quiet=quiet)
    keeping = checkpointing(wishes, quiet=quiet)
    selector = begun(keeping, run) or selector
    trace_path = None if folder is None else folder / "trace.parquet"
    with live(view.render, view.line, drawn=not as_json, quiet=quiet):
        ended = lead(
            selector,
            run,
            source,
            prices=costs,
            trace_path=trace_path,
            checkpoint=keeping,
            goes_on=loaded is not None,
            before=None if loaded is None else loaded.before,
            show=view.update,
        )
    if not ended.run.complete:
        return _interrupted(ended, folder, wishes.checkpoint)
    with ExitStack() as last:  # each of these is done whatever happens to the others, the last one first
        last.callback(_show, ended, count, why, as_json=as_json, quiet=quiet)
        if save is not None:
            last.callback(_save, selector, save, ended)
        if folder is not None:
            last.callback(_write, folder, ended)
    if folder is not None and sys.stdout.isatty():
        click.echo(f"{folder / 'report.html'} shows the whole run; selection.json and trace.parquet lie beside it.")
    return 0


def _refuse_beside_parts(**others: str | None) -> None:
    for name, value in others.items():
        if value is not None:
            raise click.UsageError(
                f"--{name} does not go with a table in parts (--engine, --jobs, --prescreen, --by, --memory)."
            )


def _show_parts(
    fitted: Any,
    keys: list[dict[str, Any]] | None,
    target: str,
    by: str,
    save: str | None,
    why: str,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Print what an engine has found, and keep the selector where that is wanted."""
    from streamsift.persist import save as save_selector
    from streamsift.runs.columns import ColumnResult
    from streamsift.runs.rows import RowResult, because_of

    if keys is not None:
        if save is not None:
            raise click.UsageError("--save keeps one selector, and --by makes many: leave one out.")
        show_keys(keys, by, as_json=as_json)
        return 0
    if save is not None:
        save_selector(fitted, save)
    result: RowResult | ColumnResult
    if hasattr(fitted, "n_offered_"):
        result = ColumnResult.of(fitted, fitted.n_offered_)
    else:
        selection = fitted.selection()
        because = because_of(fitted, target, len(selection))
        result = RowResult(
            selection, getattr(fitted, "n_rows_unlabelled_", 0), False, because,
            held_back=getattr(fitted, "held_back_", 0),
        )  # fmt: skip
    if as_json:
        click.echo(json.dumps(result.as_dict(), indent=2, ensure_ascii=False, allow_nan=False))
        return 0
    _print(result, why, quiet=quiet)
    return 0


def _show_shared(folder: Path, target: str, why: str, *, complete: bool, as_json: bool, quiet: bool) -> int:
    """Print what all processes have found, as far as their checkpoints go."""
    from streamsift.core.interrupts import exit_code
    from streamsift.runs.claims import load_shared

    if not complete:
        click.echo(
            f"Interrupted. The same command goes on; `streamsift inspect {folder}` shows what is known.", err=True
        )
        return exit_code()
    return _show_parts(load_shared(folder).selector, None, target, "", None, why, as_json=as_json, quiet=quiet)


def _print(result: Any, why: str, *, quiet: bool) -> None:
    """The result; how it came about goes to the standard error."""
    from streamsift.cli.table import print_table

    for table in result.tables():
        print_table(table.columns, table.rows, numeric=table.numeric)
    for note in (why, result.note()):
        if note and not quiet:
            click.echo(note, err=True)


def _interrupted(ended: Ended, folder: OutputFolder | None, checkpoint: str | None) -> int:
    """Keep what was found, where there is a folder for it. No selector is saved: it may be in the middle of a batch."""
    from streamsift.core.interrupts import exit_code

    if ended.result is None:
        text = "Interrupted before anything was read: nothing was found yet."
    elif folder is None:
        text = f"Interrupted after {ended.result.reach()}."
    else:
        _write(folder, ended)
        text = f"Interrupted: what was found in the first {ended.result.reach()} is in {folder.path}."
    if ended.kept:
        text += f" The same command with --resume goes on from {checkpoint}."
    click.echo(text, err=True)
    return exit_code()


def _write(folder: OutputFolder, ended: Ended) -> None:
    from streamsift.report.trace_page import trace_page
    from streamsift.runs.trace import Trace

    folder.write("selection.json", _json(ended) + "\n")
    folder.write("report.html", trace_page(Trace.read(folder / "trace.parquet")))


def _save(selector: Any, path: str, ended: Ended) -> None:
    from streamsift.core.atomic import reason
    from streamsift.persist import parts_of, write
    from streamsift.runs.checkpoint import RUN, run_section

    try:
        write(path, parts_of(selector), {RUN: run_section(ended.run, ended.source)})
    except OSError as error:
        raise OSError(f"The selector cannot be saved to {path!r}: {reason(error)}.") from error


def _show(ended: Ended, count: int | float | str | None, why: str, *, as_json: bool, quiet: bool) -> None:
    """Print the result; what goes with it goes to the standard error."""
    if ended.result is None:
        return
    there_are = ended.result.as_dict().get("n_features")
    if isinstance(count, int) and there_are is not None and count > there_are:
        there = f"are {there_are:,}: all of them are" if there_are != 1 else "is only one: it is"
        words = f"{count:,} features were asked for and there {there} selected, so ask for fewer."
        warnings.warn(words, StreamsiftWarning, stacklevel=1)
    if as_json:
        click.echo(_json(ended))
        return
    _print(ended.result, why, quiet=quiet)


def _json(ended: Ended) -> str:
    from streamsift.runs.trace_writer import plain

    return json.dumps(ended.as_dict(), indent=2, ensure_ascii=False, allow_nan=False, default=plain)
