"""Make the two pages of the reproduced papers, and their charts, from the results beside them.

    python docs/reproduction/make.py
    python docs/reproduction/make.py --add out/results   (further repeats, measured with the next --seed, come first)

Reads results/*.json, as `streamsift reproduce all` (in its folder results/) and `streamsift reproduce PAPER --check
NAME` write them, texts.json, what was found out in words, and newer.json, figures that others printed later, each with
its source. Writes index.md, for newcomers, details.md, with every table and figure, and one SVG per paper. No number of
ours is typed in: those of the texts are looked up in the results.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from streamsift.core.exceptions import InputError
from streamsift.reproduce.claims import judged_claims
from streamsift.reproduce.everything import STRENGTH, summary
from streamsift.reproduce.figure_verdict import figures_summary
from streamsift.reproduce.printed import KINDS, RESULTS
from streamsift.reproduce.printed_figures import FIGURE_RULE, FIGURE_WORDS
from streamsift.reproduce.record import means_of, pooled
from streamsift.reproduce.record import text as text_of
from streamsift.reproduce.verdict import RULE, WORDS

HERE = Path(__file__).resolve().parent
PAPERS = ("fires", "abfs", "screening", "investing", "etana")
ANSWER = {True: "**yes**", False: "**no**", None: "not judged"}
Records = Mapping[str, dict[str, Any]]


def records(folder: Path = HERE / "results") -> dict[str, dict[str, Any]]:
    """The results of exhibits by stem, without those of checks."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))
            if "-check-" not in path.stem}  # fmt: skip


