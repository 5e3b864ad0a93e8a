"""`select` over several files, on several processes, and by key; and as many features as a rule allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.engines.tables import write_parts

from streamsift import load


def test_a_pattern_and_a_folder(sift: Any, tmp_path: Path) -> None:
    write_parts(tmp_path, ".csv", 3)
    asked = ("--target", "y", "--method", "screen:fisher", "-k", 2, "--jobs", 1, "--json")
    code, out, _ = sift("select", str(tmp_path / "*.csv"), *asked)
    assert code == 0
    found = json.loads(out)
    assert [row["name"] for row in found["selected"]] == ["n0", "shop"]
    assert found["n_rows_seen"] == 100 + 230 + 360
    assert json.loads(sift("select", tmp_path, *asked)[1]) == found


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("method", ["investing", "osfs"])
def test_columns_in_parts_are_decided_as_alone(sift: Any, tmp_path: Path, suffix: str, method: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30))
    names = [f"c{k}" for k in range(30)]
    table = pd.DataFrame(X, columns=names).assign(y=(X[:, 3] + X[:, 20] > 0).astype(int))
    path = tmp_path / f"wide{suffix}"
    if suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    asked = ("select", path, "--target", "y", "--method", method)
    code, out, _ = sift(*asked, "--jobs", 1)
    assert (code, out) == sift(*asked)[:2]
    assert {"c3", "c20"} <= {line.split("\t")[1] for line in out.splitlines()[1:]}
    code, out, _ = sift(*asked, "--jobs", 1, "--json", "--save", tmp_path / "s")
    assert (code, json.loads(out)["n_offered"]) == (0, 30)
    assert load(tmp_path / "s").selected_ == [row["name"] for row in json.loads(out)["selected"]]


def test_what_columns_in_parts_do_not_take(sift: Any, tmp_path: Path) -> None:
    write_parts(tmp_path, ".csv", 2)
    asked = ("--target", "y", "--method", "investing", "--ignore", "shop")
    for more, words in (
        (("--by", "shop"), "--by is for methods over rows"),
        (("--order-by", "n0"), "--order-by is for methods over rows"),
        (("--prescreen", 2), "--prescreen is for methods over rows"),
        (("--memory", "1GB"), "--memory is for methods over rows"),
    ):
        code, _, err = sift("select", tmp_path / "part0.csv", *asked, *more)
        assert code != 0
        assert words in err
    code, _, err = sift("select", tmp_path, *asked)
    assert code == 1
    assert "give one file" in err
    code, _, err = sift("select", tmp_path / "part0.csv", "--target", "y", "--method", "etana", "--jobs", 1)
    assert code == 1
    assert "ETANA is no selector that learns rows and can be merged" in err
    assert err.count("\n") == 1


def test_the_fitted_selector_is_saved(sift: Any, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_parts(tmp_path / "data", ".csv", 2)
    assert sift("select", tmp_path / "data", "--target", "y", "--jobs", 2, "--save", tmp_path / "s")[0] == 0
    assert load(tmp_path / "s").n_rows_seen_ == 330


def test_one_selection_per_key(sift: Any, tmp_path: Path) -> None:
    table = write_parts(tmp_path, ".csv", 2)
    asked = ("select", tmp_path, "--target", "y", "--by", "shop", "-k", 1, "--jobs", 1)
    rows = json.loads(sift(*asked, "--json")[1])
    assert {row["key"] for row in rows} == set(table["shop"])
    code, out, _ = sift(*asked)
    assert code == 0
    assert "shop" in out.splitlines()[0]


def test_methods_that_cannot_be_merged(sift: Any, tmp_path: Path) -> None:
    write_parts(tmp_path, ".csv", 2)
    asked = ("select", tmp_path, "--target", "y", "--method", "fires", "--jobs", 1, "--ignore", "shop")
    code, _, err = sift(*asked)
    assert code == 1
    assert "--prescreen 2000" in err
    assert "--by COLUMN" in err
    code, out, _ = sift(*asked, "--prescreen", 3, "-k", 2, "--json")
    assert code == 0
    assert json.loads(out)["n_features"] == 3


@pytest.mark.parametrize("other", [("--out", "run"), ("--load", "s"), ("--checkpoint", "c")])
def test_what_does_not_go_with_parts(sift: Any, tmp_path: Path, other: tuple[str, str]) -> None:
    write_parts(tmp_path, ".csv", 2)
    code, _, err = sift("select", tmp_path, "--target", "y", "--jobs", 1, *other)
    assert code != 0
    assert err.count("Error") == 1


def test_as_many_features_as_the_false_discovery_rate_allows(sift: Any, tmp_path: Path) -> None:
    write_parts(tmp_path, ".csv", 1)
    code, out, err = sift("select", tmp_path / "part0.csv", "--target", "y", "--method", "screen:fisher")
    assert code == 0
    names = [line.split()[1] for line in out.splitlines()[1:]]
    assert {"n0", "n1", "shop"} <= set(names)
    assert f"{len(names)} of 7 columns tell something about 'y' (false discovery rate 5 %)." in err
    code, out, _ = sift("select", tmp_path / "part0.csv", "--target", "y", "-k", "fwe:0.05", "--json")
    assert json.loads(out)["parameters"]["n_features_to_select"] == "fwe:0.05"


def test_a_rule_that_is_none(sift: Any, tmp_path: Path) -> None:
    write_parts(tmp_path, ".csv", 1)
    code, _, err = sift("select", tmp_path / "part0.csv", "--target", "y", "-k", "fdr:7")
    assert code == 2
    assert "nor a rule (fdr:0.05)" in err
    code, _, err = sift("select", tmp_path / "part0.csv", "--target", "y", "-k", "fdr", "--method", "ofs")
    assert code == 1
    assert "n_features_to_select" in err


def test_very_many_features_within_a_memory_limit(sift: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 30)), rng.integers(0, 2, 90)
    X[:, 4] += 3 * y
    for part in range(3):
        np.savez(tmp_path / f"{part}.npz", X=X[part::3], y=y[part::3])
    asked = ("select", tmp_path, "--target", "y", "--method", "screen:fisher", "--jobs", 1, "--memory", "2GB")
    code, out, _ = sift(*asked, "-k", 1, "--json")
    assert code == 0
    assert [row["name"] for row in json.loads(out)["selected"]] == ["x4"]
    code, out, err = sift(*asked)
    assert (code, "x4" in out, "false discovery rate" in err) == (0, True, True)
    assert "raise the memory limit" in sift(*asked[:-1], "1MB")[2]
    assert "gives scores only" in sift(*asked, "--save", tmp_path / "s")[2]
    assert "give one" in sift(*asked, "--by", "y")[2]
