"""Damaged files of every format: each is read to its end, as rows or as columns.

What is accepted is compared with what a reference parser reads from the same bytes (reference.py).
"""

from __future__ import annotations

import gzip
import io
import random
import warnings
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import sklearn

from streamsift.core.batch import check_batch
from streamsift.streams import open_columns, open_stream
from tests.fuzz import reference
from tests.fuzz.forked import Make, Use
from tests.fuzz.mutations import mutated
from tests.fuzz.seeds import corpus
from tests.fuzz.tally import ACCEPTED, COMPARED

NEEDS_NO_TARGET = (".libsvm", ".npz")


def maker(kinds: Sequence[str] | None = None) -> Make:
    """Inputs of some formats, by suffix; None: of all."""
    pa.set_cpu_count(1)  # a file of a few kilobytes is not worth a thread
    pa.set_io_thread_count(1)
    sklearn.set_config(skip_parameter_validation=True)  # of its own parameters, which are the same every time
    return partial(_make, list(kinds or corpus()))


def make(number: int, seed: int) -> tuple[str, Use]:
    """An input of any format."""
    return _make(list(corpus()), number, seed)


def _make(suffixes: list[str], number: int, seed: int) -> tuple[str, Use]:
    suffix, data = damaged(number, seed, suffixes)
    return suffix, partial(read, suffix, data, number % 5 == 0)


def damaged(number: int, seed: int, suffixes: Sequence[str]) -> tuple[str, bytes]:
    """The suffix and the bytes of an input."""
    rng = random.Random(f"{seed} {number}")
    suffix = rng.choice(suffixes)
    good = rng.choice(corpus()[suffix])
    if rng.random() < 0.6:
        if suffix == ".npz":
            return suffix, _inside_zip(good, rng)
        if suffix == ".csv.gz":
            return suffix, gzip.compress(mutated(gzip.decompress(good), rng, corpus()[".csv"]), 1, mtime=0)
        if suffix == ".csv.zst":
            return suffix, pa.compress(mutated(corpus()[".csv"][0], rng), "zstd", asbytes=True)
    return suffix, mutated(good, rng, corpus()[suffix])


def _inside_zip(good: bytes, rng: random.Random) -> bytes:
    """Damage to one member, with a directory and a checksum that fit it."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as old, zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        hit = rng.choice(names)
        for name in names:
            data = old.read(name)
            new.writestr(name, mutated(data, rng, [old.read(other) for other in names]) if name == hit else data)
    return result.getvalue()


def read(suffix: str, data: bytes, as_columns: bool, folder: Path) -> str:
    """Read one file; an accepted one must give batches that selectors take or refuse in a sentence."""
    path = folder / f"input{suffix}"
    path.write_bytes(data)
    target = None if suffix in NEEDS_NO_TARGET else "y"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if as_columns:
            return _read_columns(path, target)
        stream, batches, n_rows = open_stream(path, target), [], 0
        for batch in stream.batches(10):
            assert batch.n_rows == len(batch.y), "one label for each row"
            n_rows += batch.n_rows
            check_batch(batch, None, owner="the fuzzer", missing=True)
            if not isinstance(batch.X, np.ndarray):
                assert batch.X.shape[1] > batch.X.indices.max(initial=-1), "no column outside"
            batches.append(batch)
        assert n_rows > 0, "a stream without rows"
        return COMPARED if reference.compare(suffix, path, stream, batches) else ACCEPTED


def _read_columns(path: Path, target: str | None) -> str:
    source = open_columns(path, target)
    for names, block in source:
        assert len(names) == block.X.shape[1], "one name for each column"
        assert block.X.shape[0] == len(source.y), "one label for each row"
    return ACCEPTED