def checks(folder: Path = HERE / "results") -> dict[str, dict[str, Any]]:
    """The results of the checks by stem."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*-check-*.json"))}


# -- the two pages ----------------------------------------------------------------------------------------------------


def page(found: Records, texts: Mapping[str, Any]) -> str:
    """The page for newcomers as markdown: per paper its claim, our verdict, one chart, and what was found out."""
    tables, claims, figures = summary(found, {}), judged_claims(found), figures_summary(found, {})
    parts = ["# The papers, measured again", texts["lead"]]
    overview, sections = [], []
    for paper in PAPERS:
        text = texts["papers"][paper]
        own, said, drawn = (
            [one for one in shown if one["paper"] == paper] for shown in (tables, claims, figures)
        )  # fmt: skip
        counts = _verdict_counts(own, said, drawn)
        overview.append([f"[{text['title'].partition(' (')[0]}](#{_slug(text['title'])})", *counts, text["verdict"]])
        sections += [
            f"## {text['title']}",
            f"**What it claims.** {text['claim']}",
            f"**Our verdict.** {text['verdict']}",
        ]
        if CHARTS[paper](found):
            sections.append(f"![{text['chart']}]({paper}.svg)\n\n*{text['chart']}*")
        sections += ["**Does it hold?**", _claims(said), "**What we found that the paper does not say**"]
        sections += [f"- {line['what']}" for line in text["found"]]
        more = f"details.md#{_slug(text['title'])}"
        sections.append(f"[How we know, and each of its tables and figures]({more})")
    columns = ["paper", "claims that hold", "tables reproduced", "claims about figures that hold", "our verdict"]
    parts += [_table(columns, overview), *sections, "## How it is judged", texts["how"]]
    return _joined(parts)


def details(found: Records, looked_into: Records, texts: Mapping[str, Any], newer: Sequence[Mapping[str, Any]]) -> str:
    """The page of all tables and figures as markdown."""
    tables, claims, figures = summary(found, {}), judged_claims(found), figures_summary(found, {})
    parts = [
        "# The papers, table by table",
        texts["details"],
        *_counts(tables, claims),
        *_figure_counts(figures),
        f"**The rule.** {RULE} {FIGURE_RULE}",
    ]
    for paper in PAPERS:
        text = texts["papers"][paper]
        parts += [
            f"## {text['title']}",
            "**Table by table**",
            _tables([one for one in tables if one["paper"] == paper]),
        ]
        parts += ["**Figure by figure**", _figures([one for one in figures if one["paper"] == paper])]
        parts.append("**What we found that the paper does not say**")
        for line in text["found"]:
            why = _filled(_said(line.get("why", ""), found, looked_into), found, looked_into)
            parts.append(f"- **{line['what']}** {why}".rstrip())
        parts += [
            "**Newer results**",
            text["newer"],
            *_newer([source for source in newer if source["paper"] == paper], found),
        ]
    parts += ["## What was run", _runs(found, looked_into)]
    return _joined(parts)


def _joined(parts: Sequence[str]) -> str:
    return re.sub(r"(?m)^(- .*)\n\n(?=- )", r"\1\n", "\n\n".join(parts) + "\n")


def _slug(title: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _counts(tables: Sequence[Mapping[str, Any]], claims: Sequence[Mapping[str, Any]]) -> list[str]:
    words = [word for word in WORDS if any(table["verdict"]["word"] == word for table in tables)]
    rows = []
    for kind in KINDS:
        own = Counter(table["verdict"]["word"] for table in tables if table["kind"] == kind)
        rows.append([kind, str(sum(own.values())), *(str(own[word] or "") for word in words)])
    results = [table for table in tables if table["kind"] == RESULTS]
    rests = Counter(table["rests_on"] for table in results)
    held = Counter(claim["holds"] for claim in claims)
    order = sorted(table["correlation"] for table in tables if table["correlation"] is not None)
    whole = sorted(table["correlation_whole"] for table in tables if table["correlation_whole"] is not None)
    sentences = (
        f"Of {len(claims)} claims of the papers {held[True]} hold here, {held[False]} do not, {held[None]} are not "
        "judged. "
        f"In {len(order)} tables that compare methods, the rank correlation of our order with the printed one is "
        f"{order[len(order) // 2]:.2f} (median); in the {len(whole)} of them with some sets in part, on the other sets "
        f"alone, {whole[len(whole) // 2]:.2f}." if order and whole else ""
    )  # fmt: skip
    rested = "; ".join(f"{rests[what]} on {what}" for what in reversed(STRENGTH) if rests[what])
    return [
        _table(["tables of", "in all", *words], rows),
        f"What the {len(results)} verdicts on results rest on: {rested}. {sentences}",
    ]


def _figure_counts(figures: Sequence[Mapping[str, Any]]) -> list[str]:
    words = [word for word in FIGURE_WORDS if any(figure["verdict"]["word"] == word for figure in figures)]
    rows = []
    for paper in PAPERS:
        own = Counter(figure["verdict"]["word"] for figure in figures if figure["paper"] == paper)
        rows.append([paper, str(sum(own.values())), *(str(own[word] or "") for word in words)])
    held = Counter(claim["holds"] for figure in figures for claim in figure["claims"])
    rests = Counter(figure["rests_on"] for figure in figures if figure["verdict"]["word"] != "nothing measured")
    rested = ", ".join(f"{rests[what]} on {what}" for what in reversed(STRENGTH) if rests[what])
    return [
        _table(["figures of", "in all", *words], rows),
        f"Of {sum(held.values())} claims about figures {held[True]} hold here, {held[False]} do not, {held[None]} were "
        f"not judged. What the figures rest on: {rested}.",
    ]


def _verdict_counts(
    tables: Sequence[Mapping[str, Any]], claims: Sequence[Mapping[str, Any]], figures: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Claims, tables of results and claims about figures: how many of those judged agree."""
    held = Counter(claim["holds"] for claim in claims)
    words = Counter(table["verdict"]["word"] for table in tables if table["kind"] == RESULTS)
    agreeing = words["reproduced"] + words["fitted"]
    hold, judged = (sum(figure["verdict"][what] for figure in figures) for what in ("n_agreeing", "n_judged"))
    return [
        f"{held[True]} of {held[True] + held[False]}" + (f" ({held[None]} not judged)" if held[None] else ""),
        f"{agreeing} of {agreeing + words['differs']}" + (f", {words['fitted']} fitted" if words["fitted"] else ""),
        f"{hold} of {judged}",
    ]


def _claims(claims: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [
            f"{claim['claim']} ({claim['where']})",
            ANSWER[claim["holds"]],
            claim["here"] + (" (quick)" if claim["rests_on"] == "quick" else ""),
            ""
            if claim["holds_in_print"] is None
            else f"{'yes' if claim['holds_in_print'] else 'no'}: {claim['in_print']}",
        ]
        for claim in claims
    ]
    return _table(["claim", "holds here", "our figures ± standard error", "in print, the same cells"], rows)


