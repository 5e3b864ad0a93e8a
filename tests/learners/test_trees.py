"""Trees whose leaves are arrays: the kernels equal their twin, and the trees equal river's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.naive import hoeffding as naive

from streamsift.kernels.hoeffding import BELOW, EMPTY, NO_SPLIT, NUMERIC, add_row, naive_bayes
from streamsift.kernels.hoeffding_splits import best_split
from streamsift.learners import trees
from streamsift.learners.adaptive_tree import AdaptiveTree
from streamsift.learners.arrays import ArrayLearner
from streamsift.learners.online import make_learner
from streamsift.learners.river_models import River, RiverOfWords
from streamsift.learners.trees import HoeffdingTree
from streamsift.streams import generate

river_tree = pytest.importorskip("river.tree")

NOMINAL = {1, 3}
COLUMNS = np.array([[NUMERIC, 0, NUMERIC, 4, NUMERIC], [0, 4, 0, 3, 0]])


def leaf_of(rows: Any, n_classes: int) -> tuple[Any, Any]:
    moments = np.empty((len(EMPTY), n_classes, COLUMNS.shape[1]))
    moments[:] = np.array(EMPTY)[:, None, None]
    cells = np.zeros((n_classes, int(COLUMNS[1].sum())))
    for values, label, weight in rows:
        add_row(values, np.arange(len(values)), label, weight, COLUMNS, moments, cells)
    return moments, cells


def drawn(seed: int, n: int = 60, n_classes: int = 3, offset: float = 0.0) -> list[tuple[Any, int, float]]:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        label = int(rng.integers(n_classes))
        values = rng.normal(size=5) + label * rng.normal(size=5) + offset
        values[1], values[3] = rng.integers(4), (label + rng.integers(2)) % 3
        rows.append((values, label, float(rng.poisson(1) or 1)))
    return rows


CASES = {
    "many": drawn(0),
    "two classes": drawn(1, n_classes=2),
    "one class": drawn(2, n_classes=1),
    "one row": drawn(3, n=1),
    "two rows": drawn(4, n=2),
    "a huge offset": drawn(5, offset=1e6),
    "constant numbers": [(np.where(np.isin(range(5), [0, 4]), 7.0, row), *rest) for row, *rest in drawn(6)],
    "ties": [(np.round(row), *rest) for row, *rest in drawn(7)],
    "tiny numbers": [(np.where(np.isin(range(5), [1, 3]), row, row * 1e-150), *rest) for row, *rest in drawn(8)],
}


@pytest.mark.parametrize("name", CASES)
def test_naive_bayes_equals_its_twin(name: str) -> None:
    rows = CASES[name]
    labels = sorted({label for _, label, _ in rows})
    weights = np.array([sum(weight for _, one, weight in rows if one == label) for label in labels])
    moments, cells = leaf_of(rows, max(labels) + 1)
    far = np.array([1e10, 0.0, -1e10, 1.0, 1e10])
    for values, *_ in [*drawn(9, n=5), *rows[:3], (far,)]:
        found = weights.copy()
        naive_bayes(values, np.arange(5), np.array(labels), found, COLUMNS, moments, cells)
        np.testing.assert_allclose(found, naive.probabilities(rows, NOMINAL, values, labels), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_the_best_split_equals_its_twin(name: str) -> None:
    rows = CASES[name]
    labels = sorted({label for _, label, _ in rows})
    weights = np.array([sum(weight for _, one, weight in rows if one == label) for label in labels])
    found = best_split(weights, COLUMNS, *leaf_of(rows, max(labels) + 1))
    merits = naive.merits(rows, NOMINAL, 5)
    assert [found.second, found.merit] == pytest.approx(sorted(merits)[-2:], rel=1e-6, abs=1e-9)
    if found.kind != NO_SPLIT and np.isfinite(found.merit):
        assert merits[found.column] == pytest.approx(found.merit, rel=1e-6, abs=1e-9)
        assert (found.kind == BELOW) == (found.column not in NOMINAL)


def probabilities(learner: Any, X: Any, y: Any, choose: Callable[[int], Any]) -> Any:
    """What a learner says of each batch of 100 before it learns it."""
    found, selected = [], None
    for first in range(0, len(y), 100):
        rows, labels = X[first : first + 100], y[first : first + 100]
        if selected is not None:
            found.append(learner.predict_proba(rows[:, selected]))
        selected = choose(first)
        learner.learn(rows[:, selected], labels, selected, int(y[: first + 100].max()) + 1)
    return found


def assert_equal(ours: Any, theirs: Any) -> None:
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def branches(tree: Any) -> list[Any]:
    """The splits of a tree of river."""
    found = [tree._root]
    for node in found:  # grows meanwhile
        found += getattr(node, "children", [])
    return [node for node in found if hasattr(node, "children")]


def stream(name: str, n_rows: int) -> tuple[Any, Any, list[int]]:
    made = generate(name, n_rows=n_rows, seed=3, irrelevant=8, drift="gradual", width=n_rows // 20)
    batch = next(made.batches(n_rows))
    categorical = np.zeros(batch.X.shape[1], bool) if batch.categorical is None else batch.categorical
    return np.asarray(batch.X, np.float64), np.asarray(batch.y, np.int64), np.flatnonzero(categorical).tolist()


KINDS = {
    "tree": (
        lambda nominal: river_tree.HoeffdingTreeClassifier(nominal_attributes=nominal),
        HoeffdingTree,
    ),
    "majority": (
        lambda nominal: river_tree.HoeffdingTreeClassifier(nominal_attributes=nominal, leaf_prediction="mc"),
        lambda: HoeffdingTree(by_bayes=False),
    ),
    "adaptive": (
        lambda nominal: river_tree.HoeffdingAdaptiveTreeClassifier(nominal_attributes=nominal, seed=0),
        AdaptiveTree,
    ),
}


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["agr", "bg1", "sea", "rtg"])
def test_trees_equal_those_of_river(name: str, kind: str) -> None:
    X, y, nominal = stream(name, 4_000)
    theirs, ours = KINDS[kind]
    everything = np.arange(X.shape[1])
    mine = ArrayLearner(ours, frozenset(nominal))
    other = River(lambda: theirs(nominal))
    assert_equal(
        probabilities(mine, X, y, lambda first: everything), probabilities(other, X, y, lambda first: everything)
    )
    assert mine.model.n_branches == other.model.n_branches > 0
    assert mine.model.features_used() == {node.feature for node in branches(other.model)}
    assert getattr(mine.model, "n_alternates", 0) == getattr(other.model, "n_alternate_trees", 0)


@pytest.mark.compiled
def test_alternate_trees_come_and_go_as_those_of_river() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(9_000, 3))
    y = (X[:, 0] > 0).astype(np.int64)
    y[3_000:6_000] = X[3_000:6_000, 1] > 0
    y[6_000:] = (X[6_000:, 0] > 0) ^ (X[6_000:, 2] > 0)
    theirs, ours = KINDS["adaptive"]
    mine, other = ArrayLearner(ours), River(lambda: theirs([]))
    everything = np.arange(3)
    assert_equal(
        probabilities(mine, X, y, lambda first: everything), probabilities(other, X, y, lambda first: everything)
    )
    grown = mine.model
    assert [grown.n_alternates, grown.n_switched, grown.n_pruned, grown.n_branches] == [
        other.model.n_alternate_trees,
        other.model.n_switch_alternate_trees,
        other.model.n_pruned_alternate_trees,
        other.model.n_branches,
    ]
    assert other.model.n_alternate_trees > 1


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
def test_trees_equal_those_of_river_while_the_selection_changes(kind: str) -> None:
    X, y, nominal = stream("agr", 4_000)
    theirs, ours = KINDS[kind]

    def some(first: int) -> Any:
        rng = np.random.default_rng(first // 600)
        return np.sort(rng.choice(X.shape[1], int(rng.integers(1, X.shape[1])), replace=False))

    mine, other = ArrayLearner(ours, frozenset(nominal)), River(lambda: theirs(nominal))
    assert_equal(probabilities(mine, X, y, some), probabilities(other, X, y, some))


@pytest.mark.parametrize("name", ["hoeffding_tree", "hoeffding_tree_majority", "adaptive_tree"])
def test_classes_and_categories_may_come_late(name: str) -> None:
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.integers(0, 2, 900), rng.integers(0, 4, 900)])
    colour = np.where(rng.random(1_800) < 0.8, y, rng.integers(0, 3, 1_800))
    colour[1_200:] = np.where(rng.random(600) < 0.2, 9, colour[1_200:])
    X = np.column_stack([rng.normal(size=1_800), colour, y + rng.normal(size=1_800)])
    names = {1: tuple("abcdefghij")}  # sorted by name as by code
    make = {
        "hoeffding_tree": lambda: river_tree.HoeffdingTreeClassifier(),
        "hoeffding_tree_majority": lambda: river_tree.HoeffdingTreeClassifier(leaf_prediction="mc"),
        "adaptive_tree": lambda: river_tree.HoeffdingAdaptiveTreeClassifier(seed=0),
    }[name]
    ours, theirs = make_learner(name), RiverOfWords(make)
    found = []
    for learner in (ours, theirs):
        learner.know_categories(names)  # type: ignore[attr-defined]  # every one of these has it
        found.append(probabilities(learner, X, y, lambda first: np.arange(3)))
    assert_equal(*found)
    assert found[0][-1].shape == (100, 4)


def test_a_leaf_of_one_class_waits_and_wakes_up() -> None:
    """A leaf that is pure is put to sleep by river and woken up by the next split elsewhere."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3_000, 3))
    y = (X[:, 0] > 0.5).astype(np.int64)
    y[2_000:] = (X[2_000:, 1] > 0).astype(np.int64)
    mine, other = ArrayLearner(HoeffdingTree), River(river_tree.HoeffdingTreeClassifier)
    everything = np.arange(3)
    assert_equal(
        probabilities(mine, X, y, lambda first: everything), probabilities(other, X, y, lambda first: everything)
    )


