"""sea: the streaming ensemble concepts of Street and Kim (2001), with features that change.

Six features, uniform on [0, 10); the label is 1 where the sum of two of them exceeds a threshold. As in the ABFS
authors' program every concept has its own two features: 0 and 1 with the threshold 5, then 2 and 3 with 9.5, then 4
and 5 with 9, and so on from the start. (In the original the two features stay and only the threshold, 8, 9, 7 or 9.5,
changes, so that no feature ever becomes irrelevant.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamsift.core.constraints import ArrayLike, Limits, Real, check_parameters
from streamsift.streams.generators.concepts import ConceptGenerator, Feature, Floats, Labels, draw_until

FEATURES = tuple(Feature(f"x{place}", None, 0.0, 10.0) for place in range(6))
PAIRS = ((0, 1), (2, 3), (4, 5))


@dataclass(frozen=True, kw_only=True)
class Sea(ConceptGenerator):
    """See the module docstring; the `thresholds` follow each other with the drifts."""

    thresholds: tuple[float, ...] = (5.0, 9.5, 9.0)
    class_noise: float = 0.1

    name: ClassVar[str] = "sea"

    def own_limits(self) -> Limits:
        check_parameters(self.name, vars(self), {"thresholds": (ArrayLike(),)})
        for threshold in self.thresholds:
            check_parameters(self.name, {"thresholds": threshold}, {"thresholds": (Real(0, 20, closed="neither"),)})
        object.__setattr__(self, "thresholds", tuple(self.thresholds))
        return {}

    def own_features(self) -> tuple[Feature, ...]:
        return FEATURES

    def true_features(self, concept: int) -> tuple[int, ...]:
        return PAIRS[concept % len(PAIRS)]

    def draw(self, rng: np.random.Generator, concept: int, wanted: Labels) -> tuple[Floats, Labels]:
        threshold = self.thresholds[concept % len(self.thresholds)]
        one, two = PAIRS[concept % len(PAIRS)]

        def propose(n: int) -> tuple[Floats, Labels]:
            X = 10.0 * rng.random((n, len(FEATURES)), np.float32)
            return X, (X[:, one] + X[:, two] > threshold).astype(np.int64)

        return draw_until(wanted, propose, self.name)
