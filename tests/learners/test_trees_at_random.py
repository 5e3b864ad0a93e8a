"""Hoeffding trees on random streams: equal to river's whatever the batches are, and sound inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.learners.test_trees import KINDS

from streamsift.kernels.hoeffding import (
    ALTERNATE,
    COUNT,
    EACH_VALUE,
    FIRST,
    KIND,
    LEAF,
    N_LABELS,
    NOWHERE,
    SLOT,
)
from streamsift.learners import trees
from streamsift.learners.adaptive_tree import AdaptiveTree
from streamsift.learners.arrays import ArrayLearner
from streamsift.learners.river_models import River
from streamsift.learners.trees import HoeffdingTree

EVERYTHING = np.arange(4)


def drawn(seed: int, n_rows: int = 2_500) -> tuple[Any, Any, list[int]]:
    """Numbers and two categories, one with values that come late; three concepts; classes that come late or alone."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.choice([2, 3, 6]))
    X = np.column_stack([rng.normal(size=(n_rows, 2)), rng.integers(0, 3, (n_rows, 2))])
    late = rng.integers(n_rows // 2, n_rows, 12)
    X[late, 3] = 3 + rng.permutation(12)
    X[:, 1] = X[:, 1].round(1) + rng.choice([0.0, 1e6])
    parts = np.sort(rng.integers(0, n_rows, 2))
    concept = np.searchsorted(parts, np.arange(n_rows), side="right")
    weights = rng.normal(size=(3, 4, n_classes)) * (rng.random((3, 4, n_classes)) < 0.7)
    centred = X - X.mean(axis=0)
    y = np.einsum("ij,ijk->ik", centred, weights[concept]).argmax(axis=1)
    noisy = rng.random(n_rows) < rng.choice([0.0, 0.1])
    y[noisy] = rng.integers(0, n_classes, int(noisy.sum()))
    if rng.random() < 0.5:
        y[: n_rows // 5] = 0
    if rng.random() < 0.5:
        y[parts[0] : parts[0] + 400] = n_classes - 1
    return X, y, [2, 3]


def assert_sound(tree: Any) -> None:
    """Every slot is free or belongs to one leaf; children, labels and their places are where they may be."""
    links, slots, open_nodes, places = tree._nodes.links, [], [tree._root], []
    while open_nodes:
        node = open_nodes.pop()
        kind, first, count, slot, n_labels, alternate = links[
            node, [KIND, FIRST, COUNT, SLOT, N_LABELS, ALTERNATE]
        ].tolist()
        assert 0 <= node < tree._n_nodes
        if kind == LEAF:
            labels = tree._nodes.labels[node, :n_labels].tolist()
            assert len(set(labels)) == n_labels
            assert set(labels) <= set(range(tree._space.n_classes))
            slots += [slot] * (slot != NOWHERE)
            continue
        children = tree._children_of(node)
        assert all(child > node for child in children)
        assert slot == NOWHERE
        assert first + count <= tree._n_children
        places += range(first, first + count)
        open_nodes += children + [alternate] * (alternate != NOWHERE)
    assert len(set(places)) == len(places)
    assert sorted(slots + tree._free) == list(range(len(tree._seen.moments)))


def leaves(tree: Any) -> list[dict[int, float]]:
    """What the leaves of one of our trees weigh, left to right, without alternates."""
    return [tree._stats(node) for node in tree._walk(alternates=False) if tree._nodes.links[node, KIND] == LEAF]


def leaves_of_river(node: Any) -> list[dict[int, float]]:
    if not hasattr(node, "children"):
        return [node.stats]
    return [stats for child in node.children for stats in leaves_of_river(child)]


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_random_trees_equal_those_of_river(kind: str, seed: int) -> None:
    theirs, ours = KINDS[kind]
    X, y, nominal = drawn(seed)
    mine, other = ArrayLearner(ours, frozenset(nominal)), River(lambda: theirs(nominal))
    rng = np.random.default_rng(seed)
    size, first = int(rng.choice([7, 90, 200])), 0
    while first < len(y):
        part = slice(first, first + size)
        if first:
            np.testing.assert_allclose(mine.predict_proba(X[part]), other.predict_proba(X[part]), atol=1e-9)
        for learner in (mine, other):
            learner.learn(X[part], y[part], EVERYTHING, int(y[: first + size].max()) + 1)
        first += size
        assert_sound(mine.model)
    if kind != "adaptive" and all(mine.model._nodes.links[node, KIND] != EACH_VALUE for node in mine.model._branches()):
        found, wanted = leaves(mine.model), leaves_of_river(other.model._root)
        assert [list(one) for one in found] == [list(one) for one in wanted]  # the order of classes, too
        for one, same in zip(found, wanted, strict=True):
            assert list(one.values()) == pytest.approx(list(same.values()))


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["tree", "adaptive"])
def test_values_that_were_never_seen_do_not_tell_one_batch_from_many(kind: str) -> None:
    """Such a row goes with the crowd as it is then, not as it was when the batch began."""
    rng = np.random.default_rng(10)
    plain = (np.arange(6_000) // 17) % 2
    X = np.column_stack([plain, rng.normal(size=6_000)]).astype(np.float64)
    y = plain ^ (rng.random(6_000) < 0.05)
    y[2_000:] = rng.random(4_000) < 0.58
    new = np.flatnonzero((rng.random(6_000) < 0.4) & (np.arange(6_000) > 1_000))
    X[new, 0] = 2 + np.arange(len(new))
    one, many = (ArrayLearner(KINDS[kind][1], frozenset([0])) for _ in range(2))
    for first in range(0, 6_000, 200):
        part = slice(first, first + 200)
        one.learn(X[part], y[part], np.arange(2), 2)
        for row in range(first, first + 200):
            many.learn(X[row : row + 1], y[row : row + 1], np.arange(2), 2)
        assert one.model.n_branches == many.model.n_branches
        np.testing.assert_allclose(one.predict_proba(X[part]), many.predict_proba(X[part]), atol=1e-12)


@pytest.mark.parametrize("kind", ["tree", "adaptive"])
def test_leaves_that_need_more_memory_share_what_there_is(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST_BYTES", 2**18)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 12_000), rng.normal(size=(12_000, 3))])
    y = (np.floor(X[:, 1] * 3) + np.floor(X[:, 2] * 3)).astype(np.int64) % 2
    learner = ArrayLearner(KINDS[kind][1], frozenset([0]))
    for first in range(0, 12_000, 200):
        learner.learn(X[first : first + 200], y[first : first + 200], EVERYTHING, 2)
    before = learner.model._n_awake()
    X[0, 0] = 6_000  # every leaf has a cell for each value
    learner.learn(X[:100], y[:100], EVERYTHING, 2)
    assert_sound(learner.model)
    assert learner.model._n_awake() < before
    own = learner.model._seen
    assert own.moments.nbytes + own.cells.nbytes <= trees.MOST_BYTES + learner.model._space.bytes_per_leaf


def test_the_memory_of_a_tree_is_that_of_its_nodes_children_and_leaves() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2_000, (3_000, 1)).astype(np.float64)
    X[:, 0] = np.where(rng.random(3_000) < 0.9, X[:, 0] % 4, X[:, 0])
    learner = ArrayLearner(HoeffdingTree, frozenset([0]))
    for first in range(0, 3_000, 100):
        part = X[first : first + 100]
        learner.learn(part, (part[:, 0] % 2).astype(np.int64), np.arange(1), 2)
    tree = learner.model
    assert tree._n_children > tree._n_nodes
    children = tree._nodes.children.itemsize * tree._n_children
    assert tree.n_bytes() > children + tree._n_awake() * tree._space.bytes_per_leaf


@pytest.mark.compiled
def test_a_root_that_was_asleep_as_an_alternate_wakes_up() -> None:
    """River's never splits again; here the rows from 6,000 on are learnt."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = (X[:, 0] > 0).astype(np.int64)
    y[4_000:6_000] = rng.random(2_000) < 0.006
    y[6_000:] = X[6_000:, 1] > 0
    learner = ArrayLearner(AdaptiveTree)
    for first in range(0, 20_000, 100):
        learner.learn(X[first : first + 100], y[first : first + 100], np.arange(2), 2)
    assert (learner.predict(X[-2_000:]) == y[-2_000:]).mean() > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_classes_may_come_while_nothing_is_selected(kind: str) -> None:
    learner = ArrayLearner(KINDS[kind][1])
    nothing = np.empty((60, 0))
    learner.learn(nothing, np.arange(60) % 2, np.arange(0), 2)
    learner.learn(nothing, np.arange(60) % 3, np.arange(0), 3)
    found = learner.predict_proba(nothing[:1])[0]
    if kind == "adaptive":  # which learns a row more than once, at random
        assert found.sum() == pytest.approx(1.0)
        assert (found > 0.0).all()
    else:
        assert found == pytest.approx([50 / 120, 50 / 120, 20 / 120])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.array([0, -1, 1]), "class codes"),
        (np.array([0.0, 0.7, 1.0]), "class codes"),
        (np.array([0, 1]), "3 rows, but 2 labels"),
        (np.array([0, 1, 1, 1]), "3 rows, but 4 labels"),
    ],
)
def test_labels_that_are_no_codes_are_refused_before_a_kernel_sees_them(kind: str, y: Any, words: str) -> None:
    learner = ArrayLearner(KINDS[kind][1])
    with pytest.raises(ValueError, match=words):
        learner.learn(np.zeros((3, 2)), y, np.arange(2), 2)


def test_a_column_that_held_codes_is_not_taken_for_numbers_later() -> None:
    from streamsift.learners.arrays import ArrayLearnerOfCategories

    learner = ArrayLearnerOfCategories(HoeffdingTree)
    learner.know_categories({0: ("a", "b")})
    learner.learn(np.array([[0.0], [1.0]]), np.array([0, 1]), np.arange(1), 2)
    learner.know_categories({})
    for value in (-3.0, 1e9):
        with pytest.raises(ValueError, match="codes of categories"):
            learner.learn(np.array([[value]]), np.array([0]), np.arange(1), 2)
