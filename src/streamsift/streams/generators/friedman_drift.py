"""friedman_drift: a number as target, from Friedman's function of five features whose roles move on.

J. Friedman, Multivariate Adaptive Regression Splines (1991): with independent features, uniform on [0, 1],

    y = 10 sin(pi a b) + 20 (c - 0.5)^2 + 10 d + 5 e + noise

In row i the roles a, b, c, d and e are played by the five features from s floor(i / l) on, where l is `shift_every` and
s `shift_by`; behind the last feature the first one follows. With s = 5 all five are replaced, with s = 1 each takes the
next role and one is replaced, so that even the features that stay mean something else.

A linear score does not see c, whose square around the middle has no correlation with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import Integer, Limits, Real, check_parameters
from streamsift.streams.generators.drift import Drift

N_ROLES = 5


@dataclass(frozen=True)
class FriedmanDrift:
    """See the module docstring; the fields are the options of `generate("friedman_drift", ...)`."""

    n_features: int = 10
    shift_every: int = 10_000  # l: the roles move on every so many rows
    shift_by: int = N_ROLES  # s: by so many features
    noise: float = 1.0  # the standard deviation of what no feature explains

    categorical: ClassVar[None] = None
    categories: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        limits: Limits = {
            "n_features": (Integer(N_ROLES),),
            "shift_every": (Integer(1),),
            "shift_by": (Integer(1),),
            "noise": (Real(0.0, None),),
        }
        check_parameters("friedman_drift", vars(self), limits)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"x{j}" for j in range(self.n_features))

    def roles(self, row: int) -> NDArray[np.intp]:
        """The features that play a, b, c, d and e in a row."""
        return np.asarray((self.shift_by * (row // self.shift_every) + np.arange(N_ROLES)) % self.n_features)

    def rows(self, rng: np.random.Generator, first: int, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
        X = rng.random((n_rows, self.n_features))
        noise = self.noise * rng.standard_normal(n_rows)
        starts = self.shift_by * (np.arange(first, first + n_rows) // self.shift_every)
        played = (starts[:, None] + np.arange(N_ROLES)) % self.n_features
        a, b, c, d, e = np.take_along_axis(X, played, axis=1).T
        return X, 10.0 * np.sin(np.pi * a * b) + 20.0 * (c - 0.5) ** 2 + 10.0 * d + 5.0 * e + noise

    def relevant(self, row: int) -> NDArray[np.intp]:
        return np.sort(self.roles(row))

    def drifts(self, first: int, last: int) -> bool:
        return last // self.shift_every != max(first - 1, 0) // self.shift_every

    def changes(self, n_rows: int) -> list[Drift]:
        return [Drift(row, row, row) for row in range(self.shift_every, n_rows, self.shift_every)]
