"""What `python -m tests.fuzz` has found: a test for each."""

from __future__ import annotations

import io
import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.fuzz.seeds import corpus

from streamsift import FIRES, OFS, InputError, Joint, ReaderError, SavedStateError, Screener, catalog, open_stream
from streamsift.cli.errors import run
from streamsift.cli.main import cli
from streamsift.core.checksums import json_digest
from streamsift.core.column_data import NumberedNames
from streamsift.core.npy import HeaderError, read_array
from streamsift.report import comparison as comparison_page
from streamsift.report import trace_page
from streamsift.runs.trace import Trace, is_intact
from streamsift.streams import libsvm, open_columns

N_ROWS = 8
Y = np.arange(N_ROWS) % 2


def read(path: Path, data: bytes, target: str | None = "y") -> Any:
    path.write_bytes(data)
    return list(open_stream(path, target).batches(100))


def parquet_of_uneven_columns(path: Path) -> None:
    """Two row groups; the header of the second page of `b` says that it is of another type, so pyarrow skips it."""
    table = pa.table({"a": np.arange(16.0), "b": np.arange(16, dtype=np.int32), "y": ["u", "v"] * 8})
    pq.write_table(table, path, row_group_size=8, use_dictionary=False, compression="none", write_statistics=False)
    with pq.ParquetFile(path) as file:
        place = file.metadata.row_group(1).column(1).data_page_offset
    data = bytearray(path.read_bytes())
    assert data[place : place + 2] == b"\x15\x00"  # of Thrift: the first field, DATA_PAGE
    data[place + 1] = 2  # INDEX_PAGE
    path.write_bytes(data)


# -- readers ------------------------------------------------------------------------------------------------------


def test_a_bad_line_of_many_is_found_by_halving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    usual = libsvm._load

    def counting(block: bytes) -> Any:
        calls.append(len(block))
        return usual(block)

    monkeypatch.setattr(libsvm, "_load", counting)
    for place in (0, 1, 1234, 1998, 1999):
        lines = [b"1 1:1"] * 2000
        lines[place] = b"1 1:x"
        with pytest.raises(ReaderError, match=f"^Line {place + 1} of "):
            read(tmp_path / "a.libsvm", b"\n".join(lines), None)
    assert len(calls) < 5 * 16


def test_a_label_may_end_with_nul(tmp_path: Path) -> None:
    (batch,) = read(tmp_path / "a.csv", b"a,y\n1,u\n2,u\x00\n3,u\n")
    assert batch.y.tolist() == ["u", "u\x00", "u"]
    head = b"@relation r\n@attribute a real\n@attribute y string\n@data\n"
    (batch,) = read(tmp_path / "a.arff", head + b"{0 1, 1 u}\n{0 1, 1 u\x00}\n")
    assert batch.y.tolist() == ["u", "u\x00"]


def test_rows_that_one_column_lacks_are_not_lost_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "uneven.parquet"
    parquet_of_uneven_columns(path)
    with pytest.raises(ReaderError, match="row group 1 has 8 rows by its description, and 0 could be read"):
        list(open_stream(path, "y").batches(8))
    with pytest.raises(ReaderError, match="the file may be damaged or of another format: columns do not have the same"):
        list(open_stream(path, "y").batches(100))  # both row groups are read together


def test_columns_that_are_shorter_than_the_labels(tmp_path: Path) -> None:
    """Each column by itself can be read."""
    path = tmp_path / "uneven.parquet"
    parquet_of_uneven_columns(path)
    source = open_columns(path, "y").cut(1)
    with pytest.raises(
        ReaderError, match="is damaged: it has 16 rows by its description, and 8 could be read"
    ) as caught:
        list(source)
    assert "\n" not in str(caught.value)


def test_columns_that_memory_cannot_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wide.libsvm"
    path.write_text("1 1:1 4000:2\n0 2:1\n")

    def out_of_memory(*_: Any) -> None:
        raise MemoryError("Unable to allocate 305. MiB for an array")

    monkeypatch.setattr(sparse.csr_matrix, "tocsc", out_of_memory)
    with pytest.raises(ReaderError, match=r"wide\.libsvm asks for more memory than there is"):
        open_columns(path)


