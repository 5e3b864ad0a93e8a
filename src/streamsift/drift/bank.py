"""Bank: the state of many detectors of one kind, as arrays with one entry per detector; all zero: a fresh one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass
class Bank:
    """Detectors of one kind; what the columns mean is said in `kernels/adwin.py` and `kernels/hddm.py`."""

    sums: NDArray[np.float64]
    filled: NDArray[np.int64]
    buckets: NDArray[np.float64]
    flags: NDArray[np.int64]

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
