"""The projection of docs/scale.md is what its figures give, and its formula is right where it is checked by hand."""

from __future__ import annotations

from pathlib import Path

from benchmarks.scale.projection import Figures, from_file, on_page, table

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_shows_what_the_figures_give() -> None:
    page = (DOCS / "scale.md").read_text(encoding="utf-8")
    assert on_page(page, table(from_file(DOCS / "scale.json"))) == page


def test_the_formula_by_hand() -> None:
    one = {"fisher": 1.0}
    text = table(Figures(one, {"fisher": 2.0}, {"fisher": 10.0}, {"fisher": 1.9}, 1000))
    # 10^9 x 10^5 / 100 values of 1 ns are 1000 s, 4 bytes each at 10^9 per second 4000 s; 400 parts are three levels of
    # eight, so that 21 merges of 10^5 features at 2 µs follow, and 24 states of 10^6 bytes.
    for line in (
        "| a worker learns | 17 min |",
        "(if not faster) | 67 min |",
        "| a state | 1 MB |",
        "up 3 levels | 4 s |",
    ):
        assert line in text
    assert "**67 min**" in text
