"""compare: several methods over the same stream, several times, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

from streamsift.comparison.budget import DEFAULT, Allowance
from streamsift.comparison.comparison import Comparison
from streamsift.comparison.methods import refuse_unsendable
from streamsift.comparison.metrics import LOWER_IS_BETTER, METRIC_NAMES, written
from streamsift.comparison.plan import ALWAYS, ComparedRun, ComparisonPlan, plan_comparison
from streamsift.comparison.protocols import Work, run_one
from streamsift.comparison.run_store import RunStore
from streamsift.core.constraints import Integer, IsNone, Real, check_parameters
from streamsift.core.exceptions import ParameterError
from streamsift.core.folder_lock import FolderLock
from streamsift.core.live import live_line
from streamsift.runs.workers import Outcome, run_all

RUNS = "runs"


def compare(
    data: Any,
    target: str | None = None,
    *,
    methods: Sequence[Any] | None = None,
    also: Sequence[Any] = (),
    baselines: Sequence[str] = ALWAYS,
    models: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    n_features_to_select: int | float | None = None,
    repeats: int = 5,
    batch_size: int = 100,
    label_delay: int = 0,
    n_rows: int | None = None,
    seed: int = 0,
    scale: str = "standard",
    metric: str | None = None,
    task: str = "auto",
    budget: float | None = DEFAULT,
    jobs: int = 1,
    folder: str | Path | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compare methods over the same stream.

    Parameters
    ----------
    data : path, "-", "generate:NAME", (X, y), table, stream, iterable or function
        What `open_stream` reads, or a stream; "generate:sea,irrelevant=20" for a generated stream; or a function that
        takes a seed and returns a stream. A file, standard input or an iterator is read once, to a temporary file.
    target : str, optional
        The column with the labels.
    methods : sequence of str or objects, optional
        Names of the catalog, with settings as in "screen:t_score(fading=0.98)" if need be; "oracle" for the true
        features; and unfitted objects such as `Screener("fisher")`, which are cloned for each run. By default
        everything that fits the data. The seed and `n_features_to_select` are given to methods that leave them open.
    also : sequence of str or objects
        More of them, beside `methods` or everything.
    baselines : sequence of str, default ("all", "random", "majority")
        What always takes part: all features, features drawn at random, and the most frequent class; of numbers the
        last is "mean", the mean so far.
    models : sequence of str, optional
        The learners that judge a selection, by default ["naive_bayes"], of numbers ["sgd"]; nb, knn, ht and hat are
        short for naive_bayes, neighbours, hoeffding_tree and adaptive_tree.
    categorical, ignore : sequence of str
        Columns to read as categories although they look like numbers, and columns to leave out.
    n_features_to_select : int or float, optional
        For the methods that do not decide it themselves; by default their own.
    repeats : int, default 5
        How often. The first repeat reads all rows. Each further one leaves out a random tenth of them, or, of a
        generator or function, makes a new stream with the next seed; random methods start with the next seed, too.
    batch_size : int, default 100
        Rows per step.
    label_delay : int, default 0
        By how many rows the labels come later than the features, for row methods.
    n_rows : int, optional
        Read only so many; of a generator, 10,000 by default.
    seed : int, default 0
        Of everything random.
    scale : {"standard", "none"}, default "standard"
        Whether linear models and neighbours see columns standardised by the rows learnt so far.
    metric : {"accuracy", "balanced_accuracy", "kappa", "f1", "log_loss", "rmse", "mae", "r2"}, optional
        What entries are ranked, tested and recommended by; by default accuracy, or balanced accuracy where the largest
        class has more than 60 % of the rows; of numbers RMSE.
    task : {"auto", "classification", "regression"}, default "auto"
        Whether the target holds classes or numbers. "auto" goes by the first 1,024 rows, and says what it took where
        it could be seen otherwise. Methods with a parameter `task` are given it.
    budget : float or None, default 900
        Seconds for everything, estimated by pilots on a few rows. Cheap entries come first; what does not fit is left
        out, with the estimate, and repeats are dropped before entries. A run that is not done by then is stopped and
        left out. None sets no limit.
    jobs : int, default 1
        Processes; all figures but times are the same for any number, as long as the budget is not used up.
    folder : path, optional
        Where finished runs and their traces are kept: the same call goes on where an interrupted one stopped.

    reading : dict, optional
        Further options of `open_stream` for a file, such as {"decimal": ","}.

    Returns
    -------
    Comparison
        Runs that failed are listed in it; the others went on.

    Examples
    --------
    >>> from streamsift.comparison.compare import compare
    >>> comparison = compare(
    ...     "generate:linear_drift,n_features=20,n_relevant=2",
    ...     methods=["screen:fisher"], n_rows=2000, repeats=3, n_features_to_select=2,
    ... )
    >>> comparison.table()[0]["name"]
    'screen:fisher + naive_bayes'
    >>> comparison.as_dict()["tests"]["kind"]
    'over streams'
    """
    check_parameters(
        "compare",
        {"jobs": jobs, "budget": budget},
        {"jobs": (Integer(1),), "budget": (Real(0.0, None, "neither"), IsNone())},
    )
    if jobs > 1 and callable(data) and "<" in getattr(data, "__qualname__", ""):
        raise ParameterError(
            "Other processes cannot call a function made on the spot: define it in a module, or jobs=1."
        )
    start = monotonic()
    plan = plan_comparison(
        data,
        target,
        methods=methods,
        also=also,
        baselines=baselines,
        models=models,
        categorical=categorical,
        ignore=ignore,
        n_features_to_select=n_features_to_select,
        repeats=repeats,
        batch_size=batch_size,
        label_delay=label_delay,
        n_rows=n_rows,
        seed=seed,
        scale=scale,
        reading=reading,
        metric=metric,
        task=task,
    )
    with ExitStack() as held:
        held.enter_context(plan)
        if jobs > 1:
            refuse_unsendable(plan.objects)
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            held.enter_context(FolderLock(folder))
        store = None if folder is None else open_store(folder, plan)
        allowance = Allowance(plan, budget, jobs, start=start)
        told = _LiveRuns(plan, held.enter_context(live_line("compare")))
        outcomes = []
        for outcome in carry_out(plan, store, jobs=jobs, progress=told.progress, allowance=allowance):
            outcomes.append(outcome)
            told.finished(outcome)
        return Comparison.of(plan, outcomes, store, allowance)


