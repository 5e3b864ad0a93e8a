"""Fading from 0.5 to 1 - 1e-12: scores stay finite, weights are what the formula says, and nothing grows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamsift import catalog
from tests.soak.feeding import batches, block, soak

RATES = (0.5, 0.9, 0.999, 1.0 - 1e-6, 1.0 - 1e-9, 1.0 - 1e-12)
SCREENS = tuple(name for name in catalog.names("rows") if name.startswith("screen:"))
LARGEST_ERROR = 1e-9  # of the sum of all weights, relative


def run(
    n_rows: int, n_features: int, *, say: Callable[[str], None] = print, names: tuple[str, ...] = SCREENS
) -> list[str]:
    """Let each screening method learn `n_rows` rows with each rate; what went wrong, in words."""
    problems = []
    for name in names:
        for rate in RATES:
            soaked = soak(name, n_rows, n_features, say=lambda _: None, fading=rate, n_block=min(n_rows, 1 << 14))
            problems += [f"{name} with fading {rate}: {problem}" for problem in soaked.problems]
            say(f"fading {rate:<16.13g}{soaked.summary()}")
    for rate in RATES:
        error = weight_error(rate, n_rows)
        say(f"fading {rate:<16.13g}error of the sum of weights after {n_rows:,} rows: {error:.1e}")
        if not error <= LARGEST_ERROR:
            problems.append(f"with fading {rate} the sum of weights is wrong by {error:.1e}")
    return problems


def weight_error(rate: float, n_rows: int, n_batch: int = 1000) -> float:
    """How far the weights of all rows, summed by the class moments, are from (1 - rate^n) / (1 - rate), relative."""
    n_batch = min(n_rows, n_batch)
    selector, done = catalog.make("screen:fisher", fading=rate), 0
    for X, y in batches(*block(n_batch, 2), n_batch):
        selector.partial_fit(X, y)
        done += len(X)
        if done >= n_rows:
            break
    numbers = selector._state.numbers
    found = float(np.asarray(numbers.weight).sum()) * rate**numbers.age
    expected = float(-np.expm1(done * np.log1p(rate - 1.0)) / (1.0 - rate))
    return abs(found / expected - 1.0)
