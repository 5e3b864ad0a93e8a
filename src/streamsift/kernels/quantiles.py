"""Kernels of the quantile summary: merge sorted values into lists of tuples, merge lists, count bins.

A list of tuples, sorted by key, is an int64 array (3, n) plus class weights (n_classes, n):

    KEY    the value v_i, as a key (kernels/sorting.py)
    COUNT  the rows that stand here: those of v_i itself and of lower values that it absorbed
    GAP    how many rows at most stand here or further up though their value lies below v_i and above v_(i-1)

With R_i the sum of COUNT up to i, the true number of rows <= x lies in [R_i, R_i + GAP_(i+1)] for v_i <= x < v_(i+1).
Keeping every GAP <= limit keeps every rank error <= limit. (In the paper's terms GAP is r+ - r- - w of the tuple
that may be met below v_i.)

What is merged in are atoms: exact values with a count, a class and a weight each, sorted by key.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel
from streamsift.kernels.sorting import WIDTH

KEY, COUNT, GAP = 0, 1, 2
N_FIELDS = 3

_TOP32: Any = np.int32(0x7F800000)  # key of infinity: every larger one is a missing value
_TOP64: Any = np.int64(0x7FF0000000000000)
_LAST = 0x7FFFFFFFFFFFFFFF

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Lists(NamedTuple):
    """The lists of all features: tuples (n_features, 3, room), weights (n_features, n_classes, room)."""

    tuples: Ints
    weights: Floats
    sizes: Ints
    exact: NDArray[np.bool_]  # no tuple has absorbed another


class Ragged(NamedTuple):
    """Lists one behind the other: feature j has columns start[j]:start[j + 1]."""

    start: Ints
    tuples: Ints  # (3, total)
    weights: Floats  # (n_classes, total)


class Atoms(NamedTuple):
    """Exact values sorted by key; of each array the first n entries count, n is passed beside."""

    keys: Ints
    counts: Ints
    classes: Ints
    weights: Floats


@kernel
def _n_present(keys: NDArray[Any], start: int, n: int, column: int) -> int:
    """How many of the n sorted keys from row `start` on, in one column of a block, stand for values."""
    top = _TOP32 if keys.itemsize == 4 else _TOP64
    if n == 0 or keys[(start + n - 1) * WIDTH + column] <= top:
        return n
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if keys[(start + middle) * WIDTH + column] <= top:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _whole_run(keys: NDArray[Any], start: int, n: int, column: int, most: int, out: Ints, counts: Ints) -> int:
    """One column's sorted run as (value, count); -1 if there are more than `most` different values."""
    size = 0
    for i in range(start, start + n):
        k = keys[i * WIDTH + column]
        if size > 0 and out[size - 1] == k:
            counts[size - 1] += 1
        elif size == most:
            return -1
        else:
            out[size], counts[size] = k, 1
            size += 1
    return size


