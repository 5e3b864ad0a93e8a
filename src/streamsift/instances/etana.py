"""ETANA: decide for each instance which features to buy and when to stop, optimally for a model of the classes.

Paper: Y. Warahena Liyanage, D.-S. Zois, C. Chelmis, On-the-Fly Joint Feature Selection and Classification (2020).

Features are independent given the class, with P(bin | class) from smoothed counts (instances/likelihood.py). They are
offered in a fixed order (instances/ordering.py). After each the posterior is updated (Eq. 4), and the dynamic program
of Eq. 12, solved once on a grid over the simplex (instances/grid.py), says whether the next is worth its price.

Where this deviates from the paper:
- The grid is of compositions, not of all (steps + 1)^N combinations; between its points the value is interpolated.
- Stages that cannot matter are not solved; two bounds of the value prove it (instances/grid.py).
- The posterior is kept in logs: thousands of features multiply without underflow. For two classes the stages become
  intervals of the log odds (Theorem 3), so a decision is two comparisons.
- `n_evaluated` counts the features really bought; the authors' program reports one less for rows that buy all.
- `partial_fit`, missing values, categories and costs by feature are not in the paper. A missing value is skipped and
  not charged. A category never seen in training adds no evidence, but its price is paid.

`ETANA.paper()` is the authors' program: variance ordering, uniform prior, bins of integer width, tenths without
interpolation. It gives their published figures on MLL.

Time: fit O(rows x features) for the counts and O(stages x points x bins) for the plan; a row O(features it buys).
Memory: counts of features x bins x classes; a plan of 16 bytes per stage for two classes, else 8 per stage and point.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from streamsift.core.constraints import Integer, Limits, OneOf
from streamsift.core.instances import InstanceClassifier
from streamsift.core.tags import InstanceTags
from streamsift.instances import settings
from streamsift.instances.explain import explain
from streamsift.instances.grid import intervals, make_grid, refuse_too_large, solve, steps_for
from streamsift.instances.likelihood import Likelihoods
from streamsift.instances.plan import PurchasePlan
from streamsift.instances.region import plot_policy, policy
from streamsift.kernels.instances import INTERVAL, ROUNDED_TABLE, TABLE


class ETANA(InstanceClassifier):
    """Buy features for each instance until the next is not worth its price, then classify.

    Parameters
    ----------
    feature_cost : float or array of shape (n_features,), default 0.01
        The price of each feature, in units of the misclassification cost.
    misclassification_cost : array of shape (n_classes, n_classes), optional
        Entry (i, j) is the cost of answering class j when i is true, in the order of `classes_`. Default: 0 on the
        diagonal, 1 elsewhere.
    n_bins : int or "classes", default 5
        Bins of an ordered feature; "classes" makes as many as there are classes (at least 2).
    binning : {"quantile", "width", "integer_width"}, default "quantile"
        How bins are cut; see instances/likelihood.py.
    ordering : {"variance", "error"}, default "variance"
        The order of buying; see instances/ordering.py. Both take prices into account.
    prior : {"empirical", "uniform"}, default "empirical"
        The class probabilities of an instance before any feature is bought.
    resolution : int or "auto", default "auto"
        Steps of the grid along each edge of the simplex.
    lookup : {"interpolate", "nearest"}, default "interpolate"
        How values between grid points are found; "nearest" rounds as the authors' program does.
    categorical : array, optional
        Which columns hold codes of categories: a mask, column numbers or names. They are not binned.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted where they can be.
    n_rows_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import ETANA
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(["ill", "well"], 400)
    >>> X = rng.normal(size=(400, 6)) + 2.5 * (y == "ill")[:, None] * [1, 1, 1, 0, 0, 0]
    >>> model = ETANA(feature_cost=0.02).fit(X, y)
    >>> model.classify(X).n_evaluated.mean().round(1), model.score(X, y)
    (np.float64(1.7), 0.9825)
    >>> asked = []
    >>> model.classify_one(lambda j: asked.append(j) or X[0, j]).label, asked
    (np.str_('well'), [2, 0])
    """

    parameter_limits: ClassVar[Limits] = {
        **settings.LIMITS,
        "resolution": (Integer(1, 100_000), OneOf("auto")),
        "lookup": (OneOf("interpolate", "nearest"),),
    }
    counts_type: ClassVar[type[Any]] = Likelihoods
    plan_type: ClassVar[type[Any]] = PurchasePlan

    def __init__(
        self,
        feature_cost: ArrayLike = 0.01,
        *,
        misclassification_cost: ArrayLike | None = None,
        n_bins: int | str = 5,
        binning: str = "quantile",
        ordering: str = "variance",
        prior: str = "empirical",
        resolution: int | str = "auto",
        lookup: str = "interpolate",
        categorical: ArrayLike | None = None,
    ) -> None:
        self.feature_cost = feature_cost
        self.misclassification_cost = misclassification_cost
        self.n_bins = n_bins
        self.binning = binning
        self.ordering = ordering
        self.prior = prior
        self.resolution = resolution
        self.lookup = lookup
        self.categorical = categorical

    @classmethod
    def paper(cls, feature_cost: ArrayLike = 0.01, n_bins: int | str = "classes") -> Self:
        """The choices of the authors' program.

        Examples
        --------
        >>> ETANA.paper(feature_cost=0.05).resolution
        10
        """
        return cls(
            feature_cost,
            n_bins=n_bins,
            binning="integer_width",
            ordering="variance",
            prior="uniform",
            resolution=10,
            lookup="nearest",
        )

    def stream_tags(self) -> InstanceTags:
        return InstanceTags(class_grid=True)

    explain = explain
    policy = policy
    plot_policy = plot_policy

    _begin = settings.begin

    def _check_counts(self, counts: Likelihoods) -> None:
        n_classes = len(counts.class_counts)
        settings.risk(self, n_classes)
        if n_classes > 1:
            refuse_too_large(n_classes, steps_for(n_classes, self.resolution), 1)

    def _plan(self, counts: Likelihoods) -> PurchasePlan:
        problem = settings.problem(self, counts)
        n_classes = len(problem.prior)
        if n_classes == 1:
            return problem.plan(INTERVAL, n_stages=0)
        grid = make_grid(n_classes, steps_for(n_classes, self.resolution))
        rounded = self.lookup == "nearest"
        solution = solve(
            grid,
            problem.likelihood,
            problem.bin_start,
            problem.cost,
            problem.available,
            problem.risk,
            rounded=rounded,
        )
        n_stages = len(solution.going_on)
        if n_classes == 2 and not rounded:
            return problem.plan(INTERVAL, n_stages=n_stages, interval=intervals(solution), gap=solution.gap)
        return problem.plan(
            ROUNDED_TABLE if rounded else TABLE,
            n_stages=n_stages,
            gap=solution.gap,
            steps=grid.steps,
            shift=grid.shift,
            weights=grid.weights,
            table=solution.going_on,
            stop_cost=solution.stop,
        )
