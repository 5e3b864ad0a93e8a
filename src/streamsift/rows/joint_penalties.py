"""The rules of Joint that shrink coefficients: lasso, elastic_net and mcp, each along the path of its penalty.

With the columns and targets standardised as in joint_rules.py, each target t has its own coefficients b, which minimise

    b'G b / 2 - q_t'b + sum over columns of  a r |b| + a (1 - r) b^2 / 2        lasso: r = 1, elastic net: r = l1_ratio
                                             or the minimax concave penalty     mcp: a |b| - b^2 / 6 up to |b| = 3 a

for the same penalty a. That is what scikit-learn's Lasso(alpha=a) and ElasticNet(alpha=a, l1_ratio=r) minimise. The
penalty goes down from where all coefficients are 0; a column enters where it is first needed by any target. The minimax
concave penalty has several minima: the one found is that to which the path leads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.coordinate_descent import descend
from streamsift.rows.joint_rules import JointProblem, Ranked, by_size, information, steady

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

N_PENALTIES, LOWEST = 100, 1e-3  # of the path, and its end as a share of its beginning
CONCAVITY = 3.0  # gamma of the minimax concave penalty
TOLERANCE, MOST_SWEEPS = 1e-10, 5000
FINEST = 1e-10  # penalties closer than this share are not told apart


@dataclass
class PenaltyPath:
    """Solutions at falling penalties, and where each column came in."""

    problem: JointProblem
    l1_ratio: float
    concavity: float
    penalty: float
    beta: Floats
    slope: Floats
    entered: Floats  # the penalty at which a column came in; 0: not yet
    sizes: Floats = field(default_factory=lambda: np.zeros(0))  # of its coefficients just after it came in

    @classmethod
    def begin(cls, problem: JointProblem, l1_ratio: float, concavity: float) -> Self:
        top = float(np.abs(problem.q).max(initial=0.0)) / l1_ratio
        n = len(problem.gram)
        steadied = problem._replace(gram=steady(problem.gram))
        zeros = np.zeros_like(problem.q)
        return cls(steadied, l1_ratio, concavity, top, zeros, problem.q.copy(), np.zeros(n), np.zeros(n))

    def at(self, penalty: float) -> PenaltyPath:
        """The solution at a lower penalty, from this one."""
        beta, slope = self.beta.copy(), self.slope.copy()
        l1, l2 = penalty * self.l1_ratio, penalty * (1.0 - self.l1_ratio)
        for target in range(beta.shape[1]):
            b, s = beta[:, target].copy(), slope[:, target].copy()
            descend(self.problem.gram, s, b, l1, l2, self.concavity, TOLERANCE, MOST_SWEEPS)
            beta[:, target], slope[:, target] = b, s
        new = beta.any(axis=1) & (self.entered == 0.0)
        sizes = np.where(new, np.sqrt((beta**2).sum(axis=1)), self.sizes)
        entered = np.where(new, penalty, self.entered)
        return PenaltyPath(
            self.problem, self.l1_ratio, self.concavity, penalty, beta, slope, entered, sizes
        )  # fmt: skip

    @property
    def n_entered(self) -> int:
        return int(np.count_nonzero(self.entered))

    def explained(self) -> float:
        """The share of the targets' spread that the coefficients explain: q'b + b'(q - G b)."""
        return float(np.sum(self.beta * (self.problem.q + self.slope)))

    def ranked(self, wanted: int) -> Ranked:
        """The columns that came in first."""
        order = by_size(self.sizes[:, None])
        order = order[np.argsort(-self.entered[order], kind="stable")][: min(wanted, self.n_entered)]
        return Ranked(order, self.beta, self.entered[order], self.penalty)


def by_number(problem: JointProblem, wanted: int, l1_ratio: float, concavity: float) -> Ranked:
    """The path until so many columns have come in, one after the other."""
    path = PenaltyPath.begin(problem, l1_ratio, concavity)
    if path.penalty <= 0.0 or not len(problem.gram):
        return path.ranked(0)
    lowest = path.penalty * LOWEST
    factor = LOWEST ** (1.0 / (N_PENALTIES - 1))
    while path.n_entered < wanted and path.penalty > lowest * (1.0 + FINEST):
        path = _one_by_one(path, max(path.penalty * factor, lowest), wanted)
    return path.ranked(wanted)


def _one_by_one(path: PenaltyPath, penalty: float, wanted: int) -> PenaltyPath:
    """Go down to a penalty, or to where the last wanted column comes in; columns come in one at a time if possible."""
    waiting = [penalty]
    while waiting and path.n_entered < wanted:
        step = path.at(waiting[-1])
        if step.n_entered - path.n_entered > 1 and waiting[-1] < path.penalty * (1.0 - FINEST):
            waiting.append(float(np.sqrt(waiting[-1] * path.penalty)))
            continue
        waiting.pop()
        path = step
    return path


def by_information(problem: JointProblem, most: int, l1_ratio: float, concavity: float) -> Ranked:
    """The point of the path with the lowest Bayesian information criterion."""
    path = PenaltyPath.begin(problem, l1_ratio, concavity)
    best, lowest = path, 0.0
    if path.penalty <= 0.0 or not len(problem.gram):
        return path.ranked(0)
    for penalty in np.geomspace(path.penalty, path.penalty * LOWEST, N_PENALTIES)[1:]:
        path = path.at(float(penalty))
        count = int(np.count_nonzero(path.beta.any(axis=1)))
        if count > most:
            break
        value = float(information(np.array([path.explained()]), np.array([count]), problem.n_rows)[0])
        if value < lowest:
            best, lowest = path, value
    active: Indices = np.flatnonzero(best.beta.any(axis=1))
    order = best.ranked(len(problem.gram)).order
    order = order[np.isin(order, active)]
    return Ranked(order, best.beta, best.entered[order], best.penalty)