class _LiveRuns:
    """How far a comparison is, told to whoever looks: the runs that are done, and the best entry so far."""

    def __init__(self, plan: ComparisonPlan, tell: Callable[[float | None, str], None]) -> None:
        self._tell, self._metric, self._n_runs = tell, plan.metric, len(plan.runs())
        self._running: dict[ComparedRun, float] = {}
        self._values: dict[str, list[float]] = {}
        self._n_ended = 0

    def progress(self, run: ComparedRun, fraction: float) -> None:
        """A run goes on."""
        self._running[run] = fraction
        done = (self._n_ended + sum(self._running.values())) / max(self._n_runs, 1)
        self._tell(done, f"{self._n_ended:,} of {self._n_runs:,} runs, now {run.label}{self._best()}")

    def finished(self, outcome: Outcome) -> None:
        """A run has ended."""
        self._running.pop(outcome.task, None)
        self._n_ended += 1
        value = None if outcome.failure is not None else outcome.result.get(self._metric)
        if value is not None:
            self._values.setdefault(outcome.task.entry.name, []).append(value)
        self._tell(self._n_ended / self._n_runs, f"{self._n_ended:,} of {self._n_runs:,} runs{self._best()}")

    def _best(self) -> str:
        means = {name: sum(values) / len(values) for name, values in self._values.items()}
        if not means:
            return ""
        best = (min if self._metric in LOWER_IS_BETTER else max)(means, key=lambda name: means[name])
        called = METRIC_NAMES.get(self._metric, self._metric.replace("_", " "))
        return f"; best so far: {best}, {called} {written(means[best], self._metric)}"


def open_store(folder: str | Path, plan: ComparisonPlan) -> RunStore:
    """The store of a comparison's runs in `folder`/runs; raises ParameterError where other settings made them."""
    store = RunStore(Path(folder) / RUNS)
    differs = store.difference(plan.settings())
    if differs is None:
        return store
    name, then, now = differs
    what = "the rows themselves differ" if name == "data" else f"{name} was {then!r} there and is {now!r} here"
    raise ParameterError(
        f"The folder {str(folder)!r} holds another comparison: {what}. Use another folder, or the settings of "
        "that comparison to go on with it."
    )


def carry_out(
    plan: ComparisonPlan,
    store: RunStore | None = None,
    *,
    jobs: int = 1,
    progress: Callable[[ComparedRun, float], None] = lambda run, fraction: None,
    allowance: Allowance | None = None,
) -> Iterator[Outcome]:
    """Yield the outcomes of all runs of a plan as they come: those in the store at once, then the others.

    A run that failed is not kept, so that it is tried again by the next call.
    `progress` is called with a run and the fraction of it that is done. `allowance` says which runs may begin.
    """
    allowance = allowance or Allowance(plan, None)
    before = [] if store is None else kept_outcomes(plan, store)
    yield from before
    waiting = allowance.prepare(outcome.task for outcome in before)
    work = Work(plan, store or RunStore(None))
    for outcome in run_all(run_one, work, waiting, jobs, progress, allowance.admit, allowance.left):
        if outcome.stopped:
            allowance.stopped(outcome.task, outcome.reached)
        else:
            allowance.finished(outcome.task)
        if store is not None and outcome.failure is None:
            store.add(outcome.task, outcome.result)
        yield outcome


def kept_outcomes(plan: ComparisonPlan, store: RunStore) -> list[Outcome]:
    """The outcomes of those runs of a plan that are in the store."""
    found = ((run, store.find(run)) for run in plan.runs())
    return [Outcome(run, result, None) for run, result in found if result is not None]
