"""Where to stop on the edges of the simplex, and hyperplanes through these points (F-ETANA).

On an edge only two classes are possible, so the program of Eq. 12 has one dimension and is solved as in ETANA. The
region where answering class j is no worse than going on is convex, because the cost of going on is concave (Lemma 4).
It holds the corner of class j and reaches a known point on every edge from there. One hyperplane runs through these
points, and between it and the corner stopping is optimal: the hyperplane is Theorem 3's curve, straightened from the
inside. There are N (N - 1) / 2 edges, so time grows with the square of the number of classes.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from streamsift.instances.grid import FIRST_STAGES, MOST_BYTES, Solution, make_grid, solve_first
from streamsift.instances.settings import Problem

Floats = NDArray[np.float64]

NEVER = 1e300  # odds that no instance reaches; finite, because times 0 it has to be 0


def edge_planes(problem: Problem, steps: int) -> Floats:
    """Hyperplanes by stage and class; entry (k, j, i) is the odds of j against i at which stage k stops on their edge.

    Theirs is the hyperplane where these odds times the probability of i, summed over i, equal the probability of j:
    the diagonal is -1. As many stages are solved as some edge needs (the certificate of instances/grid.py), or fit.
    """
    n_features, n_classes = len(problem.cost), len(problem.prior)
    most = min(n_features, max(MOST_BYTES // (8 * max(steps + 1, n_classes**2)), 1))
    n_stages = min(FIRST_STAGES, most)
    while True:
        plane, certified = _planes_of(problem, steps, n_stages, n_stages == most)
        if certified or n_stages == most:
            return plane
        n_stages = min(2 * n_stages, most)


def _planes_of(problem: Problem, steps: int, n_stages: int, last: bool) -> tuple[Floats, bool]:
    """The hyperplanes of the first stages, and whether later ones cannot matter; left unfinished if they can."""
    n_classes, grid = len(problem.prior), make_grid(2, steps)
    plane = np.full((n_stages, n_classes, n_classes), -1.0)
    for i, j in combinations(range(n_classes), 2):
        likelihood, risk = np.ascontiguousarray(problem.likelihood[:, [i, j]]), problem.risk[[i, j]]
        solution = solve_first(
            grid,
            likelihood,
            problem.bin_start,
            problem.cost,
            problem.available,
            risk,
            n_stages,
            rounded=False,
        )
        if not (solution.certified or last):
            return plane, False
        plane[:, j, i] = _odds(solution, grid.points @ risk[:, j], solution.going_on)
        plane[:, i, j] = _odds(solution, (grid.points @ risk[:, i])[::-1], solution.going_on[:, ::-1])
    return plane, True


def _odds(solution: Solution, answer: Floats, going_on: Floats) -> Floats:
    """The odds of a class from which on answering it costs no more than going on; points begin at its own corner.

    0 where going on is never better. A class that is not the best answer even when it is certain never stops.
    """
    steps, stages = len(answer) - 1, np.arange(len(going_on))
    gain = answer - going_on
    better = gain > 1e-12 * solution.stop.max()  # a free feature that tells nothing is not worth a rounding error
    first = better.argmax(axis=1)
    inside, outside = gain[stages, first], np.minimum(gain[stages, np.maximum(first - 1, 0)], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # both meet where nothing is better, or at the corner
        place = first - 1 + outside / (outside - inside)
        odds = np.where(first == 0, NEVER, np.minimum((steps - place) / place, NEVER))
    return np.where(better.any(axis=1), odds, 0.0)
