"""The figures of the papers: the list is complete, every claim is judged or says why not, and the checks can fail."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest

from streamsift.reproduce import figure_checks as checks
from streamsift.reproduce.abfs import checks as abfs
from streamsift.reproduce.abfs import settings as abfs_settings
from streamsift.reproduce.abfs.runs import AbfsMeasured, AbfsRun
from streamsift.reproduce.abfs.sweep import balanced, configurations, sweep
from streamsift.reproduce.everything import plan
from streamsift.reproduce.figure_checks import Drawn
from streamsift.reproduce.figure_verdict import figures_summary
from streamsift.reproduce.papers import PAPERS, exhibits
from streamsift.reproduce.printed_figures import FIGURE_WORDS, FIGURES
from streamsift.reproduce.record import mean_series, record, text, with_repeat
from streamsift.reproduce.result import Options, Result, Series


def quiet(done, total):
    assert 0 < done <= total


def drawn(*lines, cells=()):
    """What the checks see, of lines (panel, name, x, y)."""
    series = [dict(zip(("panel", "name", "x", "y"), line, strict=True)) for line in lines]
    return Drawn([{"series": series, "cells": list(cells)}])


# -- the list ---------------------------------------------------------------------------------------------------------


def published():
    for paper in PAPERS:
        stored = json.loads((files("streamsift.reproduce") / "published" / f"{paper}.json").read_text("utf-8"))
        for figure in stored["figures"]:
            yield (paper, figure["id"]), figure["claims"]


def test_every_published_figure_is_listed_with_its_claims():
    listed = {(figure.paper, figure.name): [claim.sentence for claim in figure.claims] for figure in FIGURES}
    assert len(listed) == len(FIGURES)
    stored = dict(published())
    assert {name: listed.get(name) for name in stored} == stored
    assert set(listed) - set(stored) == {
        ("fires", "figure1"),
        ("fires", "figure2"),
        ("etana", "figure1"),
        ("etana", "section5.3"),
        ("screening", "figure1"),
    }


def test_every_claim_is_judged_or_says_why_not():
    for figure in FIGURES:
        assert bool(figure.exhibits) != bool(figure.schematic), figure
        for claim in figure.claims:
            assert (claim.check is None) == bool(claim.not_judged), claim
            assert (claim.check is None) == bool(figure.schematic), claim


def test_every_exhibit_exists_and_is_planned():
    planned = {(task.paper, task.exhibit): task for task in plan(Options(), quick=False)}
    for figure in FIGURES:
        assert set(figure.exhibits) <= set(exhibits(figure.paper)), figure
        assert {(figure.paper, exhibit) for exhibit in figure.exhibits} <= set(planned)
    drawn_ones = {(paper, name) for paper in PAPERS for name in exhibits(paper) if name.startswith("figure")}
    assert drawn_ones == {(figure.paper, name) for figure in FIGURES for name in figure.exhibits if "figure" in name}
    command = planned["abfs", "figure 7"].command
    assert command == "streamsift reproduce abfs --figure 7 --data DIR -o out/"


def test_before_anything_is_run_no_claim_is_judged():
    rows = figures_summary({}, {"abfs-figure-8": "No memory."})
    assert len(rows) == len(FIGURES)
    assert {row["verdict"]["word"] for row in rows} == {"not run", "nothing measured", "failed"} <= set(FIGURE_WORDS)
    assert {claim["holds"] for row in rows for claim in row["claims"]} == {None}
    assert {row["rests_on"] for row in rows} == {"nothing"}


def test_nothing_measured_is_no_answer():
    for figure in FIGURES:
        for claim in figure.claims:
            if claim.check is not None:
                assert claim.check(drawn()) is None, claim


# -- records ----------------------------------------------------------------------------------------------------------


def a_repeat(seed, *series, n_left=0):
    result = Result("t", "", "", ["a"], [], "", "", [], [], [], n_left, list(series))
    return {"seed": seed, "seconds": 1.0, "result": result.as_dict()}


def test_a_record_keeps_the_means_of_the_series_on_one_line():
    kept = None
    for seed, value in ((1, 1.0), (2, 2.0), (3, float("nan"))):
        line, words = Series("p", "a", [0.0, 0.5], [value, 3.0]), Series("p", "b", ["x", "y"], [value, value])
        kept = with_repeat(kept, a_repeat(seed, line, words), Options(), "abc")
    found = record("abfs", "figure 1", kept, command="c", paper_repeats=0)
    assert found["series"] == [
        {"panel": "p", "name": "a", "x": [0, 0.5], "y": [1.5, 3], "error": [0.5, 0]},
        {"panel": "p", "name": "b", "x": ["x", "y"], "y": [1.5, 1.5], "error": [0.5, 0.5]},
    ]
    assert json.loads(text(found)) == found
    assert '"x": ["x", "y"]' in text(found)


def test_an_unfinished_repeat_does_not_change_the_means_of_the_finished():
    line = Series("p", "a", [0.0], [1.0])
    kept = with_repeat(None, a_repeat(1, line), Options(), "abc")
    kept = with_repeat(kept, a_repeat(2, Series("p", "a", [0.0], [9.0]), n_left=3), Options(), "abc")
    assert record("abfs", "figure 1", kept, command="c", paper_repeats=0)["series"][0]["y"] == [1]
    assert mean_series([[line], []]) == mean_series([[line]])


def test_a_figure_whose_runs_are_left_says_so():
    series = [Series("mean accuracy", "configurations", ["ADWIN, gp=500, theta=0.01", "b"], [90.0, 80.0])]
    kept = with_repeat(None, a_repeat(1, *series, n_left=12), Options(), "abc")
    records = {"abfs-figure-6": record("abfs", "figure 6", kept, command="c", paper_repeats=30)}
    row = next(row for row in figures_summary(records, {}) if (row["paper"], row["figure"]) == ("abfs", "figure6"))
    assert row["verdict"]["word"] == "holds"
    assert row["verdict"]["sentence"] == "So far (12 runs are left): 1 of 1 claims hold."
    assert row["rests_on"] == "full size, part of the runs"


# -- checks: each holds on one drawing and not on another -------------------------------------------------------------


def boxes(panel, values, place="mean"):
    return [(panel, name, [place], [value]) for name, value in values.items()]


def test_checks_of_parameters():
    near = boxes("accuracy, all widths", {"100": 80.0, "500": 81.0})
    assert checks.alike("accuracy, all widths", "mean", 2.0, best=("500",))(drawn(*near))[0]
    assert not checks.alike("accuracy, all widths", "mean", 2.0, best=("100",))(drawn(*near))[0]
    assert not checks.alike("accuracy, all widths", "mean", 0.5)(drawn(*near))[0]
    steady = [*boxes("SA, all widths", {"100": 0.3, "500": 0.2}, "deviation")]
    assert abfs.steadiest(drawn(*steady, *boxes("RRF, all widths", {"100": 0.3, "500": 0.2}, "deviation")))[0]
    assert not abfs.steadiest(drawn(*steady, *boxes("RRF, all widths", {"100": 0.1, "500": 0.2}, "deviation")))[0]
    rising, falling = {"0.01": 0.1, "0.05": 0.2, "0.1": 0.2}, {"0.01": 0.3, "0.05": 0.2, "0.1": 0.1}
    trade = abfs.threshold_trades
    assert trade(drawn(*boxes("CCP, all widths", rising), *boxes("RRF, all widths", falling)))[0]
    assert not trade(drawn(*boxes("CCP, all widths", falling), *boxes("RRF, all widths", falling)))[0]


def test_the_share_of_two_streams_in_the_variance_is_that_of_all_runs():
    rng = np.random.default_rng(0)
    runs = {"BG3": rng.normal(50, 2, 30), "RTG": rng.normal(60, 2, 20), "SEA": rng.normal(90, 3, 25)}
    groups = [{"runs": len(v), "mean": v.mean(), "deviation": v.std()} for v in runs.values()]
    assert abfs._pooled(groups) == pytest.approx(np.concatenate(list(runs.values())).var())
    lines = [
        (f"{measure} by stream", name, ["runs", "mean", "deviation"], [len(v), v.mean(), v.std()])
        for measure in ("accuracy", "SA")
        for name, v in runs.items()
    ]
    assert abfs.hard_streams_spread(drawn(*lines))[0]
    same = [(panel, name, x, [y[0], 70.0, 5.0]) for panel, name, x, y in lines]
    assert not abfs.hard_streams_spread(drawn(*same))[0]


def test_checks_of_features_in_use():
    def lines(adaptive, kept):
        return drawn(
            ("BG1", "HT", [1, 2, 3], [5, 9, 12]),
            ("BG1", "HAT", [1, 2, 3], adaptive),
            *(("BG1", f"{name}-ABFS", [1, 2, 3], kept) for name in ("HT", "HAT")),
        )

    assert abfs.trees_on_bg1(lines([5, 9, 4], [2, 4, 3]))[0]
    assert not abfs.trees_on_bg1(lines([5, 9, 10], [2, 4, 3]))[0]
    assert not abfs.trees_on_bg1(lines([5, 9, 4], [2, 5, 3]))[0]
    spam = drawn(("SPAM", "HAT", [1, 2], [3, 17]), ("SPAM", "HAT-ABFS, in the tree", [1, 2], [1, 4]))
    assert abfs.spam_features("HAT", 16, exact=False)(spam)[0]
    assert not abfs.spam_features("HAT", 16, exact=True)(spam)[0]
    assert not abfs.spam_features("HAT", 10, exact=False)(spam)[0]


def test_checks_of_screening_curves():
    def lines(faded):
        return drawn(
            *(
                (speed, name, [100, 200, 300], y)
                for k, speed in enumerate(checks.SPEEDS)
                for name, y in (("chi2, fading 0.9", faded[k]), ("chi2, no fading", [0.2, 0.5, 0.99]))
            )
        )

    good = lines([[0.3, 0.995, 1.0], [0.3, 0.995, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    assert checks.fading_beats_none(good)[0]
    assert checks.slow_shifts_need_fewer(good)[0]
    assert checks.fewer_at_the_fastest(good)[0]
    bad = lines([[0.1, 0.2, 0.99]] * 4)
    assert not checks.fading_beats_none(bad)[0]
    assert not checks.slow_shifts_need_fewer(bad)[0]
    assert not checks.fewer_at_the_fastest(bad)[0]


def test_the_check_of_the_penalty():
    def line(*values):
        return drawn(("Gisette", "stability", [0.0001, 0.01, 1.0, 100.0], list(values)))

    assert checks.penalty_helps_up_to_one(line(0.5, 0.6, 0.7, 0.4))[0]
    assert not checks.penalty_helps_up_to_one(line(0.5, 0.6, 0.7, 0.8))[0]
    assert not checks.penalty_helps_up_to_one(line(0.9, 0.6, 0.7, 0.4))[0]


# -- sweeps of ABFS ---------------------------------------------------------------------------------------------------


def found(run, accuracy=80.0):
    return AbfsMeasured(accuracy, 1.0, 1.0, (0.8, 0.9, 0.7), [1], [1], [None], [])


def test_sweeps_go_block_by_block_and_a_cut_one_is_balanced():
    runs = sweep(Options(), ("BG1", "SEA"), ("NB", "HT"), (100, 200), (100, 500), (0.01,))
    assert len(runs) == 2 * 2 * 2 * 6
    blocks = [(run.irrelevant, run.learner, run.stream) for run in runs]
    assert blocks == sorted(blocks, key=lambda b: (b[0], ("NB", "HT").index(b[1]), b[2]))
    done = {run: [found(run)] for run in runs[:-2]}
    counted = balanced(runs, done)
    assert len(counted) == len(runs) - 6
    assert {(run.irrelevant, run.learner, run.stream) for run in runs} - {
        (run.irrelevant, run.learner, run.stream) for run in counted
    } == {(200, "HT", "SEA")}
    assert len(sweep(Options(brief=True), ("BG1",), ("NB", "HT"), (100, 200), (100, 500), (0.01,))) == 6


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(abfs_settings, "_measured", {})
    return {
        "streams": ("BG1",),
        "learners": ("NB",),
        "widths": (100,),
        "grace_periods": (100, 500),
        "thresholds": (0.01,),
    }


@pytest.mark.compiled
def test_the_sweeps_share_their_runs(few_rows, monkeypatch, tmp_path):
    measured, real = [], abfs_settings.measure

    def noted(run, folder):
        measured.append(run)
        return real(run, folder)

    monkeypatch.setattr(abfs_settings, "measure", noted)
    options = Options(rows=200, keep=str(tmp_path))
    by_period = exhibits("abfs")["figure 1"](options, quiet, **few_rows)
    assert len(measured) == 6
    assert [row[:3] for row in by_period.rows[:2]] == [["all widths", "100", "3"], ["all widths", "500", "3"]]
    best = exhibits("abfs")["figure 6"](options, quiet, **few_rows)
    (line,) = best.series
    assert line.y == sorted(line.y, reverse=True)
    assert len(line.x) == len(best.rows) == 6
    cloud = exhibits("abfs")["figure 7"](options, quiet, **few_rows)
    assert [len(one.x) for one in cloud.series if one.panel == "NB"] == [6]
    assert len(measured) == 6
    left = exhibits("abfs")["figure 3"](Options(rows=300, keep=str(tmp_path), until=0.0), quiet, **few_rows)
    assert (left.n_left, left.rows, left.series) == (6, [], [])
    json.dumps(by_period.as_dict(), allow_nan=False)


def test_a_sweep_has_the_runs_of_the_paper():
    runs = configurations("SEA", 100, "NB")
    assert len({run.configuration for run in runs}) == 36
    assert AbfsRun("SEA", 100, "NB", "ABFS") in runs  # that of Tables 3 to 5
