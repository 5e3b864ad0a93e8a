"""The ETANA paper, small: MLL in the tables, few bins and prices in the figures."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamsift.core.exceptions import InputError, ReaderError
from streamsift.reproduce.etana import tables as etana
from streamsift.reproduce.etana.data import present
from streamsift.reproduce.etana.tables import EXHIBITS, figure_4, figure_5, figure_6, tables
from streamsift.reproduce.result import Options


@pytest.fixture
def only_mll(tmp_path: Path, shared: Path) -> Any:
    (tmp_path / "mll.npz").symlink_to(shared / "data" / "mll.npz")
    return SimpleNamespace(data=tmp_path, seed=0, rows=None, jobs=1, brief=False)


def no_progress(done: int, total: int) -> None:
    assert 0 < done <= total


@pytest.mark.compiled
def test_the_tables_set_ours_beside_the_published(only_mll: Any) -> None:
    result = tables(only_mll, no_progress)
    found = {row[1]: dict(zip(result.columns, row, strict=True)) for row in result.rows}
    ours = found["ETANA"]
    assert (ours["accuracy"], ours["accuracy, paper"]) == ("1.0000", "1")
    assert ours["features"] == ours["features, paper"] == "5.07"
    assert found["F-ETANA"]["features, paper"] == "10.8"
    assert float(found["ETANA, our defaults"]["accuracy"]) == 1.0
    assert found["ETANA, our defaults"]["accuracy, paper"] == ""
    assert float(ours["cost per row"]) == pytest.approx(0.0507)  # no mistake, 5.07 features at 0.01
    share = float(found["F-ETANA"]["cost per row"]) / 0.0507 - 1.0
    assert ("MLL (15 rows held out)" in result.note) == (share > 0.1)


@pytest.mark.compiled
def test_figures_4_and_5_measure_what_they_name(only_mll: Any) -> None:
    bins = figure_4(only_mll, no_progress, bins=(2, 3))
    assert [row[:2] for row in bins.rows] == [["MLL", "2"], ["MLL", "3"]]
    assert bins.rows[1][2:4] == ["1.0000", "5.07"]
    assert [curve.x for curve in bins.panels[0].curves] == [[2.0, 3.0]]
    classes = figure_5(only_mll, no_progress)
    assert [row[1] for row in classes.rows] == ["ETANA", "F-ETANA"]
    assert classes.rows[0][3] == "15.376"


@pytest.mark.compiled
def test_buying_one_by_one_uses_fewer_features_than_the_same_for_all(
    only_mll: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = ((0.1, 0.01), (2, 4), (0.05,))
    monkeypatch.setattr(etana, "sweep", lambda folder, data, seed: SWEEP(folder, data, seed, *small))
    result = figure_6(only_mll, no_progress)
    points = {(row[1], row[2]): (float(row[3]), float(row[4])) for row in result.rows}
    used, right = points["ETANA", "price 0.01"]
    assert used < points["naive Bayes", "best 4"][0]
    assert right >= points["naive Bayes", "best 4"][1]
    assert points["ETANA", "price 0.1"][0] < used
    assert points["naive Bayes", "all"][0] == 5848
    assert points["L1 logistic", "C 0.05"][0] > 0
    assert "ETANA: 1.000" in result.panels[0].reading


SWEEP = etana.sweep


@pytest.mark.compiled
def test_mll_over_many_splits(only_mll: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamsift.reproduce.etana import resplit

    monkeypatch.setattr(
        resplit, "METHODS", dict.fromkeys(etana.METHODS, etana.METHODS["ETANA"])
    )  # the planes take longer
    options = Options(data=str(only_mll.data), repeats=2)
    result = resplit.resplit(options, no_progress)
    assert [row[0] for row in result.rows] == list(etana.METHODS)
    assert result.rows[0][1:4] == ["1.000", "5.07", "0.0507"]  # the given split
    assert "a row costs +0% with F-ETANA on the given split, +0% over all drawn ones" in result.note


def test_every_exhibit_needs_a_folder(tmp_path: Path) -> None:
    for exhibit in set(EXHIBITS.values()):
        with pytest.raises(InputError, match="--data"):
            exhibit(SimpleNamespace(seed=0), no_progress)
    with pytest.raises(ReaderError, match=r"none of the files madelon\.npz"):
        present(tmp_path)
