"""The same numbers for each test; smaller draws and grids where kernels run as plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.instances import f_etana, grid


@pytest.fixture(autouse=True)
def small_without_machine_code(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    if scale < 1.0:
        monkeypatch.setattr(f_etana, "DRAWS", 40)
        monkeypatch.setattr(f_etana, "FEWEST_DRAWS", 40)
        monkeypatch.setattr(grid, "STEPS", {2: 100, 3: 10, 4: 6, 5: 5})


@pytest.fixture(autouse=True)
def same_numbers_in_any_order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator that the tests of a file share starts anew for each: what it draws depends on no other test."""
    if hasattr(request.module, "RANDOM"):
        monkeypatch.setattr(request.module, "RANDOM", np.random.default_rng(3))
