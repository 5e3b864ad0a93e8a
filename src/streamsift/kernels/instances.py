"""Kernels of one instance at a time: class counts in bins, the value between grid points, and the way of a row.

Features may have different numbers of bins, so bins are laid out flat. Feature j has the cut points
cuts[cut_start[j]:cut_start[j + 1]], in increasing order. If it is ordered, the bin of x is the number of cuts that are
<= x; if it is categorical, the cuts are its categories and the bin is the position of x. Its bins are the columns
bin_start[j]:bin_start[j + 1] of `counts` and the same rows of the likelihoods.

The grid over the simplex and the meaning of `shift` and `weights` are those of kernels/instance_stopping.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

UNKNOWN = -1  # the bin of a category that was not seen in training

# How to decide between stopping and going on:
INTERVAL = 0  # two classes: go on while the log odds are inside an interval
TABLE = 1  # compare with the interpolated cost of going on
ROUNDED_TABLE = 2  # round the posterior to the grid first, as the authors' program does
LINEAR = 3  # a hyperplane for each class (Eq. 15)

NO_BAD_VALUE = (-1, -1)  # what classify_* return where they met no infinite value


class Bins(NamedTuple):
    """The bins of all features, laid out flat as described above."""

    cuts: Floats  # (n_cuts,) cut points, or categories, of one feature after the other
    cut_start: Ints  # (n_features + 1,)
    categorical: Flags  # (n_features,)
    bin_start: Ints  # (n_features + 1,)


class Rows(NamedTuple):
    """Rows to classify: dense, or the three arrays of a CSR matrix. The arrays of the other kind are empty."""

    X: NDArray[Any]  # (n_rows, n_features)
    data: NDArray[Any]  # (n_stored,)
    indices: NDArray[Any]  # (n_stored,)
    indptr: NDArray[Any]  # (n_rows + 1,)
    sparse: bool


class Purchases(NamedTuple):
    """What may be bought, stage after stage."""

    order: Ints  # (n_stages,) the feature of each stage
    price: Floats  # (n_features,)


class RankTable(NamedTuple):
    """How to find a point of the grid over the simplex (instances/grid.py)."""

    steps: int  # a probability is a multiple of 1 / steps
    shift: int
    weights: Ints  # (n_classes - 1, steps + 2)


class StopRule(NamedTuple):
    """When to stop; the mode says which of the arrays are used, the others are empty."""

    mode: int  # TABLE, ROUNDED_TABLE or LINEAR
    table: Floats  # (n_stages, n_points) the expected cost of going on at each stage and grid point
    stop_cost: Floats  # (n_points,) the expected cost of stopping
    plane: Floats  # (n_stages, n_classes, n_classes) see beyond_plane
    risk: Floats  # (n_classes, n_classes) risk[i, j]: the cost of answering j when i is true


class Answers(NamedTuple):
    """What classify_* fill in; all counts start at 0."""

    choice: Ints  # (n_rows,) the class answered
    posteriors: Floats  # (n_rows, n_classes)
    n_evaluated: Ints  # (n_rows,) how many features were bought for the row
    cost: Floats  # (n_rows,) what they cost together
    bought: Ints  # (n_stages,) how many rows bought the feature of each stage


@kernel
def bin_of(x: float, cuts: Floats, first: int, last: int, categorical: bool) -> int:
    """The bin of x among cuts[first:last], or UNKNOWN."""
    low, high = first, last
    while high - low > 4:  # halve down to a few cuts, which are faster compared one by one
        middle = (low + high) // 2
        if cuts[middle] <= x:
            low = middle + 1
        else:
            high = middle
    while low < high and cuts[low] <= x:
        low += 1
    if not categorical:
        return low - first
    if low > first and cuts[low - 1] == x:
        return low - 1 - first
    return UNKNOWN


@kernel
def count_rows(X: NDArray[Any], codes: Ints, bins: Bins, counts: Floats) -> None:
    """Count the values of dense rows by class and bin; NaN is not counted."""
    for i in range(X.shape[0]):
        of_class = counts[codes[i]]
        for j in range(X.shape[1]):
            x = float(X[i, j])
            if x == x:
                b = bin_of(x, bins.cuts, bins.cut_start[j], bins.cut_start[j + 1], bins.categorical[j])
                of_class[bins.bin_start[j] + b] += 1.0


@kernel
def count_sparse_rows(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], codes: Ints, bins: Bins, counts: Floats,
    skipped: Floats,
) -> None:  # fmt: skip
    """Count the stored values of CSR rows; skipped[c, j] counts every stored value, so that zeros can be inferred."""
    for i in range(codes.size):
        c = codes[i]
        for k in range(indptr[i], indptr[i + 1]):
            j, x = indices[k], float(data[k])
            skipped[c, j] += 1.0
            if x == x:
                b = bin_of(x, bins.cuts, bins.cut_start[j], bins.cut_start[j + 1], bins.categorical[j])
                counts[c, bins.bin_start[j] + b] += 1.0


@kernel
def bins_of_zero(bins: Bins, zero: Ints) -> None:
    """zero[j]: the bin of the value 0 of feature j."""
    for j in range(zero.size):
        zero[j] = bin_of(0.0, bins.cuts, bins.cut_start[j], bins.cut_start[j + 1], bins.categorical[j])


@kernel
def interpolate(
    posterior: Floats, steps: int, shift: int, weights: Ints, value: Floats, tail: Floats, raised: Ints
) -> float:
    """The value at any posterior, linear over Freudenthal's triangles; tail and raised are scratch, one per class."""
    n = posterior.size
    if n == 3:  # the same, written out: t are the tail sums, r their floors, f their fractions
        t2, t3 = min((posterior[1] + posterior[2]) * steps, float(steps)), min(posterior[2] * steps, float(steps))
        r2 = np.int64(min(t2, steps - 0.5))
        r3 = min(np.int64(t3), r2)
        f2, f3 = t2 - r2, t3 - r3
        here = value.size - (r2 + 1) * (r2 + 2) // 2 + r2 - r3
        far = here - r2 - 2
        bend = value[far + 1 if f2 >= f3 else here - 1]
        return float(value[here] + max(f2, f3) * (bend - value[here]) + min(f2, f3) * (value[far] - bend))
    running, rank = 0.0, shift
    for i in range(n - 1, 0, -1):
        running += posterior[i]
        place = min(running * steps, float(steps))
        r = np.int64(place)
        if r == steps:  # stay inside: the triangle below holds the border too
            r -= 1
        tail[i] = place - r
        raised[i] = r
        rank += weights[i - 1, r]
    # Raising the tails in the order of decreasing fractions walks the corners of the triangle around the point. Tails
    # with equal floors have fractions that fall with i, so among equals the first is raised first.
    last, found = 1.0, 0.0
    for _ in range(n - 1):
        best = 1
        for i in range(1, n):
            if tail[i] > tail[best]:
                best = i
        share = tail[best]
        if last > share:
            found += (last - share) * value[rank]
        last = share
        rank += weights[best - 1, raised[best] + 1] - weights[best - 1, raised[best]]
        tail[best] = -1.0
    if last > 0.0:
        found += last * value[rank]
    return found


