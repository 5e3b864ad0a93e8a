"""The advice of a comparison: every sentence follows from the tests, and it is what a colleague would say."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, f1_score

from streamsift.comparison.compare import compare
from streamsift.comparison.metrics import METRICS, scored_steps
from streamsift.comparison.recommend import advise, in_order
from streamsift.metrics.classification import class_counts


def entry(method, accuracy, stability=1.0, features=3.0, kind="rows", protocol="prequential", model="nb", late=None):
    return {
        "name": method if model is None else f"{method} + {model}",
        "method": method,
        "model": model,
        "kind": kind,
        "protocol": protocol,
        "accuracy": accuracy,
        "balanced_accuracy": None if accuracy is None else accuracy - 0.1,
        "late_accuracy": accuracy if late is None else late,
        "stability": stability,
        "features": features,
    }


def all_features(accuracy, model="nb"):
    return entry("all", accuracy, features=8.0, kind="baseline", model=model)


def chance(accuracy, model="nb"):
    return entry("random", accuracy, kind="baseline", model=model)


def majority(accuracy):
    return entry("majority", accuracy, features=0.0, kind="baseline", model=None)


def verdicts_on(entries, clear=0.02, few=False):
    """Tests that tell apart what differs by more than `clear`."""
    pairs = []
    for a, b in combinations([one for one in entries if one["accuracy"] is not None], 2):
        gap = a["accuracy"] - b["accuracy"]
        verdict = "too few" if few else "alike" if abs(gap) <= clear else "better" if gap > 0 else "worse"
        low, high = (None, None) if few else (gap - clear, gap + clear)
        pairs.append(
            {"first": a["name"], "second": b["name"], "difference": gap, "low": low, "high": high, "verdict": verdict}
        )
    return {"prequential": {"pairs": pairs}}


def advice(*entries, metric="accuracy", **options):
    ordered = in_order(entries, metric)
    return advise(ordered, verdicts_on(ordered, **options), n_features=8, metric=metric)


def test_all_features_that_are_better_are_recommended_instead():
    found = advice(entry("fisher", 0.8), chance(0.6), all_features(0.89), majority(0.5))
    assert (found.verdict, found.name) == ("do not select", "all + nb")
    assert found.sentence == (
        "Do not select here: all features are better by 9.0 points, 95 % interval 7.0 to 11.0 (all + nb: accuracy "
        "89.0 %, against fisher + nb: accuracy 80.0 %, the best selection)."
    )


def test_all_features_under_the_best_model_count_too():
    found = advice(
        entry("fisher", 0.8), chance(0.6), all_features(0.75), all_features(0.9, "knn"), chance(0.5, "knn")
    )  # fmt: skip
    assert (found.verdict, found.name) == ("do not select", "all + knn")
    assert "better by 10.0 points" in found.sentence
    assert "all features under the same model reach 75.0 %, so selecting gains 5.0 points" in found.sentence


def test_one_that_all_features_do_not_beat_is_chosen_before_a_more_stable_one_that_they_do():
    found = advice(entry("stable", 0.872, 1.0), entry("good", 0.88, 0.5), chance(0.6), all_features(0.895), clear=0.02)
    assert (found.verdict, found.name) == ("use", "good + nb")


def test_a_method_is_named_with_what_selecting_gains():
    found = advice(entry("fisher", 0.9), entry("ofs", 0.8), chance(0.6), all_features(0.85), majority(0.5))
    assert (found.verdict, found.name) == ("use", "fisher + nb")
    assert found.sentence.startswith(
        "Use fisher + nb: accuracy 90.0 %, stability 100 % with 3 features per row. It is "
    )
    assert "it is better than the other beyond chance" in found.sentence
    assert "all features under the same model reach 85.0 %, so selecting gains 5.0 points" in found.sentence


def test_alike_is_said_where_the_test_says_so():
    found = advice(entry("fisher", 0.9), chance(0.6), all_features(0.905), all_features(0.91, "knn"))
    assert found.verdict == "use"
    assert (
        "all features under the same model reach 90.5 %, which cannot be distinguished (-0.5 points" in found.sentence
    )
    assert "all features under knn, their best model, reach 91.0 %, which cannot be distinguished" in found.sentence
    assert "gains" not in found.sentence


def test_few_rows_name_what_is_simplest_meanwhile():
    found = advice(entry("fisher", 0.9), chance(0.6), all_features(0.7), majority(0.5), few=True)
    assert (found.verdict, found.name) == ("too few", "all + nb")
    assert found.sentence.startswith("There are too few rows to tell whether selecting pays")
    assert "Meanwhile use all features (all + nb: accuracy 70.0 %), which is the simplest" in found.sentence
    assert "the rows are too few to test it against random features" in found.sentence
    assert "no test" not in found.sentence  # nothing was tested
    assert "Use fisher" not in found.sentence


def test_few_rows_to_tell_from_random_are_few_rows_even_where_random_is_ahead():
    found = advice(entry("fisher", 0.6), chance(0.7), all_features(0.65), few=True)
    assert found.verdict == "too few"


@pytest.mark.parametrize("drawn", [0.795, 0.9])
def test_what_random_features_match_is_never_recommended(drawn):
    found = advice(entry("fisher", 0.8), entry("ofs", 0.7), chance(drawn), all_features(0.8), majority(0.5))
    assert (found.verdict, found.name) == ("do not select", "all + nb")
    assert (
        "no method is better than random features beyond chance (the best is fisher + nb: accuracy 80.0 %"
        in found.sentence
    )


def test_a_large_gap_that_few_repeats_cannot_settle_is_no_reason_against_selecting():
    found = advice(entry("fisher", 0.9), chance(0.6), all_features(0.8), majority(0.5), clear=0.35)
    assert (found.verdict, found.name) == ("too few", "all + nb")
    assert "no test distinguishes it from random features" in found.sentence
    assert "more repeats" in found.sentence


def test_random_under_the_same_model_is_what_counts():
    found = advice(
        entry("fisher", 0.90, model="knn"), entry("ofs", 0.85), chance(0.6), chance(0.9, "knn"), all_features(0.84)
    )
    assert found.name == "ofs + nb"


def test_nothing_better_than_the_most_frequent_class_is_said():
    found = advice(entry("fisher", 0.8), chance(0.805), all_features(0.795), majority(0.8))
    assert (found.verdict, found.name) == ("nothing works", None)
    assert "Nothing here is better than the most frequent class (majority: accuracy 80.0 %;" in found.sentence


def test_only_all_features_better_than_the_most_frequent_class():
    found = advice(entry("fisher", 0.8), chance(0.7), all_features(0.81), majority(0.785))
    assert (found.verdict, found.name) == ("do not select", "all + nb")
    assert "all features are better than the most frequent class by 2.5 points" in found.sentence


def test_methods_that_select_everything_are_asked_for_fewer():
    many = advice(entry("fisher", 0.8, features=8.0), entry("ofs", 0.9, features=8.0), chance(0.6), all_features(0.8))
    assert (many.verdict, many.name) == ("all selected", None)
    assert many.sentence == "Every method selects all 8 columns: ask for fewer with -k."
    assert advice(entry("ofs", 0.9, features=8.0)).sentence.startswith("ofs + nb selects all 8 columns")
    assert advice(entry("fisher", 0.8, features=8.0), entry("ofs", 0.9, features=7.5)).verdict == "use"


def test_nothing_finished():
    found = advice(all_features(0.8), entry("fisher", None))
    assert (found.verdict, found.name) == ("nothing finished", None)


def test_without_a_test_nothing_is_claimed():
    entries = in_order([entry("fisher", 0.9), entry("ofs", 0.8), all_features(0.85), chance(0.5)])
    found = advise(entries, {}, n_features=8)
    assert found.name == "fisher + nb"
    assert "the differences were not tested" in found.sentence
    assert "all features under the same model reach 85.0 %." in found.sentence


def test_columns_that_random_features_match_in_the_second_half_are_not_recommended():
    column = entry("osfs", 0.8, kind="columns", protocol="columns")
    entries = in_order([column, entry("random", 0.6, kind="baseline", late=0.85), all_features(0.9)])
    assert advise(entries, {}, n_features=8).verdict == "do not select"
    entries = in_order([column, entry("random", 0.6, kind="baseline", late=0.65), all_features(0.9)])
    assert advise(entries, {}, n_features=8).name == "osfs + nb"


def test_of_those_close_to_the_best_the_most_stable_is_chosen_and_it_is_on_the_front():
    rng = np.random.default_rng(5)
    for _ in range(50):
        entries = in_order(
            [
                entry(str(k), 0.9 + rng.integers(0, 8) / 400, rng.integers(0, 3) / 2, rng.integers(1, 4))
                for k in range(6)
            ]
        )
        chosen = advise(entries, {}, n_features=8).name
        assert next(one for one in entries if one["name"] == chosen)["on_front"]


def test_the_metric_decides_rank_and_words():
    entries = [entry("a", 0.8), entry("b", 0.9) | {"balanced_accuracy": 0.6}]
    assert [one["method"] for one in in_order(entries, "balanced_accuracy")] == ["a", "b"]
    assert "Use a + nb: balanced accuracy 70.0 %" in advice(*entries, metric="balanced_accuracy").sentence


# -- the scores of steps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_scores_of_steps_have_the_metric_as_their_mean(n_classes):
    rng = np.random.default_rng(n_classes)
    true = np.minimum(rng.integers(0, 2 * n_classes, 2000), n_classes - 1)
    predicted = np.where(rng.random(2000) < 0.6, true, rng.integers(0, n_classes, 2000))
    counts = class_counts(np.repeat(np.arange(40), 50), true, predicted, 40, n_classes)
    found = scored_steps(np.arange(1.0, 41.0) * 50, counts, np.arange(40.0))
    wanted = {
        "accuracy": np.mean(true == predicted),
        "balanced_accuracy": balanced_accuracy_score(true, predicted),
        "kappa": cohen_kappa_score(true, predicted),
        "f1": f1_score(true, predicted, average="macro"),
        "log_loss": -np.arange(40.0).sum() / 2000,
    }
    assert {name: np.mean(found[name]) for name in METRICS} == pytest.approx(wanted)


@pytest.mark.parametrize("metric", ["kappa", "f1", "balanced_accuracy"])
def test_a_score_says_by_how_much_the_metric_moves_without_the_step(metric):
    rng = np.random.default_rng(1)
    true = rng.integers(0, 3, 20_000)
    predicted = np.where(rng.random(20_000) < 0.6, true, 0)
    measure = {
        "kappa": cohen_kappa_score,
        "f1": lambda a, b: f1_score(a, b, average="macro"),
        "balanced_accuracy": balanced_accuracy_score,
    }[metric]
    counts = class_counts(np.repeat(np.arange(200), 100), true, predicted, 200, 3)
    scores = scored_steps(np.arange(1.0, 201.0) * 100, counts, np.zeros(200))[metric]
    whole = measure(true, predicted)
    for step in (0, 77, 199):
        kept = np.arange(20_000) // 100 != step
        moved = 199 * (whole - measure(true[kept], predicted[kept]))
        assert scores[step] - whole == pytest.approx(moved, abs=0.01)


def test_a_metric_without_a_value_has_no_scores():
    counts = np.array([[[5, 0]] * 3] * 3)  # one class only: chance is always right
    found = scored_steps(np.array([5.0, 10.0, 15.0]), counts, np.full(3, np.nan))
    assert found["kappa"] is None
    assert found["log_loss"] is None
    assert found["accuracy"] == [1.0, 1.0, 1.0]


# -- end to end -------------------------------------------------------------------------------------------------


def people(n_rows=2000, shift=0.0, share=0.5, seed=0):
    """Two columns of eight tell the class well; with a shift, so do all the others."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(int)
    X = rng.normal(size=(n_rows, 8)) + shift * y[:, None]
    X[:, 2] += 2.0 * y
    X[:, 5] += 1.0 * y
    return X, y


