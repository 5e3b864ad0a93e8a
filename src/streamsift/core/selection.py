"""Selection and Decision: what a selector says, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Selection:
    """The features selected at one moment of a stream of rows, best first.

    `indices` are column positions, `names` their names, `scores` their scores (None where the method has none).
    """

    indices: NDArray[np.intp]
    names: tuple[str, ...]
    scores: NDArray[np.float64] | None
    n_features: int
    n_rows_seen: int

    def __len__(self) -> int:
        return len(self.indices)

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

    `statistic` was compared with `threshold`; `wealth` is what is left to bid (None for methods that do not bid);
    `dropped` names the members that left because of this column.
    """

    name: str
    accepted: bool
    dropped: tuple[str, ...] = ()
    statistic: float = float("nan")
    threshold: float = float("nan")
    wealth: float | None = None


def rank_scores(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Feature indices from best to worst; equal scores in the order of the columns.

    >>> rank_scores(np.array([0.1, 0.7, 0.7])).tolist()
    [1, 2, 0]
    """
    return np.argsort(-scores, kind="stable")


def how_many(n_features_to_select: int | float | None, n_features: int) -> int:
    """The number of features a request means: an int is capped, a fraction rounded (at least one), None is all."""
    if n_features_to_select is None:
        return n_features
    if isinstance(n_features_to_select, float | np.floating):
        return max(1, round(n_features_to_select * n_features))
    return min(int(n_features_to_select), n_features)