def _tables(tables: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for table in tables:
        number = table["table"].partition(".")[0].removeprefix("table")
        name = f"{number}: {table['what']}" if number.isdigit() else table["what"]
        said = " ".join(filter(None, (table["verdict"]["sentence"], table["chance"], table["order"], table["caveat"])))
        if missing := table["verdict"]["missing"]:
            said += f" Not measured, or not whole: {', '.join(missing)}."
        rows.append([name, table["verdict"]["word"], _rests_on(table), said])
    return _table(["table", "verdict", "rests on", "how near"], rows)


def _figures(figures: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for figure in figures:
        number = figure["figure"].removeprefix("figure")
        name = f"{number}: {figure['what']}" if number.isdigit() else figure["what"]
        said = [figure["verdict"]["sentence"]]
        for claim in figure["claims"] if figure["verdict"]["word"] != "not run" else []:
            taken = f" (taken as: {claim['taken_as']})" if claim["taken_as"] else ""
            here = claim["here"] if claim["holds"] is not None else ""
            answer = ANSWER[claim["holds"]] if claim["holds"] is not None else f"not judged, {claim['here']}"
            said.append(f"{answer}: {claim['claim']}{taken}" + (f": *{here}*." if here else "."))
        rows.append([name, figure["verdict"]["word"], _rests_on({**figure, "kind": RESULTS}), "<br>".join(said)])
    return _table(["figure", "verdict", "rests on", "claims"], rows)


def _rests_on(table: Mapping[str, Any]) -> str:
    if table["kind"] != RESULTS:
        return "what is here" if table["repeats"] else "nothing"
    if not table["repeats"]:
        return str(table["rests_on"])
    of = f" of {table['paper_repeats']}" if table["paper_repeats"] else ""
    plural = "" if table["repeats"] == 1 and not of else "s"
    return f"{table['rests_on']}, {table['repeats']}{of} repeat{plural}"


def _newer(sources: Sequence[Mapping[str, Any]], found: Records) -> list[str]:
    """Figures printed later beside ours and the paper's, and where they stand; nothing where none were found."""
    rows, notes = [], []
    for number, source in enumerate(sources, 1):
        notes.append(f"[{number}] {source['source']} ({source['where']}): {source['how']}.")
        for figure in source["figures"]:
            cell = _cell(found, *figure["cell"]) if figure["cell"] else {"ours": None, "published": None}
            values = (cell["ours"], cell["published"], figure["value"])
            rows.append([figure["method"], figure["data"], figure["measure"], *map(_digits, values), f"[{number}]"])
    return [_table(["method", "data", "measure", "ours", "in print", "newer", "source"], rows), *notes] if rows else []


def _cell(found: Records, stem: str, table: str, name: str) -> Mapping[str, Any]:
    return next(cell for cell in found[stem]["cells"] if (cell["table"], cell["cell"]) == (table, name))


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _runs(found: Records, looked_into: Records) -> str:
    rows = [
        [
            stem,
            "all" if record["rows"] is None else f"{record['rows']:,}",
            str(record["repeats"]) + (f" of {record['paper_repeats']}" if record["paper_repeats"] else ""),
            str(record["n_left"] or ""),
            str(len(record["cells"])),
            _error(record),
            f"{record['seconds']:,.0f}",
            ", ".join(record["commits"]),
            f"`{record['command']}`",
        ]
        for stem, record in found.items()
    ]
    rows += [
        [stem, "", "", "", "", "", f"{record['seconds']:,.0f}", record["commit"], f"`{record['command']}`"]
        for stem, record in looked_into.items()
    ]
    columns = ["result", "rows", "repeats", "runs left", "cells", "standard error", "seconds", "commits", "command"]
    return _table(columns, rows)


def _error(record: Mapping[str, Any]) -> str:
    """The median standard error of cells or lines, as a share of the mean; nothing where there is one repeat."""
    means = [(cell["ours"], cell["error"]) for cell in record["cells"]]
    means += [mean for line in record.get("series", []) if not means for mean in means_of(line)]
    shares = sorted(abs(error / mean) for mean, error in means if error and mean)
    return f"{100 * shares[len(shares) // 2]:.2g} %" if shares else ""


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in line) + " |" for line in lines
    )


def _said(line: str | Mapping[str, str], found: Records, looked_into: Records) -> str:
    """A line of the texts; one that depends on a result has other words where that is not there."""
    if isinstance(line, str):
        return line
    return line["then"] if line["if"] in found or line["if"] in looked_into else line["else"]


PLACE = re.compile(r"\{([^{}]+)\}")


