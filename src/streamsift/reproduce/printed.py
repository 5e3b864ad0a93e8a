"""What the five papers print in tables: 46 of them, what each shows, and the exhibits that measure them.

The 46 tables are those printed in the papers, a table of several measures counted once for each as in `published/`,
with the settings the papers give in lists. Not all are results: sizes of data and settings of methods are compared
with ours and counted apart, and a table of symbols has nothing to compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RESULTS, SETTINGS, SIZES = "results", "settings", "sizes"
KINDS = (RESULTS, SETTINGS, SIZES)


@dataclass(frozen=True)
class PrintedTable:
    """A table: paper, name in `published/`, what it shows, and the exhibits that measure it.

    `by_order` is for times and memory. `closed` names data that nobody can have, where no exhibit is possible.
    `caveat` is what a reader of the verdict must know, and stands beside it. `better` ("higher" or "lower") is for
    tables of methods by data sets: which end wins.
    """

    paper: str
    name: str
    what: str
    exhibits: tuple[str, ...]
    by_order: bool = False
    closed: str = ""
    caveat: str = ""
    kind: str = RESULTS
    better: str = ""


WEALTH = "Not in the paper: wealth and payoff of SFS. Ours were chosen so as to meet Tables 1 and 2."
SPLIT = "Which of two variants of ABFS is compared, the program's or the text's, was decided after numbers of both."
SWAPPED = "The rows of AGR and AN seem to be swapped in print: the functions of AN read 4, 3 and 4 features."
ZEROS = "Judged is only what the text says of it: all differences are 0 below eps 0.001."

TABLES = (
    PrintedTable("fires", "table1", "symbols", (), kind=SETTINGS),
    PrintedTable("fires", "table2", "sizes of the data sets", ("table 2",), kind=SIZES),
    PrintedTable("fires", "table3.accuracy", "accuracy", ("table 3",), better="higher"),
    PrintedTable("fires", "table3.ms", "time per step", ("table 3",), by_order=True, better="lower"),
    PrintedTable("fires", "table4", "stability", ("table 3",), better="higher"),
    PrintedTable("fires", "hyperparameters", "parameters of FIRES", ("parameters",), kind=SETTINGS),
    PrintedTable("fires", "boosting-and-tree-settings", "settings of the rivals", ("benchmarks",), kind=SETTINGS),
    PrintedTable("investing", "table1", "few true columns", ("table 1",), caveat=WEALTH),
    PrintedTable("investing", "table2", "many true columns", ("table 2",), caveat=WEALTH),
    PrintedTable("investing", "table3", "useless columns appended", ("table 3",), caveat=WEALTH),
    PrintedTable("investing", "table4", "bankruptcies", (), closed="personal bankruptcies (never published)"),
    PrintedTable("etana", "table1", "sizes of the data sets", ("table 1",), kind=SIZES),
    PrintedTable("etana", "table2", "accuracy", ("table 2", "rivals"), better="higher"),
    PrintedTable("etana", "table3", "features used", ("table 2", "rivals"), better="lower"),
    PrintedTable("etana", "table4.F", "time to select", ("table 2", "rivals"), by_order=True, better="lower"),
    PrintedTable("etana", "table4.C", "time to classify", ("rivals",), by_order=True, better="lower"),
    PrintedTable("etana", "table4.T", "time to train", ("table 2",), by_order=True, better="lower"),
    PrintedTable("abfs", "table1", "make-up of the streams", ("table 1",), kind=SIZES, caveat=SWAPPED),
    PrintedTable("abfs", "table2", "sizes of the data sets", ("table 2",), kind=SIZES),
    PrintedTable("abfs", "table3", "accuracy, 100 irrelevant features", ("table 3",), better="higher", caveat=SPLIT),
    PrintedTable("abfs", "table4", "accuracy, 200 irrelevant features", ("table 4",), better="higher", caveat=SPLIT),
    PrintedTable("abfs", "table5", "accuracy, 500 irrelevant features", ("table 5",), better="higher", caveat=SPLIT),
    PrintedTable(
        "abfs", "table6", "time, 500 irrelevant features", ("table 6",), by_order=True, better="lower", caveat=SPLIT
    ),
    PrintedTable(
        "abfs", "table7", "memory, 500 irrelevant features", ("table 7",), by_order=True, better="lower", caveat=SPLIT
    ),
    PrintedTable("abfs", "table8.accuracy", "100 true features: accuracy", ("table 8",), better="higher", caveat=SPLIT),
    PrintedTable("abfs", "table8.selection", "100 true features: selection", ("table 8",), caveat=SPLIT),
    PrintedTable("abfs", "table9", "100 true features: without selection", ("table 9",)),
    PrintedTable("abfs", "table10", "accuracy on real data", ("table 10",), better="higher", caveat=SPLIT),
    PrintedTable("abfs", "table11", "time on real data", ("table 11",), by_order=True, better="lower", caveat=SPLIT),
    PrintedTable("abfs", "table12", "memory on real data", ("table 12",), by_order=True, better="lower", caveat=SPLIT),
    PrintedTable("abfs", "parameter-grid", "parameters of ABFS", ("parameters",), kind=SETTINGS),
    PrintedTable("abfs", "stability-setup", "how stability is measured", ("folds",), kind=SETTINGS),
    PrintedTable("screening", "table1", "sizes of the data sets", ("table 1",), kind=SIZES),
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
    PrintedTable("screening", "table7", "sizes of the large sets", ("table 7",), kind=SIZES),
    PrintedTable("screening", "table8", "error on 20 Newsgroups", ("table 8",), better="lower"),
    PrintedTable("screening", "table9", "error on URL", ("table 9",), better="lower"),
    PrintedTable("screening", "synthetic-setup", "the drifting stream", ("stream",), kind=SETTINGS),
)
UNPRINTED = {("screening", "table3"), ("screening", "table7")}  # not in the text the figures were read from

# How often at most, where that can matter, and how often the paper did it (0: it does not say, or once). Exhibits that
# are not named have nothing random in them.
MOST_REPEATS: dict[tuple[str, str], tuple[int, int]] = {
    ("fires", "table 3"): (10, 0),
    ("investing", "table 1"): (20, 20),
    ("investing", "table 2"): (20, 20),
    ("investing", "table 3"): (10, 10),
    ("etana", "table 2"): (10, 0),
    ("etana", "rivals"): (10, 0),
    **{("abfs", f"table {number}"): (30, 30) for number in range(3, 13)},
    **{("screening", f"table {number}"): (10, 0) for number in (2, 3, 8, 9)},
    **{("fires", f"figure {number}"): (10, 0) for number in range(3, 7)},
    **{("etana", f"figure {number}"): (10, 0) for number in range(4, 7)},
    **{("abfs", f"figure {number}"): (30, 30) for number in (1, 2, 3, *range(5, 12))},
    ("screening", "figure 2"): (10, 0),
    ("screening", "figure 3"): (10, 0),
}
QUICK_ENOUGH = (("investing", "table 1"), ("investing", "table 2"), ("investing", "table 3"))  # to repeat unasked

# The least first: seconds of one repeat at full size, roughly, on one core; what is not named takes less.
SECONDS: dict[tuple[str, str], float] = {
    ("investing", "table 1"): 2,
    ("investing", "table 2"): 3,
    ("screening", "table 2"): 60,
    ("screening", "table 3"): 30,
    ("screening", "table 4"): 40,
    ("screening", "table 8"): 50,
    ("screening", "table 9"): 5,
    ("etana", "table 2"): 120,
    ("etana", "rivals"): 300,
    ("investing", "table 3"): 100,
    ("abfs", "table 9"): 120,
    ("abfs", "table 8"): 600,
    ("abfs", "table 10"): 1_000,
    ("abfs", "table 11"): 1_000,
    ("abfs", "table 12"): 1_000,
    ("abfs", "table 3"): 1_700,
    ("abfs", "table 4"): 2_000,
    ("abfs", "table 5"): 2_500,
    ("abfs", "table 6"): 2_500,
    ("abfs", "table 7"): 2_500,
    ("fires", "table 3"): 5_000,
    ("etana", "figure 2"): 5,
    ("etana", "figure 3"): 10,
    ("fires", "figure 3"): 20,
    ("abfs", "figure 4"): 10,
    ("screening", "figure 2"): 300,
    ("screening", "figure 3"): 400,
    ("etana", "figure 4"): 100,
    ("etana", "figure 5"): 200,
    ("etana", "figure 6"): 300,
    ("fires", "figure 4"): 200,
    ("fires", "figure 5"): 100,
    ("fires", "figure 6"): 400,
    ("abfs", "figure 5"): 100,
    ("abfs", "figure 8"): 600,
    ("abfs", "figure 9"): 400,
    ("abfs", "figure 11"): 200,
    ("abfs", "figure 10"): 10_000,
    **{("abfs", f"figure {number}"): 50_000 for number in (1, 2, 3, 6, 7)},  # the same runs
}

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
    ("screening", "figure 2"): {"rows": 5_000},
    ("screening", "figure 3"): {"rows": 5_000},
    **{("etana", f"figure {number}"): {"brief": True} for number in (4, 5, 6)},
    ("fires", "figure 4"): {"rows": 1_000, "brief": True},
    ("fires", "figure 5"): {"rows": 500},
    ("fires", "figure 6"): {"rows": 500, "brief": True},
    **{("abfs", f"figure {number}"): {"rows": 500, "brief": True} for number in (1, 2, 3, 6, 7, 10)},
    ("abfs", "figure 5"): {"rows": 1_000},
    ("abfs", "figure 8"): {"rows": 1_000},
    ("abfs", "figure 9"): {"rows": 1_000},
    ("abfs", "figure 11"): {"rows": 200},
}
