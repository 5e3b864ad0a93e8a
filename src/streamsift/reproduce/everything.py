"""Every table of the five papers: which exhibit measures it, with what options, and the verdict on each.

The 46 tables are those printed in the papers, a table of several measures counted once for each as in `published/`,
with the settings the papers give in lists. Some are not tables of results: sizes and settings are compared with ours,
and a table of symbols has nothing to compare.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from streamsift.reproduce.papers import exhibits
from streamsift.reproduce.result import Exhibit, Options, Pair
from streamsift.reproduce.verdict import TableVerdict, judge


@dataclass(frozen=True)
class PrintedTable:
    """A table: paper, name in `published/`, what it shows, and the exhibits that measure it.

    `by_order` is for times and memory. `closed` names data that nobody can have, where no exhibit is possible.
    `caveat` is what a reader of the verdict must know, and stands beside it.
    """

    paper: str
    name: str
    what: str
    exhibits: tuple[str, ...]
    by_order: bool = False
    closed: str = ""
    caveat: str = ""


FITTED = "The paper does not give the wealth and payoff of SFS: ours were chosen so as to meet Tables 1 and 2."
ZEROS = "Judged is only what the text says of it: all differences are 0 below eps 0.001."

TABLES = (
    PrintedTable("fires", "table1", "symbols", ()),
    PrintedTable("fires", "table2", "sizes of the data sets", ("table 2",)),
    PrintedTable("fires", "table3.accuracy", "accuracy", ("table 3",)),
    PrintedTable("fires", "table3.ms", "time per step", ("table 3",), by_order=True),
    PrintedTable("fires", "table4", "stability", ("table 3",)),
    PrintedTable("fires", "hyperparameters", "parameters of FIRES", ("parameters",)),
    PrintedTable("fires", "boosting-and-tree-settings", "settings of the rivals", ("benchmarks",)),
    PrintedTable("investing", "table1", "few true columns", ("table 1",), caveat=FITTED),
    PrintedTable("investing", "table2", "many true columns", ("table 2",), caveat=FITTED),
    PrintedTable("investing", "table3", "useless columns appended", ("table 3",), caveat=FITTED),
    PrintedTable("investing", "table4", "bankruptcies", (), closed="personal bankruptcies (never published)"),
    PrintedTable("etana", "table1", "sizes of the data sets", ("table 1",)),
    PrintedTable("etana", "table2", "accuracy", ("table 2", "rivals")),
    PrintedTable("etana", "table3", "features used", ("table 2", "rivals")),
    PrintedTable("etana", "table4.F", "time to select", ("table 2", "rivals"), by_order=True),
    PrintedTable("etana", "table4.C", "time to classify", ("rivals",), by_order=True),
    PrintedTable("etana", "table4.T", "time to train", ("table 2",), by_order=True),
    PrintedTable("abfs", "table1", "make-up of the streams", ("table 1",)),
    PrintedTable("abfs", "table2", "sizes of the data sets", ("table 2",)),
    PrintedTable("abfs", "table3", "accuracy, 100 irrelevant features", ("table 3",)),
    PrintedTable("abfs", "table4", "accuracy, 200 irrelevant features", ("table 4",)),
    PrintedTable("abfs", "table5", "accuracy, 500 irrelevant features", ("table 5",)),
    PrintedTable("abfs", "table6", "time, 500 irrelevant features", ("table 6",), by_order=True),
    PrintedTable("abfs", "table7", "memory, 500 irrelevant features", ("table 7",), by_order=True),
    PrintedTable("abfs", "table8.accuracy", "100 true features: accuracy", ("table 8",)),
    PrintedTable("abfs", "table8.selection", "100 true features: selection", ("table 8",)),
    PrintedTable("abfs", "table9", "100 true features: without selection", ("table 9",)),
    PrintedTable("abfs", "table10", "accuracy on real data", ("table 10",)),
    PrintedTable("abfs", "table11", "time on real data", ("table 11",), by_order=True),
    PrintedTable("abfs", "table12", "memory on real data", ("table 12",), by_order=True),
    PrintedTable("abfs", "parameter-grid", "parameters of ABFS", ("parameters",)),
    PrintedTable("abfs", "stability-setup", "how stability is measured", ("folds",)),
    PrintedTable("screening", "table1", "sizes of the data sets", ("table 1",)),
    PrintedTable("screening", "table2", "time by minibatch", ("table 2",), by_order=True),
    PrintedTable("screening", "table3", "time by eps", ("table 3",), by_order=True),
    PrintedTable("screening", "table4", "difference of counts", ("table 4",)),
    PrintedTable("screening", "table5.chi-square", "difference of scores, chi-square", ("table 4",), caveat=ZEROS),
    PrintedTable("screening", "table5.gini", "difference of scores, Gini", ("table 4",), caveat=ZEROS),
    PrintedTable(
        "screening", "table5.mutual-information", "difference of scores, information", ("table 4",), caveat=ZEROS
    ),
    PrintedTable("screening", "table6.chi-square", "wrong ranks, chi-square", ("table 4",)),
    PrintedTable("screening", "table6.gini", "wrong ranks, Gini", ("table 4",)),
    PrintedTable("screening", "table6.mutual-information", "wrong ranks, information", ("table 4",)),
    PrintedTable("screening", "table7", "sizes of the large sets", ("table 7",)),
    PrintedTable("screening", "table8", "error on 20 Newsgroups", ("table 8",)),
    PrintedTable("screening", "table9", "error on URL", ("table 9",)),
    PrintedTable("screening", "synthetic-setup", "the drifting stream", ("stream",)),
)
UNPRINTED = {("screening", "table3"), ("screening", "table7")}  # not in the text the figures were read from

# What is done in minutes: fewer rows, fewer repeats, or without the slowest runs; what is not named is quick anyhow.
QUICK: dict[tuple[str, str], dict[str, Any]] = {
    ("fires", "table 3"): {"rows": 500, "brief": True},
    ("investing", "table 1"): {"repeats": 4},
    ("investing", "table 2"): {"repeats": 2},
    ("investing", "table 3"): {"repeats": 2},
    ("abfs", "table 3"): {"rows": 1_000},
    ("abfs", "table 4"): {"rows": 1_000},
    ("abfs", "table 5"): {"rows": 500},
    ("abfs", "table 6"): {"rows": 500},
    ("abfs", "table 7"): {"rows": 500},
    ("abfs", "table 8"): {"rows": 500},
    ("abfs", "table 9"): {"rows": 500},
    ("abfs", "table 10"): {"rows": 200, "brief": True},
    ("abfs", "table 11"): {"rows": 200, "brief": True},
    ("abfs", "table 12"): {"rows": 200, "brief": True},
}


@dataclass(frozen=True)
class ExhibitTask:
    """An exhibit to run, once for all tables it measures."""

    paper: str
    exhibit: str
    options: Options

    @property
    def stem(self) -> str:
        """The name of its files, without the ending.

        >>> ExhibitTask("etana", "table 2", Options()).stem
        'etana-table-2'
        """
        return f"{self.paper}-{self.exhibit.replace(' ', '-')}"

    @property
    def settings(self) -> dict[str, Any]:
        """What its result depends on: a result of other settings is not taken for this one's."""
        return {name: value for name, value in asdict(self.options).items() if name not in ("jobs", "keep")}

    def function(self) -> Exhibit:
        """What measures it."""
        return exhibits(self.paper)[self.exhibit]


