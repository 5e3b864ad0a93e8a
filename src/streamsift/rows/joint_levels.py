"""How many features `forward` takes at a stated level: a test at each step, and where to stop.

The test of a column that is to join k others: does it tell anything about the targets that those do not? With d the
number of targets (classes less one), the F test of one column against all targets together (Wilks), in the moments:

    R2 = s' S^-1 s / v      v, s, S: what the k columns leave of its spread, of its products with the targets, and of
                            the spread of the targets
    F  = (R2 / d) / ((1 - R2) / (n - 1 - k - d)),  with d and n - 1 - k - d degrees of freedom

For k = 0 and classes it is the F test of equal class means (p_values.py), and for one number the partial t test. n is
the number of equally weighted rows that scatter as much as those seen, (sum w)^2 / sum w^2. Where both the column and
the targets have heavy tails, p is larger by what p_values.py says; the tails are those of the whole column and of the
targets as they are, also for what is left of them after k > 0 columns, of which no tails are known.

At step i the best of m columns has been looked for, so it joins where p is at most

    fdr   i a / (m + 1 - i (1 - a))     Y. Benjamini and Y. Gavrilov, A simple forward selection procedure based on
                                        false discovery rate control (Annals of Applied Statistics 3, 2009)
    fwe   a / (m + 1 - i)               Holm
    fpr   a                             no account of the search

and the first column that does not ends the path. m counts all columns, also those outside of the pool, and i counts
features: several columns of one feature, as its categories are, do not let in the next feature more easily. Where
nothing tells anything, the first two take any feature with probability a at most. Where something does, p-values that
were looked for among columns that depend on each other are not independent: the share of useless features is near a
(docs/methods/joint.md has a table), and not promised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from streamsift.core.guarantees import LEVEL, parsed
from streamsift.rows.joint_rules import USEFUL, Elimination, JointProblem, Ranked, first_largest
from streamsift.rows.p_values import group_excess, heaviness, with_tails
from streamsift.summaries.candidate_pool import CandidatePool
from streamsift.summaries.cross_moments import FeatureCorrelations

Floats = NDArray[np.float64]

SINGULAR = 1e-9  # of the spread of the targets: what is below this share of the largest is no direction


class StepTest:
    """The p-value of each column of a path, as it joins those before it."""

    def __init__(self, problem: JointProblem, fit: Elimination) -> None:
        self._fit, self._targets, self._n_rows = fit, problem.targets.copy(), problem.n_rows
        self._heaviness = problem.heaviness
        self._freedom = int(np.linalg.matrix_rank(problem.targets, tol=SINGULAR, hermitian=True))

    def p_value(self, column: int) -> float:
        """That of a column which has not been taken yet; 1 where the rows do not suffice to tell."""
        left, slope = self._fit.left_of(column)
        below = self._n_rows - 1.0 - len(self._fit.taken) - self._freedom
        if below < 1.0 or left <= 0.0:
            return 1.0
        values, vectors = linalg.eigh(self._targets, check_finite=False)
        seen = values > SINGULAR * max(values[-1], SINGULAR)
        share = float(((slope @ vectors[:, seen]) ** 2 / values[seen]).sum()) / left
        p = 0.0
        if share < 1.0:
            p = float(special.fdtrc(self._freedom, below, share / self._freedom / ((1.0 - share) / below)))
        return float(with_tails(p, min(share, 1.0), self._n_rows, float(self._heaviness[column])))

    def take(self, column: int) -> None:
        """Let a column join."""
        left, slope = self._fit.left_of(column)
        self._fit.take(column)
        if left > 0.0:
            self._targets -= np.outer(slope, slope) / left


def heaviness_of(state: CandidatePool, correlations: FeatureCorrelations) -> Floats:
    """How heavy the tails of each column of the pool and of the targets are (p_values.py)."""
    if state.numeric:
        target = float(state.target_tails.excess(1)[0])
    else:
        target = float(group_excess(correlations.target_mean))
    return heaviness(state.tails.excess(state.n_columns)[state.pool], target, state.tails.unevenness)


def highest_p(rule: str, step: int, n_columns: int) -> float:
    """The p-value up to which a column joins at a step (1, 2, ...).

    >>> [round(highest_p(rule, 2, 9), 4) for rule in ("fdr:0.05", "fwe:0.05", "fpr:0.05")]
    [0.0123, 0.0063, 0.05]
    """
    kind, level = parsed(rule) or ("fdr", LEVEL)
    if kind == "fpr":
        return level
    if kind == "fwe":
        return level / max(n_columns + 1 - step, 1)
    return step * level / max(n_columns + 1 - step * (1.0 - level), step * level)


def forward_at_level(problem: JointProblem, rule: str, features: NDArray[np.int64], n_columns: int) -> Ranked:
    """The columns of `forward`, up to the first that its test does not let in.

    `features` are those that the columns belong to, and `n_columns` the columns there were to choose from.
    """
    fit = Elimination(problem, len(problem.gram))
    test = StepTest(problem, fit)
    while len(fit.taken) < len(problem.gram):
        gains = fit.gains()
        best = first_largest(gains)
        step = len({*features[fit.taken].tolist(), int(features[best])})
        if gains[best] <= USEFUL or test.p_value(best) > highest_p(rule, step, n_columns):
            break
        test.take(best)
    return Ranked(np.array(fit.taken, np.intp))


def step_p_values(problem: JointProblem, ranked: Ranked) -> Floats:
    """The p-value of each column of a path, as it joined those before it."""
    fit = Elimination(problem, len(ranked.order))
    test, found = StepTest(problem, fit), np.ones(len(ranked.order))
    for place, column in enumerate(ranked.order.tolist()):
        found[place] = test.p_value(column)
        test.take(column)
    return found
