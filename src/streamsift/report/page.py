"""The page: sections of facts, charts and tables become one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from bokeh.document import Document
from bokeh.resources import Resources
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from streamsift import __version__
from streamsift.report.chart import Chart
from streamsift.report.figures import feature_charts

# page.js starts the others
SCRIPTS = ("download.js", "export.js", "sort.js", "contents.js", "labels.js", "heat.js", "feature.js", "page.js")
FEWEST_LINES = 4  # of a page that gets contents


@dataclass(frozen=True)
class Cell:
    """A table cell: its text, the number it sorts by, the length (0 to 1) of a bar behind it, the feature it opens."""

    text: str
    value: float | None = None
    bar: float | None = None
    feature: tuple[int, int] | None = None  # number of the grid, place in it


@dataclass(frozen=True)
class Table:
    """A table; columns named in `numeric` are set flush right, and all sort by a click on their heading."""

    title: str
    columns: list[str]
    rows: list[list[str | Cell]]
    note: str = ""
    numeric: frozenset[str] = frozenset()


@dataclass(frozen=True)
class FeatureCard:
    """What is known about a feature, as HTML of our own making; the view of the feature shows it, too."""

    html: Markup
    feature: tuple[int, int] | None  # number of the grid, place in it


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, a few facts in large type, charts, and tables above and below them."""

    heading: str
    facts: list[tuple[str, str]] = field(default_factory=list)  # (value, what it is)
    charts: list[Chart] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)  # below the charts
    above: list[Table] = field(default_factory=list)  # the charts: what a reader wants to see first
    columns: int = 1  # charts side by side on a wide screen
    note: str = ""
    cards: list[FeatureCard] = field(default_factory=list)  # side by side


@dataclass(frozen=True)
class CardFact:
    """A number on a card: its text, what it is, and its interval in words (empty: none is known)."""

    value: str
    what: str
    interval: str = ""


@dataclass(frozen=True)
class Snippet:
    """A command or a piece of code, with a button that copies it."""

    label: str
    text: str
    wraps: bool = False  # on a narrow screen; code scrolls instead


@dataclass(frozen=True)
class Card:
    """What to do, on top of the page: the answer, its numbers, why, what speaks against it, and how to use it."""

    title: str
    facts: list[CardFact] = field(default_factory=list)
    reason: str = ""
    caveat: str = ""
    snippets: list[Snippet] = field(default_factory=list)
    kicker: str = "Recommendation"
    tone: str = "good"  # or "careful": a class in style.css


@dataclass(frozen=True)
class ContentsLine:
    """A line of the contents, and the lines below it."""

    text: str
    place: str
    parts: list[ContentsLine] = field(default_factory=list)


def render(
    title: str,
    lead: str,
    sections: list[Section],
    grids: Sequence[dict[str, Any]] = (),
    callout: str = "",
    card: Card | None = None,
    notes: str = "",
) -> str:
    """Return the page as HTML: style, script, chart library and data are all inside.

    `grids` are the features that can be opened (see grid.py); `card` and `callout` are set apart on top of the page,
    and `notes` stand below the lead in small type.
    """
    environment = Environment(
        loader=PackageLoader("streamsift.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    single = feature_charts() if grids else []
    charts = [chart for section in sections for chart in section.charts]
    places = {id(chart): f"chart-{k}" for k, chart in enumerate([*single, *charts])}
    pack = {
        "library": "\n".join(Resources(mode="inline", components=["bokeh"]).js_raw) if charts else "",
        "figures": _figures(charts),
        "charts": [_chart(chart, places[id(chart)]) for chart in charts],
        "single_figures": _figures(single),
        "single": [_chart(chart, places[id(chart)]) for chart in single],
        "grids": list(grids),
    }
    tables = [table for section in sections for table in (*section.above, *section.tables)]
    section_places = {id(section): f"part-{k}" for k, section in enumerate(sections)}
    table_places = {id(table): f"table-{k}" for k, table in enumerate(tables)}
    templates = files("streamsift.report") / "templates"
    return environment.get_template("page.html.jinja").render(
        title=title,
        lead=lead,
        notes=notes,
        callout=callout,
        card=card,
        contents=_contents(sections, section_places, places, table_places),
        sections=sections,
        section_place=lambda section: section_places[id(section)],
        table_place=lambda table: table_places[id(table)],
        single=single,
        place=lambda chart: places[id(chart)],
        has_bars=lambda table, column: any(
            isinstance(row[column], Cell) and row[column].bar is not None for row in table.rows
        ),
        as_cell=lambda cell: cell if isinstance(cell, Cell) else Cell(cell),
        version=__version__,
        style=Markup((templates / "style.css").read_text("utf-8")),
        script=Markup("\n".join((templates / name).read_text("utf-8") for name in SCRIPTS)),
        pack=Markup(_packed(pack)),
    )


def _contents(
    sections: Sequence[Section], section_places: dict[int, str], places: dict[int, str], table_places: dict[int, str]
) -> list[ContentsLine]:
    """The contents of the page; a page that fits on a screen or two needs none."""
    lines = []
    for section in sections:
        charts = [ContentsLine(chart.title, f"{places[id(chart)]}-figure") for chart in section.charts]
        above, below = (
            [ContentsLine(table.title, table_places[id(table)]) for table in tables]
            for tables in (section.above, section.tables)
        )
        parts = [*above, *charts, *below]
        lines.append(ContentsLine(section.heading, section_places[id(section)], parts if len(parts) > 1 else []))
    return lines if len(lines) + sum(len(line.parts) for line in lines) >= FEWEST_LINES else []


def _figures(charts: Sequence[Chart]) -> Any:
    """All figures as one bokeh document: several would each be checked, themed and set up."""
    document = Document()
    for chart in charts:
        document.add_root(chart.figure)
    document.validate()
    return document.to_json(deferred=False)


def _chart(chart: Chart, place: str) -> dict[str, Any]:
    name = re.sub(r"\W+", "-", chart.title.lower()).strip("-")
    return {
        "figure": chart.figure.id,
        "place": place,
        "paint": chart.paint,
        "file": f"{name}.csv",
        "data": {key: list(values) for key, values in chart.data.items()},
        "grid": chart.grid,
        "lanes": chart.lanes,
        "heat": chart.heat,
        "zooms": chart.zooms,
        "labels": chart.labels,
    }


def _packed(pack: dict[str, Any]) -> str:
    """Compressed JSON in letters: a third of the size, and whatever a feature is called cannot become markup."""
    return base64.b64encode(zlib.compress(json.dumps(pack, separators=(",", ":")).encode(), 6)).decode()
