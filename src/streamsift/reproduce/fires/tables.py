"""Haug et al., "Leveraging Model Inherent Variable Importance for Stable Online Feature Selection" (FIRES, 2020).

Tables 3 and 4: prequential accuracy of a Perceptron on the selected features, milliseconds per time step for selection
and training, and stability (Eq. 7 over windows of 10 time steps), each the mean over batches of 25 to 100 rows and
fractions of 0.1 to 0.2 of the features; beside them two learners on all features. Figures 3 to 6: figures.py.

The data sets are read from a folder (data.py says which, and what of the paper's they are).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsift.reproduce.fires.causes import dying_weights, few_rows
from streamsift.reproduce.fires.data import DATA_SETS, FiresData, present
from streamsift.reproduce.fires.figures import figure_3, figure_4, figure_5, figure_6, trade_off
from streamsift.reproduce.fires.runs import BENCHMARKS, SELECTORS, WIDE, FiresPlan, FiresRun, data_folder, runs
from streamsift.reproduce.papers import published_table
from streamsift.reproduce.result import Options, Pair, Progress, Result

MEASURES = {"accuracy": "table3.accuracy", "ms": "table3.ms", "stability": "table4"}  # -> table of the paper


def tables_3_and_4(options: Options, progress: Progress) -> Result:
    """Accuracy, time and stability of all methods, ours beside the published figures."""
    folder = data_folder(options)
    seeds = tuple(range(options.seed, options.seed + options.n_repeats()))
    plan = FiresPlan(max_rows=options.rows, seeds=seeds, brief=options.brief)
    sets = present(folder)
    total = len(sets) * len(plan.seeds) * sum(len(plan.settings(method)) for method in plan.methods)
    done = []
    for one in runs(folder, sets, plan, options.keep, lambda: options.time_is_up):
        done.append(one)
        progress(len(done), total)
    return compare(done, sets, plan, total - len(done) if options.time_is_up else 0)


def compare(done: list[FiresRun], sets: list[FiresData], plan: FiresPlan, n_left: int = 0) -> Result:
    """The result of the tables: one row a data set and method, then the means over the sets measured.

    A cell counts only if its whole grid has been run.
    """
    ours = {
        (measure, data.name, method): float(np.mean(values))
        for measure in MEASURES
        for data in sets
        for method in plan.methods
        if len(values := [run.found[measure] for run in done
                          if (run.cell.data, run.cell.method) == (data.name, method) and measure in run.found])
        == len(plan.settings(method)) * len(plan.seeds)
    }  # fmt: skip
    published = {measure: published_table("fires", table) for measure, table in MEASURES.items()}
    names = [data.name for data in sets]
    basis = {data.name: "whole" if data.whole else "part" for data in sets}
    rows = []
    for name in names:
        for method in plan.methods:
            cells = [(ours.get((m, name, method)), published[m][name].get(method)) for m in MEASURES]
            rows.append([name, method, *(_number(value) for pair in cells for value in pair)])
    for method in plan.methods:
        cells = [
            (
                _mean(ours.get((m, name, method)) for name in names),
                _mean(published[m][name].get(method) for name in names),
            )
            for m in MEASURES
        ]
        rows.append(["mean", method, *(_number(value) for pair in cells for value in pair)])
    columns = [f"{measure}{suffix}" for measure in MEASURES for suffix in ("", ", paper")]
    return Result(
        title="Tables 3 and 4: accuracy, time and stability of online feature selection",
        lead="Haug et al., Leveraging Model Inherent Variable Importance for Stable Online Feature Selection. "
        f"Prequential, Perceptron on the selected features, batches of {_list(plan.batch_sizes)} rows, "
        f"{_list(plan.fractions)} of the features; {_rows_note(plan)}; "
        f"seed{'s' if len(plan.seeds) > 1 else ''} {_list(plan.seeds)}.",
        note="\n".join([*rankings(ours, published, names, plan.methods), *_notes(sets), *_left_out(plan)]),
        columns=["data set", "method", *columns],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=[
            trade_off(done, name) for name in names if any((m, name, s) in ours for m in MEASURES for s in SELECTORS)
        ],
        pairs=[
            Pair(MEASURES[measure], f"{name}, {method}", value, published[measure][name][method], basis[name])
            for (measure, name, method), value in ours.items()
        ],
        missing=[data.name for data in DATA_SETS if data not in sets or not data.whole],
        n_left=n_left,
    )


def rankings(
    ours: dict[tuple[str, str, str], float],
    published: dict[str, dict[str, dict[str, float]]],
    names: list[str],
    methods: tuple[str, ...],
) -> list[str]:
    """For each measure the order of the selectors here and in the paper (over the same sets), and where they differ."""
    sentences = []
    selectors = [method for method in methods if method in SELECTORS]
    for measure in MEASURES:
        names = [name for name in names if all((measure, name, method) in ours for method in selectors)]
        here, there = (
            sorted(selectors, key=lambda method: means[method], reverse=measure != "ms")
            for means in (
                {method: _mean(ours[measure, name, method] for name in names) or 0.0 for method in selectors},
                {method: _mean(published[measure][name][method] for name in names) or 0.0 for method in selectors},
            )
        )
        verdict = "the same order" if here == there else f"the paper's order over these sets is {', '.join(there)}"
        sentences.append(f"By mean {measure}, best first: {', '.join(here)}; {verdict}.")
    return sentences


def _mean(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if value < 100 else f"{value:.0f}"


def _list(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _rows_note(plan: FiresPlan) -> str:
    return "all rows" if plan.max_rows is None else f"the first {plan.max_rows:,} rows of each set"


def _notes(sets: list[FiresData]) -> list[str]:
    return [f"{data.name}: {data.note}." for data in sets if data.note]


def _left_out(plan: FiresPlan) -> list[str]:
    return [f"{' and '.join(BENCHMARKS)} are left out on more than {WIDE:,} features."] if plan.brief else []


EXHIBITS = {
    "table 3": tables_3_and_4,
    "table 4": tables_3_and_4,
    "figure 3": figure_3,
    "figure 4": figure_4,
    "figure 5": figure_5,
    "figure 6": figure_6,
    "check weights": dying_weights,
    "check rows": few_rows,
}