def test_ten_million_columns_without_names_take_no_names(tmp_path: Path) -> None:
    path = tmp_path / "wide.libsvm"
    path.write_text("1 1:1 10000000:2\n0 2:1\n")
    source = open_columns(path)
    assert len(source.names) == 10_000_000
    assert isinstance(source.names, NumberedNames)
    ((names, block),) = source
    assert names is source.names
    assert block.X.shape == (2, 10_000_000)


def test_a_name_may_not_hold_nul(tmp_path: Path) -> None:
    X = np.arange(2.0 * N_ROWS).reshape(N_ROWS, 2)
    for table in (pd.DataFrame(X, columns=["a", "a\x00"]), pl.DataFrame(X, schema=["a", "a\x00"])):
        with pytest.raises(InputError, match="name of column 1 holds a NUL character"):
            Screener().fit(table, Y)
    with pytest.raises(ReaderError, match="name of column 0 holds a NUL character"):
        read(tmp_path / "a.csv", b"a\x00,y\n1,u\n2,v\n")
    with pytest.raises(InputError, match="NUL character"):
        catalog.make("saola").begin(Y).offer(X[:, 0], "a\x00")


def test_a_header_that_a_carriage_return_ends(tmp_path: Path) -> None:
    for data in (b"a,y\r1,u\n2,v\n", b"a,y\r1,u\r2,v\r"):
        with pytest.raises(ReaderError, match="ends with a carriage return that no line feed follows"):
            read(tmp_path / "a.csv", data)
    (batch,) = read(tmp_path / "a.csv", b'"a\rb",y\r\n1,u\r\n2,v\r\n')
    assert batch.feature_names == ("a\rb",)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"a": 1, "y": 0}\n{"a": 2,\n "y": 1}\n', "Line 2 of .* is not JSON"),
        (b'{"a": 1, "y": 0}\n{"a": 3, "y": 0}{"a": 4, "y": 1}\n', "Line 2 of .* is not JSON"),
        (b'{"a": 2,\n "y": 1}\n{"a": 3, "y": 0}{"a": 4, "y": 1}\n', "Line 1 of .* is not JSON"),
        (b'{"a": 1, "y": 0}\n{"\xff": 1, "y": 0}\n', "Line 2 of .* is not UTF-8"),
        (b'{"\x80": 1, "y": 0}\n', "Line 1 of .* is not UTF-8"),
    ],
)
def test_json_lines_that_are_no_objects(tmp_path: Path, data: bytes, sentence: str) -> None:
    with pytest.raises(ReaderError, match=sentence):
        read(tmp_path / "a.jsonl", data)


def test_a_header_of_numpy_with_other_spaces() -> None:
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}\xa0".encode("latin-1")
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(8)
    with pytest.raises(HeaderError, match="no proper header"):
        read_array(io.BytesIO(data), len(data))
    with pytest.raises(HeaderError, match=r"not in the .npy format"):  # of version 1.8
        read_array(io.BytesIO(data[:7] + b"\x08" + data[8:]), len(data))


