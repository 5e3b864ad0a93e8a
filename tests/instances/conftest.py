"""Smaller draws and grids where kernels run as plain Python."""

from __future__ import annotations

import pytest

from streamsift.instances import f_etana, grid


@pytest.fixture(autouse=True)
def small_without_machine_code(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    if scale < 1.0:
        monkeypatch.setattr(f_etana, "DRAWS", 40)
        monkeypatch.setattr(f_etana, "FEWEST_DRAWS", 40)
        monkeypatch.setattr(grid, "STEPS", {2: 100, 3: 10, 4: 6, 5: 5})
