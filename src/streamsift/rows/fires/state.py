"""What FIRES has learnt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.limits import LARGEST
from streamsift.core.state import MOST_ROWS, Finite, Shape, Sizes, Within
from streamsift.rows.fires.scratch import ScratchArrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST_PARAMETER = 1e150  # larger ones have no square


@dataclass
class FiresState:
    """Everything learnt.

    `low` and `high` are the range of each feature, `moments` its weight, mean and second moment (empty where not used;
    of sparse rows those of the stored values); `slots` says which class of the model a label's code is (-1: not known
    to it yet), `class_rows` how many rows it had. Random numbers of a step come from `seed` and `n_steps`.
    """

    mu: Annotated[Floats, Shape("n_parameters"), Finite(_LARGEST_PARAMETER)]
    sigma: Annotated[Floats, Shape("n_parameters"), Finite(_LARGEST_PARAMETER)]
    low: Annotated[Floats, Shape((0, "n_features")), Within(None)]
    high: Annotated[Floats, Shape((0, "n_features")), Within(None)]
    slots: Annotated[Ints, Shape("n_classes"), Within(-1, "n_classes - 1")]
    class_rows: Annotated[Ints, Shape("n_classes"), Within(0, "n_rows_seen")]
    n_features: int
    sparse: bool
    seed: Annotated[int, Within(0, 2**64 - 1)]
    n_steps: Annotated[int, Within(0, 2**63)]
    moments: Annotated[Floats, Shape(3, (0, "n_features")), Finite()]
    total_weight: Annotated[float, Within(0, float(MOST_ROWS))]
    model: Any = field(init=False, default=None, repr=False)  # what it was made for, and the model bound to it
    scratch: ScratchArrays = field(init=False, default_factory=ScratchArrays, repr=False)
    n_known: int = field(init=False)  # labels that have a class in the model

    def __post_init__(self) -> None:
        self.set_slots(self.slots)

    def problem(self, sizes: Sizes) -> str | None:
        """What declarations cannot say, in a few words."""
        if self.n_features != sizes["n_features"]:
            return f"n_features is {self.n_features} instead of {sizes['n_features']}"
        known = self.slots[self.slots >= 0]
        if not np.array_equal(np.sort(known), np.arange(len(known))):
            return "slots does not give each class a place of its own"
        weight, mean, m2 = self.moments
        if (weight < 0.0).any() or (m2 < 0.0).any() or (np.abs(mean) > LARGEST).any():
            return "moments holds weights, means or second moments that no rows can have"
        if len(self.low) != len(self.high):
            return "low and high are of different lengths"
        fresh = np.isposinf(self.low) & np.isneginf(self.high)
        met = np.isfinite(self.low) & np.isfinite(self.high) & (self.low <= self.high)
        return None if (fresh | met).all() else "low and high are no ranges of features"

    def copy(self) -> Self:
        """One that may be changed while this one is kept; the arrays are shared."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin

    def set_slots(self, slots: Ints) -> None:
        self.slots, self.n_known = slots, int(slots.max(initial=-1)) + 1

    def targets(self, batch: CheckedBatch) -> NDArray[Any]:
        """What the model is to learn: its number of each row's class."""
        return self.slots.take(batch.codes)

    @property
    def differ(self) -> bool:
        """Whether targets have differed yet."""
        return bool(np.count_nonzero(self.class_rows) > 1)

    @property
    def n_classes(self) -> int:
        return max(self.n_known, 1)
