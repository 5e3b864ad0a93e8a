"""F-ETANA: ETANA without the grid. Stopping is decided by a hyperplane for each class and stage (Eq. 15).

Paper: Y. Warahena Liyanage, D.-S. Zois, C. Chelmis, On-the-Fly Joint Feature Selection and Classification (2020).

By Theorem 3 the region of stopping around each corner of the simplex is bounded by one curve per class. F-ETANA takes a
hyperplane for it: with j the class of the smallest expected cost (Eq. 8), it stops when theta_j . posterior <= 0.
Training has three steps; its time grows with the square of the number of classes, not exponentially.

1. Edges. Where only two classes are possible the program is one-dimensional and solved as in ETANA, with the same steps
   up to five classes. The hyperplane of a class runs through the optimal points on its edges (instances/edges.py). It
   never stops where going on is better. With two classes the edge is everything, and the plan is ETANA's.
2. Inside the simplex the curve lies beyond the hyperplane. How far is estimated on instances drawn from the model (a
   class from the prior, bins from P(bin | class)), stage by stage from the last to the first: theta_jj is lowered where
   the draws say that stopping is cheaper, by SURE standard errors. The odds against each single class must still be
   those of step 1, so that decisions on the edges stay optimal.
3. All coordinates together follow simultaneous perturbation (SPSA, Eqs. 17-19) of their logarithms, because odds differ
   by powers of ten. The result is kept where a second draw says that it is cheaper.

Where this deviates from the paper and from the authors' program:
- The paper has step 3 only, from any start. Limits of the expected loss estimated from draws alone stop too early where
  draws are rare; rows that the model does not describe well do occur there.
- Eq. 16 charges every class for its own decision and trains each on its own rows; here the one objective is Eq. 10,
  whose decision is always Eq. 8. The program trains on single training rows, ends at the first two equal costs and
  guesses when no threshold is crossed.
- The exponents of Eq. 19 are inside 0.5 < kappa, upsilon <= 1 (the program uses 0.2).
- Training ends when the gradient norm, averaged over a window, is below the tolerance.
- Stages that cannot matter on any edge are not solved, as in ETANA. Steps 2 and 3 consider the stages before a total
  price of PATIENCE times the largest loss, and no more than fit into MOST_NUMBERS.
- A class that is not the best answer even when it is certain (by a strange misclassification cost) never stops.

Time: O(classes^2 x stages x bins) for the edges, O(draws x stages x classes) for the start and each step. Memory: draws
x stages x classes numbers; a plan of stages x classes^2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from streamsift.core.constraints import Integer, Limits, RandomSeed, RandomSource
from streamsift.core.instances import InstanceClassifier
from streamsift.core.interrupts import check
from streamsift.instances import settings
from streamsift.instances.edges import edge_planes
from streamsift.instances.explain import explain
from streamsift.instances.grid import steps_for
from streamsift.instances.likelihood import Likelihoods
from streamsift.instances.plan import PurchasePlan
from streamsift.instances.region import plot_policy, policy
from streamsift.kernels.instance_thresholds import Paths, costs, simulate
from streamsift.kernels.instances import LINEAR

Floats = NDArray[np.float64]

PATIENCE = 1.5
DRAWS = 20_000
FEWEST_DRAWS = 500
MOST_NUMBERS = 1e7  # in the arrays that describe all draws
FINE_CLASSES = 5  # with more ETANA's steps are coarse for want of memory; an edge takes those of five
SURE = 1.0  # standard errors by which draws must speak for a saving
STEP, DELAY, STEP_DECAY = 1.0, 20.0, 0.602  # epsilon, varsigma, kappa of Eq. 19; costs are in units of the first
SHIFT, SHIFT_DECAY = 0.05, 0.602  # mu, upsilon of Eq. 19
WINDOW = 20
TOLERANCE = 1e-5
SLICE = 1 << 22  # probabilities that a kernel goes through without a look at Ctrl-C: about 0.1 seconds
MOST_LOG = 695.0  # a little above log(NEVER); sums of the exponentials stay finite


class FETANA(InstanceClassifier):
    """Buy features for each instance until a linear threshold is crossed, then classify; for many classes.

    Parameters
    ----------
    feature_cost, misclassification_cost, n_bins, binning, ordering, prior, categorical
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
        categorical: ArrayLike | None = None,
        max_iterations: int = 100,
        random_state: RandomSource = None,
    ) -> None:
        self.feature_cost = feature_cost
        self.misclassification_cost = misclassification_cost
        self.n_bins = n_bins
        self.binning = binning
        self.ordering = ordering
        self.prior = prior
        self.categorical = categorical
        self.max_iterations = max_iterations
        self.random_state = random_state

    @classmethod
    def paper(
        cls, feature_cost: ArrayLike = 0.01, n_bins: int | str = "classes", random_state: RandomSource = None
    ) -> Self:
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

    _begin = settings.begin

    def _check_counts(self, counts: Likelihoods) -> None:
        settings.risk(self, len(counts.class_counts))

    def _plan(self, counts: Likelihoods) -> PurchasePlan:
        problem = settings.problem(self, counts)
        n_classes = len(problem.prior)
        if n_classes == 1:
            return problem.plan(LINEAR, n_stages=0)
        plane = edge_planes(problem, steps_for(min(n_classes, FINE_CLASSES), "auto"))
        if n_classes > 2:
            random = check_random_state(self.random_state)
            n_drawn = min(_horizon(problem), len(plane))
            draw, check = _draw(problem, n_drawn, random), _draw(problem, n_drawn, random)
            plane = _improve(_widen(plane, draw), draw, check, self.max_iterations, random)
        return problem.plan(LINEAR, n_stages=len(plane), plane=plane)


