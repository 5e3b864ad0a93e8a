"""`select --make`: columns are made on the way, named in the result, and refused where nobody would judge them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from streamsift.columns.investing import Investing
from streamsift.core.exceptions import ReadingNotice
from streamsift.interop import sklearn as factories
from streamsift.interop.sklearn import make_columns
from streamsift.runs.checkpoint import Checkpoint, Checkpointing, Every
from streamsift.runs.lead import lead
from streamsift.runs.run import Run
from streamsift.runs.trace import Trace
from streamsift.streams.column_sources import open_columns


@pytest.fixture
def prices(tmp_path):
    """A file whose target is a product, a value of three rows before, and a pair of categories."""
    rng, n = np.random.default_rng(0), 400
    table = pd.DataFrame(rng.normal(size=(n, 6)), columns=["age", "income", "price", "d", "e", "f"])
    table["colour"], table["size"] = rng.choice(["red", "green"], n), rng.choice(list("SM"), n)
    cross = (table["colour"] == "red") & (table["size"] == "M")
    table["y"] = table["age"] * table["income"] + table["price"].shift(3, fill_value=0.0) + 3.0 * cross
    table["y"] += rng.normal(size=n) / 4
    path = tmp_path / "prices.csv"
    table.to_csv(path, index=False)
    return path


def asked(path, make="pairs,lags:5,crosses:8", method="investing"):
    return "select", path, "--target", "y", "--method", method, "--make", make


def test_made_columns_are_named_in_the_result(sift, prices, tmp_path):
    code, out, err = sift(*asked(prices), "--out", tmp_path / "run")
    assert (code, err) == (0, f"{len(out.splitlines()) - 1} of {8 + 15 + 30 + 8} columns accepted\n")
    found = [line.split("\t")[1] for line in out.splitlines()[1:]]
    assert {"age*income", "lag3(price)"} < set(found)
    assert any(name.startswith("colour*size#") for name in found)
    document = json.loads((tmp_path / "run" / "selection.json").read_text())
    assert document["make"] == ["pairs", "lags:5", "crosses:8"]
    assert (document["n_features"], document["n_offered"]) == (61, 61)
    assert [row["name"] for row in document["selected"]] == found
    assert "lag3(price)" in Trace.read(tmp_path / "run" / "trace.parquet").table.column("name").to_pylist()
    assert "pairs" in (tmp_path / "run" / "report.html").read_text()


def test_the_given_columns_come_first(sift, prices):
    code, out, _ = sift(*asked(prices, "pairs"), "--json")
    place = {row["name"]: row["index"] for row in json.loads(out)["selected"]}
    assert code == 0
    assert place["age*income"] == 8


@pytest.mark.parametrize(
    ("method", "make", "options", "words"),
    [
        (
            "screen:t_score",
            "pairs",
            [],
            "--make is for methods that judge columns one after the other; 'screen:t_score'",
        ),
        ("etana", "pairs", [], "'etana' does not: choose investing"),
        ("stepwise", "pairs", [], "'stepwise' needs all columns at once"),
        ("investing", "pears", [], "There is no recipe for columns 'pears'. Did you mean 'pairs'?"),
        ("investing", "lags:500", [], "lags:500 looks back 500 rows of 400"),
        ("investing", "pairs", ["--ignore", "y"], "y"),
    ],
)
def test_what_cannot_be_made_is_refused(sift, prices, tmp_path, method, make, options, words):
    code, out, err = sift(*asked(prices, make, method), *options)
    assert (code, out) == (1, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_saved_selector_does_not_see_the_columns_twice(sift, prices, tmp_path):
    assert sift(*asked(prices), "--save", tmp_path / "s.sift")[0] == 0
    code, _, err = sift(*asked(prices), "--load", tmp_path / "s.sift")
    assert code == 1
    assert "--make does not go with --load" in err


def test_help_has_the_recipes_and_an_example(sift):
    code, out, _ = sift("select", "--help")
    assert code == 0
    assert "--make pairs,squares,logs" in out
    assert all(name in out for name in factories.RECIPES)


@pytest.mark.parametrize("stop_after", [2, 3, 6, 9])  # the first step is in no checkpoint yet
def test_an_interrupted_run_goes_on_to_the_same_end(prices, tmp_path, monkeypatch, stop_after):
    monkeypatch.setattr(factories, "WIDEST", 7)
    run = Run("investing", "columns", settings={"make": ["pairs", "lags:5"]})
    path = tmp_path / "run.ckpt"
    taken = []

    def stop(step):
        taken.append(step)
        if len(taken) == stop_after:
            raise KeyboardInterrupt

    def source():
        return make_columns(open_columns(prices, "y"), "pairs,lags:5")

    calm = lead(Investing(), run, source())
    stopped = lead(Investing(), run, source(), checkpoint=Checkpointing(path, Every()), show=stop)
    assert not stopped.run.complete
    begin = Checkpoint.read(path)
    begin.refuse_other_run(run)
    with pytest.warns(ReadingNotice, match=r"Going on from .*, after \d+ columns"):
        went_on = lead(begin.selector, run, source(), checkpoint=Checkpointing(path, Every(), begin))
    assert went_on.run.complete
    assert went_on.as_dict()["selected"] == calm.as_dict()["selected"]
    assert went_on.as_dict()["n_offered"] == calm.as_dict()["n_offered"]
