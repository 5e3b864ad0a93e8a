"""bg1, bg2, bg3: labels from three of six binary features, after Hall (2000) and Barddal et al. (2017).

    bg1  all three are true
    bg2  at least two of the three are true
    bg3  all three are equal, which no feature alone nor any pair tells

The three are 0, 1, 2, after the first drift 3, 4, 5, then 1, 3, 5, then 0, 1, 3, and so on from the start. A row is
drawn uniformly among those of its class; only of the rows of class 1 of bg3 a third is all true and the rest all
false (`all_true`), as in the ABFS authors' program: with equal parts a single feature would tell nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamsift.core.constraints import Limits, Real
from streamsift.streams.generators.concepts import ConceptGenerator, Feature, Floats, Labels, draw_until

FEATURES = tuple(Feature(f"b{place}", ("false", "true")) for place in range(6))
TRIPLES = ((0, 1, 2), (3, 4, 5), (1, 3, 5), (0, 1, 3))


@dataclass(frozen=True, kw_only=True)
class AllTrue(ConceptGenerator):
    """bg1; see the module docstring."""

    class_noise: float = 0.1

    name: ClassVar[str] = "bg1"

    def own_features(self) -> tuple[Feature, ...]:
        return FEATURES

    def true_features(self, concept: int) -> tuple[int, ...]:
        return TRIPLES[concept % len(TRIPLES)]

    def draw(self, rng: np.random.Generator, concept: int, wanted: Labels) -> tuple[Floats, Labels]:
        return _with_true_bits(3, rng, concept, wanted, self.name)


@dataclass(frozen=True, kw_only=True)
class MostTrue(ConceptGenerator):
    """bg2; see the module docstring."""

    class_noise: float = 0.1

    name: ClassVar[str] = "bg2"

    def own_features(self) -> tuple[Feature, ...]:
        return FEATURES

    def true_features(self, concept: int) -> tuple[int, ...]:
        return TRIPLES[concept % len(TRIPLES)]

    def draw(self, rng: np.random.Generator, concept: int, wanted: Labels) -> tuple[Floats, Labels]:
        return _with_true_bits(2, rng, concept, wanted, self.name)


@dataclass(frozen=True, kw_only=True)
class AllEqual(ConceptGenerator):
    """bg3; see the module docstring. `all_true` is the share of the rows of class 1 that are all true."""

    class_noise: float = 0.1
    all_true: float = 1.0 / 3.0

    name: ClassVar[str] = "bg3"

    def own_limits(self) -> Limits:
        return {"all_true": (Real(0, 1),)}

    def own_features(self) -> tuple[Feature, ...]:
        return FEATURES

    def true_features(self, concept: int) -> tuple[int, ...]:
        return TRIPLES[concept % len(TRIPLES)]

    def draw(self, rng: np.random.Generator, concept: int, wanted: Labels) -> tuple[Floats, Labels]:
        def propose(n: int) -> tuple[Floats, Labels]:
            X = _bits(rng, n)
            return X, (_n_true(X, concept) % 3 == 0).astype(np.int64)

        X, y = draw_until(wanted, propose, self.name)
        value = (rng.random(len(X)) < self.all_true).astype(np.float32)
        for place in self.true_features(concept):
            X[:, place] = np.where(y == 1, value, X[:, place])
        return X, y


def _bits(rng: np.random.Generator, n: int) -> Floats:
    return rng.integers(0, 2, (n, len(FEATURES)), np.uint8).astype(np.float32)


def _n_true(X: Floats, concept: int) -> Floats:
    return np.asarray(X[:, TRIPLES[concept % len(TRIPLES)]].sum(axis=1))


def _with_true_bits(
    needed: int, rng: np.random.Generator, concept: int, wanted: Labels, name: str
) -> tuple[Floats, Labels]:
    """Rows of the wanted classes, positive where so many bits of the triple are true, or more."""

    def propose(n: int) -> tuple[Floats, Labels]:
        X = _bits(rng, n)
        return X, (_n_true(X, concept) >= needed).astype(np.int64)

    return draw_until(wanted, propose, name)