def _horizon(problem: settings.Problem) -> int:
    """Stages until the price of everything so far is PATIENCE times what answering at once can cost."""
    dearest = PATIENCE * float(problem.risk.max(axis=0).min())
    within = int(np.searchsorted(np.cumsum(problem.cost * problem.available), dearest)) + 1
    fits = int(MOST_NUMBERS / (FEWEST_DRAWS * (len(problem.prior) + 3)))
    return min(within, len(problem.cost), max(fits, 1))


def _draw(problem: settings.Problem, n_stages: int, random: Any) -> Paths:
    n_classes = len(problem.prior)
    n = int(np.clip(MOST_NUMBERS / (n_stages * (n_classes + 3)), FEWEST_DRAWS, DRAWS))
    # Evenly spaced chances give each class its share of the draws without noise.
    classes = np.searchsorted(np.cumsum(problem.prior)[:-1], (np.arange(n) + random.uniform()) / n, side="right")
    shape = (n, n_stages + 1)
    paths = Paths(np.empty((*shape, n_classes)), np.empty(shape), np.zeros(shape, np.int64), np.empty(shape))
    with np.errstate(divide="ignore"):
        log_prior = np.log(problem.prior)
    classes, chance = classes.astype(np.int64), random.uniform(size=(n, n_stages))
    for part in _slices(paths):
        simulate(
            classes[part],
            chance[part],
            problem.likelihood,
            problem.bin_start,
            problem.cost[:n_stages],
            problem.available,
            log_prior,
            problem.risk,
            _part(paths, part),
        )
    return paths


