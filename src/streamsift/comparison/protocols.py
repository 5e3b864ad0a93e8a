"""The three protocols: how a run of each kind is judged, on the same rows in the same order.

    prequential  rows and baselines: each batch is predicted before selector and model learn it, from the first row on
    columns      the first half of the rows is known and its columns are offered one after another; a model learns the
                 selected columns of that half and is then tested and trained on the second half, batch by batch
    instances    the classifier is fitted on the first half and classifies the second, buying features row by row

What all three have in common is `late_accuracy` (of numbers `late_rmse`), over the second half only.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.comparison.methods import make
from streamsift.comparison.metrics import METRICS, scored_steps
from streamsift.comparison.number_results import NumberSums, TestedNumbers
from streamsift.comparison.plan import USUAL_MODEL, ComparedEntry, ComparedRun, ComparisonPlan
from streamsift.comparison.run_store import RunStore
from streamsift.core.batch import Batch
from streamsift.core.contracts import ColumnContract, InstanceContract
from streamsift.core.exceptions import InputError, StreamsiftWarning
from streamsift.core.state import n_bytes
from streamsift.core.vocabulary import LabelVocabulary
from streamsift.evaluate.baselines import NoFeatures, Oracle, RandomSelector
from streamsift.evaluate.memory import object_bytes
from streamsift.evaluate.prequential import prequential
from streamsift.learners.categories import RunCategories
from streamsift.learners.online import make_learner, teach
from streamsift.metrics.classification import class_counts, classification_scores, log_losses
from streamsift.metrics.cost import ram_hours
from streamsift.metrics.selection import selection_accuracy
from streamsift.runs.trace import Trace
from streamsift.streams.labels import as_numbers
from streamsift.streams.stream import recut

TRAIN_SHARE = 0.5
WINDOW = 10  # steps of the curves and of the stability within a run
POINTS = 400  # of a curve
WARM_BATCHES = 4
LEAST_PROGRESS = 0.01  # of a run, between two reports of how far it is

_SELECTORS = {"random": RandomSelector, "majority": NoFeatures, "mean": NoFeatures, "oracle": Oracle}
_WARM: set[ComparedEntry] = set()  # entries that have run in this process

Found = dict[str, Any]
Say = Callable[[float | None], None]
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Work:
    """What all runs of a comparison share: the plan, and the store beside whose records their traces are written."""

    plan: ComparisonPlan
    store: RunStore = field(default_factory=lambda: RunStore(None))


def run_one(work: Work, run: ComparedRun, progress: Callable[[float], None]) -> Found:
    """Carry out one run; returns plain values that JSON can hold."""
    if run.entry not in _WARM:
        _WARM.add(run.entry)
        _warm_up(work.plan, run)
    said = 0.0

    def say(fraction: float | None) -> None:
        nonlocal said
        if fraction is not None and fraction >= said + LEAST_PROGRESS:
            said = fraction
            progress(fraction)

    found: Found = _plain(run_protocol(work, run, say))
    return found


def run_protocol(work: Work, run: ComparedRun, say: Say = lambda fraction: None) -> Found:
    """Carry out one run as its protocol says."""
    protocol = {"prequential": _prequential, "columns": _columns, "instances": _instances}[run.entry.protocol]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StreamsiftWarning)  # one class at first, nothing selected yet: part of a run
        return protocol(work, run, say)


def _warm_up(plan: ComparisonPlan, run: ComparedRun) -> None:
    """Run a few batches for nothing: what is imported and compiled on first use is no part of the method's time."""
    few = replace(plan, source=replace(plan.source, rows=min(WARM_BATCHES * plan.batch_size, plan.survey.n_rows)))
    with warnings.catch_warnings(), suppress(Exception):  # the run itself will say what is wrong
        warnings.simplefilter("ignore")
        run_protocol(Work(few), run)


def make_method(plan: ComparisonPlan, run: ComparedRun) -> Any:
    """The method of a run, with the number of features and the seed where it leaves them open; None stands for all."""
    method, seed, wanted = run.entry.method, plan.source.seed + run.repeat, plan.n_features_to_select
    if method == "all":
        return None
    if method in _SELECTORS:
        made, given = _SELECTORS[method](), set[str]()
    else:
        made, given = make(method, plan.objects.get(method))
    known = made.get_params(deep=False)
    open_ones: Found = {"random_state": seed, **run.entry.treated.parameters(plan.survey)}
    if wanted is not None:
        open_ones["n_features_to_select"] = wanted
    return made.set_params(**{name: value for name, value in open_ones.items() if name in known and name not in given})


