"""check_batch: every form of data becomes one, and what cannot is refused in words."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from streamsift.core.batch import Batch, check_batch, check_matrix, refuse_value
from streamsift.core.exceptions import InputError
from streamsift.kernels.csr import DAMAGED, MODERATE, SOUND, look_through

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
Y = ["a", "b"]


def checked(matrix: Any, **options: Any) -> Any:
    return check_batch(matrix, Y, owner="Method", **options)


class TestArrays:
    def test_a_float_array_is_taken_without_a_copy_and_cannot_be_written(self) -> None:
        batch = checked(X)
        assert np.shares_memory(batch.X, X)
        assert not batch.X.flags.writeable
        assert X.flags.writeable
        assert batch.n_rows == 2

    @pytest.mark.parametrize(
        ("dtype", "wanted"),
        [
            ("float64", "float64"),
            ("float32", "float32"),
            ("float16", "float32"),
            ("int64", "float64"),
            ("int32", "float64"),
            ("int16", "float32"),
            ("uint8", "float32"),
            ("bool", "float32"),
            ("object", "float64"),
            (">f8", "float64"),
            (">f4", "float32"),
            ("longdouble", "float64"),
            ("m8[s]", "float64"),
        ],
    )
    def test_every_number_type_becomes_one_of_two(self, dtype: str, wanted: str) -> None:
        batch = checked(X.astype(dtype))
        assert batch.X.dtype == np.dtype(wanted)
        assert batch.X.dtype.isnative
        assert np.array_equal(batch.X, X.astype(bool) if dtype == "bool" else X)

    @pytest.mark.parametrize("form", [np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, 1)[:, ::2], X.tolist()])
    def test_every_layout_becomes_c_order(self, form: Any) -> None:
        batch = checked(form)
        assert batch.X.flags.c_contiguous
        assert np.array_equal(batch.X, X)

    def test_masked_values_are_missing(self) -> None:
        masked = np.ma.masked_array(X.astype(int), mask=[[0, 1, 0], [0, 0, 0]])
        with pytest.raises(InputError, match="Row 0, column 'x1' of X is NaN"):
            checked(masked)
        assert np.isnan(checked(masked, missing=True).X[0, 1])

    @pytest.mark.parametrize(
        ("matrix", "words"),
        [
            (np.zeros(3), r"got 1D array instead\. Reshape"),
            (np.float64(1), "got scalar array"),
            (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\)"),
            (np.zeros((2, 0)), r"0 feature\(s\)"),
            (X + 1j, "Complex data not supported"),
            (np.array([[1, "tall"], [2, 3]], object), "Row 0, column 1 of X is 'tall'"),
            (np.array([["1", "x"], ["2", "3"]]), "Row 0, column 1 of X is .*'x'"),
        ],
    )
    def test_other_arrays_are_refused(self, matrix: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            checked(matrix)

    def test_values_that_are_no_numbers_at_all_are_a_type_error(self) -> None:
        with pytest.raises(TypeError, match=r"Row 1, column 0 of X is \{\}"):
            checked(np.array([[1, 2], [{}, 3]], object))

    def test_text_that_is_a_number_is_read(self) -> None:
        assert checked(np.array([["1", "2"], ["3", "4.5"]])).X.tolist() == [[1, 2], [3, 4.5]]


class TestSparse:
    @pytest.mark.parametrize("form", [csr_matrix, csr_array, coo_array])
    @pytest.mark.parametrize(
        ("dtype", "wanted"), [("float64", "f8"), ("float32", "f4"), ("int8", "f4"), ("int64", "f8")]
    )
    def test_sparse_data_becomes_csr(self, form: Any, dtype: str, wanted: str) -> None:
        batch = checked(form(X.astype(dtype)))
        assert batch.sparse
        assert batch.X.format == "csr"
        assert batch.X.dtype == np.dtype(wanted)
        assert np.array_equal(batch.X.toarray(), X)

    def test_sparse_data_is_refused_where_it_is_not_supported(self) -> None:
        with pytest.raises(InputError, match=r"dense data is required by Method: use X\.toarray"):
            checked(csr_matrix(X), sparse=False)

    def test_other_sparse_classes_are_refused(self) -> None:
        class Foreign:
            def toarray(self) -> Any:
                return X

        with pytest.raises(InputError, match="X is a Foreign: give sparse data as a scipy CSR matrix"):
            checked(Foreign())

    @pytest.mark.parametrize(
        ("matrix", "words"),
        [
            (csr_matrix(X + 1j), "Complex"),
            (csr_matrix((0, 3)), r"0 sample"),
            (csr_matrix((3, 0)), r"0 feature"),
            (csr_matrix(([1.0, 2.0], [2, 0], [0, 0, 2]), (2, 3)), "Row 1 .* out of order: call X.sort_indices"),
            (csr_matrix(([1.0, 2.0], [1, 1], [0, 2, 2]), (2, 3)), "Row 0 .* two entries for column 1"),
            (csr_matrix(([1.0, 2.0], [0, 3], [0, 1, 2]), (2, 3)), "Row 1 .* column 3, but there are only 3 columns"),
            (csr_matrix(([1.0, 2.0], [0, -1], [0, 1, 2]), (2, 3)), "Row 1 .* column -1, but there are only 3 columns"),
            (csr_matrix(([np.nan], [1], [0, 0, 1]), (2, 3)), "Row 1, column 'x1' of X is NaN"),
            (csr_matrix(([1.0, np.inf], [0, 2], [0, 2, 2]), (2, 3)), "Row 0, column 'x2' of X is infinity"),
            (coo_array(np.arange(3.0)), "got 1D sparse array"),
        ],
    )
    def test_other_sparse_data_is_refused(self, matrix: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            checked(matrix)

    def test_a_matrix_that_was_changed_after_scipy_looked_at_it_is_refused(self) -> None:
        matrix = csr_matrix(([1.0, 2.0], [0, 2], [0, 2, 2]), (2, 3))
        assert matrix.has_canonical_format
        matrix.indices[:] = [2, 1]
        with pytest.raises(InputError, match=r"Row 0 .* out of order"):
            checked(matrix)

    def test_room_behind_the_last_row_is_not_looked_at(self) -> None:
        matrix = csr_matrix(([1.0, 2.0], [0, 2], [0, 1, 2]), (2, 3))
        matrix.data, matrix.indices = np.array([1.0, 2.0, np.nan]), np.array([0, 2, 99], np.int32)
        batch = checked(matrix)
        assert batch.moderate
        assert (batch.X.data.tolist(), batch.X.indices.tolist()) == ([1.0, 2.0], [0, 2])

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.int32, np.uint64, np.longdouble])
    def test_data_of_another_kind_is_looked_at_before_it_is_converted(self, dtype: Any) -> None:
        with pytest.raises(InputError, match="two entries for column 1"):
            checked(csr_matrix((np.ones(4, dtype), [1, 1, 0, 2], [0, 2, 4]), (2, 3)))
        with pytest.raises(InputError, match="out of order"):
            checked(csr_matrix((np.ones(2, dtype), [2, 0], [0, 2, 2]), (2, 3)))
        matrix = csr_matrix((np.ones(4, dtype), [0, 1, 0, 2], [0, 2, 4]), (2, 3))
        assert checked(matrix).X.toarray().tolist() == [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
        matrix.indptr[1] = 1_000_000
        with pytest.raises(InputError, match="its indptr is damaged"):
            checked(matrix)

    def test_arrays_of_another_byte_order_or_kind_are_taken(self) -> None:
        matrix = csr_matrix(([1.0, 2.0], [0, 2], [0, 1, 2]), (2, 3))
        matrix.data, matrix.indices = matrix.data.astype(">f8"), matrix.indices.astype(">i4")
        matrix.indptr = matrix.indptr.astype(np.uint16)
        assert checked(matrix).X.toarray().tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("index", [np.int32, np.int64])
    def test_one_look_finds_what_numpy_finds(self, dtype: Any, index: Any) -> None:
        rng = np.random.default_rng(3)
        found = set()
        for _ in range(300):
            lengths = rng.integers(0, 40, rng.integers(1, 8))
            starts = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
            rows = [np.sort(rng.permutation(50)[:length]) for length in lengths]
            columns, data = np.concatenate(rows).astype(index), rng.normal(size=starts[-1]).astype(dtype)
            if len(data):
                place, kind = rng.integers(0, len(data)), rng.integers(0, 4)
                columns[place] = (columns[place], rng.integers(-3, 55), -1, columns[place])[kind]
                data[place] = (data[place], data[place], data[place], rng.choice([np.nan, -np.inf, 1e30]))[kind]
            inside = ((columns >= 0) & (columns < 50)).all()
            rising = all((np.diff(part) > 0).all() for part in np.split(columns, starts[1:-1]))
            moderate = bool((np.abs(data) <= 1e20).all())
            wanted = DAMAGED if not (inside and rising) else MODERATE if moderate else SOUND
            assert look_through(data, columns.view(f"u{columns.itemsize}"), starts, 50, 1e20) == wanted
            found.add(wanted)
        assert found == {DAMAGED, SOUND, MODERATE}

    @pytest.mark.parametrize(
        ("starts", "words"),
        [
            ([0, 2, 1, 3], "Row 1 .* entries from 2 to 1 of 3"),
            ([0, 1, 2, 9], "Row 2 .* entries from 2 to 9 of 3"),
            ([0, 9, 2, 3], "Row 0 .* entries from 0 to 9 of 3"),
            ([1, 1, 2, 3], "Row 0 .* entries from 1 to 1 of 3"),
            ([0, -1, 2, 3], "Row 0 .* entries from 0 to -1 of 3"),
        ],
    )
    def test_a_damaged_indptr_is_refused(self, starts: list[int], words: str) -> None:
        matrix = csr_matrix(np.eye(3))
        assert matrix.has_canonical_format  # scipy keeps this answer
        matrix.indptr = np.array(starts, np.int32)
        with pytest.raises(InputError, match=words):
            checked(matrix)


class TestTables:
    columns = ("a", "b", "c")

    @pytest.mark.parametrize(
        "table",
        [
            pd.DataFrame(X, columns=columns),
            pd.DataFrame(X, columns=columns).astype({"a": "int64", "b": "float32"}),
            pd.DataFrame(X, columns=columns).astype("Float64"),
            pl.DataFrame(X, schema=columns),
            pl.DataFrame(X.astype(int), schema=columns),
            pa.table(dict(zip(columns, X.T, strict=True))),
            pa.record_batch(dict(zip(columns, X.T, strict=True))),
        ],
    )
    def test_tables_keep_their_names(self, table: Any) -> None:
        batch = checked(table)
        assert np.array_equal(batch.X, X)
        assert batch.features.names == self.columns

    def test_small_numbers_stay_small(self) -> None:
        frame = pd.DataFrame({"a": np.array([1, 2], np.int8), "b": np.array([1.5, 2.5], np.float32)})
        assert checked(frame).X.dtype == np.float32

    def test_a_frame_with_numbered_columns_is_unnamed(self) -> None:
        assert checked(pd.DataFrame(X)).features.names is None
        assert checked(pd.DataFrame(X, columns=["a", 1, 2])).features.names == ("a", "1", "2")

    @pytest.mark.parametrize(
        "table",
        [
            pd.DataFrame({"a": [1.0, None]}),
            pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
            pl.DataFrame({"a": [1, None]}),
            pa.table({"a": pa.array([1, None])}),
            pa.table({"a": pa.array([1.0, None])}),
            pa.table({"a": pa.array([True, None])}),
        ],
    )
    def test_missing_values_are_nan(self, table: Any) -> None:
        with pytest.raises(InputError, match="Row 1, column 'a' of X is NaN"):
            checked(table)
        assert np.isnan(checked(table, missing=True).X[1, 0])

    @pytest.mark.parametrize(
        "table",
        [
            pd.DataFrame({"a": pd.to_datetime(["1970-01-01", "1970-01-02"]), "b": [1, 2]}),
            pa.table({"a": [datetime.datetime(1970, 1, 1), datetime.datetime(1970, 1, 2)]}),
            pa.table({"a": [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2)]}),
        ],
    )
    def test_dates_are_seconds(self, table: Any) -> None:
        assert checked(table).X[:, 0].tolist() == [0.0, 86_400.0]

    @pytest.mark.parametrize(
        "table",
        [
            pd.DataFrame({"n": [1, 2], "city": ["Rome", "Oslo"]}),
            pl.DataFrame({"city": ["Rome", "Oslo"]}),
            pa.table({"city": ["Rome", "Oslo"]}),
            pd.DataFrame({"city": pd.Categorical(["Rome", "Oslo"])}),
        ],
    )
    def test_text_columns_are_categories(self, table: Any) -> None:
        batch = checked(table)
        place = batch.features.names.index("city")
        assert batch.X[:, place].tolist() == [0.0, 1.0]
        assert batch.categories.names == {place: ("Rome", "Oslo")}
        assert np.flatnonzero(batch.categorical).tolist() == [place]

    @pytest.mark.parametrize("dtype", ["float64", "int64"])
    def test_one_name_twice_is_refused(self, dtype: str) -> None:
        with pytest.raises(InputError, match="Two columns are called 'a'"):
            checked(pd.DataFrame(X.astype(dtype), columns=["a", "b", "a"]))

    def test_an_empty_table_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"0 sample\(s\)"):
            checked(pa.table({"a": pa.array([], pa.float64())}))
        with pytest.raises(InputError, match=r"0 feature\(s\)"):
            checked(pd.DataFrame(index=range(2)))

    def test_a_lazy_frame_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"LazyFrame, which holds no rows yet: call X\.collect"):
            checked(pl.DataFrame(X).lazy())

    def test_one_column_alone_is_refused(self) -> None:
        for column in (pa.array([1.0, 2.0]), pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0])):
            with pytest.raises(InputError, match="Expected 2D array"):
                checked(column)


class TestLabels:
    def test_codes_and_announced_classes(self) -> None:
        batch = check_batch(X, ["b", "a"], owner="Method", classes=["a", "z"])
        assert batch.codes.tolist() == [2, 0]
        assert batch.labels.labels == ("a", "z", "b")

    def test_no_labels(self) -> None:
        with pytest.raises(InputError, match="Method requires y to be passed, but the target y is None"):
            check_batch(X, None, owner="Method")
        assert check_batch(X, None, owner="Method", needs_y=False).codes.tolist() == [0, 0]

    def test_too_few_labels(self) -> None:
        with pytest.raises(InputError, match="X has 2 rows but y has 1 labels"):
            check_batch(X, [1], owner="Method")


class TestBatches:
    def test_a_batch_brings_its_names_labels_and_categories(self) -> None:
        batch = check_batch(Batch(X, Y, ("a", "b", "c"), np.array([True, False, False])), None, owner="Method")
        assert batch.features.names == ("a", "b", "c")
        assert batch.codes.tolist() == [0, 1]
        assert batch.categorical is not None
        assert batch.categorical.tolist() == [True, False, False]
        assert Batch(X, Y).n_rows == 2

    def test_categories_move_with_their_columns(self) -> None:
        known = checked(pd.DataFrame(X, columns=["a", "b", "c"])).features
        moved = check_batch(
            Batch(X, Y, ("c", "b", "a"), np.array([True, False, False])), None, owner="Method", features=known
        )
        assert moved.categorical.tolist() == [False, False, True]
        assert moved.X[0].tolist() == [3.0, 2.0, 1.0]


class TestLateFeatures:
    known = check_batch(pd.DataFrame(X, columns=["a", "b", "c"]), Y, owner="Method").features

    def test_absent_features_are_nan(self) -> None:
        batch = checked(pd.DataFrame({"d": [7.0, 8.0], "b": [2.0, 5.0]}), features=self.known, grow=True)
        assert batch.has_absent
        assert batch.features.names == ("a", "b", "c", "d")
        assert np.array_equal(batch.X[0], [np.nan, 2.0, np.nan, 7.0], equal_nan=True)

    @pytest.mark.parametrize("scan", [True, False])
    def test_a_value_that_is_nan_is_told_from_an_absent_one(self, scan: bool) -> None:
        with pytest.raises(InputError, match="Row 1, column 'b' of X is NaN"):
            checked(pd.DataFrame({"d": [7.0, 8.0], "b": [2.0, np.nan]}), features=self.known, grow=True, scan=scan)

    def test_absent_features_of_sparse_data_are_zero(self) -> None:
        unnamed = check_batch(X, Y, owner="Method").features
        batch = checked(csr_matrix(X[:, :2]), features=unnamed, grow=True)
        assert not batch.has_absent
        assert batch.X.toarray().tolist() == [[1.0, 2.0, 0.0], [4.0, 5.0, 0.0]]


class TestFiniteValues:
    def test_values_that_only_sum_to_infinity_are_fine(self) -> None:
        assert checked(np.full((2, 3), 1e308)).n_rows == 2

    def test_without_a_scan_nothing_is_looked_for(self) -> None:
        assert checked(np.full((2, 3), np.nan), scan=False).n_rows == 2

    def test_nan_may_be_allowed_but_infinity_never(self) -> None:
        matrix = np.array([[np.nan, 1.0], [2.0, -np.inf]])
        with pytest.raises(InputError, match="Row 1, column 'x1' of X is infinity"):
            checked(matrix, missing=True)

    def test_too_large_values_are_worded_here_too(self) -> None:
        with pytest.raises(
            InputError, match=r"Row 1 \(row 8 of the stream\), column 'x2' of X is too large \(1e\+200\)"
        ):
            refuse_value(checked(X, first_row=7), 1, 2, 1e200)

    def test_check_matrix_alone_gives_names_and_kind(self) -> None:
        matrix, names, sparse, _, kinds = check_matrix(pd.DataFrame(X, columns=["a", "b", "c"]), owner="Method")
        assert (names, sparse) == (("a", "b", "c"), False)
        assert kinds is not None
        assert not kinds.names
        assert np.array_equal(matrix, X)


class TestWeightAndTruth:
    def test_weights_come_with_the_batch(self) -> None:
        batch = checked(X, weight=[1, 2])
        assert batch.weight.tolist() == [1.0, 2.0]
        assert checked(X).weight is None

    @pytest.mark.parametrize(
        ("weight", "words"), [([1.0], "shape"), ([1, -1], "Row 1 has the weight -1"), ([np.nan, 1], "Row 0 has")]
    )
    def test_bad_weights_are_refused(self, weight: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            checked(X, weight=weight)

    def test_the_truth_moves_with_its_columns(self) -> None:
        known = checked(pd.DataFrame(X, columns=["a", "b", "c"])).features
        given = Batch(X, Y, ("c", "a", "b"), relevant=np.array([0, 1]))
        assert check_batch(given, None, owner="Method").truth.tolist() == [0, 1]
        assert sorted(check_batch(given, None, owner="Method", features=known).truth.tolist()) == [0, 2]
