"""`streamsift compare`: several methods over the same stream, in one table, with a recommendation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from streamsift.cli.parameters import (
    complete_method,
    count_or_fraction,
    how_to_read,
    refuse_missing_file,
    refuse_missing_target,
)
from streamsift.cli.tasks import task_option
from streamsift.core.exceptions import ParameterError
from streamsift.core.values import read_budget, split_outside

if TYPE_CHECKING:
    from streamsift.cli.output import OutputFolder
    from streamsift.comparison.comparison import Comparison
    from streamsift.comparison.plan import ComparedRun, ComparisonPlan
    from streamsift.runs.workers import Outcome

EXAMPLES = """\b
Examples:
  streamsift compare people.csv --target income -o out/
  streamsift compare clicks.parquet --target bought --methods screen:fisher,fires,abfs,all,random --models nb,perceptron
  streamsift compare generate:sea,irrelevant=20,drift=abrupt --rows 20000 -k 2 --jobs 2 -o out/
  streamsift compare people.csv --target income --methods fires,ofs --repeats 10 --json
  streamsift compare people.csv --target income --set screen:t_score.fading=0.98 --set screen:t_score.fading=0.9
  streamsift compare people.csv --target income --methods "screen:t_score,screen:t_score(fading=0.98)" --budget 2m
  streamsift compare fraud.csv --target fraud --metric f1 --budget 2h -o out/
  streamsift compare generate:friedman_drift,n_features=20 --rows 5000 -k 5 --models sgd,knn -o out/
