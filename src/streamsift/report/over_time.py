"""Charts of a measure over the rows: accuracy with the level of chance, stability, seconds and bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, NumeralTickFormatter, Range1d

from streamsift.report.chart import Chart, Mark, as_share, coloured, draw_curves, dress, hover_curves, new_figure
from streamsift.report.numbers import share

ROWS = "rows seen"
MOST_NAMED = 3  # of lines that coincide
MOST_FREQUENT, MEAN_SO_FAR = "the most frequent class", "the mean so far"  # what needs no features
SAME = 0.005  # of the height of a chart: lines that stay nearer to each other are drawn as one

Line = tuple[str, Sequence[float], Sequence[float | None]]  # name, rows, values; the most important line first


@dataclass(frozen=True)
class Reference:
    """What needs no features: the level below which a chart is shaded. Without rows it is the same at all of them."""

    name: str
    rows: Sequence[float]
    values: Sequence[float]


def most_frequent(rows: Sequence[float], values: Sequence[float | None]) -> Reference | None:
    """The share of the most frequent class as the level to beat; None where no share is known.

    >>> most_frequent([100, 200], [None, 0.6])
    Reference(name='the most frequent class', rows=[200], values=[0.6])
    """
    return _known(MOST_FREQUENT, rows, values)


def mean_so_far(rows: Sequence[float], values: Sequence[float | None]) -> Reference | None:
    """The error of predicting the mean so far as the level to stay below; None where it is not known.

    >>> mean_so_far([100, 200], [None, None]) is None
    True
    """
    return _known(MEAN_SO_FAR, rows, values)


def _known(name: str, rows: Sequence[float], values: Sequence[float | None]) -> Reference | None:
    known = [(row, value) for row, value in zip(rows, values, strict=False) if value is not None]
    return Reference(name, [row for row, _ in known], [value for _, value in known]) if known else None


def joined(lines: Sequence[Line]) -> list[Line]:
    """The same lines, of which those that coincide are one, which says so in its name.

    >>> joined([("a", [1, 2], [0.5, 0.9]), ("b", [1, 2], [0.1, 0.2]), ("c", [1, 2], [0.5, 0.9])])
    [('a = c', [1, 2], [0.5, 0.9]), ('b', [1, 2], [0.1, 0.2])]
    """
    known = [value for _, _, values in lines for value in values if value is not None]
    within = SAME * (max(known, default=0.0) - min(known, default=0.0))
    groups: list[tuple[Line, list[str]]] = []
    for line in lines:
        for first, names in groups:
            if _coincide(first, line, within):
                names.append(line[0])
                break
        else:
            groups.append((line, [line[0]]))
    return [(_together(names), rows, values) for (_, rows, values), names in groups]


def _together(names: Sequence[str]) -> str:
    """What to call lines that coincide; a legend has no room for many names.

    >>> _together(["a", "b", "c"]), _together(["a", "b", "c", "d", "e"])
    ('a = b = c', 'a = b and 3 more')
    """
    if len(names) <= MOST_NAMED:
        return " = ".join(names)
    return f"{' = '.join(names[: MOST_NAMED - 1])} and {len(names) - MOST_NAMED + 1} more"


def _coincide(one: Line, other: Line, within: float) -> bool:
    if list(one[1]) != list(other[1]):
        return False
    pairs = list(zip(one[2], other[2], strict=True))
    if any((a is None) != (b is None) for a, b in pairs):
        return False
    return all(a is None or b is None or abs(a - b) <= within for a, b in pairs)


def told(lines: Sequence[Line]) -> str:
    """A sentence on the lines that were joined; nothing where none were."""
    same = [name for name, _, _ in lines if " = " in name]
    more = " The CSV file has every line by its own name." if any(name.endswith(" more") for name in same) else ""
    return f" These lines coincide: {'; '.join(same)}.{more}" if same else ""


def accuracy_chart(lines: Sequence[Line], what: str, reference: Reference | None = None) -> Chart:
    """Accuracy over time, one line per method; `what` says which accuracy."""
    reading = f"{what} at each moment; a dip that recovers is a drift the method followed."
    if reference is not None:
        reading += f" Shaded: no better than {reference.name}."
    return _over_time("Accuracy over time", reading, "accuracy", lines, reference)


def error_chart(lines: Sequence[Line], what: str, reference: Reference | None = None) -> Chart:
    """The error of predicted numbers over time, one line per method; lower is better."""
    drawn = joined(lines)
    reading = f"{what} at each moment, in the units of the target; lower is better, and a peak that passes is a drift "
    reading += "the method followed." + told(drawn)
    chart = Chart(
        "RMSE over time", reading, "Line chart of the RMSE against the rows seen.", new_figure(ROWS, "RMSE", 280)
    )
    known = [value for _, _, values in lines for value in values if value is not None]
    known += [] if reference is None else reference.values
    lowest, highest = min(known, default=0.0), max(known, default=1.0)
    margin = 0.05 * ((highest - lowest) or abs(highest) or 1.0)
    if reference is not None:
        every_row = [row for _, rows, _ in lines for row in rows]
        _shade(chart, reference, highest + margin, (min(every_row), max(every_row)))  # worse is above
        chart.reading += f" Shaded: no better than {reference.name}."
    curves = draw_curves(chart, coloured(drawn), ("method", "row", "RMSE"))
    if reference is not None:
        chart.legend.append(Mark("quiet", "dotted", reference.name))
    hover_curves(chart, curves, "method", ("row", "0,0"), ("RMSE", "0.[0000]"))
    _keep_all(chart, lines, drawn, "RMSE")
    chart.figure.yaxis.formatter = NumeralTickFormatter(format="0.[000]a")
    chart.figure.y_range = Range1d(lowest - margin, highest + margin)
    return dress(chart)


def stability_chart(lines: Sequence[Line]) -> Chart:
    """Stability of the selection over time, one line per method."""
    return _over_time(
        "Stability over time",
        "How alike the latest selections were (Nogueira): 100 % means that nothing changed, 0 % that chance would do "
        "the same.",
        "stability",
        lines,
    )


def _over_time(
    title: str, reading: str, label: str, lines: Sequence[Line], reference: Reference | None = None
) -> Chart:
    drawn = joined(lines)
    ends = [f"{name} {share(_last(values))}" for name, _, values in drawn[:6]]
    chart = Chart(
        title,
        reading + told(drawn),
        f"Line chart of the {label} against the rows seen, at the end: {', '.join(ends)}.",
        new_figure(ROWS, label, 280),
    )
    known = [value for _, _, values in lines for value in values if value is not None]
    known += [] if reference is None else reference.values
    # From the ten per cent below the lowest value on: the differences are what the chart is for.
    highest = max(known, default=1.0)
    lowest = min(math.floor(10 * min(known, default=0.0) + 1e-9) / 10, highest - 0.1)
    if reference is not None:
        every_row = [row for _, rows, _ in lines for row in rows]
        _shade(chart, reference, lowest - 0.01, (min(every_row), max(every_row)))
    curves = draw_curves(chart, coloured(drawn), ("method", "row", label))
    hover_curves(chart, curves, "method", ("row", "0,0"), (label, "0.0%"))
    if reference is not None:
        chart.legend.append(Mark("quiet", "dotted", reference.name))
    _keep_all(chart, lines, drawn, label)
    as_share(chart)
    chart.figure.y_range = Range1d(lowest - 0.01, highest + 0.015)
    return dress(chart)


def _keep_all(chart: Chart, lines: Sequence[Line], drawn: Sequence[Line], label: str) -> None:
    """The file of a chart has all lines by their own names, also those that are drawn as one."""
    if len(drawn) < len({name for name, _, _ in lines}):
        points = [(name, x, y) for name, rows, values in lines for x, y in zip(rows, values, strict=True)]
        chart.data = {key: [point[k] for point in points] for k, key in enumerate(("method", "row", label))}


def _shade(chart: Chart, reference: Reference, bottom: float, ends: tuple[float, float]) -> None:
    """The level that needs no features as a line, and the area below it."""
    rows = list(reference.rows) or list(ends)
    values = list(reference.values) if reference.rows else [reference.values[0]] * 2
    source = ColumnDataSource({"x": rows, "y": values, "bottom": [bottom] * len(rows)})
    area = chart.figure.varea("x", "bottom", "y", source=source)
    line = chart.figure.line("x", "y", source=source, line_width=1.4, line_dash="dotted")
    chart.colour(area.glyph, fill_color="chance")
    chart.colour(line.glyph, line_color="quiet")


def _last(values: Sequence[float | None]) -> float | None:
    return next((value for value in reversed(values) if value is not None), None)


def amounts_chart(title: str, reading: str, label: str, lines: Sequence[Line], number_format: str) -> Chart:
    """Something that grows over the rows, seconds or bytes for example, a line each."""
    chart = Chart(title, reading, f"Line chart of the {label} against the rows seen.", new_figure(ROWS, label, 240))
    drawn = draw_curves(chart, coloured(lines), ("what", "row", label))
    hover_curves(chart, drawn, "what", ("row", "0,0"), (label, number_format))
    chart.figure.y_range.start = 0
    chart.figure.yaxis.formatter = NumeralTickFormatter(format=number_format)
    return dress(chart)
