"""What FIRES asks of a base model, as protocols that a type checker can hold a model to.

Three methods are enough for a model of one's own: `n_parameters`, `gradients` and `aggregate` (`SimpleModel`). It then
starts at (initial_mu, initial_sigma) and is refused new features and classes that would change its number of
parameters. A model that can do more says so in its attribute `traits` (`ModelTraits`), and has the methods that go with
it: those of `Model` in any case, those of `GrowingModel` with `grows`, those of `LinearModel` with `linear` or
`scales`. What is declared but missing is refused by `as_model`, in one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import ParameterError

Floats = NDArray[np.float64]

# The settings of the paper (2.2 and section 4); other models may do better with others.
PUBLISHED: dict[str, Any] = {"initial_sigma": 1.0, "learning_rate_mu": 0.01, "epochs": 1, "aggregation": "mean"}


@dataclass(frozen=True)
class ModelTraits:
    """What a model can do beyond the least; the defaults are those of a model that declares nothing.

    linear: every weight belongs to one feature, so sparse rows are taken, and more classes are one against the rest.
    scales: `gradients` scales the rows itself, to (x - low) * factor by two further keywords, and raises
    FloatingPointError for NaN and infinity, so that X is read once.
    grows: features and classes may arrive late, see `carry`.
    averages: `aggregate` only takes means, so it can take them of squares.
    numbers: `gradients` also takes y as floats, the standardised target of `task="regression"`; n_classes is then 1.
    uses_random_numbers: False spares making a generator for every step; `rng` must then not be used.
    defaults: the settings the model is best learnt with (initial_sigma, learning_rate_mu, epochs, aggregation).
    """

    linear: bool = False
    scales: bool = False
    grows: bool = False
    averages: bool = False
    numbers: bool = False
    uses_random_numbers: bool = True
    defaults: Mapping[str, Any] = field(default_factory=lambda: PUBLISHED)


class SimpleModel(Protocol):
    """A differentiable model whose parameters are independent normals with means `mu` and deviations `sigma`."""

    def n_parameters(self, n_features: int, n_classes: int) -> int:
        """The length of mu and sigma."""
        ...

    def gradients(
        self, mu: Floats, sigma: Floats, X: Any, y: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradients of the log marginal likelihood by mu and by sigma, as means over the rows.

        y holds class numbers 0, 1, ..., or floats where `traits.numbers` and the task say so. A model that takes
        `sample_weight` as a further keyword is given it where the caller has weights; the means are then weighted.
        """
        ...

    def aggregate(self, mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """One importance and one uncertainty per feature (2.1.4)."""
        ...


class Model(SimpleModel, Protocol):
    """A model that says what it can do, and knows its sizes."""

    @property
    def traits(self) -> ModelTraits:
        """What the model can do; a plain attribute will do."""
        ...

    def bind(self, n_features: int, n_classes: int, n_samples: int) -> Model:
        """This model for a number of features, classes and Monte-Carlo samples."""
        ...

    def start(self, rng: np.random.Generator) -> Floats:
        """What is added to the initial mu, one number per parameter."""
        ...


class GrowingModel(Model, Protocol):
    """A model that can be given more features and classes (`ModelTraits.grows`)."""

    def carry(
        self, mu: Floats, sigma: Floats, into_mu: Floats, into_sigma: Floats, n_features: int, n_classes: int
    ) -> None:
        """Put the parameters of a smaller model of these sizes where they belong in the larger one."""
        ...


class LinearModel(Model, Protocol):
    """A model whose parameters belong to one feature each (`ModelTraits.linear` and `scales`)."""

    def of_features(self, features: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions of the parameters of some features."""
        ...


@dataclass(frozen=True)
class UnsizedModel:
    """A model with three methods as a `Model`."""

    own: SimpleModel
    n_all: int = 0
    traits: ModelTraits = ModelTraits()

    def n_parameters(self, n_features: int, n_classes: int) -> int:
        """Those of the model itself."""
        return self.own.n_parameters(n_features, n_classes)

    def gradients(self, *arguments: Any, **settings: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Those of the model itself."""
        return self.own.gradients(*arguments, **settings)

    def aggregate(self, mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """That of the model itself."""
        return self.own.aggregate(mu, sigma)

    def bind(self, n_features: int, n_classes: int, n_samples: int) -> UnsizedModel:
        """The model finds out its sizes by itself."""
        return UnsizedModel(self.own, self.own.n_parameters(n_features, n_classes))

    def start(self, rng: np.random.Generator) -> Floats:
        """Every parameter starts at the initial mu."""
        return np.zeros(self.n_all)


def traits_of(given: object) -> ModelTraits:
    """What an object declares; nothing, if it declares nothing."""
    traits = getattr(given, "traits", None)
    return traits if isinstance(traits, ModelTraits) else ModelTraits()


def as_model(given: Any) -> Model:
    """An object as a model; ParameterError if it lacks methods that its traits declare.

    >>> class Half:
    ...     traits = ModelTraits(grows=True)
    ...     n_parameters = gradients = aggregate = bind = start = lambda self: None
    >>> as_model(Half())
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.ParameterError: The model Half declares ModelTraits but has no method carry: ...
    """
    name, traits = type(given).__name__, getattr(given, "traits", None)
    if traits is None:
        return UnsizedModel(given)
    if not isinstance(traits, ModelTraits):
        raise ParameterError(f"The attribute 'traits' of the model {name} is {traits!r}: make it a ModelTraits.")
    wanted = ["n_parameters", "gradients", "aggregate", "bind", "start"]
    wanted += ["carry"] * traits.grows + ["of_features"] * (traits.linear or traits.scales)
    missing = [method for method in wanted if not callable(getattr(given, method, None))]
    if missing:
        raise ParameterError(
            f"The model {name} declares ModelTraits but has no method {' and no method '.join(missing)}: add what is "
            "missing, or declare what the model can do."
        )
    return cast(Model, given)


def own_of(model: Model) -> SimpleModel:
    """The object that the user gave."""
    return model.own if isinstance(model, UnsizedModel) else model


def grows(model: Model) -> TypeGuard[GrowingModel]:
    """Whether the model can be given more features and classes."""
    return model.traits.grows


def is_linear(model: Model) -> TypeGuard[LinearModel]:
    """Whether the model knows which parameters belong to a feature."""
    return model.traits.linear or model.traits.scales