@pytest.mark.parametrize("kind", ["tree", "adaptive"])
def test_leaves_beyond_the_memory_limit_sleep(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They predict their largest class, and those that promise most are awake."""
    monkeypatch.setattr(trees, "MOST_BYTES", 3 * 2_000)
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.integers(0, 9, 6_000), rng.normal(size=(6_000, 4))])
    y = (X[:, 0] % 2 == (X[:, 1] > 0)).astype(np.int64)
    learner = ArrayLearner(KINDS[kind][1], frozenset([0]))
    said = probabilities(learner, X, y, lambda first: np.arange(5))
    tree = learner.model
    per_leaf = tree._space.bytes_per_leaf
    assert tree.n_branches > 3
    assert len(tree._seen.moments) * per_leaf <= trees.MOST_BYTES < 9 * per_leaf  # a leaf for each value does not fit
    assert np.isfinite(said[-1]).all()
    assert (said[-1].argmax(axis=1) == y[-100:]).mean() > 0.6


@pytest.mark.parametrize("n_features", [1, 12])
def test_boosting_equals_that_of_river(n_features: int) -> None:
    from river.ensemble import AdaBoostClassifier
    from river.naive_bayes import GaussianNB

    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 12))[:, :n_features] + y[:, None] * (np.arange(n_features) % 3 == 0)
    X[:, -1] = np.round(X[:, -1])
    everything = np.arange(n_features)
    theirs = River(lambda: AdaBoostClassifier(GaussianNB(), n_models=3, seed=0))
    assert_equal(
        probabilities(make_learner("boosting"), X, y, lambda first: everything),
        probabilities(theirs, X, y, lambda first: everything),
    )


@pytest.mark.parametrize("name", ["hoeffding_tree", "hoeffding_tree_majority", "adaptive_tree", "boosting"])
@pytest.mark.parametrize(("column", "value"), [(0, np.nan), (0, np.inf), (1, np.nan), (1, -7.0), (1, 1e300)])
def test_bad_values_are_refused_before_a_kernel_sees_them(name: str, column: int, value: float) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 3, 200)]).astype(np.float64)
    y = rng.integers(0, 2, 200)
    bad = X[:100].copy()
    bad[50, column] = value
    learner: Any = make_learner(name)
    learner.know_categories({1: ("a", "b", "c")})
    learner.learn(X[:100], y[:100], np.arange(2), 2)
    before = learner.predict_proba(X[100:])
    with pytest.raises(ValueError, match=r"NaN or infinity|codes of categories"):
        learner.learn(bad, y[:100], np.arange(2), 2)
    np.testing.assert_array_equal(learner.predict_proba(X[100:]), before)
    with pytest.raises(ValueError, match=r"NaN or infinity|codes of categories"):
        learner.predict_proba(bad)


@pytest.mark.parametrize("name", ["hoeffding_tree", "hoeffding_tree_majority", "adaptive_tree", "boosting"])
def test_no_rows_and_a_single_class_are_no_trouble(name: str) -> None:
    learner = make_learner(name)
    learner.learn(np.empty((0, 2)), np.empty(0, np.int64), np.arange(2), 2)
    learner.learn(np.arange(40.0).reshape(20, 2), np.zeros(20, np.int64), np.arange(2), 2)
    assert learner.predict(np.zeros((3, 2))).tolist() == [0, 0, 0]
