"""`streamsift select`: read a file once and say which features matter."""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamsift import __version__
from streamsift.cli.parameters import (
    assignments,
    complete_method,
    count_or_fraction,
    how_to_read,
    refuse_missing_target,
)
from streamsift.core.exceptions import InputError, ParameterError, StreamsiftWarning

if TYPE_CHECKING:
    from streamsift.cli.output import OutputFolder
    from streamsift.core.selection import Selection

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
    categorical: tuple[str, ...],
    ignore: tuple[str, ...],
    costs: str | None,
    batch: int,
    out: str | None,
    save: str | None,
    as_json: bool,
) -> int:
    """Read DATA once and print the features that tell the most about the target.

    DATA is a file, whose extension gives its format, or - for CSV from standard input. The method decides how it is
    read: row by row, column by column (investing, osfs, ...), or as instances whose values are bought one at a time
    (etana). You can interrupt a long run with Ctrl-C; with --out, what was found so far is written.
    """
    from streamsift import catalog
    from streamsift.cli.errors import INTERRUPTED
    from streamsift.cli.output import OutputFolder
    from streamsift.cli.parameters import make_selector
    from streamsift.streams import open_stream

    refuse_missing_target(data, target)
    target = target or "label"
    shortcuts = {"n_features_to_select": count, "fading": fading, "missing": missing, "eps": eps, "n_bins": bins}
    selector = make_selector(method, shortcuts, others)
    kind = catalog.entry(method).kind
    if costs is not None and kind != "instances":
        raise ParameterError(f"--costs is for methods that buy features; {method!r} does not.")
    folder = None if out is None else OutputFolder(out)
    if save is not None:
        OutputFolder(Path(save).parent)  # a run must not end with the news that its result cannot be kept
    about = {
        "data": "standard input" if data == "-" else Path(data).name,
        "target": target,
        "method": method,
        "parameters": selector.get_params(),
        "batch": batch,
        "categorical": list(categorical),
        "ignore": list(ignore),
    }
    if kind != "rows":
        return _other_kind(data, kind, selector, about, folder, costs, save, as_json)
    stream = open_stream(data, target=target, categorical=categorical, ignore=ignore)
    last, interrupted = _read(stream, selector, about, folder, quiet=as_json)
    if last is None:
        return _say(f"Interrupted before the first {batch:,} rows were read: nothing was found yet.", INTERRUPTED)
    if interrupted and folder is None:
        return _say(f"Interrupted after {last.n_rows:,} rows.", INTERRUPTED)
    if isinstance(count, int) and count > last.selection.n_features:
        there_are = f"{count:,} features were asked for and there are {last.selection.n_features:,}"
        warnings.warn(f"{there_are}: all of them are selected, so ask for fewer.", StreamsiftWarning, stacklevel=1)
    found = {"streamsift": __version__, **about, "complete": not interrupted, "seconds": round(last.seconds, 3)}
    found |= last.selection.as_dict()
    if folder is not None:
        _write(folder, found)
    if interrupted:
        return _say(f"Interrupted: what was found in the first {last.n_rows:,} rows is in {out}.", INTERRUPTED)
    if save is not None:
        _save(selector, save)  # only whole runs: an interrupt may come in the middle of a batch
    if as_json:
        click.echo(_json(found))
        return 0
    _print(found)
    if folder is not None and sys.stdout.isatty():
        click.echo(f"{folder / 'report.html'} shows the whole run; selection.json and trace.parquet lie beside it.")
    return 0


def _other_kind(
    data: str,
    kind: str,
    selector: Any,
    about: dict[str, Any],
    folder: OutputFolder | None,
    costs: str | None,
    save: str | None,
    as_json: bool,
) -> int:
    """The ways of column methods and of methods that buy features; they write reports of their own."""
    from streamsift.cli.errors import INTERRUPTED
    from streamsift.cli.select_columns import print_columns, select_columns
    from streamsift.cli.select_instances import print_trial, select_instances

    interrupted = False
    if kind == "columns":
        result, interrupted = select_columns(data, selector, about, folder, quiet=as_json)
    else:
        result = select_instances(data, selector, about, costs, folder)
    found = {"streamsift": __version__, **about, "parameters": selector.get_params(), **result}
    if folder is not None:
        folder.write("selection.json", _json(found) + "\n")
    if interrupted:
        return _say(f"Interrupted after {found['n_offered']:,} columns.", INTERRUPTED)
    if save is not None:
        _save(selector, save)
    if as_json:
        click.echo(_json(found))
    elif kind == "columns":
        print_columns(found)
    else:
        print_trial(found)
    return 0


