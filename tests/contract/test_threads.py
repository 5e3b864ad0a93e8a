"""The number of threads changes the speed of a method, never its result."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import hashlib
import numpy as np
from streamsift import catalog

random = np.random.default_rng(0)
X, y = random.normal(size=(400, 300)), random.integers(0, 3, 400)
for name in catalog.names("rows"):
    selector = catalog.make(name)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    selector.partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    digest = hashlib.sha256()
    for key, array in sorted(selector.state_arrays().items()):
        digest.update(key.encode() + array.tobytes())
    print(name, digest.hexdigest(), selector.scores_.tobytes().hex())
"""


def results(threads: int) -> str:
    environment = os.environ | {"NUMBA_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="plain Python has no threads")
def test_one_thread_and_two_give_the_same_bits() -> None:
    one = results(1)
    assert "screen:t_score" in one
    assert results(2) == one
