"""What the tests of methods that compare columns share: hard data, and the laws all of them keep."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from streamsift.core.exceptions import InputError

Maker = Callable[[], Any]
JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"


def examples(count: int) -> int:
    """How many examples a law is tried on; far fewer where kernels run as plain Python."""
    return count if JIT else max(count // 10, 2)


def numbers(seed: int, n_rows: int = 60, n_columns: int = 25, n_classes: int = 2) -> tuple[Any, Any]:
    """Related columns of all scales, some constant, copied, far from 0 or of few values; classes by one cause."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_rows, 4))
    X = hidden @ rng.normal(size=(4, n_columns)) + rng.uniform(0.1, 3.0, n_columns) * rng.normal(
        size=(n_rows, n_columns)
    )
    y = np.digitize(hidden[:, 0] + 0.5 * rng.normal(size=n_rows), np.linspace(-0.8, 0.8, n_classes - 1))
    for k in range(n_columns):
        kind = rng.integers(10)
        if kind == 0:
            X[:, k] = rng.normal()
        elif kind == 1:
            X[:, k] = X[:, rng.integers(n_columns)]
        elif kind == 2:
            X[:, k] *= 10.0 ** rng.integers(-100, 100)
        elif kind == 3:
            X[:, k] += 1e5
        elif kind == 4:
            X[:, k] = np.round(X[:, k])
    return X, y


def codes(seed: int, n_rows: int = 150, n_columns: int = 15, n_classes: int = 2) -> tuple[Any, Any]:
    """Columns of few whole numbers, some of them noisy copies of the class or of each other, some constant."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.integers(0, rng.integers(2, 5, n_columns), (n_rows, n_columns)).astype(float)
    for k in range(n_columns):
        kind = rng.integers(5)
        source = y if kind == 0 else X[:, rng.integers(n_columns)]
        if kind < 2:
            X[:, k] = np.where(rng.random(n_rows) < 0.7, source, X[:, k])
        elif kind == 2 and rng.random() < 0.3:
            X[:, k] = 3.0
    return X, y


def places(selector: Any) -> list[int]:
    return np.flatnonzero(selector.get_support()).tolist()


def assert_same_state(selector: Any, expected: dict[str, Any]) -> None:
    arrays = selector.state_arrays()
    assert arrays.keys() == expected.keys()
    for key, array in expected.items():
        np.testing.assert_array_equal(arrays[key], array, err_msg=key)  # NaN equals NaN


def check_blocks(make: Maker, X: Any, y: Any, cuts: list[int]) -> None:
    """Whatever the blocks and their layout, decisions and state are those of one column after the other."""
    single = make().begin(y)
    expected = [single.offer(X[:, k]) for k in range(X.shape[1])]
    layouts = (np.ascontiguousarray, np.asfortranarray, sparse.csc_matrix)
    bounds = [0, *sorted(cuts), X.shape[1]]
    for layout in layouts:
        selector = make().begin(y)
        decisions: list[Any] = []
        for start, stop in pairwise(bounds):
            if stop > start:
                decisions += list(selector.offer_many(layout(X[:, start:stop])))
        assert decisions == expected
        assert selector.selected_ == single.selected_
        assert_same_state(selector, single.state_arrays())
    members = []
    for decision in expected:  # the decisions tell the whole story
        members = [name for name in members if name not in decision.dropped]
        members += [decision.name] if decision.accepted else []
    assert members == single.selected_


def check_continues(make: Maker, X: Any, y: Any) -> None:
    """A state that is saved and loaded goes on as if nothing had happened."""
    half = X.shape[1] // 2
    selector = make().begin(y)
    selector.offer_many(X[:, :half])
    loaded = make().load_state_arrays(selector.state_arrays())
    assert loaded.offer_many(X[:, half:]) == selector.offer_many(X[:, half:])
    assert loaded.selected_ == selector.selected_


def check_all_or_nothing(make: Maker, X: Any, y: Any) -> None:
    """A block with a bad value changes nothing."""
    selector = make().begin(y)
    selector.offer_many(X[:, :5])
    before = selector.state_arrays()
    bad = np.array(X[:, 5:])
    bad[3, -1] = np.nan
    with pytest.raises(InputError, match=f"Row 3, column 'x{X.shape[1] - 1}' is NaN"):
        selector.offer_many(bad)
    assert_same_state(selector, before)
