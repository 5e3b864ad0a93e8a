"""Comparison: what the runs of a comparison found, entry by entry, with ranks, tests and a recommendation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from streamsift import catalog
from streamsift.comparison.budget import Allowance
from streamsift.comparison.intervals import intervals_of
from streamsift.comparison.metrics import METRIC_NAMES, merit
from streamsift.comparison.plan import ComparedEntry, ComparisonPlan
from streamsift.comparison.recommend import advise, in_order
from streamsift.comparison.repeats import GENERATED, Source
from streamsift.comparison.run_store import RunStore
from streamsift.comparison.significance import FEWEST_STREAMS, Significance, compare_over_streams, compare_over_time
from streamsift.core.pictures import picture
from streamsift.learners.online import NEED_SCALE, ONLY_WHILE_SELECTED
from streamsift.learners.regressors import SCALED_REGRESSORS
from streamsift.metrics.stability import nogueira_stability
from streamsift.runs.workers import Outcome

MEANS = (
    "accuracy",
    "late_accuracy",
    "balanced_accuracy",
    "kappa",
    "log_loss",
    "f1",
    "rmse",
    "mae",
    "r2",
    "late_rmse",
    "stability",
    "features",
    "rows_per_second",
    "memory",
    "ram_hours",
    "seconds",
    "selection_accuracy",
    "cost",
    "n_restarts",
)
NUMBER_COLUMNS = (
    "rank", "name", "protocol", "rmse", "rmse_sd", "mae", "r2", "stability", "features", "rows_per_second", "memory",
)  # fmt: skip
COLUMNS = ("rank", "name", "protocol", "accuracy", "accuracy_sd", "stability", "features", "rows_per_second", "memory")


@dataclass(frozen=True)
class Comparison:
    """The outcome of a comparison, as plain values; `compare` makes it.

    Examples
    --------
    >>> from streamsift.comparison.compare import compare
    >>> comparison = compare("generate:sea", methods=["screen:fisher", "random"], models=["nb"], repeats=1, n_rows=600)
    >>> [row["name"] for row in comparison.table()]
    ['screen:fisher + naive_bayes', 'random + naive_bayes', 'all + naive_bayes', 'majority']
    >>> comparison.as_dict()["complete"]
    True
    """

    found: dict[str, Any]

    @classmethod
    def of(
        cls,
        plan: ComparisonPlan,
        outcomes: Iterable[Outcome],
        store: RunStore | None = None,
        allowance: Allowance | None = None,
    ) -> Comparison:
        """Put the outcomes of a plan together; runs that are missing, though time was left, make it incomplete."""
        facts, left_out = plan.survey, _left_out(plan, allowance)
        runs = plan.runs() if allowance is None else allowance.admitted()
        counted = set(runs)
        outcomes = [outcome for outcome in outcomes if outcome.task in counted]  # of a stopped repeat none counts
        out = set() if allowance is None else set(allowance.left_out)
        independent = makes_new_streams(plan.source)
        figures = [
            _figures(entry, outcomes, facts.n_features, store)
            | {"intervals": _intervals(entry, outcomes, plan.metric, independent=independent)}
            for entry in plan.entries
            if entry.name not in out
        ]
        entries = in_order(figures, plan.metric)
        tests = _tests(entries, outcomes, plan.metric, independent=independent)
        first = next(iter(tests.values()), None)
        advice = advise(entries, tests, n_features=facts.n_features, metric=plan.metric)
        return cls(
            {
                "data": plan.source.name,
                "target": facts.target or "",
                "reading": plan.reading(),
                "n_rows": facts.n_rows,
                "n_features": facts.n_features,
                "n_classes": facts.n_classes,
                "task": facts.task,
                "repeats": plan.repeats,
                "batch_size": plan.batch_size,
                "label_delay": plan.label_delay,
                "n_features_to_select": plan.n_features_to_select,
                "seed": plan.source.seed,
                "scale": plan.scale,
                "judges": _judges(entries, plan.scale, numeric=facts.numeric),
                "rivals": _rivals(entries),
                "metric": plan.metric,
                "metric_sentence": _why_metric(plan),
                "budget": None if allowance is None else allowance.as_dict(),
                "complete": {outcome.task for outcome in outcomes} >= set(runs),
                "left_out": left_out,
                "entries": entries,
                "tests": first,
                "tests_by_protocol": tests,
                "untested": _untested(entries, tests),
                "recommended": advice.name,
                "recommendation": advice.sentence,
                "reason": advice.reason,
                "verdict": advice.verdict,
            }
        )

    @property
    def complete(self) -> bool:
        """Whether every run was carried out, be it to a failure."""
        return bool(self.found["complete"])

    @property
    def recommendation(self) -> str:
        """What to use and why, or what to do instead."""
        return str(self.found["recommendation"])

    def as_dict(self) -> dict[str, Any]:
        """Everything as a plain dict for JSON; docs/methods/compare.md says what the keys mean."""
        return self.found

    def table(self) -> list[dict[str, Any]]:
        """One row per entry, best first within each protocol; several protocols add `late_accuracy` (`late_rmse`)."""
        entries, numeric = self.found["entries"], self.found["task"] == "regression"
        columns = list(NUMBER_COLUMNS if numeric else COLUMNS)
        if len({entry["protocol"] for entry in entries}) > 1:
            columns.insert(columns.index("stability"), "late_rmse" if numeric else "late_accuracy")
        return [{column: entry[column] for column in columns} for entry in entries]

    def plot(self, path: Path | str | None = None) -> Any:
        """The metric against stability as a bokeh figure; a notebook shows it, `bokeh.plotting.show` opens it.

        A `path` that ends in .html, .svg or .png is written as well; the last two need Chromium, Chrome or Edge.
        """
        return picture("plots:plot_comparison", self, path)

    def __repr__(self) -> str:
        return f"<Comparison on {self.found['data']}: {len(self.found['entries'])} entries>\n{self.recommendation}"

    def _repr_html_(self) -> str:
        text: str = picture("reprs:comparison", self.found)
        return text


def _figures(
    entry: ComparedEntry, outcomes: Sequence[Outcome], n_features: int, store: RunStore | None
) -> dict[str, Any]:
    """An entry's means over its repeats, and what each repeat gave."""
    mine = sorted((one for one in outcomes if one.task.entry == entry), key=lambda one: one.task.repeat)
    good = [one for one in mine if one.failure is None]
    results = [one.result for one in good]
    figures = {name: _mean([result.get(name) for result in results]) for name in MEANS}
    accuracies = [result["accuracy"] for result in results if "accuracy" in result]
    errors = [result["rmse"] for result in results if "rmse" in result]
    if entry.treated.selects_once:
        figures["stability"] = _between_repeats([result["selected"] for result in results], n_features)
    trace = store.path(good[0].task, ".parquet") if good and store is not None else None
    return {
        "method": entry.method,
        "model": entry.model,
        "kind": entry.kind,
        "protocol": entry.protocol,
        "name": entry.name,
        **figures,
        "accuracy_sd": _deviation(accuracies),
        "rmse_sd": _deviation(errors),
        "accuracies": accuracies,
        "failures": [f"repeat {one.task.repeat + 1}: {one.failure}" for one in mine if one.failure is not None],
        "trace": trace.relative_to(trace.parents[1]).as_posix() if trace is not None and trace.exists() else None,
        "curve": results[0]["curve"] if results else None,
    }