def test_a_page_that_claims_to_be_huge(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    data = corpus()[".parquet"][2]
    path.write_bytes(data[:11] + b"\xff\xff\xff\xff" + data[15:])  # the first page has 2,147,483,593 bytes
    pool = pa.default_memory_pool()
    before = pool.max_memory()
    with pytest.raises(ReaderError, match="cannot be read"):
        list(open_stream(path, "y").batches(10))
    assert pool.max_memory() < before + (64 << 20)


def test_an_npz_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, X=np.arange(40_000.0).reshape(-1, 2), y=np.arange(20_000) % 2)
    batches = open_stream(path).batches(100)
    next(batches)
    os.truncate(path, path.stat().st_size // 4)
    with pytest.raises(ReaderError, match=r"not a complete .npz file \(\w"):
        list(batches)


def test_names_of_columns_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    table = pa.table({"name of it": np.arange(4.0), "y": [0, 1, 0, 1]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"name of it", b"name \xccf it"))
    for opening in (open_columns, open_stream):
        with pytest.raises(ReaderError, match="cannot be read"):
            opening(path, "y")


# -- batches ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": np.arange(N_ROWS), "b": np.arange(N_ROWS)}),
        pd.DataFrame({"a": np.arange(N_ROWS), "b": np.arange(N_ROWS)}),
        pl.DataFrame({"a": np.arange(N_ROWS), "b": np.arange(N_ROWS)}),
    ],
    ids=["pyarrow", "pandas", "polars"],
)
def test_a_table_is_no_column(table: Any) -> None:
    selector = catalog.make("saola").begin(Y)
    with pytest.raises(InputError, match="A single column was expected, got a table of 2"):
        selector.offer(table)
    one = table.select(["a"]) if hasattr(table, "select") else table[["a"]]
    assert selector.offer(one, "a").statistic == catalog.make("saola").begin(Y).offer(np.arange(N_ROWS)).statistic


def test_columns_that_are_none() -> None:
    selector = catalog.make("saola").begin(Y)
    with pytest.raises(InputError, match="lists of different lengths"):
        selector.offer([[1], [1, 2]] * (N_ROWS // 2))
    assert selector.offer(np.arange(N_ROWS), 3).name == "3"
    assert selector.offer(pl.Series("a\x00", np.arange(N_ROWS)), "b").name == "b"


ARRAYS: dict[str, Callable[[], Any]] = {
    "coo places": lambda: _with(sparse.coo_array(Y * 1.0), coords=(np.array([0, 1, 2, 10**6]),)),
    "coo lengths": lambda: _with(sparse.coo_array(Y * 1.0), data=np.ones(2)),
    "csr places": lambda: _with(sparse.csr_array(Y * 1.0), indices=np.array([0, 1, 2, 10**6])),
    "csr starts": lambda: _with(sparse.csr_array(Y * 1.0), indptr=np.array([0, 10**6])),
    "csr deep": lambda: _with(sparse.csr_array(Y * 1.0), data=np.ones((4, 1))),
    "dok": lambda: sparse.dok_array(Y * 1.0),
    "complex": lambda: sparse.coo_array(Y * 1j),
}


def _with(array: Any, **parts: Any) -> Any:
    for name, part in parts.items():
        setattr(array, name, part)
    return array


@pytest.mark.parametrize("case", list(ARRAYS))
def test_sparse_arrays_of_one_dimension(case: str) -> None:
    with pytest.raises(InputError, match="sparse"):
        catalog.make("saola").begin(Y).offer(ARRAYS[case]())


def test_sound_sparse_arrays_of_one_dimension() -> None:
    wanted = catalog.make("saola").begin(Y).offer(Y * 2.0)
    half = _with(sparse.coo_array(Y * 2.0), data=np.full(N_ROWS // 2, 2.0, np.float16))
    for array in (sparse.coo_array(Y * 2.0), sparse.csr_array(Y * 2.0), half):
        assert catalog.make("saola").begin(Y).offer(array).statistic == wanted.statistic


def test_a_matrix_whose_data_has_two_dimensions() -> None:
    for kind in ("csr", "csc"):
        matrix = _with(getattr(sparse, f"{kind}_matrix")(np.ones((N_ROWS, 2))), data=np.ones((2 * N_ROWS, 1)))
        with pytest.raises(InputError, match="data of the sparse matrix has 2 dimensions"):
            OFS().partial_fit(matrix, Y)


def test_columns_with_more_values_than_places() -> None:
    X = np.arange(2.0 * N_ROWS).reshape(N_ROWS, 2) % 5
    matrix = sparse.csc_matrix(X)
    matrix = _with(matrix, data=np.append(matrix.data, 7.0))
    assert catalog.make("saola").fit(matrix, Y).selected_ == catalog.make("saola").fit(X, Y).selected_


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "u8", ">i4"])
@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo"])
def test_indices_of_any_type(kind: str, dtype: str) -> None:
    """scipy's compiled code takes two of them; what is damaged is named by the same words for all."""
    X = np.arange(2.0 * N_ROWS).reshape(N_ROWS, 2) % 5
    parts = ("row", "col") if kind == "coo" else ("indices", "indptr")

    def dressed(matrix: Any) -> Any:
        return _with(matrix, **{part: getattr(matrix, part).astype(dtype) for part in parts})

    matrix = dressed(getattr(sparse, f"{kind}_matrix")(X))
    if kind in ("csc", "bsr"):
        matrix = _with(matrix, data=np.concatenate([matrix.data, matrix.data[:1]]))  # more values than places
    np.testing.assert_array_equal(OFS().fit(matrix, Y).scores_, OFS().fit(sparse.csr_matrix(X), Y).scores_)
    assert catalog.make("saola").fit(matrix, Y).selected_ == catalog.make("saola").fit(X, Y).selected_
    twice = sparse.csr_matrix((np.ones(2), np.array([1, 1]), np.array([0] + [2] * N_ROWS)), (N_ROWS, 2))
    backwards = sparse.csr_matrix((np.ones(2), np.array([1, 0]), np.array([0] + [2] * N_ROWS)), (N_ROWS, 2))
    if kind == "csr":
        for damaged, words in ((twice, "two entries for column 1"), (backwards, "column indices out of order")):
            for use in (OFS(), catalog.make("saola")):
                with pytest.raises(InputError, match=words):
                    use.fit(dressed(damaged), Y)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, ">f8"])
