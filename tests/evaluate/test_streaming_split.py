"""StreamingSplit: blocks in the order of the stream, never predicted from what comes after them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsift import InputError, ParameterError, StreamingSplit


@given(
    n_rows=st.integers(1, 60),
    n_splits=st.integers(1, 6),
    test_size=st.none() | st.integers(1, 20),
    gap=st.integers(0, 5),
    window=st.none() | st.integers(1, 30),
)
def test_blocks_follow_each_other(
    n_rows: int, n_splits: int, test_size: int | None, gap: int, window: int | None
) -> None:
    split = StreamingSplit(n_splits, test_size=test_size, gap=gap, window=window)
    try:
        found = list(split.split(np.zeros(n_rows)))
    except InputError:
        size = test_size or n_rows // (n_splits + 1)
        assert size < 1 or n_rows - n_splits * size - gap < 1
        return
    assert len(found) == n_splits == split.get_n_splits()
    assert found[-1][1][-1] == n_rows - 1
    tested = np.concatenate([test for _, test in found])
    assert np.array_equal(tested, np.arange(tested[0], n_rows))
    assert len({len(test) for _, test in found}) == 1
    for train, test in found:
        assert train[-1] == test[0] - gap - 1
        assert np.array_equal(train, np.arange(train[0], train[-1] + 1))
        assert train[0] == 0 or len(train) == window


@pytest.mark.parametrize("X", [np.zeros((12, 2)), pd.DataFrame({"a": range(12)}), list(range(12))])
def test_any_rows_will_do(X: Any) -> None:
    assert [len(train) for train, _ in StreamingSplit(3).split(X)] == [3, 6, 9]


@pytest.mark.parametrize("settings", [{"n_splits": 0}, {"test_size": 0}, {"gap": -1}, {"window": 0}])
def test_settings_are_checked(settings: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match=next(iter(settings))):
        StreamingSplit(**settings).split(np.zeros(100))


def test_too_few_rows_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="10 rows are too few for 5 blocks of 2 rows with 0 rows"):
        StreamingSplit(5, test_size=2).split(np.zeros(10))


def test_it_says_what_it_is() -> None:
    assert repr(StreamingSplit(3, gap=2)) == "StreamingSplit(n_splits=3, test_size=None, gap=2, window=None)"
