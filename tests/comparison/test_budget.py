"""A comparison ends within its budget: estimates, what is left out, repeats that are dropped, and going on."""

from __future__ import annotations

import itertools
import math
import os

import numpy as np
import pytest
from tests.comparison.failing_runs import divide, sleep

from streamsift.columns.ofs_density import OFSDensity
from streamsift.comparison import budget as budgeting
from streamsift.comparison import protocols
from streamsift.comparison.budget import Allowance, Cost, estimate, extrapolated, may_be_expensive, order_of
from streamsift.comparison.compare import carry_out, compare
from streamsift.comparison.comparison import Comparison
from streamsift.comparison.plan import ComparedEntry, ComparedRun, plan_comparison
from streamsift.core.exceptions import ParameterError
from streamsift.core.values import read_budget
from streamsift.rows.screener import Screener
from streamsift.runs.workers import run_all, timed


def people(n_rows=600, n_columns=8):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 2] += 2.0 * y
    return X, y


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def costs(monkeypatch):
    """Sets what the pilots of methods find."""

    def set_to(by_method, at_least=()):
        monkeypatch.setattr(budgeting, "may_be_expensive", lambda plan, entry: True)
        monkeypatch.setattr(
            budgeting,
            "estimate",
            lambda plan, entries, seconds: {
                entry: Cost(by_method[entry.method], entry.method in at_least)
                for entry in entries
                if entry.method in by_method
            },
        )

    return set_to


def plan_of(methods, repeats=3, **options):
    return plan_comparison(people(), methods=methods, repeats=repeats, **options)


# -- words and estimates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "5", "5 m", "0", "0s", "5x", "m", "-5m", "none!", "5m and more"])
def test_a_time_is_read_or_refused_in_words(text):
    if text in ("5", "5 m"):
        assert read_budget(text) == {"5": 5.0, "5 m": 300.0}[text]
    else:
        with pytest.raises(ParameterError, match="is no time: write 30s, 5m, 2h, 1h30m, or none"):
            read_budget(text)


def test_pilots_are_extrapolated_by_the_order_of_the_method():
    assert extrapolated([(500, 1.0)], 17_000, 2) == pytest.approx(34**2)
    quadratic = [(rows, 3e-6 * rows**2 + 0.5) for rows in (300, 600)]
    assert extrapolated(quadratic, 34_000, 2) == pytest.approx(3e-6 * 34_000**2 + 0.5)
    linear = [(rows, 1e-4 * rows + 2.0) for rows in (300, 600)]
    assert extrapolated(linear, 34_000, 1) == pytest.approx(1e-4 * 34_000 + 2.0)
    assert extrapolated([(300, 2.0), (600, 1.9)], 34_000, 1) == 1.9  # noise is no speed-up


def test_methods_that_compare_every_two_rows_are_known_by_name_setting_and_object():
    assert order_of(ComparedEntry("ofs_a3m", "naive_bayes")) == 2
    assert order_of(ComparedEntry("ofs_density(x=1)", "naive_bayes")) == 2
    assert order_of(ComparedEntry("OFSDensity()", "naive_bayes", "columns"), OFSDensity()) == 2
    assert order_of(ComparedEntry("screen:fisher", "naive_bayes")) == 1


def test_small_data_needs_no_pilot():
    plan = plan_of(["screen:fisher", "ofs_density", "etana"])
    assert not any(may_be_expensive(plan, entry) for entry in plan.entries)
    plan = plan_comparison(people(2000), methods=["screen:fisher", "ofs_density"])
    assert [entry.method for entry in plan.entries if may_be_expensive(plan, entry)] == ["ofs_density"]
    plan = plan_comparison(people(20_000, 30), methods=["screen:fisher"])
    assert all(may_be_expensive(plan, entry) for entry in plan.entries)


def test_pilots_run_in_another_process():
    plan = plan_comparison(people(3000), methods=["screen:fisher", "osfs"], baselines=())
    found = estimate(plan, plan.entries, 300.0)
    assert set(found) == set(plan.entries)
    assert all(cost.seconds > 0 and not cost.at_least for cost in found.values())


def test_data_that_cannot_be_sent_has_no_estimate():
    X, y = people(3000)
    from streamsift.streams.open import as_stream

    plan = plan_comparison(lambda seed: as_stream((X, y)), methods=["screen:fisher"], baselines=())
    assert estimate(plan, plan.entries, 60.0) == {}


def test_a_task_that_takes_too_long_is_ended_and_the_others_go_on(tmp_path):
    found = list(timed(sleep, str(tmp_path), ["a"], 1.0, 300.0))
    assert found == [("a", None, 0.25)]  # what it reported last
    found = list(timed(divide, 12, [4, 0, 1, 6], 60.0, 300.0))
    assert found == [(4, 3.0, 0.5), (0, None, None), (1, None, None), (6, 2.0, 0.5)]


# -- what still fits --------------------------------------------------------------------------------------------


