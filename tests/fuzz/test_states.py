"""A short run of the fuzzer of states: each forged state is refused in one sentence, or harmless."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from streamsift import catalog
from tests.fuzz.states import FINE, at_random, attempt, learnt, systematic, variants
from tests.fuzz.workers import run_cases

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="workers are forked"),
]

N_CASES = 16  # of each method


@pytest.mark.parametrize("name", catalog.names())
def test_forged_states_are_refused_or_harmless(name: str) -> None:
    rng = np.random.default_rng(len(name))
    options = variants(name)
    original = learnt(name, options[int(rng.integers(len(options)))])
    cases = list(systematic(original))
    picked = [cases[0], *(cases[place] for place in rng.choice(len(cases), N_CASES // 2, replace=False))]
    picked += [at_random(original, rng) for _ in range(N_CASES // 2)]
    outcomes = {picked[place].what: outcome for place, outcome in run_cases(attempt, picked)}
    assert outcomes.pop("as it was") == "harmless"
    assert {what: outcome for what, outcome in outcomes.items() if outcome not in FINE} == {}


def test_the_fuzzer_notices_what_it_looks_for() -> None:
    def misbehave(how: str) -> str:
        if how == "crash":
            os.abort()
        return "harmless" if how == "fine" else how

    outcomes = [outcome for _, outcome in run_cases(misbehave, ["fine", "crash", "NaN in scores", "crash", "fine"])]
    assert outcomes == ["harmless", "signal SIGABRT", "NaN in scores", "signal SIGABRT", "harmless"]
