"""The grid over the simplex of class probabilities, and the dynamic program on it with its certificate.

Points are the compositions of `steps` into one part per class: C(steps + N - 1, N - 1) of them, not (steps + 1)^N. In
lexicographic order the rank of a composition is a sum over its tail sums r_i = a_i + ... + a_N,

    rank = Q(N-1, steps) + sum over i = 2..N of [Q(N-i, r_i) if i < N] - Q(N-i+1, r_i),     Q(m, r) = C(r + m, m),

so one table look-up per class finds it, and one more finds a neighbour.

The certificate. With many features most stages cannot matter, because hardly anybody would still be buying. The program
is therefore solved for the first m features only, twice: once as if everybody had to stop after m (an upper bound of
the optimum), once as if the true class were revealed after m for the price of the cheapest feature that is left (a
lower bound, also when values may be missing). When the two values at stage 0 meet everywhere on the grid, within
MEETING of the largest stopping cost, the later features are proven not to matter; otherwise m is doubled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import ParameterError
from streamsift.core.interrupts import check
from streamsift.kernels.instance_stopping import add_bins_three, add_bins_two, solve_three, solve_two
from streamsift.kernels.instances import RankTable, expect_any

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS = {2: 1000, 3: 100, 4: 30, 5: 20}  # resolution="auto"; more classes: tenths, as in the authors' program
MOST_POINTS = 2_000_000
MOST_BYTES = 2**30  # of the table of stages x points
FIRST_STAGES = 64
MEETING = 1e-9
SLICE = 1 << 24  # terms of Eq. 12 that a kernel sums without a look at Ctrl-C: about 0.1 seconds


@dataclass(frozen=True)
class Grid:
    """A grid: its steps, the rank table, the points' probabilities (points x classes)."""

    steps: int
    shift: int
    weights: Ints
    points: Floats

    @property
    def ranks(self) -> RankTable:
        """How kernels find the rank of a point."""
        return RankTable(self.steps, self.shift, self.weights)


@dataclass(frozen=True)
class Solution:
    """The cost of going on at each stage and point, the cost of stopping, and how sure the first stage is.

    `gap` is the distance of the upper and lower bound of the value at stage 0 (0: all features were considered).
    """

    going_on: Floats
    stop: Floats
    gap: float

    @property
    def certified(self) -> bool:
        """Whether features beyond these stages are proven not to matter."""
        return bool(self.gap <= MEETING * self.stop.max())


def steps_for(n_classes: int, resolution: int | str) -> int:
    """The number of steps meant by `resolution`."""
    return STEPS.get(n_classes, 10) if resolution == "auto" else int(resolution)


def refuse_too_large(n_classes: int, steps: int, n_stages: int) -> None:
    """Raise ParameterError when the grid, or the table of n_stages of them, would not fit."""
    n_points = comb(steps + n_classes - 1, n_classes - 1)
    n_bytes = n_points * n_stages * 8
    if n_points > MOST_POINTS or n_bytes > MOST_BYTES:
        raise ParameterError(
            f"The grid for {n_classes} classes in steps of 1/{steps} has {n_points:,} points, and its table of "
            f"{n_stages:,} stages would take {n_bytes / 2**30:,.1f} GiB: use FETANA, which needs no grid, or a "
            "coarser resolution."
        )


def make_grid(n_classes: int, steps: int) -> Grid:
    """The grid for two classes or more.

    >>> make_grid(2, 2).points.tolist()
    [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]
    """
    weights, shift = rank_table(n_classes, steps)
    return Grid(steps, shift, weights, _compositions(steps, n_classes) / steps)


def rank_table(n_classes: int, steps: int) -> tuple[Ints, int]:
    """The weights and the shift by which the rank of a point is found; the shift is also the number of points."""
    weights = np.zeros((n_classes - 1, steps + 2), np.int64)
    for i in range(2, n_classes + 1):
        for r in range(steps + 1):
            inner = comb(r + n_classes - i, n_classes - i) if i < n_classes else 0
            weights[i - 2, r] = inner - comb(r + n_classes - i + 1, n_classes - i + 1)
    return weights, comb(steps + n_classes - 1, n_classes - 1)


def _compositions(total: int, parts: int) -> Ints:
    """All compositions of `total` into `parts`, zeros allowed, in lexicographic order."""
    if parts == 1:
        return np.array([[total]], np.int64)
    blocks = []
    for head in range(total + 1):
        tail = _compositions(total - head, parts - 1)
        blocks.append(np.column_stack([np.full(len(tail), head), tail]))
    return np.concatenate(blocks)


def solve(
    grid: Grid,
    likelihood: Floats,
    bin_start: Ints,
    cost: Floats,
    available: Floats,
    risk: Floats,
    *,
    rounded: bool,
    first_stages: int = FIRST_STAGES,
) -> Solution:
    """Solve the dynamic program for features in the order given; `bin_start` marks the bins of each.

    The first `first_stages` features are tried alone, then twice as many, until more would change nothing.
    """
    n_stages = min(first_stages, len(cost))
    while True:
        solution = solve_first(grid, likelihood, bin_start, cost, available, risk, n_stages, rounded=rounded)
        if solution.certified:
            return solution
        n_stages = min(2 * n_stages, len(cost))


