"""What every reproduction takes and gives: options in, a table and curves out, as plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any


@dataclass(frozen=True)
class Options:
    """What the user may choose; rows None means as in the paper. `jobs` is the number of processes.

    `repeats` is how often a run is repeated, each time with the next seed; None is what the exhibit itself would take.
    `data` is a folder with the paper's data sets. `brief` leaves out the few runs that take longest, and the page says
    which. `keep` is a folder where finished runs of long tables are kept, and found again. `until` is when no further
    run of a long table begins (`time.monotonic`); its result is then one of the runs that are done.
    """

    rows: int | None = None
    seed: int = 1
    jobs: int = 1
    repeats: int | None = None
    data: str | None = None
    brief: bool = False
    keep: str | None = None
    until: float | None = None

    def n_repeats(self, own: int = 1) -> int:
        """How often, where `own` is what the exhibit would take.

        >>> Options().n_repeats(20), Options(repeats=1).n_repeats(20)
        (20, 1)
        """
        return own if self.repeats is None else self.repeats

    @property
    def time_is_up(self) -> bool:
        """Whether no further run is to begin."""
        return self.until is not None and monotonic() >= self.until


@dataclass(frozen=True)
class FigureCurve:
    """A line of a chart; curves with the same `colour_by` share a colour, and `dashed` distinguishes them."""

    name: str
    colour_by: str
    dashed: bool
    x: list[float]
    y: list[float]


@dataclass(frozen=True)
class Panel:
    """One of the charts of a figure, how to read it, and what it shows in words."""

    title: str
    reading: str
    alt: str
    curves: list[FigureCurve]


@dataclass(frozen=True)
class Pair:
    """A printed cell and ours: the table's name in `published/`, which cell, and both values (numbers or words).

    `basis` says what ours rests on: "whole" data of the paper's, a "part" or another draw of it, or settings that the
    paper does not give and that were "fitted" to its tables. Of several repeats ours is the mean, with its standard
    error.
    """

    table: str
    cell: str
    ours: float | str
    published: float | str
    basis: str = "whole"
    error: float | None = None
    repeats: int = 1


@dataclass(frozen=True)
class Series:
    """What a record keeps of a figure: values `y` at the places `x` (numbers or words) of one line of one panel.

    Of several repeats both are means, and `error` has the standard errors of `y`.
    """

    panel: str
    name: str
    x: list[float] | list[str]
    y: list[float]
    error: list[float] | None = None


@dataclass(frozen=True)
class Result:
    """A reproduced figure or table. `note` says plainly what can be compared with the paper and what cannot.

    `pairs` are the cells a verdict on a table is made from, `series` what the claims of a figure are checked on.
    `missing` names the data sets of the paper that are not here, or only in another part or version. `n_left` is how
    many runs had not begun when the time was up.
    """

    title: str
    lead: str
    note: str
    columns: list[str]
    rows: list[list[str]]
    x_label: str
    dashed_means: str
    panels: list[Panel]
    pairs: list[Pair] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    n_left: int = 0
    series: list[Series] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """A plain dict, for JSON and for the page."""
        return asdict(self)


Progress = Callable[[int, int], None]  # (parts done, parts in all)
Exhibit = Callable[[Options, Progress], Result]
