"""Why a feature was selected: one card per feature, the same in a notebook and in the report.

A card is plain HTML and SVG that carries its own look, so it needs neither a script nor the page's style sheet; colours
follow the page where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from streamsift.report.grid import grid_scores
from streamsift.report.numbers import more_are, number, share
from streamsift.report.page import FeatureCard

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a0508a", "#8f6f00", "#444c56")  # of a notebook; as in style.css
MOST_CLASSES = len(COLOURS)
WIDTH, BAR, GAP, LABEL = 400, 9, 7, 140  # of the bars, in pixels
LINE, CLASS, NUMBERS = 20, 90, 130  # height of a line of means, room for its class and at least for its numbers
DIGIT = 7.2  # width of a character of them
NOTHING = 1e-9  # of a standard deviation: a mean nearer to 0 is what rounding left of it
SPARK_WIDTH, SPARK_HEIGHT = 400, 54
PARAGRAPH = "margin: 4px 0 0; font-size: 13px; overflow-wrap: anywhere"
PICTURE = (
    '<svg role="img" aria-label="{0}" viewBox="0 0 {1} {2}" style="width: 100%; max-width: {1}px; display: block">'
)
TEXT = '<text x="{}" y="{}" text-anchor="end" dominant-baseline="middle" font-size="12" fill="currentColor">{}</text>'
RECT = '<rect x="{}" y="{}" width="{:.1f}" height="{}" rx="1.5" fill="{}"><title>{}</title></rect>'
MEAN = (
    '<line x1="{0}" x2="{1}" y1="{2}" y2="{2}" stroke="{3}" stroke-width="3" opacity=".45"/>'
    '<circle cx="{4}" cy="{2}" r="4.5" fill="{3}"><title>{5}: {6}</title></circle>'
)

Why = Mapping[str, Any]


@dataclass(frozen=True)
class Course:
    """How a feature's score went, and from which row on it was selected: what the trace adds to an explanation."""

    rows: Sequence[int]
    scores: Sequence[float | None]
    entered: Sequence[int]  # rows at which it came in
    held: bool  # at the end


def html(why: Why, course: Course | None = None) -> str:
    """A feature's card as HTML."""
    known = why["evidence"]
    parts = [_head(why), _figures(why, course)]
    if course is not None:
        parts.append(_spark(course))
    if known["bins"]:
        parts.append(_bars(why))
    elif known["spreads"]:
        parts.append(_means(known["spreads"]))
    parts.append(_words(known))
    style = "max-width: 520px; font: 14px/1.5 system-ui, sans-serif"
    return str(Markup('<div class="why" style="{}">{}</div>').format(style, Markup("").join(parts)))


def _head(why: Why) -> Markup:
    badge = "selected" if why["selected"] else "not selected"
    other = "the best that is not selected has" if why["selected"] else "the last selected has"
    beside = "" if why["threshold"] is None else f" ({other} {number(float(why['threshold']))})"
    facts = f"{badge}, rank {why['rank']:,} of {why['n_features']:,}; score {number(float(why['score']))}{beside}"
    text = '<p style="margin: 0 0 4px"><strong>{}</strong> <span style="opacity: .75">{}</span></p>'
    return Markup(text).format(why["name"], facts)


def _figures(why: Why, course: Course | None) -> Markup:
    """When it came in, and the numbers besides the score."""
    parts = [] if course is None else [_entered(course)]
    parts += [_figure(name, value) for name, value in why["evidence"]["figures"]]
    missing = why["evidence"]["missing"]
    if missing is not None:
        parts.append(f"missing in {share(missing)} of the rows" if missing else "never missing")
    text = "; ".join(part for part in parts if part)
    return Markup('<p style="margin: 0 0 6px">{}.</p>').format(text[:1].upper() + text[1:]) if text else Markup("")


def _figure(name: str, value: float) -> str:
    """A number by its name; a p-value that no float can hold is not nothing.

    >>> _figure("p-value", 0.0), _figure("gain", 0.25)
    ('p-value below 1e-300', 'gain 0.2500')
    """
    if name == "p-value":
        return f"{name} {value:.2g}" if value else f"{name} below 1e-300"
    return f"{name} {number(value)}"