@kernel
def nearest(posterior: Floats, possible: Ints, steps: int, shift: int, weights: Ints, parts: Ints, rest: Floats) -> int:
    """The rank of the grid point by largest remainders: round down, then give what is missing to the largest rests.

    `possible` lists the classes whose probability may be above 0; `parts` is 0 at the others.
    """
    missing = steps
    for i in possible:
        place = posterior[i] * steps
        parts[i] = np.int64(place + 1e-9)  # 0.3 / 0.1 is a little below 3
        rest[i] = place - parts[i]
        missing -= parts[i]
    while missing > 0:
        best, largest = possible[0], -1.0
        for i in possible:  # chosen, not branched to
            better = rest[i] > largest
            best, largest = i if better else best, rest[i] if better else largest
        parts[best] += 1
        rest[best] -= 1.0
        missing -= 1
    rank, r = shift, np.uint64(0)
    for i in range(posterior.size - 1, 0, -1):
        r += np.uint64(parts[i])
        rank += weights[np.uint64(i - 1), r]
    return rank


@kernel
def expect_any(
    likelihood: Floats,
    cost: float,
    have: float,
    values: Floats,
    grid: RankTable,
    rounded: bool,
    point: Ints,
    begin: int,
    after: Floats,
) -> None:
    """after[v, i] = the cost of going on at one stage, for the grid points begin + i; `point` is the first of them.

    Any number of classes, interpolated, or with the posterior rounded to the grid as in the authors' program. The bins
    of the stage are the rows of `likelihood`. Each row of `values` is a cost at the next stage of its own; together
    they cost little more than one, because most of the time goes into locating a posterior on the grid. Of many
    classes most are 0 at a grid point: only the others are visited. `point` moves on to the point behind the last.
    """
    n, (steps, shift, weights) = likelihood.shape[1], grid
    parts, posterior = np.empty(n, np.int64), np.empty(n)
    share, scratch, expected, classes = np.empty(n), np.empty(n), np.empty(values.shape[0]), np.empty(n, np.int64)
    for i in range(after.shape[1]):
        count = 0
        for c in range(n):
            posterior[c], parts[c] = 0.0, 0
            if point[c] > 0:
                share[c] = point[c] / steps
                classes[count] = c
                count += 1
        possible = classes[:count]
        for v in range(values.shape[0]):
            expected[v] = cost
        for b in range(likelihood.shape[0]):
            total = 0.0
            for c in possible:
                posterior[c] = share[c] * likelihood[b, c]
                total += posterior[c]
            for c in possible:
                posterior[c] /= total
            if rounded:
                rank = nearest(posterior, possible, steps, shift, weights, parts, scratch)
                for v in range(values.shape[0]):
                    expected[v] += total * values[v, rank]
            else:
                for v in range(values.shape[0]):
                    expected[v] += total * interpolate(posterior, steps, shift, weights, values[v], scratch, parts)
        for v in range(values.shape[0]):
            after[v, i] = have * expected[v] + (1.0 - have) * values[v, begin + i]
        _next_point(point)


