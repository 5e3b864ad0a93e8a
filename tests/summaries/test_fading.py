"""Fading: weights kept relative to a reference row are the true weights, and never grow large."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsift.summaries.fading import advance, row_weights


@pytest.mark.parametrize("fading", [1.0, 0.9, 0.5])
@pytest.mark.parametrize("n_rows", [1, 2, 7])
def test_the_last_row_weighs_1_and_each_before_it_less(fading: float, n_rows: int) -> None:
    wanted = [fading ** (n_rows - 1 - i) for i in range(n_rows)]
    assert row_weights(fading, n_rows).tolist() == pytest.approx(wanted, rel=1e-14)


def test_weights_of_one_are_kept_for_batches_of_usual_size_only() -> None:
    usual = 1 << 16
    assert row_weights(1.0, usual) is row_weights(1.0, usual)
    large = row_weights(1.0, usual + 1)
    assert large is not row_weights(1.0, usual + 1)
    assert large.shape == (usual + 1,)
    assert (large == 1.0).all()


@given(st.sampled_from([1.0, 0.999, 0.9, 0.5, 0.01]), st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_kept_weights_are_the_true_ones(fading: float, sizes: list[int]) -> None:
    kept, age, rows = 0.0, 0, 0
    for size in sizes:
        factor, scale, age = advance(fading, age, size)
        assert factor == 1.0 or scale == 1.0
        assert 1.0 <= scale <= math.exp(5.0) * (1 + 1e-9)
        kept = kept * factor + row_weights(fading, size).sum() * scale
        rows += size
        true = float(np.power(fading, np.arange(rows)).sum())
        assert kept * fading**age == pytest.approx(true, rel=1e-9)


def test_old_weights_are_touched_only_when_new_ones_would_grow_large() -> None:
    assert advance(1.0, 0, 1000) == (1.0, 1.0, 0)
    half = math.log(2.0)
    most = int(5.0 / half)  # seven rows of fading 1/2 weigh 128 < e^5
    assert advance(0.5, 0, most) == (1.0, 2.0**most, most)
    assert advance(0.5, most - 1, 1) == (1.0, 2.0**most, most)
    assert advance(0.5, most, 1) == (0.5 ** (most + 1), 1.0, 0)
    assert advance(math.exp(-1.0), 2, 3)[2] == 5  # exactly e^5 is not yet too large
