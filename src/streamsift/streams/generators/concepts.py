"""ConceptGenerator: what the generators with concepts share: drift, appended features, class noise and class shares.

A method's file gives its own features, its concepts, and for each concept the rows and the true features. Around them
this file puts, in the order of the columns:

    the generator's own features | irrelevant numeric, uniform on [0, 1) | irrelevant categorical, n_values equally
    likely values | redundant: a copy of one of the generator's own with 95 %, else another value

Redundant features copy the generator's own features in turn. They do not count as true features.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import Integer, IsNone, Limits, Real, check_parameters
from streamsift.core.exceptions import ParameterError
from streamsift.streams.generators.drift import Drift, Timetable

COPIED = 0.95  # of the values of a redundant feature
MOST_ROUNDS, LEAST_DRAWN = 1000, 256  # rounds of drawing rows until the wanted class comes, and rows a round

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Feature:
    """A feature of a generator: the names of its values if it is categorical (codes 0, 1, ...), else its range."""

    name: str
    values: tuple[str, ...] | None = None
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ConceptGenerator:
    """The fields are options of every generator with concepts.

    `irrelevant` and `redundant` are numbers of appended features. `drift` is "abrupt", "gradual" or None; there are
    `n_drifts`, in equal parts of the stream or at the rows `positions`, a gradual one of `width` rows.
    `class_noise` is the share of labels replaced by another one, `class_share` the share of class 1 before that (None:
    as the concept gives it). `n_rows` is set by `generate`.
    """

    irrelevant: int = 0
    redundant: int = 0
    n_values: int = 5  # of each irrelevant categorical feature (m)
    drift: str | None = None
    n_drifts: int = 2
    positions: tuple[int, ...] | None = None
    width: int | None = None
    class_noise: float = 0.0
    class_share: float | None = 0.5
    n_rows: int = field(default=100_000, repr=False)

    name: ClassVar[str]  # what `generate` calls it

    def __post_init__(self) -> None:
        limits: Limits = {
            "irrelevant": (Integer(0),),
            "redundant": (Integer(0),),
            "n_values": (Integer(2, 255),),
            "class_noise": (Real(0, 1),),
            "class_share": (Real(0, 1), IsNone()),
        }
        check_parameters(self.name, vars(self), {**limits, **self.own_limits()})
        if self.positions is not None:
            object.__setattr__(self, "positions", tuple(self.positions))  # a list would not hash
        _ = self.timetable  # refuses what does not fit

    # -- what a generator's file provides ------------------------------------------------------------------------

    @property
    def n_classes(self) -> int:
        return 2

    def own_limits(self) -> Limits:
        """The limits of the options that only this generator has."""
        return {}

    def own_features(self) -> tuple[Feature, ...]:
        """The features that its concepts may use."""
        raise NotImplementedError

    def true_features(self, concept: int) -> tuple[int, ...]:
        """Those that the concept after so many drifts does use."""
        raise NotImplementedError

    def draw(self, rng: np.random.Generator, concept: int, wanted: Labels) -> tuple[Floats, Labels]:
        """Rows of a concept and their classes: one row for each wanted class (-1: of any class)."""
        raise NotImplementedError

    # -- what `generate` uses ------------------------------------------------------------------------------------

    @functools.cached_property
    def timetable(self) -> Timetable:
        return Timetable.of(self.name, self.n_rows, self.drift, self.n_drifts, self.positions, self.width)

    @functools.cached_property
    def features(self) -> tuple[Feature, ...]:
        own = self.own_features()
        names = tuple(f"v{value}" for value in range(self.n_values))
        n_categorical = self.irrelevant // 2
        n_numeric = self.irrelevant - n_categorical
        appended = [Feature(f"irrelevant_{k}", None if k < n_numeric else names) for k in range(self.irrelevant)]
        copies = [own[k % len(own)] for k in range(self.redundant)]
        redundant = [Feature(f"redundant_{k}", copy.values, copy.low, copy.high) for k, copy in enumerate(copies)]
        return (*own, *appended, *redundant)

    @functools.cached_property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    @functools.cached_property
    def categorical(self) -> NDArray[np.bool_] | None:
        mask = np.array([feature.values is not None for feature in self.features])
        return mask if mask.any() else None

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        return {feature.name: feature.values for feature in self.features if feature.values is not None}

    def relevant(self, row: int) -> NDArray[np.intp]:
        """The true features of the concept that the row most likely follows."""
        return np.array(self.true_features(self.timetable.likelier(row)), np.intp)

    def drifts(self, first: int, last: int) -> bool:
        return self.timetable.under_way(first, last)

    def changes(self, n_rows: int) -> tuple[Drift, ...]:
        return self.timetable.drifts

    def rows(self, rng: np.random.Generator, first: int, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
        concepts = self.timetable.draw(rng, first, n_rows)
        wanted = None if self.class_share is None else (rng.random(n_rows) < self.class_share).astype(np.int64)
        flipped = rng.random(n_rows) < self.class_noise
        steps = rng.integers(1, self.n_classes, n_rows)
        X = np.empty((n_rows, len(self.features)), np.float32)
        y = np.empty(n_rows, np.int64)
        n_own = len(self.own_features())
        for concept in np.unique(concepts):
            here = np.flatnonzero(concepts == concept)
            asked = np.full(len(here), -1, np.int64) if wanted is None else wanted[here]
            X[here, :n_own], y[here] = self.draw(rng, int(concept), asked)
        y[flipped] = (y[flipped] + steps[flipped]) % self.n_classes
        self._append(rng, X, n_own)
        return X, y

    def _append(self, rng: np.random.Generator, X: Floats, n_own: int) -> None:
        """Fill the columns behind the generator's own."""
        n_rows = len(X)
        n_categorical = self.irrelevant // 2
        middle, end = n_own + self.irrelevant - n_categorical, n_own + self.irrelevant
        X[:, n_own:middle] = rng.random((n_rows, middle - n_own), np.float32)
        X[:, middle:end] = rng.integers(0, self.n_values, (n_rows, n_categorical), np.uint8)
        for column in range(end, X.shape[1]):
            source = (column - end) % n_own
            feature = self.features[source]
            other = np.flatnonzero(rng.random(n_rows) >= COPIED)
            X[:, column] = X[:, source]
            if feature.values is None:
                X[other, column] = rng.uniform(feature.low, feature.high, len(other))
            else:
                step = rng.integers(1, len(feature.values), len(other))
                X[other, column] = (X[other, column] + step) % len(feature.values)


def draw_until(
    wanted: Labels,
    propose: Callable[[int], tuple[Floats, Labels]],
    owner: str,
) -> tuple[Floats, Labels]:
    """Rows of the wanted classes (-1: of any), by drawing anew until the class fits.

    `propose(n)` draws n rows and their classes.
    """
    X, y = propose(len(wanted))
    open_rows = np.flatnonzero((wanted >= 0) & (y != wanted))
    for _ in range(MOST_ROUNDS):
        if len(open_rows) == 0:
            return X, y
        again, classes = propose(max(LEAST_DRAWN, 2 * len(open_rows)))
        filled = np.zeros(len(open_rows), bool)
        for label in np.unique(wanted[open_rows]):
            places = np.flatnonzero(wanted[open_rows] == label)
            fitting = np.flatnonzero(classes == label)[: len(places)]
            filled[places[: len(fitting)]] = True
            X[open_rows[places[: len(fitting)]]], y[open_rows[places[: len(fitting)]]] = again[fitting], label
        open_rows = open_rows[~filled]
    raise ParameterError(
        f"The 'class_share' parameter of {owner} asks for rows of class {int(wanted[open_rows[0]])}, which its concept "
        "hardly ever gives: use class_share=None, which takes the classes as they come."
    )
