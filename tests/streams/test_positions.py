"""Positions: a stream that is opened again at any of them gives the batches that would have followed."""

from __future__ import annotations

import copy
import gzip
import io
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamsift.core.exceptions import SavedStateError
from streamsift.streams import ReadLimits, open_stream
from streamsift.streams.identifiers import WatchedStream
from streamsift.streams.positions import Resumable, resumable

N_ROWS, BATCH = 230, 20
SMALL = ReadLimits(head_bytes=700, block_bytes=400, most_block_bytes=400)  # several blocks, and batches across them


def columns():
    """Numbers, and two columns of which new categories appear all the time; the second has a label now and then."""
    rng = np.random.default_rng(3)
    colour = [f"c{int(k)}" for k in rng.integers(0, 3 + np.arange(N_ROWS) // 10)]
    town = [f"town {int(k)}, north" for k in rng.integers(0, 2 + np.arange(N_ROWS) // 20)]
    label = ["" if k % 17 == 5 else "ab"[k % 2] for k in range(N_ROWS)]
    return {"x": rng.normal(size=N_ROWS).round(4).tolist(), "colour": colour, "town": town, "y": label}


def text(encoding="utf-8"):
    found = columns()
    rows = zip(*found.values(), strict=True)
    lines = [",".join(found), *(f'{x},{colour},"{town}",{label}' for x, colour, town, label in rows)]
    return "\n".join(lines).encode(encoding)


def table():
    found = columns()
    labels = [label or None for label in found["y"]]
    return pa.table({**found, "colour": pa.array(found["colour"]).dictionary_encode(), "y": labels})


def libsvm():
    rng = np.random.default_rng(0)
    rows = []
    for k in range(N_ROWS):
        places = np.unique(rng.integers(1, 5 + k, 4))
        rows.append(f"{k % 3} " + " ".join(f"{place}:{rng.normal():.3f}" for place in places) + "\n" * (1 + k % 2))
    return "".join(rows).encode()


def write(folder, kind):
    """A file of some kind, and the options it is read with."""
    path = folder / kind.partition(" ")[0]
    options = {"target": "y", "unlabelled": "skip"}
    if ".csv" in kind:
        encoding = "latin-1" if "latin" in kind else "utf-8-sig" if "mark" in kind else "utf-8"
        content, limits = text(encoding), {"limits": SMALL}
        if ".gz" in kind:
            content = gzip.compress(content)
        elif ".zst" in kind:
            content = pa.Codec("zstd").compress(content).to_pybytes()
        path.write_bytes(content)
        return path, options | limits | ({"encoding": "latin-1"} if "latin" in kind else {})
    if ".jsonl" in kind:
        path.write_text("".join(json.dumps(row) + "\n" for row in table().to_pylist()))
        return path, options
    if ".libsvm" in kind:
        path.write_bytes(libsvm())
        return path, {"limits": SMALL}
    if ".parquet" in kind:
        pq.write_table(table(), path, row_group_size=60 if "large" in kind else 7)
    elif "stream" in kind:
        with pa.ipc.new_stream(path, table().schema) as writer:
            writer.write_table(table(), max_chunksize=33)
    elif ".arrow" in kind:
        with pa.ipc.new_file(path, table().schema) as writer:
            writer.write_table(table(), max_chunksize=33)
    elif ".npz" in kind:
        np.savez(path, X=np.arange(2.0 * N_ROWS).reshape(-1, 2), y=np.arange(N_ROWS) % 2)
        return path, {}
    else:
        head = "@relation r\n@attribute x numeric\n@attribute colour string\n@attribute y {a,b}\n@data\n"
        found = columns()
        rows = zip(found["x"], found["colour"], found["y"], strict=True)
        path.write_text(head + "".join(f"{x},{colour},{label or 'a'}\n" for x, colour, label in rows))
        return path, {"target": "y", "limits": SMALL}
    return path, options


def seen(batch):
    """All there is to a batch."""
    X = batch.X if isinstance(batch.X, np.ndarray) else batch.X.toarray()
    kinds = None if batch.kinds is None else (dict(batch.kinds.names), batch.kinds.undecided)
    lines = None if batch.lines is None else batch.lines.tolist()
    return X.shape, X.tobytes(), np.asarray(batch.y).tolist(), batch.feature_names, kinds, lines


KINDS = [
    "a.csv", "b.csv.gz", "c.csv.zst", "d.csv latin", "e.csv mark", "f.jsonl", "g.libsvm", "h.parquet",
    "i.parquet large", "j.arrow", "k.arrow stream", "l.arff", "m.npz",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.ReadingNotice")
@pytest.mark.parametrize("kind", KINDS)
def test_any_position_of_any_format(kind, tmp_path):
    path, options = write(tmp_path, kind)
    stream = WatchedStream(open_stream(path, **options))
    assert isinstance(stream, Resumable)
    batches, positions = [], []
    for batch in stream.batches(BATCH):
        batches.append(seen(batch))
        positions.append(json.loads(json.dumps(stream.position())))
    whole = stream.categories
    assert len(batches) > 5
    for k, position in enumerate(positions, start=1):
        again = WatchedStream(open_stream(path, **options))
        again.seek(position)
        following = list(again.batches(BATCH))
        assert [seen(batch) for batch in following] == batches[k:]
        assert again.categories == whole
        assert again.position() == positions[-1]
        assert again._watch.as_dict() == stream._watch.as_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_a_reading_after_that_begins_at_the_beginning(kind, tmp_path):
    path, options = write(tmp_path, kind)
    stream = WatchedStream(open_stream(path, **options))
    batches = stream.batches(BATCH)
    first, _ = next(batches), next(batches)
    stream.seek(stream.position())
    next(stream.batches(BATCH))
    assert seen(next(stream.batches(BATCH)))[1:3] == seen(first)[1:3]


def test_the_notice_of_skipped_rows_counts_all_of_them(tmp_path):
    path, options = write(tmp_path, "a.csv")
    stream = open_stream(path, **options)
    batches = stream.batches(BATCH)
    for _ in range(8):
        next(batches)
    again = open_stream(path, **options)
    again.seek(stream.position())
    with pytest.warns(UserWarning, match="14 rows without a label were skipped"):
        list(again.batches(BATCH))


@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.ReadingNotice")
def test_a_pipe_that_is_replayed(monkeypatch):
    def standard_input():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text())))
        return open_stream("-", target="y", limits=SMALL, unlabelled="skip")

    stream = standard_input()
    batches, positions = [], []
    for batch in stream.batches(BATCH):
        batches.append(seen(batch))
        positions.append(stream.position())
    for k, position in enumerate(positions, start=1):
        assert [seen(batch) for batch in go_on(standard_input(), position)] == batches[k:]


def test_streams_that_are_no_files_count_their_rows():
    pairs = [(np.full((3, 2), float(k)), [0, 1, 0]) for k in range(4)]
    stream = resumable(open_stream(iter(pairs)))
    batches = stream.batches(5)
    next(batches)
    again = resumable(open_stream(iter(pairs)))
    again.seek(stream.position())
    assert [seen(batch) for batch in again.batches(5)] == [seen(batch) for batch in batches]


def test_a_source_that_ends_before_the_position():
    stream = resumable(open_stream((np.zeros((3, 2)), [0, 1, 0])))
    stream.seek({"rows": 5})
    with pytest.raises(SavedStateError, match="ends 2 rows before"):
        list(stream.batches(2))


FORGED = [
    {"rows": -1}, {"rows": 1.5}, {"rows": True}, {"rows": None}, {"rows": 2**60}, {"first_row": 10**9}, {"block": []},
    {"block": {}}, {"block": {"offset": -1}}, {"block": {"offset": 3, "read_to": 2, "line": 1}},
    {"block": {"offset": 3, "read_to": 2**61, "line": 1}}, {"block": {"offset": 0, "read_to": 5, "line": 0}},
    {"skipped": "x"}, {"categories": None}, {"categories": {"colour": []}}, {"categories": {"colour": [1], "town": []}},
    {"categories": {"colour": ["a", "a"], "town": []}}, {"categories": {"colour": "ab", "town": []}},
]  # fmt: skip


def go_on(stream, position):
    stream.seek(position)
    return list(stream.batches(BATCH))


@pytest.mark.parametrize("changes", FORGED, ids=str)
def test_forged_positions_are_refused(changes, tmp_path):
    path, options = write(tmp_path, "a.csv")
    stream = open_stream(path, **options)
    batches = stream.batches(BATCH)
    for _ in range(4):
        next(batches)
    position = copy.deepcopy(stream.position()) | changes
    with pytest.raises(SavedStateError, match="damaged"):
        go_on(stream, position)


@pytest.mark.parametrize(
    "watch",
    [None, {}, {"rows": 3, "suspects": [1], "last": []}, {"rows": 3, "suspects": [-1], "last": [0]}, {"rows": "3"}],
)
def test_forged_watches_are_refused(watch, tmp_path):
    path, options = write(tmp_path, "m.npz")
    stream = WatchedStream(open_stream(path, **options))
    with pytest.raises(SavedStateError, match="damaged"):
        stream.seek({"stream": {"rows": 20}, "watch": watch})
