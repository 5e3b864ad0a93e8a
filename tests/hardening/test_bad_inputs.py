"""All methods against all bad inputs, and a part of it with kernels that check every index."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from tests.hardening.bad_inputs import attack

from streamsift import catalog


@pytest.mark.parametrize("name", catalog.names())
def test_refused_or_harmless(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert attack(name) == []


@pytest.mark.compiled
def test_no_kernel_leaves_its_arrays(tmp_path: Path) -> None:
    """NUMBA_BOUNDSCHECK=1 changes the code of kernels, so it gets a cache of its own; all: see bad_inputs.py."""
    root = Path(__file__).parents[2]
    settings = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": f"{root / 'src'}:{root}"}
    command = [sys.executable, "-m", "tests.hardening.bad_inputs", "ofs"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | settings, cwd=root)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
