"""What a notebook shows of a selector of any kind, a selection and a comparison: small tables with bars."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from streamsift.report.advice import card
from streamsift.report.measures import measure
from streamsift.report.notebook import QUIET, bar, facts, folded, frame, head, hint, table
from streamsift.report.numbers import number
from streamsift.report.ranking import models, remark

if TYPE_CHECKING:
    from streamsift.core.selection import Selection

MOST_CLASSES = 8


def selection(found: Selection) -> str:
    """The selected features, best first, with bars as long as their scores."""
    return frame(_selected(found))


def _selected(found: Selection) -> Markup:
    scores = [None] * len(found) if found.scores is None else found.scores.tolist()
    rows = [
        [f"{rank:,}", name, "" if score is None else number(score), bar(length)]
        for rank, (name, score, length) in enumerate(zip(found.names, scores, _lengths(scores), strict=True), 1)
    ]
    caption = f"{len(found):,} of {found.n_features:,} features after {found.n_rows_seen:,} rows"
    return table(caption, ["rank", "feature", "score", ""], rows)


def _lengths(values: list[float | None]) -> list[float]:
    """Bars for some values: the best finite one has the full length."""
    best = max((value for value in values if value is not None and math.isfinite(value)), default=0.0)
    return [0.0 if value is None or best <= 0.0 else value / best for value in values]


def selector(fitted: Any) -> str:
    """A selector of rows that has learnt: what it is set to, and its selection."""
    found = fitted.selection()
    parts = [_settings(fitted), _selected(found)]
    if found.names:
        parts.append(hint("Why one is selected:", f"explain({found.names[0]!r})"))
    return frame(*parts)


def _settings(fitted: Any) -> Markup:
    return Markup('<p style="margin: 0 0 4px"><code>{}</code></p>').format(repr(fitted))


def columns(fitted: Any) -> str:
    """A selector of columns: what it kept, in the order of acceptance, and by how much each passed."""
    history = fitted.history_.to_pydict()
    statistics = [value if value is not None and not math.isnan(value) else None for value in history["statistic"]]
    heads = ["place", "column", "statistic", ""]
    rows = [
        [f"{place + 1:,}", name, "" if one is None else number(one), bar(length)]
        for place, name, one, length in zip(
            history["place"], history["name"], statistics, _lengths(statistics), strict=True
        )
    ]
    if all(one is None for one in statistics):  # a method that keeps no statistic
        heads, rows = heads[:2], [row[:2] for row in rows]
    caption = f"{len(rows):,} of {fitted.n_offered_:,} columns offered are selected, in the order of acceptance"
    return frame(_settings(fitted), table(caption, heads, rows), hint("As a table:", "history_"))


def instances(fitted: Any) -> str:
    """A classifier that buys values: how much it has seen, and for which classes."""
    classes = [str(label) for label in fitted.classes_]
    names = ", ".join(classes[:MOST_CLASSES])
    names += f" and {len(classes) - MOST_CLASSES:,} more" if len(classes) > MOST_CLASSES else ""
    numbers = [
        (f"{fitted.n_rows_seen_:,}", "rows learnt"),
        (f"{fitted.n_features_in_:,}", "features to buy from"),
        (f"{len(classes):,}", f"classes: {names}"),
    ]
    return frame(_settings(fitted), facts(numbers), hint("What is bought for one row:", "explain(row)"))


def comparison(found: dict[str, Any]) -> str:
    """The recommendation, its numbers, how to use it, and the entries with bars of the metric they are ranked by."""
    advice, entries, metric = card(found), found["entries"], found.get("metric", "accuracy")
    judged, several = measure(metric), len(models(entries)) > 1
    heads = ["rank", "method", *(["learner"] if several else []), judged.label, "", "stability", "features", ""]
    rows = []
    for entry, length in zip(entries, _lengths([entry[metric] for entry in entries]), strict=True):
        rank = "–" if entry["rank"] is None else f"{entry['rank']}{'*' * entry['on_front']}"
        line = [rank, entry["method"], *([entry["model"] or "–"] if several else []), judged.write(entry[metric])]
        others = [measure(key).write(entry[key]) for key in ("stability", "features")]
        rows.append([*line, bar(length), *others, remark(entry, entries, metric)])
    if not any(row[-1] for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    about = f"{found['data']}: {found['n_rows']:,} rows, {found['n_features']:,} features"
    numbers = [(fact.value, f"{fact.what}, {fact.interval}" if fact.interval else fact.what) for fact in advice.facts]
    words = Markup('<p style="margin: 0 0 6px; max-width: 80ch">{} <span style="{}">{}</span></p>')
    parts = [head(advice.title, about), facts(numbers), words.format(advice.reason, QUIET, advice.caveat)]
    for one in advice.snippets:
        code = Markup('<pre style="margin: 4px 0; white-space: pre-wrap"><code>{}</code></pre>').format(one.text)
        parts.append(folded(one.label, code))
    return frame(*parts, table("Best first; * marks the front", heads, rows), hint("Drawn:", "comparison.plot()"))
