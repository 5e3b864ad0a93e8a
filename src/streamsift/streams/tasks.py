"""What a target is: classes to tell apart, or numbers to explain.

The rule, over the first rows that have a label: text and truth values are classes. Numbers are classes up to 20
different values; beyond, those with a fraction are numbers, and whole ones are numbers where there are more different
values than a tenth of the rows.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.exceptions import ReadingNotice
from streamsift.streams.blocks import BlockStream
from streamsift.streams.open import open_stream

Task = Literal["classification", "regression"]

SAMPLE = 1000  # rows that are looked at
MOST_CLASSES = 20  # different numbers that are classes in any case


@dataclass(frozen=True)
class TargetSample:
    """What the first rows tell of a target: the task, how many different values there are, and in how many rows."""

    task: Task
    n_values: int
    n_rows: int
    numeric: bool

    @property
    def doubtful(self) -> bool:
        """Whether one could see it otherwise: numbers, and many of them."""
        return self.numeric and self.n_values > MOST_CLASSES


def task_of(y: Any) -> TargetSample:
    """What these labels are; missing ones (None, NaN) are left out.

    Examples
    --------
    >>> import numpy as np
    >>> task_of(["red", "green", "red"]).task, task_of(np.arange(300) % 7).task
    ('classification', 'classification')
    >>> task_of(np.arange(300.0) / 7).task, task_of(np.arange(300)).task
    ('regression', 'regression')
    >>> task_of(np.arange(300) % 26)
    TargetSample(task='classification', n_values=26, n_rows=300, numeric=True)
    """
    values = _known(np.asarray(y))
    numeric = values.dtype.kind in "iuf"
    n_values = len(set(values.tolist()))
    numbers = numeric and n_values > MOST_CLASSES
    if numbers and not np.any(values != np.floor(values)):
        numbers = n_values > len(values) // 10
    return TargetSample("regression" if numbers else "classification", n_values, len(values), numeric)


def _known(y: NDArray[Any]) -> NDArray[Any]:
    if y.dtype.kind == "O":
        kept = [label for label in y.tolist() if label is not None]
        y = np.array(kept) if all(isinstance(label, int | float) for label in kept) else y[[v is not None for v in y]]
    return y[np.isfinite(y)] if y.dtype.kind == "f" else y


def find_task(source: Any, target: str | None = None, **reading: Any) -> TargetSample | None:
    """What the target of a file is, by its first 1,000 rows; None where it cannot be read twice, or has no rows.

    Examples
    --------
    >>> import numpy as np
    >>> find_task((np.zeros((50, 2)), np.linspace(0.0, 1.0, 50))).task
    'regression'
    """
    first = first_rows(source, target, **reading)
    return None if first is None else task_of(first.y)


def first_rows(source: Any, target: str | None = None, **reading: Any) -> Batch | None:
    """The first 1,000 rows of a file; None where it cannot be read twice, or has no rows.

    Examples
    --------
    >>> import numpy as np
    >>> first_rows((np.zeros((50, 2)), np.linspace(0.0, 1.0, 50))).n_rows
    50
    """
    if isinstance(source, str | os.PathLike) and not Path(source).is_file():
        return None  # standard input, a pipe: what is read is gone
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNotice)  # heard when it is read in earnest
        stream = open_stream(source, target, **reading)
        if "unlabelled" not in reading and isinstance(stream, BlockStream):
            stream.keep_unlabelled()
        batches = stream.batches(SAMPLE)
        first = next(batches, None)
        if isinstance(batches, Generator):
            batches.close()  # and with it the file
    return None if first is None or not first.n_rows else first


def words_for_task(sample: TargetSample) -> str:
    """What is said about a target that could be seen otherwise.

    >>> words_for_task(task_of(range(300)))
    'taken as numbers (300 different values in 300 rows)'
    """
    taken = "numbers" if sample.task == "regression" else "classes"
    return f"taken as {taken} ({sample.n_values:,} different values in {sample.n_rows:,} rows)"