def test_cheap_ones_come_first_and_what_does_not_fit_is_left_out(costs):
    costs({"fires": 40.0, "ofs": 10.0, "osfs": 15_000.0, "screen:fisher": 30.0})
    plan = plan_of(["fires", "osfs", "ofs", "screen:fisher"], repeats=1)
    allowance = Allowance(plan, 100.0, clock=Clock())
    runs = allowance.prepare([])
    methods = [run.entry.method for run in runs if allowance.admit(run)]
    assert methods == ["all", "random", "majority", "ofs", "screen:fisher", "fires"]
    assert list(allowance.left_out) == ["osfs + naive_bayes"]
    left = allowance.left_out["osfs + naive_bayes"]
    assert left.reason == "about 4.2 h for 600 rows; the budget is 100 s (--budget)".replace("100 s", "2 min")
    assert left.estimate == 15_000.0


def test_several_processes_have_more_time_but_no_run_may_be_longer_than_the_budget(costs):
    costs({"fires": 40.0, "ofs": 50.0, "screen:fisher": 60.0, "efs": 70.0})
    plan = plan_of(["fires", "efs", "ofs", "screen:fisher"], repeats=1)
    one, two = Allowance(plan, 95.0, 1, Clock()), Allowance(plan, 95.0, 2, Clock())
    for allowance in (one, two):
        allowance.prepare([])
    assert set(one.left_out) == {"screen:fisher + naive_bayes", "efs + naive_bayes"}
    assert set(two.left_out) == {"efs + naive_bayes"}


def test_a_pilot_that_did_not_end_says_more_than(costs):
    costs({"ofs": 500.0}, at_least=("ofs",))
    allowance = Allowance(plan_of(["ofs"]), 60.0, clock=Clock())
    allowance.prepare([])
    assert allowance.left_out["ofs + naive_bayes"].reason.startswith("more than 8 min for 600 rows")


def test_repeats_are_dropped_before_methods_and_it_is_said():
    plan, clock = plan_of(["ofs", "fires"], repeats=5), Clock()
    allowance = Allowance(plan, 100.0, clock=clock)
    begun = []
    for run in allowance.prepare([]):
        if allowance.admit(run):
            begun.append(run)
            clock.now += 8.0  # 40 for a repeat of two methods and three baselines
            allowance.finished(run)
    assert [run.repeat for run in begun] == [0] * 5 + [1] * 5
    assert allowance.left_out == {}
    assert allowance.repeats == 2
    assert allowance.sentence() == ("2 of 5 repeats were begun: no more fit into the budget of 2 min (--budget).")
    assert len(allowance.admitted()) == 10


def test_a_method_that_turns_out_to_have_no_time_left_is_left_out(costs):
    costs({"ofs": 10.0, "fires": 20.0})
    plan, clock = plan_of(["ofs", "fires"], repeats=1), Clock()
    allowance = Allowance(plan, 60.0, clock=clock)
    for run in allowance.prepare([]):
        if allowance.admit(run):
            clock.now += 50.0 if run.entry.method == "ofs" else 1.0  # five times what was thought
            allowance.finished(run)
    assert list(allowance.left_out) == ["fires + naive_bayes"]


def test_what_was_done_before_is_not_counted(costs):
    costs({"ofs": 500.0, "fires": 10.0})
    plan = plan_of(["ofs", "fires"], repeats=1)
    ofs, fires = (ComparedRun(ComparedEntry(name, "naive_bayes"), 0) for name in ("ofs", "fires"))
    allowance = Allowance(plan, 60.0, clock=Clock())
    waiting = allowance.prepare([ofs])
    assert allowance.left_out == {}
    assert ofs not in waiting
    assert allowance.admit(fires)
    assert set(allowance.admitted()) == set(plan.runs())


def test_what_may_take_hours_does_not_run_without_an_estimate(costs):
    costs({})
    allowance = Allowance(plan_of(["ofs", "ofs_density"], repeats=1), 60.0, clock=Clock())
    allowance.prepare([])
    assert list(allowance.left_out) == ["ofs_density + naive_bayes"]
    assert "its time could not be estimated" in allowance.left_out["ofs_density + naive_bayes"].reason


def test_without_a_budget_everything_runs():
    plan = plan_of(["ofs", "ofs_density"], repeats=2)
    allowance = Allowance(plan, None)
    assert allowance.prepare([]) == plan.runs()
    assert all(allowance.admit(run) for run in plan.runs())
    assert allowance.sentence() == ""


# -- in a comparison --------------------------------------------------------------------------------------------


def test_what_was_left_out_is_in_the_comparison(costs):
    costs({"osfs": 15_000.0})
    found = compare(people(), methods=["ofs", "osfs"], repeats=1, budget=300).as_dict()
    assert [one["name"] for one in found["entries"] if one["kind"] != "baseline"] == ["ofs + naive_bayes"]
    assert found["left_out"] == [
        {
            "method": "osfs + naive_bayes",
            "reason": "about 4.2 h for 600 rows; the budget is 5 min (--budget)",
            "estimate": 15_000.0,
            "by": "budget",
        }
    ]
    assert found["complete"]
    assert found["budget"]["seconds"] == 300
    assert found["budget"]["estimates"] == {"osfs + naive_bayes": 15_000.0}


