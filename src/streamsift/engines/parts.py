"""Parts of a table: files, ranges of row groups of a Parquet file, blocks of rows of an array."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from streamsift.core.batch import Batch
from streamsift.core.categories import ColumnKinds
from streamsift.core.exceptions import ReaderError
from streamsift.streams.files import READ_LIMITS
from streamsift.streams.open import FORMATS, open_stream, settled
from streamsift.streams.stream import PassedOn, RowStream

PARTS_PER_JOB = 4  # so that a slow part does not keep the others waiting


@dataclass(frozen=True)
class FilePart:
    """A file, or some of its row groups (first, and one behind the last)."""

    path: str
    row_groups: tuple[int, int] | None = None

    def __str__(self) -> str:
        if self.row_groups is None:
            return self.path
        return f"{self.path}, row groups {self.row_groups[0]} to {self.row_groups[1] - 1}"

    @property
    def has_no_width(self) -> bool:
        """Whether it has sparse rows that may be narrower than those of other parts."""
        is_libsvm = any(FORMATS.get(suffix.lower()) is FORMATS[".svm"] for suffix in Path(self.path).suffixes[-2:])
        return is_libsvm or self.declared_width() is not None

    def declared_width(self) -> int | None:
        """How many features the sparse rows of a Parquet file have; None for all others."""
        if Path(self.path).suffix.lower() != ".parquet":
            return None
        from streamsift.streams.sparse_parquet import sparse_width

        return sparse_width(Path(self.path))

    def open(self, target: str | None, reading: dict[str, Any]) -> RowStream:
        """The rows of the part."""
        if self.row_groups is None:
            return open_stream(self.path, target, **reading)
        from streamsift.streams.parquet import open_parquet

        given = {name: reading[name] for name in ("categorical", "ignore", "n_features", "limits") if name in reading}
        if isinstance(limits := given.get("limits"), Mapping):
            given["limits"] = READ_LIMITS.changed(limits)
        stream = open_parquet(Path(self.path), target, row_groups=range(*self.row_groups), **given)
        return settled(stream, reading.get("unlabelled", "error"), reading.get("task", "auto"))


def is_files(source: Any) -> bool:
    """Whether a source is a path, a pattern, a folder, or a list of paths.

    >>> is_files("data/"), is_files(["a.csv", "b.csv"]), is_files([[0.0]])
    (True, True, False)
    """
    if isinstance(source, list):
        return all(isinstance(path, str | os.PathLike) for path in source)
    return isinstance(source, str | os.PathLike)


def is_pattern(source: Any) -> bool:
    """Whether a source stands for several files: a folder, or a pattern such as data/*.parquet.

    >>> is_pattern("data/*.parquet"), is_pattern("people.csv")
    (True, False)
    """
    if not isinstance(source, str | os.PathLike):
        return False
    return Path(source).is_dir() or (glob.has_magic(str(source)) and not Path(source).exists())


def find_parts(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], jobs: int) -> list[FilePart]:
    """The parts of a file, a folder, a pattern or a list of files, in the order of their names.

    A Parquet file of several row groups is cut, where there are fewer files than the jobs can use.
    """
    paths = _files_in(source) if isinstance(source, str | os.PathLike) else [str(path) for path in source]
    if not paths:
        raise ReaderError(f"There are no files to read in {source!r}: check the pattern or the folder.")
    wanted = -(-PARTS_PER_JOB * jobs // len(paths))
    return [part for path in paths for part in _cut(path, wanted)]


def _files_in(source: str | os.PathLike[str]) -> list[str]:
    if Path(source).is_dir():
        found = [path for path in Path(source).rglob("*") if path.is_file() and _is_data(path)]
        return sorted(str(path) for path in found)
    if is_pattern(source):
        return sorted(path for path in glob.glob(str(source), recursive=True) if Path(path).is_file())
    return [str(source)]


def _is_data(path: Path) -> bool:
    """Whether a file in a folder is one of its parts; engines leave others beside them (_SUCCESS, .crc)."""
    return path.name[0] not in "._" and any(suffix.lower() in FORMATS for suffix in path.suffixes[-2:])


def _cut(path: str, wanted: int) -> list[FilePart]:
    if wanted <= 1 or Path(path).suffix.lower() != ".parquet" or not Path(path).is_file():
        return [FilePart(path)]
    import pyarrow.parquet as pq

    from streamsift.streams.files import reading

    with reading(path), pq.ParquetFile(path) as file:
        n_groups = file.metadata.num_row_groups
    if n_groups < 2:
        return [FilePart(path)]
    count = min(wanted, n_groups)
    borders = [n_groups * k // count for k in range(count + 1)]
    return [FilePart(path, (first, stop)) for first, stop in pairwise(borders)]


def width_of(reading: dict[str, Any], part: FilePart) -> int:
    """How many features a part has, by reading all of it where it does not say so."""
    said = part.declared_width()
    if said is not None:
        return said
    *_, last = part.open(None, reading).batches(4096)
    return int(last.X.shape[1])


def with_width(worker: Any, parts: Sequence[FilePart], reading: dict[str, Any]) -> dict[str, Any]:
    """How to read parts that do not say how many features there are: what all parts together have.

    Of LIBSVM files, a first pass on the engine finds the largest index; Parquet files of sparse rows say theirs.
    """
    if len(parts) < 2 or "n_features" in reading or not all(part.has_no_width for part in parts):
        return reading
    return reading | {"n_features": max(worker.call(width_of, reading, parts, lambda fraction: None))}


def same_features(parts: Sequence[Any], target: str | None, reading: dict[str, Any]) -> dict[str, Any]:
    """How to read every part, and the features it must have, as the first part has them.

    What the first one takes for categories is categories in all of them: a column could be numbers in a part where all
    of its texts happen to look like numbers.
    """
    if len(parts) < 2:
        return {"reading": reading, "features": None}
    first = parts[0].open(target, reading)
    kinds, names = getattr(first, "feature_kinds", None), first.feature_names
    if kinds is None or names is None:
        return {"reading": reading, "features": names}
    categories = [name for name, kind in zip(names, kinds, strict=True) if kind == "category"]
    given = list(reading.get("categorical", ()))
    categorical = [*given, *(name for name in categories if name not in given)]
    return {"reading": reading | ({"categorical": categorical} if categorical else {}), "features": names}


def in_order(stream: RowStream, features: tuple[str, ...] | None) -> RowStream:
    """The same rows with the features in this order; one that is missing, or not known, is refused."""
    names = stream.feature_names
    if features is None or names == features:
        return stream
    if names is None or set(names) != set(features):
        others = set(features) ^ set(names or ())
        lacks = [name for name in features if name in others]
        words = f"it has no column {lacks[0]!r}" if lacks else f"it has a column {min(others)!r}"
        raise ReaderError(f"{words}, unlike the first part.")
    return OnlyFeatures(stream, np.array([names.index(name) for name in features]))


class OnlyFeatures(PassedOn):
    """Another stream with some of its features, which are named even where the source has only numbers for them."""

    def __init__(self, stream: Any, places: Any) -> None:
        super().__init__(stream)
        self._places = places
        names = stream.feature_names
        self._names = tuple(f"x{place}" if names is None else names[place] for place in places)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self._names

    def batches(self, batch_size: int) -> Iterator[Batch]:
        for batch in self._stream.batches(batch_size):
            yield features_of(batch, self._places, self._names)


def features_of(batch: Batch, places: Any, names: tuple[str, ...]) -> Batch:
    """The batch with the features at these places, under these names; features it does not reach are 0."""
    X = batch.X
    if X.shape[1] <= places.max():  # sparse rows that are not wide enough yet
        X = X.copy()
        X.resize(X.shape[0], int(places.max()) + 1)
    kinds = batch.kinds
    if kinds is not None:
        new = {int(place): number for number, place in enumerate(places)}
        kinds = ColumnKinds(
            {new[place]: words for place, words in kinds.names.items() if place in new},
            tuple(new[place] for place in kinds.undecided if place in new),
        )
    categorical = None if batch.categorical is None else batch.categorical[places]
    return replace(batch, X=X[:, places], feature_names=names, categorical=categorical, kinds=kinds, relevant=None)
