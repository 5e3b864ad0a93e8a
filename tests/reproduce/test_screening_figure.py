"""Figure 3 of the screening paper, small: fading finds more than no fading, for every score."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift import catalog
from streamsift.core.selection import rank_scores
from streamsift.metrics.detection import detection_rate
from streamsift.reproduce.result import Options
from streamsift.reproduce.screening.figure import detection_curve, figure_3
from streamsift.reproduce.screening.stream import SCORES, DetectionRun, drifting_stream, rates_by_count
from streamsift.reproduce.screening.traces import detection_trace, figure_2

SMALL = {"rows": 6000, "n_features": 100, "n_relevant": 10, "shift_every": 100}


@pytest.mark.compiled
@pytest.mark.parametrize("score", SCORES)
def test_fading_follows_the_drift_and_no_fading_does_not(score):
    counts = [10, 20, 40]
    faded = detection_curve(DetectionRun(score, 0.998, **SMALL), counts)
    plain = detection_curve(DetectionRun(score, 1.0, **SMALL), counts)
    assert (faded > plain + 0.2).all(), (faded, plain)
    assert (np.diff(faded) >= 0).all()
    assert (np.diff(plain) >= 0).all()


def test_a_curve_is_the_detection_rate_of_the_best_k():
    rng = np.random.default_rng(0)
    scores, relevant = rng.random(50), rng.choice(50, 12, replace=False)
    counts = [1, 5, 20, 50]
    one_by_one = [detection_rate(rank_scores(scores)[:k], relevant) for k in counts]
    np.testing.assert_allclose(rates_by_count(scores, relevant, counts), one_by_one)


def test_the_figure_is_the_same_on_one_process_and_on_two():
    small = {"scores": ("fisher",), "fading": {500: 0.999}}
    parts = []
    alone = figure_3(Options(rows=1000, jobs=1), lambda done, total: parts.append((done, total)), **small)
    shared = figure_3(Options(rows=1000, jobs=2), lambda done, total: None, **small)
    assert parts == [(1, 2), (2, 2)]
    assert alone == shared
    assert [row[:3] for row in alone.rows] == [["500", "fisher", "0.999"], ["500", "fisher", "none"]]


def test_a_trace_is_the_detection_rate_after_every_part_of_the_stream():
    run = DetectionRun("t_score", 0.999, 100, rows=2000, n_features=40, n_relevant=8)
    trace = detection_trace(run, selected=10, n_points=4)
    selector, rates = catalog.make("screen:t_score", fading=0.999), []
    for batch in drifting_stream(run).batches(500):
        selector.partial_fit(batch)
        rates.append(detection_rate(rank_scores(selector.scores_)[:10], batch.relevant))
    np.testing.assert_allclose(trace, rates)


def test_figure_2_has_three_charts_and_a_table_of_speeds_and_fadings():
    result = figure_2(Options(rows=1000), lambda done, total: None, scores=("t_score", "fisher"), fadings=(0.999, 1.0))
    assert [len(panel.curves) for panel in result.panels] == [2, 4, 4]
    assert [row[0] for row in result.rows] == ["250", "500", "1,000", "2,000"]
    cells = {one.name: one.y for one in result.series if one.panel == "by speed and fading"}
    assert [f"{value:.3f}" for value in cells["l = 250"]] == result.rows[0][1:]
