"""Run: what was run on what, and how it ended. Step, RunResult and Loop: what the loops of all kinds have in common.

Code above this package knows these four only. It asks a step how far a run is, a result what there is to print and to
write, and never which kind of stream it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from streamsift import __version__
from streamsift.catalog import Kind
from streamsift.core.exceptions import SavedStateError

if TYPE_CHECKING:
    from streamsift.persist import Parts
    from streamsift.runs.trace_writer import TraceWriter


@dataclass(frozen=True)
class Run:
    """What a reader should know about a run: the data, the method and its parameters, how long it took, how it ended.

    Parameters
    ----------
    method : str
        The name in the catalog, or that of the class.
    kind : "rows", "columns" or "instances"
        What arrived.
    data, target : str
        What the source and its target are called; empty where they have no names.
    parameters : dict
        Of the method.
    settings : dict
        Of the run: the size of a batch, the columns left out, the learner that judged it, and the like.
    seconds : float
        Spent by reader and method.
    complete : bool
        False where the run was interrupted.
    version : str
        Of streamsift.

    Examples
    --------
    >>> run = Run("screen:t_score", data="people.csv", target="sex", settings={"batch_size": 1000})
    >>> run.kind, run.complete, run.shown()["batch_size"]
    ('rows', True, 1000)
    """

    method: str
    kind: Kind = "rows"
    data: str = ""
    target: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    complete: bool = True
    version: str = __version__

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Run:
        """The run that `dataclasses.asdict` wrote."""
        return cls(**found)

    def ended(self, *, seconds: float, complete: bool, parameters: dict[str, Any] | None = None) -> Run:
        """The same run when it is over."""
        given = self.parameters if parameters is None else parameters
        return replace(self, seconds=seconds, complete=complete, parameters=given)

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON, as selection.json begins with it."""
        found = asdict(self)
        version, settings = found.pop("version"), found.pop("settings")
        return {"streamsift": version, **found, **settings, "seconds": round(self.seconds, 3)}

    def shown(self) -> dict[str, Any]:
        """Data, target, method, settings and parameters, as far as there are any: the settings a report lists."""
        known = {"data": self.data, "target": self.target, "method": self.method, **self.settings}
        return {name: value for name, value in known.items() if value not in ("", [])} | self.parameters


def seconds_of(facts: Mapping[str, Any]) -> float:
    """The seconds that a run had taken when it was kept in a file."""
    seconds = facts.get("seconds")
    if not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise SavedStateError("The checkpoint is damaged: it does not say how long the run took.")
    return float(seconds)


class Leaders(NamedTuple):
    """The features to be shown at a step, the best first, or the latest first where they are not ranked.

    `values` are their scores, None where they have none.
    """

    names: Sequence[str]
    values: Sequence[float] | None
    ranked: bool = True


class Step(Protocol):
    """How far a run is."""

    @property
    def position(self) -> int:
        """How many rows or columns are behind us."""
        ...

    @property
    def unit(self) -> str:
        """What `position` counts: "rows", "columns"."""
        ...

    @property
    def seconds(self) -> float:
        """Spent so far, without what the caller spends between two steps."""
        ...

    @property
    def progress(self) -> float | None:
        """The fraction of the stream behind us; None where it is unknown."""
        ...

    def leaders(self) -> Leaders | None:
        """The leading features now; None where the method was not asked at this step."""
        ...


class TextTable(NamedTuple):
    """A table as text: heads, rows, and the columns that are numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[str] = ()


class RunResult(Protocol):
    """What a run found."""

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON: what selection.json holds besides the run."""
        ...

    def recorded(self) -> dict[str, Any]:
        """The same, and what only the trace keeps."""
        ...

    def tables(self) -> list[TextTable]:
        """What there is to print."""
        ...

    def note(self) -> str:
        """A remark to go with the tables, or nothing."""
        ...

    def reach(self) -> str:
        """How much of the stream it is about: "3,000 rows"."""
        ...


class Loop(Protocol):
    """A method and its stream: the one way in which a run of any kind is led."""

    takes_prices: ClassVar[bool]
    without_end: ClassVar[bool]  # whether it can follow a source that never ends
    takes_columns: ClassVar[bool]  # one after the other, so that they may be made on the way

    @classmethod
    def open(cls, method: Any, run: Run, source: Any, prices: str | Path | None = None) -> Self:
        """Open the source; `prices` is a file with the price of each feature."""
        ...

    def source(self) -> dict[str, Any]:
        """What the source is known by, as JSON keeps it: a source of which all this is the same has not changed."""
        ...

    def go_on(self, rows: str | None) -> None:
        """The method has learnt before, from other data; `rows` tells what rows those were, where they must be ours."""
        ...

    def freeze(self) -> Parts:
        """How far the source is read, and what else it takes to go on from here."""
        ...

    def resume(self, parts: Parts, trace: Parts) -> None:
        """Go on where `freeze` was asked; the method is in its state of then, and `trace` is the record up to there."""
        ...

    def reach(self) -> str:
        """What is behind us: "3,000 rows"."""
        ...

    def steps(self) -> Iterator[Step]:
        """Lead the method over its stream."""
        ...

    def writer(self, path: str | Path | None, run: Run) -> TraceWriter:
        """The recorder of these steps."""
        ...

    def result(self, *, complete: bool) -> RunResult | None:
        """What was found so far; None where a run was interrupted too early, InputError where nothing can be found."""
        ...
