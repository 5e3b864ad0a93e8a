"""The page of a reproduced figure: the curves, panel by panel, and the table of the same numbers."""

from __future__ import annotations

from typing import Any

from streamsift.report.chart import N_COLOURS, Chart, Curve, Mark
from streamsift.report.figures import curves_chart
from streamsift.report.page import Cell, Section, Table, render
from streamsift.report.pictures import pictures_chart, points_chart


def reproduction_report(result: dict[str, Any], record: dict[str, Any] | None = None) -> str:
    """Return the HTML page of a reproduced figure, given as the dict of a `streamsift.reproduce` Result.

    Where the result is the first of several repeats, the record of them all adds a table of means and their errors.
    """
    charts: list[Chart] = []
    for panel in result["panels"]:
        if panel.get("pictures"):
            charts.append(pictures_chart(panel))
            continue
        if panel.get("marks"):
            charts.append(points_chart(panel))
            continue
        names = list(dict.fromkeys(curve["colour_by"] for curve in panel["curves"]))
        curves = [
            Curve(curve["name"], curve["x"], curve["y"], names.index(curve["colour_by"]) % N_COLOURS, curve["dashed"])
            for curve in panel["curves"]
        ]
        chart = curves_chart(panel["title"], panel["reading"], panel["alt"], result["x_label"], curves)
        chart.legend = [Mark(f"series-{k % N_COLOURS}", "line", name) for k, name in enumerate(names)]
        if panel.get("y_label"):
            chart.figure.yaxis.axis_label = panel["y_label"]
        if result["dashed_means"]:
            chart.legend.append(Mark("quiet", "dashed", result["dashed_means"]))
        charts.append(chart)
    rows: list[list[str | Cell]] = [list(row) for row in result["rows"]]
    columns = result["columns"]
    numeric = {name for k, name in enumerate(columns) if k and all(_is_number(row[k]) for row in result["rows"])}
    several = record is not None and len(record["seeds"]) > 1
    title = "The numbers, first repeat" if several else "The numbers"
    table = Table(title, columns, rows, result["note"], frozenset(numeric))
    tables = [*_means(record), table] if record is not None and several else [table]
    pictures = any(panel.get("pictures") for panel in result["panels"])
    return render(
        result["title"],
        result["lead"],
        [
            Section(
                f"The figure{', first repeat' * several}" if charts else "Ours beside the published",
                [],
                charts,
                tables,
                columns=1 if pictures else 2,
            )
        ],
    )


MOST_PLACES = 40  # of a line in the table of means; longer ones are curves, of which the first repeat is drawn


def _means(record: dict[str, Any]) -> list[Table]:
    """Ours as means over the repeats, with standard errors: the cells of a table, the lines of a figure."""
    paper = f" ({record['paper_repeats']} in the paper)" if record["paper_repeats"] else ""
    often = f"means over {record['repeats']} repeats{paper}"
    tables = []
    if record["cells"]:
        rows: list[list[str | Cell]] = [
            [cell["table"], cell["cell"], *map(_digits, (cell["ours"], cell["error"], cell["published"]))]
            for cell in record["cells"]
        ]
        columns = ["table", "cell", "ours", "standard error", "published"]
        tables.append(Table(often.capitalize(), columns, rows, numeric=frozenset(columns[2:])))
    if record["series"]:
        lines = [line for line in record["series"] if len(line["y"]) <= MOST_PLACES]
        rows = [
            [line["panel"], line["name"], *map(_digits, place)]
            for line in lines
            for place in zip(line["x"], line["y"], line.get("error") or [None] * len(line["y"]), strict=True)
        ]
        left_out = len(record["series"]) - len(lines)
        note = "Where the standard error is 0, nothing random enters."
        note += f" Lines of more than {MOST_PLACES} places are left out: {left_out}." if left_out else ""
        columns = ["what", "line", "at", "ours", "standard error"]
        tables.append(Table(f"What the figure shows, {often}", columns, rows, note, frozenset(columns[3:])))
    return tables


def _digits(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.4g}"


def _is_number(text: str) -> bool:
    """Whether a cell is a number, or empty."""
    try:
        float(text.replace(",", "") or "0")
    except ValueError:
        return False
    return True
