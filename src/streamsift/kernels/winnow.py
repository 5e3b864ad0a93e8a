"""Kernels of EFS: modified balanced Winnow, one row after the other.

A weight w stands for |w| * 2**(-RANGE * halvings), so that weights may shrink without end. A weight with halvings has a
minus sign, and products keep it: where only its size beside the threshold matters it is as good as 0 (its size is
below 2**-128), which then is max(w, 0) and needs no second array. Dense rows see to the ranges of all weights once in
`interval` rows, within which no weight can leave what a float can hold; sparse rows when a weight is about to.

A row is scaled by its own least and largest value as (x - low) * slope; rows of extreme spread are multiplied by a
power of 2 before, which keeps them from overflow. The margin needs no scaled row: it is the sum of (x - low) (u - v),
over the spread. As nearly every row may lead to an update, the walk over the features that updates by one row also
prepares the margin of the next.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel, summing_kernel
from streamsift.kernels.intrinsics import fetch

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Indices = NDArray[np.integer]
Places = NDArray[np.uint64]  # unsigned: indexing then needs no test for negative numbers

RANGE = 512
BACK = 2.0**RANGE
SMALL, UP = 2.0**-192, 2.0**384  # smaller weights are multiplied by BACK, larger ones with halvings divided
DOWN = 2.0**-700  # in sparse rows, a weight below it makes the kernel bring all weights into range
LARGE = 2.0**500  # weights stop growing here: sums over millions of features stay finite
BITS_DOWN, BITS_UP = 500.0, 300.0  # how far weights may go between two calls of _into_range, each makes up for RANGE

HUGE_SPREAD, TINY_SPREAD = 2.0**100, 2.0**-300
STRANDS = 8  # extremes are searched for in so many parts of a row side by side
LINE = 8  # values that come from memory together


class WinnowModels(NamedTuple):
    """Model m predicts by u[m] - v[m]; a weight is |w| * 2**(-RANGE * halvings), as said above."""

    u: Floats  # (n_models, n_features) weights that vote for the class
    v: Floats  # (n_models, n_features) weights that vote against it
    u_halvings: Ints  # (n_models, n_features)
    v_halvings: Ints  # (n_models, n_features)


class WinnowRule(NamedTuple):
    """When to learn a row and by how much; x is the scaled value, from 0 to 1.

    A row of sign y is learnt where y (score - threshold) <= margin. Then each winner (u if y = 1, else v) is multiplied
    by promotion (1 + x), each loser by demotion max(1 - x, floor).
    """

    promotion: float
    demotion: float
    threshold: float
    margin: float
    floor: float


def look_interval(promotion: float, demotion: float, floor: float) -> int:
    """Rows after which weights must be brought into range.

    1 - x is at least the floor or, where there is none, 0 or (x being a product) at least 2**-108.

    >>> look_interval(1.5, 0.5, 0.01)
    64
    """
    down = -math.log2(demotion * (floor or 2.0**-108))
    return int(max(min(64.0, BITS_DOWN / down, BITS_UP / math.log2(2.0 * promotion)), 1.0))


@kernel
def _into_range(w: Floats, halvings: Ints) -> None:
    """Bring weights that are too small, or that have become large again, to the middle of the range."""
    for j in range(w.size):
        size = abs(w[j])
        if 0.0 < size < SMALL:
            w[j] = -size * BACK
            halvings[j] += 1
        elif size > UP and halvings[j] > 0:
            halvings[j] -= 1
            w[j] = size / BACK if halvings[j] == 0 else -size / BACK
        elif size > LARGE:
            w[j] = LARGE


@kernel
def _extremes(x: Floats, lows: Floats, highs: Floats) -> tuple[float, float]:
    """The least and the largest value; the strands of a row are compared side by side, which is vectorised."""
    n = x.size // STRANDS
    low, high = x[0], x[0]
    if n >= STRANDS:
        for j in range(n):
            least = largest = x[j]
            for k in range(1, STRANDS):
                value = x[j + k * n]
                least = value if value < least else least
                largest = value if value > largest else largest
            lows[j] = least  # kept per position: a single running minimum would have to wait for itself
            highs[j] = largest
        for j in range(n):
            low = lows[j] if lows[j] < low else low
            high = highs[j] if highs[j] > high else high
    for j in range(STRANDS * n if n >= STRANDS else 0, x.size):
        low = x[j] if x[j] < low else low
        high = x[j] if x[j] > high else high
    return low, high


@kernel
def unit_of(low: float, high: float) -> float:
    """The power of 2 that a row with these extremes has to be multiplied by: nearly always 1."""
    # Halves, because high - low itself may overflow.
    if 0.5 * high - 0.5 * low > HUGE_SPREAD:
        return 2.0**-900
    return 2.0**700 if 0.0 < high - low < TINY_SPREAD else 1.0


@kernel
def _scaling(low: float, high: float) -> tuple[float, float]:
    """(spread, slope) of a row; the largest value becomes a trifle more than 1, never less, however it is rounded."""
    spread = high - low
    return spread, (1.0 + 2.0**-52) / spread if spread > 0.0 else 0.0


@summing_kernel
def _prepare(x: Floats, low: float, u: Floats, v: Floats) -> float:
    """The sum behind the margin of a row."""
    total = 0.0
    for j in range(x.size):
        total += (x[j] - low) * (max(u[j], 0.0) - max(v[j], 0.0))
    return total


@summing_kernel
def _update_and_prepare(
    x: Floats,
    low: float,
    slope: float,
    winner: Floats,
    loser: Floats,
    rule: WinnowRule,
    following: Floats,
    its_low: float,
) -> float:
    """Learn one row, and return the sum of winner - loser behind the margin of the following row."""
    promotion, demotion, floor = rule.promotion, rule.demotion, rule.floor
    total = 0.0
    for j in range(x.size):
        here = (x[j] - low) * slope
        rest = 1.0 - here
        rest = rest if rest > floor else floor
        above = here > 0.0  # a feature at the least value of the row is not touched; chosen, not branched to
        won = winner[j] * (promotion * (1.0 + here) if above else 1.0)
        lost = loser[j] * (demotion * rest if above else 1.0)
        winner[j] = won
        loser[j] = lost
        won = won if won > 0.0 else 0.0
        lost = lost if lost > 0.0 else 0.0
        total += (following[j] - its_low) * (won - lost)
    return total


@kernel
def _update_share(
    x: Floats, low: float, slope: float, winner: Floats, loser: Floats, rule: WinnowRule, share: float
) -> None:
    """Learn a share of one row: all factors to the power of it."""
    for j in range(x.size):
        here = (x[j] - low) * slope
        if here > 0.0:
            winner[j] *= (rule.promotion * (1.0 + here)) ** share
            loser[j] *= (rule.demotion * max(1.0 - here, rule.floor)) ** share


@kernel
def efs_rows(
    X: Floats,
    signs: Floats,
    share: Floats,
    models: WinnowModels,
    rule: WinnowRule,
    first_row: int,
    interval: int,
) -> bool:
    """Learn dense rows, of which the first is number `first_row` of the stream.

    signs[m] are the labels of model m, and share[i] is how much of a row is learnt. False if a value is not finite, or
    the unit of a row not 1.
    """
    n_rows, n_features = X.shape
    lows, highs = np.empty(n_features), np.empty(n_features)
    for m in range(models.u.shape[0]):
        um, vm, uh, vh = models.u[m], models.v[m], models.u_halvings[m], models.v_halvings[m]
        low, high = _extremes(X[0], lows, highs)
        total = _prepare(X[0], low, um, vm)
        for i in range(n_rows):
            if not (abs(total) < np.inf and unit_of(low, high) == 1.0):
                return False
            spread, slope = _scaling(low, high)
            score = total / spread if spread > 0.0 else 0.0
            sign, x, its_low = signs[m, i], X[i], low
            following, later = X[min(i + 1, n_rows - 1)], X[min(i + 2, n_rows - 1)]
            low, high = _extremes(following, lows, highs)
            learns, looks = not sign * (score - rule.threshold) > rule.margin, (first_row + i) % interval == 0
            if learns and share[i] < 1.0:
                winner, loser = (um, vm) if sign > 0.0 else (vm, um)
                _update_share(x, its_low, slope, winner, loser, rule, share[i])
                total = _prepare(following, low, um, vm)
            elif learns:
                for j in range(0, n_features, LINE):  # the row after next comes from memory while this one is learnt
                    fetch(later, j)
                winner, loser = (um, vm) if sign > 0.0 else (vm, um)
                total = sign * _update_and_prepare(x, its_low, slope, winner, loser, rule, following, low)
            if looks:  # also where nothing is learnt: what was learnt since the last time may be close to the limit
                _into_range(um, uh)
                _into_range(vm, vh)
            if looks or not learns:
                total = _prepare(following, low, um, vm)
    return True


@kernel
def _positive_part(
    data: Floats, indices: Indices, first: int, last: int, row: Floats, index: Places, values: Floats
) -> tuple[int, float, float]:
    """List the values of a sparse row above its least one, less that; also return (spread, slope) of the row.

    `row` is 0 before and after.
    """
    low = 0.0 if last - first < row.size else data[first]
    high = low
    for k in range(first, last):
        value = data[k]
        low = value if value < low else low
        high = value if value > high else high
    unit = unit_of(low, high)
    shift = low * unit
    spread, slope = _scaling(shift, high * unit)
    n = 0
    if low == 0.0:
        for k in range(first, last):
            index[n] = np.uint64(indices[k])
            values[n] = data[k] * unit
            n += data[k] > 0.0
        return n, spread, slope
    for k in range(first, last):  # what is not stored is above the least value: the row has to be written out
        row[indices[k]] = data[k]
    for j in range(row.size):
        value = row[j] * unit - shift
        row[j] = 0.0
        if value > 0.0:
            index[n] = np.uint64(j)
            values[n] = value
            n += 1
    return n, spread, slope


@kernel
def _update_some(
    index: Places,
    values: Floats,
    n: int,
    slope: float,
    winner: Floats,
    loser: Floats,
    rule: WinnowRule,
    share: float,
) -> int:
    """Learn a share of the n listed values of a sparse row; return how many weights are about to leave their range."""
    promotion, demotion, floor = rule.promotion, rule.demotion, rule.floor
    beyond = 0
    for k in range(n):
        j = index[k]
        here = values[k] * slope
        rest = 1.0 - here
        up, down = promotion * (1.0 + here), demotion * (rest if rest > floor else floor)
        if share < 1.0:
            up, down = up**share, down**share
        won = winner[j] * up
        lost = loser[j] * down
        winner[j] = won
        loser[j] = lost
        beyond += (abs(won) > UP) | (abs(lost) < DOWN)
    return beyond


@kernel
def _lead(u: Floats, v: Floats, j: int) -> float:
    """By how much u is ahead of v."""
    return float(max(u[j], 0.0) - max(v[j], 0.0))


@kernel
def efs_sparse_rows(
    data: Floats,
    indices: Indices,
    indptr: Indices,
    signs: Floats,
    share: Floats,
    models: WinnowModels,
    rule: WinnowRule,
) -> None:
    """Learn CSR rows at a cost of their non-zeros, unless a row has negative values: its zeros then are above 0."""
    n_features = models.u.shape[1]
    index, x, row = np.empty(n_features + 1, np.uint64), np.empty(n_features + 1), np.zeros(n_features)
    for i in range(indptr.size - 1):
        n, spread, slope = _positive_part(data, indices, indptr[i], indptr[i + 1], row, index, x)
        for m in range(models.u.shape[0]):
            sign, um, vm = signs[m, i], models.u[m], models.v[m]
            # sum of x (u - v), in four sums side by side: additions need not wait for each other
            s0 = s1 = s2 = s3 = 0.0
            for k in range(0, n - 3, 4):
                s0 += x[k] * _lead(um, vm, index[k])
                s1 += x[k + 1] * _lead(um, vm, index[k + 1])
                s2 += x[k + 2] * _lead(um, vm, index[k + 2])
                s3 += x[k + 3] * _lead(um, vm, index[k + 3])
            for k in range(n & ~3, n):
                s0 += x[k] * _lead(um, vm, index[k])
            score = ((s0 + s1) + (s2 + s3)) / spread if spread > 0.0 else 0.0
            if sign * (score - rule.threshold) > rule.margin:
                continue
            winner, loser = (um, vm) if sign > 0.0 else (vm, um)
            if _update_some(index, x, n, slope, winner, loser, rule, share[i]) > 0:
                _into_range(um, models.u_halvings[m])
                _into_range(vm, models.v_halvings[m])
