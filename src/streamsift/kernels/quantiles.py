"""Kernels of the quantile summary: merge sorted values into lists of tuples, and count bins.

A list of tuples, sorted by key, is an int64 array (3, n) plus class weights (n_classes, n):

    KEY    the value v_i, as a key (kernels/quantile_sorting.py)
    COUNT  the rows that stand here: those of v_i itself and of lower values that it absorbed
    GAP    how many rows at most stand here or further up though their value lies below v_i and above v_(i-1)

With R_i the sum of COUNT up to i, the true number of rows <= x lies in [R_i, R_i + GAP_(i+1)] for v_i <= x < v_(i+1).
Keeping every GAP <= limit keeps every rank error <= limit. (In the paper's terms GAP is r+ - r- - w of the tuple
that may be met below v_i.)

What is merged in are atoms: exact values sorted by key, each from an entry with a count, a class and a weight. Every
sorted sequence of atoms lies between a key less and one larger than all (_LAST), so that merging two of them need not
watch their ends; and all is loaded before it is chosen from, so that there is no branch, which no processor could
predict here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel
from streamsift.kernels.intrinsics import hidden
from streamsift.kernels.quantile_sorting import WIDTH

KEY, COUNT, GAP = 0, 1, 2
N_FIELDS = 3

_TOP32: Any = np.int32(0x7F800000)  # key of infinity: every larger one is a missing value
_TOP64: Any = np.int64(0x7FF0000000000000)
_LAST = 0x7FFFFFFFFFFFFFFF

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class TupleLists(NamedTuple):
    """The lists of all features."""

    tuples: Ints  # (n_features, 3, room)
    weights: Floats  # (n_features, n_classes, room)
    sizes: Ints  # (n_features,) how many tuples the list has
    exact: NDArray[np.bool_]  # (n_features,) no tuple has absorbed another


class Ragged(NamedTuple):
    """Lists one behind the other: feature j has columns start[j]:start[j + 1]."""

    start: Ints  # (n_features + 1,)
    tuples: Ints  # (3, total)
    weights: Floats  # (n_classes, total)


class Entries(NamedTuple):
    """What stands behind each atom."""

    counts: Ints  # (n_entries,) rows
    classes: Ints  # (n_entries,) their class
    weights: Floats  # (n_entries,) their weight


class SortedRuns(NamedTuple):
    """Runs of a block of sorted rows, and room for every stride-th value of them."""

    starts: Ints  # (n_runs + 1,) run r is rows starts[r]:starts[r + 1] of the block
    labels: Ints  # (n_runs,) the class of each run
    stride: int
    thinned: NDArray[Any]  # (WIDTH, n) the thinned runs, column by column
    thin_starts: Ints  # (n_runs + 1,) where each of them begins


class Task(NamedTuple):
    """Which lists to merge into, those of features first + done .. first + width - 1, and how short to keep them."""

    limit: Ints  # (n_features,) largest GAP of a list that is not exact
    cap: int  # most tuples of a list that is exact
    first: int
    width: int
    done: int


class Room(NamedTuple):
    """Where lists are merged: two rows of atoms to go to and fro between, the old list, slots, the result."""

    keys: Ints  # (2, n + 2) from index 1 on
    source: Ints  # (2, n + 2) the entry behind each atom
    run: Ints  # (n + 2,) the keys of the run that is merged in next
    old: Ints  # (3, n + 1)
    slot: Ints  # (n + 1,) to which tuple each old tuple, and behind them each atom, went
    new: Ints  # (3, n)
    new_weights: Floats  # (n_classes, n)


# The next two are no kernels: allocating there takes longer to compile than all the rest of a merge.


def new_entries(n: int) -> Entries:
    """Room for n entries, of count and weight 1 and class 0 until said otherwise."""
    return Entries(np.ones(n, np.int64), np.zeros(n, np.int64), np.ones(n))


def new_room(n: int, n_classes: int) -> Room:
    """Room for n tuples and atoms together."""
    lines, lists = np.empty((5, n + 2), np.int64), np.empty((7, n + 1), np.int64)
    return Room(lines[:2], lines[2:4], lines[4], lists[:3], lists[3], lists[4:], np.empty((n_classes, n + 1)))


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
def _thin(keys: NDArray[Any], start: int, n: int, stride: int, out: NDArray[Any]) -> None:
    """Every stride-th sorted row of a block, turned so that each column's values lie side by side in `out`.

    A group of `stride` neighbours stands at its middle value, so no rank moves by more than stride / 2.
    """
    for i in range((n + stride - 1) // stride):
        middle = (start + i * stride + min(stride, n - i * stride) // 2) * WIDTH
        for w in range(WIDTH):
            out[w, i] = keys[middle + w]


@kernel
def _either(first: Any, a: Any, b: Any) -> Any:
    """a if first is -1 (all bits set), b if it is 0."""
    return b ^ ((a ^ b) & first)


@kernel
def _merge_run(keys: Ints, source: Ints, n: int, run: Ints, n_run: int, out_keys: Ints, out_source: Ints) -> int:
    """Merge n atoms with the n_run keys of a run, whose entries are those from n on; return how many there are now.

    Upwards from the least and downwards from the largest at once: neither has to wait for the other's comparisons.
    """
    keys[0] = run[0] = -_LAST
    keys[n + 1] = run[n_run + 1] = _LAST
    one = np.uint64(1)
    i, j, p, q, bottom, top = one, one, np.uint64(n), np.uint64(n_run), one, np.uint64(n + n_run)
    while bottom <= top:
        # if keys[i] <= run[j]: take the atom, else: take the key of the run. Of two equals the run's is the upper one.
        a, a_source, b, b_source = keys[i], source[i], run[j], n - 1 + np.int64(j)
        older = hidden(-np.int64(a <= b))
        out_keys[bottom], out_source[bottom] = _either(older, a, b), _either(older, a_source, b_source)
        i += np.uint64(-older)
        j += np.uint64(1 + older)
        a, a_source, b, b_source = keys[p], source[p], run[q], n - 1 + np.int64(q)
        newer = hidden(-np.int64(a <= b))
        out_keys[top], out_source[top] = _either(newer, b, a), _either(newer, b_source, a_source)
        p -= np.uint64(1 + newer)
        q -= np.uint64(-newer)
        bottom += one
        top -= one
    return n + n_run


@kernel
def _absorb(
    old: Ints, old_weights: Floats, n_old: int, counts: Ints, side: int, n_atoms: int, decay: float, limit: int,
    room: Room,
) -> int:  # fmt: skip
    """Merge the atoms of one side into a list whose weights first decay; return the length of room.new.

    A tuple is absorbed by its successor where the successor's gap stays <= limit (never, if limit < 0). The weights of
    the atoms are still to be added (_add_weights).
    """
    keys, source, tuples, new, slot = room.keys[side], room.source[side], room.old, room.new, room.slot
    _keep_list(old, old_weights[:0], n_old, tuples, old_weights[:0])
    tuples[KEY, n_old], tuples[COUNT, n_old], tuples[GAP, n_old] = _LAST, 0, 0
    keys[n_atoms + 1], source[n_atoms + 1] = _LAST, 0
    i, j = np.uint64(0), np.uint64(1)
    begun = np.uint64(0)  # tuples begun; unsigned: indexing then needs no test for negative numbers
    key, count, gap = -_LAST, limit + 1, 0  # a count with which nothing fits: the first tuple is a new one
    for _ in range(n_old + n_atoms):
        # Of equal keys the tuple comes first. Rows hidden in the next old tuple may lie below an atom's value.
        a, a_count, next_gap = tuples[KEY, i], tuples[COUNT, i], tuples[GAP, i]
        b, b_count = keys[j], counts[np.uint64(source[j])]
        older = a <= b
        next_key, next_count = a if older else b, a_count if older else b_count
        # if next_key == key: count += next_count
        # elif count + next_gap <= limit: key, gap, count = next_key, count + next_gap, count + next_count
        # else: begin a new tuple (next_key, next_gap, next_count)
        same = next_key == key
        fits = int(same | (count + next_gap <= limit))
        count &= -fits  # 0 if it does not fit
        gap = gap if same else count + next_gap
        key, count = next_key, count + next_count
        begun += np.uint64(1 - fits)
        size = begun - np.uint64(1)
        new[KEY, size], new[COUNT, size], new[GAP, size] = key, count, gap
        slot[i if older else np.uint64(n_old) + j] = size
        i += np.uint64(older)
        j += np.uint64(not older)
    for c in range(old_weights.shape[0]):
        row, old_row = room.new_weights[c], old_weights[c]
        for k in range(begun):
            row[k] = 0.0
        for k in range(n_old):
            row[np.uint64(slot[k])] += old_row[k] * decay
    return np.int64(begun)  # type: ignore[return-value]


@kernel
def _add_weights(entries: Entries, source: NDArray[Any], n: int, together: int, n_old: int, room: Room) -> None:
    """Add the weights of n sorted entries, so many of them together in an atom, to where _absorb has put the atoms."""
    atom, due = np.uint64(n_old + 1), together
    for k in range(n):
        entry = np.uint64(source[k])
        room.new_weights[np.uint64(entries.classes[entry]), np.uint64(room.slot[atom])] += entries.weights[entry]
        due -= 1
        atom += np.uint64(due == 0)
        due = together if due == 0 else due


@kernel
def _copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    for i in range(source.size):
        target[i] = source[i]


@kernel
def _fill(target: NDArray[Any], value: float) -> None:
    for i in range(target.size):
        target[i] = value


@kernel
def _atoms(
    block: NDArray[Any], runs: SortedRuns, column: int, whole: bool, most: int, entries: Entries, room: Room
) -> int:
    """Atoms of one column: all values if `whole` (-1 if some run has more than `most` different ones), else every
    stride-th value of each run, standing for `stride` rows.
    """
    starts, labels, stride = runs.starts, runs.labels, runs.stride
    n = 0
    for r in range(labels.size):
        present = _n_present(block, starts[r], starts[r + 1] - starts[r], column)
        if whole:
            n_run = _whole_run(block, starts[r], present, column, most, room.run[1:], entries.counts[n:])
            if n_run < 0:
                return -1
            for i in range(n, n + n_run):
                entries.classes[i], entries.weights[i] = labels[r], entries.counts[i]
        else:
            n_run = (present + stride - 1) // stride
            _copy(runs.thinned[column, runs.thin_starts[r] : runs.thin_starts[r] + n_run], room.run[1:])
            _fill(entries.counts[n : n + n_run], stride)
            _fill(entries.classes[n : n + n_run], labels[r])
            _fill(entries.weights[n : n + n_run], stride)
            if present % stride:
                # The group that missing values, or the end of the run, cut short stands at its own middle.
                middle = starts[r] + (n_run - 1) * stride + (present % stride) // 2
                room.run[n_run] = block[middle * WIDTH + column]
                entries.counts[n + n_run - 1] = entries.weights[n + n_run - 1] = present % stride
        a, b = r % 2, 1 - r % 2
        n = _merge_run(room.keys[a], room.source[a], n, room.run, n_run, room.keys[b], room.source[b])
    return n


@kernel
def _bin_of(rank: int, n: int, n_bins: int) -> int:
    """The bin of a tuple below which `rank` of n rows stand: #{h >= 1 : round(h n / n_bins) <= rank}."""
    b = 0
    while b + 1 < n_bins and (2 * (b + 1) * n + n_bins) // (2 * n_bins) <= rank:
        b += 1
    return b


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
    block: NDArray[Any], runs: SortedRuns, task: Task, lists: TupleLists, entries: Entries, room: Room
) -> tuple[int, int]:
    """Merge a block of sorted rows of weight 1 into lists.

    A list that is still exact is given all values and stays exact while it has at most task.cap tuples; any other is
    given every stride-th value of each run and shortened within task.limit[feature].

    Where a list does not fit into its room, the answer is its column and its length; (width, 0) means all done.
    """
    most, cap, n_runs = lists.weights.shape[2], task.cap, runs.labels.size
    for r in range(n_runs):
        start, n = runs.starts[r], runs.starts[r + 1] - runs.starts[r]
        _thin(block, start, n, runs.stride, runs.thinned[:, runs.thin_starts[r] :])
    for w in range(task.done, task.width):
        f = task.first + w
        whole = lists.exact[f]
        while True:  # at most twice: the second time without hope of staying exact
            n_atoms = _atoms(block, runs, w, whole, cap, entries, room)
            size = _LAST
            if n_atoms >= 0:
                side, n_old = n_runs % 2, lists.sizes[f]
                size = _absorb(
                    lists.tuples[f], lists.weights[f], n_old, entries.counts, side, n_atoms, 1.0,
                    -1 if whole else task.limit[f], room,
                )  # fmt: skip
                _add_weights(entries, room.source[side, 1:], n_atoms, 1, n_old, room)
            if not whole or size <= cap:
                break
            whole = False
        if size > most:
            return w, size
        _keep_list(room.new, room.new_weights, size, lists.tuples[f], lists.weights[f])
        lists.sizes[f], lists.exact[f] = size, whole
    return task.width, 0


