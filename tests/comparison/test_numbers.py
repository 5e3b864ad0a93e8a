"""Comparisons whose target is a number: who takes part, how they are judged, and what is said about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from streamsift.comparison.compare import compare
from streamsift.comparison.metrics import close_to, merit, scored_number_steps
from streamsift.comparison.plan import plan_comparison
from streamsift.comparison.recommend import advise, in_order
from streamsift.comparison.significance import compare_over_streams, compare_over_time
from streamsift.core.exceptions import InputError, ParameterError, ReadingNotice
from streamsift.evaluate.baselines import RandomSelector
from streamsift.evaluate.prequential import prequential
from streamsift.metrics.regression import error_sums, joined_sums, regression_scores
from streamsift.report.comparison import comparison_report

METHODS = ["screen:correlation", "joint:forward", "investing"]


def data(n: int = 900, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    return X, 500.0 + 30.0 * X[:, 2] - 20.0 * X[:, 5] + 5.0 * rng.normal(size=n)


def compared(**options: Any) -> Any:
    given = {"methods": METHODS, "n_features_to_select": 2, "repeats": 1, "batch_size": 25, "budget": None} | options
    with pytest.warns(ReadingNotice, match="taken as numbers .*; --task classification"):
        return compare(data(), **given)


def test_entries_are_ranked_by_rmse_lowest_first() -> None:
    comparison = compared()
    found = comparison.as_dict()
    assert (found["task"], found["metric"], found["n_classes"]) == ("regression", "rmse", 0)
    rows = [entry for entry in found["entries"] if entry["protocol"] == "prequential"]
    assert [entry["rmse"] for entry in rows] == sorted(entry["rmse"] for entry in rows)
    assert {entry["name"] for entry in rows[-2:]} == {"random + sgd", "mean"}
    assert all(entry["accuracy"] is None for entry in rows)
    columns = next(entry for entry in found["entries"] if entry["protocol"] == "columns")
    assert columns["rmse"] == columns["late_rmse"] < 10.0
    assert list(comparison.table()[0])[:8] == [
        "rank", "name", "protocol", "rmse", "rmse_sd", "mae", "r2", "late_rmse",
    ]  # fmt: skip
    assert "RMSE" in found["recommendation"]
    assert " points" not in found["recommendation"]
    assert "lower is better" in found["metric_sentence"]


def test_figures_are_those_of_prequential() -> None:
    X, y = data()
    found = compared(methods=["screen:correlation"]).as_dict()
    entry = next(entry for entry in found["entries"] if entry["name"] == "random + sgd")
    selector = RandomSelector(2, random_state=0)
    trace = prequential((X, y), selector, "sgd", task="regression", batch_size=25)
    for name in ("rmse", "mae", "r2"):
        assert entry[name] == pytest.approx(trace.summary()[name], rel=1e-12)
    assert entry["curve"]["rmse"][-1] == pytest.approx(trace.column("window_rmse")[-1], rel=1e-12)


def test_the_scores_of_steps_average_to_the_metric() -> None:
    rng = np.random.default_rng(2)
    true = rng.normal(100.0, 3.0, 700)
    predicted = true + rng.normal(size=700) * np.linspace(0.5, 2.0, 700)
    groups = np.minimum(np.arange(700) // 60, 11)
    sums = error_sums(groups, true, predicted, 12)
    ends = np.cumsum(sums[0])
    steps, scores = scored_number_steps(ends, sums), regression_scores(joined_sums(sums))
    assert -np.mean(steps["rmse"]) == pytest.approx(float(scores.rmse[0]), rel=1e-12)
    assert -np.mean(steps["mae"]) == pytest.approx(float(scores.mae[0]), rel=1e-12)
    assert np.mean(steps["r2"]) == pytest.approx(float(scores.r2[0]), rel=1e-12)
    # to first order: leaving a step out changes the metric by what its score says
    without = float(regression_scores(joined_sums(sums[:, 1:])).rmse[0])
    assert without - float(scores.rmse[0]) == pytest.approx((steps["rmse"][0] + float(scores.rmse[0])) / 12, abs=0.03)


def test_differences_are_told_in_the_units_of_the_target() -> None:
    rng = np.random.default_rng(0)
    errors = -np.abs(rng.normal([5e-12, 9e-12], 1e-12, size=(200, 2)))  # far below what an accuracy can differ by
    pair = compare_over_time(errors, ["a", "b"], metric="rmse").pairs[0]
    assert pair.verdict == "better"
    assert pair.difference == pytest.approx(4e-12, rel=0.1)
    assert "e-12 RMSE, 95 % interval" in pair.sentence
    turned = compare_over_streams(errors[:9, ::-1] * 1e15, ["b", "a"], metric="mae").pairs[0]
    assert turned.verdict == "worse"
    assert " MAE, 95 % interval" in turned.sentence


def test_lower_is_better_everywhere_in_the_advice() -> None:
    common = {"kind": "rows", "protocol": "prequential", "stability": 1.0, "model": "sgd", "r2": 0.0, "late_rmse": 1.0}
    good = common | {"name": "good + sgd", "method": "good", "rmse": 1.0, "features": 5}
    bad = common | {"name": "bad + sgd", "method": "bad", "rmse": 3.0, "features": 5}
    ordered = in_order([bad, good], "rmse")
    assert [entry["name"] for entry in ordered] == ["good + sgd", "bad + sgd"]
    assert [entry["on_front"] for entry in ordered] == [True, False]
    pair = {"first": "good + sgd", "second": "bad + sgd", "difference": 2.0, "low": 1.5, "high": 2.5}
    tests = {"prequential": {"pairs": [pair | {"verdict": "better"}]}}
    advice = advise(ordered, tests, n_features=20, metric="rmse")
    assert (advice.verdict, advice.name) == ("use", "good + sgd")
    assert "RMSE 1, stability 100 % with 5 features" in advice.sentence
    assert "the next reaching 3" in advice.sentence
    assert merit(good, "rmse") > merit(bad, "rmse")
    assert close_to(-1.0, "rmse") == pytest.approx(-1.01)


@pytest.mark.parametrize("metric", ["mae", "r2"])
def test_other_metrics(metric: str) -> None:
    found = compared(metric=metric, methods=["screen:correlation"]).as_dict()
    values = [entry[metric] for entry in found["entries"]]
    assert values == sorted(values, reverse=metric == "r2")
    assert found["tests"]["pairs"][0]["metric"] == metric


def test_independent_streams_and_several_models() -> None:
    with pytest.warns(ReadingNotice):
        found = compare(
            "generate:friedman_drift,n_features=8", methods=["screen:correlation"], models=["sgd", "knn"], n_rows=600,
            repeats=3, n_features_to_select=4, batch_size=50,
        ).as_dict()  # fmt: skip
    assert found["tests"]["kind"] == "over streams"
    assert {entry["model"] for entry in found["entries"]} == {"sgd", "neighbours", None}
    assert all(entry["rmse_sd"] is not None for entry in found["entries"])
    assert found["entries"][0]["intervals"]["rmse"]["kind"] == "over streams"


def test_neighbours_judge_methods_of_columns_too() -> None:
    entries = compared(methods=["investing"], models=["knn"]).as_dict()["entries"]
    columns = next(entry for entry in entries if entry["protocol"] == "columns")
    assert columns["failures"] == []
    assert columns["rmse"] < 20.0


def test_whole_numbers_are_numbers_too_and_can_be_classes() -> None:
    X, _ = data(400)
    y = np.arange(400) % 90
    with pytest.warns(ReadingNotice, match="taken as numbers"):
        assert plan_comparison((X, y), methods=["screen:correlation"]).survey.task == "regression"
    plan = plan_comparison((X, y), methods=["screen:fisher"], task="classification")
    assert (plan.survey.task, plan.survey.n_classes, plan.metric) == ("classification", 90, "accuracy")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": ["etana"]}, "'etana' does not fit the data: it is for classes, and the target is a number"),
        ({"models": ["naive_bayes"]}, "'naive_bayes' predicts classes, and the target is numbers: choose among sgd"),
        ({"metric": "accuracy"}, "'accuracy' does not apply to a target of numbers: choose among rmse, mae, r2"),
        ({"task": "numbers"}, "'task' parameter of compare must be"),
    ],
)
def test_what_is_for_classes_is_refused_in_words(options: dict[str, Any], words: str) -> None:
    given = {"methods": ["screen:correlation"], "task": "regression"} | options
    with pytest.raises((InputError, ParameterError), match=words):
        compare(data(400), **given)


def test_a_constant_target_is_refused() -> None:
    X, _ = data(200)
    with pytest.raises(InputError, match="All 200 rows have the target 3"):
        compare((X, np.full(200, 3.0)), batch_size=20, task="regression", methods=["screen:correlation"])


def test_the_report_follows() -> None:
    page = comparison_report(compared(methods=["screen:correlation"]).as_dict(), None)
    for words in ("RMSE over time", "a number as target", "lower RMSE", "the mean so far", "R²"):
        assert words in page
    assert "Accuracy over time" not in page


def test_what_was_said_about_reading_is_kept() -> None:
    X, y = data()
    rows = pd.DataFrame(X).rename(columns=str).assign(target=y)
    given: dict[str, Any] = {"methods": ["screen:correlation"], "models": ["mean"], "repeats": 1}
    found = compare(rows, "target", task="regression", ignore=["0"], **given).as_dict()
    assert found["reading"] == {"ignore": ["0"], "task": "regression"}
