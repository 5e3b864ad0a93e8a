"""rbf: random radial basis functions: clouds of rows around random centres, each of one class.

A centre is uniform on [0, 1) in every feature and has a class, a spread and a weight. A row lies in a random direction
from a centre drawn by weight, at a normal distance times the spread: the generator of MOA and scikit-multiflow, which
the FIRES paper uses with 10,000 features, 50 centres and two classes. Every feature of the centres is a true one. A
drift draws all centres anew; the true features stay.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import Integer, IsNone, Limits
from streamsift.streams.generators.concepts import ConceptGenerator, Feature, Floats, Labels, draw_until


@dataclass(frozen=True, kw_only=True)
class RadialBasis(ConceptGenerator):
    """See the module docstring; `concept_seed` decides about the centres."""

    n_features: int = 10
    n_centres: int = 50
    n_labels: int = 2
    concept_seed: int = 0
    class_share: float | None = None

    name: ClassVar[str] = "rbf"

    @property
    def n_classes(self) -> int:
        return self.n_labels

    def own_limits(self) -> Limits:
        limits: Limits = {
            "n_features": (Integer(1),),
            "n_centres": (Integer(1),),
            "n_labels": (Integer(2),),
            "concept_seed": (Integer(0),),
        }
        return limits if self.n_labels == 2 else {**limits, "class_share": (IsNone(),)}

    def own_features(self) -> tuple[Feature, ...]:
        return _features(self.n_features)

    def true_features(self, concept: int) -> tuple[int, ...]:
        return tuple(range(self.n_features))

    def draw(self, rng: np.random.Generator, concept: int, wanted: Labels) -> tuple[Floats, Labels]:
        centres = centres_of(self, concept)

        def propose(n: int) -> tuple[Floats, Labels]:
            chosen = rng.choice(self.n_centres, n, p=centres.weights)
            X = rng.random((n, self.n_features), np.float32)
            X *= 2.0
            X -= 1.0
            length = np.sqrt(np.einsum("ij,ij->i", X, X))
            distance = rng.standard_normal(n) * centres.spreads[chosen]
            X *= (distance / np.maximum(length, np.finfo(np.float32).tiny)).astype(np.float32)[:, None]
            X += centres.places[chosen]
            return X, centres.labels[chosen]

        return draw_until(wanted, propose, self.name)


@dataclass(frozen=True)
class Centres:
    """The centres of a concept, one entry a centre."""

    places: Floats
    labels: Labels
    spreads: NDArray[np.float64]
    weights: NDArray[np.float64]


@functools.lru_cache(maxsize=8)
def _features(n_features: int) -> tuple[Feature, ...]:
    return tuple(Feature(f"x{place}") for place in range(n_features))


@functools.lru_cache(maxsize=8)
def centres_of(generator: RadialBasis, concept: int) -> Centres:
    rng = np.random.default_rng(np.random.SeedSequence(generator.concept_seed, spawn_key=(concept,)))
    n = generator.n_centres
    places = rng.random((n, generator.n_features), np.float32)
    labels, spreads, weights = rng.integers(0, generator.n_labels, n), rng.random(n), rng.random(n)
    return Centres(places, labels, spreads, weights / weights.sum())
