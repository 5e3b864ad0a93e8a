"""Rows without a label on the command line: said in one line, left out or learnt."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def half_labelled(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    known = rng.random(200) < 0.7
    path = tmp_path / "data.csv"
    with path.open("w") as file:
        file.write("a,b,label\n")
        for row in range(200):
            label = "ny"[y[row]] if known[row] else ""
            file.write(f"{rng.normal():.4f},{rng.normal() + y[row]:.4f},{label}\n")
    return path, int(np.sum(~known))


def test_select_leaves_them_out_and_says_so(sift, half_labelled):
    path, n_missing = half_labelled
    code, out, err = sift("select", path, "--target", "label", "-k", 1, "--batch-size", 50)
    assert code == 0
    assert "\tb\t" in out
    assert err.splitlines()[1:] == [f"{n_missing} rows had no label and were left out."]
    code, out, err = sift("select", path, "--target", "label", "-k", 1, "--json")
    document = json.loads(out)
    assert (document["n_rows_seen"], document["n_rows_unlabelled"], err) == (200 - n_missing, n_missing, "")


def test_a_method_without_labels_learns_them(sift, half_labelled):
    path, n_missing = half_labelled
    code, out, err = sift("select", path, "--target", "label", "-k", 1, "--method", "fsds", "--json")
    assert code == 0
    assert json.loads(out)["n_rows_seen"] == 200
    code, out, err = sift("select", path, "--target", "label", "-k", 1, "--method", "fsds")
    assert err == f"{n_missing} rows had no label and were learnt like the others.\n"


def test_the_first_batches_may_have_none(sift, tmp_path):
    path = tmp_path / "late.csv"
    rows = [f"{k % 7},{k % 2},{'' if k < 120 else 'ab'[k % 2]}" for k in range(200)]
    path.write_text("x,z,label\n" + "\n".join(rows) + "\n")
    code, out, err = sift("select", path, "--target", "label", "-k", 1, "--batch-size", 50)
    assert (code, err.splitlines()[1:]) == (0, ["120 rows had no label and were left out."])
    assert "\tz\t" in out


def test_no_label_at_all_is_refused(sift, tmp_path):
    path = tmp_path / "empty.parquet"
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(
        pa.table({"x": [1.0, 2.0], "label": pa.array([None, None], pa.string())}), path
    )
    code, _, err = sift("select", path, "--target", "label")
    assert code == 1
    assert "No row of 'empty.parquet' has a label in column 'label'" in err


@pytest.mark.filterwarnings("default")  # as a user has it
def test_checkpoints_of_rows_without_a_label(sift, tmp_path):
    path, kept = tmp_path / "late.csv", tmp_path / "run.ckpt"
    rows = [f"{k % 7},{k % 2},{'' if k < 120 or k % 5 == 0 else 'ab'[k % 2]}" for k in range(300)]
    path.write_text("x,z,label\n" + "\n".join(rows) + "\n")
    asked = "select", path, "--target", "label", "-k", 1, "--batch-size", 50, "--json"
    keeping = "--checkpoint", kept, "--every", "50rows"
    calm = json.loads(sift(*asked)[1])
    code, out, err = sift(*asked, *keeping)  # after the first batches there is nothing to keep
    assert (code, err, json.loads(out)["selected"]) == (0, "", calm["selected"])
    code, out, err = sift(*asked, *keeping, "--resume")
    assert (code, err) == (0, f"Going on from {kept}, after 300 rows.\n")
    again = json.loads(out)
    assert (again["selected"], again["n_rows_unlabelled"]) == (calm["selected"], calm["n_rows_unlabelled"])


def test_a_checkpoint_of_no_label_at_all(sift, tmp_path):
    path, kept = tmp_path / "none.csv", tmp_path / "run.ckpt"
    path.write_text("x,z,label\n" + "1,2,\n3,4,\n" * 50)
    code, _, err = sift(
        "select", path, "--target", "label", "--batch-size", 10, "--checkpoint", kept, "--every", "10rows"
    )
    assert (code, "No row of 'none.csv' has a label" in err, kept.exists()) == (1, True, False)


@pytest.mark.filterwarnings("default")
def test_what_is_left_out_is_said_once(sift, half_labelled):
    path, n_missing = half_labelled
    for more in ((), ("--skip-unlabelled",)):
        err = sift("select", path, "--target", "label", "-k", 1, *more)[2]
        assert (err.count(f"{n_missing} rows"), err.count("label")) == (1, 1 + len(more)), err


@pytest.mark.filterwarnings("default")
def test_inspect_counts_them(sift, half_labelled):
    path, n_missing = half_labelled
    code, out, err = sift("inspect", path, "--target", "label")
    assert (code, "2 classes: " in out, "None" in out) == (0, True, False)
    assert f"Warning: {n_missing} of 200 rows have no label in 'label': " in err
    document = json.loads(sift("inspect", path, "--target", "label", "--json")[1])
    assert (document["n_rows"], document["n_unlabelled"]) == (200, n_missing)
    assert sum(share["share"] for share in document["target"]["shares"]) == pytest.approx(1.0)
    document = json.loads(sift("inspect", path, "--target", "label", "--json", "--skip-unlabelled")[1])
    assert (document["n_rows"], document["n_unlabelled"]) == (200 - n_missing, n_missing)