@dataclass(frozen=True)
class Found:
    """The latest look at the selection."""

    n_rows: int
    seconds: float
    selection: Selection


def _read(
    stream: Any, selector: Any, about: dict[str, Any], folder: OutputFolder | None, *, quiet: bool
) -> tuple[Found | None, bool]:
    """Read the stream to its end or to Ctrl-C; return what was found and whether it was interrupted."""
    from streamsift.cli.display import SelectionView, live
    from streamsift.core.exceptions import OneClassWarning
    from streamsift.runs.rows import follow
    from streamsift.runs.trace import TraceWriter

    view, last = SelectionView(), None
    with ExitStack() as stack:
        writer = None
        if folder is not None:
            settings = {**about, **about["parameters"]}
            del settings["parameters"]
            writer = stack.enter_context(TraceWriter(folder / "trace.parquet", settings))
        stack.enter_context(live(view.render, quiet=quiet))
        # One class is judged at the end, when all rows are in: a file may be sorted by its label.
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", OneClassWarning)
        try:
            for step in follow(stream, selector, about["batch"]):
                view.update(step)
                if step.look is not None:
                    last = Found(step.n_rows, step.seconds, step.look.selection)
                if writer is not None:
                    writer.append(step)
        except KeyboardInterrupt:
            return last, True
        _refuse_nothing_to_learn(selector, last, about)
    return last, False


def _refuse_nothing_to_learn(selector: Any, last: Found | None, about: dict[str, Any]) -> None:
    if last is None:
        raise InputError(f"There are no rows in {about['data']!r}: give a file with at least one row below its header.")
    classes = getattr(selector, "classes_", None)  # a method that uses no labels has none
    if classes is not None and len(classes) < 2:
        label = classes.tolist()[0]
        raise InputError(
            f"All {last.n_rows:,} rows have the label {label!r} in column {about['target']!r}: with one class nothing "
            "can be told apart, so give rows of a second class or another target."
        )


def _write(folder: OutputFolder, found: dict[str, Any]) -> None:
    from streamsift.report.run import run_report
    from streamsift.report.summarize import summarize
    from streamsift.runs.trace import Trace

    folder.write("selection.json", _json(found) + "\n")
    run = summarize(Trace.read(folder / "trace.parquet"), found["method"])
    lead = f"The features that tell the most about {found['target']!r}, selected by {found['method']} in one pass"
    lead += "." if found["complete"] else "; the run was interrupted."
    folder.write("report.html", run_report(found["data"], lead, [run]))


def _save(selector: Any, path: str) -> None:
    from streamsift.persist import save

    save(selector, path)


def _json(found: dict[str, Any]) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    """Arrays among the parameters as lists, anything else that JSON does not know as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _print(found: dict[str, Any]) -> None:
    from streamsift.cli.table import print_table

    selected = found["selected"]
    scores = _scores([row.get("score") for row in selected])
    rows = [[str(row["rank"]), row["name"], score] for row, score in zip(selected, scores, strict=True)]
    print_table(["rank", "feature", "score"], rows, numeric=["rank", "score"])


def _scores(scores: list[float | str | None]) -> list[str]:
    """Scores as text, with as many digits, up to nine, as it takes to tell different ones apart.

    >>> _scores([1.5, 0.25, None, "inf"]), _scores([-7.999971, -7.999972])
    (['1.5', '0.25', '', 'inf'], ['-7.999971', '-7.999972'])
    """
    numbers = {score for score in scores if isinstance(score, float)}
    digits = next((n for n in range(6, 9) if len({f"{score:.{n}g}" for score in numbers}) == len(numbers)), 9)
    return ["" if s is None else f"{s:.{digits}g}" if isinstance(s, float) else str(s) for s in scores]


def _say(text: str, code: int) -> int:
    click.echo(text, err=True)
    return code
