"""Figures 2 and 3 of the ETANA paper: shapes and regions over the simplex, on drawings whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.instances.grid import make_grid
from streamsift.instances.region import Region
from streamsift.reproduce.etana.simplex import figure_2, figure_3, regions_of, shape_of
from streamsift.reproduce.figure_checks import Drawn, concave_in_three_pieces
from streamsift.reproduce.result import Options

POINTS = make_grid(3, 60).points


def judged(values):
    found = shape_of(POINTS, values)
    series = {"panel": "shape", "name": "cost of the best decision", "x": list(found), "y": list(found.values())}
    return concave_in_three_pieces(Drawn([{"series": [series]}]))[0]


def test_the_shape_of_known_functions():
    risk = np.ones((3, 3)) - np.eye(3)
    cost = (POINTS @ risk).min(axis=1)
    assert shape_of(POINTS, cost)["linear pieces"] == 3
    assert judged(cost)
    assert not judged((POINTS @ risk).max(axis=1))  # convex
    assert not judged(cost + 0.3 * (POINTS[:, 0] > 0.5))  # a step
    four = np.minimum(cost, 0.4)
    assert shape_of(POINTS, four)["linear pieces"] == 4
    assert not judged(four)
    assert not judged(-((POINTS**2).sum(axis=1)) / 3)  # concave, but nowhere linear


def regions(stops):
    return regions_of(Region(4, np.arange(3), POINTS, stops, np.zeros(len(POINTS)), np.zeros(len(POINTS), np.int64)))


def test_the_regions_of_known_drawings():
    corners = regions((POINTS > 0.8).any(axis=1))
    assert (corners["regions of stopping"], corners["regions of going on"]) == (3, 1)
    assert (corners["curves"], corners["corners that stop"]) == (3, 3)
    band = regions(np.abs(POINTS[:, 0] - 0.5) > 0.2)  # goes on in the middle, from edge to edge
    assert (band["regions of stopping"], band["regions of going on"], band["curves"]) == (2, 1, 2)
    one = regions((POINTS > 0.8)[:, 0])
    assert (one["curves"], one["corners that stop"]) == (1, 1)
    assert regions(np.ones(len(POINTS), bool))["curves"] == 0


@pytest.mark.compiled
def test_the_figures_on_mll(shared):
    options = Options(data=str(shared / "data"))
    shape = figure_2(options, lambda done, total: None)
    assert concave_in_three_pieces(Drawn([shape.as_dict()]))[0]
    stopping = figure_3(options, lambda done, total: None)
    assert [row[:2] for row in stopping.rows[:2]] == [["authors' choices, fine grid", stage] for stage in ("4", "5")]