def found_by(data, methods=("screen:fisher",), **options):
    given = {"methods": methods, "repeats": 1, "batch_size": 20, "n_features_to_select": 2, **options}
    return compare(data, **given).as_dict()


def test_two_columns_that_tell_the_class_are_selected():
    found = found_by(people())
    assert (found["verdict"], found["recommended"]) == ("use", "screen:fisher + naive_bayes")
    assert {one["name"] for one in found["entries"]} == {
        "screen:fisher + naive_bayes", "all + naive_bayes", "random + naive_bayes", "majority",
    }  # fmt: skip
    majority = next(one for one in found["entries"] if one["name"] == "majority")
    assert majority["features"] == 0.0
    assert majority["accuracy"] == pytest.approx(0.5, abs=0.05)


def test_where_all_columns_tell_the_class_nothing_is_selected():
    found = found_by(people(shift=0.8), n_features_to_select=1)
    assert (found["verdict"], found["recommended"]) == ("do not select", "all + naive_bayes")
    assert found["recommendation"].startswith("Do not select here: all features are better by")


def test_noise_is_not_recommended():
    X, _ = people()
    found = found_by((X, np.random.default_rng(9).integers(0, 2, 2000)))
    assert (found["verdict"], found["recommended"]) == ("nothing works", None)


