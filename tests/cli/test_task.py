"""`streamsift select` on targets that are numbers."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("default::streamsift.ReadingNotice")  # else a warning is an error


@pytest.fixture
def houses(tmp_path):
    """A CSV of 300 rows: `area` and `town` explain the price, the rest does not."""
    rng = np.random.default_rng(0)
    area, noise, town = rng.normal(size=300), rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    price = 100.0 + 3.0 * area + 2.0 * town + rng.normal(size=300)
    path = tmp_path / "houses.csv"
    lines = [
        f"{n[0]:.4f},{a:.4f},{n[1]:.4f},{'ABC'[t]},{n[2]:.4f},{p:.3f},{p * 10:.0f}"
        for a, n, t, p in zip(area, noise, town, price, strict=True)
    ]
    path.write_text("\n".join(["n0,area,n1,town,n2,price,tenths", *lines]) + "\n")
    return path


def chosen(out):
    return [line.split("\t")[1] for line in out.splitlines()[1:]]


@pytest.mark.parametrize("target", ["price", "tenths"])
def test_numbers_are_found_out_and_said(sift, houses, target):
    other = "tenths" if target == "price" else "price"
    code, out, err = sift("select", houses, "--target", target, "--ignore", other, "-k", 2)
    assert (code, chosen(out)) == (0, ["area", "town"])
    assert err.startswith(f"{target}: taken as numbers (")
    said, method = err.splitlines()
    assert said.endswith("; --task classification takes them as classes.")
    assert method.startswith("Method: joint:forward, the default")


def test_quiet_says_nothing_and_json_holds_the_task(sift, houses):
    code, out, err = sift("select", houses, "--target", "price", "--ignore", "tenths", "--quiet", "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert (document["method"], document["task"]) == ("joint:forward", "regression")
    assert document["parameters"]["task"] == "regression"


@pytest.mark.parametrize("rule", ["forward", "mrmr", "ols", "lasso", "elastic_net", "mcp", "fsa"])
def test_joint_rules_take_numbers(sift, houses, rule):
    code, out, _ = sift(
        "select", houses, "--target", "price", "--ignore", "tenths", "-k", 2, "--method", f"joint:{rule}"
    )
    assert code == 0
    assert sorted(chosen(out)) == ["area", "town"]


def test_a_method_for_classes_is_refused_with_those_that_work(sift, houses):
    for method in ("efs", "screen:t_score"):
        code, out, err = sift("select", houses, "--target", "price", "--method", method)
        assert (code, out) == (1, "")
        assert f"{method!r} selects features for classes, not for numbers" in err
        assert "screen:correlation" in err
        assert "--task classification" in err
    code, _, err = sift("select", houses, "--target", "price", "--method", "efs", "--task", "regression")
    assert code == 1
    assert "'efs' selects features for classes, not for numbers (its weights grow" in err


def test_a_method_without_target_takes_any_and_no_task(sift, houses):
    code, out, _ = sift("select", houses, "--target", "price", "--ignore", "town", "-k", 1, "--method", "fsds")
    assert (code, len(chosen(out))) == (0, 1)
    code, _, err = sift("select", houses, "--target", "price", "--method", "fsds", "--task", "regression")
    assert code == 1
    assert "does not apply to 'fsds', which looks at no target" in err


@pytest.mark.parametrize("criterion", ["mutual_info", "chi2", "gini"])
def test_bin_scores_take_numbers_and_say_that_they_cut_them(sift, houses, criterion):
    method = f"screen:{criterion}"
    call = ("select", houses, "--target", "price", "--ignore", "tenths", "--method", method)
    code, out, err = sift(*call, "-k", 2)
    assert (code, sorted(chosen(out))) == (0, ["area", "town"])
    taken, cut = err.splitlines()
    assert taken.startswith("price: taken as numbers (")
    assert cut == f"price: cut into 5 bins of equal weight for {method}; --set target_bins=N cuts it into N."
    code, out, err = sift(*call, "--set", "target_bins=3", "--json")
    assert (code, err.splitlines()) == (0, [taken])  # who says how many needs no telling
    document = json.loads(out)
    assert document["parameters"]["target_bins"] == 3
    assert [feature["name"] for feature in document["selected"][:2]] == ["area", "town"]


def test_the_task_can_be_given(sift, houses):
    code, out, err = sift(
        "select", houses, "--target", "tenths", "--ignore", "price", "--task", "classification", "--json"
    )
    assert (code, err) == (0, "")
    assert json.loads(out)["method"] == "joint:forward"
    code, out, err = sift("select", houses, "--target", "town", "--task", "regression")
    assert (code, out) == (1, "")
    assert "'B' is not a number" in err or "'A' is not a number" in err or "'C' is not a number" in err
    code, out, err = sift("select", houses, "--target", "price", "--method", "investing", "--task", "regression")
    assert code == 1
    assert "does not apply to 'investing'" in err


def test_standard_input_must_be_told(sift, houses, monkeypatch):
    def given():
        return io.TextIOWrapper(io.BytesIO(houses.read_bytes()))

    monkeypatch.setattr(sys, "stdin", given())
    code, _, err = sift("select", "-", "--target", "price")
    assert code == 1
    assert "--task regression" in err
    monkeypatch.setattr(sys, "stdin", given())
    code, out, _ = sift("select", "-", "--target", "price", "--ignore", "tenths", "-k", 1, "--task", "regression")
    assert (code, chosen(out)) == (0, ["area"])


def test_a_saved_selector_goes_on_with_numbers(sift, houses, tmp_path):
    saved = tmp_path / "s.streamsift"
    first = ("--target", "price", "--ignore", "tenths")
    assert sift("select", houses, *first, "--save", saved)[0] == 0
    code, out, _ = sift("select", houses, *first, "--load", saved, "--json")
    assert code == 0
    assert json.loads(out)["n_rows_seen"] == 600
    code, _, err = sift("select", houses, *first, "--load", saved, "--task", "classification")
    assert code == 1
    assert "saved with task='regression'" in err


def test_a_run_over_numbers_can_be_resumed(sift, houses, tmp_path):
    kept = tmp_path / "run.ckpt"
    call = ("select", houses, "--target", "price", "--ignore", "tenths", "--checkpoint", kept, "--resume", "--json")
    first, again = sift(*call), sift(*call)
    assert (first[0], again[0]) == (0, 0)
    assert json.loads(first[1])["selected"] == json.loads(again[1])["selected"]


def test_letters_as_numbers_are_classes_and_it_is_said(sift, tmp_path):
    rng = np.random.default_rng(1)
    label = rng.integers(0, 26, 600)
    path = tmp_path / "letters.csv"
    path.write_text("a,b,y\n" + "".join(f"{k + rng.normal():.3f},{rng.normal():.3f},{k}\n" for k in label))
    code, out, err = sift("select", path, "--target", "y", "-k", 1)
    assert (code, chosen(out)) == (0, ["a"])
    said = "y: taken as classes (26 different values in 600 rows); --task regression takes them as numbers."
    assert err.splitlines()[0] == said


def test_a_comparison_says_what_it_took_and_can_be_told_otherwise(sift, houses):
    words = ["compare", houses, "--target", "price", "--ignore", "tenths", "--methods", "screen:correlation", "-k", 2]
    words += ["--repeats", 1, "--batch-size", 20, "--budget", "none"]
    code, out, err = sift(*words)
    assert code == 0
    assert "price: taken as numbers (299 different values in 300 rows); --task classification" in err
    lines = [dict(zip(out.splitlines()[0].split("\t"), line.split("\t"), strict=True)) for line in out.splitlines()[1:]]
    errors = {line["entry"]: float(line["rmse"]) for line in lines}
    assert errors["screen:correlation + sgd"] < errors["mean"]
    assert list(errors.values()) == sorted(errors.values())
    code, _, err = sift(*words, "--metric", "f1")
    assert code == 1
    assert "choose among rmse, mae, r2" in err
    words[3] = "tenths"
    words[5] = "price"
    code, _, err = sift(*words, "--task", "regression", "--metric", "mae")
    assert code == 0
    assert "ranked and tested by MAE, lower is better" in err
