"""Figures 3 to 6 of the FIRES paper: pictures of weights, curves over time, accuracy against stability, the penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import ReaderError
from streamsift.reproduce.fires.data import FiresData, load, load_digits, present
from streamsift.reproduce.fires.lines import ends, line, measure_lines
from streamsift.reproduce.fires.runs import (
    SELECTORS,
    WINDOW,
    FiresPlan,
    FiresRun,
    data_folder,
    mean_accuracy,
    run,
    runs,
    stabilities,
)
from streamsift.reproduce.result import FigureCurve, Options, Panel, Progress, Result, Series
from streamsift.rows.fires import FIRES
from streamsift.runs.trace import Trace

PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 1e2, 1e3, 1e4)  # lambda_s of Figure 6
TOO_FEW = "These rows are too few to say what comes out here."
SQUARES: dict[str, Any] = {"aggregation": "squares", "initial_sigma": 0.1, "learning_rate_mu": 1.0, "epochs": 10}
VARIANTS = ("FIRES-GLM", "FIRES-ANN", "FIRES-SDT")
ENDS = ("first window", "last window", "second half")
DIGITS, DIGIT_ROWS, DIGIT_PIXELS = (3, 8, 9), 1_000, 115


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


def figure_3(options: Options, progress: Progress, *, methods: Sequence[str] = tuple(SELECTORS)) -> Result:
    """Weights and selected pixels of all selectors on MNIST, with 3, 8 and 9 in turn as the positive class."""
    folder = data_folder(options)
    panels: list[Panel] = []
    rows = []
    # Beside the paper's six, the net with longer steps and squares instead of means.
    selectors = {method: SELECTORS[method] for method in methods} | {
        "ANN, squares": lambda wanted, seed: FIRES.paper(
            "ann", n_features_to_select=wanted, random_state=seed, **SQUARES
        )
    }
    shares: dict[str, list[float]] = {method: [] for method in selectors}
    area = []  # of the digits: what a random choice of pixels would hit
    for place, digit in enumerate(DIGITS):
        others = tuple(d for d in DIGITS if d != digit)
        X, y = load_digits(folder, digit, others, options.rows or DIGIT_ROWS)
        shape = X[y == 1].mean(axis=0) > 0.5  # where the mean picture of the digit is bright
        area.append(float(shape.mean()))
        pictures = []
        for k, (method, make) in enumerate(selectors.items()):
            selector = make(DIGIT_PIXELS, options.seed)
            for start in range(0, len(X), 100):
                selector.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1])
            mask = selector.get_support()
            pictures.append(Picture(method, _square(selector.scores_), _square(mask)))
            shares[method].append(float(shape[mask].mean()))
            rows.append([str(digit), method, f"{shares[method][-1]:.3f}"])
            progress(place * len(selectors) + k + 1, len(DIGITS) * len(selectors))
        words = (
            f"Above the weights (dark is high), below the {DIGIT_PIXELS} selected pixels, for digit {digit} against "
            f"{others[0]} and {others[1]}."
        )
        panels.append(PicturePanel(f"Digit {digit}", words, words, [], tuple(pictures)))
    mean = {method: float(np.mean(values)) for method, values in shares.items()}
    order = sorted(mean, key=lambda method: -mean[method])
    return Result(
        title="Figure 3: weights and selected pixels on MNIST",
        lead=f"{options.rows or DIGIT_ROWS:,} rows of the digits 3, 8 and 9, each in turn the positive class; "
        f"batches of 100; seed {options.seed}.",
        note="The paper says in words that the weights of FIRES (its ANN) show the digit and those of OFS, EFS and "
        "FSDS do not. The last column is the share of selected pixels that are bright in the digit's mean picture. "
        f"Here its mean is largest for {order[0]} ({mean[order[0]]:.3f}) and {order[1]} ({mean[order[1]]:.3f}); "
        f"FIRES-ANN, as published, has {mean['FIRES-ANN']:.3f}. The last picture, which the paper does not "
        "have, is its net with aggregation='squares' and longer steps.",
        columns=["digit", "method", "selected pixels on the digit"],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=panels,
        series=[
            Series("share of pixels on the digit", name, [str(digit) for digit in DIGITS], values)
            for name, values in {**shares, "all pixels": area}.items()
        ],
    )


def figure_4(options: Options, progress: Progress, *, methods: Sequence[str] = tuple(SELECTORS)) -> Result:
    """Accuracy and stability over time on Gisette, and the stability of FIRES on the other sets."""
    X, y, data = _gisette(options)
    batch_size = 100 if len(X) >= 3_000 else 25  # a thousand rows are only one window of ten batches of 100
    others = [one for one in present(data_folder(options)) if one.name != data.name and not options.brief]
    lines = [(one, line(one, method, 100, options)) for one in others for method in VARIANTS]
    results = {}
    for method in methods:
        results[method] = run(X, y, method, batch_size, 0.1, options.seed)
        progress(len(results), len(methods) + len(lines))
    done = measure_lines(lines, options, lambda k, n: progress(len(methods) + k, len(methods) + n))
    changes = {(data.name, method): ends(result) for method, result in results.items()}
    changes |= {(one.data, one.method): found["ends"] for one, found in done.items()}
    accuracy = [
        FigureCurve(
            method, method, False, result.column("row")[1:].tolist(), _smoothed(result.column("batch_accuracy")[1:])
        )
        for method, result in results.items()
    ]
    stability = [
        FigureCurve(method, method, False, result.column("row")[-len(values) :].tolist(), values.tolist())
        for method, result in results.items()
        for values in [stabilities(result)]
    ]
    reading = f"Mean over the last {WINDOW} batches of {batch_size} rows."
    return Result(
        title="Figure 4: accuracy and stability over time, Gisette",
        lead=f"{len(X):,} rows ({data.note}), a tenth of the features, batches of {batch_size}; seed {options.seed}.",
        note="The paper prints no numbers for this; it says that accuracies are alike and FIRES becomes more stable. "
        f"{_outcome_4(results, stability)}",
        columns=["method", "accuracy", *(f"stability, {place}" for place in ENDS)],
        rows=[
            [
                method if name == data.name else f"{method}, {name}",
                f"{mean_accuracy(results[method]):.3f}" if name == data.name else "",
                *(f"{value:.3f}" for value in found),
            ]
            for (name, method), found in changes.items()
        ],
        x_label="rows seen",
        dashed_means="",
        panels=[
            LabelledPanel("Accuracy", reading, "Accuracy over rows seen, one line per method.", accuracy, "accuracy"),
            LabelledPanel(
                "Stability",
                f"Over windows of {WINDOW} batches.",
                "Stability over rows seen, one line per method.",
                stability,
                "stability",
            ),
        ],
        n_left=len(lines) - len(done),
        series=[
            *(Series("mean accuracy", method, [data.name], [mean_accuracy(one)]) for method, one in results.items()),
            *(Series("accuracy over time", one.name, one.x, one.y) for one in accuracy),
            *(Series("stability over time", one.name, one.x, one.y) for one in stability),
            *(Series(f"stability, {name}", method, list(ENDS), found) for (name, method), found in changes.items()),
        ],
    )


def figure_5(options: Options, progress: Progress, *, methods: Sequence[str] = tuple(SELECTORS)) -> Result:
    """Accuracy against stability on Gisette; the pages of Tables 3 and 4 draw it for every data set."""
    folder = data_folder(options)
    data = _present_gisette(options)
    plan = FiresPlan(max_rows=options.rows, methods=tuple(methods), seeds=(options.seed,))
    total = sum(len(plan.settings(method)) for method in plan.methods)
    done = []
    for one in runs(folder, [data], plan, options.keep):
        done.append(one)
        progress(len(done), total)
    panel = trade_off(done, data.name)
    return Result(
        title="Figure 5: accuracy against stability, Gisette",
        lead=f"{data.note.capitalize()}; the mean over batches of 25 to 100 rows and 0.1 to 0.2 of the features; seed "
        f"{options.seed}.",
        note="The paper prints no numbers for this; it says that FIRES-GLM and FIRES-ANN lie in the top region. "
        f"{_outcome_5(panel)} The pages of Tables 3 and 4 show the same for every data set.",
        columns=["method", "runs", "accuracy", "stability", "variance of the accuracy"],
        rows=[
            [curve.name, str(len(plan.settings(curve.name))), f"{curve.x[0]:.3f}", f"{curve.y[0]:.3f}", f"{mark:.4f}"]
            for curve, mark in zip(panel.curves, panel.marks, strict=True)
        ],
        x_label="",
        dashed_means="",
        panels=[panel],
        series=[
            Series(data.name, curve.name, ["accuracy", "stability", "variance"], [curve.x[0], curve.y[0], mark])
            for curve, mark in zip(panel.curves, panel.marks, strict=True)
        ],
    )


def figure_6(options: Options, progress: Progress, *, penalties: Sequence[float] = PENALTIES) -> Result:
    """What the uncertainty penalty of FIRES does to accuracy and stability on Gisette, and on the other sets."""
    data = _present_gisette(options)
    others = [one for one in present(data_folder(options)) if one.name != data.name and not options.brief]
    lines = [(one, line(one, "FIRES-GLM", 25, options, penalty)) for one in (data, *others) for penalty in penalties]
    done = measure_lines(lines, options, progress)
    points = {(one.data, one.penalty): (found["accuracy"], found["stability"]) for one, found in done.items()}
    by_set = {
        one.name: [points[one.name, penalty] for penalty in penalties]
        for one in (data, *others)
        if all((one.name, penalty) in points for penalty in penalties)
    }
    found = by_set.get(data.name, [])
    powers = [float(np.log10(penalty)) for penalty in penalties]
    accuracy, stability = ([point[place] for point in found] for place in (0, 1))
    words = "Mean accuracy and stability of FIRES-GLM against log10 of the uncertainty penalty."
    return Result(
        title="Figure 6: the uncertainty penalty, Gisette",
        lead=f"FIRES-GLM on {data.note}, a tenth of the features, batches of 25; seed {options.seed}.",
        note="The paper prints no numbers for this; it says that stability rises with the penalty and falls beyond 1. "
        f"{_outcome_6(stability, penalties)}",
        columns=["penalty", "data set", "accuracy", "stability"],
        rows=[
            [f"{penalty:g}", name, f"{a:.3f}", f"{s:.3f}"]
            for name, line_of_set in by_set.items()
            for penalty, (a, s) in zip(penalties, line_of_set, strict=True)
        ],
        x_label="log10 of the penalty",
        dashed_means="",
        panels=[
            LabelledPanel(
                "Accuracy and stability",
                words,
                words,
                [
                    FigureCurve("accuracy", "accuracy", False, powers, accuracy),
                    FigureCurve("stability", "stability", False, powers, stability),
                ],
                "accuracy, stability",
            )
        ],
        n_left=len(lines) - len(done),
        series=[
            Series(name, what, list(penalties), [float(point[place]) for point in line_of_set])
            for name, line_of_set in by_set.items()
            for place, what in enumerate(("accuracy", "stability"))
        ],
    )


def _outcome_4(results: dict[str, Trace], stability: list[FigureCurve]) -> str:
    accuracy = {method: mean_accuracy(result) for method, result in results.items()}
    if not np.isfinite(list(accuracy.values())).all():
        return TOO_FEW
    worst, best = min(accuracy, key=accuracy.__getitem__), max(accuracy, key=accuracy.__getitem__)
    risen = [curve.name for curve in stability if curve.y[-1] > curve.y[0]]
    return (
        f"Here accuracy lies between {accuracy[worst]:.3f} ({worst}) and {accuracy[best]:.3f} ({best}), and the last "
        f"window is more stable than the first for {', '.join(risen) or 'no method'}."
    )


def _outcome_5(panel: Panel) -> str:
    sums = {curve.name: curve.x[0] + curve.y[0] for curve in panel.curves}
    if not np.isfinite(list(sums.values())).all():
        return TOO_FEW
    return f"Here, by the sum of both measures, best first: {', '.join(sorted(sums, key=lambda name: -sums[name]))}."


def _outcome_6(stability: list[float], penalties: Sequence[float]) -> str:
    if not stability or not np.isfinite(stability).all():
        return TOO_FEW
    return (
        f"Here it is {stability[0]:.3f} at the least penalty, largest ({max(stability):.3f}) at "
        f"{penalties[int(np.argmax(stability))]:g} and {stability[-1]:.3f} at the largest penalty."
    )


def trade_off(done: list[FiresRun], name: str) -> LabelledPanel:
    """Figure 5: accuracy against stability; the size of a mark is the variance of the accuracy over time."""
    curves, marks = [], []
    done = [one for one in done if one.cell.data == name and one.cell.method in SELECTORS]
    for method in dict.fromkeys(one.cell.method for one in done):
        own = [one.found for one in done if one.cell.method == method]
        x, y, variance = (
            float(np.mean([found[key] for found in own])) for key in ("accuracy", "stability", "variance")
        )
        curves.append(FigureCurve(method, method, False, [x], [y]))
        marks.append(variance)
    best = max(curves, key=lambda curve: curve.x[0] + curve.y[0])
    words = (
        f"{name}: top right is best; {best.name} has the largest sum of accuracy {best.x[0]:.3f} and "
        f"stability {best.y[0]:.3f}. The size of a mark is the variance of the accuracy."
    )
    return LabelledPanel(
        f"Accuracy and stability, {name}", words, words, curves, "mean stability", "mean accuracy", tuple(marks)
    )


def _gisette(options: Options) -> tuple[NDArray[np.float32], NDArray[np.int64], FiresData]:
    data = _present_gisette(options)
    return (*load(data_folder(options), data, options.rows, options.seed), data)


def _present_gisette(options: Options) -> FiresData:
    folder = data_folder(options)
    found = next((data for data in present(folder) if data.name == "Gisette"), None)
    if found is None:
        raise ReaderError(f"Gisette is not in {str(folder)!r}: the figure is about that data set; give its folder.")
    return found


def _square(values: NDArray[Any]) -> list[list[Any]]:
    side = int(np.sqrt(len(values)))
    found: list[list[Any]] = values.reshape(side, side).tolist()
    return found


def _smoothed(values: NDArray[np.float64]) -> list[float]:
    return [float(values[max(0, k - WINDOW + 1) : k + 1].mean()) for k in range(len(values))]
