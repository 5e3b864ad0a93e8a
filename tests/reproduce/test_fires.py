"""The FIRES reproduction in small: the protocol, the comparison with the paper, the figures as data."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamsift.comparison.run_store import RunStore
from streamsift.core.exceptions import InputError, MissingExtraError, ReaderError
from streamsift.report.reproduction import reproduction_report
from streamsift.reproduce.fires import figures as fires_figures
from streamsift.reproduce.fires import runs as fires_runs
from streamsift.reproduce.fires import tables as fires
from streamsift.reproduce.fires.data import load, load_digits, present, scaled
from streamsift.reproduce.fires.runs import BENCHMARKS, SELECTORS, FiresPlan, run, runs
from streamsift.reproduce.papers import published_table
from streamsift.reproduce.result import Options

FAST = ("FIRES-GLM", "OFS", "EFS", "FSDS")


def silent(done: int, total: int) -> None:
    assert 1 <= done <= total


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Small stand-ins for three of the data sets."""
    rng = np.random.default_rng(0)
    for name, n_features in (("spambase", 20), ("gisette_valid", 40)):
        y = rng.integers(0, 2, 600)
        X = rng.integers(0, 50, (600, n_features))
        X[:, :3] += 60 * y[:, None]
        np.savez(tmp_path / f"{name}.npz", X=X.astype(np.int16), y=y)
    digits = rng.integers(0, 10, 900)
    X = rng.integers(0, 40, (900, 784))
    X[digits == 3, 100:200] += 200
    np.savez(tmp_path / "mnist.npz", X=X.astype(np.uint8), y=digits)
    return tmp_path


def small(max_rows: int = 600, methods: tuple[str, ...] = FAST) -> FiresPlan:
    return FiresPlan(batch_sizes=(25, 50), fractions=(0.1,), max_rows=max_rows, methods=methods, seeds=(0,))


def test_what_is_not_installed_is_said_before_anything_is_measured(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "river.ensemble", None)
    sets, keep = present(folder), tmp_path / "kept"
    with pytest.raises(MissingExtraError, match="pip install"):
        list(runs(folder, sets, small(methods=(*FAST, *BENCHMARKS)), str(keep)))
    assert not list(keep.rglob("*.json"))
    assert next(runs(folder, sets, small(), str(keep))).cell.method in FAST  # which need nothing


def test_runs_cover_the_grid_and_find_what_is_easy(folder: Path) -> None:
    sets = [data for data in present(folder) if data.name in ("Spambase", "Gisette")]
    done = list(runs(folder, sets, small()))
    assert {(one.cell.data, one.cell.method, one.cell.batch_size, one.cell.fraction) for one in done} == {
        (name, method, size, 0.1) for name in ("Spambase", "Gisette") for method in FAST for size in (25, 50)
    }
    for one in done:
        assert one.found["ms"] > 0
        assert one.found["variance"] >= 0
        assert -1 <= one.found["stability"] <= 1
    best = {one.cell.method: one.found["accuracy"] for one in done if one.cell.data == "Spambase"}
    assert best["FIRES-GLM"] > 0.9
    assert best["OFS"] > 0.9


@pytest.mark.parametrize("method", [*FAST, "Online Boosting"])
def test_a_run_uses_its_share_of_the_features(folder: Path, method: str) -> None:
    if method in BENCHMARKS:
        pytest.importorskip("river")
    X, y = load(folder, next(data for data in present(folder) if data.name == "Spambase"), 200, 0)
    masks = run(X, y, method, 50, 0.1, 0).masks()
    assert masks.sum(axis=1).tolist() == [X.shape[1] if method in BENCHMARKS else round(0.1 * X.shape[1])] * 4


def test_finished_runs_are_kept_and_found_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sets, keep = [data for data in present(folder) if data.name == "Spambase"], str(tmp_path / "kept")
    assert list(runs(folder, sets, small(), keep, lambda: True)) == []  # no time at all
    before = [next(done) for done in [runs(folder, sets, small(), keep)] for _ in range(3)]
    asked = []

    def noted(X: Any, y: Any, method: str, batch_size: int, *rest: Any) -> Any:
        if len(X) > 2 * batch_size:  # else it is to warm up
            asked.append(method)
        return run(X, y, method, batch_size, *rest)

    monkeypatch.setattr(fires_runs, "run", noted)
    after = list(runs(folder, sets, small(), keep))
    assert after[:3] == before
    assert len(asked) == len(after) - 3
    path = RunStore(tmp_path / "kept" / "fires").path(after[0].cell)
    assert path is not None
    path.write_bytes(path.read_bytes()[:-9])  # cut short: that run is done again
    again = list(runs(folder, sets, small(), keep))
    assert [one.cell for one in again] == [one.cell for one in after]
    assert again[1:] == after[1:]
    assert len(asked) == len(after) - 2
    other = next(runs(folder, sets, small(500), keep))  # fewer rows are another run
    assert (other.cell.rows, len(asked)) == (500, len(after) - 1)


