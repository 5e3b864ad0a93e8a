"""Machine code that is kept on disk and cannot be read back is compiled anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
from streamsift.kernels.compile import kernel
@kernel
def double(values):
    return 2.0 * values
print(double(np.ones(2)).sum(), len(double.stats.cache_hits), len(double.stats.cache_misses))
"""


@pytest.mark.compiled
def test_what_was_kept_by_another_version_is_compiled_anew(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def run() -> str:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert run() == "4.0 0 1"
    assert run() == "4.0 1 0"
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    whole = index.read_bytes()
    # The class of the types it was compiled for has another name now; numba's own version still stands at the start.
    renamed = whole.replace(b"numba.core.types", b"numba.core.typos")
    assert renamed != whole
    for damaged in (renamed, whole[: len(whole) // 2]):
        index.write_bytes(damaged)
        assert run() == "4.0 0 1"
        assert run() == "4.0 1 0"