def _entered(course: Course) -> str:
    """Since when it is selected.

    >>> _entered(Course([], [], [200, 900], True)), _entered(Course([], [], [], False))
    ('selected since row 900, first at row 200', 'never selected')
    """
    if not course.entered:
        return "never selected"
    first, last = course.entered[0], course.entered[-1]
    if not course.held:
        return f"selected for a time, first at row {first:,}"
    return f"selected since row {last:,}" + (f", first at row {first:,}" if last != first else "")


def _spark(course: Course) -> Markup:
    """The score over time, with a mark where the feature came in."""
    known = [(row, value) for row, value in zip(course.rows, course.scores, strict=True) if value is not None]
    if len(known) < 2:
        return Markup("")
    rows, values = np.array([row for row, _ in known], float), np.array([value for _, value in known])
    low, high = min(float(values.min()), 0.0), float(values.max())  # from 0 on: noise does not look like a rise
    last = float(rows[-1])
    x = 2.0 + (SPARK_WIDTH - 4.0) * rows / last
    y = SPARK_HEIGHT - 3.0 - (SPARK_HEIGHT - 6.0) * ((values - low) / (high - low) if high > low else values * 0 + 0.5)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    marks = Markup("").join(
        Markup('<line x1="{0}" x2="{0}" y1="0" y2="{1}" stroke="{2}" stroke-dasharray="3 3"/>').format(
            f"{2.0 + (SPARK_WIDTH - 4.0) * row / last:.1f}", SPARK_HEIGHT, _colour(1)
        )
        for row in (course.entered[-1:] if course.held else course.entered[:1])  # as the words above say it
    )
    title = f"Score over time: {number(float(values.min()))} to {number(high)}"
    title += f"; the dashed line is the row {'since which it is selected' if course.held else 'at which it came in'}."
    line = '<title>{0}</title>{3}<polyline points="{4}" fill="none" stroke="{5}" stroke-width="1.8"/></svg>'
    return Markup(PICTURE + line).format(title, SPARK_WIDTH, SPARK_HEIGHT, marks, points, _colour(0))


def _bars(why: Why) -> Markup:
    """The distribution by class: for each bin and class the share of the class's rows that fall into it."""
    weights = np.array([one["weights"] for one in why["evidence"]["bins"]], float)
    texts = [one["text"] for one in why["evidence"]["bins"]]
    totals = weights.sum(axis=0)
    classes = [int(c) for c in np.argsort(-totals, kind="stable")[:MOST_CLASSES] if totals[c] > 0.0]
    classes.sort()
    shares = weights[:, classes] / totals[classes]
    widest = float(shares.max()) or 1.0
    labels = [why["classes"][c] if c < len(why["classes"]) else str(c) for c in classes]
    step = len(classes) * BAR + GAP
    drawn = []
    for line, text in enumerate(texts):
        top = line * step
        drawn.append(Markup(TEXT).format(LABEL - 8, top + (step - GAP) / 2, _short(text)))
        for place, part in enumerate(shares[line].tolist()):
            length = max((WIDTH - LABEL) * part / widest, 0.5)
            told = f"{text}: {share(part)} of {labels[place]}"
            drawn.append(Markup(RECT).format(LABEL, top + place * BAR, length, BAR - 1, _colour(place), told))
    left_out = int((totals > 0.0).sum()) - len(classes)
    note = f" ({more_are(left_out, 'class')} not drawn)" if left_out else ""
    legend = Markup("&ensp;").join(
        Markup('<span><span style="color: {}">■</span> {}</span>').format(_colour(k), label)
        for k, label in enumerate(labels)
    )
    height = step * len(texts)
    title = f"Distribution by class over {len(texts)} bins"
    head = Markup('<p style="margin: 6px 0 2px; font-size: 13px">Share of each class by value{}: {}</p>')
    bars = Markup(PICTURE + "{3}</svg>").format(title, WIDTH, height, Markup("").join(drawn))
    return head.format(note, legend) + bars