def test_a_brief_plan_leaves_the_learners_out_on_wide_sets_and_says_so(folder: Path) -> None:
    brief = FiresPlan(brief=True)
    assert brief.methods_on(1_000) == FiresPlan().methods_on(10_000) == (*BENCHMARKS, *SELECTORS)
    assert brief.methods_on(1_001) == tuple(SELECTORS)
    sets = [data for data in present(folder) if data.name == "Spambase"]
    plan = FiresPlan((100,), (0.1,), 200, FAST, (0,), brief=True)
    said = "Online Boosting and VFDT are left out on more than 1,000 features."
    assert said in fires.compare(list(runs(folder, sets, plan)), sets, plan).note


def test_tables_stand_beside_the_published_ones(folder: Path) -> None:
    sets = [data for data in present(folder) if data.name == "Gisette"]
    plan = small()
    result = fires.compare(list(runs(folder, sets, plan)), sets, plan)
    row = next(row for row in result.rows if row[:2] == ["Gisette", "OFS"])
    published = [row[result.columns.index(f"{measure}, paper")] for measure in fires.MEASURES]
    assert published == ["0.911", "291", "0.295"]
    assert [row[1] for row in result.rows if row[0] == "mean"] == list(FAST)
    assert "By mean accuracy, best first:" in result.note
    assert "By mean stability, best first:" in result.note
    assert "RBF" in result.missing
    assert {pair.cell.partition(",")[0]: pair.basis for pair in result.pairs}["Gisette"] == "part"
    some = fires.compare(list(runs(folder, sets, plan))[:-1], sets, plan, n_left=1)
    assert len(some.pairs) == len(result.pairs) - 3  # the cell whose grid is not complete, in three measures
    assert some.n_left == 1
    assert len(result.as_dict()["panels"][0]["marks"]) == len(FAST)


def test_rankings_say_where_the_paper_differs() -> None:
    methods = ("OFS", "EFS")
    published = {m: published_table("fires", table) for m, table in fires.MEASURES.items()}
    ours = {(m, "Gisette", method): published[m]["Gisette"][method] for m in fires.MEASURES for method in methods}
    same = fires.rankings(ours, published, ["Gisette"], methods)
    assert [sentence.endswith("the same order.") for sentence in same] == [True] * 3
    ours["accuracy", "Gisette", "EFS"] = 0.99
    other = fires.rankings(ours, published, ["Gisette"], methods)
    assert other[0] == "By mean accuracy, best first: EFS, OFS; the paper's order over these sets is OFS, EFS."


def test_learners_on_all_features(folder: Path) -> None:
    pytest.importorskip("river")
    sets = [data for data in present(folder) if data.name == "Spambase"]
    done = list(runs(folder, sets, small(200, tuple(BENCHMARKS))))
    assert [one.cell.batch_size for one in done] == [50, 50]
    for one in done:
        assert set(one.found) == {"accuracy", "variance", "ms"}


def test_figure_3_shows_pixels_of_the_digit(folder: Path) -> None:
    shown = ("FIRES-GLM", "FIRES-ANN", "OFS")
    result = fires_figures.figure_3(Options(rows=200, data=str(folder)), silent, methods=shown)
    assert [panel.title for panel in result.panels] == ["Digit 3", "Digit 8", "Digit 9"]
    pictures = result.as_dict()["panels"][0]["pictures"]
    assert [picture["name"] for picture in pictures] == [*shown, "ANN, squares"]
    for picture in pictures[2:]:
        mask = np.array(picture["selected"]).ravel()
        assert mask.sum() == fires_figures.DIGIT_PIXELS
        assert mask[100:200].mean() > 0.8  # what was planted for the digit 3
    assert "Here its mean is largest for" in result.note


def test_figures_4_and_6_are_curves(folder: Path) -> None:
    options = Options(rows=400, data=str(folder), brief=True)
    figure = fires_figures.figure_4(options, silent, methods=("FIRES-GLM", "FSDS"))
    assert [[curve.name for curve in panel.curves] for panel in figure.panels] == [["FIRES-GLM", "FSDS"]] * 2
    stability = figure.panels[1].curves[0]
    assert len(stability.x) == len(stability.y) == 400 // 25 - 10 + 1
    whole = fires_figures.figure_4(replace(options, brief=False), silent, methods=("FIRES-GLM",))
    assert [len(row) for row in whole.rows] == [len(whole.columns)] * len(whole.rows)
    assert whole.rows[1][0].endswith(", Spambase")
    assert "second half" in reproduction_report(whole.as_dict())
    penalty = fires_figures.figure_6(options, silent, penalties=(0.01, 1.0))
    assert penalty.panels[0].curves[0].x == [-2.0, 0.0]


