"""The paper's theorem: with a payoff below 1/4, E(false) < 4 payoff E(true) + 4 wealth."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.columns.investing import Investing

N_RUNS, N_ROWS, N_COLUMNS = 200, 60, 120
CASES = [("iic", "entropy"), ("iic", "tail"), ("alpha", "entropy")]


@pytest.mark.parametrize(("criterion", "coding"), CASES)
@pytest.mark.parametrize("n_true", [0, 8])
@pytest.mark.parametrize(("wealth", "payoff"), [(0.5, 0.24), (0.1, 0.1)])
def test_false_columns_are_bounded(criterion: str, coding: str, n_true: int, wealth: float, payoff: float) -> None:
    found = np.zeros((N_RUNS, 2))
    for seed in range(N_RUNS):
        rng = np.random.default_rng([seed, n_true])
        X = rng.normal(size=(N_ROWS, N_COLUMNS))
        true = rng.choice(N_COLUMNS, n_true, replace=False)
        y = X[:, true].sum(axis=1) + rng.normal(size=N_ROWS)
        selector = Investing(criterion, coding=coding, wealth=wealth, payoff=payoff).begin(y)
        accepted = np.flatnonzero(selector.offer_many(np.asfortranarray(X)).accepted)
        n_right = np.isin(accepted, true).sum()
        found[seed] = len(accepted) - n_right, n_right
    false, right = found.mean(axis=0)
    assert false < 4 * payoff * right + 4 * wealth
    if n_true:
        assert right > 0.5  # the bound does not hold merely because nothing is ever found


def test_the_level_of_the_tail_test_is_the_bid() -> None:
    """On useless columns the first column is accepted in a share of `bid` of the runs, here 1/4."""
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(2000):
        selector = Investing(coding="tail", wealth=0.5).begin(rng.normal(size=10))
        hits += selector.offer(rng.normal(size=10)).accepted
    assert abs(hits / 2000 - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 2000)
