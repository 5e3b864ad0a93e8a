"""The page of a reproduction of everything: a verdict for each table, with links to the pages of the exhibits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from streamsift.report.page import Cell, Section, Table, render

SIGNS = {"reproduced": "✓", "differs": "≠", "data missing": "○", "nothing printed": "–", "failed": "✗", "not run": "…"}
TITLES = {
    "fires": "FIRES (Haug et al. 2020)",
    "investing": "Information investing (Ungar et al.)",
    "etana": "ETANA (Warahena Liyanage et al. 2020)",
    "abfs": "ABFS (Barddal et al. 2019)",
    "screening": "Online screening (Wang and Barbu 2021)",
}


def verdicts_report(
    tables: Sequence[Mapping[str, Any]], *, rule: str, lead: str, callout: str = "", failures: Mapping[str, str]
) -> str:
    """Return the HTML page, given the summary of `streamsift.reproduce.everything` and the rule of the verdicts."""
    counts = Counter(table["verdict"]["word"] for table in tables)
    facts = [(f"{counts[word]}", word) for word in SIGNS if counts[word]]
    sections = [Section(f"{len(tables)} tables", facts=facts, tables=[_papers(tables)], note=rule)]
    for paper in dict.fromkeys(table["paper"] for table in tables):
        own = [table for table in tables if table["paper"] == paper]
        sections.append(Section(TITLES.get(paper, paper), tables=[_table(own)]))
    if failures:
        rows: list[list[str | Cell]] = [[stem, sentence] for stem, sentence in failures.items()]
        sections.append(
            Section("What failed", tables=[Table("Exhibits that ended in an error", ["exhibit", "error"], rows)])
        )
    return render("The papers, measured again", lead, sections, callout=callout)


def _papers(tables: Sequence[Mapping[str, Any]]) -> Table:
    words = [word for word in SIGNS if any(table["verdict"]["word"] == word for table in tables)]
    rows: list[list[str | Cell]] = []
    for paper in dict.fromkeys(table["paper"] for table in tables):
        found = Counter(table["verdict"]["word"] for table in tables if table["paper"] == paper)
        rows.append([TITLES.get(paper, paper), *(str(found[word]) for word in words)])
    return Table("By paper", ["paper", *words], rows, numeric=frozenset(words))


def _table(tables: Sequence[Mapping[str, Any]]) -> Table:
    rows: list[list[str | Cell]] = []
    for table in tables:
        verdict = table["verdict"]
        said = f"{verdict['sentence']} {table['caveat']}".strip()
        agree = Cell("")
        if judged := verdict["n_judged"]:
            share = verdict["n_agreeing"] / judged
            agree = Cell(f"{verdict['n_agreeing']:,} of {judged:,}", share, share)
        word = Markup('<span style="white-space: nowrap">{} {}</span>').format(SIGNS[verdict["word"]], verdict["word"])
        # On a phone the table scrolls sideways: a sentence of one word a line would be as long as the page.
        rows.append([_name(table), word, Markup('<div style="min-width: 17em">{}</div>').format(said), agree])
    counts = Counter(table["verdict"]["word"] for table in tables)
    title = ", ".join(f"{counts[word]} {word}" for word in SIGNS if counts[word])
    # Once below the heading: most tables of a paper lack the same sets.
    missing = dict.fromkeys(name for table in tables for name in table["verdict"]["missing"])
    note = f"Not here, or not whole, and so not judged: {', '.join(missing)}." if missing else ""
    return Table(title, ["table", "verdict", "how near", "agree"], rows, note)


def _name(table: Mapping[str, Any]) -> str:
    """What a table shows, as a link to the page that measured it; further pages are numbered.

    >>> _name({"table": "table3.ms", "what": "time per step", "stems": []})
    'Table 3: time per step'
    """
    number = table["table"].partition(".")[0].removeprefix("table")
    what = str(table["what"])
    name = f"Table {number}: {what}" if number.isdigit() else what[:1].upper() + what[1:]
    if not table["stems"]:
        return name
    texts = [name, *(f"({place})" for place in range(2, len(table["stems"]) + 1))]
    link = Markup('<a style="color: var(--accent)" href="{}.html">{}</a>')
    return Markup(" ").join(link.format(stem, text) for stem, text in zip(table["stems"], texts, strict=True))
