"""The plan of a comparison: which entries take part, which runs that makes, and what must not differ between them.

An entry is a method with a model; a run is an entry in one repeat. Every entry of a repeat sees the same rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from streamsift import __version__, catalog
from streamsift.comparison.repeats import Source, Survey, read_once
from streamsift.core.constraints import Fraction, Integer, IsNone, OneOf, check_parameters
from streamsift.core.exceptions import InputError, ParameterError, StreamsiftWarning, UnknownNameError
from streamsift.learners.online import LEARNERS
from streamsift.learners.scaling import SCALES

ALIASES = {"nb": "naive_bayes", "knn": "neighbours", "ht": "hoeffding_tree", "hat": "adaptive_tree"}
BASELINES = {
    "all": "every feature, none left out",
    "random": "features drawn at random and kept",
    "oracle": "the true features, where they are known",
}

Kind = Literal["rows", "columns", "instances", "baseline"]
PROTOCOLS: dict[Kind, str] = {
    "rows": "prequential",
    "baseline": "prequential",
    "columns": "columns",
    "instances": "instances",
}


@dataclass(frozen=True)
class ComparedEntry:
    """A method and the model that judges what it selects; None for methods that classify themselves."""

    method: str
    model: str | None

    @property
    def kind(self) -> Kind:
        """What arrives, or "baseline"."""
        return "baseline" if self.method in BASELINES else catalog.entry(self.method).kind

    @property
    def protocol(self) -> str:
        """How it is judged; figures of one protocol can be compared."""
        return PROTOCOLS[self.kind]

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
    """Everything that is settled before the first run. left_out: methods that do not fit the data, and why.

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.source.remove_spool()

    def runs(self) -> list[ComparedRun]:
        """All runs, repeat after repeat, so that an interrupted comparison has treated all entries alike."""
        return [ComparedRun(entry, repeat) for repeat in range(self.repeats) for entry in self.entries]

    def settings(self) -> dict[str, Any]:
        """What a run depends on, beside its entry and its repeat; runs of other settings cannot stand beside it."""
        return {
            "streamsift": __version__,
            "rows": self.survey.n_rows,
            "features": self.survey.n_features,
            "target": self.survey.target,
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
    methods: Sequence[str] | None = None,
    models: Sequence[str] = ("naive_bayes",),
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
        },
        {
            "repeats": (Integer(1),),
            "batch_size": (Integer(1),),
            "label_delay": (Integer(0),),
            "n_rows": (Integer(1), IsNone()),
            "seed": (Integer(0),),
            "n_features_to_select": (Integer(1), Fraction(), IsNone()),
            "scale": (OneOf(*SCALES),),
        },
    )
    if isinstance(methods, str) or isinstance(models, str):
        raise ParameterError("The methods and the models are lists of names: write methods=['fires'], models=['nb'].")
    if not models or (methods is not None and not methods):
        raise ParameterError("There is nothing to compare: name a method, and a model to judge it by.")
    learners = [_learner(model) for model in models]
    for method in methods or ():
        _check_name(method)
    opened = Source(data, target, n_rows, seed, tuple(categorical), tuple(ignore), reading=dict(reading or {}))
    source, facts = read_once(opened)
    try:
        _check_size(facts, batch_size, n_features_to_select)
        chosen, left_out = _fitting(facts) if methods is None else (_all_fitting(methods, facts), ())
    except BaseException:
        source.remove_spool()
        raise
    entries: list[ComparedEntry] = []
    for method in chosen:
        classifies = method not in BASELINES and catalog.entry(method).kind == "instances"
        entries += [ComparedEntry(method, None)] if classifies else [ComparedEntry(method, model) for model in learners]
    return ComparisonPlan(
        source,
        facts,
        tuple(dict.fromkeys(entries)),
        left_out,
        repeats,
        batch_size,
        label_delay,
        n_features_to_select,
        scale,
    )


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
    if full not in LEARNERS:
        raise UnknownNameError("model", name, [*LEARNERS, *ALIASES])
    return full


def _check_name(method: str) -> None:
    if method not in BASELINES and method not in catalog.names():
        raise UnknownNameError("method", method, [*catalog.names(), *BASELINES])


def _fitting(facts: Survey) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """Every method of the catalog and every baseline that fits the data; and the others, with the reason."""
    reasons = {method: misfit(method, facts) for method in [*catalog.names(), *BASELINES]}
    left_out = tuple((method, reason) for method, reason in reasons.items() if reason and method not in BASELINES)
    return [method for method, reason in reasons.items() if reason is None], left_out


def _all_fitting(methods: Sequence[str], facts: Survey) -> list[str]:
    """The methods that were asked for; one that does not fit is an error, which names those that do."""
    for method in methods:
        reason = misfit(method, facts)
        if reason is not None:
            others = ", ".join(_fitting(facts)[0])
            raise InputError(f"{method!r} does not fit the data: {reason}. These do: {others}.")
    return list(methods)


def misfit(method: str, facts: Survey) -> str | None:
    """Why a method cannot take part on these data; None where it can.

    Examples
    --------
    >>> from streamsift.comparison.plan import misfit
    >>> from streamsift.comparison.repeats import Survey
    >>> misfit("abfs", Survey(100, 20, 2, sparse=True, mixed=False, truth=False, digest="", target="y"))
    'it takes no sparse rows'
    """
    if method == "oracle":
        return None if facts.truth else "the true features are known of generated streams only"
    if method in BASELINES:
        return None
    made = catalog.make(method)
    tags = made.stream_tags()
    if facts.sparse and not tags.sparse:
        return "it takes no sparse rows"
    if tags.kind == "rows" and tags.supervised and tags.multi_class == "none" and facts.n_classes > 2:
        return f"it distinguishes two classes, and there are {facts.n_classes}"
    if facts.mixed and tags.kind == "columns" and not tags.mixed_columns:
        return "its test takes numbers or categories, and the data mixes them"
    if tags.kind == "instances" and tags.class_grid:
        return _too_many_classes(made, facts.n_classes)
    return None


def _too_many_classes(made: Any, n_classes: int) -> str | None:
    """Why a method with a grid over the probabilities of the classes cannot be fitted; it grows fast with them."""
    from streamsift.instances.grid import refuse_too_large, steps_for  # numba: only once such a method was made

    try:
        refuse_too_large(n_classes, steps_for(n_classes, made.resolution), n_stages=1)
    except ParameterError:
        return f"its grid over the probabilities of {n_classes} classes would not fit into memory"
    return None
