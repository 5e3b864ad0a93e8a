"""Kernels of the quantile summary: sort a buffer of rows by column, merge sorted lists of tuples, count bins.

Values travel as keys: integers in the order of the floats they stand for, int32 for float32 and int64 for float64.
A missing value has the largest key and sorts behind all.

A list of tuples, sorted by key, is an int64 array (3, n) plus class weights (n_classes, n):

    KEY    the value v_i
    COUNT  the rows that stand here: those of v_i itself and of lower values that it absorbed
    GAP    how many rows at most stand here or further up though their value lies below v_i and above v_(i-1)

With R_i the sum of COUNT up to i, the true number of rows <= x lies in [R_i, R_i + GAP_(i+1)] for v_i <= x < v_(i+1).
Keeping every GAP <= limit keeps every rank error <= limit. (In the paper's terms GAP is r+ - r- - w of the tuple
that may be met below v_i.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

KEY, COUNT, GAP = 0, 1, 2
N_FIELDS = 3
WIDTH = 64  # columns sorted side by side

_MASK32 = np.int32(0x7FFFFFFF)
_MASK64 = np.int64(0x7FFFFFFFFFFFFFFF)
_LOW32 = np.int32(-0x80000000)
_LOW64 = np.int64(-0x8000000000000000)
_TOP32 = np.int32(0x7F800000)  # key of infinity: every larger one is a missing value
_TOP64 = np.int64(0x7FF0000000000000)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def store_keys32(bits: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    """Keys of float32 values given as their bits; NaN becomes the largest key, -0.0 equals 0.0."""
    for i in range(bits.shape[0]):
        source, target = bits[i], out[i]
        for j in range(source.size):
            b = source[j]
            k = b ^ ((b >> np.int32(31)) & _MASK32)
            k = np.int32(0) if b == _LOW32 else k
            target[j] = _MASK32 if (b & _MASK32) > _TOP32 else k


@kernel
def store_keys64(bits: Ints, out: Ints) -> None:
    """Keys of float64 values given as their bits; NaN becomes the largest key, -0.0 equals 0.0."""
    for i in range(bits.shape[0]):
        source, target = bits[i], out[i]
        for j in range(source.size):
            b = source[j]
            k = b ^ ((b >> np.int64(63)) & _MASK64)
            k = np.int64(0) if b == _LOW64 else k
            target[j] = _MASK64 if (b & _MASK64) > _TOP64 else k


@kernel
def _sort_columns(keys: NDArray[Any], n: int) -> None:
    """Sort the first n rows of a flat (n, WIDTH) block, each column by itself.

    Batcher's merge exchange (Knuth 5.2.2 M): the comparisons do not depend on the data, so neighbouring columns and,
    where the network allows, neighbouring rows go through the same vector instruction.
    """
    if n < 2:
        return
    top = 1
    while 2 * top < n:
        top *= 2
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while d > 0:
            i = r
            while i < n - d:  # rows i .. i+p-1 are compared with rows i+d .. i+d+p-1
                low, high = np.uint64(i * WIDTH), np.uint64((i + d) * WIDTH)
                for j in range(np.uint64((min(i + p, n - d) - i) * WIDTH)):
                    a, b = keys[low + j], keys[high + j]
                    keys[low + j] = min(a, b)
                    keys[high + j] = max(a, b)
                i += 2 * p
            d, q, r = q - p, q // 2, p
        p //= 2


@kernel
def _sort_columns_with_rows(keys: NDArray[Any], rows: NDArray[Any], n: int) -> None:
    """The same network, carrying with each key the row it came from."""
    if n < 2:
        return
    top = 1
    while 2 * top < n:
        top *= 2
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while d > 0:
            i = r
            while i < n - d:
                low, high = np.uint64(i * WIDTH), np.uint64((i + d) * WIDTH)
                for j in range(np.uint64((min(i + p, n - d) - i) * WIDTH)):
                    a, b, s, t = keys[low + j], keys[high + j], rows[low + j], rows[high + j]
                    keep = a <= b
                    keys[low + j] = a if keep else b
                    keys[high + j] = b if keep else a
                    rows[low + j] = s if keep else t
                    rows[high + j] = t if keep else s
                i += 2 * p
            d, q, r = q - p, q // 2, p
        p //= 2


@kernel
def _first_missing(keys: NDArray[Any], start: int, n: int, column: int) -> int:
    """How many of the n sorted keys from row `start` on, in one column of a block, stand for values."""
    top = _TOP32 if keys.itemsize == 4 else _TOP64
    if keys[(start + n - 1) * WIDTH + column] <= top:
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
    """One column's sorted values of one class as (value, count); -1 if there are more than `most` different ones."""
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
def _merge_runs(
    keys: Ints,
    counts: Ints,
    classes: Ints,
    n: int,
    run_keys: Ints,
    run_counts: Ints,
    n_run: int,
    label: int,
) -> int:
    """Merge one more class's run into the atoms, in place, from the back."""
    i, j, k = n - 1, n_run - 1, n + n_run - 1
    while i >= 0 and j >= 0:
        # if keys[i] > run_keys[j]: move atom i, else: move run j. Written without a branch, which nothing could predict.
        a, b = keys[i], run_keys[j]
        older = a > b
        keys[k] = a if older else b
        counts[k] = counts[i] if older else run_counts[j]
        classes[k] = classes[i] if older else label
        i -= np.int64(older)
        j -= np.int64(not older)
        k -= 1
    while j >= 0:
        keys[j], counts[j], classes[j] = run_keys[j], run_counts[j], label
        j -= 1
    return n + n_run


