"""an: the asset negotiation of Enembreck, Ávila, Scalabrin and Barthès (2007).

Five categorical features of an offer; a concept says in one or two clauses which offers interest a buyer. Offers that
fit by chance are rare, so a row of class 1 takes over the values of one of the clauses, each equally often.

Deviation: in the authors' program such a row of the first concept gets a very high delivery delay where the clause
says high, so that half of those rows contradict it; here they obey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamsift.core.constraints import Limits, Real
from streamsift.streams.generators.agrawal import check_functions
from streamsift.streams.generators.concepts import ConceptGenerator, Feature, Floats, Labels, draw_until

GRADES = ("very low", "low", "normal", "high", "very high", "quite high", "enormous")
FEATURES = (
    Feature("color", ("black", "blue", "cyan", "brown", "red", "green", "yellow", "magenta")),
    Feature("price", (*GRADES, "non salable")),
    Feature("payment", tuple(f"{days} days" for days in range(0, 241, 30))),
    Feature("amount", (*GRADES, "non ensured")),
    Feature("delivery_delay", GRADES[:5]),
)
CONCEPTS = (
    (
        {"price": "normal", "amount": "high"},
        {"color": "brown", "price": "very low", "delivery_delay": "high"},
    ),
    ({"price": "high", "amount": "very high", "delivery_delay": "high"},),
    (
        {"price": "very low", "payment": "0 days", "amount": "high"},
        {"color": "red", "price": "low", "payment": "30 days"},
    ),
    (
        {"color": "black", "payment": "90 days", "delivery_delay": "very low"},
        {"color": "magenta", "price": "high", "delivery_delay": "very low"},
    ),
    (
        {"color": "blue", "payment": "60 days", "amount": "low", "delivery_delay": "normal"},
        {"color": "cyan", "amount": "low", "delivery_delay": "normal"},
    ),
)
PLACES = {feature.name: place for place, feature in enumerate(FEATURES)}


@dataclass(frozen=True, kw_only=True)
class Assets(ConceptGenerator):
    """See the module docstring; `concepts` are numbers from 1 to 5, in the order of the drifts."""

    concepts: tuple[int, ...] = (1, 2, 3)
    class_noise: float = 0.05
    class_share: float | None = 0.5

    name: ClassVar[str] = "an"

    def own_limits(self) -> Limits:
        check_functions(self.name, self.concepts, len(CONCEPTS))
        return {"class_share": (Real(0, 1),)}

    def own_features(self) -> tuple[Feature, ...]:
        return FEATURES

    def true_features(self, concept: int) -> tuple[int, ...]:
        used = {name for clause in self._clauses(concept) for name in clause}
        return tuple(sorted(PLACES[name] for name in used))

    def draw(self, rng: np.random.Generator, concept: int, wanted: Labels) -> tuple[Floats, Labels]:
        clauses = self._clauses(concept)

        def propose(n: int) -> tuple[Floats, Labels]:
            X = np.empty((n, len(FEATURES)), np.float32)
            for place, feature in enumerate(FEATURES):
                X[:, place] = rng.integers(0, _n_values(feature), n)
            return X, interested(concept=self._number(concept), X=X)

        X, y = draw_until(np.where(wanted == 1, -1, wanted), propose, self.name)
        chosen = rng.integers(0, len(clauses), len(X))
        for number, clause in enumerate(clauses):
            rows = np.flatnonzero((wanted == 1) & (y == 0) & (chosen == number))
            for name, value in clause.items():
                X[rows, PLACES[name]] = _code(name, value)
        return X, wanted.copy()

    def _number(self, concept: int) -> int:
        return self.concepts[concept % len(self.concepts)]

    def _clauses(self, concept: int) -> tuple[dict[str, str], ...]:
        return CONCEPTS[self._number(concept) - 1]


def interested(concept: int, X: Floats) -> Labels:
    """1 for the offers that one of the concept's clauses fits, else 0."""
    fits = [
        np.logical_and.reduce([X[:, PLACES[name]] == _code(name, value) for name, value in clause.items()])
        for clause in CONCEPTS[concept - 1]
    ]
    return np.asarray(np.logical_or.reduce(fits), np.int64)


def _n_values(feature: Feature) -> int:
    assert feature.values is not None
    return len(feature.values)


def _code(name: str, value: str) -> int:
    values = FEATURES[PLACES[name]].values
    assert values is not None
    return values.index(value)
