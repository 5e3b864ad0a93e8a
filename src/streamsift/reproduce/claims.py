"""What the papers say in words, and whether it holds: once in the cells they print, once in ours.

A claim is one sentence and one check, a function of the cells of some tables. The same check is applied to the printed
cells and to those measured here, over the same cells, so that a claim that the paper's own table contradicts shows.
TableCells of data that is here only in part take part as well: the question is who wins, not by which figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamsift.reproduce.fires.runs import BENCHMARKS, SELECTORS

Place = tuple[str, str, str]  # table, row, column


class TableCells(dict[Place, float]):
    """Values of cells; `errors` has the standard error of those that were measured several times."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: dict[Place, float] = {}

    def said(self, places: Iterable[Place], form: str, unit: str = "") -> str:
        """The mean over some places in words."""
        places = list(places)
        return said([self[place] for place in places], [self.errors.get(place) for place in places], form, unit)


def said(values: Sequence[float], errors: Sequence[float | None], form: str, unit: str = "") -> str:
    """A mean in words, with its standard error where those of all values are known and repeats differ at all.

    >>> said([1.0, 2.0], [0.3, 0.4], ".2f", " ms"), said([1.0, 2.0], [0.3, None], ".2f")
    ('1.50 ± 0.25 ms', '1.50')
    """
    known = [error for error in errors if error is not None]
    error = math.hypot(*known) / len(values) if len(known) == len(values) else 0.0
    return f"{np.mean(values):{form}}{f' ± {error:.2g}' * (error > 0.0)}{unit}"


Check = Callable[[TableCells], tuple[bool, str] | None]  # whether it holds, and in figures; None: not enough measured


@dataclass(frozen=True)
class PaperClaim:
    """A sentence of a paper, where it stands, and the check of it."""

    paper: str
    where: str
    sentence: str
    tables: tuple[str, ...]
    check: Check
    beside: str = ""  # why the data here says nothing about it, where that is so


