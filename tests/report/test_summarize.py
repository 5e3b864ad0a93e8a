"""summarize: the numbers of a report, compared with what the hand-made traces contain."""

from __future__ import annotations

import json

import numpy as np
import pytest

from streamsift.report.summarize import N_LANES, N_LEADERS, N_OTHERS, N_POINTS, summarize


def test_the_final_selection_with_its_scores_and_shares(make_trace):
    run = summarize(make_trace([[3, 2, 1], [3, 1, 2], [3, 1, 2], [1, 2, 3]], names=["a", "b", "c"]), "run")
    assert [(row["rank"], row["name"], row["score"], row["share"]) for row in run["selected"]] == [
        (1, "c", 3.0, 0.75),
        (2, "b", 2.0, 0.5),
    ]
    assert (run["n_rows"], run["n_features"], run["n_snapshots"], run["seconds"]) == (400, 3, 4, 0.4)
    assert run["settings"] == {"method": "screen:t_score"}
    assert run["detection"] is None
    assert run["selected"][0]["relevant"] is None


def test_lanes_are_intervals_of_rows_early_features_first(make_trace):
    run = summarize(make_trace([[3, 2, 1], [3, 1, 2], [3, 1, 2], [1, 2, 3]], names=["a", "b", "c"]), "run")
    lanes = {lane["name"]: lane["selected"] for lane in run["lanes"]["features"]}
    assert lanes == {"a": [(0, 300)], "b": [(0, 100), (300, 400)], "c": [(100, 400)]}
    assert list(lanes) == ["a", "b", "c"]
    assert not run["lanes"]["true_features_known"]
    assert run["lanes"]["drift"] == []


def test_true_features_drift_and_detection(drifting_trace):
    run = summarize(drifting_trace, "run")
    lanes = {lane["index"]: lane for lane in run["lanes"]["features"]}
    assert lanes[3]["selected"] == lanes[3]["relevant"] == [(1000, 2000)]
    assert run["lanes"]["drift"][:2] == [(0, 100), (500, 600)]
    assert run["detection"]["rates"] == [1.0] * 40
    assert run["detection"]["mean_second_half"] == 1.0
    assert [row["relevant"] for row in run["selected"]] == [True, True]


def test_the_mean_is_over_the_second_half_only(make_trace):
    run = summarize(make_trace([[3, 2, 1]] * 4, relevant=[[0, 1], [0, 1], [0, 2], [2, 2]]), "run")
    assert run["detection"]["rates"] == [1.0, 1.0, 0.5, 0.0]
    assert run["detection"]["mean_second_half"] == 0.25


def test_true_features_known_only_early_give_no_detection_rate(make_trace):
    run = summarize(make_trace([[3, 2, 1]] * 4, relevant=[[0, 1], [0, 1], [], []]), "run")
    assert run["detection"] is None


def test_shares_and_means_are_of_rows_not_of_snapshots(make_trace):
    scores, relevant = [[3, 1], [3, 1], [1, 3], [3, 1]], [[0], [0], [0], [0]]
    run = summarize(make_trace(scores, k=1, relevant=relevant, rows=[100, 200, 500, 600]), "run")
    assert run["selected"][0]["share"] == pytest.approx(300 / 600)
    assert run["detection"]["mean_second_half"] == pytest.approx(0.25)


def test_long_and_wide_runs_are_thinned(make_trace):
    rng = np.random.default_rng(0)
    run = summarize(make_trace(rng.random((3 * N_POINTS, 200)), k=20), "run")
    assert len(run["scores"]["rows"]) == N_POINTS
    assert run["scores"]["rows"][0] == 100
    assert run["scores"]["rows"][-1] == 3 * N_POINTS * 100
    assert len(run["scores"]["leaders"]) == N_LEADERS
    assert len(run["scores"]["others"]) == N_OTHERS
    assert len(run["lanes"]["features"]) == N_LANES
    assert run["lanes"]["n_ever_selected"] == 200


def test_leaders_are_the_best_at_the_end_and_never_among_the_others(make_trace):
    rng = np.random.default_rng(0)
    run = summarize(make_trace(rng.random((30, 40)), k=12), "run")
    leaders = [feature["index"] for feature in run["scores"]["leaders"]]
    others = [feature["index"] for feature in run["scores"]["others"]]
    assert leaders == [row["index"] for row in run["selected"][:N_LEADERS]]
    assert not set(leaders) & set(others)
    assert len(set(others)) == len(others)


def test_infinite_scores_are_gaps_and_named(make_trace):
    run = summarize(make_trace([[np.inf, 2, 1], [3, 2, 1]], names=["a", "b", "c"]), "run")
    assert run["scores"]["leaders"][0]["values"] == [None, 3.0]
    assert run["scores"]["infinite"] == ["a"]


def test_wide_data_has_gaps_where_a_feature_was_not_selected(make_trace):
    scores = np.tile(np.linspace(0, 1, 1001), (2, 1))
    scores[1, 0] = 2
    run = summarize(make_trace(scores, k=2), "run")
    values = {feature["index"]: feature["values"] for feature in run["scores"]["leaders"] + run["scores"]["others"]}
    assert values[0] == [None, 2.0]
    assert values[1000] == [1.0, 1.0]


def test_the_summary_is_plain_json(drifting_trace):
    run = summarize(drifting_trace, "run")
    assert json.loads(json.dumps(run, allow_nan=False))["n_rows"] == 4000


@pytest.mark.parametrize("n", [1, 2])
def test_the_shortest_runs(make_trace, n):
    run = summarize(make_trace([[1.0, 0.0]] * n, k=1, relevant=[[0]] * n), "run")
    assert run["detection"]["mean_second_half"] == 1.0
    assert run["lanes"]["features"][0]["selected"] == [(0, 100 * n)]
