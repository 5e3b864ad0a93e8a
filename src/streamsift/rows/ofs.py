"""OFS: a linear classifier that keeps only its largest weights.

Paper: J. Wang, P. Zhao, S. Hoi and R. Jin, Online Feature Selection and Its Applications (2013), first order, all
features observed (Algorithm 2). For each row x with label y of -1 or +1:

    w <- (1 - shrink * step) w                                   always
    w <- w + step * y * x                                        if y w.x < 1 (w before the shrinking)
    w <- w scaled into the ball of radius 1 / sqrt(shrink)       likewise
    w <- w with all but its B largest entries set to 0           likewise; B is the number of features to select

A score is |w|. Weights depend on the scale of the features: bring them to a common one first, [0, 1] for example. There
is no intercept, so a column that is always 1 serves as one and may score highly.

Where this deviates from published programs:
- Labels are mapped to -1 and +1 whatever they are, the shrinking is done in every row and the truncation after every
  update; each of them is missing in one or another.
- Of equal weights at the cut those of the first columns stay.
- More than two classes: one model per class against the rest (summaries/one_vs_rest.py), and the mean of |w|.

A row of weight 3 is learnt three times in succession, one of weight 2.5 twice and then once with half the step
(summaries/repeated.py).

Targets that are numbers (`task="regression"`), of which the paper says nothing: one model with squared loss,

    w <- (1 - shrink * step) w + step (z - w.x) x / max(x.x, 1)    then into the ball and cut, as above, in every row

where z is the target less its mean so far, in its deviations so far. Dividing by the length of the row keeps long rows
from overshooting, which the hinge loss cannot.

With one class all scores are 0. An absent feature counts as 0.
Time per row and model: O(B) where the margin is kept, O(features) else; sparse rows O(non-zeros + B).
Memory: 8 bytes per model and feature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.constraints import Limits, OneOf, Real
from streamsift.core.limits import LARGEST
from streamsift.core.rows import CATEGORICAL_LIMITS, N_FEATURES_LIMITS, NEW_FEATURES_LIMITS, RowSelector
from streamsift.core.selection import how_many
from streamsift.core.state import Finite, Shape, Sizes
from streamsift.core.tags import Categorical, StreamTags
from streamsift.kernels.linear_online import OfsRule, ofs_rows, ofs_sparse_rows, standardise_targets
from streamsift.summaries.absent import piece_of, rows_with_zeros
from streamsift.summaries.one_vs_rest import MIRROR, OneVsRest
from streamsift.summaries.repeated import refuse_too_many_copies, repeated

Floats = NDArray[np.float64]


@dataclass
class OFSState:
    """The classes and the weights of each model, shape (n_models, n_features)."""

    classes: OneVsRest
    weights: Annotated[Floats, Shape("n_models", "n_features"), Finite(LARGEST)]


@dataclass
class OFSNumberState:
    """The weights, shape (1, n_features), and of the target the rows, the mean and the squared distances from it."""

    weights: Annotated[Floats, Shape(1, "n_features"), Finite(LARGEST)]
    target: Annotated[Floats, Shape(3), Finite()]

    def problem(self, sizes: Sizes) -> str | None:
        rows, mean, spread = self.target
        fine = rows >= 0.0 and spread >= 0.0 and abs(mean) <= LARGEST
        return None if fine else "target holds rows, a mean or a spread that no numbers can have"


class OFS(RowSelector):
    """Learn a linear classifier row by row and keep its largest weights only.

    On 34 real sets its ten features reach an accuracy of .686 on average where random ones have .637 and those of
    Fisher's score .742; on 6 sets random ones are better, on 19 those of Fisher's score (docs/methods/defaults.md). It
    is here as a rival to compare with.

    Parameters
    ----------
    n_features_to_select : int or float, default 10
        How many weights are kept, and features selected (the paper's B): a number, or a fraction in (0, 1].
    task : {"classification", "regression"}, default "classification"
        Whether y holds classes or numbers.
    step : float in (0, 1], default 0.2
        Step of an update (the paper's eta).
    shrink : float in (0, 1], default 0.01
        How much weights shrink per row, relative to the step, and how long they may get (the paper's lambda).
    new_features : {"error", "add"}, default "error"
        Whether a feature that arrives late is refused, or starts with weight 0.
    categorical : {"one_hot", "codes"}, default "one_hot"
        What becomes of a column of categories: a column of 0 and 1 for each of them, the largest score of which is the
        score of the feature, or the codes taken as numbers.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        |w|; with more than two classes its mean over the models.
    classes_ : ndarray
        Labels in the order of their first appearance.
    n_rows_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.rows.ofs import OFS
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(["up", "down"], 1000)
    >>> X = rng.normal(size=(1000, 6))
    >>> X[:, 4] += np.where(y == "up", 1, -1)
    >>> OFS(n_features_to_select=1).partial_fit(X, y).get_support(indices=True).tolist()
    [4]
    """

    parameter_limits: ClassVar[Limits] = {
        "n_features_to_select": N_FEATURES_LIMITS,
        "task": (OneOf("classification", "regression"),),
        "step": (Real(0, 1, closed="right"),),
        "shrink": (Real(0, 1, closed="right"),),
        "new_features": NEW_FEATURES_LIMITS,
        "categorical": CATEGORICAL_LIMITS,
    }
    state_type = OFSState
    bytes_per_feature: ClassVar[int] = 20

    def __init__(
        self,
        n_features_to_select: int | float = 10,
        *,
        task: str = "classification",
        step: float = 0.2,
        shrink: float = 0.01,
        new_features: str = "error",
        categorical: Categorical = "one_hot",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.step = step
        self.shrink = shrink
        self.new_features = new_features
        self.categorical = categorical

    def stream_tags(self) -> StreamTags:
        """Every row needs the one before, so nothing can be merged; the cut into batches changes nothing."""
        return StreamTags(
            batch_invariant=True,
            sparse=True,
            late_features=True,
            multi_class="one-vs-rest",
            ignores_constants=False,
            categorical=self.categorical,
            weights=True,
            regression=True,
        )

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        return OFSNumberState if self._numeric else OFSState

    def _begin(self, batch: CheckedBatch) -> OFSState | OFSNumberState:
        if self._numeric:
            return OFSNumberState(np.zeros((1, batch.features.n_features)), np.zeros(3))
        return OFSState(OneVsRest.empty(), np.zeros((0, batch.features.n_features)))

    def _learn(self, state: OFSState | OFSNumberState, batch: CheckedBatch) -> None:
        n_features = batch.features.n_features
        n_kept = how_many(self.n_features_to_select, n_features)
        rule = OfsRule(n_kept, float(self.shrink), self._numeric)
        refuse_too_many_copies(batch)
        X = rows_with_zeros(batch)
        if n_features > state.weights.shape[1]:
            state.weights = np.pad(state.weights, ((0, 0), (0, n_features - state.weights.shape[1])))
        scratch = np.empty((2, n_features))
        if isinstance(state, OFSNumberState):
            self._learn_numbers(state, batch, X, rule, scratch)
            return

        def rebuild(origins: list[int]) -> None:
            rows = [
                state.weights[k] if k >= 0 else -state.weights[0] if k == MIRROR else np.zeros(n_features)
                for k in origins
            ]
            state.weights = np.array(rows)

        for copies in repeated(X, batch):
            for rows in state.classes.pieces(copies.codes, rebuild):
                signs, steps = state.classes.signs(copies.codes[rows]), float(self.step) * copies.share[rows]
                part = piece_of(copies.X, rows)
                self._learn_part(part, signs, state.weights, rule, steps, scratch, sparse=batch.sparse)

    def _learn_numbers(
        self, state: OFSNumberState, batch: CheckedBatch, X: Any, rule: OfsRule, scratch: Floats
    ) -> None:
        target = np.asarray(batch.target, np.float64)
        for copies in repeated(X, replace(batch, codes=np.arange(batch.n_rows))):  # the codes say which rows they are
            numbers = np.empty((1, len(copies.codes)))
            standardise_targets(target[copies.codes], copies.share, state.target, numbers[0])
            steps = float(self.step) * copies.share
            self._learn_part(copies.X, numbers, state.weights, rule, steps, scratch, sparse=batch.sparse)

    def _learn_part(
        self, X: Any, signs: Floats, weights: Floats, rule: OfsRule, steps: Floats, scratch: Floats, *, sparse: bool
    ) -> None:
        if sparse:
            ofs_sparse_rows(X.data, X.indices, X.indptr, signs, weights, rule, steps, scratch[0], scratch[1])
        else:
            ofs_rows(X, signs, weights, rule, steps, scratch[0], scratch[1])

    def _score(self, state: OFSState | OFSNumberState) -> Floats:
        if isinstance(state, OFSState) and len(state.classes.seen) < 2:
            return np.zeros(state.weights.shape[1])
        return np.asarray(np.abs(state.weights).mean(axis=0))
