"""Rows in memory: arrays, sparse matrices, frames of pandas, polars and pyarrow, and iterables of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.streams.drain import drain

from streamsift.core.exceptions import InputError, ParameterError, ReaderError, UnknownNameError
from streamsift.streams import open_stream

X = np.arange(40.0).reshape(10, 4)
y = np.array(list("ababababab"))


@pytest.mark.parametrize(
    "matrix", [X, X.astype(np.float32), X.astype(int), np.asfortranarray(X), X.tolist(), X[::-1][::-1]]
)
@pytest.mark.parametrize("size", [1, 3, 10, 99])
def test_a_pair_of_arrays(matrix: Any, size: int) -> None:
    stream = open_stream((matrix, y), target="kind")
    assert (stream.n_rows, stream.feature_names, stream.target_name, stream.categories) == (10, None, "kind", {})
    read, labels = drain(stream, size)
    np.testing.assert_array_equal(read, X)
    assert labels == y.tolist()


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array])
def test_a_sparse_matrix(form: Any) -> None:
    read, labels = drain(open_stream((form(X), y)), 3)
    np.testing.assert_array_equal(read, X)
    assert labels == y.tolist()


@pytest.mark.parametrize("labels", [list("ababababab"), pd.Series(y), pl.Series(y), pa.array(y), y.reshape(-1, 1)])
def test_labels_of_any_kind(labels: Any) -> None:
    assert drain(open_stream((X, labels)), 4)[1] == y.tolist()


FRAME = {"x": [1.5, None, 3.0], "town": ["Oslo", "Rome", None], "member": [True, False, True], "label": [1, 0, 1]}
EXPECTED = [[1.5, 0, 0], [np.nan, 1, 1], [3, np.nan, 0]]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, pa.RecordBatch.from_pydict])
def test_frames(make: Any) -> None:
    stream = open_stream(make(FRAME), target="label")
    read, labels = drain(stream, 2)
    np.testing.assert_array_equal(read, EXPECTED)
    assert labels == [1, 0, 1]
    assert stream.feature_names == ("x", "town", "member")
    assert stream.categories == {"town": ("Oslo", "Rome"), "member": ("true", "false")}
    features = {name: values for name, values in FRAME.items() if name != "label"}
    beside = open_stream((make(features), pd.Series(FRAME["label"], name="kind")), ignore=["member"])
    read, labels = drain(beside, 2)
    np.testing.assert_array_equal(read, np.array(EXPECTED)[:, :2])
    assert labels == [1, 0, 1]
    assert beside.target_name == "kind"


def test_labels_of_several_types_stay_what_they_are() -> None:
    assert drain(open_stream((X[:3], [1, "1", True])))[1] == [1, "1", True]


def test_categorical_columns_of_pandas() -> None:
    frame = pd.DataFrame(
        {"size": pd.Categorical(["L", "S", "L"], ["S", "M", "L"]), "when": pd.to_datetime(["1970-01-02"] * 3)}
    )
    stream = open_stream((frame, [0, 1, 0]))
    np.testing.assert_array_equal(drain(stream)[0], [[0, 86_400], [1, 86_400], [0, 86_400]])
    assert stream.categories == {"size": ("L", "S")}


def test_inputs_are_not_changed() -> None:
    before = X.copy()
    for batch in open_stream((X, y)).batches(4):
        with pytest.raises(ValueError, match="read-only"):
            batch.X[0, 0] = 1
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ((X, y[:3]), "X has 10 rows but y has 3 labels"),
        ((pd.DataFrame(X), y[:3]), "X has 10 rows but y has 3 labels"),
        ((X, [0, 1, None] + [0] * 7), "Row 2 has no label"),
        ((X, [0, np.nan] + [0] * 8), "Row 1 has no label"),
        ((X, ["a", np.nan] + ["b"] * 8), "Row 1 has no label"),
        ((X, X), r"y must be one label per row, in one dimension. Got an array of shape \(10, 4\)"),
        ((X[0], y), "Expected 2D array, got 1D array"),
        ((5, 6), "Expected 2D array, got scalar"),
        ((X[:0], y[:0]), "0 sample"),
        ((pd.DataFrame({"a": []}), []), "The frame has no rows"),
        ((pd.DataFrame({"a": [1, "b"]}), [0, 1]), "a column of mixed types"),
    ],
)
def test_refusals(source: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        drain(open_stream(source))


def test_refusals_of_frames() -> None:
    with pytest.raises(UnknownNameError, match=r"There is no target column 'lable'. Did you mean 'label'\?"):
        open_stream(pd.DataFrame(FRAME), target="lable")
    with pytest.raises(ParameterError, match="The frame needs the name of its target column"):
        open_stream(pl.DataFrame(FRAME))
    with pytest.raises(ReaderError, match="Row 1 of the frame has no label"):
        drain(open_stream(pl.DataFrame(FRAME), target="x"))
    with pytest.raises(ParameterError, match="The option sep does not apply to a frame: only categorical"):
        open_stream(pd.DataFrame(FRAME), target="label", sep=",")


@given(cuts=st.lists(st.integers(0, 10), max_size=6), size=st.integers(1, 12), as_sparse=st.booleans())
def test_an_iterable_is_cut_anew(cuts: list[int], size: int, as_sparse: bool) -> None:
    edges = sorted({0, 10, *cuts})
    form = sparse.csr_matrix if as_sparse else np.array
    pairs = [(form(X[a:b]), y[a:b]) for a, b in pairwise(edges)]
    stream = open_stream(pairs)
    for _ in range(2):  # a list can be read again
        read, labels = drain(stream, size)
        np.testing.assert_array_equal(read, X)
        assert labels == y.tolist()


def test_an_iterator_is_taken_one_pair_at_a_time() -> None:
    taken = []

    def pairs() -> Iterator[tuple[Any, Any]]:
        for k in range(10):
            taken.append(k)
            yield X[k], y[k]  # single rows

    stream = open_stream(pairs())
    assert taken == []
    assert stream.progress() is None
    batches = stream.batches(3)
    np.testing.assert_array_equal(next(batches).X, X[:3])
    assert taken == [0, 1, 2]
    assert [batch.n_rows for batch in batches] == [3, 3, 1]
    with pytest.raises(ReaderError, match="The iterator has been read"):
        next(stream.batches(3))


def test_frames_in_an_iterable_share_their_vocabulary() -> None:
    pairs = [
        (pd.DataFrame({"n": [1], "c": ["a"]}), [0]),
        (pd.DataFrame({"n": [2.5, 3.5], "c": ["b", "a"]}), [1, 0]),
        (pd.DataFrame({"n": [3.0], "c": ["b"]}), [1]),
        (pl.DataFrame({"n": [4], "c": ["c"]}), [1]),
    ]
    stream = open_stream(pairs)
    assert stream.feature_names is None
    read, labels = drain(stream, 2)
    assert read.tolist() == [[1, 0], [2.5, 1], [3.5, 0], [3, 1], [4, 2]]
    assert labels == [0, 1, 0, 1, 1]
    assert stream.categories == {"c": ("a", "b", "c")}


def test_sparse_pairs_may_widen_and_labels_may_change_type() -> None:
    stream = open_stream([(sparse.csr_matrix([[1, 0]]), ["a"]), (sparse.csr_matrix([[0, 0, 2]]), [7])])
    batch = next(stream.batches(2))
    assert batch.X.toarray().tolist() == [[1, 0, 0], [0, 0, 2]]
    assert batch.y.tolist() == ["a", 7]


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([(X, y), X], "Item 1 of the stream is a ndarray, not a pair"),
        ([(X, y), (X[:, :3], y)], "Item 1 of the stream has 3 columns, those before it 4"),
        ([(X, y[:3])], "Item 0 of the stream: X has 10 rows but y has 3 labels"),
        ([(X, [None] * 10)], "Item 0 of the stream: Row 0 has no label"),
        (
            [(pd.DataFrame({"a": [1]}), [0]), (pd.DataFrame({"b": [1]}), [0])],
            "Item 1 .* has the columns b",
        ),
        ([(pd.DataFrame({"a": [1]}), [0]), (pd.DataFrame({"a": ["x"]}), [0])], "Item 1 .*'a' changes between numbers"),
        ([(pd.DataFrame({"a": []}), [])], "Item 0 of the stream: Found array with 0 sample"),
        ([(X[:0], y[:0])], "Item 0 of the stream: Found array with 0 sample"),
        ([(X[:3], y[:3]), (sparse.csr_matrix(X), y)], "changes between dense and sparse"),
    ],
)
def test_refusals_of_iterables(pairs: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        drain(open_stream(pairs))


def test_the_size_of_batches_is_checked() -> None:
    stream = open_stream((X, y))
    for size in (0, -1, 2.5, True):
        with pytest.raises(ParameterError, match="The 'size' parameter of batches must be an int"):
            stream.batches(size)  # type: ignore[arg-type]


def test_things_that_are_no_source() -> None:
    with pytest.raises(ParameterError, match="not a LazyFrame"):
        open_stream(pl.LazyFrame(FRAME), target="label")
    with pytest.raises(ParameterError, match=r"open_stream reads a path, a pair .*, not a int"):
        open_stream(5)
    with pytest.raises(ParameterError, match="The option zero_based does not apply to an iterable: no option does"):
        open_stream([(X, y)], zero_based=True)
