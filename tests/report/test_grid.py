"""The grid of a run: what is packed for the page comes out again."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from streamsift.report.figures import _snapshot_of_column, heat_chart
from streamsift.report.grid import N_RANKS, grid_scores
from streamsift.report.summarize import N_FEATURES, N_SNAPSHOTS, summarize


def test_scores_survive_the_codes(make_trace):
    scores = np.random.default_rng(0).normal(size=(30, 8)) * 10.0 ** np.arange(8)
    grid = summarize(make_trace(scores), "run")["grid"]
    order = [feature["index"] for feature in grid["features"]]
    spread = np.ptp(scores, axis=0)[order]
    assert np.all(np.abs(grid_scores(grid) - scores.T[order]).max(axis=1) < 2e-5 * spread)


def test_infinite_missing_and_equal_scores(make_trace):
    scores = [[np.inf, 5.0, 1.0], [-np.inf, 5.0, 2.0], [1.0, 5.0, 3.0]]
    grid = summarize(make_trace(scores, k=3), "run")["grid"]
    order = [feature["index"] for feature in grid["features"]]
    np.testing.assert_allclose(grid_scores(grid), np.array(scores).T[order], rtol=1e-4)


def test_ends_too_far_apart_for_a_difference(make_trace):
    grid = summarize(make_trace([[1e308, 1.0], [-1e308, 2.0]]), "run")["grid"]
    place = [feature["index"] for feature in grid["features"]].index(0)
    assert grid_scores(grid)[place].tolist() == [1e308, -1e308]


def test_ranks_are_places_among_all_scores(make_trace):
    grid = summarize(make_trace([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]], k=1), "run")["grid"]
    ranks = np.frombuffer(base64.b64decode(grid["ranks"]), "<u2").reshape(3, 2)
    found = {feature["index"]: ranks[k].tolist() for k, feature in enumerate(grid["features"])}
    assert found == {0: [1, 3], 1: [3, 2], 2: [2, 1]}


def test_selected_flags_and_first_rows(make_trace):
    grid = summarize(make_trace([[3.0, 1.0], [1.0, 2.0], [1.0, 2.0]], k=1), "run")["grid"]
    flags = np.unpackbits(np.frombuffer(base64.b64decode(grid["selected"]), np.uint8).reshape(2, -1), axis=1)[:, :3]
    found = {f["index"]: (flags[k].tolist(), f["first"]) for k, f in enumerate(grid["features"])}
    assert found == {0: ([1, 0, 0], 100), 1: ([0, 1, 1], 200)}


def test_long_and_wide_runs_stay_small(make_trace):
    run = summarize(make_trace(np.random.default_rng(0).random((2 * N_SNAPSHOTS, 400)), k=30), "run")
    grid = run["grid"]
    assert len(grid["features"]) == N_FEATURES
    assert len(grid["rows"]) == N_SNAPSHOTS
    assert len(grid["rows"][:: grid["every"]]) <= N_RANKS
    chart = heat_chart(run, 0)
    assert chart.figure.renderers[0].data_source.data["image"][0].shape == (N_FEATURES, N_SNAPSHOTS)
    assert "100 more features" in chart.reading
    assert "every 2 snapshots one" in chart.reading


@pytest.mark.parametrize(
    ("rows", "snapshots"),
    [([100], [0]), ([100, 200, 300], [0, 1, 2]), ([100, 200, 400], [0, 1, 2, 2]), ([50, 100, 300], [0, 1, 2, 2, 2, 2])],
)
def test_columns_of_the_picture_are_equally_wide(rows, snapshots):
    assert _snapshot_of_column(rows).tolist() == snapshots


def test_the_heat_map_has_the_best_on_top_and_no_colour_where_no_score_is(make_trace):
    wide = np.tile(np.linspace(0, 1, 1001), (2, 1))
    wide[1, 0] = 2
    run = summarize(make_trace(wide, k=2), "run")
    chart = heat_chart(run, 0)
    names = [run["grid"]["features"][place]["name"] for place in chart.lanes]
    assert names == ["x0", "x1000", "x999"]
    assert chart.figure.renderers[0].data_source.data["image"][0].tolist()[0] == [0, 254]


def test_a_large_heat_map_has_the_names_that_have_room(make_trace):
    rng = np.random.default_rng(0)
    chart = heat_chart(summarize(make_trace(rng.random((4, 90)), names=[f"sensor_{k}" for k in range(90)]), "run"), 0)
    axis = chart.figure.yaxis[0]
    assert chart.zooms
    assert axis.ticker.ticks == list(range(0, 90, 3))
    assert len(axis.major_label_overrides) == 90  # all are there when the page zooms
    few = heat_chart(summarize(make_trace(rng.random((4, 30))), "run"), 0)
    assert not few.zooms
    assert few.figure.yaxis[0].ticker.ticks == list(range(30))
