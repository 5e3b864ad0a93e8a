"""State as named arrays: there and back, and no other type than annotated."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import GenericAlias
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streamsift.core.exceptions import SavedStateError
from streamsift.core.state import element_of, n_bytes, state_from_arrays, state_to_arrays


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


@dataclass
class Roomy:
    values: NDArray[np.float64]
    n_used: int
    count: NDArray[np.integer[Any]]
    scratch: list[int] = field(init=False, default_factory=list)

    def tidy(self) -> None:
        self.values[self.n_used :] = 0.0


def test_room_that_is_not_in_use_is_cleared_and_scratch_is_left_out() -> None:
    state = Roomy(np.array([1.0, 2.0, 9.0]), 2, np.arange(2))
    state.scratch.append(1)
    arrays = state_to_arrays(state)
    assert sorted(arrays) == ["count", "n_used", "values"]
    assert arrays["values"].tolist() == [1.0, 2.0, 0.0]
    assert state_from_arrays(Roomy, arrays).scratch == []


def test_any_integers_will_do_where_the_state_says_so() -> None:
    arrays = state_to_arrays(Roomy(np.zeros(1), 1, np.arange(2)))
    for kind in (np.int16, np.uint64):
        again = state_from_arrays(Roomy, arrays | {"count": np.arange(2, dtype=kind)})
        assert again.count.dtype == kind
    with pytest.raises(SavedStateError, match=r"is float64 of shape \(2,\) instead of an array of integer"):
        state_from_arrays(Roomy, arrays | {"count": np.zeros(2)})


def test_arrays_of_another_byte_order_become_those_of_this_machine() -> None:
    again = state_from_arrays(Inner, {"values": np.array([1.5, -2.0], ">f8")})
    assert again.values.dtype.isnative
    assert again.values.tolist() == [1.5, -2.0]


@pytest.mark.parametrize("element", [np.float64, np.integer[Any]])
def test_arrays_are_understood_as_every_numpy_annotates_them(element):
    before = np.ndarray[Any, np.dtype[element]]
    since_2_5 = GenericAlias(np.ndarray, (element,))
    wanted = np.float64 if element is np.float64 else np.integer
    assert element_of(before) is element_of(since_2_5) is element_of(NDArray[element]) is wanted