def judged_claims(records: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Every claim with what its check says of the printed cells and of ours, over the cells that are measured."""
    rows = []
    for claim in CLAIMS:
        ours, printed = TableCells(), TableCells()
        basis, left = set(), 0
        for record in records.values():
            for cell in record["cells"] if record["paper"] == claim.paper else []:
                if cell["table"] not in claim.tables:
                    continue
                row, _, column = cell["cell"].rpartition(", ")
                place = cell["table"], row, column
                ours[place], printed[place] = float(cell["ours"]), float(cell["published"])
                if cell["error"] is not None:
                    ours.errors[place] = cell["error"]
                basis.add("quick" if record["rows"] or record["brief"] else "full size")
            left += record["n_left"] if record["paper"] == claim.paper and basis else 0
        here, there = claim.check(ours), claim.check(printed)
        if left and here is not None and there is not None and not there[0]:
            here = None  # too little is measured: the printed cells do not show it there either
        rows.append(
            {
                "paper": claim.paper,
                "where": claim.where,
                "claim": claim.sentence,
                "holds": None if here is None or claim.beside else here[0],
                "here": _in_figures(claim, here, nothing=there is None),
                "holds_in_print": None if there is None else there[0],
                "in_print": "" if there is None else there[1],
                "rests_on": "nothing" if here is None else "quick" if "quick" in basis else "full size",
            }
        )
    return rows


def _in_figures(claim: PaperClaim, here: tuple[bool, str] | None, *, nothing: bool) -> str:
    if here is None:
        return "not measured" if nothing else "not enough is measured"
    return f"{here[1]}; not judged: {claim.beside}" if claim.beside else here[1]


# -- checks -----------------------------------------------------------------------------------------------------------


def _rows(cells: TableCells, table: str, columns: tuple[str, ...]) -> list[str]:
    """The rows of a table that have all of some columns."""
    names = dict.fromkeys(row for name, row, _ in cells if name == table)
    return [row for row in names if all((table, row, column) in cells for column in columns)]


def _means(cells: TableCells, table: str, columns: tuple[str, ...]) -> tuple[dict[str, float], int]:
    """The mean of each column over the rows that have them all, and their number."""
    rows = _rows(cells, table, columns)
    if not rows:
        return {}, 0
    return {column: float(np.mean([cells[table, row, column] for row in rows])) for column in columns}, len(rows)


def _said_mean(cells: TableCells, table: str, columns: tuple[str, ...], one: str, form: str, unit: str = "") -> str:
    """One of the means of `_means` in words."""
    return cells.said([(table, row, one) for row in _rows(cells, table, columns)], form, unit)


def _best(table: str, method: str, columns: tuple[str, ...], sign: float, form: str = ".3f", unit: str = "") -> Check:
    """One of the columns is best on average over the rows; sign 1: the largest. Means are said in a form and a unit."""

    def check(cells: TableCells) -> tuple[bool, str] | None:
        means, n_rows = _means(cells, table, columns)
        if not means:
            return None
        best = max(means, key=lambda column: sign * means[column])
        others = [column for column in columns if column != method]
        second = max(others, key=lambda column: sign * means[column])
        ours, theirs = (_said_mean(cells, table, columns, one, form, unit) for one in (method, second))
        return best == method, f"{method} {ours}, the best other ({second}) {theirs}; {n_rows} sets"

    return check


def _competes(table: str, some: tuple[str, ...], others: tuple[str, ...]) -> Check:
    """The best of some columns is at least as large as the best of others, on average over the rows."""

    def check(cells: TableCells) -> tuple[bool, str] | None:
        means, n_rows = _means(cells, table, (*some, *others))
        if not means:
            return None
        one, other = (max(names, key=means.__getitem__) for names in (some, others))
        words = (f"{name} {_said_mean(cells, table, (*some, *others), name, '.3f')}" for name in (one, other))
        return means[one] >= means[other], f"{', '.join(words)}; {n_rows} sets"

    return check


def _gains(
    table: str, pairs: Mapping[str, tuple[str, str]], signs: Mapping[str, float], unit: str, *, on_all: bool
) -> Check:
    """The change from one column to another has the expected sign, on average or on every row."""

    def check(cells: TableCells) -> tuple[bool, str] | None:
        words, right = [], []
        for name, (before, after) in pairs.items():
            rows = _rows(cells, table, (before, after))
            changes = [cells[table, row, after] - cells[table, row, before] for row in rows]
            if not changes:
                continue
            judged = changes if on_all else [float(np.mean(changes))]
            right.append(all(signs[name] * change > 0 for change in judged))
            good = sum(signs[name] * change > 0 for change in changes)
            errors = [_error_of_change(cells, (table, row, before), (table, row, after)) for row in rows]
            change = said(changes, errors, "+.3g", f" {unit}")
            words.append(f"{name} {change} (as claimed on {good} of {len(changes)})")
        return (all(right), ", ".join(words)) if right else None

    return check


def _error_of_change(cells: TableCells, before: Place, after: Place) -> float | None:
    """The standard error of a difference, as if both had been measured on streams of their own."""
    known = [cells.errors[place] for place in (before, after) if place in cells.errors]
    return math.hypot(*known) if len(known) == 2 else None


def _loses(table: str, one: str, other: str, most: float, unit: str) -> Check:
    """On no row is a column below another by more than so much."""

    def check(cells: TableCells) -> tuple[bool, str] | None:
        gaps = {row: cells[table, row, other] - cells[table, row, one] for row in _rows(cells, table, (one, other))}
        if not gaps:
            return None
        worst = max(gaps, key=gaps.__getitem__)
        words = f"{sum(gap <= most for gap in gaps.values())} of {len(gaps)} at most {most:g} {unit} below; "
        return gaps[worst] <= most, f"{words}the most is {gaps[worst]:.3g} ({worst})"

    return check


def _bic_overfits(cells: TableCells) -> tuple[bool, str] | None:
    streaming, stepwise = (("table1", f"{search} BIC", "features") for search in ("streaming", "stepwise"))
    if streaming not in cells or stepwise not in cells:
        return None
    words = ", ".join(
        f"{name} {cells.said([place], '.1f')} columns"
        for name, place in (("streaming", streaming), ("stepwise", stepwise))
    )
    return 20 < cells[streaming] < cells[stepwise], f"{words}, 10 of them true at most"


def _ric_underfits(cells: TableCells) -> tuple[bool, str] | None:
    places = {name: ("table2", name, "error") for name in ("BIC", "SFS", "RIC")}
    if not all(place in cells for place in places.values()):
        return None
    bic, sfs, ric = (cells[place] for place in places.values())
    words = ", ".join(f"{name} {cells.said([place], '.2f')}" for name, place in places.items())
    return bic < sfs < ric, f"error of {words}"


def _sfs_stays(cells: TableCells) -> tuple[bool, str] | None:
    words, right = [], []
    for length in ("10,000", "100,000", "1,000,000"):
        errors = {name: ("table3", f"{length} columns, {name}", "error") for name in ("SFS", "BIC", "RIC")}
        false = "table3", f"{length} columns, SFS", "false positives"
        if not all(place in cells for place in (*errors.values(), false)):
            continue
        best = min(errors, key=lambda name: cells[errors[name]])
        other = min(("BIC", "RIC"), key=lambda name: cells[errors[name]])
        right.append(best == "SFS" and cells[false] < 1)
        own, others = (cells.said([errors[name]], ".2f") for name in ("SFS", other))
        words.append(f"{length}: error {own} (best other {others}), {cells.said([false], '.1f')} false")
    return (all(right), "; ".join(words)) if right else None


def _all_zero(tables: tuple[str, ...], below: float) -> Check:
    """All cells of tables by eps are 0 where eps is below a value."""

    def check(cells: TableCells) -> tuple[bool, str] | None:
        values = {
            f"{table}, {row}, {column}": value
            for (table, row, column), value in cells.items()
            if table in tables and float(column.removeprefix("eps ")) < below
        }
        if not values:
            return None
        off = {name: value for name, value in values.items() if value >= 0.005}
        worst = max(values, key=values.__getitem__)
        words = f"{len(values) - len(off)} of {len(values)} cells are 0"
        return not off, words + (f"; the largest is {values[worst]:.3g} ({worst})" if off else "")

    return check


def _online_faster(cells: TableCells) -> tuple[bool, str] | None:
    """On most sets one pass is faster than sorting with minibatches of 128 rows."""
    words, right = [], []
    for row in _rows(cells, "table2", ("minibatch offline", "minibatch 128")):
        offline, online = cells["table2", row, "minibatch offline"], cells["table2", row, "minibatch 128"]
        right.append(online < offline)
        words.append(f"{row} {offline / online:.2g}")
    if not right:
        return None
    return sum(right) > len(right) / 2, f"times as long as minibatches of 128, sorting takes: {', '.join(words)}"


def _adaptive_better(table: str) -> Check:
    """In most pairs adapting is better than not."""

    def check(cells: TableCells) -> tuple[bool, str] | None:
        pairs = set()  # a printed pair that stands beside two sets of ours counts once
        for (name, row, column), value in cells.items():
            twin = (name, row, column.replace(" not adaptive", " adaptive"))
            if name == table and " not adaptive" in column and twin in cells:
                pairs.add((column, cells[twin], value))
        if not pairs:
            return None
        gaps = [adaptive - fixed for _, adaptive, fixed in pairs]
        better, equal = sum(gap < 0 for gap in gaps), sum(gap == 0 for gap in gaps)
        return better > len(gaps) / 2, f"better in {better} of {len(gaps)} pairs, equal in {equal}"

    return check


def _improves_sgd(cells: TableCells) -> tuple[bool, str] | None:
    """SGD errs less on the features of the two adaptive scores than on all."""
    columns = ("SGD: no screening", "SGD: T-score adaptive", "SGD: Fisher adaptive")
    means, _ = _means(cells, "table9", columns)
    if not means:
        return None
    alone, *screened = means.values()
    words = ", ".join(
        f"{name.removeprefix('SGD: ')} {_said_mean(cells, 'table9', columns, name, '.4f')}" for name in columns
    )
    return max(screened) < alone, f"error with {words}"


def _crowded(cells: TableCells) -> tuple[bool, str] | None:
    """With 100 true features ABFS improves NB and KNN, trees gain little or lose."""
    words, right = [], []
    for learner in ("NB", "KNN"):
        alone = "table9", learner, "accuracy"
        found = [place for place in cells if (place[0], place[2]) == ("table8.accuracy", learner)]
        if alone in cells and found:
            best = max(found, key=cells.__getitem__)
            right.append(cells[best] > cells[alone])
            words.append(f"{learner} {cells.said([best], '.2f')}, without selection {cells.said([alone], '.2f')}")
    return (all(right), "; ".join(words)) if right else None


RIVALS = ("OFS-Density", "OFS-A3M", "SAOLA", "Fast-OSFS", "OSFS", "Alpha-Investing")
ALL_SELECTORS, ON_ALL = tuple(SELECTORS), tuple(BENCHMARKS)
WITH_ABFS = {name: (name, f"{name}-ABFS") for name in ("NB", "KNN", "HT", "HAT")}
GAINING = {name: WITH_ABFS[name] for name in ("NB", "KNN", "HT")}
REAL_ABFS = {name: (name, f"ABFS-{name}") for name in ("NB", "HT")}
UP, DOWN = 1.0, -1.0

CLAIMS = (
    PaperClaim(
        "fires",
        "sec. 4.2",
        "FIRES-GLM has the best mean accuracy of the six selectors.",
        ("table3.accuracy",),
        _best("table3.accuracy", "FIRES-GLM", ALL_SELECTORS, UP),
    ),
    PaperClaim(
        "fires",
        "sec. 4.2",
        "FIRES-GLM is the fastest of the six selectors.",
        ("table3.ms",),
        _best("table3.ms", "FIRES-GLM", ALL_SELECTORS, DOWN, ".2f", " ms"),
    ),
    PaperClaim(
        "fires",
        "sec. 4.2",
        "FIRES-GLM selects the most stable sets.",
        ("table4",),
        _best("table4", "FIRES-GLM", ALL_SELECTORS, UP),
    ),
    PaperClaim(
        "fires",
        "sec. 4.2",
        "A Perceptron on a few selected features can compete with Online Boosting and VFDT on all of them "
        "(taken as: with the best selector it is at least as accurate on average).",
        ("table3.accuracy",),
        _competes("table3.accuracy", ALL_SELECTORS, ON_ALL),
    ),
    PaperClaim(
        "investing",
        "sec. 3, Table 1",
        "With more columns than rows BIC overfits, stepwise search more than streaming.",
        ("table1",),
        _bic_overfits,
    ),
    PaperClaim(
        "investing",
        "sec. 3, Table 2",
        "With many true columns RIC underfits; information investing is better, BIC best.",
        ("table2",),
        _ric_underfits,
    ),
    PaperClaim(
        "investing",
        "sec. 3, Table 3",
        "However many useless columns follow, information investing selects less than "
        "one false column, and has the lowest error from 10,000 columns on.",
        ("table3",),
        _sfs_stays,
    ),
    PaperClaim(
        "etana",
        "sec. 5.6",
        "ETANA is more accurate than every rival.",
        ("table2",),
        _best("table2", "ETANA", ("ETANA", *RIVALS), UP),
    ),
    PaperClaim(
        "etana",
        "sec. 5.6",
        "F-ETANA uses more features per instance than ETANA.",
        ("table3",),
        _gains("table3", {"F-ETANA": ("ETANA", "F-ETANA")}, {"F-ETANA": UP}, "features", on_all=True),
    ),
    PaperClaim(
        "etana",
        "sec. 5.6",
        "F-ETANA loses no accuracy (taken as: at most two points on any set).",
        ("table2",),
        _loses("table2", "F-ETANA", "ETANA", 0.02, "of accuracy"),
    ),
    PaperClaim(
        "etana",
        "sec. 5.6",
        "F-ETANA trains faster than ETANA.",
        ("table4.T",),
        _gains("table4.T", {"F-ETANA": ("ETANA", "F-ETANA")}, {"F-ETANA": DOWN}, "s", on_all=True),
    ),
    PaperClaim(
        "abfs",
        "sec. 6.2, Table 3",
        "With 100 irrelevant features ABFS raises the mean accuracy of NB, KNN and HT, and lowers that of HAT.",
        ("table3",),
        _gains("table3", WITH_ABFS, {"NB": UP, "KNN": UP, "HT": UP, "HAT": DOWN}, "points", on_all=False),
    ),
    PaperClaim(
        "abfs",
        "sec. 6.2, Table 3",
        "It improves NB, KNN and HT on every generator.",
        ("table3",),
        _gains("table3", GAINING, dict.fromkeys(GAINING, UP), "points", on_all=True),
    ),
    PaperClaim(
        "abfs",
        "sec. 6.2, Table 3",
        "With a Hoeffding tree the oracle is only 0.03 points above ABFS on average "
        "(taken as: at most 0.1 on every stream).",
        ("table3",),
        _loses("table3", "HT-ABFS", "HT-ORACLE", 0.1, "points"),
    ),
    PaperClaim(
        "abfs",
        "Table 6",
        "ABFS makes NB slower and KNN faster.",
        ("table6",),
        _gains("table6", {name: WITH_ABFS[name] for name in ("NB", "KNN")}, {"NB": UP, "KNN": DOWN}, "s", on_all=True),
    ),
    PaperClaim(
        "abfs",
        "sec. 6.2, Tables 8 and 9",
        "With 100 true features ABFS improves NB and KNN (the best of its three settings).",
        ("table8.accuracy", "table9"),
        _crowded,
    ),
    PaperClaim(
        "abfs",
        "sec. 6.3, Table 10",
        "On real data NB and HT gain on every set.",
        ("table10",),
        _gains("table10", REAL_ABFS, dict.fromkeys(REAL_ABFS, UP), "points", on_all=True),
    ),
    PaperClaim(
        "screening",
        "sec. 3.1.3, Table 4",
        "Counts of one pass equal those of all rows for eps below 0.001.",
        ("table4",),
        _all_zero(("table4",), 0.001),
    ),
    PaperClaim(
        "screening",
        "sec. 3.1.3, Table 6",
        "The best tenth has the same ranks for eps below 0.01.",
        ("table6.chi-square", "table6.gini", "table6.mutual-information"),
        _all_zero(("table6.chi-square", "table6.gini", "table6.mutual-information"), 0.01),
    ),
    PaperClaim(
        "screening",
        "sec. 3.1.3, Table 2",
        "On most sets one pass is faster than sorting all rows, with minibatches of 128 rows or fewer.",
        ("table2",),
        _online_faster,
    ),
    PaperClaim(
        "screening",
        "sec. 3.3.2, Table 8",
        "Adapting to drift is better in most cases (20 Newsgroups).",
        ("table8",),
        _adaptive_better("table8"),
        "ours are two pairs of groups, shuffled, without drift",
    ),
    PaperClaim(
        "screening",
        "sec. 3.3.2, Table 9",
        "On URL adaptive t-score and Fisher score improve SGD.",
        ("table9",),
        _improves_sgd,
        "ours is a part of its first day",
    ),
)
