"""Kernels that count bins over lists of tuples and over sorted rows that wait beside them, without merging the two.

Bin h begins at the first value below which at least round(h n / n_bins) of all n rows stand. That position is found in
all sorted sequences of a feature at once: the list, whose tuples stand for several rows each, and the runs of waiting
rows. A value is taken from the longest stretch that is still in question; how many rows stand below it tells on which
side to go on. (Merging takes a step for each row, this takes some steps for each bin.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel
from streamsift.kernels.quantile_sorting import WIDTH
from streamsift.kernels.quantiles import COUNT, KEY, Entries

_TOP32: Any = np.int32(0x7F800000)  # key of infinity: every larger one is a missing value
_TOP64: Any = np.int64(0x7FF0000000000000)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Stretches(NamedTuple):
    """What is still in question in each sequence, low[r]:high[r]; the list comes last, behind the runs."""

    begin: Ints  # where the sequence begins; of the list it is 0
    low: Ints
    high: Ints
    middle: Ints  # room to work in
    end: Ints
    first: Ints  # where a bin begins
    below: Ints  # below[i]: how many rows stand in the list's tuples before the i-th


def new_stretches(n_runs: int, longest: int) -> Stretches:
    """Room for so many runs and a list; no kernel, because allocating there takes long to compile."""
    begin, low, high, middle, end, first = np.zeros((6, n_runs + 1), np.int64)
    return Stretches(begin, low, high, middle, end, first, np.zeros(longest + 1, np.int64))


@kernel
def turn_runs(block: NDArray[Any], places: Ints, starts: Ints, lines: NDArray[Any]) -> None:
    """Transpose runs of sorted rows, which begin at places[r] of a flat (rows, WIDTH) block: each column is contiguous.

    Run r goes to starts[r]:starts[r + 1] of the lines.
    """
    for r in range(starts.size - 1):
        for i in range(starts[r + 1] - starts[r]):
            for w in range(WIDTH):
                lines[w, starts[r] + i] = block[(places[r] + i) * WIDTH + w]


@kernel
def turn_origins(rows: NDArray[Any], entry: NDArray[Any], places: Ints, starts: Ints, lines: NDArray[Any]) -> None:
    """The same for the rows behind the keys of a block, of which the entries are kept.

    Behind missing values, which come last, there may be rows that do not exist.
    """
    n = np.uint64(entry.size)
    for r in range(starts.size - 1):
        for i in range(starts[r + 1] - starts[r]):
            for w in range(WIDTH):
                row = np.uint64(rows[(places[r] + i) * WIDTH + w])
                lines[w, starts[r] + i] = entry[row] if row < n else 0


@kernel
def _first_from(line: NDArray[Any], low: int, high: int, key: int) -> int:
    """The first index of a sorted sequence, from low to high, with a key that is not less."""
    n = high - low
    while n > 0:
        half = (n + 1) >> 1
        # if line[low + half - 1] < key: low += half, without a branch, which no processor could predict here
        low += half * int(line[np.uint64(low + half - 1)] < key)
        n -= half
    return low


@kernel
def _split(line: NDArray[Any], keys: Ints, at: Stretches, key: int) -> int:
    """Set `middle` to where keys that are not less begin in all sequences; return how many rows stand below."""
    last, rows = at.low.size - 1, 0
    for r in range(last):
        at.middle[r] = _first_from(line, at.low[r], at.high[r], key)
        rows += at.middle[r] - at.begin[r]
    at.middle[last] = _first_from(keys, at.low[last], at.high[last], key)
    return rows + at.below[at.middle[last]]  # type: ignore[no-any-return]


@kernel
def _pass_over(line: NDArray[Any], keys: Ints, at: Stretches, key: int) -> int:
    """Set `low` to where keys that are larger begin, from `middle` on; return how many rows stand below."""
    last, rows = at.low.size - 1, 0
    for r in range(last):
        at.low[r] = at.middle[r]
        if at.middle[r] < at.high[r] and line[at.middle[r]] == key:
            at.low[r] = _first_from(line, at.middle[r], at.high[r], key + 1)
        rows += at.low[r] - at.begin[r]
    at.low[last] = at.middle[last]
    if at.middle[last] < at.high[last] and keys[at.middle[last]] == key:
        at.low[last] += 1  # keys of a list differ
    return rows + at.below[at.low[last]]  # type: ignore[no-any-return]


@kernel
def _advance(line: NDArray[Any], keys: Ints, at: Stretches, n: int, target: int) -> None:
    """Move `low` up to where the values begin below which at least `target` of the n rows stand."""
    last = at.low.size - 1
    below = at.below[at.low[last]]  # rows below `low`, always less than the target; those below `high` are not
    for r in range(last):
        below += at.low[r] - at.begin[r]
    if below >= target:
        return
    for r in range(last + 1):
        at.high[r] = at.end[r]
    above, step = n, 0
    while True:
        longest = 0
        for r in range(1, last + 1):
            longest = r if at.high[r] - at.low[r] > at.high[longest] - at.low[longest] else longest
        # Where the target should be if all sequences were alike; now and then the middle, in case they are not.
        step += 1
        share = 0.5 if step % 3 == 0 else (target - below) / (above - below)
        length = at.high[longest] - at.low[longest]
        place = at.low[longest] + min(np.int64(share * length), length - 1)
        key = int(keys[place] if longest == last else line[place])
        rows = _split(line, keys, at, key)
        if rows >= target:
            above = rows
            for r in range(last + 1):
                at.high[r] = at.middle[r]
        else:
            below = _pass_over(line, keys, at, key)
            if below >= target:  # rows of this very value make up the number
                return


@kernel
def _begin(line: NDArray[Any], starts: Ints, tuples: Ints, size: int, at: Stretches) -> int:
    """Set the stretches to all there is of one feature; return how many rows that are."""
    top = int(_TOP32 if line.itemsize == 4 else _TOP64)
    last = at.low.size - 1
    n = 0
    for r in range(last):
        at.begin[r] = at.low[r] = starts[r]
        at.end[r] = starts[r + 1]
        if line[starts[r + 1] - 1] > top:
            at.end[r] = _first_from(line, starts[r], starts[r + 1], top + 1)
        n += at.end[r] - starts[r]
    at.low[last], at.end[last], at.below[0] = 0, size, 0
    for i in range(size):
        at.below[i + 1] = at.below[i] + tuples[COUNT, i]
    return n + at.below[size]  # type: ignore[no-any-return]


@kernel
def _next_bin(line: NDArray[Any], keys: Ints, n: int, h: int, n_bins: int, at: Stretches) -> None:
    """Move `low` to the end of bin h."""
    if h + 1 < n_bins:
        _advance(line, keys, at, n, (2 * (h + 1) * n + n_bins) // (2 * n_bins))
    else:
        for r in range(at.low.size):
            at.low[r] = at.end[r]


@kernel
def _add_tuples(weights: Floats, first: int, last: int, decay: float, counts: Floats) -> None:
    for c in range(counts.size):
        for i in range(first, last):
            counts[c] += weights[c, i] * decay


@kernel
def count_runs(
    lines: NDArray[Any], starts: Ints, labels: Ints, tuples: Ints, weights: Floats, sizes: Ints, at: Stretches,
    bins: Floats,
) -> None:  # fmt: skip
    """Add the class weights of some features to bins (features, bins, classes): lists, and sorted rows of weight 1.

    Run r, starts[r]:starts[r + 1] of each feature's sequence, is of class labels[r]. There may be no run at all.
    """
    last = labels.size
    for f in range(bins.shape[0]):
        line, keys = lines[f], tuples[f, KEY]
        n = _begin(line, starts, tuples[f], sizes[f], at)
        for h in range(bins.shape[1]):
            for r in range(last):
                bins[f, h, labels[r]] -= at.low[r]
            first = at.low[last]
            _next_bin(line, keys, n, h, bins.shape[1], at)
            for r in range(last):
                bins[f, h, labels[r]] += at.low[r]
            _add_tuples(weights[f], first, at.low[last], 1.0, bins[f, h])


@kernel
def count_rows(
    lines: NDArray[Any], origins: NDArray[Any], starts: Ints, entries: Entries, decay: float, tuples: Ints,
    weights: Floats, sizes: Ints, at: Stretches, bins: Floats,
) -> None:  # fmt: skip
    """Like count_runs for rows of any class and weight: origins say which entry a row is. Lists decay first."""
    last = starts.size - 1
    for f in range(bins.shape[0]):
        line, origin, keys = lines[f], origins[f], tuples[f, KEY]
        n = _begin(line, starts, tuples[f], sizes[f], at)
        for h in range(bins.shape[1]):
            for r in range(last + 1):
                at.first[r] = at.low[r]
            _next_bin(line, keys, n, h, bins.shape[1], at)
            counts = bins[f, h]
            for r in range(last):
                for i in range(at.first[r], at.low[r]):
                    entry = np.uint64(origin[i])
                    counts[np.uint64(entries.classes[entry])] += entries.weights[entry]
            _add_tuples(weights[f], at.first[last], at.low[last], decay, counts)
