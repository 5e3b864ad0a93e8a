"""The page: sections of facts, charts and tables become one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from bokeh.embed import json_item
from bokeh.resources import Resources
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from streamsift import __version__
from streamsift.report.figures import Chart


@dataclass(frozen=True)
class Bar:
    """A table cell with a number and a bar of the given length (0 to 1) behind it."""

    text: str
    length: float


@dataclass(frozen=True)
class Table:
    """A table; cells are texts or bars, and columns named in `numeric` are set flush right."""

    title: str
    columns: list[str]
    rows: list[list[str | Bar]]
    note: str = ""
    numeric: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, a few facts in large type, charts, and tables below them."""

    heading: str
    facts: list[tuple[str, str]] = field(default_factory=list)  # (value, what it is)
    charts: list[Chart] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    columns: int = 1  # charts side by side on a wide screen


def render(title: str, lead: str, sections: list[Section]) -> str:
    """Return the page as HTML: style, script, chart library and data are all inside."""
    environment = Environment(
        loader=PackageLoader("streamsift.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    charts = [chart for section in sections for chart in section.charts]
    places = {id(chart): f"chart-{k}" for k, chart in enumerate(charts)}
    data = [{"item": json_item(chart.figure, places[id(chart)]), "paint": chart.paint} for chart in charts]
    templates = files("streamsift.report") / "templates"
    return environment.get_template("page.html.jinja").render(
        title=title,
        lead=lead,
        sections=sections,
        place=lambda chart: places[id(chart)],
        is_bar=lambda cell: isinstance(cell, Bar),
        version=__version__,
        style=Markup((templates / "style.css").read_text("utf-8")),
        script=Markup((templates / "page.js").read_text("utf-8")),
        library=Markup("\n".join(Resources(mode="inline", components=["bokeh"]).js_raw) if charts else ""),
        data=Markup(_script_json(data)),
    )


def _script_json(data: Any) -> str:
    """JSON that may stand inside a script element, whatever a feature is called."""
    return json.dumps(data).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def number(value: float | None) -> str:
    """A number for people: four digits or all before the point, thousands set apart.

    >>> number(12345.0), number(3.0), number(0.123456), number(0.00001234), number(float("inf")), number(None)
    ('12,345', '3.000', '0.1235', '1.234e-05', '∞', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.4g}"
