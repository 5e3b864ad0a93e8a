"""Windowed stability, kept up to date step by step, is the stability of the sets in the window."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive.stability import nogueira

from streamsift.core.exceptions import ParameterError
from streamsift.metrics.stability import nogueira_stability
from streamsift.metrics.window_stability import WindowStability


def masks(n_sets, n_features, share, seed):
    found = np.random.default_rng(seed).random((n_sets, n_features)) < share
    found[n_sets // 3 : n_sets // 2] = found[n_sets // 3]  # a while without change
    return found


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("window", [2, 5, 40])
def test_every_window_as_computed_afresh(window, share):
    sets = masks(30, 12, share, seed=window)
    stability = WindowStability(window)
    found = [stability.add(np.flatnonzero(row), 12) for row in sets]
    assert np.isnan(found[0])
    for end in range(2, 31):
        part = sets[max(0, end - window) : end]
        assert found[end - 1] == pytest.approx(nogueira_stability(part), abs=1e-12)
        if 0 < part.sum() < part.size:
            assert found[end - 1] == pytest.approx(nogueira(part.astype(int).tolist()), abs=1e-12)


def test_one_object_for_sets_that_do_not_change():
    same, other = np.array([0, 3]), np.array([1])
    sets = [same, same, other, same, same, same, other, same]
    stability = WindowStability(3)
    found = [stability.add(selected, 5) for selected in sets]
    matrix = np.array([np.isin(np.arange(5), selected) for selected in sets])
    for end in range(2, 9):
        assert found[end - 1] == pytest.approx(nogueira_stability(matrix[max(0, end - 3) : end]), abs=1e-12)


def test_features_that_arrive_late_were_not_selected_before():
    stability = WindowStability(10)
    stability.add(np.array([0]), 2)
    assert stability.add(np.array([0, 3]), 4) == nogueira_stability([[1, 0, 0, 0], [1, 0, 0, 1]])


def test_a_window_of_one_is_refused():
    with pytest.raises(ParameterError, match="window"):
        WindowStability(1)