def plan(options: Options, *, quick: bool) -> list[ExhibitTask]:
    """The exhibits behind all tables, each once, in the order of the tables.

    >>> [task.stem for task in plan(Options(), quick=True)][:3]
    ['fires-table-2', 'fires-table-3', 'fires-parameters']
    """
    names = dict.fromkeys((table.paper, exhibit) for table in TABLES for exhibit in table.exhibits)
    return [
        ExhibitTask(paper, exhibit, replace(options, **(QUICK.get((paper, exhibit), {}) if quick else {})))
        for paper, exhibit in names
    ]


def kept(text: str, task: ExhibitTask) -> dict[str, Any] | None:
    """A result kept as JSON, if it is whole and of the same settings."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.get("settings") == task.settings else None


def verdict(table: PrintedTable, results: Mapping[str, dict[str, Any]], failures: Mapping[str, str]) -> TableVerdict:
    """The verdict on a table, from the results (as dicts, by stem) and failures of its exhibits."""
    if table.closed:
        return TableVerdict("data missing", f"{table.closed}: not to be had.", missing=[table.closed])
    if not table.exhibits:
        return TableVerdict("nothing printed", "No number is printed that could be compared.")
    stems = [ExhibitTask(table.paper, exhibit, Options()).stem for exhibit in table.exhibits]
    for stem in stems:
        if stem in failures:
            return TableVerdict("failed", failures[stem])
        if stem not in results:
            return TableVerdict("not run", "The run ended before it.")
    found = [results[stem] for stem in stems]
    pairs = [Pair(**pair) for one in found for pair in one["pairs"] if pair["table"] == table.name]
    missing = list(dict.fromkeys(name for one in found for name in one["missing"]))
    if (table.paper, table.name) in UNPRINTED:
        return TableVerdict("nothing printed", "Measured; the paper's numbers are not in the text they were read from.")
    return judge(pairs, by_order=table.by_order, missing=missing)


def summary(results: Mapping[str, dict[str, Any]], failures: Mapping[str, str]) -> list[dict[str, Any]]:
    """A plain dict for each of the 46 tables, with the stems of the pages that show it."""
    return [
        {
            "paper": table.paper,
            "table": table.name,
            "what": table.what,
            "caveat": table.caveat,
            "verdict": verdict(table, results, failures).as_dict(),
            "stems": [
                stem
                for exhibit in table.exhibits
                if (stem := ExhibitTask(table.paper, exhibit, Options()).stem) in results
            ],
        }
        for table in TABLES
    ]
