"""RowStream, the contract of everything that yields rows, and `recut`, which gives every batch its exact size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from streamsift.core.batch import Batch
from streamsift.core.constraints import Integer, check_parameters
from streamsift.core.exceptions import ReaderError


@runtime_checkable
class RowStream(Protocol):
    """Rows in batches, and what is known about them beforehand.

    feature_names: None where features have only numbers. target_name: None where the target has no name.
    n_rows: None while unknown. categories: the values behind the codes of each categorical column, in code order;
    it grows while the stream is read.

    Every call of `batches` starts at the beginning; a source that can be read only once (standard input, an iterator)
    refuses the second call.
    """

    @property
    def feature_names(self) -> tuple[str, ...] | None: ...

    @property
    def target_name(self) -> str | None: ...

    @property
    def n_rows(self) -> int | None: ...

    @property
    def categories(self) -> dict[str, tuple[str, ...]]: ...

    def progress(self) -> float | None:
        """The fraction of the source read so far; None where it cannot be known."""
        ...

    def batches(self, batch_size: int) -> Iterator[Batch]:
        """Batches of exactly `batch_size` rows; only the last may be shorter."""
        ...


class PassedOn:
    """Another stream, passed on as it is; what does something on the way overrides `batches`."""

    def __init__(self, stream: RowStream) -> None:
        self._stream = stream

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self._stream.feature_names

    @property
    def target_name(self) -> str | None:
        return self._stream.target_name

    @property
    def n_rows(self) -> int | None:
        return self._stream.n_rows

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        return self._stream.categories

    def progress(self) -> float | None:
        return self._stream.progress()

    def batches(self, batch_size: int) -> Iterator[Batch]:
        return self._stream.batches(batch_size)


def recut(blocks: Iterable[Batch], size: int) -> Iterator[Batch]:
    """Cut batches of any length into batches of `size` rows, copying only those that straddle two blocks."""
    check_parameters("batches", {"size": size}, {"size": (Integer(1, None),)})
    return _recut(blocks, size)


def _recut(blocks: Iterable[Batch], size: int) -> Iterator[Batch]:
    pieces: list[Batch] = []
    held = 0
    for block in blocks:
        start = 0
        while block.n_rows - start >= size - held:
            stop = start + size - held
            pieces.append(_part(block, start, stop))
            yield _join(pieces)
            pieces, held, start = [], 0, stop
        if start < block.n_rows:
            pieces.append(_part(block, start, block.n_rows))
            held += block.n_rows - start
    if pieces:
        yield _join(pieces)


def _part(block: Batch, start: int, stop: int) -> Batch:
    return block if start == 0 and stop == block.n_rows else block.rows(slice(start, stop))


def _join(pieces: list[Batch]) -> Batch:
    if len(pieces) == 1:
        return pieces[0]
    lines = [piece.lines for piece in pieces if piece.lines is not None]
    return replace(
        pieces[-1],
        X=_stack([piece.X for piece in pieces]),
        y=_chain([piece.y for piece in pieces]),
        lines=np.concatenate(lines) if len(lines) == len(pieces) else None,
    )


def _stack(matrices: list[Any]) -> Any:
    dense = [isinstance(matrix, np.ndarray) for matrix in matrices]
    if all(dense):
        return np.concatenate(matrices)
    if any(dense):
        raise ReaderError("The stream changes between dense and sparse rows: give all of them in one form.")
    width = max(matrix.shape[1] for matrix in matrices)
    return sparse.vstack([with_width(matrix, width) for matrix in matrices], format="csr")


def with_width(matrix: Any, n_features: int) -> Any:
    """The same CSR rows in a matrix of another width, which no index exceeds; the parts are shared, not copied."""
    if matrix.shape[1] == n_features:
        return matrix
    return sparse.csr_matrix((matrix.data, matrix.indices, matrix.indptr), (matrix.shape[0], n_features))


def widening(batches: Iterable[Batch], n_features: int = 1) -> Iterator[Batch]:
    """Sparse batches as wide as the largest index up to their last row, and at least of the width given.

    Where a batch ends must not depend on how a file was cut into blocks, so the width of the blocks does not matter.
    """
    for batch in batches:
        n_features = max(n_features, int(batch.X.indices.max(initial=0)) + 1)
        yield replace(batch, X=with_width(batch.X, n_features))


def _chain(labels: list[NDArray[Any]]) -> NDArray[Any]:
    """Labels in one array; numbers and strings together stay what they are instead of all becoming strings."""
    kinds = {"number" if array.dtype.kind in "biuf" else array.dtype.kind for array in labels}
    return np.concatenate(labels if len(kinds) == 1 else [array.astype(object) for array in labels])