def test_a_handful_of_batches_is_too_few():
    found = found_by(people(300))
    assert (found["verdict"], found["recommended"]) == ("too few", "all + naive_bayes")


def test_eight_columns_and_ten_to_select():
    found = found_by(people(600), n_features_to_select=None)
    assert found["recommendation"] == "screen:fisher + naive_bayes selects all 8 columns: ask for fewer with -k."


def test_unequal_classes_are_judged_by_balanced_accuracy_unless_somebody_says_otherwise(tmp_path):
    data = people(1200, share=0.1)
    found = found_by(data, folder=tmp_path)
    assert found["metric"] == "balanced_accuracy"
    assert "the largest class has 91 % of the rows" in found["metric_sentence"]
    assert found["entries"][-1]["balanced_accuracy"] == pytest.approx(0.5)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    for metric in METRICS:  # a finished comparison is looked at again by another one, without a run
        again = found_by(data, folder=tmp_path, metric=metric)
        assert again["metric"] == metric
        sign = -1 if metric == "log_loss" else 1
        ranked = [sign * one[metric] for one in again["entries"]]
        assert ranked == sorted(ranked, reverse=True)
        pair, values = again["tests"]["pairs"][0], {one["name"]: sign * one[metric] for one in again["entries"]}
        assert pair["difference"] == pytest.approx(values[pair["first"]] - values[pair["second"]], abs=0.02)
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}


def test_rivals_are_named_as_such():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    found = compare((rng.normal(size=(400, 4)) + y[:, None], y), methods=["ofs", "screen:fisher"], repeats=1).as_dict()
    assert [rival["method"] for rival in found["rivals"]] == ["ofs"]
    assert found["rivals"][0]["sentence"].startswith("ofs: Here for comparison: on 34 real data sets")
