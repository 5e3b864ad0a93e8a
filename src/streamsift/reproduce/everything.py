"""Every table and figure of the five papers: which exhibits measure them, with what options; the verdicts on tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from streamsift.reproduce.order import method_order
from streamsift.reproduce.papers import exhibits
from streamsift.reproduce.printed import MOST_REPEATS, QUICK, QUICK_ENOUGH, SECONDS, TABLES, UNPRINTED, PrintedTable
from streamsift.reproduce.printed_figures import FIGURES
from streamsift.reproduce.record import rests_on
from streamsift.reproduce.result import Exhibit, Options, Pair
from streamsift.reproduce.verdict import TableVerdict, agrees, judge


@dataclass(frozen=True)
class ExhibitTask:
    """An exhibit to run, once for all tables and figures it measures, and how often it is to be repeated."""

    paper: str
    exhibit: str
    options: Options
    repeats: int = 1

    @property
    def stem(self) -> str:
        """The name of its files, without the ending.

        >>> ExhibitTask("etana", "table 2", Options()).stem
        'etana-table-2'
        """
        return stem_of(self.paper, self.exhibit)

    @property
    def paper_repeats(self) -> int:
        """How often the paper repeated it; 0 where it does not say."""
        return MOST_REPEATS.get((self.paper, self.exhibit), (1, 0))[1]

    @property
    def cost(self) -> float:
        """About how many seconds a repeat takes."""
        return SECONDS.get((self.paper, self.exhibit), 1.0)

    @property
    def command(self) -> str:
        """The command that measures it, as one would type it."""
        rows = "" if self.options.rows is None else f" --rows {self.options.rows}"
        kind, _, number = self.exhibit.partition(" ")
        if not number.isdigit() and self.exhibit != "rivals":
            return "streamsift reproduce all --data DIR -o out/"
        what = "--rivals" if self.exhibit == "rivals" else f"--{kind} {number}"
        repeats = f" --repeats {self.repeats}" if self.repeats > 1 else ""
        return f"streamsift reproduce {self.paper} {what}{rows}{repeats} --data DIR -o out/"

    def function(self) -> Exhibit:
        """What measures it."""
        return exhibits(self.paper)[self.exhibit]


def stem_of(paper: str, exhibit: str) -> str:
    """The name of the files of an exhibit, without the ending."""
    return f"{paper}-{exhibit.replace(' ', '-')}"


def plan(options: Options, *, quick: bool, as_often_as_possible: bool = False) -> list[ExhibitTask]:
    """The exhibits behind all tables and figures, each once, the cheapest first.

    >>> [task.stem for task in plan(Options(), quick=True)][-1]
    'abfs-figure-7'
    """
    names = dict.fromkeys((shown.paper, exhibit) for shown in (*TABLES, *FIGURES) for exhibit in shown.exhibits)
    tasks = []
    for name in sorted(names, key=lambda name: SECONDS.get(name, 0.0)):
        own = replace(options, **(QUICK.get(name, {}) if quick else {}))
        most = MOST_REPEATS.get(name, (1, 0))[0]
        repeats = own.n_repeats(most if as_often_as_possible or name in QUICK_ENOUGH else 1)
        tasks.append(ExhibitTask(*name, replace(own, repeats=1), repeats if name in MOST_REPEATS else 1))
    return tasks


def verdict(table: PrintedTable, records: Mapping[str, dict[str, Any]], failures: Mapping[str, str]) -> TableVerdict:
    """The verdict on a table, from the records (by stem) and failures of its exhibits."""
    if table.closed:
        return TableVerdict("data missing", f"{table.closed}: not to be had.", missing=[table.closed])
    if not table.exhibits:
        return TableVerdict("nothing printed", "No number is printed that could be compared.")
    for stem in _stems(table):
        if stem in failures:
            return TableVerdict("failed", failures[stem])
        if stem not in records:
            return TableVerdict("not run", "The run ended before it.")
    found = [records[stem] for stem in _stems(table)]
    missing = list(dict.fromkeys(name for one in found for name in one["missing"]))
    if (table.paper, table.name) in UNPRINTED:
        return TableVerdict("nothing printed", "Measured; the paper's numbers are not in the text they were read from.")
    cells = cells_of(table, records)
    left = sum(one["n_left"] for one in found)
    if not cells and left:
        return TableVerdict("not run", "No cell of it is finished.")
    judged = judge(cells, by_order=table.by_order, missing=missing)
    return replace(judged, sentence=f"So far ({left} runs are left): {judged.sentence}") if left else judged


def cells_of(table: PrintedTable, records: Mapping[str, dict[str, Any]]) -> list[Pair]:
    """The cells of a table that are measured."""
    found = [records[stem] for stem in _stems(table) if stem in records]
    return [Pair(**cell) for one in found for cell in one["cells"] if cell["table"] == table.name]


TWICE = 2.0  # standard errors


def chance(cells: Sequence[Pair], paper_repeats: int) -> str:
    """How many of the cells that differ are within what the repeats leave open, the paper's and ours; "" if unknown.

    The spread of single runs is taken from ours. Two standard errors of the difference count as chance.

    >>> chance([Pair("t", "a", 2.0, 2.5, error=0.1, repeats=4)], 4)
    'Cells off by more than 10 %, but within two standard errors of the difference: 0 of 1.'
    """
    off = [cell for cell in cells if cell.basis != "part" and not agrees(cell.ours, cell.published)]
    known = [cell for cell in off if cell.error is not None]
    if not known or not paper_repeats:
        return ""
    within = 0
    for cell in known:
        error = float(cell.error or 0.0)
        of_difference = math.sqrt(error**2 + error**2 * cell.repeats / paper_repeats)
        within += abs(float(cell.ours) - float(cell.published)) <= TWICE * of_difference
    return f"Cells off by more than 10 %, but within two standard errors of the difference: {within} of {len(known)}."


def _stems(table: PrintedTable) -> list[str]:
    return [stem_of(table.paper, exhibit) for exhibit in table.exhibits]


def summary(records: Mapping[str, dict[str, Any]], failures: Mapping[str, str]) -> list[dict[str, Any]]:
    """A plain dict for each of the 46 tables: kind, verdict, what it rests on, order, and the pages that show it."""
    rows = []
    for table in TABLES:
        stems = [stem for stem in _stems(table) if stem in records]
        often = max((records[stem]["paper_repeats"] for stem in stems), default=0)
        order = method_order(cells_of(table, records), table.better) if table.better else None
        rows.append(
            {
                "paper": table.paper,
                "table": table.name,
                "what": table.what,
                "kind": table.kind,
                "caveat": table.caveat if stems else "",
                "verdict": verdict(table, records, failures).as_dict(),
                "rests_on": weakest([rests_on(records.get(stem)) for stem in _stems(table)]),
                "repeats": min((records[stem]["repeats"] for stem in stems), default=0),
                "paper_repeats": often,
                "chance": "" if table.by_order else chance(cells_of(table, records), often),
                "order": "" if order is None else order.words(),
                "correlation": None if order is None else order.correlation,
                "correlation_whole": None if order is None or order.whole is None else order.whole.correlation,
                "stems": stems,
            }
        )
    return rows


STRENGTH = ("nothing", "quick", "full size, part of the runs", "full size")


def weakest(found: list[str]) -> str:
    """What a table or figure of several exhibits rests on: the least of them."""
    return min(found, key=STRENGTH.index, default="nothing")
