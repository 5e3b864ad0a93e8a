"""Some of the forged checkpoints of `python -m tests.fuzz checkpoints`: refused in a sentence, or harmless."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.fuzz import checkpoints
from tests.fuzz.tally import ACCEPTED, REFUSED


@pytest.mark.compiled
def test_forged_checkpoints(tmp_path: Path) -> None:
    make = checkpoints.maker()
    tally = Counter(make(number, 7)[1](tmp_path) for number in range(120))
    checkpoints.original.cache_clear()
    assert tally[REFUSED] > 50
    assert tally[ACCEPTED] > 5
    assert tally[REFUSED] + tally[ACCEPTED] == 120
