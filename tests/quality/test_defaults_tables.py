"""The tables behind the defaults: the right rows, halves and counts, on sets small enough to know the answer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.defaults import empty, halves, restarts, scales, streams
from benchmarks.defaults.sets import Halves, load

from streamsift import Screener


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stream whose rows are numbered, and a sparse set without an order."""
    y = np.arange(100) % 2
    np.savez(tmp_path / "timed.npz", X=np.arange(100)[:, None] * np.ones((1, 8), np.int16), y=y)
    dense = np.random.default_rng(0).random((60, 30)) < np.linspace(0.1, 0.9, 30)
    places = [np.flatnonzero(row) for row in dense]
    indptr = np.cumsum([0, *map(len, places)])
    parts = {"data": np.ones(indptr[-1], np.uint8), "indices": np.concatenate(places), "indptr": indptr}
    np.savez(tmp_path / "words.npz", **parts, shape=np.array([60, 30]), y=np.arange(60) % 3)
    sets = [
        {"name": "timed", "file": "timed.npz", "sparse": False, "row_order": "stream (time)"},
        {"name": "words", "file": "words.npz", "sparse": True, "row_order": "file"},
    ]
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"datasets": sets}))
    return tmp_path


def test_streams_keep_their_order_and_sparse_sets_their_fullest_columns(folder: Path) -> None:
    timed, words = load(folder, ("timed", "words"), n_rows=50, n_features=20)
    assert timed.X.shape == (50, 8)
    assert (np.diff(timed.X[:, 0]) > 0).all()
    assert (timed.n_selected, timed.middle, timed.batch_size) == (4, 25, 5)
    assert words.X.shape == (50, 20)
    assert words.X.mean() > 0.6  # of all columns: a half
    assert np.bincount(words.y).min() > 10


def test_features_are_judged_on_the_second_half() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 30))
    X[:, 3] += 5 * y
    X[:200, 4] = X[:200, 4] + 9 * y[:200]  # tells the class in the first half only
    data = Halves("made", X, y)
    assert halves.accuracy(data, np.array([3])) > 0.95
    assert halves.accuracy(data, np.array([4])) < 0.65
    assert halves.accuracy(data, np.array([], np.int64)) < 0.65
    lines = halves.measure(iter([data]), {"t": halves.by_rows(Screener, criterion="t_score")}, lambda line: None)
    assert set(lines) == {"random", "all", "screen:mutual_info", "screen:fisher", "t"}
    assert lines["t"].n_features == {"made": 10}
    lines["t, worse"] = halves.Line({"made": lines["t"].accuracy["made"] - 0.02}, {"made": 10})
    assert halves.wins_and_losses(lines["t, worse"], lines["t"]) == (0, 1)
    assert halves.table(lines).splitlines()[-1].endswith("0 won, 1 lost |")


def test_a_selection_that_follows_the_drift_is_worth_more() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6))
    y = (np.where(np.arange(1000) < 500, X[:, 0], X[:, 1]) > 0).astype(int)
    stream = streams.Stream("made", True, X, y)
    found = {
        name: streams.accuracy(stream, Screener("fisher", n_features_to_select=1, fading=fading))
        for name, fading in {"1.0": 1.0, "faded": 0.98}.items()
    }
    assert found["faded"] > found["1.0"] + 0.1


def test_a_column_in_another_unit_ruins_models_that_see_it_as_it_is() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 5)) * [1.0, 1e5, 1.0, 1.0, 1.0]
    X[:, 0] += 3 * y
    found = scales.measure(iter([Halves("made", X, y)]), lambda line: None)
    for model in scales.MODELS:
        assert found["made"][model]["standard"] > found["made"][model]["none"] + 0.2
    assert scales.table(found).splitlines()[-1] == "| **standardised against not** |" + " 1 won, 0 lost |" * 3


def test_a_selection_is_empty_after_so_many_batches() -> None:
    class Now:
        """Selects nothing after every second batch."""

        n = 0

        def partial_fit(self, X: object, y: object) -> None:
            self.n += 1

        def get_support(self) -> object:
            return np.array([self.n % 2 == 0])

    assert empty.empty_share(np.zeros((500, 1)), np.zeros(500), Now()) == 3 / 5
    figures = {name: {"default": 0.25, "paper": 6.0} for name in (*empty.STREAMS, *empty.GENERATED)}
    assert "| elec2 | 25% | 600% |" in empty.table(figures)


def test_a_model_that_starts_again_is_counted() -> None:
    pytest.importorskip("river")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = (np.where(np.arange(600) < 300, X[:, 0], X[:, 1]) > 0).astype(int)
    stream = Halves("made", X, y)
    goes_on, again = (restarts.accuracy(stream, "hoeffding_tree", restarts=flag) for flag in (False, True))
    assert goes_on[1] == 0.0 < again[1]