"""


def names(context: click.Context, parameter: click.Parameter, text: str | None) -> list[str] | None:
    """Names with commas between them; commas in brackets belong to settings."""
    return None if text is None else split_outside(text)


def settings(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> list[str]:
    """`METHOD.NAME=VALUE` as names of methods with settings, which is how a comparison shows them."""
    found = []
    for text in texts:
        method, point, given = text.partition("=")[0].rpartition(".")
        if not point or not method or not given or "=" not in text:
            raise click.BadParameter(f"{text!r} is not of the form METHOD.NAME=VALUE: screen:t_score.fading=0.98.")
        found.append(f"{method}({text[len(method) + 1 :]})")
    return found


def seconds(context: click.Context, parameter: click.Parameter, text: str) -> float | None:
    """A time, or none."""
    try:
        return read_budget(text)
    except ParameterError as error:
        raise click.BadParameter(str(error)) from error


def complete_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Method names behind the last comma, for the shell's completion."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in complete_method(context, parameter, last)]


@click.command(short_help="Compare methods over the same stream.", epilog=EXAMPLES)
@click.argument("data", metavar="DATA")
@click.option(
    "--target", metavar="COLUMN", help="Column that holds the label. Not needed for generate:NAME or LIBSVM files."
)
@click.option(
    "--methods",
    callback=names,
    metavar="NAME,NAME",
    shell_complete=complete_names,
    show_default="every method that suits the data",
    help="Methods to compare, with settings in brackets if need be: screen:t_score(fading=0.98). oracle stands for the "
    "true features of a generated stream.",
)
@click.option(
    "--set",
    "also",
    multiple=True,
    callback=settings,
    metavar="METHOD.NAME=VALUE",
    help="Compare METHOD with this setting, too; several settings with commas between them. Each --set adds an entry.",
)
@click.option(
    "--baselines",
    default="all,random,majority",
    show_default=True,
    callback=names,
    metavar="NAME,NAME",
    help="Baselines to add: all features, random features, and the most frequent class (for numbers, their mean); "
    "or none.",
)
@click.option(
    "--models",
    show_default="nb; sgd where the target is a number",
    callback=names,
    metavar="NAME,NAME",
    help="Models trained on the selected features: perceptron, sgd, nb, knn, ht, hat, ...; for numbers sgd, knn, ht or "
    "mean.",
)
@task_option
@how_to_read
@click.option(
    "-k",
    "count",
    callback=count_or_fraction,
    metavar="N",
    show_default="10",
    help="Number of features to select (20), or a fraction of them (0.1). Some methods choose the number themselves.",
)
@click.option("--repeats", default=5, show_default=True, type=click.IntRange(1), help="Number of repeats.")
@click.option("--batch-size", default=100, show_default=True, type=click.IntRange(1), help="Rows per batch.")
@click.option(
    "--label-delay",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Delay, in rows, before each label arrives.",
)
@click.option(
    "--rows",
    type=click.IntRange(1),
    show_default="all rows of a file, 10,000 of generate:NAME",
    help="Number of rows to read.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed for everything random.")
@click.option(
    "--scale",
    default="standard",
    show_default=True,
    type=click.Choice(["standard", "none"]),
    help="How perceptron, sgd and knn see the columns: standardised by the rows so far, or as they are.",
)
@click.option(
    "--metric",
    type=click.Choice(["accuracy", "balanced_accuracy", "kappa", "f1", "log_loss", "rmse", "mae", "r2"]),
    show_default="accuracy; balanced_accuracy where one class has more than 60 % of the rows; rmse for numbers",
    help="What to rank, test and recommend by.",
)
@click.option(
    "--budget",
    default="15m",
    show_default=True,
    callback=seconds,
    metavar="TIME",
    help="Time for everything: 30s, 5m, 2h or none. Cheap methods come first; what would not fit is left out, with an "
    "estimate of its time, and repeats are dropped before methods.",
)
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="Number of parallel processes.")
@click.option("-o", "--out", metavar="DIR", help="Folder to write report.html, comparison.json and all runs to.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON and nothing else.")
@click.option("--quiet", is_flag=True, help="Print no progress and no remarks, only the result and what went wrong.")
def compare(
    data: str,
    target: str | None,
    methods: list[str] | None,
    also: list[str],
    baselines: list[str],
    models: list[str] | None,
    task: str,
    reading: dict[str, Any],
    count: int | float | None,
    repeats: int,
    batch_size: int,
    label_delay: int,
    rows: int | None,
    seed: int,
    scale: str,
    metric: str | None,
    budget: float | None,
    jobs: int,
    out: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run several methods on the same rows of DATA and print how they compare.

    DATA is a file, - for CSV from standard input, or generate:NAME, followed by options separated by commas, for a
    generated stream, whose relevant features are known. The first repeat reads all rows; each further repeat leaves out
    a random tenth of them, or generates a stream with the next seed. Row methods are tested on each batch before they
    learn from it. Column methods and instance methods learn from the first half of the rows and are tested on the
    second half, so their results are listed under a protocol of their own.

    With -o, running the same command again after an interruption resumes the comparison where it stopped.
    """
    start = monotonic()  # of the budget: imports and reading are part of it
    if not data.startswith("generate:"):
        refuse_missing_target(data, target)
        refuse_missing_file(data)
    from streamsift.cli.comparison_table import print_comparison
    from streamsift.cli.output import own_folder
    from streamsift.comparison.budget import Allowance
    from streamsift.comparison.compare import carry_out, kept_outcomes, open_store
    from streamsift.comparison.comparison import Comparison
    from streamsift.comparison.plan import plan_comparison
    from streamsift.core.interrupts import exit_code

    if methods == ["all"]:
        raise click.UsageError("'all' is the baseline of all features: leave --methods out to compare every method.")
    folder = None if out is None else own_folder(out)
    outcomes: list[Outcome] = []
    interrupted = False
    with _bars(drawn=not as_json, quiet=quiet) as bars:
        plan = plan_comparison(
            data,
            target,
            methods=methods,
            also=also,
            baselines=[] if baselines == ["none"] else baselines,
            models=models,
            categorical=reading.pop("categorical", ()),
            ignore=reading.pop("ignore", ()),
            reading=reading,
            n_features_to_select=count,
            repeats=repeats,
            batch_size=batch_size,
            label_delay=label_delay,
            n_rows=rows,
            seed=seed,
            scale=scale,
            metric=metric,
            task=task,
        )
        with plan:
            store = None if folder is None else open_store(folder.path, plan)
            bars.begin(plan)
            allowance = Allowance(plan, budget, jobs, start=start)
            try:
                for outcome in carry_out(plan, store, jobs=jobs, progress=bars.progress, allowance=allowance):
                    outcomes.append(outcome)
                    bars.finished(outcome)
            except KeyboardInterrupt:
                interrupted = True
                if store is not None:  # the interrupt may have come between the keeping of a run and the report of it
                    heard = {outcome.task for outcome in outcomes}
                    outcomes += [outcome for outcome in kept_outcomes(plan, store) if outcome.task not in heard]
    if not any(outcome.failure is None for outcome in outcomes) and interrupted:
        return _say("Interrupted before the first run was finished.", exit_code())
    comparison = Comparison.of(plan, outcomes, store, allowance)
    if folder is not None:
        _write(folder, comparison)
    if as_json:
        click.echo(json.dumps(_document(comparison), indent=1, allow_nan=False))
    else:
        print_comparison(comparison.as_dict())
        if out is not None:
            click.echo(f"All of it is in {out}: open report.html.", err=True)
    if interrupted:
        kept = "" if out is None else f"; the same command goes on, and what was found so far is in {out}"
        return _say(f"Interrupted after {len(outcomes)} of {len(allowance.admitted())} runs{kept}.", exit_code())
    if all(outcome.failure is not None for outcome in outcomes):
        return _say("Error: no run could be finished.", 1)
    return 0


