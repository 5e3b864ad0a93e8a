"""Weighted quantile summary: how a feature's values are ranked, and how much of each class stands where.

The state of one feature is a sorted list of tuples (kernels/quantiles.py): a value, how many rows stand at it, how
uncertain its rank is, and a weight per class. New rows wait in a buffer; a full buffer is sorted and merged into the
lists, which are then shortened as far as the error allows: any rank is off by at most eps * n at any time, class
weights add up exactly to what was seen, and a feature with at most 2 / eps different values is counted exactly.

This differs from the multi-level structure of the paper (section 2.2.2), with the same guarantee: because a tuple
knows how uncertain its rank is, one level is enough, and sub-streams of doubling length are not needed
(docs/adr/0007). Fading (2.2.6): ranks, and so the cut points, are those of unfaded rows; class weights fade, aged when
a buffer is merged and exact for what is in the buffer. In the sparse form only non-zeros are kept; zeros are one
weighted point put in when bins are counted. Its weight is the class's weight less that of its non-zeros, which is what
the paper's universal weight maps add up to (Eq. 18, less the row it counts twice).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch, refuse_not_finite
from streamsift.core.state import Finite, Shape, Sizes, Within
from streamsift.kernels import quantile_sorting as sorting
from streamsift.kernels import quantiles as kernels
from streamsift.kernels.quantile_merge import merge_ragged
from streamsift.kernels.quantile_waiting import count_rows, count_runs, new_stretches, turn_origins, turn_runs
from streamsift.summaries.aligned import aligned_empty
from streamsift.summaries.fading import Fading, row_weights
from streamsift.summaries.few_rows import count_few
from streamsift.summaries.moved_classes import moved_classes
from streamsift.summaries.quantile_checks import EPS, buffer_problem, capacity_problem, list_problem
from streamsift.summaries.quantile_keys import double_keys
from streamsift.summaries.waiting_rows import STRETCH, by_class, stretches_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Keys = NDArray[np.integer[Any]]

_ROWS = 16384  # rows in a buffer, if they fit into _BYTES and are not fewer than 1 / eps; a power of two
_ROWS_TOGETHER = 2048  # the same with fading: all rows are sorted together, which takes longer the more there are
_BYTES = 180_000_000
_SHORT = 1024  # rows up to which a stream is short
_FEW = 1 << 18  # values that are counted here rather than by kernels, which are faster but take seconds to compile
_KEPT_BYTES = 2**26  # keys of sorted stretches are kept if those of a full buffer take no more
_LIST = 3.5  # tuples, times eps, that a shortened list has room for at first
LONGEST_LIST = 4.4  # the same at last: a list that needs more room gets a quarter more than it needs
_NEARLY = 8  # a run that lacks up to an eighth of its rows is sorted as a whole one
_MOST_CLASSES = 4  # with more classes, or with fading, rows are sorted together and not class by class


@dataclass
class QuantileSummary:
    """Lists of tuples for dense rows, all features fed by the same buffer."""

    eps: Annotated[float, EPS]
    fading: Fading
    capacity: Annotated[int, Within(32, 2**20)]  # rows that are merged into the lists together
    buffer: Annotated[NDArray[np.integer[Any]], Shape("n_blocks", "room_for_rows", sorting.STORED)]  # keys; see `learn`
    buffer_class: Annotated[Ints, Shape("room_for_rows"), Within(0, "n_classes - 1")]
    n_buffered: Annotated[int, Within(0, "capacity - 1")]
    n_present: Annotated[Ints, Shape("n_features"), Within(0, "n_rows_seen")]  # values in the lists
    has_gaps: bool  # some value was missing
    thinning_error: Annotated[Floats, Shape("n_features"), Within(0.0, "n_rows_seen")]  # ranks lost by thinning buffers
    lists: Annotated[Ints, Shape("n_features", kernels.N_FIELDS, "room")]
    weights: Annotated[Floats, Shape("n_features", "n_classes", "room"), Within(0.0), Finite()]
    sizes: Annotated[Ints, Shape("n_features"), Within(0, "room")]
    exact: Annotated[NDArray[np.bool_], Shape("n_features")]  # no tuple has absorbed another
    scratch: list[NDArray[Any]] = field(init=False, repr=False, default_factory=list)
    lines: Keys = field(init=False, repr=False, default_factory=lambda: np.empty((0, 0, 0), np.int32))
    origins: NDArray[Any] = field(init=False, repr=False, default_factory=lambda: np.empty((0, 0, 0), np.int16))
    kept: list[range] = field(init=False, repr=False, default_factory=list)  # waiting rows that are sorted in `lines`
    spare: int = field(init=False, repr=False, default=_FEW)  # values that may still be counted without kernels
    kept_bytes: int = field(init=False, repr=False, default=_KEPT_BYTES)  # what kept keys may take
    own: Floats | None = field(init=False, repr=False, default=None)  # of rows with weights, while they are merged

    def problem(self, sizes: Sizes) -> str | None:
        n_blocks, room, _ = self.buffer.shape
        if n_blocks != _n_blocks(len(self.sizes)) or not self.n_buffered <= room <= self.capacity:
            return "buffer has not the room for its rows"
        buffer = buffer_problem(self._buffered_keys(), has_gaps=self.has_gaps)
        return (
            buffer
            or capacity_problem(self.eps, self.capacity, _ROWS if self.fading == 1.0 else _ROWS_TOGETHER)
            or list_problem(self._ragged(), self.n_present)
        )

    @classmethod
    def empty(cls, eps: float, fading: float, n_classes: int, n_features: int, dtype: np.dtype[Any]) -> Self:
        keys = np.int32 if dtype == np.float32 else np.int64
        most = _ROWS if fading == 1.0 else _ROWS_TOGETHER
        fitting = max(_BYTES // (max(n_features, 1) * np.dtype(keys).itemsize), 1)
        rows = max(2 ** math.ceil(math.log2(1.0 / eps)), min(most, 2 ** int(math.log2(fitting))), 32)
        room = min(int(np.ceil(2.0 / eps)), 256)
        return cls(
            eps,
            fading,
            rows,
            np.zeros((_n_blocks(n_features), 0, sorting.STORED), keys),
            np.zeros(0, np.int64),
            0,
            np.zeros(n_features, np.int64),
            False,
            np.zeros(n_features),
            np.zeros((n_features, kernels.N_FIELDS, room), np.int64),
            np.zeros((n_features, n_classes, room)),
            np.zeros(n_features, np.int64),
            np.ones(n_features, bool),
        )

    def learn(self, batch: CheckedBatch, *, skip_missing: bool) -> None:
        """Absorb a batch; raises InputError, before anything changes, for infinity and for NaN that is not skipped."""
        X, n_rows = batch.X, batch.n_rows
        double = X.dtype == np.float64 or self.buffer.dtype == np.int64
        bits: NDArray[Any] = X.astype(np.float64, copy=False).view(np.int64) if double else X.view(np.int32)
        store: Any = sorting.store_rows64 if double else sorting.store_rows32
        all_finite: Any = sorting.all_finite64 if double else sorting.all_finite32
        # Rows that fit in are checked while they are stored: they count only when n_buffered says so.
        fits = self._fits(n_rows, len(batch.labels), X.shape[1], double)
        if not (store(bits, self.buffer, self.n_buffered) if fits else all_finite(bits.reshape(-1))):
            refuse_not_finite(batch, nan_allowed=skip_missing or batch.has_absent)
        self.has_gaps = self.has_gaps or skip_missing or batch.has_absent
        if batch.weight is not None:
            self._learn_weighted(batch, bits, store, double)
            return
        if fits:
            self._add_stored(batch.codes)
            return
        self._make_room(len(batch.labels), X.shape[1], double)
        done = 0
        while done < n_rows:
            n = min(self.capacity - self.n_buffered, n_rows - done)
            self._make_room_for_rows(self.n_buffered + n)
            store(bits[done : done + n], self.buffer, self.n_buffered)
            self._add_stored(batch.codes[done : done + n])
            done += n

    def _learn_weighted(self, batch: CheckedBatch, bits: Any, store: Any, double: bool) -> None:
        """Rows with weights of their own do not wait: they are merged into the lists at once, all classes together."""
        assert batch.weight is not None
        if self.n_buffered:
            self._flush(everything=True)
        self._make_room(len(batch.labels), batch.X.shape[1], double)
        if batch.decay != 1.0:
            self.weights = self.weights * batch.decay
        most = min(self.capacity, _ROWS_TOGETHER)
        for first in range(0, batch.n_rows, most):
            part = slice(first, min(first + most, batch.n_rows))
            self._make_room_for_rows(part.stop - part.start)
            store(bits[part], self.buffer, 0)
            self.n_buffered = part.stop - part.start
            self.buffer_class[: self.n_buffered] = batch.codes[part]
            self.own = batch.weight[part] * row_weights(self.fading, self.n_buffered)
            try:
                self._flush()
            finally:
                self.own = None

    def _fits(self, n_rows: int, n_classes: int, n_features: int, double: bool) -> bool:
        """Whether a batch can be stored as the arrays are."""
        return (
            self.n_buffered + n_rows <= self.buffer.shape[1]
            and double == (self.buffer.dtype == np.int64)
            and (n_features, n_classes) == self.weights.shape[:2]
        )

    def _add_stored(self, codes: Ints) -> None:
        """Rows of these classes have been stored behind the others; a full buffer is merged into the lists."""
        n = self.n_buffered + len(codes)
        self.buffer_class[self.n_buffered : n] = codes
        self.n_buffered = n
        if n == self.capacity:
            self._flush()

    def _flush(self, *, everything: bool = False) -> None:
        """Merge the buffered rows into the lists; class by class only whole runs, the rest waits for more."""
        by_row = self._by_row()
        order, starts, labels = self._runs(whole=not (by_row or everything))
        n_runs = 1 if by_row else len(labels)
        stride = self._stride(len(order), n_runs)
        self.n_present = self.n_present + (self._count_present(order) if self.has_gaps else len(order))
        if stride > 1:
            self.thinning_error = self.thinning_error + stride / 2 * n_runs
        limit = np.maximum((self.eps * self.n_present - self.thinning_error).astype(np.int64), 0)
        self._merge_buffer(order, starts, labels, stride, limit)
        waiting = np.ones(self.n_buffered, bool)
        waiting[order] = False
        left = np.flatnonzero(waiting)
        sorting.keep_rows(self.buffer, left)
        self.buffer_class[: len(left)] = self.buffer_class[left]
        self.n_buffered, self.kept = len(left), []

    def _merge_buffer(self, order: Ints, starts: Ints, labels: Ints, stride: int, limit: Ints) -> None:
        """Merge the rows in `order` into the lists, which grow as needed."""
        by_row, cap = self._by_row(), int(np.ceil(2.0 / self.eps))
        # Arrays loaded from a memory map may be read-only, which kernels that could write refuse.
        self.lists, self.weights = np.require(self.lists, None, "W"), np.require(self.weights, None, "W")
        self.sizes, self.exact = np.require(self.sizes, None, "W"), np.require(self.exact, None, "W")
        places = self._places(order, starts)
        n = int(places[-1])
        entries = self._entries(order) if by_row else kernels.new_entries(n)
        thin_starts = np.concatenate([[0], np.cumsum(-(-np.diff(places) // stride))])
        decay = self.fading ** float(len(order))
        counts = np.minimum(stride, len(order) - np.arange(0, len(order), stride))  # rows of each group of neighbours
        thinned = np.empty((sorting.WIDTH, thin_starts[-1]), self.buffer.dtype)
        turned = self._turned(n)
        runs = kernels.SortedRuns(places, labels, stride, thinned, thin_starts)
        room = kernels.new_room(n + self.lists.shape[2], self.weights.shape[1])
        for first, block, rows in self._sorted(order, starts, places, range(len(self.buffer))):
            width, done = min(sorting.WIDTH, len(self.sizes) - first), 0
            while done < width:
                lists = kernels.TupleLists(self.lists, self.weights, self.sizes, self.exact)
                task = kernels.Task(limit, cap, first, width, done)
                if by_row:
                    done, needed = kernels.merge_rows(
                        block, rows, turned, decay, stride, counts, task, lists, entries, room
                    )
                else:
                    done, needed = kernels.merge_runs(block, runs, task, lists, entries, room)
                if needed:
                    self._widen(max(needed + needed // 4, int(_LIST / self.eps) if needed > cap else 0))
                    room = kernels.new_room(n + self.lists.shape[2], self.weights.shape[1])

    def _sorted(
        self, order: Ints, starts: Ints, places: Ints, blocks: Iterable[int]
    ) -> Iterator[tuple[int, Keys, Keys]]:
        """Sort the rows in `order` of some blocks of the buffer, WIDTH features at a time.

        Yields the number of the first feature, the keys, and the row behind each key.
        """
        n = int(places[-1])
        for stored in blocks:
            features = range(stored * sorting.STORED, len(self.sizes))[: sorting.STORED : sorting.WIDTH]
            keys, rows = self._blocks(n, len(features))
            if not self._by_row():
                sorting.sort_eights(self.buffer[stored], order, starts, places, keys)
            for block, first in zip(keys, features, strict=True):
                if self._by_row():
                    sorting.load_rows(self.buffer[stored], first % sorting.STORED, order, block, rows)
                    sorting.sort_runs((block, rows), np.zeros(1, np.int64), places)
                else:
                    sorting.sort_runs((block,), np.diff(starts) // 8 * 8, places)
                yield first, block, rows

    def _places(self, order: Ints, starts: Ints) -> Ints:
        """Where each run begins and the last ends when sorted: filled up with missing rows to a power of two."""
        lengths = [len(order)] if self._by_row() else np.diff(starts).tolist()
        return np.cumsum([0] + [max(1 << (length - 1).bit_length(), 8) for length in lengths])

    def _entries(self, order: Ints) -> kernels.Entries:
        """What stands behind each row in `order`, where all rows are sorted together."""
        n = len(order)
        weights = row_weights(self.fading, n) if self.own is None else self.own
        return kernels.Entries(np.ones(n, np.int64), self.buffer_class[:n], weights)

    def _turned(self, n: int) -> Keys:
        """Room for keys and rows, column by column; a power of two apart, columns would share a cache set."""
        return np.empty((2, sorting.WIDTH, n + 16), self.buffer.dtype)

    def _by_row(self) -> bool:
        """Whether all rows are sorted together; otherwise each class by itself, which is faster but knows no rows."""
        return self.fading != 1.0 or self.own is not None or self.weights.shape[1] > _MOST_CLASSES

    def _stride(self, n_rows: int, n_runs: int) -> int:
        """Thinning moves ranks by stride / 2 in each run: half of eps is spent on it, half on the lists."""
        if self.has_gaps:  # thinning would cost a feature that is rarely there more than its share
            return 1
        return max(1, int(self.eps * n_rows / max(n_runs, 1)))

    def _runs(self, *, whole: bool) -> tuple[Ints, Ints, Ints]:
        """Buffered rows ordered by class and cut into runs: (order, starts, class of each run).

        A whole run has a quarter of the buffer's rows, or nearly so: two classes that are equally frequent are rarely
        equally frequent to the row. Up to four classes leave at least one in a full buffer. With `whole` only those are
        given, otherwise the rest of each class is a run of its own.
        """
        n, length = self.n_buffered, self.capacity // _MOST_CLASSES
        classes, order, bounds = by_class(self.buffer_class[:n], self.weights.shape[1])
        runs: list[tuple[int, int, int]] = []
        for label, start, end in zip(classes.tolist(), bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            runs += [(label, i, min(i + length, end)) for i in range(start, end, length)]
        if whole:
            runs = [run for run in runs if run[2] - run[1] >= length - length // _NEARLY]
        rows = np.concatenate([order[:0], *(order[start:end] for _, start, end in runs)])
        starts = np.concatenate([[0], np.cumsum([end - start for _, start, end in runs])])
        return rows, starts, np.array([label for label, _, _ in runs], np.int64)

    def _blocks(self, n: int, n_blocks: int) -> tuple[Keys, Keys]:
        """Blocks to sort n rows in, and one for the rows behind their keys, starting on a cache line.

        Vectors that straddle lines cost half as much again.
        """
        wanted, kind = max(n, 1) * sorting.WIDTH, self.buffer.dtype
        most = sorting.STORED // sorting.WIDTH * wanted
        if not self.scratch or self.scratch[0].dtype != kind or len(self.scratch[0]) < most:
            self.scratch = [aligned_empty(most, kind), aligned_empty(0, kind)]
        if self._by_row() and len(self.scratch[1]) < wanted:
            self.scratch[1] = aligned_empty(wanted, kind)
        return self.scratch[0][: n_blocks * wanted].reshape(n_blocks, wanted), self.scratch[1][:wanted]

    def _count_present(self, rows: Ints) -> Ints:
        top = np.iinfo(self.buffer.dtype).max
        return np.asarray(np.count_nonzero(self.buffer[:, rows] != top, axis=1).reshape(-1)[: len(self.sizes)])

    def bin_counts(self, n_bins: int) -> Floats:
        """Class weights (n_features, n_bins, n_classes) between cut points at equal ranks; changes nothing."""
        n_features, n_classes, _ = self.weights.shape
        bins = np.zeros((n_features, n_bins, n_classes))
        n_values = self.n_buffered * n_features
        if not self.n_present.any() and n_values <= self.spare:
            self.spare -= n_values
            count_few(self._buffered_keys(), self.buffer_class[: self.n_buffered], self.fading, bins)
            return bins
        self._count_all(bins)
        return bins

    def _count_all(self, bins: Floats) -> None:
        """Count the lists and the waiting rows, which are sorted some stretches of rows by themselves.

        Sorted stretches are kept until they are merged, if that takes little room: whoever reads after every batch need
        not wait until all is sorted again.
        """
        n_blocks, keep = len(self.buffer), self.capacity * self.buffer[:, :1].nbytes <= self.kept_bytes
        self._make_room_for_lines(n_blocks if keep else 1, keep)
        stretches, by_row = stretches_of(self.n_buffered), self._by_row()
        runs = [self._together(stretch) if by_row else self._by_class(stretch) for stretch in stretches]
        starts = np.concatenate([[0], *(each[1:] for _, each, _ in runs)])
        labels = np.concatenate([np.zeros(0, np.int64), *(each for _, _, each in runs)])
        at, (origin, entries) = new_stretches(len(labels), self.lists.shape[2]), self._waiting_entries()
        decay = self.fading ** float(self.n_buffered)
        new = [rows for rows, stretch in zip(runs, stretches, strict=True) if stretch not in self.kept]
        for blocks in [range(n_blocks)] if keep else [range(b, b + 1) for b in range(n_blocks)]:
            for order, run_starts, _ in new:
                places = self._places(order, run_starts)
                for first, block, rows in self._sorted(order, run_starts - run_starts[0], places, blocks):
                    b, column = divmod(first, sorting.STORED)
                    some = (b - blocks.start, slice(column, column + sorting.WIDTH))
                    turn_runs(block, places, run_starts, self.lines[some])
                    if by_row:
                        turn_origins(rows, origin, places, run_starts, self.origins[some])
            for b in blocks:
                features, lines = slice(b * sorting.STORED, (b + 1) * sorting.STORED), self.lines[b - blocks.start]
                lists = (self.lists[features], self.weights[features], self.sizes[features], at, bins[features])
                if by_row:
                    count_rows(lines, self.origins[b - blocks.start], starts, entries, decay, *lists)
                else:
                    count_runs(lines, starts, labels, *lists)
        self.kept = stretches if keep else []

    def _make_room_for_lines(self, n_blocks: int, keep: bool) -> None:
        """Room for so many blocks of the rows that wait; what was sorted is kept if it may be and fits.

        Room for twice the rows when it is used up: the longest stretch is then a new one, to be sorted anew anyway.
        """
        room = max(1 << (self.n_buffered - 1).bit_length(), STRETCH) + 16
        by_row, kind = self._by_row(), self.buffer.dtype
        fitting = len(self.lines) == n_blocks and self.lines.shape[2] >= room and self.lines.dtype == kind
        if not (keep and fitting and len(self.origins) == n_blocks * by_row):
            self.lines, self.kept = np.empty((n_blocks, sorting.STORED, room), kind), []
            small = np.int16 if self.capacity < 2**15 and self.weights.shape[1] < 2**15 else np.int64
            self.origins = np.empty((n_blocks * by_row, sorting.STORED, room), small)

    def _waiting_entries(self) -> tuple[Ints, kernels.Entries]:
        """Which entry each waiting row is, and the entries: with fading the rows themselves, otherwise the classes."""
        if self.fading == 1.0:
            n_classes = self.weights.shape[1]
            entries = kernels.new_entries(n_classes)._replace(classes=np.arange(n_classes))
            return self.buffer_class[: self.n_buffered], entries
        rows = np.arange(self.n_buffered)
        return rows, self._entries(rows)

    @staticmethod
    def _together(stretch: range) -> tuple[Ints, Ints, Ints]:
        """Waiting rows as one run of all classes; see `_by_class`."""
        return np.arange(stretch.start, stretch.stop), np.array([stretch.start, stretch.stop]), np.zeros(1, np.int64)

    def _by_class(self, stretch: range) -> tuple[Ints, Ints, Ints]:
        """Waiting rows ordered by class: (rows, where the rows of each class begin and the last end, classes)."""
        codes = self.buffer_class[stretch.start : stretch.stop]
        classes, order, bounds = by_class(codes, self.weights.shape[1])
        return order + stretch.start, bounds + stretch.start, classes

    def _buffered_keys(self) -> NDArray[Any]:
        """The rows that wait, as keys (n_rows, n_features)."""
        rows = np.moveaxis(self.buffer[:, : self.n_buffered], 0, 1)
        return rows.reshape(len(rows), len(self.buffer) * sorting.STORED)[:, : len(self.sizes)]

    def tidy(self) -> None:
        """Clear the room behind the rows that wait, where merged or refused ones may have left their keys."""
        self.buffer[:, self.n_buffered :] = 0
        self.buffer_class[self.n_buffered :] = 0

    def _make_room_for_rows(self, n_rows: int) -> None:
        """A short stream needs a small buffer, so it grows by doubling; beyond _SHORT rows it gets its full size."""
        blocks, room, width = self.buffer.shape
        if n_rows > room:
            larger = min(self.capacity, 2 ** math.ceil(math.log2(n_rows))) if n_rows <= _SHORT else self.capacity
            buffer = np.zeros((blocks, larger, width), self.buffer.dtype)
            buffer[:, : self.n_buffered] = self.buffer[:, : self.n_buffered]
            self.buffer, self.buffer_class = buffer, np.pad(self.buffer_class, (0, larger - room))

    def _make_room(self, n_classes: int, n_features: int, double: bool) -> None:
        """Room for classes and features not met before, and for float64 where there was float32."""
        if double and self.buffer.dtype == np.int32:
            self._to_double()
        new_classes, new_features = n_classes - self.weights.shape[1], n_features - len(self.sizes)
        if new_classes > 0:
            self.weights = np.pad(self.weights, ((0, 0), (0, new_classes), (0, 0)))
        if new_features > 0:
            self.kept = []
            top = np.iinfo(self.buffer.dtype).max
            more, used = _n_blocks(n_features) - len(self.buffer), len(self.sizes) % sorting.STORED
            if used:
                self.buffer[-1, :, used:] = top
            self.buffer = np.pad(self.buffer, ((0, more), (0, 0), (0, 0)), constant_values=top)
            self.lists = np.pad(self.lists, ((0, new_features), (0, 0), (0, 0)))
            self.weights = np.pad(self.weights, ((0, new_features), (0, 0), (0, 0)))
            for name in ("n_present", "thinning_error", "sizes"):
                setattr(self, name, np.pad(getattr(self, name), (0, new_features)))
            self.has_gaps = self.has_gaps or self.n_buffered > 0  # newcomers are missing from the rows that wait
            self.exact = np.pad(self.exact, (0, new_features), constant_values=True)

    def _to_double(self) -> None:
        """Turn the keys of float32 values into those of the float64 values they equal."""
        self.buffer = double_keys(self.buffer)
        self.lists[:, kernels.KEY] = double_keys(self.lists[:, kernels.KEY].astype(np.int32))

    def _widen(self, room: int) -> None:
        more = room - self.lists.shape[2]
        if more > 0:
            self.lists = np.pad(self.lists, ((0, 0), (0, 0), (0, more)))
            self.weights = np.pad(self.weights, ((0, 0), (0, 0), (0, more)))

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less; ranks stay, for they are those of unfaded rows."""
        if self.n_buffered:
            self._flush(everything=True)
        self.weights = self.weights * factor

    def aligned(self, codes: Ints, n_classes: int) -> Self:
        """Move class c to codes[c], where classes add up; the object itself is changed and returned."""
        self.weights = moved_classes(self.weights, codes, n_classes, axis=1)
        self.buffer_class[: self.n_buffered] = codes[self.buffer_class[: self.n_buffered]]
        self.kept = []
        return self

    def taken(self, features: Ints) -> Self:
        """Keep some features, in this order, -1 for one that no row has had; the object is changed and returned."""
        if self.n_buffered:
            self._flush(everything=True)
        self._make_room(self.weights.shape[1], len(self.sizes) + 1, double=False)
        for name in ("lists", "weights", "n_present", "thinning_error", "sizes", "exact"):
            setattr(self, name, getattr(self, name)[features])
        self.buffer = np.zeros((_n_blocks(len(features)), *self.buffer.shape[1:]), self.buffer.dtype)
        return self

    def merge(self, other: Self) -> None:
        """Add the lists and the buffered rows of another summary; ranks stay within eps of both together."""
        for summary in (self, other):
            if summary.n_buffered:
                summary._flush(everything=True)
            if self.buffer.dtype != other.buffer.dtype and summary.buffer.dtype == np.int32:
                summary._to_double()
        self.n_present = self.n_present + other.n_present
        self.thinning_error = self.thinning_error + other.thinning_error
        limit = np.maximum((self.eps * self.n_present - self.thinning_error).astype(np.int64), 0)
        exact = self.exact & other.exact
        merged = self._empty_ragged(self.sizes + other.sizes)
        merge_ragged(self._ragged(), other._ragged(), limit, int(np.ceil(2.0 / self.eps)), exact, merged)
        self.sizes, self.exact = np.diff(merged.start), exact
        room = max(int(self.sizes.max()), 1)
        self.lists = np.zeros((len(self.sizes), kernels.N_FIELDS, room), np.int64)
        self.weights = np.zeros((len(self.sizes), self.weights.shape[1], room))
        used = np.arange(room) < self.sizes[:, None]
        np.moveaxis(self.lists, 1, 2)[used] = merged.tuples[:, : merged.start[-1]].T
        np.moveaxis(self.weights, 1, 2)[used] = merged.weights[:, : merged.start[-1]].T

    def _ragged(self) -> kernels.Ragged:
        """The lists one behind the other, without the unused room."""
        used = np.arange(self.lists.shape[2]) < self.sizes[:, None]
        start = np.concatenate([[0], np.cumsum(self.sizes)])
        tuples = np.ascontiguousarray(np.moveaxis(self.lists, 1, 2)[used].T)
        return kernels.Ragged(start, tuples, np.ascontiguousarray(np.moveaxis(self.weights, 1, 2)[used].T))

    def _empty_ragged(self, sizes: Ints) -> kernels.Ragged:
        total, n_classes = int(sizes.sum()), self.weights.shape[1]
        tuples = np.empty((kernels.N_FIELDS, total), np.int64)
        return kernels.Ragged(np.zeros(len(sizes) + 1, np.int64), tuples, np.empty((n_classes, total)))


def _n_blocks(n_features: int) -> int:
    return -(-n_features // sorting.STORED)
