"""The tables behind the default of `select`, and the peers of Joint: the right groups and counts, on small data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks import joint_peers, recovery
from benchmarks.defaults import categories, compared, interactions, numbers, winners
from benchmarks.defaults.halves import Line, accuracy
from benchmarks.defaults.sets import NAMES, Halves, load
from scipy.sparse import csr_matrix


def test_sets_that_the_proposal_named_confirm_nothing() -> None:
    parts = winners.groups(list(winners.SETS))
    assert set(parts["named"]) == set(winners.NAMED)
    assert not set(parts["others and new"]) & (set(winners.NAMED) | set(winners.TWICE))
    assert set(parts["new"]).isdisjoint(NAMES)
    assert len(parts["others and new"]) >= 20
    assert set(winners.TWICE) | set(winners.NAMED) <= set(winners.SETS)


def test_means_and_wins_are_those_of_the_group() -> None:
    lines = {
        "joint:forward": Line({"isolet": 0.9, "mnist": 0.7, "w1a": 0.8}, {"isolet": 10, "mnist": 10, "w1a": 10}),
        "other": Line({"isolet": 0.1, "mnist": 0.6, "w1a": 0.9}, {"isolet": 10, "mnist": 4, "w1a": 6}),
    }
    row = winners.means(lines).splitlines()[-1].split("|")
    assert [cell.strip() for cell in row[1:-1]] == ["other", "0.100", "0.600", "0.900", "0.750", "5", "1 won, 1 lost"]
    by_set = winners.set_by_set(lines).splitlines()
    assert by_set[2].startswith("| isolet* | **0.900** | 0.100 |")


def test_a_column_with_many_values_is_the_number_to_explain() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 9))
    X[:, 0] = rng.integers(0, 5, 400)
    X[:, 1] = X[:, 4] - X[:, 7] + 0.1 * rng.normal(size=400)
    found = numbers.measure(iter([Halves("made", X, np.zeros(400, np.int64))]), lambda line: None)
    assert found["joint:forward"]["made"][0] > 0.97
    assert found["joint:forward, fdr:0.05"]["made"][1] in (2, 3)
    assert "joint:forward | 0.9" in numbers.table(found)
    flat = Halves("flat", np.zeros((60, 3)), np.zeros(60, np.int64))
    assert numbers.measure(iter([flat]), lambda line: None)["random"] == {}


def test_many_categories_are_missed_by_columns_of_their_own_and_not_by_counts() -> None:
    few, many = categories.measure(10, 1000, 2), categories.measure(200, 1000, 2)
    assert few["joint:forward"][0] > many["joint:forward"][0]
    assert many["screen:mutual_info"][0] == 3.0
    assert categories.table({(1000, 10): few}).splitlines()[-1].startswith("| 1,000 | 10 | ")


def test_neighbours_see_what_only_pairs_tell() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    made = Halves("made", X, (X[:, 0] * X[:, 1] > 0).astype(np.int64))
    assert interactions.neighbours(made, [0, 1]) > 0.85 > 0.6 > interactions.neighbours(made, [0, 2])


def test_sparse_sets_can_stay_sparse(tmp_path: Path) -> None:
    X = csr_matrix(np.eye(40)[:, :30] + np.eye(40, 30, 1))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    np.savez(tmp_path / "words.npz", **parts, y=np.arange(40) % 2)
    entry = {"name": "words", "file": "words.npz", "sparse": True, "row_order": "file"}
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"datasets": [entry]}))
    (kept,) = load(tmp_path, ("words",), 40, 30, keep_sparse=True)
    (dense,) = load(tmp_path, ("words",), 40, 30)
    np.testing.assert_array_equal(kept.X.toarray(), dense.X)
    assert accuracy(kept, np.array([1, 5])) == accuracy(dense, np.array([1, 5]))


@pytest.mark.parametrize("method", ["joint:forward", "joint:mrmr", "SelectKBest(f_classif)"])
def test_the_peers_choose_ten_features_that_tell_something(method: str) -> None:
    X, y = joint_peers.load("cancer", True)
    chosen = joint_peers.METHODS[method](X[:200], y[:200])
    assert len(set(np.asarray(chosen).tolist())) == 10
    assert accuracy(Halves("cancer", X, y), np.asarray(chosen)) > 0.9


def test_forward_is_what_fastcan_chooses() -> None:
    pytest.importorskip("fastcan", reason="skipped: no fastcan")
    X, y = joint_peers.load("cancer", True)
    chosen = [sorted(map(int, joint_peers.METHODS[name](X, y))) for name in ("joint:forward", "fastcan")]
    assert chosen[0] == chosen[1]


def record_of(figures: dict[str, dict[str, float]]) -> compared.Record:
    """A record with these accuracies of both models."""
    sets = {
        name: {f"{method} + {model}": {"accuracy": value} for method, value in of.items() for model in compared.MODELS}
        | {"majority": {"accuracy": 0.5}}
        for name, of in figures.items()
    }
    return {"rows": 5000, "features": 1000, "sets": sets}


def test_wins_and_losses_are_counted_against_the_best_of_the_others() -> None:
    record = record_of(
        {
            "isolet": {"random": 0.5, "all": 0.9, "joint:forward": 0.80, "screen:fisher": 0.70, "fires": 0.795},
            "mnist": {"random": 0.5, "all": 0.9, "joint:forward": 0.60, "screen:fisher": 0.65, "fires": 0.62},
        }
    )
    forward, fisher, fires = compared.where(record, "perceptron").splitlines()[2:]
    assert forward == "| joint:forward | 1 of 2 | nowhere | 1 set: mnist -0.050 |"
    assert fisher == "| screen:fisher | 1 of 2 | mnist +0.030 | 1 set: isolet -0.100 |"
    assert fires == "| fires | 0 of 2 | nowhere | 1 set: mnist -0.030 |"
    means = compared.means(record, "naive_bayes").splitlines()
    assert "| screen:fisher | 0.700 | 0.650 | 0.650 | 1 won, 0 lost | 0 won, 1 lost |" in means  # isolet was named
    assert "| isolet* | 0.500 / 0.500 |" in compared.set_by_set(record)


def test_the_pages_show_the_record_of_compare() -> None:
    record = json.loads(compared.RECORD.read_text(encoding="utf-8"))
    assert set(record["sets"]) <= set(winners.SETS) - set(winners.TWICE)
    assert len(record["sets"]) >= 20
    for path, table in ((compared.PAGE, compared.tables(record)), (compared.SHORT_PAGE, compared.short_table(record))):
        text = path.read_text(encoding="utf-8")
        assert table in text
        assert compared.renewed(text, table) == text, "python -m benchmarks.defaults.compared --page"


def test_compare_is_run_on_a_set_and_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 24))
    X[:, 5] += 3 * y
    made = Halves("made", X, y)
    found = compared.compared(made, tmp_path, ("screen:fisher",))
    assert set(found) == {
        "majority",
        *(f"{name} + {model}" for name in ("screen:fisher", "random", "all") for model in compared.MODELS),
    }
    assert found["screen:fisher + naive_bayes"]["accuracy"] > 0.8 > found["majority"]["accuracy"]
    assert found["screen:fisher + naive_bayes"]["features"] == 10
    assert compared.compared(made, tmp_path, ("screen:fisher",)) == found  # from the folder


def test_true_features_are_found_among_those_that_share_a_cause() -> None:
    found = recovery.measured("regression", 1.0, (100, 400), 1, n_features=60, n_true=6)
    assert found["joint:forward"][400] == found["joint:mcp"][400] == [1.0]
    assert found["joint:lasso"] == found["offline lasso"]
    line = recovery.table({"numbers, 1": found}).splitlines()[-1]
    assert line.startswith("| joint:fsa | ")
    X, y = recovery.rows(200, 1.0, "classification", np.random.default_rng(0), 60, 6)
    assert set(y) == {0, 1}
    assert 0.3 < np.corrcoef(X[:, 1], X[:, 2])[0, 1] < 0.7
