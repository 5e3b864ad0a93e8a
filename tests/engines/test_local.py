"""The local engine: the answer of one pass, whatever the parts; what cannot be done is refused in words."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from streamsift import FIRES, Screener
from streamsift.core.exceptions import InputError, MergeError, ParameterError, ReaderError
from streamsift.engines import select, select_by_key
from streamsift.engines.local import LocalEngine
from streamsift.engines.parts import FilePart, find_parts, is_pattern
from tests.engines.tables import assert_same, frame, one_pass, write_parts

CRITERIA = ["t_score", "fisher", "mutual_info", "chi2", "gini"]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_answer_is_that_of_one_pass(tmp_path: Path, criterion: str, suffix: str) -> None:
    table = write_parts(tmp_path, suffix)
    found = select(tmp_path, Screener(criterion), "y", jobs=1)
    assert_same(found, one_pass(Screener(criterion), table), criterion)


def test_processes_give_the_same_and_report_their_progress(tmp_path: Path) -> None:
    table = write_parts(tmp_path, ".csv")
    heard: list[float] = []
    found = select(str(tmp_path / "*.csv"), Screener("fisher"), "y", jobs=2, progress=heard.append)
    assert_same(found, one_pass(Screener("fisher"), table), "fisher")
    assert heard[-1] == 1.0


def test_the_order_of_the_parts_does_not_matter(tmp_path: Path) -> None:
    write_parts(tmp_path, ".csv")
    paths = sorted(tmp_path.iterdir())
    forward = select(paths, Screener("fisher"), "y", jobs=1)
    backward = select(paths[::-1], Screener("fisher"), "y", jobs=1)
    np.testing.assert_allclose(backward.scores_, forward.scores_, rtol=1e-9)


def test_a_parquet_file_is_cut_at_its_row_groups(tmp_path: Path) -> None:
    table = frame(3, 1000)
    table.to_parquet(tmp_path / "all.parquet", row_group_size=70)
    parts = find_parts(tmp_path / "all.parquet", jobs=2)
    assert len(parts) == 8
    assert [part.row_groups[1] for part in parts[:-1] if part.row_groups] == [
        part.row_groups[0] for part in parts[1:] if part.row_groups
    ]
    found = select(tmp_path / "all.parquet", Screener("fisher"), "y", jobs=1)
    assert_same(found, one_pass(Screener("fisher"), table), "fisher")


def test_files_of_an_engine_that_are_no_parts_are_passed_over(tmp_path: Path) -> None:
    write_parts(tmp_path, ".csv", 2)
    for name in ("_SUCCESS", ".part0.csv.crc", "notes.md"):
        (tmp_path / name).write_text("x")
    assert [Path(part.path).name for part in find_parts(tmp_path, 2)] == ["part0.csv", "part1.csv"]
    assert is_pattern(tmp_path)
    assert is_pattern(str(tmp_path / "*.csv"))
    assert not is_pattern(tmp_path / "part0.csv")
    (tmp_path / "odd[1].csv").write_text("x")
    assert not is_pattern(str(tmp_path / "odd[1].csv"))  # a file of that name is no pattern


def test_columns_may_stand_in_another_order(tmp_path: Path) -> None:
    table = write_parts(tmp_path, ".csv", 2)
    pd.read_csv(tmp_path / "part1.csv")[["y", "shop", *reversed([f"n{k}" for k in range(6)])]].to_csv(
        tmp_path / "part1.csv", index=False
    )
    found = select(tmp_path, Screener("mutual_info"), "y", jobs=1)
    assert_same(found, one_pass(Screener("mutual_info"), table), "mutual_info")


def test_texts_that_look_like_numbers_in_one_part_are_categories_in_all(tmp_path: Path) -> None:
    first = pd.DataFrame({"zip": ["x1", "x2"] * 20, "y": [0, 1] * 20})
    second = pd.DataFrame({"zip": ["17", "18"] * 20, "y": [0, 1] * 20})
    first.to_csv(tmp_path / "a.csv", index=False)
    second.to_csv(tmp_path / "b.csv", index=False)
    assert select(tmp_path, Screener(), "y", jobs=1).scores_[0] == pytest.approx(np.log(2))


def test_sparse_parts_of_different_width(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.3, (90, 12)).astype(float), rng.integers(0, 2, 90)
    X[:30, 9:], X[:, 11] = 0.0, y
    X[:30, 11] = 0.0
    for part in range(3):
        dump_svmlight_file(X[30 * part :][:30], y[30 * part :][:30], str(tmp_path / f"{part}.svm"), zero_based=False)
    found = select(tmp_path, Screener("fisher"), jobs=1)
    assert found.scores_.shape == (12,)
    np.testing.assert_allclose(found.scores_, Screener("fisher").fit(X, y).scores_, rtol=1e-9)


class Dying:
    """A part whose first reading ends the process, as the kernel does where memory runs out."""

    def __init__(self, path: str, mark: str) -> None:
        self.path, self.mark = path, mark

    def open(self, target: str | None, reading: dict[str, Any]) -> Any:
        if not Path(self.mark).exists():
            Path(self.mark).write_text("died")
            os.kill(os.getpid(), signal.SIGKILL)
        return FilePart(self.path).open(target, reading)


def test_a_killed_process_changes_nothing(tmp_path: Path) -> None:
    from streamsift.engines.work import Job, unpacked

    table = write_parts(tmp_path, ".csv", 3)
    parts: list[Any] = find_parts(tmp_path, 1)
    parts[1] = Dying(parts[1].path, str(tmp_path / "mark"))
    state = LocalEngine(2).fold(Job.of(Screener("fisher"), "y", {}, 1000), parts, lambda fraction: None)
    assert (tmp_path / "mark").exists()
    assert_same(unpacked(state), one_pass(Screener("fisher"), table), "fisher")


def test_a_part_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    write_parts(tmp_path, ".csv", 2)
    lines = (tmp_path / "part1.csv").read_text().splitlines()
    (tmp_path / "part1.csv").write_text("\n".join([*lines[:2], "1,2"]))
    with pytest.raises(ReaderError, match=r"part1\.csv cannot be used: Line 3"):
        select(tmp_path, Screener(), "y", jobs=1)
    (tmp_path / "part1.csv").write_text("n0,y\n1,red\n2,blue\n")
    with pytest.raises(ReaderError, match=r"part1\.csv cannot be used: .*'shop'"):
        select(tmp_path, Screener(), "y", jobs=1)
    with pytest.raises(ReaderError, match="no files"):
        select(str(tmp_path / "*.txt"), Screener(), "y", jobs=1)


def test_rows_without_a_label_in_a_file_that_is_cut(tmp_path: Path) -> None:
    table = frame(0)
    path = tmp_path / "rows.parquet"
    table.assign(y=table["y"].where(np.arange(400) % 4 > 0)).to_parquet(path, row_group_size=60)
    found = select(path, Screener("fisher"), "y", jobs=1, unlabelled="keep")
    assert_same(found, one_pass(Screener("fisher"), table[np.arange(400) % 4 > 0]), "fisher")
    assert found.n_rows_unlabelled_ == 100


@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.ReadingNotice")
@pytest.mark.parametrize("unlabelled", ["keep", "skip"])
def test_parts_without_any_label_teach_nothing(tmp_path: Path, unlabelled: str) -> None:
    table = write_parts(tmp_path, ".csv", 3)
    for number in (0, 2):
        path = tmp_path / f"part{number}.csv"
        pd.read_csv(path).assign(y="").to_csv(path, index=False)
    found = select(tmp_path, Screener("fisher"), "y", jobs=1, unlabelled=unlabelled)
    assert_same(found, one_pass(Screener("fisher"), table[100:330]), "fisher")
    assert found.n_rows_unlabelled_ == (460 if unlabelled == "keep" else 0)
    (tmp_path / "part1.csv").unlink()
    with pytest.raises(InputError, match="No row of the table has a label"):
        select(tmp_path, Screener("fisher"), "y", jobs=1, unlabelled=unlabelled)


def test_what_cannot_be_merged_is_refused_with_two_ways(tmp_path: Path) -> None:
    write_parts(tmp_path, ".csv", 2)
    with pytest.raises(ParameterError, match=r"prescreen=2000.*select_by_key"):
        select(tmp_path, FIRES(), "y", jobs=1)
    with pytest.raises(ParameterError, match="which rows are older"):
        select(tmp_path, Screener(fading=0.99), "y", jobs=1)
    with pytest.raises(ParameterError, match=r"half_life=100 needs to know which rows are older"):
        select(tmp_path, Screener(half_life=100), "y", jobs=1)
    with pytest.raises(ParameterError, match="has learnt already"):
        select(tmp_path, Screener().fit([[1.0], [2.0]], [0, 1]), "y", jobs=1)
    with pytest.raises(ParameterError, match="no engine 'ray'"):
        select(tmp_path, Screener(), "y", engine="ray")
    with pytest.raises(ParameterError, match="reads files, not a DataFrame"):
        select(frame(0), Screener(), "y")


def test_screen_then_learn(tmp_path: Path) -> None:
    table = write_parts(tmp_path, ".csv").drop(columns="shop")
    for path in tmp_path.iterdir():
        pd.read_csv(path).drop(columns="shop").to_csv(path, index=False)
    found = select(tmp_path, FIRES(n_features_to_select=2, random_state=1), "y", prescreen=3, jobs=2)
    assert found.feature_names_in_.tolist() == ["n0", "n1", "n2"]
    alone = FIRES(n_features_to_select=2, random_state=1)
    for path in sorted(tmp_path.iterdir()):
        part = pd.read_csv(path)
        alone.partial_fit(part[["n0", "n1", "n2"]], part["y"])
    assert found.n_rows_seen_ == len(table)
    np.testing.assert_array_equal(found.scores_, alone.scores_)


def test_screen_then_learn_from_sparse_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.3, (60, 12)).astype(float), rng.integers(0, 2, 60)
    X[:, 4], X[:, 9] = 2 * y, y
    X[:30, 9:] = 0.0
    for part in range(2):
        dump_svmlight_file(X[30 * part :][:30], y[30 * part :][:30], str(tmp_path / f"{part}.svm"), zero_based=False)
    found = select(tmp_path, Screener("chi2", n_features_to_select=1), prescreen=2, jobs=1, n_features=12)
    assert set(found.feature_names_in_) == {"x4", "x9"}
    assert found.selected_ == ["x4"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_selector_per_key(tmp_path: Path, jobs: int) -> None:
    table = write_parts(tmp_path, ".csv", 3)
    made = Screener("fisher", n_features_to_select=2)
    found = select_by_key(tmp_path, made, "shop", "y", jobs=jobs).to_pandas()
    assert set(found["key"]) == set(table["shop"])
    for key, rows in table.groupby("shop"):
        alone = Screener("fisher", n_features_to_select=2)
        alone.partial_fit(rows.drop(columns=["shop", "y"]), rows["y"].to_numpy())
        ours = found[found["key"] == key]
        assert ours["feature"].tolist() == list(alone.selection().names)
        assert ours["rows"].tolist() == [len(rows)] * 2
        np.testing.assert_allclose(ours["score"], alone.selection().scores, rtol=1e-9)


def test_keys_that_are_numbers_missing_or_of_one_class(tmp_path: Path) -> None:
    table = pd.DataFrame({"year": [2020, 2021, None, 2020, 2021, None], "a": range(6), "y": [0, 0, 1, 1, 0, 0]})
    table.to_csv(tmp_path / "t.csv", index=False)
    found = select_by_key(tmp_path / "t.csv", Screener("fisher", n_features_to_select=1), "year", "y", jobs=1)
    assert found.select(["key", "feature", "rows"]).to_pylist() == [
        {"key": "", "feature": "a", "rows": 2},
        {"key": "2020", "feature": "a", "rows": 2},
        {"key": "2021", "feature": "", "rows": 2},
    ]
    with pytest.raises(ReaderError, match="no column 'country'"):
        select_by_key(tmp_path / "t.csv", Screener(), "country", "y", jobs=1)


def test_labels_that_are_text_in_one_part_and_numbers_in_another(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": [0, 1, 0]}).to_csv(tmp_path / "1.csv", index=False)
    pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": ["0", "new", "0"]}).to_csv(tmp_path / "2.csv", index=False)
    with pytest.raises(MergeError, match="write all parts alike"):
        select(tmp_path, Screener("fisher"), "y", jobs=1)


def test_keys_and_nothing_else(tmp_path: Path) -> None:
    pd.DataFrame({"country": ["no", "se"] * 5, "y": [0, 1] * 5}).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ReaderError, match="nothing to select from"):
        select_by_key(tmp_path, Screener("fisher"), "country", "y", jobs=1)