def _intervals(
    entry: ComparedEntry, outcomes: Sequence[Outcome], metric: str, *, independent: bool
) -> dict[str, dict[str, Any]]:
    mine = sorted((one for one in outcomes if one.task.entry == entry), key=lambda one: one.task.repeat)
    return intervals_of([one.result for one in mine if one.failure is None], metric, independent=independent)


def _deviation(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _between_repeats(selections: Sequence[Sequence[int]], n_features: int) -> float | None:
    """How alike the selections of the repeats are; a column method selects once per run."""
    if len(selections) < 2:
        return None
    sets = np.zeros((len(selections), n_features), bool)
    for mask, selected in zip(sets, selections, strict=True):
        mask[list(selected)] = True
    return nogueira_stability(sets)


def makes_new_streams(source: Source) -> bool:
    """Whether each repeat is a stream of its own; otherwise the repeats share most of their rows."""
    return callable(source.data) or (isinstance(source.data, str) and source.data.startswith(GENERATED))


def _tests(
    entries: Sequence[dict[str, Any]], outcomes: Sequence[Outcome], metric: str, *, independent: bool
) -> dict[str, dict[str, Any]]:
    """Test the entries of each protocol that has several.

    Over independent streams, where there are enough that all of them have finished; else over the time of the first
    repeat, which has all rows. Repeats that share rows are no evidence beyond the first.
    """
    results = {(one.task.entry.name, one.task.repeat): one.result for one in outcomes if one.failure is None}
    tests: dict[str, dict[str, Any]] = {}
    for protocol in dict.fromkeys(entry["protocol"] for entry in entries):
        names = [
            entry["name"]
            for entry in entries
            if entry["protocol"] == protocol and entry["rank"] is not None and not entry["failures"]
        ]
        repeats = [
            repeat
            for repeat in sorted({repeat for _, repeat in results})
            if all((name, repeat) in results for name in names)
        ]
        found: Significance | None = None
        if len(names) >= 2 and independent and len(repeats) >= FEWEST_STREAMS:
            table = [[merit(results[name, repeat], metric) for name in names] for repeat in repeats]
            found = None if any(None in row for row in table) else compare_over_streams(table, names, metric=metric)
        elif len(names) >= 2 and 0 in repeats:
            found = _over_time({name: results[name, 0]["steps"] for name in names}, metric)
        if found is not None:
            tests[protocol] = found.as_dict() | {"protocol": protocol}
    return tests


def _over_time(steps: dict[str, dict[str, Any]], metric: str) -> Significance | None:
    """Compare entries step by step, over the steps in which all of them were tested."""
    ends = sorted(set.intersection(*(set(one["ends"]) for one in steps.values())))
    if not ends or any(one[metric] is None for one in steps.values()):
        return None
    scores = [dict(zip(one["ends"], one[metric], strict=True)) for one in steps.values()]
    return compare_over_time([[one[end] for one in scores] for end in ends], list(steps), metric=metric)


def _why_metric(plan: ComparisonPlan) -> str:
    """A sentence where the metric is not accuracy."""
    name = METRIC_NAMES.get(plan.metric, plan.metric.replace("_", " "))
    if plan.survey.numeric:
        return f"Entries are ranked and tested by {name}{', lower is better' * (plan.metric != 'r2')}."
    if plan.metric_given:
        return "" if plan.metric == "accuracy" else f"Entries are ranked and tested by {name}."
    if plan.metric == "accuracy":
        return ""
    share = 100 * plan.survey.largest_share
    return f"Entries are ranked and tested by {name}: the largest class has {share:.0f} % of the rows."


def _left_out(plan: ComparisonPlan, allowance: Allowance | None) -> list[dict[str, Any]]:
    """Methods that do not fit the data, and entries that do not fit into the budget."""
    late = {} if allowance is None else allowance.left_out
    return [
        *({"method": method, "reason": reason, "estimate": None, "by": "data"} for method, reason in plan.left_out),
        *(
            {"method": name, "reason": one.reason, "estimate": one.estimate, "by": "budget"}
            for name, one in late.items()
        ),
    ]


def _rivals(entries: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """What the catalog says of the methods that are rivals rather than recommendations."""
    known = catalog.names()
    methods = dict.fromkeys(entry["method"].partition("(")[0] for entry in entries)
    notes = {method: catalog.entry(method).note for method in methods if method in known}
    return [{"method": method, "sentence": f"{method}: {note}"} for method, note in notes.items() if note]


def _judges(entries: Sequence[dict[str, Any]], scale: str, *, numeric: bool) -> list[dict[str, Any]]:
    """What each model saw and how often it started again, on average over its entries' runs."""
    found = []
    for model in dict.fromkeys(entry["model"] for entry in entries if entry["model"] is not None):
        restarts = _mean([entry["n_restarts"] for entry in entries if entry["model"] == model])
        scaled = scale == "standard" and model in (SCALED_REGRESSORS if numeric else NEED_SCALE)
        words = [f"{model} sees columns standardised by the rows so far"] if scaled else []
        if model in ONLY_WHILE_SELECTED:
            words.append(
                f"{model} goes on when the selection changes, but knows a feature only from the rows in which it was "
                "selected"
            )
        if restarts:
            words.append(f"{model} started again {restarts:.1f} times in a run, on average")
        sentence = f"{', and '.join(words)}." if words else ""
        found.append({"model": model, "scaled": scaled, "n_restarts": restarts, "sentence": sentence})
    return found


def _untested(entries: Sequence[dict[str, Any]], tests: dict[str, Any]) -> str | None:
    """A sentence where several entries could have been tested and were not; of some protocols only, which they are.

    >>> _untested([{"protocol": "columns"}] * 2 + [{"protocol": "instances"}] * 2, {"columns": {}})[:69]
    'Whether the differences in protocol instances are more than chance wa'
    """
    protocols = [entry["protocol"] for entry in entries]
    missing = [name for name in dict.fromkeys(protocols) if name not in tests and protocols.count(name) > 1]
    if len(entries) < 2 or (tests and not missing):
        return None
    where = f" in protocol {' and '.join(missing)}" if tests else ""
    return (
        f"Whether the differences{where} are more than chance was not tested: that takes two entries of one protocol "
        "whose runs did not fail and whose first repeat is finished."
    )
