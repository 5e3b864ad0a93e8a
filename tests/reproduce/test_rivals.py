"""The rivals of the ETANA paper: a small run of everything, and the published numbers of columns on MLL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamsift.reproduce.etana import rivals
from streamsift.reproduce.etana.data import DATA_SETS, load, splits
from streamsift.reproduce.result import Options


def write_small_sets(folder: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(72) % 3
    X = rng.normal(size=(72, 12)) + 2.0 * y[:, None] * (np.arange(12) < 3)
    np.savez(folder / "mll.npz", X=X.astype(np.float32), y=y)
    np.savez(folder / "lung_203.npz", X=X.astype(np.float32)[:, ::-1], y=y)


def test_every_rival_stands_beside_the_published_figures(tmp_path: Path) -> None:
    write_small_sets(tmp_path)
    steps: list[tuple[int, int]] = []
    result = rivals.rivals(Options(data=str(tmp_path)), lambda done, total: steps.append((done, total)))
    assert steps[-1] == (12, 12)
    assert [row[:2] for row in result.rows] == [[data, name] for data in ("MLL", "Lung2") for name in rivals.METHODS]
    assert len(result.columns) == len(result.rows[0]) == 10
    by_name = {(row[0], row[1]): row for row in result.rows}
    assert by_name["MLL", "SAOLA"][3] == "0.8667"  # the paper's
    assert by_name["Lung2", "OSFS"][5] == "5.8"
    for row in result.rows:
        assert float(row[2]) > 0.5, row  # three classes: chance is 1/3
        assert 1 <= float(row[4]) <= 12, row


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("method", "features", "accuracy"), [("SAOLA", 28, 0.8667), ("Fast-OSFS", 5, 0.8), ("OSFS", 3, 0.8)]
)
def test_mll_as_in_the_paper(shared: Path, method: str, features: int, accuracy: float) -> None:
    data = next(one for one in DATA_SETS if one.name == "MLL")
    X, y = load(shared / "data", data)
    found = rivals.measure(X, y, list(splits(data, y, 1)), rivals.METHODS[method])
    assert found.features == features
    assert found.accuracy == pytest.approx(accuracy, abs=5e-5)


def test_without_any_column_the_largest_class_is_the_answer() -> None:
    class Nothing:
        selected_: tuple[str, ...] = ()

        def fit(self, X: Any, y: Any) -> Nothing:
            return self

        def get_support(self, indices: bool) -> Any:
            return np.empty(0, np.intp)

    y = np.array([1, 1, 0, 1, 0])
    found = rivals.measure(np.ones((5, 30)), y, [(np.arange(3), np.arange(3, 5))], Nothing)
    assert (found.accuracy, found.features) == (0.5, 0.0)
