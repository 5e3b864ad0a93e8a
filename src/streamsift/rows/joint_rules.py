"""The rules of Joint that fit by least squares: forward, mrmr, ols and fsa; and what all rules share.

All read a `JointProblem`: correlations G of the columns, and their correlations q with the targets, scaled so that the
spread of all targets together is 1. With coefficients B of the standardised columns, the share of the targets' spread
that is explained is 2 tr(B'q) - tr(B'G B); for least squares it is R squared, over all targets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from streamsift.summaries.cross_moments import FeatureCorrelations

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

EQUAL = 1e-9  # values closer than this share are equal: the first column wins, whatever the rounding
COLLINEAR = 1e-9  # a column with less of its spread left by those before it brings nothing of its own
USEFUL = 1e-12  # the least share of the targets' spread that counts as a gain
LEAST_REDUNDANCY = 1e-3  # of mrmr: correlations below do not make a column better still
FSA_STEPS, ANNEALING, MOMENTUM = 300, 10.0, 0.9  # N and mu of the paper, and the share of a step that is kept


class JointProblem(NamedTuple):
    """Standardised columns and targets: gram (n, n), q (n, T), targets (T, T), and the number of rows behind them.

    `heaviness` (n) is for the tests of joint_levels.py: how heavy the tails of a column and of the targets are.
    """

    gram: Floats
    q: Floats
    targets: Floats
    n_rows: float
    heaviness: Floats


class Ranked(NamedTuple):
    """Columns in the order of a rule; coefficients (n, T) of all columns or None for least squares on the order.

    `penalties` is the penalty at which each entered, `penalty` that of the coefficients; NaN where there is none.
    """

    order: Indices
    coefficients: Floats | None = None
    penalties: Floats | None = None
    penalty: float = float("nan")


def problem_of(correlations: FeatureCorrelations, heaviness: Floats) -> tuple[JointProblem, Indices]:
    """The problem that rules solve, and which features its columns are: those that have any spread."""
    spread = float(np.sqrt(correlations.target_scale @ correlations.target_scale))
    used = np.flatnonzero(correlations.feature_scale > 0.0) if spread > 0.0 else np.zeros(0, np.intp)
    whole = len(used) == len(correlations.feature_scale)
    gram = correlations.features if whole else correlations.features[np.ix_(used, used)]
    scale = correlations.target_scale / spread if spread > 0.0 else correlations.target_scale
    targets = correlations.among_targets * np.outer(scale, scale)
    q = correlations.targets[used] * scale
    return JointProblem(gram, q, targets, correlations.n_rows, heaviness[used]), used


class Elimination:
    """Least squares on a growing list of columns: what each other column would add, at the cost of one row a step.

    A Cholesky decomposition of the gram matrix, with columns in the order in which they are taken.
    """

    def __init__(self, problem: JointProblem, room: int) -> None:
        self._gram = problem.gram
        self._factor = np.empty((min(room, len(problem.gram)), len(problem.gram)))
        self._left = np.diag(problem.gram).copy()  # spread of each column that those taken do not explain
        self._slope = problem.q.copy()
        self.taken: list[int] = []
        self.explained = 0.0
        self._n_rows = 0

    def gains(self) -> Floats:
        """What each column would add to the explained share; 0 for those taken and those that are collinear."""
        free = self._left > COLLINEAR
        free[self.taken] = False
        squares = np.einsum("jt,jt->j", self._slope, self._slope)
        gain = np.divide(squares, self._left, out=np.zeros_like(squares), where=free)
        return np.asarray(np.minimum(gain, max(1.0 - self.explained, 0.0)))

    def left_of(self, column: int) -> tuple[float, Floats]:
        """What those taken leave of a column: its spread, and its products with the targets."""
        return float(self._left[column]), self._slope[column].copy()

    def take(self, column: int) -> float:
        """Add a column; returns what it adds."""
        gain = float(self.gains()[column])
        self.taken.append(column)
        left = self._left[column]
        if left > COLLINEAR:
            known = self._factor[: self._n_rows]
            row = (self._gram[column] - known[:, column] @ known) / np.sqrt(left)
            self._factor[self._n_rows] = row
            self._n_rows += 1
            self._slope -= np.outer(row, self._slope[column] / np.sqrt(left))
            self._left = np.maximum(self._left - row * row, 0.0)
        self._left[column] = 0.0
        self.explained = min(self.explained + gain, 1.0)
        return gain


def first_largest(values: Floats) -> int:
    """The first of the values that are equal to the largest within rounding."""
    top = values.max()
    return int(np.argmax(values >= top - EQUAL * abs(top)))


def forward(problem: JointProblem, wanted: int) -> Ranked:
    """Again and again the column that adds most to the explained share of the targets."""
    fit = Elimination(problem, wanted)
    for _ in range(min(wanted, len(problem.gram))):
        gains = fit.gains()
        best = first_largest(gains)
        if gains[best] <= USEFUL:
            break
        fit.take(best)
    return Ranked(np.array(fit.taken, np.intp))


def mrmr(problem: JointProblem, wanted: int) -> Ranked:
    """Again and again the column that is most relevant for its redundancy with those taken.

    Relevance is the F statistic up to a constant, redundancy the mean absolute correlation with the columns taken (the
    quotient that is called FCQ).
    """
    alone = np.minimum(np.einsum("jt,jt->j", problem.q, problem.q), 1.0 - 1e-12)
    relevance = alone / (1.0 - alone)
    redundancy, order = np.zeros(len(alone)), np.zeros(0, np.intp)
    for step in range(min(wanted, len(alone))):
        worth = relevance / np.maximum(redundancy / max(step, 1), LEAST_REDUNDANCY)
        worth[order] = -1.0
        best = first_largest(worth)
        order = np.append(order, best)
        redundancy += np.abs(problem.gram[best])
    return Ranked(order)


def ols(problem: JointProblem, wanted: int) -> Ranked:
    """Least squares on all columns, which are ranked by the size of their standardised coefficients.

    Where columns are collinear, the shortest of the solutions.
    """
    coefficients = least_squares(problem.gram, problem.q)
    return Ranked(by_size(coefficients)[:wanted], coefficients)


def fsa(problem: JointProblem, wanted: int) -> Ranked:
    """Feature selection with annealing: gradient steps on least squares, after each of which the smallest are dropped.

    Of p columns and k wanted, k + (p - k) max(0, (N - 2 e) / (2 e mu + N)) are left after step e of N. The columns
    that are left come by the size of their coefficients; least squares on them is what is reported.
    """
    gram, q = steady(problem.gram), problem.q
    n = len(gram)
    wanted = min(wanted, n)
    size = 1.0 / float(linalg.eigvalsh(gram, subset_by_index=[n - 1, n - 1])[0]) if n else 1.0
    kept = np.arange(n)
    beta, speed = np.zeros_like(q), np.zeros_like(q)
    for step in range(1, FSA_STEPS + 1):
        speed = MOMENTUM * speed - size * (gram @ beta - q)
        beta = beta + speed
        count = kept_after(step, FSA_STEPS, n, wanted)
        if count < len(kept):
            stay = np.sort(by_size(beta)[:count])
            kept, beta, speed, q = kept[stay], beta[stay], speed[stay], q[stay]
            gram = gram[np.ix_(stay, stay)]
    return Ranked(kept[by_size(beta)])


def kept_after(step: int, n_steps: int, n_columns: int, n_wanted: int, annealing: float = ANNEALING) -> int:
    """How many columns annealing has left after a step (1, 2, ...).

    >>> [kept_after(step, 10, 1000, 50) for step in (1, 2, 3, 5, 10)]
    [303, 164, 104, 50, 50]
    """
    share = max(0.0, (n_steps - 2 * step) / (2 * step * annealing + n_steps))
    return n_wanted + int((n_columns - n_wanted) * share)


def by_size(coefficients: Floats) -> Indices:
    """Columns from the largest coefficients, over all targets, to the smallest; equal ones in their order.

    >>> by_size(np.array([[1.0], [-3.0], [3.0 + 1e-15]])).tolist()
    [1, 2, 0]
    """
    sizes = np.sqrt(np.einsum("jt,jt->j", coefficients, coefficients))
    order = np.argsort(-sizes, kind="stable")
    sizes = sizes[order]
    new = np.append(True, sizes[1:] < sizes[:-1] * (1.0 - EQUAL))  # where a run of equals begins
    return order[np.lexsort((order, np.cumsum(new)))]


def least_squares(gram: Floats, q: Floats) -> Floats:
    """Coefficients of all columns; the shortest where there are many."""
    if not len(gram):
        return np.zeros_like(q)
    try:
        factor = linalg.cho_factor(gram, lower=True, check_finite=False)
        if np.diag(factor[0]).min() > np.sqrt(COLLINEAR):
            return np.asarray(linalg.cho_solve(factor, q, check_finite=False))
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(gram, check_finite=False)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > COLLINEAR * values[-1])
    return np.asarray(vectors @ (inverse[:, None] * (vectors.T @ q)))


def steady(gram: Floats) -> Floats:
    """The matrix itself, or with as much on its diagonal as makes it positive: rounding may have left it otherwise."""
    if not len(gram):
        return gram
    diagonal = np.arange(len(gram))
    tried = gram.copy()
    tried[diagonal, diagonal] += COLLINEAR
    try:
        linalg.cholesky(tried, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        lowest = float(linalg.eigvalsh(gram, subset_by_index=[0, 0], check_finite=False)[0])
        tried = gram.copy()
        tried[diagonal, diagonal] += max(-lowest, 0.0) + COLLINEAR
        return tried
    return gram


def information(explained: Floats, n_columns: NDArray[np.intp], n_rows: float) -> Floats:
    """The Bayesian information criterion of models that explain so much with so many columns; lower is better."""
    n = max(n_rows, 2.0)
    return np.asarray(n * np.log(np.maximum(1.0 - explained, USEFUL)) + np.log(n) * n_columns)
