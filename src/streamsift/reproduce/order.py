"""Is the order the same? Methods of a table by their means over its data sets, here and in print.

Only the data sets count for which every method compared has a cell. Sets that are here in part count as well, because
the question is who wins, not by which figure; the order on those that are here whole is told beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from streamsift.reproduce.result import Pair

MOST_LOST = 0.5  # of the data sets: a method with fewer cells than that is left out, not the sets it lacks


@dataclass(frozen=True)
class Order:
    """Who is first here and in print, by how much, and the rank correlation of all methods.

    `mean` is that of the first over the data sets, here and in print. `whole` is the order on those data sets that are
    here whole, where some are not.
    """

    first: str
    mean: tuple[float, float]
    lead: float
    paper_first: str
    paper_lead: float
    correlation: float
    n_methods: int
    n_sets: int
    n_same: int  # data sets with the same winner
    whole: Order | None = None

    def words(self) -> str:
        """A sentence, and one on the data sets that are whole."""
        who = (
            f"{self.first} is first, as in print" if self.first == self.paper_first else
            f"{self.first} is first, in print {self.paper_first}"
        )  # fmt: skip
        whole = "" if self.whole is None else self.whole.words_on_whole_sets()
        return (
            f"{who} (ahead by {self.lead:.3g}, in print {self.paper_lead:.3g}); rank correlation of "
            f"{self.n_methods} methods {self.correlation:.2f}; same winner on {self.n_same} of {self.n_sets} sets."
            f"{whole}"
        )

    def words_on_whole_sets(self) -> str:
        """The same in short."""
        ours, printed = self.mean
        return (
            f" On the {self.n_sets} sets that are whole here {self.first} is first (mean {ours:.3g}, in print "
            f"{printed:.3g}), rank correlation {self.correlation:.2f}."
        )


def method_order(pairs: Sequence[Pair], better: str) -> Order | None:
    """The order of the methods of a table whose cells are called "set, method"; None where there is none.

    >>> cells = [Pair("t", "a, one", 1.0, 2.0), Pair("t", "a, two", 3.0, 4.0)]
    >>> order = method_order(cells, "higher")
    >>> order.first, order.paper_first, order.lead, order.correlation
    ('two', 'two', 2.0, 1.0)
    """
    cells: dict[str, dict[str, Pair]] = {}
    for pair in pairs:
        name, _, method = pair.cell.rpartition(", ")
        cells.setdefault(name, {})[method] = pair
    every = dict.fromkeys(method for row in cells.values() for method in row)
    methods = [name for name in every if sum(name in row for row in cells.values()) > MOST_LOST * len(cells)]
    rows = [row for row in cells.values() if all(method in row for method in methods)]
    if len(methods) < 2 or not rows:
        return None
    whole = [row for row in rows if all(row[method].basis != "part" for method in methods)]
    some = 1 < len(whole) < len(rows)  # one set alone is no mean
    return replace(_order(rows, methods, better), whole=_order(whole, methods, better) if some else None)


def _order(rows: Sequence[Mapping[str, Pair]], methods: Sequence[str], better: str) -> Order:
    sign = 1.0 if better == "higher" else -1.0
    ours = sign * np.array([[float(row[method].ours) for method in methods] for row in rows])
    paper = sign * np.array([[float(row[method].published) for method in methods] for row in rows])
    here, there = ours.mean(axis=0), paper.mean(axis=0)
    first = int(here.argmax())
    return Order(
        methods[first],
        (sign * float(here[first]), sign * float(there[first])),
        _lead(here),
        methods[int(there.argmax())],
        _lead(there),
        rank_correlation(here, there),
        len(methods),
        len(rows),
        int((ours.argmax(axis=1) == paper.argmax(axis=1)).sum()),
    )


def _lead(means: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    second, first = np.sort(means)[-2:]
    return float(first - second)


def rank_correlation(ours: Sequence[float] | np.ndarray, published: Sequence[float] | np.ndarray) -> float:
    """Spearman's rank correlation; 0 where all values of one side are equal.

    >>> rank_correlation([1.0, 2.0, 3.0], [10.0, 30.0, 20.0])
    0.5
    """
    one, other = rankdata(ours), rankdata(published)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return round(float(np.corrcoef(one, other)[0, 1]), 12)
