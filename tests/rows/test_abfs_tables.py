"""ABFS through tables of every kind; the contract itself is checked for all methods in tests/contract."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.core.exceptions import EmptySelectionWarning
from streamsift.rows.abfs import ABFS


def test_tables_of_every_kind_select_alike_and_keep_their_names() -> None:
    pandas = pytest.importorskip("pandas", reason="skipped: no pandas")
    polars = pytest.importorskip("polars", reason="skipped: no polars")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = np.where(X[:, 2] > 0, "up", "down")
    wanted = ABFS(100, 0.1).partial_fit(X, y)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    for table in (frame, polars.from_pandas(frame), polars.from_pandas(frame).to_arrow()):
        found = ABFS(100, 0.1).partial_fit(table, y)
        assert found.units_ == wanted.units_
        assert found.get_feature_names_out().tolist() == ["c"]
    assert np.array_equal(wanted.transform(X), X[:, [2]])
    kept = ABFS(100, 0.1).set_output(transform="pandas").fit(frame, y).transform(frame)
    assert kept.equals(frame[["c"]])


def test_pass_through_keeps_all_names() -> None:
    pandas = pytest.importorskip("pandas", reason="skipped: no pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=list("abc"))
    selector = ABFS().set_output(transform="pandas").fit(frame, np.arange(20) % 2)
    with pytest.warns(EmptySelectionWarning, match="passed through"):
        assert selector.transform(frame).equals(frame)
