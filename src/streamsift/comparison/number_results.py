"""What a run of a comparison found where the target is a number: errors, their steps for the tests, and the curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.comparison.metrics import NUMBER_METRICS, scored_number_steps
from streamsift.metrics.regression import error_sums, joined_sums, regression_scores

Floats = NDArray[np.float64]
Found = dict[str, Any]


class NumberSums:
    """The sums of all steps of a prequential run.

    >>> sums = NumberSums()
    >>> sums.add(error_sums(np.array([0, 0, 1]), np.array([1.0, 2.0, 6.0]), np.array([2.0, 2.0, 4.0]), 2))
    >>> found = sums.figures(np.array([2.0, 3.0]), late_from=2)
    >>> found["mae"], found["late_rmse"], found["steps"]["ends"]
    (1.0, 2.0, [2, 3])
    """

    def __init__(self) -> None:
        self._sums: list[Floats] = []

    def add(self, sums: Floats) -> None:
        self._sums.append(sums)

    def figures(self, ends: Floats, late_from: int) -> Found:
        """Errors over all rows, over those from `late_from` on, and the steps that were tested."""
        sums = np.hstack(self._sums)
        tested = sums[0] > 0.0
        late = tested & (np.concatenate([[0.0], ends[:-1]]) >= late_from)
        return {
            **scores_of(sums),
            "late_rmse": scores_of(sums[:, late])["rmse"],
            "steps": scored_number_steps(ends[tested], sums[:, tested]),
        }


def scores_of(sums: Floats) -> Found:
    """The metrics of steps together; NaN where there are none.

    >>> scores_of(np.array([[2.0], [8.0], [4.0], [1.0], [16.0]]))
    {'rmse': 2.0, 'mae': 2.0, 'r2': 0.5}
    """
    found = regression_scores(joined_sums(sums))
    return {name: float(values[0]) for name, values in zip(NUMBER_METRICS, found, strict=True)}


class TestedNumbers:
    """Predictions of the second half, batch by batch, and what follows from them."""

    __test__ = False  # no test, whatever pytest takes it for

    def __init__(self, y: Floats, cut: int) -> None:
        self._y, self._cut = y, cut
        self._ends: list[int] = []
        self._sizes: list[float] = []
        self._predicted: list[Floats] = []

    def add(self, last: int, size: float, predicted: Floats) -> None:
        """A batch that ends before row `last`, how many features it took, and what was predicted."""
        self._ends.append(last)
        self._sizes.append(size)
        self._predicted.append(np.asarray(predicted, np.float64))

    def figures(self, window: int) -> tuple[Found, dict[str, Floats]]:
        """Errors and steps; and the curve of the windowed error."""
        ends = np.array(self._ends)
        groups = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=self._cut))
        sums = error_sums(groups, self._y[self._cut :], np.concatenate(self._predicted), len(ends))
        scores = scores_of(sums)
        windows = [scores_of(sums[:, max(end - window, 0) : end])["rmse"] for end in range(1, len(ends) + 1)]
        curve = {
            "rows": ends,
            "rmse": np.array(windows),
            "stability": np.full(len(ends), np.nan),
            "n_selected": np.array(self._sizes),
        }
        found = {**scores, "late_rmse": scores["rmse"], "steps": scored_number_steps(ends.astype(np.float64), sums)}
        return found, curve
