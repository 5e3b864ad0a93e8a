"""What a state declares of its arrays is checked before an object is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streamsift import ETANA, OFS, SavedStateError, Screener, catalog
from streamsift.checks.drivers import driver_of
from streamsift.core.state import (
    Distinct,
    Finite,
    Increasing,
    Offsets,
    Shape,
    Sizes,
    Within,
    state_from_arrays,
    state_to_arrays,
)

Ints, Floats = NDArray[np.int64], NDArray[np.float64]


@dataclass
class Part:
    places: Annotated[Ints, Shape("n"), Within(0, "n_rows - 1"), Distinct()]


@dataclass
class Whole:
    n_rows: Annotated[int, Within(0, 100)]
    names: Annotated[NDArray[np.str_], Shape("n")]
    start: Annotated[Ints, Shape("n + 1"), Offsets("total", least=1)]
    values: Annotated[Floats, Shape("n", (0, "total")), Finite(10.0)]
    order: Annotated[Ints, Shape(2), Increasing(strictly=True), Within(None, "n_rows")]
    part: Part

    def problem(self, sizes: Sizes) -> str | None:
        return "values add up to 13" if self.values.sum() == 13.0 else None


def arrays() -> dict[str, NDArray[Any]]:
    part = Part(np.array([1, 0]))
    whole = Whole(3, np.array(["a", "b"]), np.array([0, 1, 3]), np.ones((2, 3)), np.array([1, 2]), part)
    return state_to_arrays(whole)


def test_what_is_as_declared_comes_back() -> None:
    sizes = {"n_rows": 3}
    whole = state_from_arrays(Whole, arrays(), sizes=sizes)
    assert whole.part.places.tolist() == [1, 0]
    assert sizes == {"n_rows": 3, "n": 2, "total": 3}
    none = state_from_arrays(Whole, arrays() | {"values": np.ones((2, 0))}, sizes={"n_rows": 3})
    assert none.values.shape == (2, 0)
    assert state_from_arrays(
        Whole, arrays() | {"values": np.asfortranarray(np.ones((2, 3)))}, sizes={"n_rows": 3}
    ).values.flags.c_contiguous


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("n_rows", np.array(-1), "'n_rows' holds -1, which is not between 0 and 100"),
        ("n_rows", np.array(True), "'n_rows' is bool"),
        ("start", np.array([1, 2, 3]), "'start' does not rise from 0"),
        ("start", np.array([0, 0, 3]), "'start' does not rise from 0 by at least 1"),
        ("start", np.array([0, 2**62, -(2**62)]), "'start' does not rise from 0"),
        ("values", np.ones((2, 2)), "'values' has 2 entries along axis 1 instead of 0 or 3"),
        ("values", np.ones(2), "'values' has 1 dimensions instead of 2"),
        ("values", np.full((2, 3), np.nan), "'values' holds nan"),
        ("values", np.full((2, 3), -np.inf), "'values' holds -inf"),
        ("values", np.full((2, 3), 10.5), "'values' holds 10.5"),
        ("values", np.array([[8.0, 1, 1], [1, 1, 1]]), "values add up to 13"),
        ("order", np.array([2, 2]), "'order' is not in increasing order"),
        ("order", np.array([2, 4]), "'order' holds 4"),
        ("part.places", np.array([0, 3]), "'part.places' holds 3, which is not between 0 and 2"),
        ("part.places", np.array([1, 1]), "'part.places' holds the same value twice"),
        ("part.places", np.array([1]), "'part.places' has 1 entries along axis 0 instead of 2"),
        ("names", np.array([97, 2**31], np.uint32).view("U1"), "'names' holds text"),
        ("names", np.array(["a", "\ud800"]), "'names' holds text that is none"),
    ],
)
def test_what_is_not_as_declared_is_refused_by_name(key: str, value: NDArray[Any], problem: str) -> None:
    with pytest.raises(SavedStateError) as caught:
        state_from_arrays(Whole, arrays() | {key: value}, sizes={"n_rows": 3})
    assert problem in str(caught.value)


# -- what crashed, or stayed wrong for ever -------------------------------------------------------------------------


def sample(n_classes: int = 2) -> tuple[Floats, Ints]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % n_classes
    X[:, 0] += y
    return X, y


@pytest.mark.parametrize(
    ("method", "key", "value"),
    [
        (Screener("mutual_info"), "state.numbers.lists", np.zeros((1, 3, 256), np.int64)),
        (Screener("mutual_info"), "state.numbers.sizes", np.full(4, 10**6)),
        (Screener("mutual_info"), "state.numbers.capacity", np.array(0)),
        (Screener("mutual_info"), "state.numbers.n_buffered", np.array(10**6)),
        (Screener("mutual_info"), "state.numbers.buffer_class", np.full(64, 7)),
        (Screener("fisher"), "state.numbers.weight", np.ones((1, 1))),
        (Screener("t_score"), "state.numbers.mean", np.full((2, 4), np.nan)),
        (Screener("t_score"), "n_rows_seen", np.array(-5)),
        (OFS(), "state.classes.positive", np.array([9])),
        (ETANA(), "plan.order", np.array([10**9])),
        (ETANA(), "counts.cut_start", np.full(5, 10**9)),
    ],
)
def test_states_that_crashed_are_refused(method: Any, key: str, value: NDArray[Any]) -> None:
    method = type(method)(**method.get_params()).fit(*sample())
    saved = method.state_arrays()
    assert key in saved
    fresh = type(method)(**method.get_params())
    with pytest.raises(SavedStateError, match=key.rpartition(".")[2]):
        fresh.load_state_arrays(saved | {key: value})
    assert not hasattr(fresh, "n_rows_seen_")


@pytest.mark.parametrize("labels", [["a", "a"], [0.5, float("nan")], [1, float("inf")], [[1], [2]], [None, 1]], ids=str)
def test_labels_that_no_stream_has_are_refused(labels: list[Any]) -> None:
    saved = Screener("fisher").fit(*sample()).state_arrays()
    column = np.empty(len(labels), object)
    column[:] = labels
    with pytest.raises(SavedStateError, match="labels"):
        Screener("fisher").load_state_arrays(saved | {"labels": column})


@pytest.mark.parametrize("names", [["a", "a", "b", "c"], ["a"], ["a", "b", "c", "\ud800"]])
def test_feature_names_that_no_table_has_are_refused(names: list[str]) -> None:
    saved = Screener("fisher").fit(*sample()).state_arrays()
    with pytest.raises(SavedStateError, match="name"):
        Screener("fisher").load_state_arrays(saved | {"feature_names": np.array(names)})


@pytest.mark.parametrize("name", catalog.names())
def test_every_array_of_every_method_has_a_declared_shape(name: str) -> None:
    def make() -> Any:
        return catalog.make(name)

    driver = driver_of(make)
    X, y = driver.sample()
    saved = driver.learn(make(), X, y).state_arrays()
    for key, array in saved.items():
        if array.ndim:
            with pytest.raises(SavedStateError):
                make().load_state_arrays(saved | {key: array[..., None]})
