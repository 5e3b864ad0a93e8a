"""FIRES: rank features by the importance a model gives them, less the uncertainty about it.

Paper: J. Haug, M. Pawelczyk, K. Broelemann and G. Kasneci, Leveraging Model Inherent Variable Importance for Stable
Online Feature Selection (KDD 2020).

The parameters of a base model are normal random variables. Each batch moves their means mu and deviations sigma up the
gradient of the log marginal likelihood (Eqs. 2 to 4); aggregated to one mu and sigma per feature (2.1.4) they give the
weight (Eq. 6), which is the score:

    score_j = (mu_j^2 - uncertainty_penalty * sigma_j^2) / (2 * regulariser)

This file holds the update and the weights, once. A base model (glm.py, ann.py, sdt.py, interop/torch.py, or any object
with the three methods of `SimpleModel` in model.py) gives gradients and aggregates its parameters.

Where this deviates from the paper:
- Gradients are means over the batch (the paper treats a batch of one). Sigma is clipped once per batch, after all
  epochs, and at 1e-12 instead of 0: in the GLM its gradient is proportional to sigma, so 0 could never be left again.
- More than two classes (the paper: two): one-vs-rest for the GLM, softmax for the net and the tree.
- Features are standardised by their mean and deviation so far and cut at 5 deviations, because the features selected
  so classify better than those of the paper's scaling to [0, 1] (docs/methods/defaults.md). The paper scales with the
  whole data at hand; `scale="minmax"` (`FIRES.paper()`) widens the range of each feature by every batch and then scales
  the batch. Sparse rows then keep their zeros: they are divided by the largest absolute value so far, which is the same
  for features that are never negative and sometimes 0, and costs by the non-zeros; standardised they cost O(features)
  per batch more.
- Parameters of a net or a tree start at small random mu instead of 0, which would leave all nodes equal, at a smaller
  sigma, move by longer steps and are aggregated by squares: as published they rank by chance for hundreds of batches.
- Gradients that are not finite (a net fed with values of 1e300) count as 0 and others are capped at 1e12, so that mu
  and sigma are finite whatever comes.
- Scores are 0 until a second class has been seen. The model learns from the first class already.
- Targets that are numbers, of which the paper says nothing: normal noise about the output (numbers.py).

How the stream is cut into batches matters: a batch is a step. Float32 rows are computed in float32; only mu, sigma and
the ranges are remembered in float64, because small steps on a sigma of 1 would be lost in float32 (docs/adr/0008).

Time per batch: that of the model's gradients, times epochs. Memory: mu and sigma, and moments or a range per feature.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch, refuse_not_finite
from streamsift.core.constraints import HasMethods, Integer, IsNone, Limits, OneOf, RandomSeed, RandomSource, Real
from streamsift.core.exceptions import InputError, ParameterError
from streamsift.core.guard import one_thread
from streamsift.core.rows import CATEGORICAL_LIMITS, N_FEATURES_LIMITS, NEW_FEATURES_LIMITS, RowSelector
from streamsift.core.tags import Categorical, StreamTags
from streamsift.core.why import Evidence
from streamsift.kernels.fires import climb, widen_ranges
from streamsift.rows.fires.ann import ANN
from streamsift.rows.fires.batches import ModelRows, assign_slots, generator_of, is_greater, range_factor, seed_of
from streamsift.rows.fires.glm import GLM
from streamsift.rows.fires.model import (
    PUBLISHED,
    LinearModel,
    Model,
    ModelTraits,
    as_model,
    grows,
    is_linear,
    own_of,
    traits_of,
)
from streamsift.rows.fires.numbers import FiresNumberState, GaussianGLM, refuse_other_models
from streamsift.rows.fires.scaling import standardised, standardised_sparse
from streamsift.rows.fires.sdt import SDT
from streamsift.rows.fires.state import FiresState
from streamsift.rows.fires.tags import tags_for
from streamsift.summaries.moments import refuse_bad_values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALLEST_SIGMA = 1e-12
LARGEST_GRADIENT = 1e12
_MODELS: dict[str, Model] = {"glm": GLM(), "ann": ANN(), "sdt": SDT()}
_NUMBER_MODELS: dict[str, Model] = _MODELS | {"glm": GaussianGLM()}
_NO_RANDOM_NUMBERS = np.random.default_rng(0)  # for models that declare that they use none


class FIRES(RowSelector):
    """Rank features by importance minus uncertainty, both read from the parameters of a model.

    Parameters
    ----------
    model : {"glm", "ann", "sdt"} or object, default "glm"
        The base model: probit (of numbers: linear) regression, a neural net, a soft decision tree (as objects: `GLM()`,
        `ANN(hidden_layers=3, layer_size=100)`, `SDT(depth=3, penalty=0.01)` of `streamsift.rows.fires`), a torch module
        (`streamsift.interop.torch.TorchModel`), or any object with the methods `n_parameters`, `gradients` and
        `aggregate` described in `streamsift.rows.fires.model`. An object cannot be saved to a file; keep
        `state_arrays()` and give them to `load_state_arrays` of a selector with an equal object.
    task : {"classification", "regression"}, default "classification"
        Whether y holds classes or numbers, which an object takes if its traits say so (numbers.py).
    n_features_to_select : int or float, default 10
        How many features to select: a number (all, where there are fewer), or a fraction in (0, 1].
    scale : {"standard", "minmax"} or None, default "standard"
        Standardise features by the mean and standard deviation seen so far and cut them at 5 deviations (values beyond
        1e150 are refused), scale them to [0, 1] by the range seen so far, as the paper does, or take them as they are.
    initial_mu : float, default 0.0
        Where the mean of every parameter starts.
    initial_sigma : float or None, default None
        Where the deviation of every parameter starts; None is 0.1 for net and tree, and 1, as in the paper, otherwise.
    uncertainty_penalty : float, default 0.01
        Weight of the uncertainty (the paper's lambda_s).
    regulariser : float, default 0.01
        Scale of the scores (lambda_r).
    learning_rate_mu : float or None, default None
        Length of a step of the means (alpha); None is 1 for net, tree and numbers, else 0.01 as in the paper.
    learning_rate_sigma : float, default 0.01
        Length of a step of the deviations.
    epochs : int or None, default None
        Steps per batch; None is 3 for net and tree, and 1 otherwise.
    n_samples : int, default 5
        Monte-Carlo samples (L) of models without a closed form.
    aggregation : {"mean", "squares"} or None, default None
        How the parameters of a net or a tree that belong to one feature become one: by their mean, as in the paper, in
        which opposite signs cancel, or by the root of their mean square. With "squares" features are ranked by the mean
        of Eq. 6 over their weights. None is "squares" for net and tree. The GLM scores the same either way; a model of
        one's own has its own way.
    new_features : {"error", "add"}, default "error"
        Whether a feature that arrives late is refused, or added with parameters at their start. While a feature is
        absent its parameters stay as they are.
    categorical : {"one_hot", "codes"}, default "one_hot"
        What becomes of a column of categories: a column of 0 and 1 for each of them, the largest score of which is the
        score of the feature, or the codes taken as numbers.
    random_state : None, int or numpy random generator, default None
        For models that draw random numbers; an int makes runs repeatable.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Eq. 6; higher is more relevant.
    importance_, uncertainty_ : ndarray of shape (n_features,)
        The aggregated mu and sigma.
    classes_ : ndarray
        Labels in the order of their first appearance.
    n_rows_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import FIRES
    >>> rng = np.random.default_rng(0)
    >>> selector = FIRES(n_features_to_select=1)
    >>> for _ in range(10):
    ...     y = rng.choice(["up", "down"], 100)
    ...     X = rng.normal(size=(100, 4))
    ...     X[:, 2] += y == "up"
    ...     selector = selector.partial_fit(X, y)
    >>> selector.get_support(indices=True).tolist(), selector.importance_.argmax()
    ([2], np.int64(2))
    """

    parameter_limits: ClassVar[Limits] = {
        "model": (OneOf("glm", "ann", "sdt"), HasMethods("n_parameters", "gradients", "aggregate")),
        "task": (OneOf("classification", "regression"),),
        "n_features_to_select": N_FEATURES_LIMITS,
        "scale": (OneOf("standard", "minmax"), IsNone()),
        "initial_mu": (Real(-1e100, 1e100),),  # all within what Eq. 6 can be computed from
        "initial_sigma": (Real(1e-12, 1e100), IsNone()),
        "uncertainty_penalty": (Real(0, 1e50),),
        "regulariser": (Real(1e-30, 1e30),),
        "learning_rate_mu": (Real(0, 1e50), IsNone()),
        "learning_rate_sigma": (Real(0, 1e50),),
        "epochs": (Integer(1, None), IsNone()),
        "n_samples": (Integer(1, None),),
        "aggregation": (OneOf("mean", "squares"), IsNone()),
        "new_features": NEW_FEATURES_LIMITS,
        "categorical": CATEGORICAL_LIMITS,
        "random_state": (RandomSeed(),),
    }
    state_type: ClassVar[type[Any]] = FiresState
    scans_itself: ClassVar[bool] = True

    def __init__(
        self,
        model: Any = "glm",
        *,
        task: str = "classification",
        n_features_to_select: int | float = 10,
        scale: str | None = "standard",
        initial_mu: float = 0.0,
        initial_sigma: float | None = None,
        uncertainty_penalty: float = 0.01,
        regulariser: float = 0.01,
        learning_rate_mu: float | None = None,
        learning_rate_sigma: float = 0.01,
        epochs: int | None = None,
        n_samples: int = 5,
        aggregation: str | None = None,
        new_features: str = "error",
        categorical: Categorical = "one_hot",
        random_state: RandomSource = None,
    ) -> None:
        self.model = model
        self.task = task
        self.n_features_to_select = n_features_to_select
        self.scale = scale
        self.initial_mu = initial_mu
        self.initial_sigma = initial_sigma
        self.uncertainty_penalty = uncertainty_penalty
        self.regulariser = regulariser
        self.learning_rate_mu = learning_rate_mu
        self.learning_rate_sigma = learning_rate_sigma
        self.epochs = epochs
        self.n_samples = n_samples
        self.aggregation = aggregation
        self.new_features = new_features
        self.categorical = categorical
        self.random_state = random_state

    @classmethod
    def paper(cls, model: Any = "glm", **settings: Any) -> Self:
        """A selector with the paper's settings where the defaults are others; `settings` are further parameters.

        >>> FIRES.paper(n_features_to_select=5)
        FIRES(aggregation='mean', epochs=1, initial_sigma=1.0, learning_rate_mu=0.01,
              n_features_to_select=5, scale='minmax')
        """
        return cls(model, **({"scale": "minmax"} | PUBLISHED | settings))

    def stream_tags(self) -> StreamTags:
        """Only the GLM takes sparse rows and trains one class against the rest."""
        traits, one_hot = self._traits(), self.categorical == "one_hot"
        return tags_for(traits.linear, self.scale is not None, one_hot, traits.numbers or self.model == "glm")

    def _traits(self) -> ModelTraits:
        """What the model can do."""
        return traits_of(self._models().get(self.model) if isinstance(self.model, str) else self.model)

    def _models(self) -> dict[str, Model]:
        return _NUMBER_MODELS if self._numeric else _MODELS

    def _setting(self, name: str) -> Any:
        """A parameter whose default depends on the model."""
        value = getattr(self, name)
        return self._traits().defaults[name] if value is None else value

    def _bound_model(self, state: FiresState) -> Model:
        """The model for the sizes of a state; kept there, so that its scratch space is used again."""
        sizes = (state.n_features, state.n_classes, int(self.n_samples))
        if state.model is None or state.model[0] is not self.model or state.model[1] != sizes:
            model = self._models()[self.model] if isinstance(self.model, str) else as_model(self.model)
            state.model = (self.model, sizes, model.bind(*sizes))
        bound: Model = state.model[2]
        return bound

    def _problem_of(self, state: FiresState) -> str | None:
        model = self._bound_model(state)
        n_parameters = model.n_parameters(state.n_features, state.n_classes)
        if len(state.mu) != n_parameters:
            return f"'mu' holds {len(state.mu)} parameters, but the model has {n_parameters}"
        for name, kept, scale in (("low", state.low, "minmax"), ("moments", state.moments.T, "standard")):
            if len(kept) != (state.n_features if self.scale == scale else 0):
                return f"{name!r} is about {len(kept)} features, but scale is {self.scale!r}"
        if state.sparse and not model.traits.linear:
            return "'sparse' is set, but the model takes dense rows only"
        return None

    # -- learning -----------------------------------------------------------------------------------------------

    def _bytes_needed(self, n_features: int, n_classes: int) -> int:
        model = self._models().get(self.model) if isinstance(self.model, str) else None
        own = 0 if model is None else model.n_parameters(n_features, max(n_classes, 2))
        return 60 * max(own, 2 * n_features)  # what a model of the user takes, nobody knows

    def _begin(self, batch: CheckedBatch) -> FiresState:
        if self._numeric:
            refuse_other_models(self.model, self._traits())
        self._takes_squares()  # or is refused
        none, seed = np.empty(0), 0
        if self._traits().uses_random_numbers:
            seed = seed_of(self.random_state)
        no_classes, no_moments = np.empty(0, np.int64), np.empty((3, 0))
        start = (none, none, none, none, no_classes, no_classes, 0, batch.sparse, seed, 0, no_moments, 0.0)
        return FiresNumberState(*start, np.zeros(3)) if self._numeric else FiresState(*start)

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        return FiresNumberState if self._numeric else FiresState

    def _learn(self, state: FiresState, batch: CheckedBatch) -> None:
        if state.sparse and not batch.sparse and batch.has_absent:
            batch = replace(batch, X=np.nan_to_num(batch.X), has_absent=False)  # absent is 0 in sparse rows
        batch = batch.as_sparse(state.sparse)
        after = state.copy()
        after.n_features = batch.features.n_features
        if batch.target is None:
            after.class_rows = np.bincount(batch.codes, minlength=len(batch.labels))
            after.class_rows[: len(state.class_rows)] += state.class_rows
        if state.n_known < len(batch.labels):
            growing = self._traits().grows
            after.set_slots(assign_slots(state.slots, batch.codes, len(batch.labels), only_seen=growing))
        model = self._bound_model(after)
        self._make_room(state, after, model)
        if batch.n_rows:
            rows = self._rows_for(model, after, batch)
            try:
                self._climb(model, after, rows)
            except FloatingPointError:  # the model met NaN or infinity; this names row and column
                refuse_not_finite(batch, nan_allowed=batch.has_absent)
                raise
            if rows.low is not None:
                after.low[rows.places] = rows.low
            if rows.high is not None:
                after.high[rows.places] = rows.high
            if rows.moments is not None:
                after.moments[:, rows.places] = rows.moments
                after.total_weight += batch.n_rows
        # Nothing has failed: from here on the state changes.
        vars(state).update(vars(after))

    def _make_room(self, before: FiresState, after: FiresState, model: Model) -> None:
        """Where sizes have changed, give `after` parameters and ranges of its own, the old ones where they belong."""
        if (before.n_features, before.n_classes) == (after.n_features, after.n_classes):
            return
        n_parameters = model.n_parameters(after.n_features, after.n_classes)
        if before.n_features == 0 or grows(model):
            after.mu = np.full(n_parameters, float(self.initial_mu)) + model.start(generator_of(after))
            after.sigma = np.full(n_parameters, float(self._setting("initial_sigma")))
            after.n_steps += 1
            if before.n_features and grows(model):
                model.carry(before.mu, before.sigma, after.mu, after.sigma, before.n_features, before.n_classes)
        elif n_parameters != len(before.mu):
            raise InputError(
                f"The model {type(own_of(model)).__name__} has {len(before.mu)} parameters and would need "
                f"{n_parameters} for {after.n_features} features and {after.n_classes} classes: announce all classes "
                "with the first batch, or give the model a method `carry` that moves its parameters and ModelTraits "
                "that say so."
            )
        n_new = after.n_features - before.n_features
        if self.scale == "standard":
            after.moments = np.pad(before.moments, ((0, 0), (0, n_new)))
        elif self.scale == "minmax":
            start = (0.0, 0.0) if after.sparse else (np.inf, -np.inf)
            after.low = np.concatenate([before.low, np.full(n_new, start[0])])
            after.high = np.concatenate([before.high, np.full(n_new, start[1])])

    def _rows_for(self, model: Model, state: FiresState, batch: CheckedBatch) -> ModelRows:
        """Bring the batch into the form the model takes, with the ranges it widens."""
        y = state.targets(batch)
        extra: dict[str, Any] = {}
        if batch.weight is not None:
            if "sample_weight" not in inspect.signature(own_of(model).gradients).parameters:
                raise InputError(
                    f"The model {type(own_of(model)).__name__} takes no weights: leave sample_weight out, or give its "
                    "method `gradients` a keyword `sample_weight`."
                )
            extra["sample_weight"] = batch.weight
        if batch.sparse and is_linear(model):  # others are not given sparse rows: the tags say so
            return self._sparse_rows(model, state, batch, y, extra)
        X, present = batch.X, None
        if batch.has_absent:
            present = np.flatnonzero(~np.isnan(X[0]))
            X = np.ascontiguousarray(X[:, present])
            X.flags.writeable = False
        rows = ModelRows(X, y, extra, places=slice(None) if present is None else present)
        if self.scale == "standard":
            refuse_bad_values(batch, nan_allowed=batch.has_absent)
            rows.X = state.scratch.take("rows", X.shape, X.dtype)
            rows.moments = standardised(state.moments[:, rows.places], X, batch.weight, rows.X)
            X = rows.X
        factor = self._widen(state, batch, rows)
        if model.traits.scales and is_linear(model):
            if factor is not None:
                extra |= {"low": rows.low, "factor": factor}
            rows.parameters = None if present is None else model.of_features(present)
            return rows
        if factor is not None:  # halves, so that the difference cannot overflow
            X = (2.0 * ((0.5 * X - 0.5 * rows.low) * factor)).astype(X.dtype)
        if present is not None:  # a value of 0 leaves the weights of its feature alone
            whole = np.zeros((len(X), state.n_features), X.dtype)
            whole[:, present] = X
            X = whole
        rows.X = X
        return rows

    def _widen(self, state: FiresState, batch: CheckedBatch, rows: ModelRows) -> Floats | None:
        """Give `rows` the ranges widened by its values; return the factors of the scaling, or None without scaling."""
        if self.scale != "minmax":
            if not self._traits().scales:  # a model that notices by itself reads X once
                refuse_not_finite(batch, nan_allowed=batch.has_absent)
            return None
        n_features = rows.X.shape[1]
        rows.low, rows.high = (state.scratch.take(name, (n_features,)) for name in ("low", "high"))
        rows.low[:], rows.high[:] = state.low[rows.places], state.high[rows.places]
        if not widen_ranges(rows.X, rows.low, rows.high):
            refuse_not_finite(batch, nan_allowed=batch.has_absent)
        return range_factor(rows.low, rows.high)

    def _sparse_rows(
        self, model: LinearModel, state: FiresState, batch: CheckedBatch, y: Ints, extra: dict[str, Any]
    ) -> ModelRows:
        """Only the features that occur, so that a batch costs by its non-zeros."""
        from scipy.sparse import csr_matrix

        if self.scale == "standard":
            refuse_bad_values(batch, nan_allowed=False)
            total, weight = state.total_weight + batch.n_rows, extra.get("sample_weight")
            moments, data, extra["rest"] = standardised_sparse(state.moments, total, batch.X, weight)
            X = csr_matrix((data, batch.X.indices, batch.X.indptr), batch.X.shape)
            return ModelRows(X, y, extra, places=slice(None), moments=moments)
        refuse_not_finite(batch, nan_allowed=False)
        features, places = np.unique(batch.X.indices, return_inverse=True)
        data, high = batch.X.data, None
        if self.scale == "minmax":
            high = state.high[features]
            np.maximum.at(high, places, np.abs(data))
            data = (data * range_factor(np.zeros(len(high)), high)[places]).astype(data.dtype)
        X = csr_matrix((data, places, batch.X.indptr), (batch.n_rows, len(features)))
        return ModelRows(X, y, extra, model.of_features(features), features, high=high)

    def _climb(self, model: Model, state: FiresState, rows: ModelRows) -> None:
        """Eq. 4: steps up the gradient, then sigma is clipped."""
        epochs = int(self._setting("epochs"))
        if rows.parameters is not None:
            mu, sigma = state.mu[rows.parameters], state.sigma[rows.parameters]
        elif epochs > 1:
            mu, sigma = state.mu.copy(), state.sigma.copy()
        else:  # a single gradient: once it is there nothing can fail, and the state may change in place
            mu, sigma = state.mu, state.sigma
        rates = (float(self._setting("learning_rate_mu")), float(self.learning_rate_sigma))
        for epoch in range(epochs):
            rng = generator_of(state) if model.traits.uses_random_numbers else _NO_RANDOM_NUMBERS
            of_mu, of_sigma = map(np.ascontiguousarray, model.gradients(mu, sigma, rows.X, rows.y, rng, **rows.extra))
            if not of_mu.shape == of_sigma.shape == mu.shape:
                raise InputError(
                    f"The gradients of the model {type(own_of(model)).__name__} have the shapes {of_mu.shape} and "
                    f"{of_sigma.shape}: give one number for each of the {len(mu)} parameters."
                )
            state.n_steps += 1
            smallest = SMALLEST_SIGMA if epoch == epochs - 1 else -np.inf
            climb(mu, sigma, of_mu, of_sigma, rates, LARGEST_GRADIENT, smallest)
        if rows.parameters is not None:
            state.mu[rows.parameters], state.sigma[rows.parameters] = mu, sigma
        else:
            state.mu, state.sigma = mu, sigma

    # -- answers ------------------------------------------------------------------------------------------------

    def _score(self, state: FiresState) -> Floats:
        if not state.differ:
            return np.zeros(state.n_features)
        importance, uncertainty = self._aggregated(state)
        return (importance**2 - self.uncertainty_penalty * uncertainty**2) / (2.0 * self.regulariser)  # Eq. 6

    def _evidence(self, slot: int) -> Evidence:
        mu, sigma = float(self.importance_[slot]), float(self.uncertainty_[slot])
        unknown = "its values and their distribution: FIRES keeps the parameters of a model."
        return Evidence(figures=(("importance (mu)", mu), ("uncertainty (sigma)", sigma)), unknown=(unknown,))

    def _aggregated(self, state: FiresState) -> tuple[Floats, Floats]:
        model, squares = self._bound_model(state), self._takes_squares()
        found = model.aggregate(state.mu**2, state.sigma**2) if squares else model.aggregate(state.mu, state.sigma)
        importance, uncertainty = (np.array(part, np.float64) for part in found)
        return (np.sqrt(importance), np.sqrt(uncertainty)) if squares else (importance, uncertainty)

    def _takes_squares(self) -> bool:
        traits = self._traits()
        if self._setting("aggregation") == "mean" or traits.linear:
            return False
        if not traits.averages:
            raise ParameterError(
                f"The model {type(self.model).__name__} aggregates its parameters in its own way: leave the parameter "
                "'aggregation' at 'mean'."
            )
        return True

    @property
    @one_thread
    def importance_(self) -> Floats:
        """The aggregated mu of each feature.

        With the GLM and two classes it is positive where larger values speak for the greater of the two labels (the
        later one, if they cannot be compared); with the GLM and more classes it has no sign.
        """
        self._refuse_unfitted()
        importance = self._by_feature(self._aggregated(self._state)[0])
        if self._traits().linear and self._state.n_classes == 2:
            first, second = (self._labels.labels[int(np.flatnonzero(self._state.slots == k)[0])] for k in (0, 1))
            return -importance if is_greater(first, second) else importance
        return importance

    @property
    @one_thread
    def uncertainty_(self) -> Floats:
        """The aggregated sigma of each feature."""
        self._refuse_unfitted()
        return self._by_feature(self._aggregated(self._state)[1])