class _Bars:
    """A progress bar for all runs and one for each that is running."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._tasks: dict[ComparedRun, Any] = {}
        self._n_runs, self._n_ended, self._latest = 0, 0, ""
        self._all = progress.add_task("reading the data", total=None)

    def begin(self, plan: ComparisonPlan) -> None:
        """The data has been read."""
        self._n_runs = len(plan.runs())
        self._progress.update(self._all, description="runs", total=len(plan.runs()), completed=0)

    def progress(self, run: ComparedRun, fraction: float) -> None:
        """How far a run is."""
        self._latest = f", {run.label} at {fraction:.0%}"
        if run not in self._tasks:
            self._tasks[run] = self._progress.add_task(run.label, total=1.0)
        self._progress.update(self._tasks[run], completed=fraction)

    def finished(self, outcome: Outcome) -> None:
        """A run has come to its end."""
        if outcome.task in self._tasks:
            self._progress.remove_task(self._tasks.pop(outcome.task))
        self._progress.advance(self._all)
        self._n_ended, self._latest = self._n_ended + 1, ""

    def line(self) -> str:
        """How far the comparison is, for those who see no bars."""
        if not self._n_runs:
            return "reading the data"
        return f"{self._n_ended:,} of {self._n_runs:,} runs{self._latest}"


@contextmanager
def _bars(*, drawn: bool, quiet: bool) -> Iterator[_Bars]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from streamsift.cli.display import bars, lines, silenced

    console = Console(stderr=True)
    terminal = console.is_terminal and not console.is_dumb_terminal
    shown = drawn and not quiet and terminal
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with bars(*columns, shown=shown) as progress:
        view = _Bars(progress)
        with lines(view.line, quiet=quiet or terminal), silenced(quiet):
            yield view


def _document(comparison: Comparison) -> dict[str, Any]:
    """What comparison.json holds, with its checksum."""
    from streamsift.core.checksums import json_digest

    found = comparison.as_dict()
    return {**found, "sha256": json_digest(found)}


def _write(folder: OutputFolder, comparison: Comparison) -> None:
    from streamsift.report.comparison import comparison_report

    found = _document(comparison)
    folder.write("comparison.json", json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    folder.write("report.html", comparison_report(found, folder.path))


def _say(text: str, code: int) -> int:
    click.echo(text, err=True)
    return code
