"""What a joint rule's order comes to: gains, coefficients in the units of the data, and a score for each column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.rows import joint_rules
from streamsift.rows.joint_levels import step_p_values
from streamsift.rows.joint_rules import Elimination, JointProblem, Ranked
from streamsift.summaries.candidate_pool import CandidatePool
from streamsift.summaries.cross_moments import FeatureCorrelations

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_NEXT = 1.0 - 1e-9  # the share of a score that the next one has at most


class Answer(NamedTuple):
    """The columns of the path, in its order, what belongs to them, and a score for each column there is."""

    columns: Indices
    gains: Floats
    coefficients: Floats
    intercepts: Floats
    penalties: Floats
    penalty: float
    p_values: Floats
    scores: Floats


def answer_of(
    state: CandidatePool, correlations: FeatureCorrelations, problem: JointProblem, used: Indices, ranked: Ranked
) -> Answer:
    """Gains, coefficients in the units of the data, and scores."""
    order = ranked.order
    fit = Elimination(problem, len(order))
    gains, path_scores, highest = np.zeros(len(order)), np.zeros(len(order)), 1.0
    for place, column in enumerate(order):
        path_scores[place] = min(max(1.0 - fit.explained, joint_rules.USEFUL), highest)
        gains[place] = fit.take(int(column))
        highest = path_scores[place] * _NEXT
    scores = np.zeros(state.n_columns)
    if state.wide:
        alone = state.screened.explained(correlations.target_scale)
        scores = np.minimum(alone * (1.0 - fit.explained), highest)
    in_pool = np.zeros(len(state.pool))
    in_pool[used] = np.minimum(fit.gains(), highest)
    in_pool[used[order]] = path_scores
    scores[state.pool] = in_pool
    beta = ranked.coefficients
    if beta is None:
        beta = np.zeros_like(problem.q)
        beta[order] = joint_rules.least_squares(problem.gram[np.ix_(order, order)], problem.q[order])
    spread = float(np.sqrt(correlations.target_scale @ correlations.target_scale))
    coefficients = beta * spread / correlations.feature_scale[used][:, None]
    intercepts = correlations.target_mean - correlations.feature_mean[used] @ coefficients
    penalties = np.full(len(order), np.nan) if ranked.penalties is None else ranked.penalties
    return Answer(
        state.pool[used[order]],
        gains,
        coefficients[order],
        intercepts,
        penalties,
        ranked.penalty,
        step_p_values(problem, ranked),
        scores,
    )
