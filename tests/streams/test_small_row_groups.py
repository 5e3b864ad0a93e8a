"""Parquet of many small row groups: they are read together, and positions stay right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamsift.core.exceptions import ReaderError
from streamsift.streams.parquet import ParquetStream, _runs

N_ROWS = 60


class Groups:
    """Stands for the metadata of a file: how many rows each row group has."""

    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes

    def row_group(self, k: int) -> Any:
        return type("Group", (), {"num_rows": self.sizes[k]})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Row groups of 1, 2, 0, 30, 1, 1, ... rows."""
    rng = np.random.default_rng(0)
    table = pa.table({
        "a": np.arange(float(N_ROWS)), "kind": rng.choice(["red", "green", "blue"], N_ROWS), "y": np.arange(N_ROWS) % 2
    })  # fmt: skip
    with pq.ParquetWriter(tmp_path / "rows.parquet", table.schema) as writer:
        done = 0
        for n_rows in (1, 2, 0, 30, *[1] * (N_ROWS - 33)):
            writer.write_table(table.slice(done, n_rows))
            done += n_rows
    return tmp_path / "rows.parquet"


def values(stream: ParquetStream, size: int) -> list[list[float]]:
    return [batch.X[:, 0].tolist() for batch in stream.batches(size)]


@pytest.mark.parametrize(
    ("sizes", "groups", "n_rows", "runs"),
    [
        ((1, 1, 1, 1), range(4), 2, [(range(2), 2), (range(2, 4), 2)]),
        ((1, 5, 1, 1), range(4), 3, [(range(1), 1), (range(1, 2), 5), (range(2, 4), 2)]),
        ((9, 9), range(2), 3, [(range(1), 9), (range(1, 2), 9)]),
        ((0, 0, 1, 0), range(4), 1, [(range(4), 1)]),
        ((9, 1, 1, 9), range(1, 3), 9, [(range(1, 3), 2)]),
        ((1,), range(1, 1), 9, []),
    ],
)
def test_neighbours_that_fit_into_a_block_are_read_together(
    sizes: tuple[int, ...], groups: range, n_rows: int, runs: list[tuple[range, int]]
) -> None:
    assert list(_runs(Groups(*sizes), groups, n_rows)) == runs


@pytest.mark.parametrize("size", [1, 4, 7, 100])
def test_rows_are_the_same_and_a_reader_is_made_for_every_block_only(path: Path, size: int, monkeypatch: Any) -> None:
    made = []
    reader = pq.ParquetFile.iter_batches
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *a, **k: made.append(k) or reader(*a, **k))
    found = values(ParquetStream(path, "y"), size)
    assert [value for batch in found for value in batch] == list(range(N_ROWS))
    assert len(made) <= N_ROWS // size + 5  # one for the first row, and a few around the large row group


@pytest.mark.parametrize("size", [1, 4, 7])
def test_another_process_goes_on_at_any_batch(path: Path, size: int) -> None:
    stream, given = ParquetStream(path, "y"), []
    expected = values(ParquetStream(path, "y"), size)
    for batch in stream.batches(size):
        given.append(batch.X[:, 0].tolist())
        again = ParquetStream(path, "y")
        again.seek(stream.position())
        assert given + values(again, size) == expected


def test_a_position_within_row_groups_that_are_now_read_together_is_taken(path: Path) -> None:
    """As releases before wrote it, which read each row group for itself."""
    stream = ParquetStream(path, "y")
    names = sorted({"red", "green", "blue"})
    stream.seek({"rows": 35, "block": {"group": 5, "block": 0, "row": 34}, "first_row": 34, "skipped": 0,
                 "categories": {"kind": names}})  # fmt: skip
    assert [value for batch in values(stream, 10) for value in batch] == list(range(35, N_ROWS))


def test_some_row_groups_of_a_file_go_on_at_any_batch(path: Path) -> None:
    stream = ParquetStream(path, "y", row_groups=range(4, 20))
    batches = stream.batches(5)
    first = next(batches).X[:, 0].tolist()
    again = ParquetStream(path, "y", row_groups=range(4, 20))
    again.seek(stream.position())
    rest = values(again, 5)
    assert first + [value for batch in rest for value in batch] == list(range(33, 49))


def test_rows_of_the_next_row_group_do_not_take_the_place_of_lost_ones(path: Path) -> None:
    stream = ParquetStream(path, "y")
    rows = [pa.record_batch({"a": [1.0] * n}) for n in (2, 3)]
    assert list(stream._without_loss(iter(rows), range(3, 5), 5)) == rows
    for claimed in (4, 6):
        words = f"damaged: row groups 3 to 4 have {claimed} rows by its description, and 5 could be read"
        with pytest.raises(ReaderError, match=words):  # before the first block is given
            next(stream._without_loss(iter(rows), range(3, 5), claimed))
