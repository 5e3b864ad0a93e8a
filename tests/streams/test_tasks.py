"""Whether a target is classes or numbers, and readers that give numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streamsift import ParameterError, ReaderError, open_stream
from streamsift.streams import find_task, task_of


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.arange(1000) % 20, "classification"),
        (np.arange(1000) % 100, "classification"),  # no more than a tenth
        (np.arange(1000) % 101, "regression"),
        (np.arange(1000) % 101 + 0.0, "regression"),
        (np.arange(1000) % 20 / 2.0, "classification"),
        (np.arange(1000) % 21 / 2.0, "regression"),
        (np.arange(10.0) / 3.0, "classification"),
        (np.array([f"t{k}" for k in range(500)]), "classification"),
        (np.arange(500) % 2 == 0, "classification"),
        (np.array([None, *np.arange(200) / 7.0], object), "regression"),
        (np.array([None, "a", "b"], object), "classification"),
        (np.append(np.arange(200) / 7.0, np.nan), "regression"),
        (np.zeros(0), "classification"),
    ],
)
def test_many_numbers_are_numbers(y: Any, task: str) -> None:
    assert task_of(y).task == task


def test_doubtful_are_many_numbers_only() -> None:
    assert task_of(np.arange(1000) % 26).doubtful
    assert not task_of(np.arange(1000) % 7).doubtful
    assert not task_of([f"t{k}" for k in range(50)]).doubtful


def test_a_file_is_asked_by_its_first_rows(tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,price\n" + "".join(f"{k},{k / 7:.3f}\n" for k in range(3000)))
    found = find_task(path, "price")
    assert found is not None
    assert (found.task, found.n_rows) == ("regression", 1000)
    path.write_text("a,price\n" + "1,\n" * 5 + "".join(f"{k},{k}\n" for k in range(50)))
    found = find_task(path, "price")
    assert found is not None
    assert (found.task, found.n_rows) == ("regression", 50)
    assert find_task("-", "price") is None


def test_numbers_are_given_as_floats(tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,price\n1,3\n2,4\n3,5\n")
    (batch,) = open_stream(path, "price", task="regression").batches(10)
    assert batch.y.dtype == np.float64
    assert batch.y.tolist() == [3.0, 4.0, 5.0]
    (batch,) = open_stream((np.zeros((2, 1)), ["1.5", "2"]), task="regression").batches(10)
    assert batch.y.tolist() == [1.5, 2.0]
    path.write_text("a,price\n1,3\n2,red\n3,5\n")
    with pytest.raises(ReaderError, match=r"Line 3, target 'price': 'red' is not a number"):
        list(open_stream(path, "price", task="regression").batches(10))
    with pytest.raises(ParameterError, match="'task' must be"):
        open_stream(path, "price", task="numbers")