@pytest.mark.parametrize("kind", ["coo", "csc", "csr"])
def test_numbers_that_scipy_does_not_convert(kind: str, dtype: Any) -> None:
    X = np.arange(2.0 * N_ROWS).reshape(N_ROWS, 2)
    matrix = getattr(sparse, f"{kind}_matrix")(X)
    given = OFS().partial_fit(_with(matrix, data=matrix.data.astype(dtype)), Y)
    np.testing.assert_array_equal(given.scores_, OFS().partial_fit(sparse.csr_matrix(X), Y).scores_)


@pytest.mark.parametrize("name", ["screen:t_score", "fires", "ofs", "efs", "abfs", "joint:ols"])
def test_rows_that_teach_nothing(name: str) -> None:
    """They are taken; who then asks is told what is missing, by the exception that scikit-learn has for it."""
    method = catalog.make(name)
    nothing: list[dict[str, Any]] = [{"y": [None] * N_ROWS}]
    if method.stream_tags().weights:
        nothing.append({"y": Y, "sample_weight": np.zeros(N_ROWS)})
    for given in nothing:
        method = catalog.make(name).partial_fit(np.ones((N_ROWS, 2)), **given)
        for ask in (lambda m: m.scores_, lambda m: m.selection(), lambda m: m.transform(np.ones((2, 2)))):
            with pytest.raises(
                NotFittedError, match=f"^{type(method).__name__} has not learnt anything yet: give it rows"
            ):
                ask(method)


def test_masked_arrays_of_other_things() -> None:
    X = np.ma.masked_array(np.array([["u", "1e+"], ["v", "w"]] * 4), [[False, True]] * N_ROWS)
    with pytest.raises(InputError, match="Row 0, column"):
        Screener().fit(np.ma.masked_array([[1, b"\xff"]] * N_ROWS, dtype=object), Y)
    assert Screener(missing="skip").fit(X, Y).n_rows_seen_ == N_ROWS
    complex_ = np.ma.masked_array(np.full((N_ROWS, 1), 1j))
    with pytest.raises((InputError, TypeError), match="1j"):
        Screener().fit(complex_, Y)