def _filled(text: str, found: Records, looked_into: Records) -> str:
    """A text with its numbers looked up.

    {stem > table > cell} is our value, {stem > table > cell > published} the printed one, {stem > note} the words of a
    check, {stem > rows > first cell > column} a cell of its table.
    """

    def value(match: re.Match[str]) -> str:
        stem, *rest = [part.strip() for part in match[1].split(">")]
        if stem in looked_into:
            check = looked_into[stem]
            if rest == ["note"]:
                return str(check["note"])
            _, row, column = rest
            line = next(line for line in check["rows"] if row in (line[0], ", ".join(line[:2])))
            return str(line[check["columns"].index(column)])
        if stem not in found:
            return "(not measured)"
        table, name, *what = rest
        cell = next((cell for cell in found[stem]["cells"] if (cell["table"], cell["cell"]) == (table, name)), None)
        if cell is None:
            return "(not measured)"
        number = cell[what[0] if what else "ours"]
        return f"{number:.4g}" if isinstance(number, float | int) else str(number)

    return PLACE.sub(value, text)


# -- the charts -------------------------------------------------------------------------------------------------------

Line = tuple[str, float, float, float | None]  # label, ours, printed, standard error
ROW, WIDTH, TOP = 24, 460, 34


def _cells(found: Records, stem: str, table: str) -> dict[str, dict[str, Any]]:
    return {cell["cell"]: cell for cell in found[stem]["cells"] if cell["table"] == table} if stem in found else {}


def _means(cells: Mapping[str, dict[str, Any]]) -> list[Line]:
    """Methods by their means over the sets that have them all, the best in print first."""
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for name, cell in cells.items():
        data, _, method = name.rpartition(", ")
        rows.setdefault(data, {})[method] = cell
    every = dict.fromkeys(method for row in rows.values() for method in row)
    methods = [method for method in every if 2 * sum(method in row for row in rows.values()) > len(rows)]
    whole = [row for row in rows.values() if all(method in row for method in methods)]
    lines = []
    for method in methods if whole else []:
        own = [row[method] for row in whole]
        ours, printed = (sum(float(cell[what]) for cell in own) / len(own) for what in ("ours", "published"))
        lines.append((method, ours, printed, _joint_error(own, len(own))))
    return sorted(lines, key=lambda line: -line[2])


def _joint_error(cells: Sequence[Mapping[str, Any]], divisor: int = 1) -> float | None:
    """The standard error of a sum or difference of cells, divided by a number; None where one of theirs is unknown."""
    if any(cell["error"] is None for cell in cells):
        return None
    return math.hypot(*(cell["error"] for cell in cells)) / divisor


def _fires(found: Records) -> list[Line]:
    return _means(_cells(found, "fires-table-3", "table3.accuracy"))


def _investing(found: Records) -> list[Line]:
    lines = []
    for name, cell in _cells(found, "investing-table-3", "table3").items():
        columns, penalty, what = name.rsplit(", ", 2)
        if what == "features":
            lines.append((f"{penalty}, {columns}", cell["ours"], cell["published"], cell["error"]))
    return lines


def _etana(found: Records) -> list[Line]:
    cells = _cells(found, "etana-table-2", "table2")
    return [(name, cell["ours"], cell["published"], cell["error"]) for name, cell in cells.items()]


def _abfs(found: Records) -> list[Line]:
    cells = _cells(found, "abfs-table-3", "table3")
    lines = []
    for learner in ("NB", "KNN", "HT", "HAT"):
        for name, cell in cells.items():
            stream, _, method = name.rpartition(", ")
            other = cells.get(f"{stream}, {learner}")
            if method == f"{learner}-ABFS" and other:
                gains = (cell[what] - other[what] for what in ("ours", "published"))
                lines.append((f"{learner} on {stream}", *gains, _joint_error([cell, other])))
    return lines


def _screening(found: Records) -> list[Line]:
    lines = []
    for score in ("chi-square", "gini", "mutual-information"):
        for name, cell in _cells(found, "screening-table-4", f"table6.{score}").items():
            if cell["basis"] == "whole" and (cell["published"] or cell["ours"]):
                lines.append((f"{score}, {name}", cell["ours"], cell["published"], None))
    return lines


CHARTS = {"fires": _fires, "investing": _investing, "etana": _etana, "abfs": _abfs, "screening": _screening}
LOGARITHMIC = ("investing",)