@kernel
def _thin(keys: NDArray[Any], start: int, n: int, stride: int, out: NDArray[Any]) -> int:
    """Every stride-th sorted row of a block, turned so that each column's values lie side by side in `out`.

    A group of `stride` neighbours stands at its middle value, so no rank moves by more than stride / 2.
    """
    size = 0
    for first in range(0, n, stride):
        middle = (start + first + min(stride, n - first) // 2) * WIDTH
        for w in range(WIDTH):
            out[w, size] = keys[middle + w]
        size += 1
    return size


@kernel
def _merge_run(atoms: Atoms, n: int, run_keys: Ints, run_counts: Ints, n_run: int, label: int) -> int:
    """Merge one more run into n atoms, in place, from the back."""
    keys, counts, classes, _ = atoms
    i, j, k = n - 1, n_run - 1, n + n_run - 1
    while i >= 0 and j >= 0:
        # if keys[i] > run_keys[j]: move atom i, else: move run j. Without a branch, which nothing could predict.
        a, b = keys[i], run_keys[j]
        older = a > b
        keys[k] = a if older else b
        counts[k] = counts[i] if older else run_counts[j]
        classes[k] = classes[i] if older else label
        i -= int(older)
        j -= int(not older)
        k -= 1
    while j >= 0:
        keys[j], counts[j], classes[j] = run_keys[j], run_counts[j], label
        j -= 1
    return n + n_run


@kernel
def _absorb(
    old: Ints, old_weights: Floats, n_old: int, atoms: Atoms, n_atoms: int, decay: float, limit: int, out: Ints,
    out_weights: Floats,
) -> int:  # fmt: skip
    """Merge atoms into a list whose weights first decay; return the new length. `out` has room for all.

    A tuple is absorbed by its successor where the successor's gap stays <= limit (never, if limit < 0).
    """
    keys, counts, classes, weights = atoms
    n_classes = out_weights.shape[0]
    pending = np.zeros(n_classes, np.float64)  # class weights of the tuple not yet written
    key, count, gap = 0, 0, 0
    size, j = -1, 0  # size: tuples written; -1 while there is none, not even pending
    for i in range(n_old + 1):
        if i < n_old:
            next_key, next_gap = old[KEY, i], old[GAP, i]
        else:
            next_key, next_gap = _LAST, 0
        while j < n_atoms and (keys[j] < next_key or i == n_old):
            if keys[j] == key and size >= 0:
                count += counts[j]
            else:
                if count + next_gap > limit or size < 0:
                    if size >= 0:
                        out[KEY, size], out[COUNT, size], out[GAP, size] = key, count, gap
                        for c in range(n_classes):
                            out_weights[c, size] = pending[c]
                            pending[c] = 0.0
                    size += 1
                    count = 0
                # The rows absorbed, and those hidden in the next old tuple, may lie below this value.
                key, gap, count = keys[j], count + next_gap, count + counts[j]
            pending[classes[j]] += weights[j]
            j += 1
        if i == n_old:
            break
        if count + next_gap > limit or size < 0:
            if size >= 0:
                out[KEY, size], out[COUNT, size], out[GAP, size] = key, count, gap
                for c in range(n_classes):
                    out_weights[c, size] = pending[c]
                    pending[c] = 0.0
            size += 1
            count = 0
        key, gap, count = next_key, count + next_gap, count + old[COUNT, i]
        for c in range(n_classes):
            pending[c] += old_weights[c, i] * decay
        while j < n_atoms and keys[j] == key:
            count += counts[j]
            pending[classes[j]] += weights[j]
            j += 1
    if size >= 0:
        out[KEY, size], out[COUNT, size], out[GAP, size] = key, count, gap
        for c in range(n_classes):
            out_weights[c, size] = pending[c]
    return size + 1


@kernel
def _whole_atoms(
    block: NDArray[Any], starts: Ints, labels: Ints, column: int, most: int, atoms: Atoms, run_keys: Ints,
    run_counts: Ints,
) -> int:  # fmt: skip
    """Atoms of one column, nothing lost; -1 if some run has more than `most` different values."""
    n = 0
    for r in range(labels.size):
        n_run = _n_present(block, starts[r], starts[r + 1] - starts[r], column)
        n_run = _whole_run(block, starts[r], n_run, column, most, run_keys, run_counts)
        if n_run < 0:
            return -1
        n = _merge_run(atoms, n, run_keys, run_counts, n_run, labels[r])
    return n


@kernel
def _thinned_atoms(
    block: NDArray[Any], starts: Ints, labels: Ints, column: int, stride: int, thinned: NDArray[Any],
    thin_starts: Ints, atoms: Atoms, run_keys: Ints, run_counts: Ints,
) -> int:  # fmt: skip
    """Atoms of one column, every stride-th value of each run standing for `stride` rows."""
    n = 0
    for r in range(labels.size):
        present = _n_present(block, starts[r], starts[r + 1] - starts[r], column)
        n_run = (present + stride - 1) // stride
        for i in range(n_run):
            run_keys[i], run_counts[i] = thinned[column, thin_starts[r] + i], stride
        if present % stride:
            run_counts[n_run - 1] = present % stride
            # The group that missing values cut short stands at its own middle.
            run_keys[n_run - 1] = block[(starts[r] + (n_run - 1) * stride + (present % stride) // 2) * WIDTH + column]
        n = _merge_run(atoms, n, run_keys, run_counts, n_run, labels[r])
    return n


@kernel
def _bin_of(rank: int, n: int, n_bins: int) -> int:
    """The bin of a tuple below which `rank` of n rows stand: #{h >= 1 : round(h n / n_bins) <= rank}."""
    b = 0
    while b + 1 < n_bins and (2 * (b + 1) * n + n_bins) // (2 * n_bins) <= rank:
        b += 1
    return b


@kernel
def _count_list(tuples: Ints, weights: Floats, size: int, bins: Floats) -> None:
    """Add the class weights of one list to bins (n_bins, n_classes)."""
    n, rank = 0, 0
    for i in range(size):
        n += tuples[COUNT, i]
    for i in range(size):
        b = _bin_of(rank, n, bins.shape[0])
        for c in range(bins.shape[1]):
            bins[b, c] += weights[c, i]
        rank += tuples[COUNT, i]


@kernel
def _keep_list(new: Ints, new_weights: Floats, size: int, out: Ints, out_weights: Floats) -> None:
    for field in range(N_FIELDS):
        for i in range(size):
            out[field, i] = new[field, i]
    for c in range(out_weights.shape[0]):
        for i in range(size):
            out_weights[c, i] = new_weights[c, i]


@kernel
def merge_runs(
    block: NDArray[Any], starts: Ints, labels: Ints, stride: int, limit: Ints, cap: int, lists: Lists, first: int,
    width: int, done: int, bins: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Merge a block of sorted rows of weight 1 into the lists of features first + done .. first + width - 1.

    Run r, rows starts[r]:starts[r + 1] of the block, is sorted and of class labels[r]. A list that is still exact is
    given all values and stays exact while it has at most `cap` tuples; any other is given every stride-th value of
    each run and shortened within limit[feature].

    With bins (n_features, n_bins, n_classes) the merged lists are only counted, and nothing changes. Otherwise they
    are kept, and where one does not fit, the answer is its place and its length; (width, 0) means all done.
    """
    n, room = starts[-1], lists.weights.shape[2]
    atoms = Atoms(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.float64))
    run_keys, run_counts = np.empty(n, np.int64), np.empty(n, np.int64)
    new, new_weights = (
        np.empty((N_FIELDS, n + room), np.int64),
        np.empty((lists.weights.shape[1], n + room), np.float64),
    )
    thinned = np.empty((WIDTH, n // stride + starts.size), block.dtype)
    thin_starts = np.zeros(starts.size, np.int64)
    for r in range(labels.size):
        size = _thin(block, starts[r], starts[r + 1] - starts[r], stride, thinned[:, thin_starts[r] :])
        thin_starts[r + 1] = thin_starts[r] + size
    for w in range(done, width):
        f = first + w
        whole = lists.exact[f]
        while True:  # at most twice: the second time without hope of staying exact
            if whole:
                n_atoms = _whole_atoms(block, starts, labels, w, cap, atoms, run_keys, run_counts)
            else:
                n_atoms = _thinned_atoms(
                    block, starts, labels, w, stride, thinned, thin_starts, atoms, run_keys, run_counts
                )
            size = _LAST
            if n_atoms >= 0:
                for i in range(n_atoms):
                    atoms.weights[i] = atoms.counts[i]
                size = _absorb(
                    lists.tuples[f], lists.weights[f], lists.sizes[f], atoms, n_atoms, 1.0,
                    -1 if whole else limit[f], new, new_weights,
                )  # fmt: skip
            if not whole or size <= cap:
                break
            whole = False
        if bins.size > 0:
            _count_list(new, new_weights, size, bins[f])
        elif size > room:
            return w, size
        else:
            _keep_list(new, new_weights, size, lists.tuples[f], lists.weights[f])
            lists.sizes[f], lists.exact[f] = size, whole
    return width, 0


@kernel
def merge_rows(
    block: NDArray[Any], rows: NDArray[Any], row_class: Ints, row_weight: Floats, decay: float, limit: Ints, cap: int,
    lists: Lists, first: int, width: int, done: int, bins: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Like merge_runs for rows of any weight and many classes: sorted together, `rows` says which is which."""
    n, room = row_class.size, lists.weights.shape[2]
    atoms = Atoms(np.empty(n, np.int64), np.ones(n, np.int64), np.empty(n, np.int64), np.empty(n, np.float64))
    new, new_weights = (
        np.empty((N_FIELDS, n + room), np.int64),
        np.empty((lists.weights.shape[1], n + room), np.float64),
    )
    for w in range(done, width):
        f = first + w
        n_atoms = _n_present(block, 0, n, w)
        different = 0
        for i in range(n_atoms):
            row = rows[i * WIDTH + w]
            atoms.keys[i], atoms.classes[i], atoms.weights[i] = block[i * WIDTH + w], row_class[row], row_weight[row]
            different += int(i == 0 or atoms.keys[i] != atoms.keys[i - 1])
        whole = lists.exact[f] and different <= cap
        while True:
            size = _absorb(
                lists.tuples[f], lists.weights[f], lists.sizes[f], atoms, n_atoms, decay,
                -1 if whole else limit[f], new, new_weights,
            )  # fmt: skip
            if not whole or size <= cap:
                break
            whole = False
        if bins.size > 0:
            _count_list(new, new_weights, size, bins[f])
        elif size > room:
            return w, size
        else:
            _keep_list(new, new_weights, size, lists.tuples[f], lists.weights[f])
            lists.sizes[f], lists.exact[f] = size, whole
    return width, 0


@kernel
def count_bins(lists: Lists, bins: Floats) -> None:
    """Add the class weights of each feature's tuples to bins (n_features, n_bins, n_classes)."""
    for f in range(lists.sizes.size):
        _count_list(lists.tuples[f], lists.weights[f], lists.sizes[f], bins[f])


@kernel
def _merge_two(
    a: Ints, a_weights: Floats, b: Ints, b_weights: Floats, limit: int, out: Ints, out_weights: Floats
) -> int:
    """Merge two lists into one, shortened within `limit` (not at all, if limit < 0); return its length."""
    n_a, n_b, n_classes = a.shape[1], b.shape[1], out_weights.shape[0]
    i, j, size = 0, 0, -1
    key, count, gap = 0, 0, 0
    pending = np.zeros(n_classes, np.float64)
    while i < n_a or j < n_b:
        take_a = j == n_b or (i < n_a and a[KEY, i] <= b[KEY, j])
        take_b = i == n_a or (j < n_b and b[KEY, j] <= a[KEY, i])
        next_key = a[KEY, i] if take_a else b[KEY, j]
        # Rows of the other list hidden in its next tuple may lie below this value too.
        next_gap = (a[GAP, i] if i < n_a else 0) + (b[GAP, j] if j < n_b else 0)
        next_count = (a[COUNT, i] if take_a else 0) + (b[COUNT, j] if take_b else 0)
        if size < 0 or count + next_gap > limit:
            if size >= 0:
                out[KEY, size], out[COUNT, size], out[GAP, size] = key, count, gap
                for c in range(n_classes):
                    out_weights[c, size] = pending[c]
                    pending[c] = 0.0
            size += 1
            count = 0
        key, gap, count = next_key, count + next_gap, count + next_count
        for c in range(n_classes):
            pending[c] += (a_weights[c, i] if take_a else 0.0) + (b_weights[c, j] if take_b else 0.0)
        i += int(take_a)
        j += int(take_b)
    if size >= 0:
        out[KEY, size], out[COUNT, size], out[GAP, size] = key, count, gap
        for c in range(n_classes):
            out_weights[c, size] = pending[c]
    return size + 1


@kernel
def merge_ragged(a: Ragged, b: Ragged, limit: Ints, cap: int, exact: NDArray[np.bool_], out: Ragged) -> None:
    """Merge two summaries feature by feature; exact lists stay exact up to `cap` tuples, `exact` is updated."""
    n_out = 0
    for f in range(exact.size):
        out.start[f] = n_out
        mine, mine_weights = a.tuples[:, a.start[f] : a.start[f + 1]], a.weights[:, a.start[f] : a.start[f + 1]]
        other, other_weights = b.tuples[:, b.start[f] : b.start[f + 1]], b.weights[:, b.start[f] : b.start[f + 1]]
        new, new_weights = out.tuples[:, n_out:], out.weights[:, n_out:]
        size = _LAST
        if exact[f]:
            size = _merge_two(mine, mine_weights, other, other_weights, -1, new, new_weights)
        if size > cap:
            exact[f] = False
            size = _merge_two(mine, mine_weights, other, other_weights, limit[f], new, new_weights)
        n_out += size
    out.start[exact.size] = n_out


@kernel
def merge_entries(
    feature: Ints, entries: Atoms, n_entries: int, old: Ragged, exact: NDArray[np.bool_], decay: Floats, limit: Ints,
    cap: int, out: Ragged,
) -> None:  # fmt: skip
    """Merge loose entries (any order) into ragged lists; `exact` is brought up to date.

    Entries are brought together by feature with a counting sort, then sorted by key within each feature.
    """
    n_features = exact.size
    place = np.zeros(n_features + 1, np.int64)
    for e in range(n_entries):
        place[feature[e] + 1] += 1
    for j in range(n_features):
        place[j + 1] += place[j]
    order = np.empty(n_entries, np.int64)
    cursor = place[:-1].copy()
    for e in range(n_entries):
        order[cursor[feature[e]]] = e
        cursor[feature[e]] += 1
    n_out = 0
    for j in range(n_features):
        out.start[j] = n_out
        first, last = old.start[j], old.start[j + 1]
        tuples, weights = old.tuples[:, first:last], old.weights[:, first:last]
        new, new_weights = out.tuples[:, n_out:], out.weights[:, n_out:]
        mine = order[place[j] : place[j + 1]]
        if mine.size == 0:
            _keep_list(tuples, weights, last - first, new, new_weights)
            n_out += last - first
            continue
        mine = mine[np.argsort(entries.keys[mine], kind="mergesort")]
        atoms = Atoms(entries.keys[mine], entries.counts[mine], entries.classes[mine], entries.weights[mine])
        size = _LAST
        if exact[j]:
            size = _absorb(tuples, weights, last - first, atoms, mine.size, decay[j], -1, new, new_weights)
        if size > cap:
            exact[j] = False
            size = _absorb(tuples, weights, last - first, atoms, mine.size, decay[j], limit[j], new, new_weights)
        n_out += size
    out.start[n_features] = n_out


@kernel
def count_bins_with_zeros(lists: Ragged, decay: Floats, class_weight: Floats, n_rows: Ints, bins: Floats) -> None:
    """Like count_bins for lists of non-zeros, with all further rows of the n_rows[j] as one point at zero.

    class_weight[c, j] is the weight of class c over the rows that feature j was present in.
    """
    n_bins, n_classes = bins.shape[1], bins.shape[2]
    zero = np.empty(n_classes, np.float64)
    for f in range(n_rows.size):
        first, last = lists.start[f], lists.start[f + 1]
        n_zero = n_rows[f]
        for c in range(n_classes):
            zero[c] = class_weight[c, f]
        for i in range(first, last):
            n_zero -= lists.tuples[COUNT, i]
            for c in range(n_classes):
                zero[c] -= lists.weights[c, i] * decay[f]
        rank = 0
        waiting = n_zero > 0
        for i in range(first, last + 1):
            if waiting and (i == last or lists.tuples[KEY, i] > 0):
                b = _bin_of(rank, n_rows[f], n_bins)
                for c in range(n_classes):
                    bins[f, b, c] += max(zero[c], 0.0)
                rank += n_zero
                waiting = False
            if i == last:
                break
            b = _bin_of(rank, n_rows[f], n_bins)
            for c in range(n_classes):
                bins[f, b, c] += lists.weights[c, i] * decay[f]
            rank += lists.tuples[COUNT, i]
