"""What FIRES makes of a batch before the model sees it: row weights, classes of the model, scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.fires import range_factors
from streamsift.rows.fires.state import FiresState

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass
class ModelRows:
    """A batch as the model gets it.

    `parameters` are those it is about, or None for all; low and high are the new ranges of the features at `places`,
    `moments` their new moments.
    """

    X: Any
    y: Ints
    extra: dict[str, Any]
    parameters: Ints | None = None
    places: Any = None
    low: Any = None
    high: Any = None
    moments: Any = None


def assign_slots(slots: Ints, codes: Ints, n_labels: int, *, only_seen: bool) -> Ints:
    """Give labels a class of the model: in the order they are seen, or all that are known at once."""
    if len(slots) == n_labels and slots.min(initial=0) >= 0:
        return slots
    result = np.full(n_labels, -1, np.int64)
    result[: len(slots)] = slots
    if only_seen:
        distinct, first = np.unique(codes, return_index=True)
        order = distinct[np.argsort(first)]
    else:
        order = np.arange(n_labels)
    new = order[result[order] < 0]
    result[new] = result.max(initial=-1) + 1 + np.arange(len(new))
    return result


def range_factor(low: Floats, high: Floats) -> Floats:
    """1 / (high - low), or 0 where a feature is constant."""
    factor = np.empty_like(low)
    range_factors(low, high, factor)
    return factor


def seed_of(random_state: Any) -> int:
    """A number to begin with, from whatever a user may give."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(np.random.default_rng(random_state).integers(2**63))


def is_greater(label: Any, other: Any) -> bool:
    """Whether a label comes after another; False where they cannot be compared."""
    try:
        return bool(label > other)
    except TypeError:
        return False


def generator_of(state: FiresState) -> np.random.Generator:
    """The random numbers of one step: the same after saving and loading."""
    return np.random.Generator(np.random.Philox(key=np.array([state.seed, state.n_steps], np.uint64)))
