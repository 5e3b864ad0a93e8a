"""`streamsift inspect`: what each column is taken for, in a table and as JSON, for every format."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from tests.contract.mean_gap import MeanGap
from tests.fixtures.make import FOLDER, N_ROWS

from streamsift import LateLabels, Screener, persist
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


def test_only_the_first_rows_are_read_unless_all_are_wanted(sift, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,label\n" + "1.5,a\n2.5,b\n" * 3_000)
    _, _, err = sift("inspect", path, "--target", "label", "--rows", 100)
    assert err == "The first 4,096 rows were read; --all reads the whole file.\n"
    assert sift("inspect", path, "--target", "label", "--all")[2] == "All 6,000 rows were read.\n"


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


# -- saved selectors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["screen:fisher", "investing", "etana"])
def test_a_saved_selector_is_described(sift, name):
    path = FOLDER / f"{name.replace(':', '-')}.streamsift"
    code, out, err = sift("inspect", path, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["method"], found["rows"], found["features"]) == (name, N_ROWS, 5)
    assert found["classes"] == ["no", "yes"]
    assert found["parameters"]
    loaded = persist.load(path).get_params()  # with those that came after the file was written
    assert found["parameters"] == {name: loaded[name] for name in found["parameters"]}
    assert found["bytes"] == path.stat().st_size
    assert list(found["sections"]) == ["selector"]
    assert found["top"][0]["name"] in ("height", "weight")
    code, out, err = sift("inspect", path)
    assert (code, err) == (0, "")
    assert f"method: {name}\n" in out
    assert "rank\tfeature\t" in out


def test_the_ranking_of_a_saved_selector_is_cut(sift, tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 30))
    persist.save(Screener("fisher").fit(X, X[:, 17] > 0), tmp_path / "data.csv")  # known by its content, not its name
    code, out, err = sift("inspect", tmp_path / "data.csv")
    assert (code, err) == (0, "")
    assert out.splitlines()[-10].startswith("1\tx17\t")
    assert "features: 30" in out


def test_a_saved_selector_of_another_package_has_no_ranking(sift, tmp_path):
    persist.save(MeanGap().fit([[0.0], [1.0]], ["no", "yes"]), tmp_path / "selector")
    code, out, err = sift("inspect", tmp_path / "selector")
    assert code == 0
    assert "method: tests.contract.mean_gap:MeanGap" in out
    assert "rank" not in out
    assert err == "The class is not one of streamsift's, so its ranking is not shown.\n"


def test_a_damaged_saved_selector_is_refused_in_words(sift, tmp_path):
    whole = bytearray((FOLDER / "ofs.streamsift").read_bytes())
    whole[whole.rindex(b"NUMPY")] ^= 1
    (tmp_path / "selector").write_bytes(whole)
    code, out, err = sift("inspect", tmp_path / "selector")
    assert (code, out) == (1, "")
    assert "is damaged" in err


def test_late_labels_are_shown_by_their_selector(sift, tmp_path):
    late = LateLabels(Screener("fisher", n_features_to_select=1))
    late.remember(["a", "b", "c"], np.array([[0.0, 1.0], [1.0, 1.0], [0.5, 2.0]]))
    persist.save(late, tmp_path / "late")
    code, out, err = sift("inspect", tmp_path / "late")
    assert (code, err, "LateLabels" in out, "rank" in out) == (0, "", True, False)
    late.learn(["a", "b"], ["no", "yes"])
    persist.save(late, tmp_path / "late")
    code, out, err = sift("inspect", tmp_path / "late")
    assert (code, err, "rows: 2\n" in out, "1\tx0\t" in out) == (0, "", True, True)


def test_a_file_that_is_not_there_needs_no_target(sift, tmp_path):
    code, _, err = sift("inspect", tmp_path / "selector.streamsift")
    assert code == 1
    assert "selector.streamsift" in err
    assert "--target" not in err
