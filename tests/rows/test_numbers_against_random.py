"""The small version of `python -m benchmarks.numbers`: methods for numbers beat random features."""

from __future__ import annotations

import pytest
from benchmarks.numbers import errors

from streamsift.streams import generate

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("method", ["fires", "fires:ann(random_state=0)", "fires:sdt(random_state=0)", "abfs"])
def test_true_features_are_worth_more_than_random_ones(method: str) -> None:
    def stream() -> object:
        return generate("friedman_drift", n_rows=1500, n_features=15, shift_every=10_000, seed=0)

    found = errors(stream, 5, 0, (method,))
    assert found[method] < 0.95 * found["random"]
    assert found[method] < found["mean"]