def solve_first(
    grid: Grid,
    likelihood: Floats,
    bin_start: Ints,
    cost: Floats,
    available: Floats,
    risk: Floats,
    n_stages: int,
    *,
    rounded: bool,
) -> Solution:
    """Solve the program for the first features only, and say by `gap` whether the others could matter."""
    refuse_too_large(risk.shape[0], grid.steps, n_stages)
    stop = np.ascontiguousarray((grid.points @ risk).min(axis=1))
    told = grid.points @ risk.min(axis=1)  # the cost when the true class is known
    going_on = np.empty((max(n_stages, 2), len(stop)))
    if n_stages == len(cost):  # without any feature left there is nothing to bound
        values = stop[None].copy()
    else:
        values = np.stack([stop, np.minimum(stop, cost[n_stages:].min() + told)])
    _run(grid, likelihood, bin_start, cost[:n_stages], available, stop, values, going_on, rounded)
    return Solution(going_on[:n_stages], stop, float(np.max(values[0] - values[-1])))


def _run(
    grid: Grid,
    likelihood: Floats,
    bin_start: Ints,
    cost: Floats,
    available: Floats,
    stop: Floats,
    values: Floats,
    going_on: Floats,
    rounded: bool,
) -> None:
    """Turn each row of `values` from costs at the last stage into costs at stage 0; `going_on` is of the first."""
    n_classes = likelihood.shape[1]
    if n_classes > 3 or rounded:
        for k in range(len(cost) - 1, -1, -1):
            bins = likelihood[bin_start[k] : bin_start[k + 1]]
            going_on[k] = go_on_any(grid, bins, float(cost[k]), float(available[k]), values, rounded)[0]
            np.minimum(stop, values, out=values)
        return
    for first, last in _slices(len(stop) * n_classes, bin_start, len(cost)):
        here = going_on[first:last]
        for value, out in zip(values, (here, np.empty((1, len(stop)))), strict=False):
            if len(stop) * n_classes * int(bin_start[last] - bin_start[first]) > SLICE:  # then it is a single stage
                bins = likelihood[bin_start[first] : bin_start[last]]
                go_on_by_bins(grid.steps, bins, float(cost[first]), float(available[first]), value, out[0])
                np.minimum(stop, value, out=value)
                continue
            solver = solve_two if n_classes == 2 else solve_three
            solver(likelihood, bin_start[first : last + 1], cost[first:last], available[first:last], stop, value, out)


def go_on_by_bins(steps: int, bins: Floats, cost: float, have: float, value: Floats, out: Floats) -> None:
    """Turn `value` at the next stage into the cost of going on, some bins at a time; `out` is the same."""
    add = add_bins_two if bins.shape[1] == 2 else add_bins_three
    out[:] = have * cost + (1.0 - have) * value
    step = max(SLICE // (len(value) * bins.shape[1]), 1)
    for begin in range(0, len(bins), step):
        check()
        add(bins, begin, min(begin + step, len(bins)), steps, have, value, out)
    value[:] = out


def go_on_any(grid: Grid, bins: Floats, cost: float, have: float, values: Floats, rounded: bool) -> Floats:
    """Turn `values` at the next stage into the costs of going on, some points of the grid at a time."""
    n_points, n_classes = grid.points.shape
    after = np.empty(values.shape)
    point = np.zeros(n_classes, np.int64)
    point[-1] = grid.steps
    step = max(SLICE // (n_classes * len(bins)), 1)
    for begin in range(0, n_points, step):
        check()
        part = np.empty((len(values), min(step, n_points - begin)))
        expect_any(bins, cost, have, values, grid.ranks, rounded, point, begin, part)
        after[:, begin : begin + step] = part
    values[:] = after
    return after


def _slices(n_terms: int, bin_start: Ints, n_stages: int) -> Iterator[tuple[int, int]]:
    """The stages from last to first in slices of bounded work; Ctrl-C ends between two of them."""
    last = n_stages
    while last > 0:
        check()
        first = last - 1
        while first > 0 and n_terms * int(bin_start[last] - bin_start[first - 1]) <= SLICE:
            first -= 1
        yield first, last
        last = first


def intervals(solution: Solution) -> Floats:
    """For two classes: the log odds of class 0 between which going on is better, one pair per stage (Theorem 3).

    The cost of going on is concave and the cost of stopping has two straight parts, so this is one interval. An empty
    one is (inf, -inf).
    """
    steps = solution.stop.size - 1
    gain = solution.stop - solution.going_on
    better = gain > 1e-12 * solution.stop.max()  # a free feature that tells nothing is not worth a rounding error
    result = np.empty((len(gain), 2))
    result[:] = np.inf, -np.inf
    for k in np.flatnonzero(better.any(axis=1)):
        inside = np.flatnonzero(better[k])
        result[k] = _edge(gain[k], inside[0], -1, steps), _edge(gain[k], inside[-1], 1, steps)
    return result


def _edge(gain: Floats, inside: int, step: int, steps: int) -> float:
    """Log odds where the gain crosses zero between the point `inside` and its neighbour outside."""
    outside = inside + step
    if not 0 <= outside <= steps:
        return float(step * np.inf)
    share = gain[inside] / (gain[inside] - min(gain[outside], 0.0))
    place = (inside + step * share) / steps
    with np.errstate(divide="ignore"):
        return float(np.log(place) - np.log1p(-place))