def test_a_budget_that_is_used_up_leaves_the_first_repeat_of_what_was_begun():
    plan = plan_of(["ofs", "fires"], repeats=4)
    ticks = itertools.count(0.0, 30.0)
    allowance = Allowance(plan, 1000.0, clock=lambda: next(ticks))
    outcomes = list(carry_out(plan, allowance=allowance))
    found = Comparison.of(plan, outcomes, None, allowance).as_dict()
    assert found["complete"]
    assert 1 <= found["budget"]["repeats"] < 4
    assert {len(one["accuracies"]) for one in found["entries"]} == {found["budget"]["repeats"]}
    assert "repeats were begun" in found["budget"]["sentence"]


class Slow(Screener):
    """A screener for which the time of a comparison is up at its third batch, in its first or second run."""

    clock, run = Clock(), 0

    def partial_fit(self, X, y=None, classes=None):
        if getattr(self, "n_rows_seen_", 0) == 200:
            type(self).run -= 1
            if type(self).run == 0:
                type(self).clock.now = 1000.0
        return super().partial_fit(X, y, classes)


def compare_slowly(run, repeats, monkeypatch):
    """A comparison with a slow method, whose time is up in one of its runs; the first of them warms up."""
    monkeypatch.setattr(protocols, "_WARM", set())
    monkeypatch.setattr(Slow, "clock", Clock())
    monkeypatch.setattr(Slow, "run", run + 1)
    plan = plan_comparison(people(), methods=["screen:fisher", Slow("gini")], repeats=repeats)
    allowance = Allowance(plan, 60.0, clock=Slow.clock)
    outcomes = list(carry_out(plan, allowance=allowance))
    return outcomes, Comparison.of(plan, outcomes, None, allowance).as_dict()


def test_a_run_that_takes_longer_is_stopped_and_left_out(monkeypatch):
    outcomes, found = compare_slowly(1, 1, monkeypatch)
    stopped = [outcome for outcome in outcomes if outcome.stopped]
    assert [outcome.task.entry.method for outcome in stopped] == ["Slow(criterion=gini)"]
    assert stopped[0].reached == 0.5  # of 600 rows
    (left_out,) = found["left_out"]
    assert left_out["reason"] == "stopped after 300 of 600 rows, when the time was up; the budget is 60 s (--budget)"
    assert left_out["estimate"] == 2000.0
    assert found["complete"]
    assert [one["method"] for one in found["entries"] if one["kind"] != "baseline"] == ["screen:fisher"]


def test_a_repeat_in_which_a_run_was_stopped_does_not_count(monkeypatch):
    _, found = compare_slowly(2, 4, monkeypatch)
    assert found["left_out"] == []
    assert found["complete"]
    assert {len(one["accuracies"]) for one in found["entries"]} == {1}
    assert found["budget"]["repeats"] == 1
    assert found["budget"]["sentence"] == (
        "1 of 4 repeats were finished: the next was stopped when the budget of 60 s was used up (--budget)."
    )


def test_where_no_time_is_left_for_anything_the_most_frequent_class_remains():
    plan, clock = plan_of(["ofs"], repeats=2), Clock()
    allowance = Allowance(plan, 60.0, clock=clock)
    outcomes = []
    for outcome in carry_out(plan, allowance=allowance, progress=lambda run, fraction: setattr(clock, "now", 1e6)):
        outcomes.append(outcome)
    found = Comparison.of(plan, outcomes, None, allowance).as_dict()
    assert [one["name"] for one in found["entries"]] == ["majority"]
    reasons = {one["method"]: one["reason"] for one in found["left_out"]}
    assert set(reasons) == {"all + naive_bayes", "random + naive_bayes", "ofs + naive_bayes"}
    assert reasons["all + naive_bayes"].startswith("stopped before it had tested a row, when the time was up")
    assert reasons["ofs + naive_bayes"].startswith("no time was left")
    assert found["complete"]
    assert found["verdict"] is not None


def test_processes_whose_time_is_up_are_ended(tmp_path):
    heard = {}
    outcomes = list(
        run_all(
            sleep,
            str(tmp_path),
            ["a", "b"],
            2,
            heard.__setitem__,
            left=lambda task: 0.0 if heard.get(task) else math.inf,
        )
    )
    assert sorted(outcome.task for outcome in outcomes) == ["a", "b"]
    assert all(outcome.stopped and outcome.reached == 0.25 for outcome in outcomes)
    for task in "ab":
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / f"{task}.pid").read_text()), 0)


@pytest.mark.parametrize("wrong", [0, -5, "5m"])
def test_a_budget_is_a_number_of_seconds(wrong):
    with pytest.raises(ParameterError, match="budget"):
        compare(people(), methods=["ofs"], budget=wrong)
