"""`streamsift demo`: a stream whose true features move on, and two selectors, one of which follows them."""

from __future__ import annotations

import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from streamsift.runs.rows import RowStep

EXAMPLES = """\b
Examples:
  streamsift demo
  streamsift demo --out somewhere/
"""

ROWS, BATCH = 24_000, 200
STREAM = {"n_features": 60, "n_relevant": 8, "shift_every": 800}
FADING = 0.999  # a row counts half after some 700 rows, about the time in which the true features move by one
PAUSE = 0.04  # seconds per batch: the run itself would be over before anybody could watch it
RUNS = {f"fading {FADING}": FADING, "no fading": 1.0}


@click.command(short_help="Watch a selector follow a drift.", epilog=EXAMPLES)
@click.option("-o", "--out", default="streamsift-demo", show_default=True, metavar="DIR", help="Folder for the report.")
@click.option("--seed", default=0, show_default=True, help="Seed for the generated stream.")
def demo(out: str, seed: int) -> None:
    """Watch a selector follow a drifting stream, next to one that cannot forget.

    The stream is generated. It has 60 features, 8 of which are relevant, and every 800 rows the window of relevant
    features moves on by one. Both selectors use the t-score, but only one lets old rows fade. The report shows the
    whole run.
    """
    from streamsift.cli.display import RunView, live
    from streamsift.cli.output import own_folder
    from streamsift.cli.table import print_table
    from streamsift.report.run import run_report
    from streamsift.report.summarize import summarize
    from streamsift.runs.row_trace import RowTraceWriter
    from streamsift.runs.run import Run
    from streamsift.runs.trace import Trace

    folder = own_folder(out)
    race = Race()
    view = RunView(race)
    with tempfile.TemporaryDirectory() as workplace:
        paths = [Path(workplace) / f"trace-{k}.parquet" for k in range(len(RUNS))]
        settings = {"seed": seed, **STREAM}
        runs = [Run("screen:t_score", parameters={"fading": fading}, settings=settings) for fading in RUNS.values()]
        writers = [RowTraceWriter(path, run) for path, run in zip(paths, runs, strict=True)]
        with live(view.render) as watched:
            for steps in _side_by_side(seed):
                for step in steps:
                    view.update(step)
                time.sleep(PAUSE if watched else 0.0)
                for writer, step in zip(writers, steps, strict=True):
                    writer.append(step)
        for writer in writers:
            writer.close()
        summaries = [summarize(Trace.read(path), name) for path, name in zip(paths, RUNS, strict=True)]
    lead = (
        f"{STREAM['n_features']} features, {STREAM['n_relevant']} of them true; every {STREAM['shift_every']} rows the "
        "window of true features moves on by one. One selector lets old rows fade, the other remembers everything."
    )
    report = folder.write("report.html", run_report("Following a drift", lead, summaries))
    rows = [[run["name"], f"{run['detection']['mean_second_half']:.1%}"] for run in summaries]
    print_table(["selector", "true features found (second half)"], rows, numeric=["true features found (second half)"])
    click.echo(f"The report is in {report}")


def _side_by_side(seed: int) -> Iterator[tuple[RowStep, ...]]:
    """The steps of all runs, in step; each run reads a stream of its own that is generated alike."""
    from streamsift import catalog
    from streamsift.runs.rows import follow_rows
    from streamsift.streams import generate

    def run(fading: float, n_rows: int) -> Iterator[RowStep]:
        selector = catalog.make("screen:t_score", n_features_to_select=STREAM["n_relevant"], fading=fading)
        stream = generate("linear_drift", n_rows=n_rows, seed=seed, **STREAM)
        return follow_rows(stream, selector, BATCH, trace_every=BATCH)

    for fading in RUNS.values():  # compiles: the time of a run in the report is not the compiler's
        deque(run(fading, BATCH), maxlen=0)
    return zip(*(run(fading, ROWS) for fading in RUNS.values()), strict=True)


class Race:
    """The body of the live view: for each run the features, marked where they are selected and where they are true."""

    def __init__(self) -> None:
        self._steps: deque[RowStep] = deque(maxlen=len(RUNS))

    def update(self, step: RowStep) -> None:
        """Take notice of a step; those of the runs come in turn."""
        self._steps.append(step)

    def render(self) -> Any:
        """One line of features for each run."""
        from rich.table import Table
        from rich.text import Text

        from streamsift.metrics.detection import detection_rate

        table = Table.grid(padding=(0, 2))
        for name, step in zip(RUNS, tuple(self._steps), strict=False):
            now = step.snapshot
            if now is None or now.relevant is None:
                continue
            selected, relevant = set(now.selection.indices.tolist()), set(now.relevant.tolist())
            cells = Text()
            for index in range(now.selection.n_features):
                mark = "█" if index in selected else "·"
                style = "green" if index in selected & relevant else "red" if index in selected else "dim"
                cells.append("▁" if index in relevant - selected else mark, style=style)
            table.add_row(name, cells, f"{detection_rate(now.selection.indices, now.relevant):.0%} found")
        return table
