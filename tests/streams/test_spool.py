"""A spool gives back what was read: the same rows, bit for bit, cut in any way, and it leaves nothing behind."""

from __future__ import annotations

import gc
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from streamsift.core.batch import Batch
from streamsift.streams import generate, open_stream
from streamsift.streams.spool import Spool, SpoolWriter

SIZES = (1, 7, 100, 1024, 10**9)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where spools go."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def spooled(stream: Any, size: int = 64, *, widens: bool = False) -> Spool:
    with SpoolWriter(widens=widens) as writer:
        for _ in writer.reading(stream).batches(size):
            pass
    return writer.spool


def same(one: Any, other: Any) -> None:
    """The same batches."""
    for size in SIZES:
        for ours, theirs in zip(one.batches(size), other.batches(size), strict=True):
            assert ours.X.shape == theirs.X.shape
            assert ours.X.dtype == theirs.X.dtype
            if sparse.issparse(ours.X):
                parts = [(batch.X.indptr, batch.X.indices, batch.X.data) for batch in (ours, theirs)]
                assert all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(*parts, strict=True))
            else:
                assert ours.X.tobytes() == theirs.X.tobytes()
            labels = [(np.asarray(batch.y).dtype.kind, np.asarray(batch.y).tolist()) for batch in (ours, theirs)]
            assert labels[0] == labels[1]
            assert [type(label) for label in labels[0][1]] == [type(label) for label in labels[1][1]]
            assert ours.feature_names == theirs.feature_names
            assert np.array_equal(ours.categorical, theirs.categorical)
    assert one.feature_names == other.feature_names
    assert one.target_name == other.target_name
    assert one.categories == other.categories


def csv_file(path: Path) -> Path:
    rng = np.random.default_rng(0)
    answers = ["no", "yes", '"perhaps, or not"']
    rows = [
        f"{rng.normal():.17g},{rng.choice(['red', 'green', ''])},{rng.choice(['', '5', '-0.0', '1e300'])},"
        f"{answers[rng.integers(3)]}"
        for _ in range(300)
    ]
    path.write_text("\n".join(["size,colour,weight,answer", *rows]) + "\n")
    return path


def test_text_and_missing_values_of_a_csv_file_come_back(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "people.csv")
    stream = open_stream(path, "answer")
    spool = spooled(stream)
    assert any(np.isnan(batch.X).any() for batch in spool.batches(100))
    assert sorted(spool.categories["colour"]) == ["green", "red"]
    same(spool, stream)
    assert spool.n_rows == 300


def test_categories_come_back_by_name(tmp_path: Path) -> None:
    stream = open_stream(csv_file(tmp_path / "people.csv"), "answer")
    for ours, theirs in zip(spooled(stream).batches(50), stream.batches(50), strict=True):
        assert ours.kinds is not None
        assert theirs.kinds is not None
        given, kept = ours.kinds.names[1], theirs.kinds.names[1]
        assert given[: len(kept)] == kept  # the reader has met these so far; the spool knows all of them
        assert ours.kinds.undecided == theirs.kinds.undecided
    assert all(batch.kinds is None for batch in spooled(generate("sea", n_rows=100)).batches(50))


def test_sparse_rows_widen_as_those_of_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lines = []
    for row in range(300):
        indices = sorted(set(rng.integers(1, 5 + row, size=rng.integers(0, 4)).tolist()))
        lines.append(" ".join([str(row % 3), *(f"{index}:{rng.normal():.17g}" for index in indices)]))
    path = tmp_path / "rows.svm"
    path.write_text("\n".join(lines) + "\n")
    stream = open_stream(path)
    spool = spooled(stream, widens=True)
    assert len({batch.X.shape[1] for batch in spool.batches(10)}) > 5
    same(spool, stream)


@pytest.mark.parametrize(
    "labels",
    [
        np.arange(50) % 3,
        (np.arange(50) % 3).astype(np.uint8),
        np.arange(50) % 2 == 1,
        np.linspace(0, 1, 50),
        np.array(["no", "yes, of course"])[np.arange(50) % 2],
        np.array([b"no", b"yes"])[np.arange(50) % 2],
        np.array([1, "one", 1.0, True, "two"] * 10, object),
        np.arange(50).astype("datetime64[ns]"),
    ],
    ids=lambda labels: labels.dtype.str,
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_labels_of_any_kind_come_back(labels: Any, form: Any) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    batches = [Batch(form(X[k : k + 10]), labels[k : k + 10]) for k in range(0, 50, 10)]
    with SpoolWriter() as writer:
        for batch in batches:
            writer.add(batch)
    found = list(writer.spool.batches(10))
    for ours, theirs in zip(found, batches, strict=True):
        assert ours.y.dtype.kind == theirs.y.dtype.kind
        assert ours.y.tolist() == theirs.y.tolist()
        assert [type(label) for label in ours.y.tolist()] == [type(label) for label in theirs.y.tolist()]
        assert (ours.X != theirs.X).sum() == 0


def test_batches_of_another_form_begin_another_file(folder: Path) -> None:
    parts = [np.float32, np.float64, np.float32]
    with SpoolWriter() as writer:
        for number, dtype in enumerate(parts):
            writer.add(Batch(np.full((4, 2), number, dtype), ["a", "b"] * 2 if number else [1, 2, 1, 2]))
    assert len(list(folder.rglob("*.arrow"))) == 3
    found = list(writer.spool.batches(4))
    assert [batch.X.dtype for batch in found] == [np.dtype(dtype) for dtype in parts]
    assert [batch.X[0, 0] for batch in found] == [0, 1, 2]
    assert [batch.y.tolist() for batch in found] == [[1, 2, 1, 2], ["a", "b"] * 2, ["a", "b"] * 2]


def test_the_files_go_with_the_object_and_not_with_copies_in_other_processes(folder: Path) -> None:
    spool = spooled(open_stream((np.zeros((10, 2)), np.arange(10) % 2)))
    assert len(list(folder.iterdir())) == 1
    copy = pickle.loads(pickle.dumps(spool))
    copy.remove()
    same(copy, spool)
    del copy
    gc.collect()
    assert len(list(folder.iterdir())) == 1
    spool.remove()
    assert list(folder.iterdir()) == []
    spool.remove()
    again = spooled(open_stream((np.zeros((10, 2)), np.arange(10) % 2)))
    del again
    gc.collect()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_on_the_way_leaves_nothing(folder: Path, error: type[BaseException]) -> None:
    def write() -> None:
        with SpoolWriter() as writer:
            writer.add(Batch(np.zeros((4, 2)), [0, 1, 0, 1]))
            assert len(list(folder.rglob("*.arrow"))) == 1
            raise error

    with pytest.raises(error):
        write()
    assert list(folder.iterdir()) == []


def test_it_tells_how_far_it_has_been_read() -> None:
    spool = spooled(open_stream((np.zeros((100, 2)), np.arange(100) % 2)), 50)
    reading = spool.batches(50)
    next(reading)
    assert spool.progress() == 0.5
    next(reading)
    assert spool.progress() == 1.0