def _slices(paths: Paths) -> Iterator[slice]:
    """The draws in slices of bounded work; Ctrl-C ends between two of them."""
    n_draws, n_stages, n_classes = paths.posterior.shape
    size = max(SLICE // (n_stages * n_classes), 1)
    for first in range(0, n_draws, size):
        check()
        yield slice(first, min(first + size, n_draws))


def _part(paths: Paths, part: slice) -> Paths:
    return Paths(paths.posterior[part], paths.spent[part], paths.choice[part], paths.loss[part])


def _widen(plane: Floats, draw: Paths) -> Floats:
    """Let each class and stage stop beyond its hyperplane as far as the draws speak for it, last stage first."""
    posterior, spent, choice, loss = draw
    plane, rows = plane.copy(), np.arange(len(loss))
    later = spent[:, -1] + loss[:, -1]  # the whole cost when going on
    for k in range(loss.shape[1] - 2, -1, -1):
        check()
        now, mine = spent[:, k] + loss[:, k], choice[:, k]
        wanted = plane[k, mine] * posterior[:, k] / posterior[rows, k, mine][:, None]
        wanted[rows, mine] = 0.0
        short, open_to_all = wanted.sum(axis=1), wanted.max(axis=1) <= 1.0
        for j in range(plane.shape[1]):
            between = np.flatnonzero((mine == j) & open_to_all & (short > 1.0))
            between = between[np.argsort(short[between], kind="stable")]
            plane[k, j, j] = -_farthest(short[between], (later - now)[between])
        stops = open_to_all & (short <= -plane[k, mine, mine])
        later = np.where(stops, now, later)
    return plane


def _farthest(short: Floats, saved: Floats) -> float:
    """How far to stop, 1 or some of `short` (increasing): the largest sum saved up to there, if it is sure.

    >>> short, saved = np.array([1.5, 1.5, 1.5, 1.5, 2.0, 2.0, 3.0]), np.array([0.4, 0.4, 0.4, 0.4, 0.1, 0.2, -1.0])
    >>> round(_farthest(short, saved), 6), _farthest(short, -saved)
    (2.0, 1.0)
    """
    total, spread = np.cumsum(saved), np.sqrt(np.cumsum(saved**2))
    among_equals = np.append(short[1:] <= short[:-1] * (1.0 + 1e-9), False)
    sure = np.where(~among_equals[: len(short)] & (total > SURE * spread), total, 0.0)
    if not sure.any():
        return 1.0
    return float(short[sure.argmax()] * (1.0 + 1e-9))


def _costs(plane: Floats, draw: Paths) -> Floats:
    total = np.empty(len(draw.loss))
    for part in _slices(draw):
        costs(plane, _part(draw, part), total[part])
    return total


def _improve(plane: Floats, draw: Paths, check: Paths, max_iterations: int, random: Any) -> Floats:
    """Simultaneous perturbation of all hyperplanes; kept is what is surely cheaper on a second draw."""
    n_drawn = draw.loss.shape[1] - 1
    best, rest = plane[:n_drawn], plane[n_drawn:]
    best_costs, unit = _costs(best, check), float(_costs(best, draw).mean())
    if unit == 0.0:
        return plane
    norms = []
    with np.errstate(divide="ignore"):  # odds of 0 stay 0
        logs = np.log(np.abs(best))

    def cost(logs: Floats) -> float:
        return float(_costs(_from_logs(logs), draw).mean()) / unit

    for t in range(max_iterations):
        step = STEP * (t + 1 + DELAY) ** -STEP_DECAY
        shift = SHIFT * (t + 1) ** -SHIFT_DECAY
        direction = random.choice([-1.0, 1.0], logs.shape)
        slope = (cost(logs + shift * direction) - cost(logs - shift * direction)) / (2 * shift)
        logs = logs - step * slope * direction
        norms.append(abs(slope) * float(np.sqrt(logs.size)))
        if (t + 1) % WINDOW == 0:
            found = _from_logs(logs)
            saved = best_costs - _costs(found, check)
            if saved.sum() > SURE * np.sqrt(np.sum(saved**2)):
                best, best_costs = found, best_costs - saved
            if np.mean(norms[-WINDOW:]) <= TOLERANCE:
                break
    return np.concatenate([best, rest])


def _from_logs(logs: Floats) -> Floats:
    plane = np.exp(np.minimum(logs, MOST_LOG))
    diagonal = np.arange(logs.shape[1])
    plane[:, diagonal, diagonal] *= -1.0
    return plane
