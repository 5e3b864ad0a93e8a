"""`streamsift demo`: a stream whose true features move on, and two selectors, one of which follows them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from streamsift.runs.rows import Step

EXAMPLES = """\b
Examples:
  streamsift demo
  streamsift demo --out somewhere/
"""

ROWS, BATCH = 24_000, 200
STREAM = {"n_features": 60, "n_relevant": 8, "shift_every": 800}
FADING = 0.999  # a row counts half after some 700 rows, about the time in which the true features move by one
PAUSE = 0.04  # seconds a batch: the run itself would be over before anybody could watch it
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
    from streamsift.cli.display import live
    from streamsift.cli.output import OutputFolder
    from streamsift.cli.table import print_table
    from streamsift.report.run import run_report
    from streamsift.report.summarize import summarize
    from streamsift.runs.trace import Trace, TraceWriter

    folder = OutputFolder(out)
    race = Race()
    with tempfile.TemporaryDirectory() as workplace:
        paths = [Path(workplace) / f"trace-{k}.parquet" for k in range(len(RUNS))]
        settings = [{"method": "screen:t_score", "fading": fading, "seed": seed, **STREAM} for fading in RUNS.values()]
        writers = [TraceWriter(path, about) for path, about in zip(paths, settings, strict=True)]
        with live(race.render) as watched:
            for steps in _side_by_side(seed):
                race.update(steps)
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


def _side_by_side(seed: int) -> Iterator[tuple[Step, ...]]:
    """The steps of all runs, in step; each run reads a stream of its own that is generated alike."""
    from streamsift import catalog
    from streamsift.runs.rows import follow
    from streamsift.streams import generate

    k = STREAM["n_relevant"]
    runs = []
    for fading in RUNS.values():
        selector = catalog.make("screen:t_score", n_features_to_select=k, fading=fading)
        stream = generate("linear_drift", n_rows=ROWS, seed=seed, **STREAM)
        runs.append(follow(stream, selector, BATCH, trace_every=BATCH))
    return zip(*runs, strict=True)


class Race:
    """The live view: for each run the features, marked where they are selected and where they are true."""

    def __init__(self) -> None:
        self._steps: tuple[Step, ...] = ()

    def update(self, steps: tuple[Step, ...]) -> None:
        """Take notice of the latest step of each run."""
        self._steps = steps

    def render(self) -> Any:
        """A line of features a run."""
        from rich.table import Table
        from rich.text import Text

        from streamsift.metrics.detection import detection_rate

        table = Table.grid(padding=(0, 2))
        for name, step in zip(RUNS, self._steps, strict=False):
            look = step.look
            if look is None or look.relevant is None:
                continue
            selected, relevant = set(look.selection.indices.tolist()), set(look.relevant.tolist())
            cells = Text()
            for index in range(look.selection.n_features):
                mark = "█" if index in selected else "·"
                style = "green" if index in selected & relevant else "red" if index in selected else "dim"
                cells.append("▁" if index in relevant - selected else mark, style=style)
            table.add_row(name, cells, f"{detection_rate(look.selection.indices, look.relevant):.0%} found")
        rows = self._steps[0].n_rows if self._steps else 0
        table.add_row(Text("row", style="dim"), Text(f"{rows:,} of {ROWS:,}", style="dim"))
        return table
