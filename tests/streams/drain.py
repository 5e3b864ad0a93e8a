"""Read a whole stream, checking on the way what every stream promises about its batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from streamsift.streams import RowStream


def drain(stream: RowStream, size: int = 7) -> tuple[Any, list[Any]]:
    """All rows as one dense matrix and all labels as one list."""
    assert isinstance(stream, RowStream)
    batches = list(stream.batches(size))
    assert all(batch.n_rows == size for batch in batches[:-1])
    assert 0 < batches[-1].n_rows <= size
    assert all(len(batch.y) == batch.n_rows for batch in batches)
    assert all(batch.X.dtype in (np.float32, np.float64) for batch in batches)
    assert all(batch.feature_names == stream.feature_names for batch in batches)
    if isinstance(batches[0].X, np.ndarray):
        assert all(batch.X.flags.c_contiguous for batch in batches)
    width = max(batch.X.shape[1] for batch in batches)
    X = np.concatenate([_dense(batch.X, width) for batch in batches])
    assert stream.n_rows in (None, len(X))
    assert stream.progress() in (None, 1.0)
    return X, [label for batch in batches for label in batch.y.tolist()]


def _dense(X: Any, width: int) -> Any:
    if not sparse.issparse(X):
        return X
    assert X.format == "csr"
    assert X.has_canonical_format
    return np.pad(X.toarray(), ((0, 0), (0, width - X.shape[1])))