def _means(spreads: Sequence[Mapping[str, Any]]) -> Markup:
    """Mean and standard deviation of each class on one scale: a dot on a line, the numbers beside it."""
    shown = spreads[: MOST_CLASSES + 1]
    ends = [one["mean"] + side * (one["deviation"] or 0.0) for one in shown for side in (-1.0, 1.0)]
    low, high = min(ends), max(ends)
    texts = [_mean_text(one) for one in shown]
    room = WIDTH - CLASS - max(NUMBERS, DIGIT * max(map(len, texts))) - GAP
    classes = [one["label"] for one in shown if one["label"] != "all rows"]
    drawn = []
    for line, one in enumerate(shown):
        y, mean, deviation = line * LINE + LINE / 2, one["mean"], one["deviation"] or 0.0
        x, left, right = (
            f"{CLASS + room * ((value - low) / (high - low) if high > low else 0.5):.1f}"
            for value in (mean, mean - deviation, mean + deviation)
        )
        told = texts[line]
        colour = _colour(classes.index(one["label"])) if one["label"] in classes else "currentColor"
        drawn.append(Markup(TEXT).format(CLASS - 12, y, _short(one["label"], 13)))
        drawn.append(Markup(MEAN).format(left, right, y, colour, x, one["label"], told))
        drawn.append(Markup(TEXT).format(WIDTH, y, told))
    left_out = len(spreads) - len(shown)
    note = f" ({more_are(left_out, 'class')} not drawn)" if left_out else ""
    head = Markup('<p style="margin: 6px 0 2px; font-size: 13px">Mean ± standard deviation{}</p>').format(note)
    title = "Mean and standard deviation by class"
    return head + Markup(PICTURE + "{3}</svg>").format(title, WIDTH, LINE * len(shown), Markup("").join(drawn))


def _mean_text(one: Mapping[str, Any]) -> str:
    deviation = one["deviation"] or 0.0
    written = number(0.0 if abs(one["mean"]) < NOTHING * deviation else one["mean"])
    return written if one["deviation"] is None else f"{written} ± {number(deviation)}"


def _short(text: str, longest: int = 22) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _colour(place: int) -> str:
    return f"var(--series-{place}, {COLOURS[place]})"


def _words(known: Why) -> Markup:
    """Redundancy, examples, and what is not known."""
    rows = []
    if known["related"]:
        text = ", ".join(f"{name} {value:.2f}" for name, value in known["related"])
        rows.append(("Correlation with better features", text))
    if known["examples"]:
        rows.append(("Examples of values", ", ".join(known["examples"])))
    line = Markup('<p style="{}"><span style="opacity: .75">{}:</span> {}</p>')
    told = [line.format(PARAGRAPH, label, text) for label, text in rows]
    quiet = Markup('<p style="{}; opacity: .75">{}</p>')
    return Markup("").join([*told, *(quiet.format(PARAGRAPH, sentence) for sentence in known["unknown"])])


def unknown_to_all(whys: Sequence[Why]) -> list[str]:
    """What is known of no feature: said once above the cards, not on each."""
    common = set.intersection(*(set(why["evidence"]["unknown"]) for why in whys))
    return [sentence for sentence in whys[0]["evidence"]["unknown"] if sentence in common]


def why_cards(run: Mapping[str, Any], number_of_run: int) -> list[FeatureCard]:
    """The cards of a run's leading features, each with its course."""
    common = unknown_to_all(run["why"])
    grid = run["grid"]
    places = {feature["index"]: place for place, feature in enumerate(grid["features"])}
    scores = grid_scores(grid)
    lanes = {lane["index"]: lane["selected"] for lane in run["lanes"]["features"]}
    cards = []
    for why in run["why"]:
        place = places.get(why["index"])
        course = None
        if place is not None:
            line = [value if np.isfinite(value) else None for value in scores[place].tolist()]
            entered = [_row_of(start, grid["rows"]) for start, _ in lanes.get(why["index"], ())]
            course = Course(grid["rows"], line, entered, why["selected"])
        own = [sentence for sentence in why["evidence"]["unknown"] if sentence not in common]
        card = Markup(html({**why, "evidence": {**why["evidence"], "unknown": own}}, course))
        cards.append(FeatureCard(card, None if place is None else (number_of_run, place)))
    return cards


def _row_of(start: int, rows: Sequence[int]) -> int:
    """The snapshot at which an interval was first seen: intervals begin behind the snapshot before it."""
    return next((row for row in rows if row > start), start)