@kernel
def absorb_atoms(
    old: Ints,
    old_weights: Floats,
    n_old: int,
    keys: Ints,
    counts: Ints,
    classes: Ints,
    weights: Floats,
    n_atoms: int,
    decay: float,
    limit: int,
    out: Ints,
    out_weights: Floats,
) -> int:
    """Merge exact atoms (sorted by key) into a list whose weights first decay; return the new length.

    A tuple is absorbed by its successor where the successor's gap stays <= limit (never, if limit < 0). `out` has room
    for all tuples and atoms.
    """
    n_classes = out_weights.shape[0]
    pending = np.zeros(n_classes, np.float64)  # class weights of the tuple not yet written
    key, count, gap = np.int64(0), np.int64(0), np.int64(0)
    size, j = -1, 0  # size: tuples written; -1 while there is none, not even pending
    for i in range(n_old + 1):
        if i < n_old:
            next_key, next_gap = old[KEY, i], old[GAP, i]
        else:
            next_key, next_gap = _MASK64, np.int64(0)
        while j < n_atoms and keys[j] <= next_key:
            if keys[j] == next_key and i < n_old:
                break
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
def _load(buffer: NDArray[Any], order: Ints, first: int, width: int, block: NDArray[Any]) -> None:
    """Copy `width` columns of the buffered rows, in the given order, into a flat (n, WIDTH) block."""
    for i in range(order.size):
        source = buffer[order[i], first : first + width]
        target = block[i * WIDTH : (i + 1) * WIDTH]
        for w in range(width):
            target[w] = source[w]
        for w in range(width, WIDTH):
            target[w] = 0


@kernel
def _whole_atoms(
    block: NDArray[Any],
    starts: Ints,
    labels: Ints,
    column: int,
    most: int,
    keys: Ints,
    counts: Ints,
    classes: Ints,
    run_keys: Ints,
    run_counts: Ints,
) -> int:
    """Atoms of one column, nothing lost; -1 if some run has more than `most` different values."""
    n = 0
    for r in range(labels.size):
        start = starts[r]
        n_run = _first_missing(block, start, starts[r + 1] - start, column)
        n_run = _whole_run(block, start, n_run, column, most, run_keys, run_counts)
        if n_run < 0:
            return -1
        n = _merge_runs(keys, counts, classes, n, run_keys, run_counts, n_run, labels[r])
    return n


