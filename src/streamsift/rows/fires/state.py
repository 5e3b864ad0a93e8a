"""What FIRES has learnt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.rows.fires.scratch import ScratchArrays


@dataclass
class FiresState:
    """Everything learnt.

    `low` and `high` are the range of each feature, `moments` its weight, mean and second moment (empty where not used;
    of sparse rows those of the stored values); `slots` says which class of the model a label's code is (-1: not known
    to it yet), `class_rows` how many rows it had. Random numbers of a step come from `seed` and `n_steps`.
    """

    mu: NDArray[np.float64]
    sigma: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    slots: NDArray[np.int64]
    class_rows: NDArray[np.int64]
    n_features: int
    sparse: bool
    seed: int
    n_steps: int
    moments: NDArray[np.float64]
    total_weight: float
    model: Any = field(init=False, default=None, repr=False)  # what it was made for, and the model bound to it
    scratch: ScratchArrays = field(init=False, default_factory=ScratchArrays, repr=False)
    n_known: int = field(init=False)  # labels that have a class in the model

    def __post_init__(self) -> None:
        self.set_slots(self.slots)

    def copy(self) -> FiresState:
        """One that may be changed while this one is kept; the arrays are shared."""
        twin = object.__new__(FiresState)
        vars(twin).update(vars(self))
        return twin

    def set_slots(self, slots: NDArray[np.int64]) -> None:
        self.slots, self.n_known = slots, int(slots.max(initial=-1)) + 1

    @property
    def n_classes(self) -> int:
        return max(self.n_known, 1)
