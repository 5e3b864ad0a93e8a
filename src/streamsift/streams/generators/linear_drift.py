"""linear_drift: labels from a linear model whose true features move on like a window.

The synthetic data of "Online feature screening for data streams with concept drift" (Wang and Barbu), section 3.2.1.
For row i (counted from 0), with independent standard normal z_i, e_i and noise:

    x_i = nu z_i 1 + noise                        (Eq. 21)
    y_i = sum of b x_ij over the window + e_i     (Eq. 20, with the constant c = 0)
    window = k features from floor(i / l) on      (Eq. 22)

and the label is the sign of y_i, -1 or 1. The window wraps around behind the last feature.

Deviations: the paper leaves c open; 0 makes both classes equally frequent. It gives the correlation of two features as
nu / (1 + nu); what Eq. 21, followed here, gives is nu² / (1 + nu²), which is 0.2 for nu = 0.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import Integer, Limits, Real, check_parameters
from streamsift.streams.generators.drift import Drift


@dataclass(frozen=True)
class LinearDrift:
    """See the module docstring; the fields are the options of `generate("linear_drift", ...)`."""

    n_features: int = 1000
    n_relevant: int = 100  # k
    shift_every: int = 2000  # l: the window moves on by one feature every so many rows
    strength: float = 1.0  # b
    common: float = 0.5  # nu: the weight of the part all features share

    categorical: ClassVar[None] = None
    categories: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        check_parameters("linear_drift", vars(self), {"n_features": (Integer(1),)})
        limits: Limits = {
            "n_relevant": (Integer(1, self.n_features),),
            "shift_every": (Integer(1),),
            "strength": (Real(),),
            "common": (Real(),),
        }
        check_parameters("linear_drift", vars(self), limits)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"x{j}" for j in range(self.n_features))

    def rows(self, rng: np.random.Generator, first: int, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
        shared = rng.standard_normal((n_rows, 1), dtype=np.float32)
        noise = rng.standard_normal(n_rows)
        X = rng.standard_normal((n_rows, self.n_features), dtype=np.float32)
        X += np.float32(self.common) * shared
        starts = np.arange(first, first + n_rows) // self.shift_every
        window = (starts[:, None] + np.arange(self.n_relevant)) % self.n_features
        signal = np.take_along_axis(X, window, axis=1).sum(axis=1, dtype=np.float64)
        return X, np.where(self.strength * signal + noise > 0, 1, -1)

    def relevant(self, row: int) -> NDArray[np.intp]:
        window = (row // self.shift_every + np.arange(self.n_relevant)) % self.n_features
        return np.sort(window)

    def drifts(self, first: int, last: int) -> bool:
        return last // self.shift_every != max(first - 1, 0) // self.shift_every

    def changes(self, n_rows: int) -> list[Drift]:
        return [Drift(row, row, row) for row in range(self.shift_every, n_rows, self.shift_every)]
