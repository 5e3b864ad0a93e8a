"""`python -m benchmarks.page [RESULT.json ...]`: the figures of docs/benchmarks.md and of the README, from the record.

The record is docs/figures/NAME.json, each what `python -m benchmarks NAME` wrote. With files given, these become the
record of their names first. `python -m benchmarks` without names does the same with all its results.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import rows_of, sentence
from benchmarks.table import show

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "docs" / "figures"
PAGE, README = ROOT / "docs" / "benchmarks.md", ROOT / "README.md"
BLOCK = re.compile(r"(<!-- figures: made by python -m benchmarks.page -->\n).*?(<!-- end of figures -->)", re.DOTALL)

# The five rows of the README: the benchmark, how the row begins there, the peer, and what the README calls it.
IN_README = [
    (
        "screening",
        "class moments, 5,000 features, batch 250 (float64)",
        "Gauss",
        "class moments, 5,000 features, batch 250",
    ),
    (
        "screening",
        "sparse class moments, 100,000 features",
        "scipy.sparse products",
        "the same, sparse, 100,000 features",
    ),
    (
        "screening",
        "quantile summary, float32, eps 0.01 (",
        "datasketches",
        "quantiles by class, eps 0.01 (the peer's without)",
    ),
    ("abfs", "ABFS, 500 features", "Hoeffding", "ABFS, 500 features, 20 units"),
    ("abfs", "ADWIN, 20 detectors", "river", "ADWIN, 20 detectors"),
]


# Why a figure is missed: the benchmark, the name of the row, the words. A missed figure without words fails the tests.
_IMPORTS = (
    "Most of it is the import of numba, scipy and scikit-learn, once per process. `import streamsift` itself is "
    "quick and loads them when a selector is first used."
)
_LSTSQ = (
    "Ours takes 0.5 µs per column, the time of its products. The peer takes 43 µs, most of it the fixed cost of a "
    "call, which depends on the machine; the factor of 100 was set on another one."
)
EXPLAINED = {
    ("columns", "Investing: against numpy.linalg.lstsq per column"): _LSTSQ,
    ("columns", "Penalised RIC: against numpy.linalg.lstsq per column"): _LSTSQ,
    ("columns", "Penalised: share of the matrix-product speed"): (
        "Products are made in pieces of one fixed size, so that a decision does not depend, to the last bit, on "
        "how many columns were offered together; pieces of this size do not reach the speed of one large product."
    ),
    ("fires", "GLM, 5,000 features, batch 100"): (
        "The peer spends its time on temporary arrays of rows × features. On this machine they are cheap: it takes "
        "4.6 ns per value and the vectorised one 1.3, ours 0.76. The targets were set on a machine where new "
        "memory costs more."
    ),
    ("fires", "GLM, 50,000 features, batch 100"): (
        "A step reads the batch twice: once for the products with the means and deviations, and, when these are "
        "known for each row, once for the gradient. Half of one read is the most it can reach where a batch does "
        "not fit the cache."
    ),
    ("rivals", "EFS, batches of 10,000"): (
        "Winnow multiplies each weight by a factor raised to the value, which costs about 1.7 ns per value; the "
        "factor of 50 was set for short rows, where the peer's time is that of its calls."
    ),
    ("rivals", "EFS, batches of 1,000"): (
        "As above: with 5,000 features per row the peer, too, spends its time on powers rather than on calls."
    ),
    ("rivals", "FSDS, batches of 100"): (
        "With 50 features the singular value decomposition of a small matrix takes most of the time on both sides; "
        "wider rows gain more (see the rows beside it)."
    ),
    ("river", "mutual information, tables"): (
        "Scores are asked for after every 100 rows, and nearly all of the time is spent on reading them (see "
        "'scores read after every 100 rows' under screening). Where they are read less often, the ratio is larger."
    ),
    ("screening", "class moments, 50,000 features, batch 500"): (
        "This machine's memory delivers a value in 0.14 ns (float32), and the arithmetic, not the memory, is what "
        "is waited for: 0.25 ns per value, as with batches that stay in the cache."
    ),
    ("screening", "sparse class moments, 10,000 features"): (
        "With 10,000 features the peer's matrices stay in the cache. Ours keeps weight, mean and spread up to date "
        "value by value, with a division for each non-zero; with more features the ratio is larger."
    ),
    ("screening", "one row: per feature"): (
        "The limit asks for two values per nanosecond. Rows in batches take less per value (see class moments "
        "above); pass a few hundred rows at once where you have the choice."
    ),
    ("screening", "first result, fresh process, warm, t_score"): _IMPORTS,
    ("screening", "first result, fresh process, warm, mutual_info"): _IMPORTS,
}


def results() -> dict[str, dict[str, Any]]:
    """The record of each benchmark, by name."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(RECORD.glob("*.json"))}


def figures() -> str:
    """The tables of the record, each with where and when it was measured; what is missed; where a peer is faster."""
    known = results()
    parts = [f"{show(name, rows_of(content))}\n\n{sentence(content)}" for name, content in known.items()]
    rows = [(name, row) for name, content in known.items() for row in rows_of(content)]
    missed = [
        f"- **{_capital(row.title)}** ({row.ours:.3g} {row.unit}; {row.peer_name}: {row.peer:.3g} {row.unit}). "
        + EXPLAINED.get((name, row.name), "Not explained yet.")
        for name, row in rows
        if row.missed
    ]
    faster = [
        f"- {_capital(row.title)}: {row.ours:.3g} {row.unit}; {row.peer_name}: {row.peer:.3g} {row.unit}."
        for _, row in rows
        if row.wanted is None and row.ratio < 1.0
    ]
    parts += ["### What is missed\n\n" + ("\n".join(missed) or "Nothing.")]
    parts += [
        "### Where the other side is faster or smaller, and nothing is wanted\n\n" + ("\n".join(faster) or "Nowhere.")
    ]
    return "\n\n".join(parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def short_table() -> str:
    """The five rows of the README."""
    known = results()
    lines = ["| what | streamsift | peer | ratio |", "|---|---|---|---|"]
    for name, start, peer, title in IN_README:
        rows = rows_of(known[name])
        (row,) = [row for row in rows if row.title.startswith(start) and row.peer_name.startswith(peer)]
        ours, theirs = (f"{number:,.0f}" if number >= 1000 else f"{number:.3g}" for number in (row.ours, row.peer))
        lines.append(f"| {title} | {ours} {row.unit} | {theirs} {row.unit}, {row.peer_name} | {row.ratio:.3g} |")
    return "\n".join(lines)


def renewed(text: str, table: str) -> str:
    """The text with another table between its marks."""
    return BLOCK.sub(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", text)


def main(results: Sequence[str]) -> None:
    """Take the results into the record, and write both pages."""
    for result in results:
        (RECORD / Path(result).name).write_text(Path(result).read_text(encoding="utf-8"), encoding="utf-8")
    for path, table in ((PAGE, figures()), (README, short_table())):
        path.write_text(renewed(path.read_text(encoding="utf-8"), table), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