def test_bytes_and_whole_numbers_beyond_all_bounds() -> None:
    with pytest.raises(InputError, match=r"Row 1, column 0 of X is b'\\xff', which is not UTF-8"):
        Screener().fit(np.array([["a"], [b"\xff"]] * 4, object), Y)
    with pytest.raises(InputError, match="Column 'a' of X holds a whole number beyond 64 bits"):
        Screener().fit([{"a": 10**30 if k == 3 else k} for k in range(N_ROWS)], Y)


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]", "i8", "?", ">f8", "f2", "O"])
def test_columns_that_lie_one_after_the_other(dtype: str) -> None:
    X = np.arange(3 * N_ROWS).reshape(N_ROWS, 3) % 7
    turned = np.asfortranarray(X.astype(dtype))
    selectors = [Screener("chi2").partial_fit(array, Y) for array in (turned, np.ascontiguousarray(turned))]
    np.testing.assert_array_equal(selectors[0].scores_, selectors[1].scores_)


@pytest.mark.parametrize("weight", ["heavy", [[1], [1, 2]], [None, "a"], [10**400] * N_ROWS], ids=str)
def test_weights_that_are_no_numbers(weight: Any) -> None:
    with pytest.raises(InputError, match="sample_weight"):
        catalog.make("investing").begin(Y, sample_weight=weight)


# -- command lines ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    data = folder / "a.csv"
    data.write_text("a,b,y\n" + "".join(f"{k % 7},{k % 3},{k % 2}\n" for k in range(30)))
    arguments = [
        "select",
        str(data),
        "--target",
        "y",
        "--method",
        "screen:t_score",
        "--quiet",
        "-o",
        str(folder / "run"),
    ]
    assert run(cli, arguments) == 0
    return folder / "run" / "trace.parquet"


