"""Record batches of Arrow files are read whole, so one that is larger than memory is refused before it is read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from streamsift.core.exceptions import ReaderError
from streamsift.streams import ipc, open_stream


def write(path, n_rows, chunk):
    table = pa.table({"x": np.arange(float(n_rows)), "y": np.arange(n_rows) % 2})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=chunk)


def test_one_huge_record_batch_is_refused_and_small_ones_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(ipc, "available_bytes", lambda: 50_000)
    write(tmp_path / "one.arrow", 10_000, 10_000)
    with pytest.raises(
        ReaderError, match=r"record batches of about .* GB, each of which is read whole.*smaller record"
    ):
        open_stream(tmp_path / "one.arrow", "y")
    write(tmp_path / "many.arrow", 10_000, 500)
    assert sum(batch.n_rows for batch in open_stream(tmp_path / "many.arrow", "y").batches(999)) == 10_000


@pytest.mark.parametrize("available", [None, 1 << 40])
def test_enough_memory_or_nobody_who_knows(tmp_path, monkeypatch, available):
    monkeypatch.setattr(ipc, "available_bytes", lambda: available)
    write(tmp_path / "one.arrow", 1000, 1000)
    assert sum(batch.n_rows for batch in open_stream(tmp_path / "one.arrow", "y").batches(100)) == 1000
