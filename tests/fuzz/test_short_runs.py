"""Short runs of the fuzzers of batches, commands, messages; of readers: tests/hardening, of states: test_states.py."""

from __future__ import annotations

import os
import sys

import pytest

from streamsift import catalog
from tests.fuzz import batches, commands, messages
from tests.fuzz.forked import run

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="workers are forked"),
]


@pytest.mark.parametrize("name", catalog.names())
def test_hostile_batches(name: str) -> None:
    tally = run(batches.maker([name]), seed=3, n_inputs=40)
    assert tally.broken == []
    assert tally.n_inputs == 40


def test_hostile_command_lines() -> None:
    tally = run(commands.maker(), seed=4, n_inputs=100)
    assert tally.broken == []
    assert tally.n_inputs == 100


def test_hostile_messages() -> None:
    tally = run(messages.maker(), seed=5, n_inputs=300)
    assert tally.broken == []
    assert tally.n_inputs == 300
