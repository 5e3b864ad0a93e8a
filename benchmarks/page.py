"""`python -m benchmarks.page [RESULT.json ...]`: the tables of docs/benchmarks.md and of the README, from the record.

The record is docs/figures/NAME.json, each what `python -m benchmarks NAME` wrote for it on a quiet machine. With files
given, these become the record of their names first.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.table import Row, show

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


def rows_of(name: str) -> list[Row]:
    """The record of one benchmark."""
    content = json.loads((RECORD / f"{name}.json").read_text(encoding="utf-8"))
    fields = Row.__dataclass_fields__
    return [Row(**{key: value for key, value in row.items() if key in fields}) for row in content["rows"]]


def tables() -> str:
    """All tables of the record, one after the other."""
    return "\n\n".join(show(path.stem, rows_of(path.stem)) for path in sorted(RECORD.glob("*.json")))


def short_table() -> str:
    """The five rows of the README."""
    lines = ["| what | streamsift | peer | ratio |", "|---|---|---|---|"]
    for name, start, peer, title in IN_README:
        (row,) = [row for row in rows_of(name) if row.title.startswith(start) and row.peer_name.startswith(peer)]
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
    for path, table in ((PAGE, tables()), (README, short_table())):
        path.write_text(renewed(path.read_text(encoding="utf-8"), table), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
