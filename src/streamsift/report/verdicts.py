"""The page of a reproduction of everything: a verdict for each table and figure, with links to the exhibits' pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from streamsift.report.page import Cell, Section, Table, render

SIGNS = {
    "reproduced": "✓",
    "fitted": "≈",
    "differs": "≠",
    "data in part": "◐",
    "data missing": "○",
    "nothing printed": "–",
    "failed": "✗",
    "not run": "…",
}
FIGURE_SIGNS = {
    "holds": "✓",
    "holds in part": "≈",
    "does not hold": "≠",
    "not judged": "◐",
    "nothing measured": "–",
    "failed": "✗",
    "not run": "…",
}
HOLDS = {True: "✓ yes", False: "≠ no", None: "… not judged"}
TITLES = {
    "fires": "FIRES (Haug et al. 2020)",
    "investing": "Information investing (Ungar et al.)",
    "etana": "ETANA (Warahena Liyanage et al. 2020)",
    "abfs": "ABFS (Barddal et al. 2019)",
    "screening": "Online screening (Wang and Barbu 2021)",
}


def verdicts_report(
    tables: Sequence[Mapping[str, Any]],
    claims: Sequence[Mapping[str, Any]] = (),
    figures: Sequence[Mapping[str, Any]] = (),
    *,
    rule: str,
    lead: str,
    callout: str = "",
    failures: Mapping[str, str],
) -> str:
    """Return the HTML page, given the summaries of `streamsift.reproduce` and the rule of its verdicts."""
    results = [table for table in tables if table["kind"] == "results"]
    counts = Counter(table["verdict"]["word"] for table in results)
    facts = [(f"{counts[word]}", word) for word in SIGNS if counts[word]]
    counts_of = [_papers(tables), _kinds(tables), *([_figure_counts(figures)] if figures else [])]
    counted = Section(f"{len(results)} tables of results", facts=facts, tables=counts_of, note=rule)
    sections = [counted]
    if claims:
        sections.append(Section("Does what the papers claim hold here?", tables=[_claims(claims)]))
    for paper in dict.fromkeys(table["paper"] for table in tables):
        own = [table for table in tables if table["paper"] == paper]
        drawn = [figure for figure in figures if figure["paper"] == paper]
        sections.append(Section(TITLES.get(paper, paper), tables=[_table(own), *([_figures(drawn)] if drawn else [])]))
    if failures:
        rows: list[list[str | Cell]] = [[stem, sentence] for stem, sentence in failures.items()]
        sections.append(
            Section("What failed", tables=[Table("Exhibits that ended in an error", ["exhibit", "error"], rows)])
        )
    return render("The papers, measured again", lead, sections, callout=callout)


def _kinds(tables: Sequence[Mapping[str, Any]]) -> Table:
    """Results, settings and sizes counted apart."""
    words = [word for word in SIGNS if any(table["verdict"]["word"] == word for table in tables)]
    rows: list[list[str | Cell]] = []
    for kind in dict.fromkeys(table["kind"] for table in tables):
        found = Counter(table["verdict"]["word"] for table in tables if table["kind"] == kind)
        rows.append([kind, *(str(found[word]) for word in words)])
    return Table("By what they hold", ["tables of", *words], rows, numeric=frozenset(words))


def _figure_counts(figures: Sequence[Mapping[str, Any]]) -> Table:
    """The verdicts on figures by paper, apart from those on tables."""
    words = [word for word in FIGURE_SIGNS if any(figure["verdict"]["word"] == word for figure in figures)]
    rows: list[list[str | Cell]] = []
    for paper in dict.fromkeys(figure["paper"] for figure in figures):
        found = Counter(figure["verdict"]["word"] for figure in figures if figure["paper"] == paper)
        rows.append([TITLES.get(paper, paper), *(str(found[word]) for word in words)])
    return Table(f"{len(figures)} figures", ["paper", *words], rows, numeric=frozenset(words))


def _figures(figures: Sequence[Mapping[str, Any]]) -> Table:
    """One line per figure, with its claims."""
    rows: list[list[str | Cell]] = []
    for figure in figures:
        verdict = figure["verdict"]
        word = Markup('<span style="white-space: nowrap">{} {}</span>').format(
            FIGURE_SIGNS[verdict["word"]], verdict["word"]
        )
        line = Markup('<div style="margin-top: 0.4em">{} {}{}: <i>{}</i></div>')
        said = Markup("").join(
            line.format(
                HOLDS[claim["holds"]].partition(" ")[0],
                claim["claim"],
                f" (taken as: {claim['taken_as']})" if claim["taken_as"] else "",
                claim["here"],
            )
            for claim in figure["claims"]
        )
        text = Markup('<div style="min-width: 22em">{}{}</div>').format(verdict["sentence"], said)
        number = figure["figure"].removeprefix("figure")
        name = f"Figure {number}: {figure['what']}" if number.isdigit() else figure["what"]
        rows.append([_link(name, figure["stems"]), word, text, _rests_on(figure)])
    return Table("Figures", ["figure", "verdict", "claims", "rests on"], rows)


def _claims(claims: Sequence[Mapping[str, Any]]) -> Table:
    rows: list[list[str | Cell]] = [
        [
            f"{TITLES.get(claim['paper'], claim['paper']).partition(' (')[0]}, {claim['where']}",
            Markup('<div style="min-width: 15em">{}</div>').format(claim["claim"]),
            HOLDS[claim["holds"]],
            Markup('<div style="min-width: 15em">{}</div>').format(claim["here"]),
            HOLDS[claim["holds_in_print"]] if claim["holds"] is not None else "",
            claim["rests_on"],
        ]
        for claim in claims
    ]
    note = "The same check is applied to the printed cells and to ours, over the cells measured here."
    columns = ["where", "claim", "holds here", "our figures ± standard error", "in print, same cells", "rests on"]
    return Table("Claims", columns, rows, note)


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
        said = " ".join(filter(None, (verdict["sentence"], table["chance"], table["order"], table["caveat"])))
        agree = Cell("")
        if judged := verdict["n_judged"]:
            share = verdict["n_agreeing"] / judged
            agree = Cell(f"{verdict['n_agreeing']:,} of {judged:,}", share, share)
        word = Markup('<span style="white-space: nowrap">{} {}</span>').format(SIGNS[verdict["word"]], verdict["word"])
        # On a phone the table scrolls sideways: a sentence of one word a line would be as long as the page.
        rows.append(
            [_name(table), word, Markup('<div style="min-width: 17em">{}</div>').format(said), agree, _rests_on(table)]
        )
    counts = Counter(table["verdict"]["word"] for table in tables)
    title = ", ".join(f"{counts[word]} {word}" for word in SIGNS if counts[word])
    # Once below the heading: most tables of a paper lack the same sets.
    missing = dict.fromkeys(name for table in tables for name in table["verdict"]["missing"])
    note = f"Not here, or not whole, and so not judged: {', '.join(missing)}." if missing else ""
    return Table(title, ["table", "verdict", "how near", "agree", "rests on"], rows, note)


def _rests_on(table: Mapping[str, Any]) -> str:
    """Full size or not, and how many repeats of how many.

    >>> _rests_on({"rests_on": "full size", "repeats": 3, "paper_repeats": 30})
    'full size, 3 of 30 repeats'
    """
    found = str(table["rests_on"])
    if table["paper_repeats"] and table["repeats"]:
        return f"{found}, {table['repeats']} of {table['paper_repeats']} repeats"
    return f"{found}, {table['repeats']} repeats" if table["repeats"] > 1 else found


def _name(table: Mapping[str, Any]) -> str:
    """What a table shows, as a link to the page that measured it; further pages are numbered.

    >>> _name({"table": "table3.ms", "what": "time per step", "stems": []})
    'Table 3: time per step'
    """
    number = table["table"].partition(".")[0].removeprefix("table")
    what = str(table["what"])
    name = f"Table {number}: {what}" if number.isdigit() else what[:1].upper() + what[1:]
    return _link(name, table["stems"])


def _link(name: str, stems: Sequence[str]) -> str:
    if not stems:
        return name
    texts = [name, *(f"({place})" for place in range(2, len(stems) + 1))]
    link = Markup('<a style="color: var(--accent)" href="{}.html">{}</a>')
    return Markup(" ").join(link.format(stem, text) for stem, text in zip(stems, texts, strict=True))
