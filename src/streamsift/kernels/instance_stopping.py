"""Kernels of optimal stopping: the dynamic program of Eq. 12 on a grid over the simplex of class probabilities.

Grid points are the compositions of `steps` into one part per class, in lexicographic order. A point is known by its
tail sums r_i = a_i + ... + a_N (i = 2..N); its rank is shift + sum over i of weights[i - 2, r_i] (see
instances/grid.py). Between grid points the value is interpolated linearly over Freudenthal's triangles, which for two
classes is the line between neighbours. Values are concave, so the interpolated value is never too high. Two and three
classes are here, any number is in kernels/instances.py.

A value that is missing costs nothing and tells nothing: with `available[k]` the share of rows that have the feature,
the cost of going on at stage k is that of Eq. 12 with this probability, else the value at the next stage.

The bins of stage k are the rows first[k]:first[k + 1] of `likelihood`, P(bin | class) by class. Each solver fills
`going_on[k]` with the expected cost of continuing at stage k (only if it has more than one row; otherwise the row is
scratch), starting from `value`, the cost at the last stage, which it turns into the cost at stage 0. A stage of many
bins is solved a few of them at a time (`add_bins_two`, `add_bins_three`), with the same digits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def add_bins_two(likelihood: Floats, begin: int, end: int, steps: int, have: float, value: Floats, out: Floats) -> None:
    """Add the terms of the bins begin:end of one stage to `out`; two classes."""
    last = steps - 0.5  # the border belongs to the cell before it
    # Eq. 12: going_on(p) = cost + sum_b P(b | p) value(posterior after b), where P(b | p) = sum_c p_c P(b | c);
    # the feature is there with probability `have`. `total` is have P(b | p), `place` the posterior in grid steps.
    for b in range(begin, end):
        d0, d1 = have / steps * likelihood[b, 0], have / steps * likelihood[b, 1]
        for i in range(steps + 1):
            mine = i * d0
            total = mine + (steps - i) * d1
            place = mine / total * steps
            # By way of int32, for which there is a vector instruction; unsigned indices need no sign test.
            j = np.int64(np.int32(min(place, last)))
            here, there = value[np.uint64(j)], value[np.uint64(j + 1)]
            out[i] += total * (here + (place - j) * (there - here))


@kernel
def solve_two(
    likelihood: Floats, first: Ints, cost: Floats, available: Floats, stop: Floats, value: Floats, going_on: Floats
) -> None:
    """Two classes; grid point i has the probability i / steps for class 0."""
    steps = stop.size - 1
    for k in range(cost.size - 1, -1, -1):
        out, have = going_on[k if going_on.shape[0] > 1 else 0], available[k]
        for i in range(steps + 1):
            out[i] = have * cost[k] + (1.0 - have) * value[i]
        add_bins_two(likelihood, first[k], first[k + 1], steps, have, value, out)
        for i in range(steps + 1):
            value[i] = min(stop[i], out[i])


@kernel
def add_bins_three(
    likelihood: Floats, begin: int, end: int, steps: int, have: float, value: Floats, out: Floats
) -> None:
    """Add the terms of the bins begin:end of one stage to `out`; three classes."""
    n_points, share, last = value.size, have / steps, steps - 0.5
    for b in range(begin, end):
        d0, d1, d2 = share * likelihood[b, 0], share * likelihood[b, 1], share * likelihood[b, 2]
        i = 0
        for a0 in range(steps + 1):
            w0, rest = a0 * d0, steps - a0
            for a1 in range(rest + 1):
                w2 = (rest - a1) * d2
                w12 = a1 * d1 + w2
                total = w0 + w12
                scale = steps / total
                t2, t3 = w12 * scale, w2 * scale  # tail sums
                r2 = np.int64(np.int32(min(t2, last)))
                r3 = min(np.int64(np.int32(t3)), r2)
                f2, f3 = t2 - r2, t3 - r3
                # Rank of the corner (r2, r3): points with larger tails come first in lexicographic order.
                here = n_points - (r2 + 1) * (r2 + 2) // 2 + r2 - r3
                far = here - r2 - 2  # both tails one higher
                # The third corner has the tail with the larger fraction one higher. Chosen, not branched to.
                middle = far + 1 if f2 >= f3 else here - 1
                high, low = max(f2, f3), min(f2, f3)
                corner = value[np.uint64(here)]
                bend = value[np.uint64(middle)]
                out[i] += total * (corner + high * (bend - corner) + low * (value[np.uint64(far)] - bend))
                i += 1


@kernel
def solve_three(
    likelihood: Floats, first: Ints, cost: Floats, available: Floats, stop: Floats, value: Floats, going_on: Floats
) -> None:
    """Three classes; the grid has (steps + 1)(steps + 2) / 2 points."""
    n_points = stop.size
    steps = int(np.sqrt(2.0 * n_points)) - 1
    for k in range(cost.size - 1, -1, -1):
        out, have = going_on[k if going_on.shape[0] > 1 else 0], available[k]
        for i in range(n_points):
            out[i] = have * cost[k] + (1.0 - have) * value[i]
        add_bins_three(likelihood, first[k], first[k + 1], steps, have, value, out)
        for i in range(n_points):
            value[i] = min(stop[i], out[i])
