"""The verdict on a table: computed from the printed cells and ours by one rule, which is stated wherever it is shown.

Values: a cell agrees when ours is within a tenth of what is printed; a printed 0 with what rounds to 0.00; a word with
the same word. Times and memory depend on the machine, so only their order counts: of two cells that differ more than
twofold in print, the larger must be the larger here. A table is reproduced when nine in ten of its cells, or of these
comparisons, agree. Cells of data that is here only in part are told, not judged; where settings that the paper does
not give were chosen to meet its tables, agreement is called fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from streamsift.reproduce.result import Pair

TOLERANCE, ZERO, FACTOR, SHARE = 0.1, 0.005, 2.0, 0.9
RULE = (
    "A cell agrees when ours is within 10 % of the printed value; a printed 0 agrees with anything below 0.005, a word "
    "with itself. Times and memory are another machine's, so only their order is judged: of two cells that differ more "
    "than twofold in print, the larger must be the larger here. A table is reproduced when at least 90 % of its cells "
    "(or of these comparisons) agree; fitted, when it does and settings that the paper does not give were chosen to "
    "meet its tables. Cells of sets that are here only in part, or that are other draws than the paper's, are not "
    "judged; where there are no others, the verdict is data in part."
)
WORDS = ("reproduced", "fitted", "differs", "data in part", "data missing", "nothing printed", "failed", "not run")


@dataclass(frozen=True)
class TableVerdict:
    """One of WORDS, how near the table came, and the data sets that are not here."""

    word: str
    sentence: str
    n_agreeing: int = 0
    n_judged: int = 0
    missing: list[str] = field(default_factory=list)
    n_fitted: int = 0
    n_part: int = 0

    def as_dict(self) -> dict[str, Any]:
        """A plain dict, for JSON and for the page."""
        return asdict(self)


def agrees(ours: float | str, published: float | str) -> bool:
    """Whether a cell agrees with the printed one.

    >>> agrees(0.93, 0.9), agrees(0.7, 0.9), agrees(0.004, 0), agrees("mc", "mc")
    (True, False, True, True)
    """
    if isinstance(ours, str) or isinstance(published, str):
        return ours == published
    return abs(ours - published) <= (TOLERANCE * abs(published) if published else ZERO)


def judge(pairs: Sequence[Pair], *, by_order: bool = False, missing: Sequence[str] = ()) -> TableVerdict:
    """The verdict on the cells of one table.

    >>> judge([Pair("table1", "a", 1.02, 1.0), Pair("table1", "b", 5.0, 4.0)]).sentence
    '1 of 2 cells within 10 %; the others are off by 25 % (median), 25 % at most (b: 5 for 4).'
    """
    names = list(missing)
    own = [pair for pair in pairs if pair.basis != "part"]
    part = [pair for pair in pairs if pair.basis == "part"]
    fitted = [pair for pair in own if pair.basis == "fitted"]
    if not own:
        if part:
            sentence = _of_parts(part, by_order)
            return TableVerdict("data in part", sentence, missing=names, n_part=len(part))
        if names:
            return TableVerdict("data missing", f"{', '.join(names)}: not here.", missing=names)
        return TableVerdict("nothing printed", "No number is printed that could be compared.")
    judged = _by_order(own) if by_order else _by_value(own)
    if judged is None:
        return TableVerdict("nothing printed", "No two cells in print differ more than twofold.", missing=names)
    n_agreeing, n_judged, sentence = judged
    word = "differs" if n_agreeing < SHARE * n_judged else "fitted" if fitted else "reproduced"
    if fitted and not by_order:
        sentence += f" Fitted are {len(fitted)} of these cells, of which {_n_agreeing(fitted)} agree."
    if part:
        sentence += f" {_of_parts(part, by_order)}"
    return TableVerdict(word, sentence, n_agreeing, n_judged, names, len(fitted), len(part))


def _n_agreeing(pairs: Sequence[Pair]) -> int:
    return sum(agrees(pair.ours, pair.published) for pair in pairs)


def _of_parts(pairs: Sequence[Pair], by_order: bool) -> str:
    if by_order:
        return f"{len(pairs)} cells of data held only in part are not judged."
    return f"On data held only in part, not judged: {_n_agreeing(pairs)} of {len(pairs)} cells within 10 %."


def _by_value(pairs: Sequence[Pair]) -> tuple[int, int, str]:
    off = [pair for pair in pairs if not agrees(pair.ours, pair.published)]
    n_agreeing = len(pairs) - len(off)
    sentence = f"{n_agreeing} of {len(pairs)} cells within {TOLERANCE:.0%}".replace("%", " %")
    numbers = [(_gap(pair), pair) for pair in off if not isinstance(pair.published, str) and pair.published]
    if numbers:
        gaps = [gap for gap, _ in numbers]
        worst = max(numbers, key=lambda item: item[0])[1]
        sentence += (
            f"; the others are off by {100 * median(gaps):.0f} % (median), {100 * max(gaps):.0f} % at most "
            f"({worst.cell}: {_short(worst.ours)} for {_short(worst.published)})"
        )
    rest = [pair for pair in off if isinstance(pair.published, str) or not pair.published]
    if rest:
        first = rest[0]
        sentence += f"; {len(rest)} {'differ' if len(rest) > 1 else 'differs'} from a word or a printed 0 "
        sentence += f"({first.cell}: {_short(first.ours)} for {_short(first.published)})"
    return n_agreeing, len(pairs), sentence + "."


def _by_order(pairs: Sequence[Pair]) -> tuple[int, int, str] | None:
    cells = [(float(pair.ours), float(pair.published)) for pair in pairs]
    compared = [
        (ours > others) == (published > printed)
        for place, (ours, published) in enumerate(cells)
        for others, printed in cells[:place]
        if max(published, printed) > FACTOR * min(published, printed)
    ]
    if not compared:
        return None
    ratio = median(ours / published for ours, published in cells if published > 0)
    agreeing = sum(compared)
    sentence = (
        f"{agreeing:,} of {len(compared):,} comparisons of {len(cells)} cells in the printed order "
        f"({100 * agreeing / len(compared):.0f} %); ours are {ratio:.2g} times the printed ones (median)."
    )
    return agreeing, len(compared), sentence


def _gap(pair: Pair) -> float:
    """How far ours is off, as a share of the printed value."""
    published = float(pair.published)
    return abs(float(pair.ours) - published) / abs(published)


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
