"""friedman_drift: a number as target, from Friedman's function of five features whose roles change.

J. Friedman, Multivariate Adaptive Regression Splines (1991): with independent features, uniform on [0, 1],

    y = 10 sin(pi a b) + 20 (c - 0.5)^2 + 10 d + 5 e + noise

`variant` says how the roles a, b, c, d and e are played over time:

    shift   in row i by the five features from s floor(i / l) on, where l is `shift_every` and s `shift_by`; behind the
            last feature the first one follows. With s = 5 all five are replaced, with s = 1 each takes the next role
            and one is replaced, so that even the features that stay mean something else
    gra     global, recurring, abrupt: x0 to x4; between the two `positions` x3, x5, x1, x0, x2; then as before
    gsg     global, slow, gradual: x0 to x4; from the first position on x3, x4, x1, x0, x2; from the second on x1, x4,
            x3, x2, x0. In the `width` rows behind a position a row follows either concept with probability 1/2
    lea     local, expanding, abrupt: always x0 to x4, but in two regions that are larger after each of the three
            positions the function is another one (`REGIONS`)

The last three are those of E. Ikonomovska, J. Gama and S. Dzeroski, Learning model trees from evolving data streams
(2011), with the functions and regions of river's `FriedmanDrift`; in gsg and lea the roles change and the true features
stay.

A linear score does not see c, whose square around the middle has no correlation with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import Integer, IsNone, Limits, OneOf, Real, check_parameters
from streamsift.core.exceptions import ParameterError
from streamsift.streams.generators.drift import USUAL_WIDTH, Drift, Timetable

N_ROLES = 5
# Who plays a, b, c, d and e in one concept after another; lea has as many concepts as it has sizes of its regions.
ROLES = {
    "gra": ((0, 1, 2, 3, 4), (3, 5, 1, 0, 2), (0, 1, 2, 3, 4)),
    "gsg": ((0, 1, 2, 3, 4), (3, 4, 1, 0, 2), (1, 4, 3, 2, 0)),
    "lea": ((0, 1, 2, 3, 4),) * 4,
}
# The two regions of lea once they are smallest: x1, x2, x3 and x4 on which side of which value. The first expansion
# leaves out the condition on x4, the second that on x3, too.
LOW, HIGH = 0.3, 0.7
REGIONS = (("below", "below", "above", "below"), ("above", "above", "below", "above"))

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FriedmanDrift:
    """See the module docstring; the fields are the options of `generate("friedman_drift", ...)`."""

    n_features: int = 10
    shift_every: int = 10_000  # l: the roles move on every so many rows
    shift_by: int = N_ROLES  # s: by so many features
    noise: float = 1.0  # the standard deviation of what no feature explains
    variant: str = "shift"
    positions: Sequence[int] | None = None  # of the changes of gra, gsg and lea; None cuts the stream in equal parts
    width: int | None = None  # of the transitions of gsg; None: 10,000 rows, at most half the distance of two
    n_rows: int = 100_000

    categorical: ClassVar[None] = None
    categories: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        limits: Limits = {
            "variant": (OneOf("shift", *ROLES),),
            "n_features": (Integer(6 if self.variant == "gra" else N_ROLES),),
            "shift_every": (Integer(1),),
            "shift_by": (Integer(1),),
            "noise": (Real(0.0, None),),
            "width": (Integer(1), IsNone()),
        }
        check_parameters("friedman_drift", {name: getattr(self, name) for name in limits}, limits)
        if self.variant != "gsg" and self.width is not None:
            raise ParameterError("The 'width' parameter of friedman_drift is for variant='gsg': leave it out.")
        if self.variant == "shift" and self.positions is not None:
            raise ParameterError(
                "The 'positions' parameter of friedman_drift is for gra, gsg and lea: set 'shift_every' instead."
            )
        if self.variant != "shift":
            _ = self._timetable  # which checks the rest

    @cached_property
    def _timetable(self) -> tuple[Drift, ...]:
        """The changes of gra, gsg and lea."""
        wanted = len(ROLES[self.variant]) - 1
        if self.positions is not None and len(self.positions) != wanted:
            raise ParameterError(
                f"The 'positions' parameter of friedman_drift must be {wanted} row numbers for "
                f"variant={self.variant!r}. Got {list(self.positions)!r} instead."
            )
        drifts = Timetable.of("friedman_drift", self.n_rows, "abrupt", wanted, self.positions, None).drifts
        if self.variant != "gsg":
            return drifts
        rows = [drift.row for drift in drifts]
        room = rows[1] - rows[0]
        width = max(min(USUAL_WIDTH, room // 2), 1) if self.width is None else self.width
        if width > room:
            raise ParameterError(
                f"The 'width' parameter of friedman_drift must be at most the distance of two drifts, {room} rows. "
                f"Got {width} instead."
            )
        return tuple(Drift(row, row, min(row + width, self.n_rows) - 1) for row in rows)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"x{j}" for j in range(self.n_features))

    def _concepts(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """How many changes lie behind each row."""
        if self.variant == "shift":
            return rows // self.shift_every
        return np.asarray(np.searchsorted([drift.row for drift in self._timetable], rows, "right"))

    def _played(self, concepts: NDArray[np.intp]) -> NDArray[np.intp]:
        """The features that play a, b, c, d and e, one line for each concept asked for."""
        if self.variant == "shift":
            return np.asarray((self.shift_by * concepts[:, None] + np.arange(N_ROLES)) % self.n_features)
        return np.array(ROLES[self.variant])[concepts]

    def rows(self, rng: np.random.Generator, first: int, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
        X = rng.random((n_rows, self.n_features))
        noise = self.noise * rng.standard_normal(n_rows)
        rows = np.arange(first, first + n_rows)
        concepts = self._concepts(rows)
        if self.variant == "gsg":
            before = rng.random(n_rows) < 0.5
            for drift in self._timetable:
                concepts = concepts - (before & (rows >= drift.first) & (rows <= drift.last))
        a, b, c, d, e = np.take_along_axis(X, self._played(concepts), axis=1).T
        y = 10.0 * np.sin(np.pi * a * b) + 20.0 * (c - 0.5) ** 2 + 10.0 * d + 5.0 * e
        if self.variant == "lea":
            elsewhere = (
                10.0 * a * b + 20.0 * (c - 0.5) + 10.0 * d + 5.0 * e,
                10.0 * np.cos(a * b) + 20.0 * (c - 0.5) + np.exp(d) + 5.0 * e**2,
            )
            for region, values in zip(REGIONS, elsewhere, strict=True):
                y = np.where(_inside(X[:, 1:N_ROLES], concepts, region), values, y)
        return X, y + noise

    def relevant(self, row: int) -> NDArray[np.intp]:
        return np.sort(self._played(self._concepts(np.array([row])))[0])

    def drifts(self, first: int, last: int) -> bool:
        if self.variant == "shift":
            return last // self.shift_every != max(first - 1, 0) // self.shift_every
        return any(drift.first <= last and first <= drift.last for drift in self._timetable)

    def changes(self, n_rows: int) -> list[Drift]:
        if self.variant == "shift":
            return [Drift(row, row, row) for row in range(self.shift_every, n_rows, self.shift_every)]
        return list(self._timetable)


def _inside(X: Floats, concepts: NDArray[np.intp], region: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which rows lie in a region of lea: after 1, 2 and 3 changes it has 4, 3 and 2 conditions."""
    inside = concepts > 0
    for place, side in enumerate(region):
        fulfilled = X[:, place] < LOW if side == "below" else X[:, place] > HIGH
        inside &= fulfilled | (place >= 5 - concepts)
    return inside
