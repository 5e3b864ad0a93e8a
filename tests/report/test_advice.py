"""The card on top of a comparison: the answer, its numbers, what speaks against it, and how to use it."""

from __future__ import annotations

import ast
import shlex

import pytest

from streamsift.cli.select import select
from streamsift.report.advice import card, snippets
from streamsift.report.ranking import cost_table, quality_table, remark


def recommended(comparison, **changes):
    found = comparison(3, recommended="method0 + naive_bayes", verdict="use", reason="It is the best of 3.")
    found["entries"][0] |= {
        "method": "screen:t_score(fading=0.98)",
        "intervals": {
            "accuracy": {"low": 0.88, "high": 0.92, "kind": "over time", "n": 200},
            "features": {"low": 5.0, "high": 5.0, "kind": "range", "n": 3},
        },
    }
    return found | changes


def test_three_numbers_with_their_intervals_and_the_reason(comparison):
    shown = card(recommended(comparison))
    assert shown.title == "Use screen:t_score(fading=0.98) with naive_bayes"
    assert [(fact.value, fact.what, fact.interval) for fact in shown.facts] == [
        ("90.0 %", "accuracy", "88.0 % to 92.0 % (95 % interval over time)"),
        ("25.0 %", "stability", "no interval: too few rows or repeats"),
        ("5", "features per row", "the same in all 3 repeats"),
    ]
    assert shown.reason == "It is the best of 3."
    assert shown.tone == "good"


def test_the_caveat_says_from_whom_it_cannot_be_distinguished(comparison):
    found = recommended(comparison)
    found["tests"]["pairs"][1]["verdict"] = "alike"
    found["tests"]["pairs"][2]["verdict"] = "alike"  # of two others
    caveat = card(found).caveat
    assert "No test distinguishes it from method2." in caveat
    assert "too few" not in caveat
    assert "those of naive_bayes" in caveat
    incomplete = card(found | {"complete": False, "repeats": 1})
    assert "not complete" in incomplete.caveat
    assert "It ran once." in incomplete.caveat
    assert incomplete.tone == "careful"


def test_the_caveat_calls_what_was_not_tested_by_its_name(comparison):
    found = recommended(comparison)
    found["tests"]["pairs"][0]["verdict"] = "too few"
    found["tests"]["pairs"][1]["verdict"] = "alike"
    caveat = card(found).caveat
    assert "No test distinguishes it from method2." in caveat
    assert "The rows are too few to test it against method1." in caveat


def test_the_caveat_calls_entries_as_the_reason_does(comparison):
    found = recommended(comparison)
    found["entries"][2] |= {"name": "method2 + neighbours", "model": "neighbours"}
    found["tests"]["pairs"][1] |= {"second": "method2 + neighbours", "verdict": "alike"}
    assert "distinguishes it from method2 + neighbours." in card(found).caveat


def test_the_command_and_the_code_are_what_was_compared(comparison):
    found = recommended(comparison, data="my plant.csv", n_features_to_select=7)
    command, code = (snippet.text for snippet in card(found).snippets)
    words = shlex.split(command)
    assert words[:5] == ["streamsift", "select", "my plant.csv", "--target", "alarm"]
    assert words[5:] == ["--method", "screen:t_score", "-k", "7", "--set", "fading=0.98", "--out", "run/"]
    select.make_context("select", [*words[2:]])  # the command line takes it
    ast.parse(code)
    assert "catalog.make('screen:t_score', n_features_to_select=7, fading=0.98)" in code
    assert "open_stream('my plant.csv', target='alarm')" in code


def test_the_command_and_the_code_read_the_data_as_the_comparison_did(comparison):
    reading = {"ignore": ["row id"], "na": ["?"], "sep": "\t", "unlabelled": "skip", "task": "classification"}
    found = recommended(comparison, data="a.csv", reading=reading, batch_size=50)
    command, code = (snippet.text for snippet in card(found).snippets)
    words = shlex.split(command)
    assert words[5:14] == [
        "--ignore", "row id", "--na", "?", "--sep", "tab", "--skip-unlabelled", "--task", "classification",
    ]  # fmt: skip
    select.make_context("select", [*words[2:]])
    ast.parse(code)
    assert "target='alarm', ignore=['row id'], na=['?'], sep='\\t', unlabelled='skip', task='classification'" in code
    assert "'naive_bayes', batch_size=50)" in code