def train_rows(n_rows: int, batch_size: int) -> int:
    """How many rows are known before the second half: whole batches, at least one.

    >>> train_rows(1050, 100), train_rows(150, 100)
    (500, 100)
    """
    return max(1, int(n_rows * TRAIN_SHARE) // batch_size) * batch_size


# -- rows -------------------------------------------------------------------------------------------------------


def _prequential(work: Work, run: ComparedRun, say: Say) -> Found:
    plan, numeric = work.plan, work.plan.survey.numeric
    counted: _Counted | NumberSums = NumberSums() if numeric else _Counted()
    trace = prequential(
        plan.source.stream(run.repeat),
        make_method(plan, run),
        run.entry.model or USUAL_MODEL[plan.survey.task],  # which predicts nothing where no feature is selected
        task=plan.survey.task,
        batch_size=plan.batch_size,
        label_delay=plan.label_delay,
        window=WINDOW,
        trace_path=work.store.path(run, ".parquet"),
        scale=plan.scale,
        progress=lambda _, fraction: say(fraction),
        on_counts=counted.add,
    )
    found = trace.summary()
    if found["rmse" if numeric else "accuracy"] is None:
        raise InputError(
            f"No row could be tested: labels come {plan.label_delay:,} rows late, and there are "
            f"{found['rows'] or 0:,.0f} rows, so give more rows or a smaller label delay."
        )
    rows = trace.column("row")
    return {
        **{name: found[name] for name in ("stability", "rows_per_second", "ram_hours")},
        **{name: found[name] for name in ("selection_accuracy", "n_restarts")},
        "features": found["n_selected"],
        "memory": found["peak_memory"],
        "seconds": (found["selection_seconds"] or 0.0) + (found["learner_seconds"] or 0.0),
        **({} if numeric else {name: found[name] for name in METRICS} | {"late_accuracy": _late_accuracy(trace, plan)}),
        **counted.figures(rows, train_rows(int(rows[-1]), plan.batch_size)),
        "cost": None,
        "selected": None,
        "curve": _curve_of(trace),
    }


class _Counted:
    """Hits, rows and predictions of each class, and the losses, of all steps of a run."""

    def __init__(self) -> None:
        self._counts: list[Codes] = []
        self._losses: list[Floats] = []

    def add(self, counts: Codes, losses: Floats) -> None:
        self._counts.append(counts)
        self._losses.append(losses)

    def figures(self, ends: Floats, late_from: int) -> Found:
        """The steps that were tested, with their scores, which the tests of a comparison compare."""
        n_classes = max(part.shape[2] for part in self._counts)
        wide = [np.pad(part, ((0, 0), (0, 0), (0, n_classes - part.shape[2]))) for part in self._counts]
        counts, losses = np.concatenate(wide, axis=1), np.concatenate(self._losses)
        tested = counts[1].sum(axis=1) > 0
        return {"steps": scored_steps(ends[tested], counts[:, tested], losses[tested])}


def _late_accuracy(trace: Trace, plan: ComparisonPlan) -> float:
    """The accuracy over the batches of the second half."""
    rows = np.concatenate([[0], trace.column("row")])
    accuracy = trace.column("batch_accuracy")
    late = (rows[:-1] >= train_rows(int(rows[-1]), plan.batch_size)) & ~np.isnan(accuracy)  # NaN: no label has come yet
    return float(np.average(accuracy[late], weights=np.diff(rows)[late])) if late.any() else float("nan")


def _curve_of(trace: Trace) -> Found:
    judged = "rmse" if trace.numeric else "accuracy"
    names = {"rows": "row", judged: f"window_{judged}", "stability": "stability", "n_selected": "n_selected"}
    drifts = trace.table["row"].to_numpy()[trace.column("drift_found") == 1.0]
    return _thinned({name: trace.column(column) for name, column in names.items()}) | {"drift_found": drifts.tolist()}


def _thinned(curve: dict[str, Floats]) -> Found:
    """At most POINTS points, the last among them."""
    n_points = len(curve["rows"])
    kept = np.unique(np.linspace(n_points - 1, 0, min(n_points, POINTS)).round().astype(int))
    return {name: values[kept].tolist() for name, values in curve.items()}


# -- columns ----------------------------------------------------------------------------------------------------


def _columns(work: Work, run: ComparedRun, say: Say) -> Found:
    half = _halves(work.plan, run)
    selector: ColumnContract = make_method(work.plan, run)
    names = half.rows.feature_names or tuple(f"x{column}" for column in range(half.rows.X.shape[1]))
    start = perf_counter()
    selector.run([(names, half.part(0, half.cut))], half.y[: half.cut])
    selected = np.asarray(selector.get_support(indices=True), np.intp)
    say(0.5)
    task, places = work.plan.survey.task, np.arange(len(selected))
    model = make_learner(run.entry.model or "", work.plan.scale, task)
    n_classes = len(half.labels)
    judged = _Tested(half, n_classes)
    categories = RunCategories()
    rows = categories.encode(half.rows)
    if hasattr(model, "know_categories"):
        known = categories.names
        model.know_categories({place: known[slot] for place, slot in enumerate(selected.tolist()) if slot in known})

    def columns_of(first: int, last: int) -> Floats:
        kept = rows[first:last][:, selected]
        return np.asarray(kept.toarray() if hasattr(kept, "toarray") else kept, np.float64)

    for first, last in half.batches():
        if first >= half.cut:
            if len(selected):
                judged.add(first, last, len(selected), *_predicted(model, columns_of(first, last)))
            else:
                judged.add(first, last, 0, *half.without_columns(first, last))
            say(0.5 + 0.5 * last / len(half.codes))
        if len(selected):
            teach(model, columns_of(first, last), half.codes[first:last], places, n_classes)
    seconds = perf_counter() - start
    held = n_bytes(selector.state_arrays()) + object_bytes(model)
    return judged.found(seconds, held) | {
        "features": len(selected),
        "selected": selected.tolist(),
        "selection_accuracy": half.selection_accuracy(selected),
        "cost": None,
    }


def _predicted(model: Any, X: Floats) -> tuple[NDArray[Any], Floats | None]:
    """Class codes or numbers and, of a model that gives them, probabilities."""
    if not hasattr(model, "predict_proba"):
        return model.predict(X), None
    probabilities = model.predict_proba(X)
    return probabilities.argmax(axis=1), probabilities


# -- instances --------------------------------------------------------------------------------------------------


def _instances(work: Work, run: ComparedRun, say: Say) -> Found:
    half = _halves(work.plan, run)
    classifier: InstanceContract = make_method(work.plan, run)
    start = perf_counter()
    classifier.fit(half.part(0, half.cut), None)
    say(0.5)
    columns, _ = half.labels.encode(classifier.classes_)  # type: ignore[attr-defined]  # known once it is fitted
    judged = _Tested(half, len(half.labels))
    bought = 0
    for first, last in half.batches():
        if first < half.cut:
            continue
        found = classifier.classify(half.part(first, last, labels=False))
        probabilities = np.zeros((last - first, len(half.labels)))
        probabilities[:, columns] = found.posteriors
        predicted, _ = half.labels.encode(found.labels)
        judged.add(first, last, float(found.n_evaluated.mean()), predicted, probabilities)
        bought += int(found.n_evaluated.sum())
        say(0.5 + 0.5 * last / len(half.codes))
    seconds = perf_counter() - start
    per_row = bought / (len(half.codes) - half.cut)
    held = n_bytes(classifier.state_arrays())
    return judged.found(seconds, held) | {"features": per_row, "selected": None, "cost": per_row}


# -- the two halves ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Halves:
    """All rows of a repeat; those before `cut` are known, the others come in batches.

    truths: the true features at the end of each batch before `cut`; none where nobody knows them.
    """

    rows: Batch
    truths: list[Indices]
    codes: NDArray[Any]
    labels: LabelVocabulary
    cut: int
    batch_size: int

    @property
    def y(self) -> NDArray[Any]:
        return np.asarray(self.rows.y)

    def part(self, first: int, last: int, *, labels: bool = True) -> Batch:
        part = self.rows.rows(slice(first, last))
        return part if labels else replace(part, y=None)

    def batches(self) -> list[tuple[int, int]]:
        n_rows = len(self.codes)
        return list(pairwise([*range(0, n_rows, self.batch_size), n_rows]))

    def without_columns(self, first: int, last: int) -> tuple[NDArray[Any], Floats | None]:
        """What can be said without any column: how frequent each class was so far, or the mean."""
        if self.numeric:
            return np.full(last - first, self.codes[:first].mean()), None
        counts = np.bincount(self.codes[:first], minlength=len(self.labels))
        shares = np.tile(counts / counts.sum(), (last - first, 1))
        return shares.argmax(axis=1), shares

    @property
    def numeric(self) -> bool:
        """Whether the codes are no codes but numbers."""
        return self.codes.dtype.kind == "f"

    def selection_accuracy(self, selected: Indices) -> float | None:
        """How well a selection matches the true features of the rows it was made from; None where nobody knows them."""
        n_features = int(self.rows.X.shape[1])
        found = [float(selection_accuracy(selected, truth, n_features)) for truth in self.truths]
        return float(np.mean(found)) if found else None


def _halves(plan: ComparisonPlan, run: ComparedRun) -> _Halves:
    # True features may change on the way, and a batch knows those at its end.
    size = plan.batch_size if plan.survey.truth else sys.maxsize
    batches = list(plan.source.stream(run.repeat).batches(size))
    rows = next(recut(batches, sys.maxsize))  # columns are complete only with all rows
    codes, labels = _targets(plan, rows)
    cut = train_rows(len(codes), plan.batch_size)
    truths = [batch.relevant for batch in batches[: cut // plan.batch_size] if batch.relevant is not None]
    if len(np.unique(codes[:cut])) < 2:
        raise InputError(
            f"The first {cut:,} rows, which this method learns from, have one label only: bring the rows into the "
            "order in which they arise."
        )
    return _Halves(rows, truths, codes, labels, cut, plan.batch_size)


def _targets(plan: ComparisonPlan, rows: Batch) -> tuple[NDArray[Any], LabelVocabulary]:
    if plan.survey.numeric:
        return as_numbers(np.asarray(rows.y), plan.survey.target, 0, rows.lines), LabelVocabulary()
    return LabelVocabulary().encode(rows.y)


class _Tested:
    """Predictions of the second half, batch by batch, and what follows from them."""

    def __init__(self, half: _Halves, n_classes: int) -> None:
        self._half, self._n_classes = half, n_classes
        self._ends: list[int] = []
        self._sizes: list[float] = []
        self._predicted: list[NDArray[Any]] = []
        self._losses: list[Floats] = []
        self._numbers = TestedNumbers(half.codes, half.cut) if half.numeric else None

    def add(self, first: int, last: int, size: float, predicted: NDArray[Any], probabilities: Floats | None) -> None:
        """A batch, how many features it took, what was predicted, and the probabilities given to its classes."""
        if self._numbers is not None:
            self._numbers.add(last, size, predicted)
            return
        self._ends.append(last)
        self._sizes.append(size)
        self._predicted.append(predicted)
        if probabilities is not None:
            self._losses.append(log_losses(probabilities, self._half.codes[first:last]))

    def found(self, seconds: float, held: int) -> Found:
        """The figures that the protocols of columns and of instances share."""
        if self._numbers is not None:
            figures, curve = self._numbers.figures(WINDOW)
            figures["curve"] = _thinned(curve) | {"drift_found": []}
        else:
            figures = self._of_classes()
        return {
            **figures,
            "stability": None,
            "selection_accuracy": None,
            "rows_per_second": len(self._half.codes) / seconds,
            "seconds": seconds,
            "memory": held,
            "ram_hours": ram_hours(held, seconds),
            "n_restarts": None,
        }

    def _of_classes(self) -> Found:
        true, predicted = self._half.codes[self._half.cut :], np.concatenate(self._predicted)
        scores = classification_scores(class_counts(np.zeros(len(true), np.int64), true, predicted, 1, self._n_classes))
        accuracy = float(scores.accuracy[0])
        return {
            "accuracy": accuracy,
            "balanced_accuracy": float(scores.balanced_accuracy[0]),
            "kappa": float(scores.kappa[0]),
            "f1": float(scores.f1[0]),
            "log_loss": float(np.concatenate(self._losses).mean()) if self._losses else None,
            "late_accuracy": accuracy,
            "curve": self._curve(true == predicted),
            "steps": self._steps(true, predicted),
        }

    def _steps(self, true: Codes, predicted: Codes) -> Found:
        ends = np.array(self._ends)
        sizes = np.diff(ends, prepend=self._half.cut)
        groups = np.repeat(np.arange(len(ends)), sizes)
        counts = class_counts(groups, true, predicted, len(ends), self._n_classes)
        losses = np.full(len(ends), np.nan)
        if self._losses:
            losses = np.bincount(groups, np.concatenate(self._losses)).astype(np.float64)
        return scored_steps(ends.astype(np.float64), counts, losses)

    def _curve(self, right: NDArray[np.bool_]) -> Found:
        ends, cut = np.array(self._ends), self._half.cut
        hits = np.concatenate([[0], np.cumsum(right)])
        begins = np.concatenate([[cut] * WINDOW, ends])[: len(ends)]  # of the window that ends with the batch
        accuracy = (hits[ends - cut] - hits[begins - cut]) / (ends - begins)
        nowhere = np.full(len(ends), np.nan)
        curve = {"rows": ends, "accuracy": accuracy, "stability": nowhere, "n_selected": np.array(self._sizes)}
        return _thinned(curve) | {"drift_found": []}


def _plain(value: Any) -> Any:
    """Numbers of numpy as Python's, and None for NaN and infinity, which JSON does not know."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