def test_figure_5_is_a_point_for_each_method_on_gisette(folder: Path) -> None:
    result = fires_figures.figure_5(Options(rows=400, data=str(folder)), silent, methods=("FIRES-GLM", "FSDS"))
    (panel,) = result.panels
    assert [(curve.name, len(curve.x)) for curve in panel.curves] == [("FIRES-GLM", 1), ("FSDS", 1)]
    assert [row[1] for row in result.rows] == ["12", "12"]
    assert float(result.rows[0][2]) == pytest.approx(panel.curves[0].x[0], abs=1e-3)
    (folder / "gisette_valid.npz").unlink()
    with pytest.raises(ReaderError, match="Gisette is not in"):
        fires_figures.figure_5(Options(rows=400, data=str(folder)), silent)


def test_data_is_scaled_and_binary(folder: Path) -> None:
    sets = present(folder)
    assert {data.name for data in sets} == {"Spambase", "Gisette", "MNIST", "RBF", "RTG"}
    for data in sets:
        X, y = load(folder, data, 300, 0)
        assert X.min() == 0.0
        assert X.max() == 1.0
        assert set(y.tolist()) == {0, 1}
    X, y = load_digits(folder, 8, (3, 9), 50)
    assert X.shape == (50, 784)
    assert 0 < y.mean() < 0.7
    assert scaled(np.array([[2.0, 1.0], [2.0, 3.0]])).tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_a_missing_folder_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--data"):
        fires.tables_3_and_4(Options(), silent)
    with pytest.raises(ReaderError, match=r"spambase\.npz"):
        fires.tables_3_and_4(Options(data=str(tmp_path)), silent)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["Spambase", "MNIST"])
def test_published_accuracy_is_near_on_the_real_data(shared: Path, name: str) -> None:
    """Two of the paper's sets in small: FIRES-GLM and OFS land within 0.1 of Table 3."""
    (data,) = (data for data in present(shared / "data") if data.name == name)
    plan = FiresPlan(batch_sizes=(50,), fractions=(0.15,), max_rows=3_000, methods=("FIRES-GLM", "OFS"))
    found = {one.cell.method: one.found["accuracy"] for one in runs(shared / "data", [data], plan)}
    published = published_table("fires", "table3.accuracy")[name]
    assert found == pytest.approx({method: published[method] for method in ("FIRES-GLM", "OFS")}, abs=0.1)


def test_the_checks_of_known_differences(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamsift.reproduce.fires import causes

    monkeypatch.setattr(causes, "EFS_SETS", ("Spambase",))
    weights = causes.dying_weights(Options(rows=300, data=str(folder)), silent)
    whose = [row[1] for row in weights.rows]
    assert whose == ["ours", "ours, weights can die", "all features, as their program"]
    assert weights.rows[0][3] == "0 of 20"
    assert int(weights.rows[1][3].split()[0]) > 0
    monkeypatch.setattr(causes, "BENCHMARKS", {"VFDT": causes.BENCHMARKS["VFDT"]})
    rows = causes.few_rows(Options(rows=300, data=str(folder)), silent)
    assert rows.columns[1:5] == [f"quarter {k}" for k in (1, 2, 3, 4)]
    assert [row[0] for row in rows.rows] == ["VFDT", "naive Bayes, variances smoothed", causes.OFTEN]
    assert "takes 3,224 rows. With 7,000 rows it made" in rows.note


def test_the_rule_of_the_authors_program_changes_all_weights() -> None:
    from streamsift.core.batch import Batch
    from streamsift.reproduce.fires.causes import AllFeatures

    rule = AllFeatures(3)
    x, label = np.array([[0.0, 1.0, 4.0]]), np.array([0])
    rule.partial_fit(Batch(x, label, None, None))
    rows = np.array([0.0, 0.25, 1.0])
    assert rule.positive == pytest.approx(2.0 * 0.5 * (1 - rows))  # the feature that is 0 too
    assert rule.negative == pytest.approx(1.5 * (1 + rows))
    before = rule.positive.copy()
    rule.partial_fit(Batch(x, label, None, None))  # now it is right by more than the margin
    assert rule.positive == pytest.approx(before)
    assert rule.get_support().tolist() == [False, False, True]