def test_generated_data_has_no_command_and_baselines_have_no_code(comparison):
    found = recommended(comparison, data="generate:sea,irrelevant=20")
    assert [snippet.label for snippet in card(found).snippets] == ["In Python"]
    ast.parse(card(found).snippets[0].text)
    baseline = found["entries"][0] | {"kind": "baseline", "method": "all"}
    assert snippets(found, baseline) == []
    assert snippets(found, found["entries"][0] | {"method": "Screener(criterion=gini)"}) == []
    columns = found["entries"][0] | {"protocol": "columns", "method": "saola"}
    assert "selector.fit(X, y)" in snippets(found, columns)[0].text


@pytest.mark.parametrize(
    ("verdict", "title"),
    [
        ("do not select", "Do not select: use all features with naive_bayes"),
        ("nothing works", "Nothing here predicts the target"),
    ],
)
def test_other_verdicts(comparison, verdict, title):
    found = comparison(2, verdict=verdict, recommended="method0 + naive_bayes")
    found["entries"][0] |= {"kind": "baseline", "method": "all"}
    shown = card(found)
    assert shown.title == title
    assert shown.tone == "careful"


def test_a_comparison_of_an_earlier_version_has_its_sentence(comparison):
    shown = card(comparison(2))
    assert shown.title == "What the comparison says"
    assert shown.reason == "Use method0. It is the best."
    assert shown.facts == []


def test_learners_have_a_column_only_where_there_are_several(comparison):
    entries = comparison(3)["entries"]
    table = quality_table(entries, entries, "accuracy")
    assert table.title == "All methods, judged by naive_bayes"
    assert table.columns[:3] == ["rank", "method", "accuracy"]
    assert [row[1] for row in table.rows] == ["method0", "method1", "method2"]
    entries[2]["model"] = "perceptron"
    table = quality_table(entries, entries, "kappa")
    assert table.title == "All methods"
    assert table.columns[:4] == ["rank", "method", "learner", "kappa"]
    assert [row[2] for row in table.rows] == ["naive_bayes", "naive_bayes", "perceptron"]
    assert cost_table(entries).columns == ["method", "learner", "rows/s", "memory", "seconds", "RAM-hours"]


def test_the_spread_over_the_repeats_is_told_where_there_is_one(comparison):
    entries = comparison(2)["entries"]
    for entry in entries:
        entry |= {"accuracy": None, "accuracy_sd": None, "rmse": 2.0, "rmse_sd": 0.0512}
    table = quality_table(entries, entries, "rmse")
    assert table.rows[0][2].text == "2.000 ± 0.051"
    assert "± is the standard deviation" in table.note
    entries[0] |= {"rmse": 60_000.0, "rmse_sd": 1234.5}
    assert quality_table(entries, entries, "rmse").rows[0][2].text == "60,000 ± 1,234"
    for entry in entries:
        entry["rmse_sd"] = None
    assert "±" not in quality_table(entries, entries, "rmse").note


def test_rows_below_chance_carry_a_remark(comparison):
    entries = comparison(4)["entries"]
    assert "remark" not in quality_table(entries, entries, "accuracy").columns  # nobody knows what chance reaches
    entries[2] |= {"kind": "baseline", "method": "majority", "model": None}
    table = quality_table(entries, entries, "accuracy")
    assert [row[-1] for row in table.rows] == ["", "", "", "below the most frequent class"]
    entries[1] |= {"log_loss": 0.9}
    assert remark(entries[1], entries, "log_loss") == "below the most frequent class"
    assert remark(entries[0], entries, "log_loss") == ""
