"""rtg: labels from a random decision tree (Domingos and Hulten 2000; MOA's RandomTreeGenerator).

The tree splits at random features: a categorical one has a branch for each of its `own_values` values (None: as many as
an irrelevant one, `n_values`) and is not used again below, a numeric one is cut somewhere in what its branch has left
of [0, 1). Leaves begin below `first_leaf_level` with the probability `leaf_fraction` and end the tree at `max_depth`.
Each concept has a tree of its own over its own `n_relevant` of the `n_categorical` + `n_numeric` features (None: over
all of them), drawn from `concept_seed`. With `one_hot` a categorical feature becomes one 0/1 feature per value; the
FIRES paper's stream of 450 features is n_categorical=50, n_numeric=200, n_relevant=None, one_hot=True.

The true features are those that the tree really uses: a split whose branches all end in the same class is replaced by
a leaf, and a feature that no split has drawn does not count.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from streamsift.core.constraints import Integer, IsBool, IsNone, Limits, Real, check_parameters
from streamsift.core.exceptions import ParameterError
from streamsift.streams.generators.concepts import ConceptGenerator, Feature, Floats, Labels, draw_until

MOST_TREES = 100  # grown until one has more than one class


@dataclass(frozen=True, kw_only=True)
class RandomTree(ConceptGenerator):
    """See the module docstring."""

    n_categorical: int = 6
    n_numeric: int = 6
    n_relevant: int | None = 6
    own_values: int | None = None
    n_labels: int = 2
    max_depth: int = 5
    first_leaf_level: int = 3
    leaf_fraction: float = 0.15
    one_hot: bool = False
    concept_seed: int = 0
    class_share: float | None = None

    name: ClassVar[str] = "rtg"

    @property
    def n_branches(self) -> int:
        """Values of a categorical feature of the tree."""
        return self.n_values if self.own_values is None else self.own_values

    @property
    def n_classes(self) -> int:
        return self.n_labels

    def own_limits(self) -> Limits:
        whole: Limits = {
            name: (Integer(0),) for name in ("n_categorical", "n_numeric", "first_leaf_level", "concept_seed")
        }
        check_parameters(self.name, vars(self), whole)
        limits: Limits = {
            "n_relevant": (Integer(1, self.n_categorical + self.n_numeric), IsNone()),
            "own_values": (Integer(2, 255), IsNone()),
            "n_labels": (Integer(2),),
            "max_depth": (Integer(1, 12),),
            "leaf_fraction": (Real(0, 1),),
            "one_hot": (IsBool(),),
        }
        return limits if self.n_labels == 2 else {**limits, "class_share": (IsNone(),)}

    def own_features(self) -> tuple[Feature, ...]:
        values = tuple(f"v{value}" for value in range(self.n_branches))
        numeric = [Feature(f"x{place}") for place in range(self.n_numeric)]
        if self.one_hot:
            hot = [Feature(f"c{place}={value}") for place in range(self.n_categorical) for value in values]
            return (*hot, *numeric)
        return (*(Feature(f"c{place}", values) for place in range(self.n_categorical)), *numeric)

    def true_features(self, concept: int) -> tuple[int, ...]:
        used = sorted({feature for feature in _tree(self, concept).feature if feature >= 0})
        if not self.one_hot:
            return tuple(used)
        places: list[int] = []
        for feature in used:
            if feature < self.n_categorical:
                places += range(feature * self.n_branches, (feature + 1) * self.n_branches)
            else:
                places.append(self.n_categorical * (self.n_branches - 1) + feature)
        return tuple(places)

    def draw(self, rng: np.random.Generator, concept: int, wanted: Labels) -> tuple[Floats, Labels]:
        tree = _tree(self, concept)

        def propose(n: int) -> tuple[Floats, Labels]:
            codes = rng.integers(0, self.n_branches, (n, self.n_categorical), np.uint8).astype(np.float32)
            X = np.hstack([codes, rng.random((n, self.n_numeric), np.float32)])
            return X, tree.classify(X, self.n_categorical)

        X, y = draw_until(wanted, propose, self.name)
        return (self._as_one_hot(X) if self.one_hot else X), y

    def _as_one_hot(self, X: Floats) -> Floats:
        codes, numeric = X[:, : self.n_categorical, None], X[:, self.n_categorical :]
        hot = (codes == np.arange(self.n_branches)).astype(np.float32)
        return np.hstack([hot.reshape(len(X), -1), numeric])


@dataclass
class Tree:
    """A decision tree as columns, one entry per node: the feature of its split (-1: a leaf), cut, branches, class."""

    feature: list[int] = field(default_factory=list)
    cut: list[float] = field(default_factory=list)
    branches: list[list[int]] = field(default_factory=list)
    label: list[int] = field(default_factory=list)

    def leaf(self, label: int) -> int:
        return self.node(-1, 0.0, [], label)

    def node(self, feature: int, cut: float, branches: list[int], label: int = -1) -> int:
        self.feature.append(feature)
        self.cut.append(cut)
        self.branches.append(branches)
        self.label.append(label)
        return len(self.feature) - 1

    def classify(self, X: Floats, n_categorical: int) -> Labels:
        """The class of each row: all rows go down one level at a time."""
        feature, cut = np.array(self.feature), np.array(self.cut, np.float32)
        widest = max(2, *(len(branches) for branches in self.branches))
        below = np.array([branches + [0] * (widest - len(branches)) for branches in self.branches], np.intp)
        at = np.full(len(X), len(self.feature) - 1)  # the root was made last
        moving = np.flatnonzero(feature[at] >= 0)
        while len(moving):
            split = feature[at[moving]]
            values = X[moving, split]
            branch = np.where(split < n_categorical, values, values >= cut[at[moving]]).astype(np.intp)
            at[moving] = below[at[moving], branch]
            moving = moving[feature[at[moving]] >= 0]
        labels: Labels = np.array(self.label, np.int64)[at]
        return labels


@functools.lru_cache(maxsize=16)
def _tree(generator: RandomTree, concept: int) -> Tree:
    rng = np.random.default_rng(np.random.SeedSequence(generator.concept_seed, spawn_key=(concept,)))
    n_features = generator.n_categorical + generator.n_numeric
    wanted = n_features if generator.n_relevant is None else generator.n_relevant
    for _ in range(MOST_TREES):
        chosen = np.sort(rng.permutation(n_features)[:wanted])
        ranges = {int(feature): (0.0, 1.0) for feature in chosen}
        tree = Tree()
        root = _grow(tree, generator, rng, ranges, depth=0)
        if tree.feature[root] >= 0:
            return tree
    raise ParameterError(
        f"The tree of rtg has the same class everywhere for concept_seed={generator.concept_seed}: use a larger "
        "max_depth or first_leaf_level."
    )


def _grow(
    tree: Tree, generator: RandomTree, rng: np.random.Generator, ranges: dict[int, tuple[float, float]], depth: int
) -> int:
    """Grow a branch that may split at the features of `ranges`, and return its topmost node."""
    ends = depth >= generator.first_leaf_level and rng.random() < generator.leaf_fraction
    if depth >= generator.max_depth or ends or not ranges:
        return tree.leaf(int(rng.integers(generator.n_labels)))
    feature = list(ranges)[rng.integers(len(ranges))]
    low, high = ranges[feature]
    if feature < generator.n_categorical:
        cut, rest = 0.0, {other: ranges[other] for other in ranges if other != feature}
        parts = [rest] * generator.n_branches
    else:
        cut = float(np.float32(rng.uniform(low, high)))
        parts = [{**ranges, feature: (low, cut)}, {**ranges, feature: (cut, high)}]
    branches = [_grow(tree, generator, rng, part, depth + 1) for part in parts]
    labels = {tree.label[branch] for branch in branches}
    if len(labels) == 1 and labels != {-1}:
        return tree.leaf(labels.pop())
    return tree.node(feature, cut, branches)