def chart(lines: Sequence[Line], title: str, *, logarithmic: bool = False) -> str:
    """Ours (full) and printed (open) on one line per label, with twice the standard error where it is known."""
    left = 24 + 7 * max(len(line[0]) for line in lines)
    scale = math.log10 if logarithmic else float
    values = [end for line in lines for end in (*_ends(line), line[2])]
    ticks = _decades(values) if logarithmic else _ticks(min(values), max(values))
    low, high = min(*map(scale, values), scale(ticks[0])), max(*map(scale, values), scale(ticks[-1]))

    def x(value: float) -> float:
        return left + WIDTH * (scale(value) - low) / ((high - low) or 1.0)

    height = TOP + ROW * len(lines) + 34
    marks = [
        f'<circle cx="{left}" cy="16" r="4" class="ours"/><text x="{left + 9}" y="20">here</text>',
        f'<circle cx="{left + 62}" cy="16" r="5" class="print"/><text x="{left + 72}" y="20">in print</text>',
    ]
    for tick in ticks:
        marks.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP}" y2="{height - 30}" class="grid"/>')
        marks.append(f'<text x="{x(tick):.1f}" y="{height - 12}" text-anchor="middle">{tick:g}</text>')
    for place, line in enumerate(lines):
        label, ours, printed, error = line
        y = TOP + ROW * place + ROW / 2
        marks.append(f'<text x="{left - 12}" y="{y + 4:g}" text-anchor="end">{escape(label)}</text>')
        marks.append(f'<line x1="{x(ours):.1f}" y1="{y:g}" x2="{x(printed):.1f}" y2="{y:g}" class="gap"/>')
        if error:
            first, last = _ends(line)
            marks.append(f'<line x1="{x(first):.1f}" x2="{x(last):.1f}" y1="{y:g}" y2="{y:g}" class="error"/>')
        marks.append(f'<circle cx="{x(printed):.1f}" cy="{y:g}" r="5" class="print"/>')
        marks.append(f'<circle cx="{x(ours):.1f}" cy="{y:g}" r="4" class="ours"/>')
    body = "\n".join(marks)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + WIDTH + 30} {height}" role="img">
<title>{escape(title)}</title>
<style>
text {{ font: 12px system-ui, sans-serif; fill: #333; }}
.ours {{ fill: #0b6e75; }} .print {{ fill: #fff; stroke: #c4540a; stroke-width: 2; }}
.gap {{ stroke: #bbb; stroke-width: 2; }} .error {{ stroke: #0b6e75; stroke-width: 5; opacity: .35; }}
.grid {{ stroke: #e4e4e4; }}
</style>
<rect width="100%" height="100%" rx="6" fill="#fff"/>
{body}
</svg>
"""


def _ends(line: Line) -> tuple[float, float]:
    """Ours less and more twice its standard error; on a logarithmic scale nothing may reach 0."""
    _, ours, _, error = line
    reach = 2 * (error or 0.0)
    return (max(ours - reach, 0.3 * ours) if ours > 0 else ours - reach), ours + reach


def _decades(values: Sequence[float]) -> list[float]:
    return [10.0**k for k in range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)]


def _ticks(low: float, high: float) -> list[float]:
    """Three to nine round numbers from below to above."""
    size = 10.0 ** math.floor(math.log10((high - low) or 1.0))
    step = next(size * part for part in (0.1, 0.2, 0.5, 1.0, 2.0) if (high - low) / (size * part) <= 8)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(step * k, 10) for k in range(first, last + 1)]


def files() -> dict[str, str]:
    """Every file of the page by name."""
    texts = json.loads((HERE / "texts.json").read_text("utf-8"))
    found = records()
    newer = json.loads((HERE / "newer.json").read_text("utf-8"))
    made = {"index.md": page(found, texts), "details.md": details(found, checks(), texts, newer)}
    for paper, lines in CHARTS.items():
        if lines(found):
            title = texts["papers"][paper]["chart"]
            made[f"{paper}.svg"] = chart(lines(found), title, logarithmic=paper in LOGARITHMIC)
    return made


def add(folder: Path, results: Path = HERE / "results") -> None:
    """Add the results of a folder to those kept: further repeats, or exhibits that are not there yet; all or none."""
    made = {}
    for path in sorted(folder.glob("*.json")):
        kept, more = results / path.name, json.loads(path.read_text("utf-8"))
        try:
            made[kept] = pooled(json.loads(kept.read_text("utf-8")), more) if kept.is_file() else more
        except InputError as error:
            sys.exit(f"{path.stem}: {error} Nothing was added.")
    if not made:
        sys.exit(f"There are no results in {folder}: give the folder results/ of `streamsift reproduce all`.")
    for kept, whole in made.items():
        kept.write_text(text_of(whole), encoding="utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            pass
        case ["--add", folder]:
            add(Path(folder))
        case _:
            sys.exit("Usage: python docs/reproduction/make.py [--add FOLDER]")
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")
