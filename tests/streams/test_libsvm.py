"""LIBSVM files: the same matrix as scikit-learn loads at once, for every batch size."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from tests.streams.drain import drain

from streamsift.core.exceptions import ParameterError, ReaderError
from streamsift.streams import libsvm
from streamsift.streams.files import ByteSource, ReadLimits
from streamsift.streams.libsvm import LibsvmStream


def read(path: Path, target: str | None = None, **options: Any) -> LibsvmStream:
    """The stream of a file, in blocks so small that small files have many."""
    return LibsvmStream(ByteSource(path), target, limits=ReadLimits(block_bytes=200), **options)


def random_file(path: Path, *, zero_based: bool, seed: int = 0) -> Path:
    X = sparse.random(80, 40, 0.1, format="csr", random_state=seed)
    dump_svmlight_file(X, np.random.default_rng(seed).integers(-1, 3, 80), str(path), zero_based=zero_based)
    return path


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("size", [1, 7, 80, 1000])
def test_agrees_with_scikit_learn(tmp_path: Path, zero_based: bool, size: int) -> None:
    path = random_file(tmp_path / "a.libsvm", zero_based=zero_based)
    X, y = drain(read(path, n_features=40, zero_based=zero_based), size)
    expected, labels = load_svmlight_file(str(path), n_features=40, zero_based=zero_based)
    np.testing.assert_array_equal(X, expected.toarray())
    assert y == labels.tolist()
    assert {type(label) for label in y} == {int}


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 100))
def test_the_width_follows_the_rows_not_the_blocks(
    tmp_path_factory: pytest.TempPathFactory, seed: int, size: int
) -> None:
    path = random_file(tmp_path_factory.mktemp("svm") / "a.svm", zero_based=False, seed=seed)
    whole = load_svmlight_file(str(path), zero_based=False)[0]
    done = 0
    for batch in read(path).batches(size):
        done += batch.n_rows
        assert batch.X.shape[1] == whole[:done].indices.max(initial=0) + 1
    assert done == 80


def test_the_first_block_decides_where_indices_begin(tmp_path: Path) -> None:
    path = tmp_path / "a.svmlight"
    path.write_text("1 0:5 2:1\n-1 1:1\n" + "1 1:1 2:1\n" * 100)
    assert drain(read(path), 10)[0][0].tolist() == [5, 0, 1]
    path.write_text("1 1:5 2:1\n-1 1:1\n")
    assert drain(read(path), 10)[0][0].tolist() == [5, 1]
    assert drain(read(path, zero_based=True), 10)[0][0].tolist() == [0, 5, 1]


def test_an_index_0_that_comes_late(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("# a comment\n\n" + "1 1:1 2:1\n" * 100 + "-1\n-1 0:3 1:1\n")
    with pytest.raises(ReaderError) as raised:
        drain(read(path), 10)
    assert str(raised.value) == (
        f"Line 104 of {path} has feature index 0, but the indices before it begin at 1: pass zero_based=True."
    )
    X, _ = drain(read(path, zero_based=True), 10)
    assert X[-1].tolist() == [3, 1, 0]


def test_comments_query_ids_and_rows_without_features(tmp_path: Path) -> None:
    path = tmp_path / "a.svm.gz"
    comments = b"# nothing but a comment\n" * 50  # more than a block
    path.write_bytes(gzip.compress(b"# header\n1.5 qid:3 1:2 # note\r\n\n2\n" + comments + b"3 2:0.25"))
    stream = read(path, target="grade")
    X, y = drain(stream, 2)
    assert X.tolist() == [[2, 0], [0, 0], [0, 0.25]]
    assert y == [1.5, 2, 3]
    assert (stream.feature_names, stream.target_name, stream.categories) == (None, "grade", {})


def test_labels_that_are_no_whole_numbers_stay_real(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("1e300 1:1\n-1 1:1\n0.5 1:1\n")
    assert drain(read(path), 1)[1] == [1e300, -1, 0.5]


def test_batches_are_views_of_nothing(tmp_path: Path) -> None:
    path = random_file(tmp_path / "a.svm", zero_based=False)
    stream = read(path)
    before = next(stream.batches(5)).X
    copy = before.copy()
    drain(stream, 5)
    assert (before != copy).nnz == 0


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 3:1 2:1", "sorted and unique"),
        ("1 3:one", "could not convert"),
        ("spam 1:1", "could not convert"),
        ("1,2 1:1", "could not convert"),
        ("1 3", "need more than 1 value"),
        ("1 -2:1", "Invalid index"),
        ("1 99999999999:1", "too large"),
    ],
)
def test_a_bad_line(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "a.svm"
    path.write_text("1 1:1 2:1\n" * 100 + line + "\n")
    with pytest.raises(ReaderError, match=rf"^Line 101 of .* is not of the form 'label index:value .*{reason}"):
        drain(read(path))


def test_other_refusals(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("1 1:1 2:1\n" * 100 + "1 7:1\n")
    with pytest.raises(ReaderError, match=r"^Line 101 of .* has feature index 7, but n_features is 6"):
        drain(read(path, n_features=6))
    path.write_text("1 1:1\n# nothing\nnan 1:1\n")
    with pytest.raises(ReaderError, match=r"^Line 3 of .* has no label"):
        drain(read(path))
    path.write_text("# nothing\n\n")
    with pytest.raises(ReaderError, match="no rows"):
        read(path)
    with pytest.raises(ParameterError, match="'n_features' parameter of open_stream must be an int"):
        read(path, n_features=0)


def test_the_largest_index_is_read_and_the_next_one_refused() -> None:
    X, y = libsvm._load(b"1 %d:2.5\n" % libsvm.MOST_INDEX)
    assert (X.indices.tolist(), X.data.tolist(), y.tolist()) == ([libsvm.MOST_INDEX], [2.5], [1.0])
    with pytest.raises(ValueError, match="feature indices go from 0 to 2147483646"):
        libsvm._load(b"1 %d:2.5\n" % (libsvm.MOST_INDEX + 1))
