"""The plan of a comparison: which entries take part, which runs that makes, and what must not differ between them.

An entry is a method with a model; a run is an entry in one repeat. Every entry of a repeat sees the same rows. The
baselines in `ALWAYS` take part unless somebody asks for others: without them nobody knows what selecting is worth.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from streamsift import __version__, catalog
from streamsift.comparison.kinds import KINDS, ComparedKind
from streamsift.comparison.methods import BASELINES, WITHOUT_FEATURES, Kind, kind_of, named, split_name
from streamsift.comparison.metrics import METRICS, NUMBER_METRICS, metric_for
from streamsift.comparison.repeats import Source, Survey, read_once
from streamsift.core.constraints import Fraction, Integer, IsNone, OneOf, check_parameters
from streamsift.core.exceptions import InputError, ParameterError, ReadingNotice, StreamsiftWarning, UnknownNameError
from streamsift.learners.online import ALIASES, LEARNERS
from streamsift.learners.regressors import REGRESSORS
from streamsift.learners.scaling import SCALES
from streamsift.streams.tasks import words_for_task

ALWAYS = ("all", "random", "majority")  # of numbers, the last is "mean"
ASKED_FOR = ("all", "random", *WITHOUT_FEATURES.values())  # baselines that take part only where they are named
USUAL_MODEL = {"classification": "naive_bayes", "regression": "sgd"}


@dataclass(frozen=True)
class ComparedEntry:
    """A method and the model that judges what it selects; None for methods that classify themselves.

    method: its name, with its settings if there are any. object_kind: what arrives at an object; None for a name.
    """

    method: str
    model: str | None
    object_kind: Kind | None = None

    @property
    def kind(self) -> Kind:
        """What arrives, or "baseline"."""
        return self.object_kind or kind_of(self.method, None)

    @property
    def treated(self) -> ComparedKind:
        """How entries of its kind take part."""
        return KINDS[self.kind]

    @property
    def protocol(self) -> str:
        """How it is judged; figures of one protocol can be compared."""
        return self.treated.protocol

    @property
    def name(self) -> str:
        """The label in tables and figures."""
        return self.method if self.model is None else f"{self.method} + {self.model}"


@dataclass(frozen=True)
class ComparedRun:
    """An entry in one repeat, counted from 0."""

    entry: ComparedEntry
    repeat: int

    @property
    def label(self) -> str:
        """What to call it on the screen."""
        return f"{self.entry.name}, repeat {self.repeat + 1}"


@dataclass(frozen=True)
class ComparisonPlan:
    """Everything that is settled before the first run.

    left_out: methods that do not fit the data, and why. objects: the methods that were given as objects, by name.
    metric: what entries are ranked and tested by. metric_given, task_given: whether somebody asked for it.

    In a `with` block it removes the spooled data at the end; otherwise that goes when the plan is forgotten.
    """

    source: Source
    survey: Survey
    entries: tuple[ComparedEntry, ...]
    left_out: tuple[tuple[str, str], ...]
    repeats: int
    batch_size: int
    label_delay: int
    n_features_to_select: int | float | None
    scale: str = "standard"
    objects: Mapping[str, Any] = field(default_factory=dict)
    metric: str = "accuracy"
    metric_given: bool = False
    task_given: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.source.remove_spool()

    def runs(self) -> list[ComparedRun]:
        """All runs, repeat after repeat, so that an interrupted comparison has treated all entries alike."""
        return [ComparedRun(entry, repeat) for repeat in range(self.repeats) for entry in self.entries]

    def reading(self) -> dict[str, Any]:
        """How the data is to be read, as far as somebody said so: what `open_stream` must be told to read the same."""
        named = {"categorical": list(self.source.categorical), "ignore": list(self.source.ignore)}
        task = {"task": self.survey.task} if self.task_given else {}
        given = named | self.source.reading | task
        usual = {"unlabelled": "error", "limits": given.get("limits")}  # a file beyond a limit says which
        return {name: value for name, value in given.items() if value and value != usual.get(name)}

    def settings(self) -> dict[str, Any]:
        """What a run depends on, beside its entry and its repeat; runs of other settings cannot stand beside it."""
        return {
            "streamsift": __version__,
            "rows": self.survey.n_rows,
            "features": self.survey.n_features,
            "target": self.survey.target,
            "task": self.survey.task,
            "categorical": list(self.source.categorical),
            "ignore": list(self.source.ignore),
            "batch_size": self.batch_size,
            "label_delay": self.label_delay,
            "n_features_to_select": self.n_features_to_select,
            "seed": self.source.seed,
            "scale": self.scale,
            "data": self.survey.digest,  # last: another number of rows says more than other rows
        }


def plan_comparison(
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
    reading: Mapping[str, Any] | None = None,
    metric: str | None = None,
    task: str = "auto",
) -> ComparisonPlan:
    """Read the data once and settle who takes part; the parameters are those of `compare`.

    Examples
    --------
    >>> from streamsift.comparison.plan import plan_comparison
    >>> plan = plan_comparison("generate:sea", methods=["fires", "all"], models=["nb"], repeats=2, n_rows=1000)
    >>> [run.label for run in plan.runs()][:2]
    ['fires + naive_bayes, repeat 1', 'all + naive_bayes, repeat 1']
    """
    check_parameters(
        "compare",
        {
            "repeats": repeats,
            "batch_size": batch_size,
            "label_delay": label_delay,
            "n_rows": n_rows,
            "seed": seed,
            "n_features_to_select": n_features_to_select,
            "scale": scale,
            "metric": metric,
            "task": task,
        },
        {
            "repeats": (Integer(1),),
            "batch_size": (Integer(1),),
            "label_delay": (Integer(0),),
            "n_rows": (Integer(1), IsNone()),
            "seed": (Integer(0),),
            "n_features_to_select": (Integer(1), Fraction(), IsNone()),
            "scale": (OneOf(*SCALES),),
            "metric": (OneOf(*METRICS, *NUMBER_METRICS), IsNone()),
            "task": (OneOf("auto", "classification", "regression"),),
        },
    )
    if any(isinstance(one, str) for one in (methods, models, also, baselines)):
        raise ParameterError("The methods and the models are lists of names: write methods=['fires'], models=['nb'].")
    if (models is not None and not models) or (methods is not None and not methods and not also):
        raise ParameterError("There is nothing to compare: name a method, and a model to judge it by.")
    learners = None if models is None else [_learner(model) for model in models]
    for baseline in baselines:
        if baseline not in BASELINES:
            raise UnknownNameError("baseline", baseline, [*BASELINES])
    asked = named([*(methods or ()), *also])
    opened = Source(data, target, n_rows, seed, tuple(categorical), tuple(ignore), reading=dict(reading or {}))
    source, facts = read_once(opened, task)
    try:
        _say_task(facts)
        learners = _judges(learners, facts)
        _check_metric(metric, facts)
        baselines = [WITHOUT_FEATURES[facts.task] if name in WITHOUT_FEATURES.values() else name for name in baselines]
        _check_size(facts, batch_size, n_features_to_select)
        _check_fit(asked, facts)
        chosen, left_out = _fitting(facts) if methods is None else ([], ())
    except BaseException:
        source.remove_spool()
        raise
    always = [name for name in baselines if name != "oracle" or misfit(name, facts) is None]
    everyone = {**dict.fromkeys(chosen), **asked, **dict.fromkeys(always)}
    if methods is None:
        everyone = {
            name: made for name, made in everyone.items() if name not in ASKED_FOR or name in always or name in asked
        }
    return ComparisonPlan(
        source,
        facts,
        tuple(_entries(everyone, learners)),
        left_out,
        repeats,
        batch_size,
        label_delay,
        n_features_to_select,
        scale,
        {name: made for name, made in everyone.items() if made is not None},
        metric or ("rmse" if facts.numeric else metric_for(facts.largest_share)),
        metric is not None,
        task != "auto",
    )


def _entries(methods: Mapping[str, Any], learners: Sequence[str]) -> list[ComparedEntry]:
    """Each method with each model; methods that classify themselves, and the majority class, once."""
    entries: list[ComparedEntry] = []
    for name, made in methods.items():
        kind = kind_of(name, made)
        alone = KINDS[kind].classifies or name in WITHOUT_FEATURES.values()
        models: Sequence[str | None] = [None] if alone else learners
        entries += [ComparedEntry(name, model, None if made is None else kind) for model in models]
    return list(dict.fromkeys(entries))


def _check_size(facts: Survey, batch_size: int, n_features_to_select: int | float | None) -> None:
    """Refuse too few rows; warn of more features asked for than there are."""
    if facts.n_rows < 3 * batch_size:
        raise ParameterError(
            f"{facts.n_rows:,} rows make fewer than 3 batches of {batch_size:,}: nothing would be tested after it was "
            "learnt, so give more rows or a smaller batch size."
        )
    if isinstance(n_features_to_select, int) and n_features_to_select > facts.n_features:
        warnings.warn(
            f"{n_features_to_select:,} features were asked for and there are {facts.n_features:,}: methods that take a "
            "number select all of them, so ask for fewer.",
            StreamsiftWarning,
            stacklevel=3,
        )


def _learner(name: str) -> str:
    full = ALIASES.get(name, name)
    if full not in LEARNERS and full not in REGRESSORS:
        raise UnknownNameError("model", name, [*LEARNERS, *ALIASES, "mean"])
    return full


def _judges(learners: Sequence[str] | None, facts: Survey) -> list[str]:
    """The models, which must be for the task; by default the usual one."""
    known: Mapping[str, Any] = REGRESSORS if facts.numeric else LEARNERS
    for name in learners or ():
        if name not in known:
            ours, theirs = ("numbers", "classes") if facts.numeric else ("classes", "numbers")
            raise ParameterError(
                f"The model {name!r} predicts {theirs}, and the target is {ours}: choose among {', '.join(known)}, or "
                "another task (--task)."
            )
    return [USUAL_MODEL[facts.task]] if learners is None else list(learners)


def _check_metric(metric: str | None, facts: Survey) -> None:
    known = NUMBER_METRICS if facts.numeric else METRICS
    if metric is not None and metric not in known:
        what = "numbers" if facts.numeric else "classes"
        raise ParameterError(
            f"The metric {metric!r} does not apply to a target of {what}: choose among {', '.join(known)}, or another "
            "task (--task)."
        )


def _say_task(facts: Survey) -> None:
    """What was taken for granted of the target, where one could see it otherwise."""
    if facts.sample is None or not facts.sample.doubtful:
        return
    other = "classification" if facts.numeric else "regression"
    taken = words_for_task(facts.sample)
    instead = "classes" if facts.numeric else "numbers"
    words = f"{facts.target or 'label'}: {taken}; --task {other} (task={other!r}) takes them as {instead}."
    warnings.warn(words, ReadingNotice, stacklevel=3)


def _fitting(facts: Survey) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """Every method of the catalog and every baseline that fits the data; and the others, with the reason."""
    reasons = {method: misfit(method, facts) for method in [*catalog.names(), *BASELINES]}
    left_out = tuple((method, reason) for method, reason in reasons.items() if reason and method not in BASELINES)
    return [method for method, reason in reasons.items() if reason is None], left_out


def _check_fit(methods: Mapping[str, Any], facts: Survey) -> None:
    """One that was asked for and does not fit is an error, which names those that do."""
    for name, made in methods.items():
        reason = misfit(name if made is None else made, facts)
        if reason is not None:
            others = ", ".join(_fitting(facts)[0])
            raise InputError(f"{name!r} does not fit the data: {reason}. These do: {others}.")


def misfit(method: Any, facts: Survey) -> str | None:
    """Why a method, given by name or as an object, cannot take part on these data; None where it can.

    Examples
    --------
    >>> from streamsift.comparison.plan import misfit
    >>> from streamsift.comparison.repeats import Survey
    >>> misfit("abfs", Survey(100, 20, 2, sparse=True, mixed=False, truth=False, digest="", target="y"))
    'it takes no sparse rows'
    """
    if isinstance(method, str) and method == "oracle":
        return None if facts.truth else "the true features are known of generated streams only"
    if isinstance(method, str) and method in BASELINES:
        ours = WITHOUT_FEATURES[facts.task]
        fits = method not in WITHOUT_FEATURES.values() or method == ours
        return None if fits else f"the target is {'numbers' if facts.numeric else 'classes'}: {ours} is the baseline"
    made = _made(method)
    if not hasattr(made, "stream_tags"):
        return None  # one from outside that promises nothing: its run tells
    tags = made.stream_tags()
    if facts.sparse and not tags.sparse:
        return "it takes no sparse rows"
    kind: Kind = tags.kind
    return KINDS[kind].misfit(made, tags, facts)


def _made(method: Any) -> Any:
    if not isinstance(method, str):
        return method
    name, settings = split_name(method)
    return catalog.make(name, **settings)