@kernel
def _atoms_of_line(keys: NDArray[Any], source: NDArray[Any], n: int, together: int, room: Room) -> int:
    """Atoms of a sorted sequence of n keys; or, with several together, atoms 0, 1, ... of so many neighbours each.

    A group stands at its middle value, so no rank moves by more than half of its rows.
    """
    if together == 1:
        for i in range(n):
            room.keys[0, i + 1], room.source[0, i + 1] = keys[i], source[i]
        return n
    n_atoms = (n + together - 1) // together
    for i in range(n_atoms):
        room.keys[0, i + 1], room.source[0, i + 1] = keys[(i * together + min((i + 1) * together, n)) // 2], i
    return n_atoms


@kernel
def merge_rows(
    block: NDArray[Any], rows: NDArray[Any], turned: NDArray[Any], decay: float, together: int, counts: Ints,
    task: Task, lists: TupleLists, entries: Entries, room: Room,
) -> tuple[int, int]:  # fmt: skip
    """Like merge_runs for rows of any weight and many classes: sorted together, `rows` says which entry is which.

    Lists that are not exact are given so many neighbours together, counts[k] of them in the k-th group. `turned` is
    room for keys and rows, column by column.
    """
    n, most, cap = entries.counts.size, lists.weights.shape[2], task.cap
    _thin(block, 0, n, 1, turned[0])
    _thin(rows, 0, n, 1, turned[1])
    for w in range(task.done, task.width):
        f = task.first + w
        n_present, n_old = _n_present(block, 0, n, w), lists.sizes[f]
        whole = lists.exact[f]
        if whole:
            different = 1
            for i in range(1, n_present):
                different += int(turned[0, w, i] != turned[0, w, i - 1])
            whole = different <= cap
        while True:
            group = 1 if whole else together
            n_atoms = _atoms_of_line(turned[0, w], turned[1, w], n_present, group, room)
            size = _absorb(
                lists.tuples[f], lists.weights[f], n_old, entries.counts if group == 1 else counts, 0, n_atoms, decay,
                -1 if whole else task.limit[f], room,
            )  # fmt: skip
            _add_weights(entries, turned[1, w], n_present, group, n_old, room)
            if not whole or size <= cap:
                break
            whole = False
        if size > most:
            return w, size
        _keep_list(room.new, room.new_weights, size, lists.tuples[f], lists.weights[f])
        lists.sizes[f], lists.exact[f] = size, whole
    return task.width, 0


@kernel
def merge_entries(
    feature: Ints, keys: Ints, entries: Entries, old: Ragged, exact: NDArray[np.bool_], decay: Floats, limit: Ints,
    cap: int, room: Room, out: Ragged,
) -> None:  # fmt: skip
    """Merge loose entries (any order) into ragged lists; `exact` is brought up to date.

    Entries are brought together by feature with a counting sort, then sorted by key within each feature.
    """
    n_features = exact.size
    place = np.zeros(n_features + 1, np.int64)
    for e in range(keys.size):
        place[feature[e] + 1] += 1
    for j in range(n_features):
        place[j + 1] += place[j]
    order = np.empty(keys.size, np.int64)
    cursor = place[:-1].copy()
    for e in range(keys.size):
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
        mine = mine[np.argsort(keys[mine], kind="mergesort")]
        for k in range(mine.size):
            room.keys[0, k + 1], room.source[0, k + 1] = keys[mine[k]], mine[k]
        size = _LAST
        if exact[j]:
            size = _absorb(tuples, weights, last - first, entries.counts, 0, mine.size, decay[j], -1, room)
        if size > cap:
            exact[j] = False
            size = _absorb(tuples, weights, last - first, entries.counts, 0, mine.size, decay[j], limit[j], room)
        _add_weights(entries, mine, mine.size, 1, last - first, room)
        _keep_list(room.new, room.new_weights, size, new, new_weights)
        n_out += size
    out.start[n_features] = n_out


@kernel
def count_bins_with_zeros(lists: Ragged, decay: Floats, class_weight: Floats, n_rows: Ints, bins: Floats) -> None:
    """Add the class weights of each feature's non-zeros, and of its further rows as one point at zero, to bins.

    There are n_rows[j] rows in all.

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
