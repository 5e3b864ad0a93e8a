"""Selection and Decision: what a selector says, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from streamsift.core.pictures import picture


@dataclass(frozen=True, eq=False)
class Selection:
    """The features selected at one moment of a stream of rows, best first.

    `indices` are column positions, `names` their names, `scores` their scores (None where the method has none).

    Examples
    --------
    >>> from streamsift import Screener
    >>> X = [[0.0, 5.0], [1.0, 5.1], [0.1, 5.1], [0.9, 5.0]]
    >>> selection = Screener("fisher", n_features_to_select=1).fit(X, ["no", "yes", "no", "yes"]).selection()
    >>> selection.names, selection.indices.tolist(), len(selection)
    (('x0',), [0], 1)
    """

    indices: NDArray[np.intp]
    names: tuple[str, ...]
    scores: NDArray[np.float64] | None
    n_features: int
    n_rows_seen: int

    def __len__(self) -> int:
        return len(self.indices)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selection):
            return NotImplemented
        return self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]  # arrays can change

    def _repr_html_(self) -> str:
        text: str = picture("reprs:selection", self)
        return text

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON; an infinite score (perfect separation) is written as the text "inf"."""
        scores = None if self.scores is None else [_plain(score) for score in self.scores]
        rows = [
            {"rank": rank + 1, "index": int(index), "name": name} | ({} if scores is None else {"score": scores[rank]})
            for rank, (index, name) in enumerate(zip(self.indices, self.names, strict=True))
        ]
        return {"n_features": self.n_features, "n_rows_seen": self.n_rows_seen, "selected": rows}


def _plain(score: float) -> float | str:
    return float(score) if np.isfinite(score) else str(float(score))


@dataclass(frozen=True)
class Decision:
    """The answer to one offered column: taken or not, and why.

    `statistic` was compared with `threshold`; `wealth_before` and `wealth` are what there was to bid before and after
    (None for methods that do not bid); `dropped` names the members that left because of this column. `because_of` names
    the members that made a rejected column redundant, where the method knows them: one (SAOLA), or a set that together
    holds all it tells about the class (OSFS, FastOSFS).

    Examples
    --------
    >>> from streamsift import Penalised
    >>> selector = Penalised("bic").begin([1.0, 2.1, 2.9, 4.0, 5.2])
    >>> decision = selector.offer([1.0, 2.0, 3.0, 4.0, 5.0], "time")
    >>> decision.name, decision.accepted, decision.statistic > decision.threshold
    ('time', True, True)
    """

    name: str
    accepted: bool
    dropped: tuple[str, ...] = ()
    statistic: float = float("nan")
    threshold: float = float("nan")
    wealth: float | None = None
    wealth_before: float | None = None
    because_of: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Decisions(Sequence[Decision]):
    """The answers to a block of columns: a sequence of Decision kept as arrays, for blocks may be long.

    `wealth` is None for methods that do not bid; `dropped` and `because_of` are empty, or hold one tuple a column.

    Examples
    --------
    >>> from streamsift.core.selection import Decision, Decisions
    >>> answers = Decisions.of([Decision("age", True, statistic=9.0), Decision("size", False, statistic=1.0)])
    >>> answers.accepted.tolist(), answers[0].name
    ([True, False], 'age')
    """

    names: Sequence[str]
    accepted: NDArray[np.bool_]
    statistic: NDArray[np.float64]
    threshold: NDArray[np.float64]
    wealth: NDArray[np.float64] | None = None
    wealth_before: NDArray[np.float64] | None = None
    dropped: Sequence[tuple[str, ...]] = ()
    because_of: Sequence[tuple[str, ...]] = ()

    @classmethod
    def of(cls, answers: Sequence[Decision]) -> Decisions:
        """The same answers as arrays."""
        bids = any(answer.wealth is not None for answer in answers)
        return cls(
            [answer.name for answer in answers],
            np.array([answer.accepted for answer in answers], bool),
            np.array([answer.statistic for answer in answers], float),
            np.array([answer.threshold for answer in answers], float),
            np.array([answer.wealth for answer in answers], float) if bids else None,
            np.array([answer.wealth_before for answer in answers], float) if bids else None,
            [answer.dropped for answer in answers] if any(answer.dropped for answer in answers) else (),
            [answer.because_of for answer in answers] if any(answer.because_of for answer in answers) else (),
        )

    def __len__(self) -> int:
        return len(self.accepted)

    @overload
    def __getitem__(self, place: int) -> Decision: ...

    @overload
    def __getitem__(self, place: slice) -> Decisions: ...

    def __getitem__(self, place: int | slice) -> Decision | Decisions:
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        place = range(len(self))[place]
        return Decision(
            self.names[place],
            bool(self.accepted[place]),
            self.dropped[place] if self.dropped else (),
            float(self.statistic[place]),
            float(self.threshold[place]),
            None if self.wealth is None else float(self.wealth[place]),
            None if self.wealth_before is None else float(self.wealth_before[place]),
            self.because_of[place] if self.because_of else (),
        )

    def take(self, places: NDArray[np.intp]) -> Decisions:
        """Some of the answers, by place."""
        return Decisions(
            [self.names[place] for place in places],
            self.accepted[places],
            self.statistic[places],
            self.threshold[places],
            None if self.wealth is None else self.wealth[places],
            None if self.wealth_before is None else self.wealth_before[places],
            [self.dropped[place] for place in places] if self.dropped else (),
            [self.because_of[place] for place in places] if self.because_of else (),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_same_decision, self, other))

    __hash__ = None  # type: ignore[assignment]  # holds arrays

    def to_arrow(self) -> Any:
        """A pyarrow Table, one row per column; `.to_pandas()` and polars.from_arrow take it from there."""
        import pyarrow as pa

        columns: dict[str, Any] = {
            "name": pa.array(list(self.names), pa.string()),
            "accepted": self.accepted,
            "statistic": self.statistic,
            "threshold": self.threshold,
        }
        if self.wealth is not None:
            columns |= {"wealth_before": self.wealth_before, "wealth": self.wealth}
        for what in ("dropped", "because_of"):
            names = getattr(self, what) or [()] * len(self)
            columns[what] = pa.array([list(several) for several in names], pa.list_(pa.string()))
        return pa.table(columns)


def _same_decision(a: Any, b: Any) -> bool:
    """Equal, where NaN (no statistic) equals NaN."""
    if not (isinstance(a, Decision) and isinstance(b, Decision)):
        return False
    pairs = zip(astuple(a), astuple(b), strict=True)
    return all(mine == theirs or (mine != mine and theirs != theirs) for mine, theirs in pairs)


def rank_scores(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Feature indices from best to worst; equal scores in the order of the columns.

    >>> rank_scores(np.array([0.1, 0.7, 0.7])).tolist()
    [1, 2, 0]
    """
    return np.argsort(-scores, kind="stable")


def how_many(n_features_to_select: int | float | str | None, n_features: int) -> int:
    """The number of features a request means: an int is capped, a fraction rounded (at least one), None is all."""
    if n_features_to_select is None:
        return n_features
    if isinstance(n_features_to_select, float | np.floating):
        return max(1, round(n_features_to_select * n_features))
    return min(int(n_features_to_select), n_features)