@kernel
def _next_point(point: Ints) -> None:
    """Turn a composition into the next one in lexicographic order."""
    last = point.size - 1
    spare = point[last]
    point[last] = 0
    c = last - 1
    while c >= 0 and spare == 0:
        spare = point[c]
        point[c] = 0
        c -= 1
    if c >= 0:
        point[c] += 1
        point[last] = spare - 1


@kernel
def _stored(data: NDArray[Any], indices: NDArray[Any], first: int, last: int, column: int) -> float:
    """The value of a column in one CSR row, by binary search."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < column:
            low = middle + 1
        else:
            high = middle
    return float(data[low]) if low < last and indices[low] == column else 0.0


@kernel
def normalise(log_weight: Floats, posterior: Floats) -> None:
    """Probabilities from logs of weights."""
    largest = log_weight[0]
    for c in range(1, log_weight.size):
        largest = max(largest, log_weight[c])
    total = 0.0
    for c in range(log_weight.size):
        posterior[c] = np.exp(log_weight[c] - largest)
        total += posterior[c]
    for c in range(log_weight.size):
        posterior[c] /= total


@kernel
def cheapest(posterior: Floats, risk: Floats) -> int:
    """The class with the smallest expected cost of misclassification (Eq. 8); risk[i, j]: cost of j when i is true."""
    best, least = 0, np.inf
    for j in range(risk.shape[1]):
        expected = 0.0
        for i in range(risk.shape[0]):
            expected += risk[i, j] * posterior[i]
        if expected < least:
            best, least = j, expected
    return best


@kernel
def expected_loss(posterior: Floats, risk: Floats, choice: int) -> float:
    """The expected cost of answering `choice`."""
    total = 0.0
    for i in range(posterior.size):
        total += risk[i, choice] * posterior[i]
    return total


@kernel
def beyond_plane(posterior: Floats, plane: Floats, choice: int) -> bool:
    """Eq. 15: whether the hyperplane of the chosen class says stop, and no other class by itself says go on.

    plane[j, i] is the odds of j that are wanted against i alone, -plane[j, j] how often j may fall short of their sum.
    """
    own, total = posterior[choice], 0.0
    for c in range(posterior.size):
        if c != choice:
            wanted = plane[choice, c] * posterior[c]
            if wanted > own:
                return False
            total += wanted
    return bool(total <= -plane[choice, choice] * own)


@kernel
def classify_two(
    rows: Rows, bins: Bins, purchases: Purchases, prior_odds: float, log_odds: Floats, interval: Floats, odds: Floats,
    out: Answers,
) -> tuple[int, int]:  # fmt: skip
    """Like classify_rows for two classes with INTERVAL: the log odds of class 0 are all there is to know of a row.

    log_odds[b] is what bin b adds to them, interval[k] the range in which to go on at stage k (Theorem 3). The log odds
    at the end go to `odds`, from which the caller computes choice and posteriors.
    """
    # Unpacked before the loop: reaching into tuples of arrays within it has been measured as slower.
    X, data, indices, indptr, sparse = rows
    cuts, cut_start, categorical, bin_start = bins
    n_evaluated, cost, bought, (order, price) = out.n_evaluated, out.cost, out.bought, purchases
    for i in range(odds.size):
        known, paid, n = prior_odds, 0.0, 0
        for k in range(bought.size):
            if not (interval[k, 0] < known < interval[k, 1]):
                break
            j = order[k]
            x = _stored(data, indices, indptr[i], indptr[i + 1], j) if sparse else float(X[i, j])
            if x != x:  # missing: it costs nothing and says nothing
                continue
            if abs(x) == np.inf:
                return i, j
            n += 1
            paid += price[j]
            bought[k] += 1
            b = bin_of(x, cuts, cut_start[j], cut_start[j + 1], categorical[j])
            if b != UNKNOWN:
                known += log_odds[bin_start[j] + b]
        odds[i], cost[i], n_evaluated[i] = known, paid, n
    return NO_BAD_VALUE


@kernel
def classify_three(
    rows: Rows, bins: Bins, purchases: Purchases, log_prior: Floats, log_likelihood: Floats, rule: StopRule, steps: int,
    out: Answers,
) -> tuple[int, int]:  # fmt: skip
    """Like classify_rows for three classes with TABLE: what is known of a row is three numbers, too few for an array.

    Each sum is that of `normalise`, `expected_loss` and `interpolate`, so that single instances get the same decisions.
    """
    X, data, indices, indptr, sparse = rows
    cuts, cut_start, categorical, bin_start = bins
    choice, posteriors, n_evaluated, cost, bought = out
    (order, price), table, risk = purchases, rule.table, rule.risk
    a0, a1, a2 = risk[0, 0], risk[1, 0], risk[2, 0]
    b0, b1, b2 = risk[0, 1], risk[1, 1], risk[2, 1]
    c0, c1, c2 = risk[0, 2], risk[1, 2], risk[2, 2]
    n_points, n_stages, last = table.shape[1], bought.size, steps - 0.5
    for i in range(n_evaluated.size):
        w0, w1, w2 = log_prior[0], log_prior[1], log_prior[2]
        p0, p1, p2, first, second, third, paid, n = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
        for k in range(n_stages + 1):
            largest = max(max(w0, w1), w2)
            p0, p1, p2 = np.exp(w0 - largest), np.exp(w1 - largest), np.exp(w2 - largest)
            total = p0 + p1 + p2
            p0, p1, p2 = p0 / total, p1 / total, p2 / total
            # Expected cost of answering each class (Eq. 8).
            first, second, third = a0 * p0 + a1 * p1 + a2 * p2, b0 * p0 + b1 * p1 + b2 * p2, c0 * p0 + c1 * p1 + c2 * p2
            if k == n_stages:
                break
            t2, t3 = min((p1 + p2) * steps, float(steps)), min(p2 * steps, float(steps))
            r2 = np.int64(np.int32(min(t2, last)))  # by way of int32, for which there is one instruction
            r3 = min(np.int64(np.int32(t3)), r2)
            f2, f3 = t2 - r2, t3 - r3
            here = n_points - (r2 + 1) * (r2 + 2) // 2 + r2 - r3
            far = here - r2 - 2
            corner, bend = table[k, np.uint64(here)], table[k, np.uint64(far + 1 if f2 >= f3 else here - 1)]
            going_on = corner + max(f2, f3) * (bend - corner) + min(f2, f3) * (table[k, np.uint64(far)] - bend)
            if min(min(first, second), third) <= going_on:
                break
            j = order[k]
            x = _stored(data, indices, indptr[i], indptr[i + 1], j) if sparse else float(X[i, j])
            if x != x:
                continue
            if abs(x) == np.inf:
                return i, j
            n += 1
            paid += price[j]
            bought[k] += 1
            b = bin_of(x, cuts, cut_start[j], cut_start[j + 1], categorical[j])
            if b != UNKNOWN:
                evidence = log_likelihood[bin_start[j] + b]
                w0, w1, w2 = w0 + evidence[0], w1 + evidence[1], w2 + evidence[2]
        posteriors[i, 0], posteriors[i, 1], posteriors[i, 2] = p0, p1, p2
        choice[i] = 0 if first <= second and first <= third else (1 if second <= third else 2)
        n_evaluated[i], cost[i] = n, paid
    return NO_BAD_VALUE


@kernel
def classify_rows(
    rows: Rows, bins: Bins, purchases: Purchases, log_prior: Floats, log_likelihood: Floats, rule: StopRule,
    grid: RankTable, out: Answers,
) -> tuple[int, int]:  # fmt: skip
    """Classify rows by TABLE, ROUNDED_TABLE or LINEAR, reading of each only the values its own decisions ask for.

    log_prior[c] = log P(c), log_likelihood[b, c] = log P(bin b | c). Returns row and column of the first infinite value
    met, or NO_BAD_VALUE.
    """
    X, data, indices, indptr, sparse = rows
    cuts, cut_start, categorical, bin_start = bins
    (order, price), (mode, table, stop_cost, plane, risk) = purchases, rule
    (choice, posteriors, n_evaluated, cost, bought), (steps, shift, weights) = out, grid
    n_classes = log_prior.size
    log_weight, scratch, parts = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes, np.int64)
    every = np.arange(n_classes)
    for i in range(choice.size):
        posterior = posteriors[i]
        for c in range(n_classes):
            log_weight[c] = log_prior[c]
        for k in range(bought.size):
            # Written out: a function with all these arrays as arguments takes longer to call than to run.
            normalise(log_weight, posterior)
            if mode == ROUNDED_TABLE:
                rank = nearest(posterior, every, steps, shift, weights, parts, scratch)
                stop = stop_cost[rank] <= table[k, rank]
            else:
                best = cheapest(posterior, risk)
                if mode == LINEAR:
                    stop = beyond_plane(posterior, plane[k], best)
                else:
                    going_on = interpolate(posterior, steps, shift, weights, table[k], scratch, parts)
                    stop = expected_loss(posterior, risk, best) <= going_on
            if stop:
                break
            j = order[k]
            x = _stored(data, indices, indptr[i], indptr[i + 1], j) if sparse else float(X[i, j])
            if x != x:
                continue
            if abs(x) == np.inf:
                return i, j
            n_evaluated[i] += 1
            cost[i] += price[j]
            bought[k] += 1
            b = bin_of(x, cuts, cut_start[j], cut_start[j + 1], categorical[j])
            if b != UNKNOWN:
                for c in range(n_classes):
                    log_weight[c] += log_likelihood[bin_start[j] + b, c]
        normalise(log_weight, posterior)
        choice[i] = cheapest(posterior, risk)
    return NO_BAD_VALUE
