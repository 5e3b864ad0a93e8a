"""`streamsift inspect`: what each column is taken for, in a table and as JSON, for every format."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from streamsift.streams import inspection, open_stream


@pytest.fixture
def frame():
    n = 400
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": np.arange(n) + 100,
            "name": [f"person {k}" for k in range(n)],
            "x": np.where(np.arange(n) % 10 == 0, np.nan, rng.normal(size=n)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n) % 28, unit="D"),
            "town": np.where(np.arange(n) % 3 == 0, "Rome", "Oslo"),
            "one": 7,
            "none": np.nan,
            "remark": [f"text {(k * 2) % 301}" for k in range(n)],
            "label": np.where(np.arange(n) % 4 == 0, "yes", "no"),
        }
    )


KINDS = {
    "id": "id-like",
    "name": "id-like",
    "x": "number",
    "day": "date",
    "town": "category",
    "one": "constant",
    "none": "empty",
    "remark": "text",
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".feather"])
def test_every_column_is_described(sift, tmp_path, frame, suffix):
    path = tmp_path / f"people{suffix}"
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".feather":
        frame.to_feather(path)
    else:
        frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d")).to_json(path, orient="records", lines=True)
    code, out, err = sift("inspect", path, "--target", "label", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    columns = {column["name"]: column for column in found["columns"]}
    assert {name: column["kind"] for name, column in columns.items()} == KINDS
    assert columns["x"]["missing"] == 0.1
    assert columns["none"]["missing"] == 1.0
    assert (columns["town"]["distinct"], columns["town"]["examples"]) == (2, ["Rome", "Oslo"])
    assert columns["day"]["examples"] == ["2020-01-01", "2020-01-02", "2020-01-03"]
    assert columns["id"]["examples"] == ["100", "101", "102"]
    assert (found["n_rows"], found["complete"]) == (400, True)
    assert found["target"]["shares"] == [{"label": "no", "share": 0.75}, {"label": "yes", "share": 0.25}]
    assert [warning.split("'")[1] for warning in found["warnings"]] == ["id", "name", "one", "none", "remark"]


def test_the_table_the_target_and_the_warnings(sift, tmp_path, frame):
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    code, out, err = sift("inspect", path, "--target", "label")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split("\t") == ["column", "taken for", "missing", "different", "examples"]
    assert lines[5].split("\t") == ["town", "category", "0.0%", "2", "Rome, Oslo"]
    assert lines[-1] == "target label: 2 classes: no 75.0%, yes 25.0%"
    assert (
        "Warning: Column 'id' has another value in every row, like an identifier: leave it out with --ignore id." in err
    )
    assert err.endswith("All 400 rows were read.\n")


def test_only_the_first_rows_are_read_unless_all_are_wanted(sift, tmp_path, monkeypatch):
    monkeypatch.setattr(inspection, "_AT_ONCE", 64)
    path = tmp_path / "a.csv"
    path.write_text("x,label\n" + "1.5,a\n2.5,b\n" * 500)
    _, _, err = sift("inspect", path, "--target", "label", "--rows", 100)
    assert err == "The first 128 rows were read; --all reads the whole file.\n"
    assert sift("inspect", path, "--target", "label", "--all")[2] == "All 1,000 rows were read.\n"


def test_a_target_that_says_little(sift, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,label\n" + "1.5,a\n2.5,a\n" * 100 + "3,b\n")
    assert "The target 'label' is 'a' in 99.5% of the rows" in sift("inspect", path, "--target", "label")[2]
    assert "The target 'x'" not in sift("inspect", path, "--target", "x")[2]
    path.write_text("x,label\n" + "1.5,a\n2.5,a\n" * 100)
    assert "has one class only" in sift("inspect", path, "--target", "label")[2]


def test_a_numeric_target_has_no_classes(sift, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,price\n" + "".join(f"{k % 7},{k}.5\n" for k in range(200)))
    assert sift("inspect", path, "--target", "price")[1].splitlines()[-1] == (
        "target price: a number with 200 different values"
    )


def test_libsvm_needs_no_target_and_counts_the_zeros(sift, tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:2 3:4\n0 3:5\n" * 20)
    code, out, _ = sift("inspect", path)
    assert code == 0
    assert [line.split("\t")[:4] for line in out.splitlines()[1:4]] == [
        ["x0", "number", "0.0%", "2"],
        ["x1", "constant", "0.0%", "1"],
        ["x2", "number", "0.0%", "2"],
    ]


def test_many_values_are_counted_up_to_a_bound():
    X = np.random.default_rng(0).normal(size=(5000, 1))
    found = inspection.inspect(open_stream((X, np.arange(5000) % 2)))
    assert (found.columns[0].distinct, found.columns[0].more) == (inspection.MOST_DISTINCT, True)
