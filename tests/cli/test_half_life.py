"""`streamsift select --half-life`, in rows and in event time."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def drifting(tmp_path):
    """`old` tells the label until noon, `new` afterwards; most rows are from before."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    minutes = np.r_[np.linspace(0, 600, 500), np.linspace(720, 780, 100)]
    path = tmp_path / "clicks.csv"
    with path.open("w") as file:
        file.write("at,old,new,label\n")
        for row in range(600):
            told = [rng.normal() + 3 * y[row] * (row < 500), rng.normal() + 3 * y[row] * (row >= 500)]
            stamp = np.datetime64("2024-05-01T00:00") + np.timedelta64(int(minutes[row] * 60), "s")
            file.write(f"{stamp},{told[0]:.4f},{told[1]:.4f},{y[row]}\n")
    return path


def best(out):
    return json.loads(out)["selected"][0]["name"]


def test_what_counts_is_the_time_not_the_number_of_rows(sift, drifting):
    ask = ("select", drifting, "--target", "label", "-k", 1, "--json", "--batch-size", 100)
    code, out, _ = sift(*ask, "--ignore", "at")
    assert (code, best(out)) == (0, "old")
    code, out, _ = sift(*ask, "--half-life", "30m", "--time", "at")
    document = json.loads(out)
    assert (code, best(out), document["n_features"]) == (0, "new", 2)
    assert document["parameters"]["half_life"] == "30m"
    code, out, _ = sift(*ask, "--ignore", "at", "--half-life", "40")
    assert (code, best(out)) == (0, "new")
    for method in ("joint:lasso", "screen:fisher"):
        code, out, _ = sift(*ask, "--method", method, "--half-life", "30m", "--time", "at")
        assert (code, best(out)) == (0, "new")
    code, out, _ = sift(*ask, "--method", "fsds", "--half-life", "30m", "--time", "at")  # no labels: it only has to run
    assert (code, json.loads(out)["n_features"]) == (0, 2)


def test_a_run_with_event_time_writes_its_files_and_can_be_saved(sift, drifting, tmp_path):
    out = tmp_path / "run"
    code, _, err = sift(
        "select",
        drifting,
        "--target",
        "label",
        "--half-life",
        "1h",
        "--time",
        "at",
        "-k",
        1,
        "--out",
        out,
        "--save",
        out / "s",
    )
    assert code == 0
    assert err.startswith("Method: joint:forward, the default")
    assert (out / "report.html").exists()
    assert (out / "s").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--half-life", "1h"), "needs the time of each row"),
        (("--half-life", "soon", "--time", "at"), "half_life"),
        (("--half-life", "100", "--fading", "0.9"), "two ways to say the same"),
        (("--time", "at"), "half-life in event time"),
        (("--half-life", "1h", "--time", "att"), "'at'"),
        (("--half-life", "100", "--method", "ofs"), "--half-life"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(sift, drifting, options, words):
    code, out, err = sift("select", drifting, "--target", "label", *options)
    assert code in (1, 2)
    assert out == ""
    assert words in err
    assert err.count("\n") == 1
