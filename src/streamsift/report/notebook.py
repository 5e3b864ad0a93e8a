"""The look that everything in a notebook shares: a head line, numbers in large type, small curves, tables with bars.

It is HTML and SVG that carries its own style: notebooks show it without a script, and in their own colours for text, so
that it reads on a dark page too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from streamsift.report.numbers import duration

if TYPE_CHECKING:
    from streamsift.core.live import Look

Floats = NDArray[np.float64]

MOST_LINES = 30
FRAME = "font: 14px/1.45 system-ui, sans-serif; max-width: 780px"
QUIET = "opacity: .72"
BAR = "display: inline-block; height: 9px; border-radius: 2px; background: #0072b2; vertical-align: middle"
CELL = "text-align: left; padding: 2px 14px 2px 0; border: 0; background: none; font-variant-numeric: tabular-nums"
N_POINTS, WIDTH, HEIGHT = 300, 360, 44  # of a small curve


def frame(*parts: Markup) -> str:
    """The parts one below the other."""
    return str(Markup('<div style="{}">{}</div>').format(FRAME, Markup("").join(parts)))


def head(name: str, about: str) -> Markup:
    """What it is, and a few words about it."""
    text = '<p style="margin: 0 0 6px"><strong>{}</strong> <span style="{}">{}</span></p>'
    return Markup(text).format(name, QUIET, about)


def hint(words: str, code: str) -> Markup:
    """What to call next."""
    text = '<p style="margin: 6px 0 0; font-size: 13px; {}">{} <code>{}</code></p>'
    return Markup(text).format(QUIET, words, code)


def facts(found: Sequence[tuple[str, str]]) -> Markup:
    """Numbers in large type, each above what it is."""
    one = Markup(
        '<div style="margin: 0 26px 6px 0"><div style="font-size: 20px; line-height: 1.2; font-variant-numeric: '
        'tabular-nums">{}</div><div style="font-size: 12px; {}">{}</div></div>'
    )
    boxes = Markup("").join(one.format(value, QUIET, what) for value, what in found)
    return Markup('<div style="display: flex; flex-wrap: wrap; margin: 0 0 4px">{}</div>').format(boxes)


def bar(length: float) -> Markup:
    """A bar of a table, whose length is between 0 and 1."""
    return Markup('<span style="{}; width: {:.0f}px"></span>').format(BAR, 120 * min(max(length, 0.0), 1.0))


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> Markup:
    """A table whose cells are escaped, unless they are markup of our own; of many rows the first."""
    cell = Markup('<{0} style="{1}">{2}</{0}>')
    line = [Markup("").join(cell.format("th", CELL, name) for name in heads)] if any(heads) else []
    line += [Markup("").join(cell.format("td", CELL, text) for text in row) for row in rows[:MOST_LINES]]
    more = f"; {len(rows) - MOST_LINES:,} more are not shown" if len(rows) > MOST_LINES else ""
    body = Markup("").join(Markup("<tr>{}</tr>").format(one) for one in line)
    shown = Markup('<caption style="text-align: left; font-size: 12px; {}">{}{}</caption>').format(QUIET, caption, more)
    text = '<table style="border-collapse: collapse; font-size: 13px">{}<tbody>{}</tbody></table>'
    return Markup(text).format(shown if caption or more else Markup(""), body)


def look(one: Look) -> str:
    """How far a run is: a bar, and a few words; at the end only the words."""
    words = f"{one.words}, {duration(one.seconds)}" if one.words else duration(one.seconds)
    text = Markup('<span style="font-size: 13px; {}">{}</span>').format(QUIET, words)
    name = Markup('<strong style="margin-right: 10px">{}</strong>').format(one.what)
    if one.ended:
        return frame(name, text)
    track = "display: inline-block; width: 180px; height: 9px; border-radius: 5px; margin-right: 10px; overflow: hidden"
    filled = 1.0 if one.fraction is None else min(max(one.fraction, 0.0), 1.0)
    colour = "#8fbfdc" if one.fraction is None else "#0072b2"  # pale where nobody knows the end
    inside = Markup('<span style="display: block; height: 9px; width: {:.1f}%; background: {}"></span>')
    rail = Markup('<span style="{}; background: rgba(128, 128, 128, .25)">{}</span>').format(
        track, inside.format(100.0 * filled, colour)
    )
    share = "" if one.fraction is None else Markup('<span style="margin-right: 10px">{:.0%}</span>').format(filled)
    return frame(name, rail, Markup(share), text)


def folded(title: str, inside: Markup) -> Markup:
    """What is shown on a click."""
    text = '<details style="margin: 6px 0 0"><summary style="font-size: 13px; {}">{}</summary>{}</details>'
    return Markup(text).format(QUIET, title, inside)


@dataclass(frozen=True)
class Small:
    """A small curve: its name, its values by row, the level it should beat, and rows to mark."""

    name: str
    x: Floats
    y: Floats
    told: str  # what is said beside it
    level: Floats | None = None
    marks: Sequence[float] = ()
    above: bool = False  # whether what is above the level is worse


def curves(found: Sequence[Small]) -> Markup:
    """Small curves one below the other over the same axis, with their names before and their values behind them."""
    rows = []
    for one in found:
        picture = _curve(one)
        if picture:
            cells = (one.name, picture, Markup('<span style="font-size: 12px; {}">{}</span>').format(QUIET, one.told))
            rows.append(cells)
    return table("", [], rows) if rows else Markup("")


def _curve(one: Small) -> Markup:
    """A curve as SVG; nothing where it would be a point or a level line."""
    known = np.flatnonzero(~np.isnan(one.y))
    if len(known) < 2 or np.ptp(one.y[known]) == 0.0:
        return Markup("")
    level = one.y[:0] if one.level is None else one.level
    every = np.concatenate([one.y[known], level[~np.isnan(level)]])
    low, high = float(every.min()), float(every.max())
    marks = Markup("").join(
        Markup('<line x1="{0:.1f}" x2="{0:.1f}" y1="0" y2="{1}" stroke="#d55e00" stroke-dasharray="2 3"/>').format(
            _across(np.array([row]), one.x)[0], HEIGHT
        )
        for row in one.marks
    )
    shade = Markup("")
    if (~np.isnan(level)).sum() > 1:
        points = _points(one.x, level, low, high)
        ends = [point.partition(",")[0] for point in (points.split()[-1], points.split()[0])]
        edge = 0 if one.above else HEIGHT
        back = f"{ends[0]},{edge} {ends[1]},{edge}"
        shade = Markup('<polygon points="{} {}" fill="currentColor" opacity=".13"/>').format(points, back)
    line = Markup('<polyline points="{}" fill="none" stroke="#0072b2" stroke-width="1.8"/>')
    text = (
        '<svg role="img" width="{0}" height="{1}" viewBox="0 0 {0} {1}" style="display: block"><title>{2}</title>'
        "{3}{4}{5}</svg>"
    )
    drawn = line.format(_points(one.x, one.y, low, high))
    return Markup(text).format(WIDTH, HEIGHT, f"{one.name}: {one.told}", shade, marks, drawn)


def _points(x: Floats, y: Floats, low: float, high: float) -> str:
    known = np.flatnonzero(~np.isnan(y))
    known = known[np.unique(np.linspace(0, len(known) - 1, min(len(known), N_POINTS)).astype(int))]
    share = (y[known] - low) / (high - low) if high > low else np.full(len(known), 0.5)
    down = HEIGHT - 2.0 - (HEIGHT - 4.0) * share
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(_across(x[known], x).tolist(), down.tolist(), strict=True))


def _across(places: Floats, x: Floats) -> Floats:
    """Where places of an axis are in the picture."""
    width = float(x[-1] - x[0]) or 1.0
    return np.asarray(1.0 + (WIDTH - 2.0) * (places - x[0]) / width, np.float64)
