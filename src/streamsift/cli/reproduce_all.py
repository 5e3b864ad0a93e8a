"""`streamsift reproduce all`: every table and figure of every paper, and one page with a verdict on each.

The cheapest exhibits come first, each as often as its time allows, as far as that takes no longer than a single repeat
of the next. Every finished repeat is kept
in the folder and not measured again unless its settings differ; of the long ones every finished run is. One exhibit
that fails is told on the page, and the others go on. Ctrl-C leaves the page of what is done.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

import click

from streamsift.cli.output import OutputFolder, own_folder
from streamsift.core.exceptions import StreamsiftError, UnknownNameError, pass_interrupt_on

if TYPE_CHECKING:
    from streamsift.reproduce.everything import ExhibitTask
    from streamsift.reproduce.record import Kept
    from streamsift.reproduce.result import Options

PAGE = "verdicts.html"
RECORDS = "results"  # the folder of what others may want to keep


class AllPapers:
    """The exhibits of one call: what is kept of each, and what failed."""

    def __init__(
        self, folder: OutputFolder, tasks: list[ExhibitTask], hours: float | None, wanted: set[str] | None = None
    ) -> None:
        from streamsift.reproduce.record import read_kept

        self.folder, self.tasks, self.hours, self.wanted = folder, tasks, hours, wanted
        self.commit = commit()
        self.kept: dict[str, Kept] = {}
        self.failures: dict[str, str] = {}
        for task in tasks:
            path = folder / f"{task.stem}.json"
            found = read_kept(path.read_text("utf-8"), task.options) if path.is_file() else None
            if found is not None:
                self.kept[task.stem] = found

    def due(self) -> Iterator[ExhibitTask]:
        """What is to be measured next, one repeat each: the one that will have cost least after it.

        An exhibit is taken up again for further repeats only if another one would end in its time; one without any
        finished repeat is continued once per call.
        """
        ended: set[str] = set()  # without time for all of their runs
        while True:
            due = [task for task in self.tasks if task.stem not in ended and self._is_due(task)]
            if not due:
                return
            task = min(due, key=lambda task: task.cost * (self._n_done(task) + 1))
            before = self._n_done(task)
            yield task
            if self._n_done(task) == before:
                ended.add(task.stem)

    def _n_done(self, task: ExhibitTask) -> int:
        from streamsift.reproduce.record import n_whole

        kept = self.kept.get(task.stem)
        return 0 if kept is None else n_whole(kept)

    def _is_due(self, task: ExhibitTask) -> bool:
        """Whether a repeat is missing, and would end in the time of the exhibit, all calls together."""
        from streamsift.reproduce.record import seconds

        done = self._n_done(task)
        if done >= task.repeats or task.stem in self.failures:
            return False
        if self.wanted is not None and task.stem not in self.wanted:
            return False
        if not done or self.hours is None:
            return True
        used = seconds(self.kept[task.stem])
        return used + used / done <= 3600 * self.hours

    def measure(self, task: ExhibitTask, progress: Any) -> None:
        """One more repeat of an exhibit, or what its time allows of it."""
        from streamsift.reproduce.record import n_whole, with_repeat

        kept = self.kept.get(task.stem)
        until = None if self.hours is None else monotonic() + 3600 * self.hours
        options = replace(task.options, seed=task.options.seed + (0 if kept is None else n_whole(kept)), until=until)
        began = perf_counter()
        result = task.function()(options, progress).as_dict()
        repeat = {"seed": options.seed, "seconds": perf_counter() - began, "result": result}
        text = json.dumps(with_repeat(kept, repeat, task.options, self.commit), indent=1) + "\n"
        (self.folder / f"{task.stem}.html").unlink(missing_ok=True)  # the page of an older result is not this one's
        self.folder.write(f"{task.stem}.json", text)
        self.kept[task.stem] = json.loads(text)  # as it will be read next time

    def records(self) -> dict[str, dict[str, Any]]:
        """What the verdicts are made from, by stem."""
        from streamsift.reproduce.record import counted, record

        return {
            task.stem: record(
                task.paper,
                task.exhibit,
                self.kept[task.stem],
                command=replace(task, repeats=len(counted(self.kept[task.stem]))).command,
                paper_repeats=task.paper_repeats,
            )
            for task in self.tasks
            if task.stem in self.kept
        }

    def write(self, record: dict[str, Any], task: ExhibitTask) -> None:
        """The record and the page of an exhibit."""
        from streamsift.report.reproduction import reproduction_report
        from streamsift.reproduce.record import text

        OutputFolder(self.folder / RECORDS).write(f"{task.stem}.json", text(record))
        page = self.folder / f"{task.stem}.html"
        if not page.is_file():
            first = self.kept[task.stem]["repeats"][0]["result"]
            self.folder.write(page.name, reproduction_report(first, record))


def reproduce_all(options: Options, out: str, *, quick: bool, hours: float | None, only: str | None) -> None:
    """Run what is not there yet, write the pages, and print the verdicts; `only` names papers and exhibits."""
    from rich.console import Console

    from streamsift.cli.display import bars
    from streamsift.cli.table import print_table
    from streamsift.reproduce.everything import plan

    tasks = plan(options, quick=quick, as_often_as_possible=hours is not None)
    wanted = None if only is None else _wanted(only, tasks)
    papers = AllPapers(own_folder(out), tasks, hours, wanted)
    console = Console(stderr=True)
    try:
        with bars(shown=console.is_terminal) as bar:
            whole = bar.add_task("all papers", total=sum(task.repeats for task in papers.tasks))
            part = bar.add_task("")
            for task in papers.due():
                bar.update(whole, completed=sum(len(kept["repeats"]) for kept in papers.kept.values()))
                bar.reset(part, total=None, description=f"{task.paper}, {task.exhibit}")
                try:
                    papers.measure(task, lambda done, total: bar.update(part, completed=done, total=total))
                except Exception as error:  # noqa: BLE001 - one exhibit must not end the others
                    pass_interrupt_on(error)
                    expected = isinstance(error, (StreamsiftError, OSError))
                    words = str(error) if expected else f"Unexpected {type(error).__name__}: {error}"
                    papers.failures[task.stem] = words
    finally:  # also after Ctrl-C: what is done is worth a page
        tables, figures = _write_pages(papers, options, quick)
    rows = [(row["table"], row["kind"], row) for row in tables] + [(row["figure"], "figures", row) for row in figures]
    print_table(
        ["paper", "shown", "verdict", "rests on", "how near"],
        [
            [row["paper"], name, row["verdict"]["word"], row["rests_on"], row["verdict"]["sentence"]]
            for name, _, row in rows
        ],
    )
    counts = Counter(f"{row['verdict']['word']} ({kind})" for _, kind, row in rows)
    click.echo(", ".join(f"{count} {word}" for word, count in counts.most_common()), err=True)
    click.echo(f"Drawn in {papers.folder / PAGE}", err=True)


def _wanted(only: str, tasks: list[ExhibitTask]) -> set[str]:
    """The stems that a list of papers and exhibits names."""
    stems = [task.stem for task in tasks]
    papers = list(dict.fromkeys(task.paper for task in tasks))
    found: set[str] = set()
    for name in filter(None, map(str.strip, only.split(","))):
        if name not in (*stems, *papers):
            raise UnknownNameError("paper or exhibit", name, [*papers, *stems])
        found |= {task.stem for task in tasks if name in (task.paper, task.stem)}
    if not found:
        raise click.UsageError("--only names nothing: give papers or exhibits, such as etana,abfs-figure-8.")
    return found


Rows = list[dict[str, Any]]


def _write_pages(papers: AllPapers, options: Options, quick: bool) -> tuple[Rows, Rows]:
    from streamsift.report.verdicts import verdicts_report
    from streamsift.reproduce.claims import judged_claims
    from streamsift.reproduce.everything import summary
    from streamsift.reproduce.figure_verdict import figures_summary
    from streamsift.reproduce.printed_figures import FIGURE_RULE
    from streamsift.reproduce.verdict import RULE

    records = papers.records()
    for task in papers.tasks:
        if task.stem in records:
            papers.write(records[task.stem], task)
    tables, figures = (judged(records, papers.failures) for judged in (summary, figures_summary))
    minutes = sum(record["seconds"] for record in records.values()) / 60
    n_tasks = len(papers.tasks)
    lead = (
        f"Every table and figure of five papers, ours beside the published: {len(records)} of {n_tasks} exhibits "
        f"measured in {minutes:.1f} minutes, seed {options.seed}."
    )
    said = []
    if quick:
        said.append("A quick look: fewer rows and repeats than in the papers. Read no verdict from it as final.")
    if options.rows is not None:
        said.append(f"At most {options.rows:,} rows of each stream.")
    failures = papers.failures
    if len(set(records) | set(failures)) < n_tasks:
        said.append(f"Not finished: {n_tasks - len(set(records) | set(failures))} exhibits were not run.")
    claims = judged_claims(records)
    page = verdicts_report(
        tables, claims, figures, rule=f"{RULE} {FIGURE_RULE}", lead=lead, callout=" ".join(said), failures=failures
    )
    papers.folder.write("verdicts.json", json.dumps(tables, indent=1) + "\n")
    papers.folder.write("figures.json", json.dumps(figures, indent=1) + "\n")
    papers.folder.write(PAGE, page)
    return tables, figures


def commit() -> str:
    """The commit of the package's own checkout, with + where files differ from it; its version where there is none."""
    from streamsift import __version__

    here = str(Path(__file__).resolve().parents[1])
    try:
        subprocess.run(
            ["git", "-C", here, "ls-files", "--error-unmatch", "__init__.py"], check=True, capture_output=True
        )
        head = subprocess.run(["git", "-C", here, "rev-parse", "--short=9", "HEAD"], check=True, capture_output=True)
        changed = subprocess.run(["git", "-C", here, "status", "--porcelain", "."], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return __version__
    return head.stdout.decode().strip() + ("+" if changed.stdout.strip() else "")
