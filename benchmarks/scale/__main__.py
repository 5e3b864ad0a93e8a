"""`python -m benchmarks.scale [--figures FILE] [--write]`: the table of docs/scale.md, from measured figures.

`python -m benchmarks engines --out docs/scale.json` measures the figures; with --write the page gets the new table.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.scale.projection import from_file, on_page, table

DOCS = Path(__file__).parents[2] / "docs"


def main() -> None:
    """Print the table, and put it into the page where that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--figures", type=Path, default=DOCS / "scale.json", help="what `benchmarks engines` wrote")
    parser.add_argument("--write", action="store_true", help="put the table into docs/scale.md")
    given = parser.parse_args()
    text = table(from_file(given.figures))
    print(text)
    if given.write:
        page = DOCS / "scale.md"
        page.write_text(on_page(page.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
