"""The method of `streamsift select` where none is named, and the line that says why."""

from __future__ import annotations

import json

import numpy as np
import pytest

from streamsift.cli.choosing import MANY_VALUES

pytestmark = pytest.mark.filterwarnings("default::streamsift.ReadingNotice")


def chosen(out):
    return [line.split("\t")[1] for line in out.splitlines()[1:]]


@pytest.fixture
def shops(tmp_path):
    """A CSV of 800 rows: `town` has 200 values, `size` is a number; the town tells the most."""

    def write(*columns):
        rng = np.random.default_rng(0)
        town, size = rng.integers(0, 200, 800), rng.normal(size=800)
        label = (rng.normal(size=200)[town] + 0.5 * size > 0).astype(int)
        values = {
            "town": [f"t{code}" for code in town],
            "street": [f"s{code}" for code in rng.integers(0, 300, 800)],
            "kind": [f"k{code}" for code in rng.integers(0, 3, 800)],
            "size": [f"{value:.4f}" for value in size],
        }
        cells = zip(*(values[name] for name in columns), map(str, label), strict=True)
        path = tmp_path / "shops.csv"
        path.write_text("\n".join([",".join([*columns, "open"]), *map(",".join, cells)]) + "\n")
        return path

    return write


def test_features_are_chosen_together_and_copies_left_out(sift, tmp_path):
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(1000, 2))
    X = np.repeat(hidden, 20, axis=1)
    y = (hidden[:, 0] + 0.5 * hidden[:, 1] > 0).astype(int)
    path = tmp_path / "copies.csv"
    head = ",".join([*(f"a{k}" for k in range(20)), *(f"b{k}" for k in range(20)), "y"])
    np.savetxt(path, np.column_stack([X, y]), "%.5f", ",", header=head, comments="")
    code, out, err = sift("select", path, "--target", "y")
    assert (code, chosen(out)) == (0, ["a0", "b0"])
    method, number = err.splitlines()
    assert method.startswith("Method: joint:forward, the default: a feature counts for what it adds")
    assert number == "2 of 40 columns tell something about 'y' that those above do not (false discovery rate 5 %)."
    code, out, _ = sift("select", path, "--target", "y", "--method", "screen:fisher")
    assert (code, len(chosen(out))) == (0, 40)


def test_categories_of_many_values_are_screened(sift, shops):
    code, out, err = sift("select", shops("town", "street", "size"), "--target", "open")
    assert (code, set(chosen(out))) == (0, {"town", "size"})
    assert err.startswith(f"Method: screen:mutual_info, since 2 of 3 columns are categories of more than {MANY_VALUES}")
    code, out, err = sift("select", shops("town", "kind", "size"), "--target", "open")
    assert err.startswith("Method: joint:forward, the default")


@pytest.mark.parametrize(("options", "word"), [(["--bins", 4], "--bins"), (["--eps", 0.01], "--eps")])
def test_options_of_screens_mean_a_screen(sift, people, options, word):
    code, out, err = sift("select", people, "--target", "sex", *options)
    assert (code, sorted(chosen(out))) == (0, ["height", "weight"])
    assert err.startswith(f"Method: screen:mutual_info, since {word} is for methods that screen.")


def test_parts_with_categories_are_screened_and_others_chosen_together(sift, people, shops):
    code, out, err = sift("select", people, "--target", "sex", "--jobs", 1)
    assert (code, chosen(out)) == (0, ["height", "weight"])
    assert err.startswith("Method: joint:forward")
    code, _, err = sift("select", shops("kind", "size"), "--target", "open", "--jobs", 1)
    assert code == 0
    assert err.startswith("Method: screen:mutual_info, since categories come in parts, of which")


def test_a_memory_limit_means_a_screen(sift, people):
    code, out, err = sift("select", people, "--target", "sex", "--jobs", 1, "--memory", "2GB")
    assert (code, sorted(chosen(out))) == (0, ["height", "weight"])
    assert err.startswith("Method: screen:mutual_info, since --memory is for methods that screen.")


def test_a_named_method_needs_no_reason_and_nothing_found_is_said_with_advice(sift, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "noise.csv"
    np.savetxt(
        path,
        np.column_stack([rng.normal(size=(300, 4)), np.arange(300) % 2]),
        "%.5f",
        ",",
        header="a,b,c,d,y",
        comments="",
    )
    code, out, err = sift("select", path, "--target", "y", "--method", "joint:forward")
    assert (code, chosen(out)) == (0, [])
    assert err == (
        "None of 4 columns tells something about 'y' (false discovery rate 5 %). -k 4 takes them all the same.\n"
    )
    only_a = ("--ignore", "b", "--ignore", "c", "--ignore", "d")
    for method in ("joint:forward", "screen:fisher"):
        code, out, err = sift("select", path, "--target", "y", "--method", method, *only_a)
        assert (code, chosen(out)) == (0, [])
        assert err == (
            "The only column tells nothing about 'y' (false discovery rate 5 %). -k 1 takes it all the same.\n"
        )
    code, out, err = sift("select", path, "--target", "y", "--json")
    assert (code, err, json.loads(out)["selected"]) == (0, "", [])
