"""A short run of the fuzzer of states: each forged state is refused in one sentence, or harmless."""

from __future__ import annotations

import os
import sys
from functools import partial

import numpy as np
import pytest

from streamsift import catalog
from tests.fuzz.forked import Make, Use, run
from tests.fuzz.states import Forged, at_random, attempt, learnt, systematic, variants
from tests.fuzz.tally import ACCEPTED

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="workers are forked"),
]

N_CASES = 16  # of each method


def in_turn(cases: list[Forged]) -> Make:
    def make(number: int, _: int) -> tuple[str, Use]:
        return cases[number].what, partial(attempt, cases[number])

    return make


@pytest.mark.parametrize("name", catalog.names())
def test_forged_states_are_refused_or_harmless(name: str) -> None:
    rng = np.random.default_rng(len(name))
    options = variants(name)
    original = learnt(name, options[int(rng.integers(len(options)))])
    cases = list(systematic(original))
    picked = [cases[0], *(cases[place] for place in rng.choice(len(cases), N_CASES // 2, replace=False))]
    picked += [at_random(original, rng) for _ in range(N_CASES // 2)]
    tally = run(in_turn(picked), seed=0, n_inputs=len(picked))
    assert tally.broken == []
    assert tally.n_inputs == len(picked)
    assert tally.counts["as it was"] == {ACCEPTED: 1}
