"""detection_rate against a count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.metrics.detection import detection_rate


@pytest.mark.parametrize(
    ("selected", "relevant", "expected"),
    [
        ([0, 1, 2], [0, 1, 2], 1.0),
        ([3, 4], [0, 1, 2], 0.0),
        ([], [0, 1], 0.0),
        ([1, 9, 8], [0, 1, 2, 3], 0.25),
        (np.array([5, 1]), np.array([1, 5, 7]), 2 / 3),
    ],
)
def test_it_is_the_share_of_the_true_features_that_were_found(selected, relevant, expected):
    assert detection_rate(selected, relevant) == pytest.approx(expected)


def test_it_agrees_with_sets():
    rng = np.random.default_rng(3)
    for _ in range(50):
        selected = rng.choice(100, rng.integers(1, 60), replace=False)
        relevant = rng.choice(100, rng.integers(1, 60), replace=False)
        by_sets = len(set(selected) & set(relevant)) / len(set(relevant))
        assert detection_rate(selected, relevant) == pytest.approx(by_sets)
