"""The sorting networks: runs of any length, filled up with missing keys; and rows that go with their keys."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.kernels import quantile_sorting as sorting
from streamsift.kernels.quantile_sorting import STORED, WIDTH

LENGTHS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 64, 65, 100, 128, 129, 257, 1000]


def keys_of_rows(rng, n, dtype, kind):
    ends = np.iinfo(dtype)
    if kind == "ties":
        return rng.integers(-3, 3, (n, STORED)).astype(dtype)
    if kind == "ends":
        return rng.choice(np.array([ends.min, -1, 0, 1, ends.max], dtype), (n, STORED))
    return rng.integers(ends.min, ends.max, (n, STORED), dtype)


def power_of_two(n):
    return max(8, 1 << (n - 1).bit_length())


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("kind", ["random", "ties", "ends"])
def test_each_run_is_sorted_by_itself(dtype, kind):
    rng = np.random.default_rng(1)
    for n in LENGTHS:
        lengths = [n, 5]
        rows = keys_of_rows(rng, sum(lengths), dtype, kind)
        order = rng.permutation(sum(lengths))
        starts, places = np.cumsum([0, *lengths]), np.cumsum([0, *map(power_of_two, lengths)])
        blocks = np.empty((STORED // WIDTH, places[-1] * WIDTH), dtype)
        sorting.sort_eights(rows, order, starts, places, blocks)
        for block in blocks:
            sorting.sort_runs((block,), np.diff(starts) // 8 * 8, places)
        runs = np.hstack(list(blocks.reshape(STORED // WIDTH, -1, WIDTH)))
        for r, length in enumerate(lengths):
            run = runs[places[r] : places[r + 1]]
            np.testing.assert_array_equal(run[:length], np.sort(rows[order[starts[r] : starts[r + 1]]], axis=0))
            assert (run[length:] == np.iinfo(dtype).max).all()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("kind", ["random", "ties"])
def test_rows_go_with_their_keys(dtype, kind):
    rng = np.random.default_rng(2)
    for n in LENGTHS:
        rows = keys_of_rows(rng, n, dtype, kind)
        size = power_of_two(n) * WIDTH
        block, origin = np.empty(size, dtype), np.empty(size, dtype)
        column = int(rng.integers(STORED - WIDTH + 1))
        sorting.load_rows(rows, column, rng.permutation(n), block, origin)
        rows = rows[:, column : column + WIDTH]
        sorting.sort_runs((block, origin), np.zeros(1, np.int64), np.array([0, power_of_two(n)]))
        keys, origin = block.reshape(-1, WIDTH)[:n], origin.reshape(-1, WIDTH)[:n]
        np.testing.assert_array_equal(keys, np.sort(rows, axis=0))
        np.testing.assert_array_equal(rows[origin, np.arange(WIDTH)], keys)
        np.testing.assert_array_equal(np.sort(origin, axis=0), np.tile(np.arange(n)[:, None], WIDTH))


def test_kept_rows_move_to_the_beginning():
    rng = np.random.default_rng(3)
    buffer = rng.integers(0, 100, (3, 20, WIDTH))
    kept = np.array([0, 3, 4, 11, 19])
    wanted = buffer[:, kept].copy()
    sorting.keep_rows(buffer, kept)
    np.testing.assert_array_equal(buffer[:, :5], wanted)
