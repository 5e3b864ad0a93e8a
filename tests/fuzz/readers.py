"""Damaged files of every format: each is read to its end as rows, and some as columns."""

from __future__ import annotations

import gzip
import io
import random
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from streamsift.core.batch import check_batch
from streamsift.streams import open_columns, open_stream
from tests.fuzz.corpus import files
from tests.fuzz.mutations import mutated

_corpus = cache(files)


def damaged(number: int, seed: int) -> tuple[str, bytes]:
    """The suffix and the bytes of an input."""
    rng = random.Random(f"{seed} {number}")
    suffix = rng.choice(list(_corpus()))
    good = rng.choice(_corpus()[suffix])
    if rng.random() < 0.6:
        if suffix == ".npz":
            return suffix, _inside_zip(good, rng)
        if suffix == ".csv.gz":
            return suffix, gzip.compress(mutated(gzip.decompress(good), rng, _corpus()[".csv"]), mtime=0)
        if suffix == ".csv.zst":
            return suffix, pa.compress(mutated(_corpus()[".csv"][0], rng), "zstd", asbytes=True)
    return suffix, mutated(good, rng, _corpus()[suffix])


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


def one(number: int, seed: int, folder: Path) -> str:
    """Read one damaged file; an accepted one must give batches that selectors take or refuse in a sentence."""
    suffix, data = damaged(number, seed)
    path = folder / f"input{suffix}"
    path.write_bytes(data)
    target = None if suffix in (".libsvm", ".npz") else "y"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if number % 5 == 0:
            source = open_columns(path, target)
            for names, block in source:
                assert len(names) == block.X.shape[1], "one name for each column"
                assert block.X.shape[0] == len(source.y), "one label for each row"
            return "columns accepted"
        n_rows = 0
        for batch in open_stream(path, target).batches(7):
            assert batch.n_rows == len(batch.y), "one label for each row"
            n_rows += batch.n_rows
            check_batch(batch, None, owner="the fuzzer", missing=True)
            if not isinstance(batch.X, np.ndarray):
                assert batch.X.shape[1] > batch.X.indices.max(initial=-1), "no column outside"
        assert n_rows > 0, "a stream without rows"
    return "rows accepted"
