"""`streamsift reproduce all`: every table of every paper, and one page with a verdict on each.

Each finished exhibit is kept in the folder and not run again unless its settings differ. One that fails is told on the
page, and the others go on. Ctrl-C leaves the page of what is done.
"""

from __future__ import annotations

import json
from collections import Counter
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from streamsift.cli.output import OutputFolder, own_folder
from streamsift.core.exceptions import StreamsiftError, pass_interrupt_on

if TYPE_CHECKING:
    from streamsift.reproduce.everything import ExhibitTask
    from streamsift.reproduce.result import Options

PAGE = "verdicts.html"


def reproduce_all(options: Options, out: str, *, quick: bool) -> None:
    """Run what is not there yet, write the pages, and print the verdicts."""
    from rich.console import Console
    from rich.progress import Progress

    from streamsift.cli.table import print_table
    from streamsift.report.reproduction import reproduction_report
    from streamsift.reproduce.everything import kept, plan

    folder = own_folder(out)
    tasks = plan(options, quick=quick)
    results: dict[str, dict[str, Any]] = {}
    failures: dict[str, str] = {}
    for task in tasks:
        path = folder / f"{task.stem}.json"
        found = kept(path.read_text("utf-8"), task) if path.is_file() else None
        if found is not None:
            results[task.stem] = found
    console = Console(stderr=True)
    try:
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            whole = bar.add_task("all papers", total=len(tasks))
            part = bar.add_task("")
            for number, task in enumerate(tasks):
                bar.update(whole, completed=number)
                bar.reset(part, total=None, description=f"{task.paper}, {task.exhibit}")
                if task.stem in results and (folder / f"{task.stem}.html").is_file():
                    continue
                try:
                    if task.stem not in results:
                        results[task.stem] = _measure(
                            task, folder, lambda done, total: bar.update(part, completed=done, total=total)
                        )
                    folder.write(f"{task.stem}.html", reproduction_report(results[task.stem]))
                except Exception as error:  # noqa: BLE001 - one exhibit must not end the others
                    pass_interrupt_on(error)
                    expected = isinstance(error, (StreamsiftError, OSError))
                    failures[task.stem] = str(error) if expected else f"Unexpected {type(error).__name__}: {error}"
    finally:  # also after Ctrl-C: what is done is worth a page
        summary = _write_page(folder, options, quick, len(tasks), results, failures)
    print_table(
        ["paper", "table", "verdict", "how near"],
        [[row["paper"], row["table"], row["verdict"]["word"], row["verdict"]["sentence"]] for row in summary],
    )
    counts = Counter(row["verdict"]["word"] for row in summary)
    click.echo(", ".join(f"{count} {word}" for word, count in counts.most_common()), err=True)
    click.echo(f"Drawn in {folder / PAGE}", err=True)


def _measure(task: ExhibitTask, folder: OutputFolder, progress: Any) -> dict[str, Any]:
    began = perf_counter()
    result = task.function()(task.options, progress).as_dict()
    text = json.dumps({**result, "settings": task.settings, "seconds": perf_counter() - began}, indent=1) + "\n"
    (folder / f"{task.stem}.html").unlink(missing_ok=True)  # the page of an older result is not this one's
    folder.write(f"{task.stem}.json", text)
    read: dict[str, Any] = json.loads(text)  # as it will be read next time
    return read


def _write_page(
    folder: OutputFolder,
    options: Options,
    quick: bool,
    n_tasks: int,
    results: dict[str, dict[str, Any]],
    failures: dict[str, str],
) -> list[dict[str, Any]]:
    from streamsift.report.verdicts import verdicts_report
    from streamsift.reproduce.everything import summary
    from streamsift.reproduce.verdict import RULE

    tables = summary(results, failures)
    minutes = sum(result.get("seconds", 0.0) for result in results.values()) / 60
    lead = (
        f"Every table of five papers, ours beside the published: {len(results)} of {n_tasks} exhibits measured in "
        f"{minutes:.1f} minutes, seed {options.seed}."
    )
    said = []
    if quick:
        said.append("A quick look: fewer rows and repeats than in the papers. Read no verdict from it as final.")
    if options.rows is not None:
        said.append(f"At most {options.rows:,} rows of each stream.")
    if len(results) + len(failures) < n_tasks:
        said.append(f"Not finished: {n_tasks - len(results) - len(failures)} exhibits were not run.")
    page = verdicts_report(tables, rule=RULE, lead=lead, callout=" ".join(said), failures=failures)
    folder.write("verdicts.json", json.dumps(tables, indent=1) + "\n")
    folder.write(PAGE, page)
    return tables
