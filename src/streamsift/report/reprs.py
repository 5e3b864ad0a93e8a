"""What a notebook shows of a selector, a selection and a comparison: small tables with bars, without a script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from streamsift.report.advice import card
from streamsift.report.measures import measure
from streamsift.report.numbers import number
from streamsift.report.ranking import models, remark

if TYPE_CHECKING:
    from streamsift.core.selection import Selection

MOST_LINES = 30
BAR = "display: inline-block; height: 9px; border-radius: 2px; background: #0072b2; vertical-align: middle"
CELL = "text-align: left; padding: 2px 14px 2px 0"


def selection(found: Selection) -> str:
    """The selected features, best first, with bars as long as their scores."""
    scores = [None] * len(found) if found.scores is None else found.scores.tolist()
    best = max((score for score in scores if score is not None and math.isfinite(score)), default=0.0)
    rows = []
    for rank, (name, score) in enumerate(zip(found.names, scores, strict=True), 1):
        length = 0.0 if score is None or best <= 0.0 else min(max(score / best, 0.0), 1.0)
        rows.append([f"{rank:,}", name, "" if score is None else number(score), _bar(length)])
    caption = f"{len(found):,} of {found.n_features:,} features after {found.n_rows_seen:,} rows"
    return _table(caption, ["rank", "feature", "score", ""], rows)


def selector(fitted: Any) -> str:
    """A fitted selector: what it is set to, and its selection."""
    head = Markup('<p style="margin: 0 0 4px"><code>{}</code></p>').format(repr(fitted))
    hint = Markup('<p style="margin: 4px 0 0; opacity: .75">Why one is selected: <code>explain({})</code></p>')
    found = fitted.selection()
    return str(head + Markup(selection(found)) + (hint.format(repr(found.names[0])) if found.names else Markup("")))


def comparison(found: dict[str, Any]) -> str:
    """The recommendation, and the entries with bars of the metric they are ranked by."""
    advice, entries, metric = card(found), found["entries"], found.get("metric", "accuracy")
    judged, several = measure(metric), len(models(entries)) > 1
    values = [entry[metric] for entry in entries if entry[metric] is not None]
    best = max(values, default=0.0)
    heads = ["rank", "method", *(["learner"] if several else []), judged.label, "", "stability", "features", ""]
    rows = []
    for entry in entries:
        rank = "–" if entry["rank"] is None else f"{entry['rank']}{'*' * entry['on_front']}"
        length = 0.0 if entry[metric] is None or best <= 0.0 else min(max(entry[metric] / best, 0.0), 1.0)
        line = [rank, entry["method"], *([entry["model"] or "–"] if several else []), judged.write(entry[metric])]
        others = [measure(key).write(entry[key]) for key in ("stability", "features")]
        rows.append([*line, _bar(length), *others, remark(entry, entries, metric)])
    facts = ", ".join(f"{fact.what} {fact.value}" for fact in advice.facts)
    text = '<p style="margin: 0 0 8px; max-width: 80ch"><strong>{}</strong>{}<br>{} {}</p>'
    head = Markup(text).format(advice.title, f" ({facts})" if facts else "", advice.reason, advice.caveat)
    return str(head + Markup(_table("* marks the front", heads, rows)))


def _bar(length: float) -> Markup:
    return Markup('<span style="{}; width: {:.0f}px"></span>').format(BAR, 120 * length)


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table whose cells are escaped, unless they are markup of our own; of many rows the first."""
    cell = Markup('<{0} style="{1}">{2}</{0}>')
    line = [Markup("").join(cell.format("th", CELL, head) for head in heads)]
    line += [Markup("").join(cell.format("td", CELL, text) for text in row) for row in rows[:MOST_LINES]]
    more = f"; {len(rows) - MOST_LINES:,} more are not shown" if len(rows) > MOST_LINES else ""
    body = Markup("").join(Markup("<tr>{}</tr>").format(one) for one in line)
    frame = '<table><caption style="text-align: left; opacity: .75">{}{}</caption><tbody>{}</tbody></table>'
    return str(Markup(frame).format(caption, more, body))
