"""Labels that arrive late: every row comes back once, in order, with its own label, and neither early nor late."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from streamsift.core.batch import Batch
from streamsift.evaluate.label_delay import LabelDelay


def batches(sizes: list[int]) -> list[tuple[Batch, np.ndarray]]:
    """Row k holds k, its label is "k" and its code 10 k."""
    starts = np.cumsum([0, *sizes])
    rows = [np.arange(first, first + size) for first, size in zip(starts, sizes, strict=False)]
    return [(Batch(part.astype(float)[:, None], part.astype(str)), 10 * part) for part in rows]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.integers(0, 15))
def test_rows_come_back_in_order_when_their_labels_do(sizes: list[int], n_rows: int) -> None:
    delay, seen, back = LabelDelay(n_rows), 0, 0
    for batch, codes in batches(sizes):
        found = delay.exchange(batch, codes)
        seen += batch.n_rows
        due = max(seen - n_rows, 0)
        if found is None:
            assert due == back
            continue
        rows, its_codes = found
        wanted = list(range(back, due))
        assert wanted
        assert rows.X[:, 0].tolist() == wanted
        assert rows.y.tolist() == [str(k) for k in wanted]
        assert its_codes.tolist() == [10 * k for k in wanted]
        back = due


def test_without_a_delay_a_batch_passes_through_as_it_is() -> None:
    ((batch, codes),) = batches([3])
    found = LabelDelay(0).exchange(batch, codes)
    assert found is not None
    assert found[0] is batch
    assert found[1] is codes


@pytest.mark.parametrize("sparse", [False, True])
def test_what_a_batch_knows_of_its_columns_stays_with_its_rows(sparse: bool) -> None:
    X = np.arange(8.0).reshape(4, 2)
    batch = Batch(csr_matrix(X) if sparse else X, np.arange(4), ("a", "b"), np.array([True, False]))
    found = LabelDelay(1).exchange(batch, np.arange(4))
    assert found is not None
    late = found[0]
    assert late.feature_names == ("a", "b")
    assert late.categorical is not None
    assert late.categorical.tolist() == [True, False]
    assert (late.X.toarray() if sparse else late.X).tolist() == X[:3].tolist()
