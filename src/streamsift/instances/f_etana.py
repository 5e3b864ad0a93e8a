"""F-ETANA: ETANA without the grid. Stopping is decided by a hyperplane for each class and stage (Eq. 15).

Paper: Y. Warahena Liyanage, D.-S. Zois, C. Chelmis, On-the-Fly Joint Feature Selection and Classification (2020).

By Theorem 3 the region of stopping around each corner of the simplex is bounded by one curve a class. F-ETANA takes a
hyperplane for it: with j the class of the smallest expected cost (Eq. 8), it stops when theta_j . posterior <= 0.
Training time grows with the square of the number of classes, not exponentially.

Training draws instances from the model (a class from the prior, bins from P(bin | class)), many at a time. First the
hyperplanes M_j - limit are set stage by stage from the last to the first, each limit being the best for the drawn
instances given the later ones. Then all coordinates together are improved by simultaneous perturbation (SPSA, Eqs.
17-19) on the same instances; what is kept is the best on a second draw.

Where this deviates from the paper and from the authors' program:
- Eq. 16 charges every class for its own decision and trains each on its own rows; here the one objective is Eq. 10,
  whose decision is always Eq. 8. The program trains on single training rows, ends at the first two equal costs and
  guesses when no threshold is crossed.
- The exponents of Eq. 19 are inside 0.5 < kappa, upsilon <= 1 (the program uses 0.2).
- Training ends when the gradient norm, averaged over a window, is below the tolerance.
- Stages beyond a total price of PATIENCE times the largest loss are left out, and stages that would not fit into
  MOST_NUMBERS (4,000 of two classes); this matters only where features are nearly free.

Time: O(draws x stages x classes) for the start, the same for each step. Memory: draws x stages x classes numbers.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from streamsift.core.batch import CheckedBatch
from streamsift.core.constraints import Integer, Limits, RandomSeed
from streamsift.core.instances import InstanceClassifier
from streamsift.instances import settings
from streamsift.instances.explain import explain
from streamsift.instances.likelihood import Likelihoods
from streamsift.instances.plan import Plan
from streamsift.instances.region import plot_policy, policy
from streamsift.kernels.instances import LINEAR
from streamsift.kernels.thresholds import best_limit, mean_cost, simulate

Floats = NDArray[np.float64]
Draw = tuple[Floats, Floats, NDArray[np.int64], Floats]  # posterior, spent, choice, loss

PATIENCE = 1.5
DRAWS = 4000
FEWEST_DRAWS = 500
MOST_NUMBERS = 1e7  # in the arrays that describe all draws
STEP, DELAY, STEP_DECAY = 0.02, 20.0, 0.602  # epsilon, varsigma, kappa of Eq. 19
SHIFT, SHIFT_DECAY = 0.01, 0.602  # mu, upsilon of Eq. 19
WINDOW = 20
TOLERANCE = 1e-5


class FETANA(InstanceClassifier):
    """Buy features for each instance until a linear threshold is crossed, then classify; for many classes.

    Parameters
    ----------
    feature_cost, misclassification_cost, n_bins, binning, ordering, prior, categorical_features
        As for `ETANA`.
    max_iterations : int, default 100
        Most steps of simultaneous perturbation; 0 keeps the start.
    random_state : int, RandomState or None, default None
        Seed of the drawn instances.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted where they can be.
    n_rows_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import FETANA
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(list("abcdef"), 600)
    >>> X = rng.normal(size=(600, 12))
    >>> X[np.arange(600), np.searchsorted(list("abcdef"), y)] += 4
    >>> model = FETANA(feature_cost=0.01, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), bool(model.classify(X).n_evaluated.mean() < 6)
    (True, True)
    """

    parameter_limits: ClassVar[Limits] = {
        **settings.LIMITS,
        "max_iterations": (Integer(0, None),),
        "random_state": (RandomSeed(),),
    }
    counts_type: ClassVar[type[Any]] = Likelihoods
    plan_type: ClassVar[type[Any]] = Plan

    def __init__(
        self,
        feature_cost: Any = 0.01,
        *,
        misclassification_cost: Any = None,
        n_bins: int | str = 5,
        binning: str = "quantile",
        ordering: str = "variance",
        prior: str = "empirical",
        categorical_features: Any = None,
        max_iterations: int = 100,
        random_state: Any = None,
    ) -> None:
        self.feature_cost = feature_cost
        self.misclassification_cost = misclassification_cost
        self.n_bins = n_bins
        self.binning = binning
        self.ordering = ordering
        self.prior = prior
        self.categorical_features = categorical_features
        self.max_iterations = max_iterations
        self.random_state = random_state

    @classmethod
    def paper(cls, feature_cost: Any = 0.01, n_bins: int | str = "classes", random_state: Any = None) -> Self:
        """The authors' choice of bins, order and prior; training is the one described above.

        Examples
        --------
        >>> FETANA.paper().ordering
        'variance'
        """
        return cls(
            feature_cost,
            n_bins=n_bins,
            binning="integer_width",
            ordering="variance",
            prior="uniform",
            random_state=random_state,
        )

    explain = explain
    policy = policy
    plot_policy = plot_policy

    def _begin(self, batch: CheckedBatch) -> Likelihoods:
        return settings.begin(self, batch)

    def _check_counts(self, counts: Likelihoods) -> None:
        settings.risk(self, len(counts.class_counts))

    def _plan(self, counts: Likelihoods) -> Plan:
        problem = settings.problem(self, counts)
        if len(problem.prior) == 1:
            return problem.plan(LINEAR, n_stages=0)
        random = check_random_state(self.random_state)
        n_stages = _horizon(problem)
        draw, check = _draw(problem, n_stages, random), _draw(problem, n_stages, random)
        plane = _improve(_start(problem.risk, problem.cost, draw), draw, check, self.max_iterations, random)
        return problem.plan(LINEAR, n_stages=n_stages, plane=plane)


def _horizon(problem: settings.Problem) -> int:
    """Stages until the price of everything so far is PATIENCE times what answering at once can cost."""
    dearest = PATIENCE * float(problem.risk.max(axis=0).min())
    within = int(np.searchsorted(np.cumsum(problem.cost * problem.available), dearest)) + 1
    fits = int(MOST_NUMBERS / (FEWEST_DRAWS * (len(problem.prior) + 3)))
    return min(within, len(problem.cost), max(fits, 1))


def _draw(problem: settings.Problem, n_stages: int, random: Any) -> Draw:
    n_classes = len(problem.prior)
    n = int(np.clip(MOST_NUMBERS / (n_stages * (n_classes + 3)), FEWEST_DRAWS, DRAWS))
    # Evenly spaced chances give each class its share of the draws without noise.
    classes = np.searchsorted(np.cumsum(problem.prior)[:-1], (np.arange(n) + random.uniform()) / n, side="right")
    posterior, spent = np.empty((n, n_stages + 1, n_classes)), np.empty((n, n_stages + 1))
    choice, loss = np.zeros((n, n_stages + 1), np.int64), np.empty((n, n_stages + 1))
    with np.errstate(divide="ignore"):
        log_prior = np.log(problem.prior)
    simulate(
        classes.astype(np.int64),
        random.uniform(size=(n, n_stages)),
        problem.likelihood,
        problem.bin_start,
        problem.cost[:n_stages],
        problem.available,
        log_prior,
        problem.risk,
        posterior,
        spent,
        choice,
        loss,
    )
    return posterior, spent, choice, loss


def _start(risk: Floats, cost: Floats, draw: Draw) -> Floats:
    """Hyperplanes that compare the expected loss with a limit, the best for each class and stage, last stage first."""
    _, spent, choice, loss = draw
    n_stages, n_classes = loss.shape[1] - 1, len(risk)
    limit = np.full((n_stages, n_classes), np.inf)
    later = spent[:, -1] + loss[:, -1]  # the whole cost when going on
    least = float(risk.min())  # whatever is bought, this much is left to pay
    for k in range(n_stages - 1, -1, -1):
        now = spent[:, k] + loss[:, k]
        for j in range(n_classes):
            mine = np.flatnonzero(choice[:, k] == j)
            if len(mine) == 0:
                limit[k, j] = limit[k + 1, j] if k + 1 < n_stages else np.inf
                continue
            mine = mine[np.argsort(loss[mine, k], kind="stable")]
            found = best_limit(loss[mine, k], later[mine] - spent[mine, k])
            limit[k, j] = max(found, cost[k] + least)  # a loss below the price cannot be worth it: corners stop
        stops = loss[:, k] <= limit[k, choice[:, k]]
        later = np.where(stops, now, later)
    dearest = 2.0 * risk.max() + 1.0  # as good as infinite: every loss is below it
    return np.asarray(risk.T[None, :, :] - np.minimum(limit, dearest)[:, :, None])


def _improve(plane: Floats, draw: Draw, check: Draw, max_iterations: int, random: Any) -> Floats:
    """Simultaneous perturbation of all hyperplanes; the best on a second draw is kept."""
    best, best_cost = plane, mean_cost(plane, *check)
    plane, norms = plane.copy(), []
    for t in range(max_iterations):
        step = STEP * (t + 1 + DELAY) ** -STEP_DECAY
        shift = SHIFT * (t + 1) ** -SHIFT_DECAY
        direction = random.choice([-1.0, 1.0], plane.shape)
        above, below = mean_cost(plane + shift * direction, *draw), mean_cost(plane - shift * direction, *draw)
        gradient = (above - below) / (2 * shift) * direction
        plane = plane - step * gradient
        norms.append(float(np.linalg.norm(gradient)))
        if (t + 1) % WINDOW == 0:
            cost = mean_cost(plane, *check)
            if cost < best_cost:
                best, best_cost = plane, cost
            if np.mean(norms[-WINDOW:]) <= TOLERANCE:
                break
    return best
