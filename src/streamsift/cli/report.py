"""`streamsift report`: the page of a run or of a comparison that has been written before."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, Literal

import click

from streamsift.core.exceptions import InputError, StreamsiftError
from streamsift.core.plain_json import read_json

# What a page raises on a file whose parts do not fit each other; pyarrow's own errors are among them. A file that is as
# it was written is not to blame for them: then it is a defect of the page.
_DAMAGE = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, NotImplementedError, RecursionError)

EXAMPLES = """\b
Examples:
  streamsift report run/
  streamsift report run/trace.parquet -o run.html
  streamsift report comparison.json -o comparison.html
  streamsift report today/ --against yesterday/ --open
  streamsift report run/ -o run.html --export svg
"""


@click.command(short_help="Write the report of a finished run or comparison.", epilog=EXAMPLES)
@click.argument("run", metavar="RUN")
@click.option("-o", "--out", default="report.html", show_default=True, metavar="FILE", help="HTML file to write.")
@click.option("--against", metavar="RUN", help="An earlier run: show what entered, what left, and since when.")
@click.option(
    "--export",
    "kind",
    type=click.Choice(["svg", "png"]),
    help="Write each chart to a file as well, into a folder beside the page. Needs Chromium, Chrome or Edge.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
def report(run: str, out: str, against: str | None, kind: str | None, opens: bool) -> None:
    """Write the report of a RUN: a single HTML file that works offline.

    RUN is a folder written by `streamsift select --out` or `streamsift compare --out`, or the trace.parquet or
    comparison.json in it.
    """
    from streamsift.cli.output import output_file
    from streamsift.core.atomic import write_text

    target = output_file(out, lock=True)
    path = _file(Path(run))
    earlier = None if against is None else _file(Path(against))
    if kind is not None:
        from streamsift.report.export import find_browser

        find_browser()  # before anything is drawn
    try:
        page = _page(path, earlier)
    except StreamsiftError:
        raise
    except _DAMAGE as error:
        if _is_intact(path) and (earlier is None or _is_intact(earlier)):
            raise
        raise InputError(
            f"{str(path)!r} cannot be shown, it is damaged or was written by another version ({type(error).__name__}: "
            f"{error}): run the command again that wrote it."
        ) from error
    write_text(target, page)
    click.echo(f"The report is in {target}")
    if kind is not None:
        _export(page, target, "svg" if kind == "svg" else "png")
    if opens:
        _open(target)


def _open(page: Path) -> None:
    """Open a page in the browser that the system has for it, or that BROWSER names."""
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        click.echo(f"No browser could be started: open {page} in one.", err=True)


def _export(page: str, target: Path, kind: Literal["svg", "png"]) -> None:
    """Write the charts of a page into a folder beside it."""
    from streamsift.cli.output import OutputFolder
    from streamsift.report.export import export_page

    folder = OutputFolder(target.with_name(f"{target.stem}-{kind}"))
    drawn = export_page(page, kind)
    for name, content in drawn.items():
        (folder / name).write_bytes(content)
    click.echo(f"{len(drawn)} charts are in {folder.path}")


def _file(run: Path) -> Path:
    """The file that says the most about a run."""
    if not run.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(run))
    if not run.is_dir():
        return run
    for name in ("comparison.json", "trace.parquet"):
        if (run / name).exists():
            return run / name
    raise InputError(
        f"The folder {str(run)!r} holds neither comparison.json nor trace.parquet: give the folder that "
        "`streamsift select --out` or `streamsift compare` wrote."
    )


def _is_intact(path: Path) -> bool:
    """Whether the file, and the traces beside a comparison, are as they were written."""
    from streamsift.core.checksums import json_digest
    from streamsift.runs.trace import is_intact

    if path.suffix != ".json":
        return is_intact(path)
    try:
        found = read_json(path.read_text("utf-8"))
    except ValueError:
        return False
    as_written = isinstance(found, dict) and found.get("sha256") == json_digest(found)
    return as_written and all(is_intact(trace) for trace in path.parent.rglob("*.parquet"))


def _page(path: Path, earlier: Path | None) -> str:
    """The page of a comparison (JSON) or of a run of whatever kind (Parquet), beside an earlier one."""
    if earlier is not None and (path.suffix == ".json") != (earlier.suffix == ".json"):
        raise InputError(f"{str(path)!r} and {str(earlier)!r} are a run and a comparison: give two of the same.")
    from streamsift.report.against import changes_section, comparison_changes, page_name

    if path.suffix == ".json":
        from streamsift.report.comparison import comparison_report

        found = _comparison(path)
        first = [] if earlier is None else [comparison_changes(found, _comparison(earlier), page_name(str(earlier)))]
        return comparison_report(found, path.parent, first)
    from streamsift.report.trace_page import trace_page
    from streamsift.runs.trace import Trace

    trace = Trace.read(path)
    first = [] if earlier is None else [changes_section(trace, Trace.read(earlier), page_name(str(earlier)))]
    return trace_page(trace, first)


def _comparison(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not JSON: give the comparison.json of a comparison.") from error
    if isinstance(found, dict) and "entries" in found:
        return found
    raise InputError(f"{str(path)!r} is no comparison: give a comparison.json, or the trace.parquet of a run.")