@kernel
def _thinned_atoms(
    block: NDArray[Any],
    starts: Ints,
    labels: Ints,
    column: int,
    stride: int,
    thinned: NDArray[Any],
    thin_starts: Ints,
    keys: Ints,
    counts: Ints,
    classes: Ints,
    run_keys: Ints,
    run_counts: Ints,
) -> int:
    """Atoms of one column, every stride-th value of each run standing for `stride` rows."""
    n = 0
    for r in range(labels.size):
        present = _first_missing(block, starts[r], starts[r + 1] - starts[r], column)
        n_run = (present + stride - 1) // stride
        for i in range(n_run):
            run_keys[i], run_counts[i] = thinned[column, thin_starts[r] + i], stride
        if present % stride:
            run_counts[n_run - 1] = present % stride
            # The group that missing values cut short stands at its own middle.
            run_keys[n_run - 1] = block[(starts[r] + (n_run - 1) * stride + (present % stride) // 2) * WIDTH + column]
        n = _merge_runs(keys, counts, classes, n, run_keys, run_counts, n_run, labels[r])
    return n


@kernel
def _bin_of(rank: int, n: int, n_bins: int) -> int:
    """The bin of a tuple below which `rank` of n rows stand: #{h >= 1 : round(h n / n_bins) <= rank}."""
    b = 0
    while b + 1 < n_bins and (2 * (b + 1) * n + n_bins) // (2 * n_bins) <= rank:
        b += 1
    return b


@kernel
def _count_list(new: Ints, new_weights: Floats, size: int, bins: Floats) -> None:
    """Add the class weights of one list to bins (n_bins, n_classes)."""
    n = np.int64(0)
    for i in range(size):
        n += new[COUNT, i]
    rank = np.int64(0)
    for i in range(size):
        b = _bin_of(rank, n, bins.shape[0])
        for c in range(bins.shape[1]):
            bins[b, c] += new_weights[c, i]
        rank += new[COUNT, i]


@kernel
def _keep_list(new: Ints, new_weights: Floats, size: int, out: Ints, out_weights: Floats) -> None:
    for field in range(N_FIELDS):
        for i in range(size):
            out[field, i] = new[field, i]
    for c in range(out_weights.shape[0]):
        for i in range(size):
            out_weights[c, i] = new_weights[c, i]


@kernel
def flush_by_class(
    buffer: NDArray[Any],
    order: Ints,
    starts: Ints,
    labels: Ints,
    stride: int,
    limit: Ints,
    cap: int,
    block: NDArray[Any],
    lists: Ints,
    list_weights: Floats,
    sizes: Ints,
    exact: NDArray[np.bool_],
    first: int,
    bins: Floats,
) -> tuple[int, int]:
    """Merge buffered rows of weight 1 into the lists of features first, first + 1, ...

    Run r, order[starts[r]:starts[r + 1]], is some rows of class labels[r]. Each run is sorted by itself, which needs no
    bookkeeping of rows, and thinned by `stride`. A list that is still exact is given all values and stays exact while
    it has at most `cap` tuples; any other is shortened within limit[feature].

    With bins (n_features, n_bins, n_classes) the merged lists are only counted, and nothing changes. Otherwise they
    are kept, and where one does not fit, the answer is its feature and its length; (n_features, 0) means done.
    """
    n, n_features = order.size, sizes.size
    n_classes, room = list_weights.shape[1], list_weights.shape[2]
    keys, counts, classes = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    run_keys, run_counts = np.empty(n, np.int64), np.empty(n, np.int64)
    weights = np.empty(n, np.float64)
    merged, merged_weights = np.empty((N_FIELDS, n + room), np.int64), np.empty((n_classes, n + room), np.float64)
    thinned = np.empty((WIDTH, n // stride + starts.size), buffer.dtype)
    thin_starts = np.zeros(starts.size, np.int64)
    for j0 in range(first, n_features, WIDTH):
        width = min(WIDTH, n_features - j0)
        _load(buffer, order, j0, width, block)
        for r in range(labels.size):
            _sort_columns(block[starts[r] * WIDTH :], starts[r + 1] - starts[r])
            size = _thin(block, starts[r], starts[r + 1] - starts[r], stride, thinned[:, thin_starts[r] :])
            thin_starts[r + 1] = thin_starts[r] + size
        for w in range(width):
            f = j0 + w
            whole = exact[f]
            while True:  # at most twice: the second time without hope of staying exact
                if whole:
                    n_atoms = _whole_atoms(block, starts, labels, w, cap, keys, counts, classes, run_keys, run_counts)
                else:
                    n_atoms = _thinned_atoms(
                        block, starts, labels, w, stride, thinned, thin_starts, keys, counts, classes, run_keys,
                        run_counts,
                    )  # fmt: skip
                new = cap + 1
                if n_atoms >= 0:
                    for i in range(n_atoms):
                        weights[i] = counts[i]
                    new = absorb_atoms(
                        lists[f], list_weights[f], sizes[f], keys, counts, classes, weights, n_atoms, 1.0,
                        -1 if whole else limit[f], merged, merged_weights,
                    )  # fmt: skip
                if not whole or new <= cap:
                    break
                whole = False
            if bins.size > 0:
                _count_list(merged, merged_weights, new, bins[f])
            elif new > room:
                return f, new
            else:
                _keep_list(merged, merged_weights, new, lists[f], list_weights[f])
                sizes[f], exact[f] = new, whole
    return n_features, 0


@kernel
def flush_by_row(
    buffer: NDArray[Any],
    order: Ints,
    row_class: Ints,
    row_weight: Floats,
    decay: float,
    limit: Ints,
    cap: int,
    block: NDArray[Any],
    rows: NDArray[Any],
    lists: Ints,
    list_weights: Floats,
    sizes: Ints,
    exact: NDArray[np.bool_],
    first: int,
    bins: Floats,
) -> tuple[int, int]:
    """Like flush_by_class for rows of any weight and many classes: sorted together, each keeping its own row."""
    n, n_features = order.size, sizes.size
    n_classes, room = list_weights.shape[1], list_weights.shape[2]
    keys, counts, classes = np.empty(n, np.int64), np.ones(n, np.int64), np.empty(n, np.int64)
    weights = np.empty(n, np.float64)
    merged, merged_weights = np.empty((N_FIELDS, n + room), np.int64), np.empty((n_classes, n + room), np.float64)
    for j0 in range(first, n_features, WIDTH):
        width = min(WIDTH, n_features - j0)
        _load(buffer, order, j0, width, block)
        for i in range(n * WIDTH):
            rows[i] = order[i // WIDTH]
        _sort_columns_with_rows(block, rows, n)
        for w in range(width):
            f = j0 + w
            n_atoms = _first_missing(block, 0, n, w)
            different = 0
            for i in range(n_atoms):
                row = rows[i * WIDTH + w]
                keys[i], classes[i], weights[i] = block[i * WIDTH + w], row_class[row], row_weight[row]
                different += np.int64(i == 0 or keys[i] != keys[i - 1])
            whole = exact[f] and different <= cap
            while True:
                new = absorb_atoms(
                    lists[f], list_weights[f], sizes[f], keys, counts, classes, weights, n_atoms, decay,
                    -1 if whole else limit[f], merged, merged_weights,
                )  # fmt: skip
                if not whole or new <= cap:
                    break
                whole = False
            if bins.size > 0:
                _count_list(merged, merged_weights, new, bins[f])
            elif new > room:
                return f, new
            else:
                _keep_list(merged, merged_weights, new, lists[f], list_weights[f])
                sizes[f], exact[f] = new, whole
    return n_features, 0


@kernel
def merge_two(
    a: Ints, a_weights: Floats, n_a: int, b: Ints, b_weights: Floats, n_b: int, limit: int, out: Ints, out_weights: Floats
) -> int:
    """Merge two lists into one, shortened within `limit` (not at all, if limit < 0); return its length."""
    n_classes = out_weights.shape[0]
    i, j, size = 0, 0, -1
    key, count, gap = np.int64(0), np.int64(0), np.int64(0)
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
        i += np.int64(take_a)
        j += np.int64(take_b)
    if size >= 0:
        out[KEY, size], out[COUNT, size], out[GAP, size] = key, count, gap
        for c in range(n_classes):
            out_weights[c, size] = pending[c]
    return size + 1


@kernel
def merge_lists(
    a: Ints,
    a_weights: Floats,
    a_sizes: Ints,
    a_exact: NDArray[np.bool_],
    b: Ints,
    b_weights: Floats,
    b_sizes: Ints,
    b_exact: NDArray[np.bool_],
    limit: Ints,
    cap: int,
    out: Ints,
    out_weights: Floats,
    out_sizes: Ints,
) -> None:
    """Merge the lists of two summaries, feature by feature; exact ones stay exact while they have at most cap tuples."""
    for f in range(a_sizes.size):
        new = cap + 1
        if a_exact[f] and b_exact[f]:
            new = merge_two(
                a[f], a_weights[f], a_sizes[f], b[f], b_weights[f], b_sizes[f], -1, out[f], out_weights[f]
            )
        if new > cap:
            new = merge_two(
                a[f], a_weights[f], a_sizes[f], b[f], b_weights[f], b_sizes[f], limit[f], out[f], out_weights[f]
            )
        out_sizes[f] = new


@kernel
def count_bins(lists: Ints, weights: Floats, sizes: Ints, bins: Floats) -> None:
    """Add the class weights of each feature's tuples to bins (n_features, n_bins, n_classes)."""
    for f in range(sizes.size):
        _count_list(lists[f], weights[f], sizes[f], bins[f])


@kernel
def flush_entries(
    feature: Ints,
    key: Ints,
    label: Ints,
    weight: Floats,
    n_entries: int,
    start: Ints,
    lists: Ints,
    list_weights: Floats,
    exact: NDArray[np.bool_],
    decay: Floats,
    limit: Ints,
    cap: int,
    out_start: Ints,
    out: Ints,
    out_weights: Floats,
) -> None:
    """Merge loose entries (any order) into ragged lists: feature j has columns start[j]:start[j + 1] of `lists`.

    Entries are brought together by feature with a counting sort, then sorted by key within each feature.
    """
    n_features = start.size - 1
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
        out_start[j] = n_out
        old, old_weights = lists[:, start[j] : start[j + 1]], list_weights[:, start[j] : start[j + 1]]
        n_old = start[j + 1] - start[j]
        mine = order[place[j] : place[j + 1]]
        if mine.size == 0:
            for i in range(n_old):
                for field in range(N_FIELDS):
                    out[field, n_out + i] = old[field, i]
                for c in range(old_weights.shape[0]):
                    out_weights[c, n_out + i] = old_weights[c, i]
            n_out += n_old
            continue
        mine = mine[np.argsort(key[mine], kind="mergesort")]
        keys, labels, weights, ones = key[mine], label[mine], weight[mine], np.ones(mine.size, np.int64)
        new = cap + 1
        if exact[j]:
            new = absorb_atoms(
                old, old_weights, n_old, keys, ones, labels, weights, mine.size, decay[j], -1, out[:, n_out:],
                out_weights[:, n_out:],
            )  # fmt: skip
        if new > cap:
            exact[j] = False
            new = absorb_atoms(
                old, old_weights, n_old, keys, ones, labels, weights, mine.size, decay[j], limit[j], out[:, n_out:],
                out_weights[:, n_out:],
            )  # fmt: skip
        n_out += new
    out_start[n_features] = n_out


@kernel
def count_bins_with_zeros(
    start: Ints,
    lists: Ints,
    weights: Floats,
    decay: Floats,
    class_weight: Floats,
    n_rows: Ints,
    n_bins: int,
    out: Floats,
) -> None:
    """Like count_bins for ragged lists of non-zeros, with all further rows of the n_rows[j] as one point at zero.

    class_weight[c, j] is the weight of class c over the rows that feature j was present in.
    """
    n_classes = out.shape[2]
    zero = np.empty(n_classes, np.float64)
    for f in range(start.size - 1):
        n_zero = n_rows[f]
        for c in range(n_classes):
            zero[c] = class_weight[c, f]
        for i in range(start[f], start[f + 1]):
            n_zero -= lists[COUNT, i]
            for c in range(n_classes):
                zero[c] -= weights[c, i] * decay[f]
        rank = np.int64(0)
        waiting = n_zero > 0
        for i in range(start[f], start[f + 1] + 1):
            if waiting and (i == start[f + 1] or lists[KEY, i] > 0):
                b = _bin_of(rank, n_rows[f], n_bins)
                for c in range(n_classes):
                    out[f, b, c] += max(zero[c], 0.0)
                rank += n_zero
                waiting = False
            if i == start[f + 1]:
                break
            b = _bin_of(rank, n_rows[f], n_bins)
            for c in range(n_classes):
                out[f, b, c] += weights[c, i] * decay[f]
            rank += lists[COUNT, i]


@kernel
def merge_ragged(
    a_start: Ints,
    a: Ints,
    a_weights: Floats,
    b_start: Ints,
    b: Ints,
    b_weights: Floats,
    limit: Ints,
    cap: int,
    exact: NDArray[np.bool_],
    out_start: Ints,
    out: Ints,
    out_weights: Floats,
) -> None:
    """merge_lists for ragged lists; `exact` is read and brought up to date."""
    n_out = 0
    for f in range(a_start.size - 1):
        out_start[f] = n_out
        mine, my_weights = a[:, a_start[f] : a_start[f + 1]], a_weights[:, a_start[f] : a_start[f + 1]]
        theirs, their_weights = b[:, b_start[f] : b_start[f + 1]], b_weights[:, b_start[f] : b_start[f + 1]]
        new = cap + 1
        if exact[f]:
            new = merge_two(
                mine, my_weights, mine.shape[1], theirs, their_weights, theirs.shape[1], -1, out[:, n_out:],
                out_weights[:, n_out:],
            )  # fmt: skip
        if new > cap:
            exact[f] = False
            new = merge_two(
                mine, my_weights, mine.shape[1], theirs, their_weights, theirs.shape[1], limit[f], out[:, n_out:],
                out_weights[:, n_out:],
            )  # fmt: skip
        n_out += new
    out_start[a_start.size - 1] = n_out