def test_a_damaged_trace_is_no_defect(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = finished.read_bytes()
    for place in range(4, len(data), max(len(data) // 60, 1)):
        (tmp_path / "trace.parquet").write_bytes(data[:place] + b"\xff" * 3 + data[place + 3 :])
        code = run(cli, ["report", str(tmp_path / "trace.parquet"), "-o", str(tmp_path / "report.html")])
        said = capsys.readouterr().err
        assert code in (0, 1), said
        assert said.count("\n") == code, said


def broken_page(*_: Any) -> str:
    raise KeyError("a defect of ours")


def test_a_defect_of_a_page_is_not_blamed_on_the_file(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_page, "trace_page", broken_page)
    ask = ["report", str(finished), "-o", str(tmp_path / "report.html")]
    assert run(cli, ask) == 3
    assert "This is a defect of streamsift" in capsys.readouterr().err
    with pq.ParquetFile(finished) as file:
        table, about = file.read(), file.metadata.metadata
    about = about | {b"streamsift": about[b"streamsift"].replace(b"screen:t_score", b"screen:fisher")}
    pq.write_table(table.replace_schema_metadata(about), tmp_path / "trace.parquet")
    assert run(cli, ["report", str(tmp_path / "trace.parquet"), "-o", str(tmp_path / "report.html")]) == 1
    assert "is damaged or was written by another version" in capsys.readouterr().err


def test_a_defect_of_the_page_of_a_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison_page, "comparison_report", broken_page)
    found: dict[str, Any] = {"entries": [], "target": "y"}
    path = tmp_path / "comparison.json"
    path.write_text(json.dumps({**found, "sha256": json_digest(found)}))
    ask = ["report", str(path), "-o", str(tmp_path / "report.html")]
    assert run(cli, ask) == 3
    assert "This is a defect of streamsift" in capsys.readouterr().err
    path.write_text(json.dumps({**found, "sha256": json_digest(found), "target": "z"}))
    assert run(cli, ask) == 1
    assert "is damaged or was written by another version" in capsys.readouterr().err


def test_a_trace_that_is_intact_holds_what_was_written(finished: Path, tmp_path: Path) -> None:
    data, path = finished.read_bytes(), tmp_path / "trace.parquet"
    assert is_intact(finished)
    wanted, n_changed = Trace.read(finished), 0
    for place in range(4, len(data), max(len(data) // 200, 1)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        if is_intact(path):  # some bytes of a description mean nothing
            found = Trace.read(path)
            assert found.table.equals(wanted.table)
            assert (found.run, found.names, found.result) == (wanted.run, wanted.names, wanted.result)
        else:
            n_changed += 1
    assert n_changed > 100


def test_a_comparison_that_lacks_something(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "comparison.json"
    for found in ({"entries": []}, {"entries": [{"name": 1}]}, {"entries": 3}, {"entries": None, "target": []}):
        path.write_text(json.dumps(found))
        assert run(cli, ["report", str(path), "-o", str(tmp_path / "report.html")]) == 1
        said = capsys.readouterr().err
        assert "is damaged or was written by another version" in said
        assert said.count("\n") == 1


def test_moments_of_fires_that_no_rows_can_have() -> None:
    X = np.random.default_rng(0).normal(size=(50, 4))
    selector = FIRES().fit(X, np.arange(50) % 2)
    for row in (0, 2):  # the weights and the second moments
        arrays = selector.state_arrays()
        arrays["state.moments"][row] *= -1.0
        with pytest.raises(SavedStateError, match="no rows can have"):
            FIRES().load_state_arrays(arrays)


@pytest.mark.parametrize("method", [Joint("ols", task="regression"), Screener("correlation", task="regression")])
def test_a_state_with_numbers_to_explain_has_no_labels(method: Any) -> None:
    X = np.random.default_rng(0).normal(size=(50, 4))
    arrays = method.fit(X, X[:, 0]).state_arrays()
    arrays["labels"] = np.array([0, 1, 2])
    with pytest.raises(SavedStateError, match="the target is a number"):
        clone(method).load_state_arrays(arrays)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("weight", 1e300, "more than so few rows can have"),
        ("squared_weight", 1e-320, "not those of so few rows"),
    ],
)
def test_weights_of_cross_moments_are_those_of_the_rows(name: str, value: float, words: str) -> None:
    """Their squares would overflow, or claim an infinite number of rows, of which a number is made."""
    X = np.random.default_rng(0).normal(size=(50, 4))
    arrays = Joint().fit(X, np.arange(50) % 2).state_arrays()
    key = f"state.cross.{name}"
    arrays[key] = np.full_like(arrays[key], value)
    with pytest.raises(SavedStateError, match=words):
        Joint(n_features_to_select=None).load_state_arrays(arrays).selection()


@pytest.mark.parametrize("criterion", ["t_score", "mutual_info"])
@pytest.mark.parametrize("value", [1e160, 1e300])
def test_weights_of_all_rows_that_are_too_large_to_be_squared(criterion: str, value: float) -> None:
    X = np.random.default_rng(0).normal(size=(50, 4))
    selector = Screener(criterion).fit(X, np.arange(50) % 2)
    arrays = selector.state_arrays()
    (key,) = (key for key in arrays if key.endswith("weight_sum"))
    arrays[key] = np.full_like(arrays[key], value)
    with pytest.raises(SavedStateError, match="not those of so few rows"):
        Screener(criterion).load_state_arrays(arrays)


@pytest.mark.parametrize("text", ['null\n{"a": 1, "y": 0}\n', ' null, "a": 1}\n{"a": 1, "y": 0}\n', "null"])
def test_json_that_begins_with_null(text: str, tmp_path: Path) -> None:
    """pyarrow ends the process by a signal over it."""
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(ReaderError, match=r"^Line 1 of .*rows\.jsonl is no") as caught:
        open_stream(path, "y")
    assert "\n" not in str(caught.value)


def test_a_parquet_file_whose_rows_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its description has rows, and its row groups have none."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": pa.array([None, "z"]), "y": [0, 1]}), path)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *_, **__: iter(()))
    monkeypatch.setattr("streamsift.streams.parquet.refuse_lost_rows", lambda *_: None)
    monkeypatch.setattr("streamsift.streams.parquet.needs_sample", lambda _: True)
    with pytest.raises(ReaderError, match="is damaged: it has 2 rows by its description, and none could be read"):
        open_stream(path, "y")
