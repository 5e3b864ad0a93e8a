"""Haug et al., "Leveraging Model Inherent Variable Importance for Stable Online Feature Selection" (FIRES, 2020).

Tables 3 and 4: prequential accuracy of a Perceptron on the selected features, milliseconds a time step for selection
and training, and stability (Eq. 7 over windows of 10 time steps), each the mean over batches of 25 to 100 rows and
fractions of 0.1 to 0.2 of the features; beside them two learners on all features. Figures 3 to 6 as in the paper.

The data sets are read from a folder (fires_data.py says which, and what of the paper's they are). The two learners on
all features are run with batches of 100 only, and their time is brought to the mean batch of the grid, because nothing
about them depends on the grid but the number of rows a step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError
from streamsift.evaluate.learners import make_learner
from streamsift.evaluate.prequential import PrequentialResult, prequential
from streamsift.reproduce.fires_data import NOT_HERE, DataSet, load, load_digits, present
from streamsift.reproduce.result import Curve, Options, Panel, Progress, Result
from streamsift.rows.efs import EFS
from streamsift.rows.fires import FIRES
from streamsift.rows.fsds import FSDS
from streamsift.rows.ofs import OFS
from streamsift.streams.arrays import ArrayStream

BATCH_SIZES, FRACTIONS, WINDOW = (25, 50, 75, 100), (0.1, 0.15, 0.2), 10
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)  # lambda_s of Figure 6
DIGITS, DIGIT_ROWS, DIGIT_PIXELS = (3, 8, 9), 1_000, 115

SELECTORS: dict[str, Callable[[int | float, int], Any]] = {
    "FIRES-GLM": lambda wanted, seed: FIRES(model="glm", n_features_to_select=wanted, random_state=seed),
    "FIRES-ANN": lambda wanted, seed: FIRES(model="ann", n_features_to_select=wanted, random_state=seed),
    "FIRES-SDT": lambda wanted, seed: FIRES(model="sdt", n_features_to_select=wanted, random_state=seed),
    "OFS": lambda wanted, seed: OFS(wanted),
    "EFS": lambda wanted, seed: EFS(wanted),
    "FSDS": lambda wanted, seed: FSDS(wanted),
}
BENCHMARKS = {"Online Boosting": "boosting", "VFDT": "hoeffding_tree_majority"}
MEASURES = {"accuracy": "table3.accuracy", "ms": "table3.ms", "stability": "table4"}  # -> table of the paper


@dataclass(frozen=True)
class LabelledPanel(Panel):
    """A chart whose vertical axis is named; `marks` draws points of these sizes instead of lines."""

    y_label: str = ""
    x_label: str = ""
    marks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Picture:
    """A matrix of values to be shown as grey levels, and the cells that are selected."""

    name: str
    values: list[list[float]]
    selected: list[list[bool]]


@dataclass(frozen=True)
class PicturePanel(Panel):
    """Pictures side by side."""

    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Run:
    """One method on one data set with one setting of the grid, and what came out."""

    data: str
    method: str
    batch_size: int
    fraction: float
    result: PrequentialResult

    def measures(self) -> dict[str, float]:
        """Accuracy, milliseconds a step, and stability (of selectors only)."""
        ms = 1e3 * float((self.result.selection_seconds + self.result.learner_seconds).mean())
        found = {"accuracy": self.result.accuracy(), "ms": ms}
        if self.method in BENCHMARKS:
            found["ms"] *= float(np.mean(BATCH_SIZES)) / self.batch_size
        else:
            found["stability"] = float(self.result.stability(WINDOW).mean())
        return found


@dataclass(frozen=True)
class Plan:
    """What is run: the grid, the cap on rows, and the methods."""

    batch_sizes: tuple[int, ...] = BATCH_SIZES
    fractions: tuple[float, ...] = FRACTIONS
    max_rows: int | None = None
    methods: tuple[str, ...] = (*BENCHMARKS, *SELECTORS)
    seed: int = 0

    def settings(self, method: str) -> list[tuple[int, float]]:
        """The batch sizes and fractions a method is run with."""
        if method in BENCHMARKS:
            return [(max(self.batch_sizes), 1.0)]
        return [(size, fraction) for size in self.batch_sizes for fraction in self.fractions]


def runs(folder: Path, sets: list[DataSet], plan: Plan) -> Iterator[Run]:
    """Measure every method on every data set over the grid.

    One run after the other and with one thread of linear algebra: times would disturb each other.
    """
    from threadpoolctl import threadpool_limits

    for data in sets:
        X, y = load(folder, data, plan.max_rows, plan.seed)
        for method in plan.methods:
            for batch_size, fraction in plan.settings(method):
                with threadpool_limits(1):
                    result = run(X, y, method, batch_size, fraction, plan.seed)
                yield Run(data.name, method, batch_size, fraction, result)


def run(
    X: NDArray[np.float32], y: NDArray[np.int64], method: str, batch_size: int, fraction: float, seed: int
) -> PrequentialResult:
    """One prequential run of a selector with a Perceptron, or of a learner on all features."""
    if method in BENCHMARKS:
        return prequential(ArrayStream(X, y), None, make_learner(BENCHMARKS[method]), batch_size=batch_size)
    selector = SELECTORS[method](fraction, seed)
    return prequential(ArrayStream(X, y), selector, make_learner("perceptron"), batch_size=batch_size)


# -- Tables 3 and 4 -------------------------------------------------------------------------------------------------


def tables_3_and_4(options: Options, progress: Progress) -> Result:
    """Accuracy, time and stability of all methods, ours beside the published figures."""
    folder, plan = _folder(options), Plan(max_rows=options.rows, seed=options.seed)
    sets = present(folder)
    total = len(sets) * sum(len(plan.settings(method)) for method in plan.methods)
    done = []
    for one in runs(folder, sets, plan):
        done.append(one)
        progress(len(done), total)
    return compare(done, sets, plan)


def compare(done: list[Run], sets: list[DataSet], plan: Plan) -> Result:
    """The result of the tables: one row a data set and method, then the means and ranks over the sets measured."""
    ours = {
        (measure, data.name, method): float(np.mean(values))
        for measure in MEASURES
        for data in sets
        for method in plan.methods
        if (values := [run.measures()[measure] for run in done
                       if (run.data, run.method) == (data.name, method) and measure in run.measures()])
    }  # fmt: skip
    published = {measure: published_table(table) for measure, table in MEASURES.items()}
    names = [data.name for data in sets]
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
        f"{_list(plan.fractions)} of the features; {_rows_note(plan)}; seed {plan.seed}.",
        note=" ".join([*rankings(ours, published, names, plan.methods), *_notes(sets)]),
        columns=["data set", "method", *columns],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=[trade_off(done, name) for name in names],
    )


def rankings(
    ours: dict[tuple[str, str, str], float],
    published: dict[str, dict[str, dict[str, float]]],
    names: list[str],
    methods: tuple[str, ...],
) -> list[str]:
    """For each measure the order of the selectors here and in the paper (over the same sets), and where they differ."""
    sentences = []
    for measure in MEASURES:
        selectors = [method for method in methods if method in SELECTORS]
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


def trade_off(done: list[Run], name: str) -> Panel:
    """Figure 5: accuracy against stability; the size of a mark is the variance of the accuracy over time."""
    curves, marks = [], []
    for method in dict.fromkeys(run.method for run in done if run.method in SELECTORS):
        own = [run for run in done if run.data == name and run.method == method]
        found = [run.measures() for run in own]
        x, y = (float(np.mean([values[key] for values in found])) for key in ("accuracy", "stability"))
        curves.append(Curve(method, method, False, [x], [y]))
        marks.append(float(np.mean([np.var(run.result.batch_accuracy[1:]) for run in own])))
    best = max(curves, key=lambda curve: curve.x[0] + curve.y[0])
    words = f"{name}: top right is best; {best.name} has the largest sum of accuracy {best.x[0]:.3f} and stability {best.y[0]:.3f}."
    return LabelledPanel(
        f"Accuracy and stability, {name}", words, words, curves, "mean stability", "mean accuracy", tuple(marks)
    )


# -- Figures --------------------------------------------------------------------------------------------------------


def figure_3(options: Options, progress: Progress) -> Result:
    """Weights and selected pixels of all selectors on MNIST, with 3, 8 and 9 in turn as the positive class."""
    folder = _folder(options)
    panels, rows = [], []
    for place, digit in enumerate(DIGITS):
        others = tuple(d for d in DIGITS if d != digit)
        X, y = load_digits(folder, digit, others, options.rows or DIGIT_ROWS)
        shape = X[y == 1].mean(axis=0) > 0.5  # where the mean picture of the digit is bright
        pictures = []
        for k, (method, make) in enumerate(SELECTORS.items()):
            selector = make(DIGIT_PIXELS, options.seed)
            for start in range(0, len(X), 100):
                selector.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1])
            mask = selector.get_support()
            pictures.append(Picture(method, _square(selector.scores_), _square(mask)))
            share = float(shape[mask].mean())
            rows.append([str(digit), method, f"{share:.3f}"])
            progress(place * len(SELECTORS) + k + 1, len(DIGITS) * len(SELECTORS))
        words = f"Weights (dark is high) and the {DIGIT_PIXELS} selected pixels (outlined) for digit {digit} against {others[0]} and {others[1]}."
        panels.append(PicturePanel(f"Digit {digit}", words, words, [], tuple(pictures)))
    return Result(
        title="Figure 3: weights and selected pixels on MNIST",
        lead=f"{options.rows or DIGIT_ROWS:,} rows of the digits 3, 8 and 9, each in turn the positive class; batches of 100; seed {options.seed}.",
        note="The paper says in words that the weights of FIRES (its ANN) show the digit and those of OFS, EFS and FSDS "
        "do not. The last column is the share of selected pixels that are bright in the mean picture of the digit.",
        columns=["digit", "method", "selected pixels on the digit"],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=panels,
    )


def figure_4(options: Options, progress: Progress) -> Result:
    """Accuracy and stability over time on Gisette."""
    X, y, data = _gisette(options)
    batch_size = 100 if len(X) >= 3_000 else 25  # a thousand rows are only one window of ten batches of 100
    results = {}
    for method in SELECTORS:
        results[method] = run(X, y, method, batch_size, 0.1, options.seed)
        progress(len(results), len(SELECTORS))
    accuracy = [
        Curve(method, method, False, result.rows[1:].tolist(), _smoothed(result.batch_accuracy[1:]))
        for method, result in results.items()
    ]
    stability = [
        Curve(method, method, False, result.rows[-len(values) :].tolist(), values.tolist())
        for method, result in results.items()
        for values in [result.stability(WINDOW)]
    ]
    reading = f"Mean over the last {WINDOW} batches of {batch_size} rows."
    return Result(
        title="Figure 4: accuracy and stability over time, Gisette",
        lead=f"{len(X):,} rows ({data.note}), a tenth of the features, batches of {batch_size}; seed {options.seed}.",
        note="The paper draws this without numbers; it says that accuracies are alike and that FIRES becomes more stable.",
        columns=["method", "accuracy", "stability, first window", "stability, last window"],
        rows=[[c.name, f"{results[c.name].accuracy():.3f}", f"{c.y[0]:.3f}", f"{c.y[-1]:.3f}"] for c in stability],
        x_label="rows seen",
        dashed_means="",
        panels=[
            LabelledPanel("Accuracy", reading, "Accuracy over rows seen, a line a method.", accuracy, "accuracy"),
            LabelledPanel("Stability", reading, "Stability over rows seen, a line a method.", stability, "stability"),
        ],
    )


def figure_6(options: Options, progress: Progress) -> Result:
    """What the uncertainty penalty of FIRES does to accuracy and stability on Gisette."""
    X, y, data = _gisette(options)
    found = []
    for penalty in PENALTIES:
        selector = FIRES(n_features_to_select=0.1, uncertainty_penalty=penalty, random_state=options.seed)
        result = prequential(ArrayStream(X, y), selector, make_learner("perceptron"), batch_size=25)
        found.append((result.accuracy(), float(result.stability(WINDOW).mean())))
        progress(len(found), len(PENALTIES))
    powers = [float(np.log10(penalty)) for penalty in PENALTIES]
    accuracy, stability = (list(values) for values in zip(*found, strict=True))
    words = "Mean accuracy and stability of FIRES-GLM against log10 of the uncertainty penalty."
    return Result(
        title="Figure 6: the uncertainty penalty, Gisette",
        lead=f"FIRES-GLM on {len(X):,} rows ({data.note}), a tenth of the features, batches of 25; seed {options.seed}.",
        note="The paper draws this without numbers; it says that stability first rises with the penalty and falls beyond 1.",
        columns=["penalty", "method", "accuracy", "stability"],
        rows=[
            [f"{penalty:g}", "FIRES-GLM", f"{a:.3f}", f"{s:.3f}"]
            for penalty, (a, s) in zip(PENALTIES, found, strict=True)
        ],
        x_label="log10 of the penalty",
        dashed_means="",
        panels=[
            LabelledPanel(
                "Accuracy and stability", words, words,
                [Curve("accuracy", "accuracy", False, powers, accuracy), Curve("stability", "stability", False, powers, stability)],
                "accuracy, stability",
            )
        ],
    )  # fmt: skip


# -- Pieces ---------------------------------------------------------------------------------------------------------


def published_table(table: str) -> dict[str, dict[str, float]]:
    """A table of the paper: data set -> method -> value.

    >>> published_table("table4")["Gisette"]["OFS"]
    0.295
    """
    text = (files("streamsift.reproduce") / "published" / "fires.json").read_text("utf-8")
    found: dict[str, dict[str, float]] = next(t["data"] for t in json.loads(text)["tables"] if t["id"] == table)
    return found


def _folder(options: Options) -> Path:
    folder = getattr(options, "data", None)
    if folder is None:
        raise InputError("The paper's data sets are not part of the package: give a folder of them with --data.")
    return Path(folder)


def _gisette(options: Options) -> tuple[NDArray[np.float32], NDArray[np.int64], DataSet]:
    folder = _folder(options)
    data = next(data for data in present(folder) if data.name == "Gisette")
    return (*load(folder, data, options.rows, options.seed), data)


def _square(values: NDArray[Any]) -> list[list[Any]]:
    side = int(np.sqrt(len(values)))
    found: list[list[Any]] = values.reshape(side, side).tolist()
    return found


def _smoothed(values: NDArray[np.float64]) -> list[float]:
    return [float(values[max(0, k - WINDOW + 1) : k + 1].mean()) for k in range(len(values))]


def _mean(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if value < 100 else f"{value:.0f}"


def _list(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _rows_note(plan: Plan) -> str:
    return "all rows" if plan.max_rows is None else f"the first {plan.max_rows:,} rows of each set"


def _notes(sets: list[DataSet]) -> list[str]:
    notes = [f"{data.name}: {data.note}." for data in sets if data.note]
    return [*notes, *(f"{name} is left out: {reason}." for name, reason in NOT_HERE.items())]


EXHIBITS = {
    "table 3": tables_3_and_4,
    "table 4": tables_3_and_4,
    "figure 3": figure_3,
    "figure 4": figure_4,
    "figure 5": tables_3_and_4,
    "figure 6": figure_6,
}
