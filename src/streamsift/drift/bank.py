"""Bank: the state of many detectors of one kind, as arrays with one entry per detector; all zero: a fresh one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.state import Finite, Shape, Sizes, Within
from streamsift.kernels.adwin import DEVIATION, N_SUMS, TOTAL, WIDTH


@dataclass
class Bank:
    """Detectors of one kind; what the columns mean is said in `kernels/adwin.py` and `kernels/hddm.py`."""

    sums: Annotated[NDArray[np.float64], Shape("n_detectors", "n_sums"), Finite(1e100)]
    filled: Annotated[NDArray[np.int64], Shape("n_detectors", "n_levels"), Within(0)]
    buckets: Annotated[NDArray[np.float64], Shape("n_detectors", "n_levels", 2, "n_buckets"), Finite(1e100)]
    flags: Annotated[NDArray[np.int64], Shape("n_detectors"), Within(0, 2)]

    def problem(self, sizes: Sizes) -> str | None:
        levels, room = self.filled.shape[1], self.buckets.shape[3]
        if (self.filled >= max(room, 1)).any():  # a full level is merged into the next at once
            return "filled counts more buckets than there are"
        if not levels:
            return None
        if self.sums.shape[1] != N_SUMS:
            return f"sums holds {self.sums.shape[1]} numbers for each detector instead of {N_SUMS}"
        width = (self.filled * 2.0 ** np.arange(levels)).sum(axis=1)
        if (self.sums[:, WIDTH] != width).any():
            return "sums gives a window another width than its buckets have"
        far = (np.abs(self.sums[:, TOTAL]) > width + 1e-6) | (self.sums[:, DEVIATION] > width + 1e-6)
        return "sums holds more than the window can" if far.any() else None

    @classmethod
    def fresh(cls, n_units: int, n_sums: int, n_levels: int = 0, bucket_size: int = 0) -> Self:
        """`n_units` detectors that have seen nothing."""
        return cls(
            np.zeros((n_units, n_sums)),
            np.zeros((n_units, n_levels), np.int64),
            np.zeros((n_units, n_levels, 2, bucket_size)),
            np.zeros(n_units, np.int64),
        )

    def __len__(self) -> int:
        return len(self.flags)

    def grow(self, n_units: int) -> None:
        """Make room for more detectors, fresh ones behind those there are."""
        for field in dataclasses.fields(self):
            old = getattr(self, field.name)
            new = np.zeros((n_units, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, field.name, new)

    def restart(self, first: int) -> None:
        """Make detector `first` and all behind it fresh."""
        for field in dataclasses.fields(self):
            getattr(self, field.name)[first:] = 0

    def chosen(self, units: list[int]) -> Self:
        """Some of the detectors, in a bank of their own."""
        return type(self)(*(getattr(self, field.name)[units] for field in dataclasses.fields(self)))
