"""State as named arrays: there and back, and no other type than annotated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streamsift.core.exceptions import SavedStateError
from streamsift.core.state import n_bytes, state_from_arrays, state_to_arrays


@dataclass
class Inner:
    values: NDArray[np.float64]


@dataclass
class Outer:
    n: int
    rate: float
    open: bool
    name: str
    inner: Inner
    flags: NDArray[np.bool_]


def outer() -> Outer:
    return Outer(3, 0.5, True, "x", Inner(np.arange(4.0)), np.array([True, False]))


def test_there_and_back() -> None:
    arrays = state_to_arrays(outer())
    assert sorted(arrays) == ["flags", "inner.values", "n", "name", "open", "rate"]
    again = state_from_arrays(Outer, arrays)
    assert (again.n, again.rate, again.open, again.name) == (3, 0.5, True, "x")
    assert [type(value) for value in (again.n, again.rate, again.open, again.name)] == [int, float, bool, str]
    assert np.array_equal(again.inner.values, np.arange(4.0))


def test_both_ways_copy() -> None:
    state = outer()
    arrays = state_to_arrays(state)
    again = state_from_arrays(Outer, arrays)
    state.inner.values[0] = 99
    assert arrays["inner.values"][0] == 0
    arrays["inner.values"][1] = 99
    assert again.inner.values[1] == 1


def test_a_prefix_keeps_states_apart() -> None:
    assert sorted(state_to_arrays(Inner(np.zeros(1)), "state."))[0] == "state.values"
    assert state_from_arrays(Inner, {"state.values": np.ones(1)}, "state.").values.tolist() == [1.0]


def test_a_missing_array_is_refused() -> None:
    with pytest.raises(SavedStateError, match="lacks 'values': it was written by another version"):
        state_from_arrays(Inner, {})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n", np.array(1.5)),
        ("n", np.array([1])),
        ("rate", np.array("text")),
        ("name", np.array(1)),
        ("flags", np.zeros(2)),
        ("inner.values", np.zeros(4, np.float32)),
    ],
)
def test_another_type_is_refused(key: str, value: Any) -> None:
    with pytest.raises(SavedStateError, match=f"The saved state '{key}' is {value.dtype} of shape"):
        state_from_arrays(Outer, state_to_arrays(outer()) | {key: value})


def test_memory_is_the_sum_of_all_arrays() -> None:
    assert n_bytes({"a": np.zeros(3), "b": np.zeros(2, np.int8)}) == 26
