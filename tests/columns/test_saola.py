"""SAOLA: the published toolbox's selections, naive twin, blocks, states and contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.columns.compared import check_all_or_nothing, check_blocks, check_continues, codes, examples, numbers, places
from tests.naive import independence as naive
from tests.naive.saola import saola

from streamsift.columns.saola import SAOLA


@pytest.fixture(scope="module")
def golden(shared: Path) -> tuple[Any, dict[str, Any]]:
    folder = shared / "golden" / "lofs"
    return np.load(folder / "inputs.npz"), json.loads((folder / "outputs.json").read_text())


@pytest.mark.parametrize("level", ["0p01", "0p05"])
@pytest.mark.parametrize("data", ["cont", "wdbc"])
def test_selections_by_correlation_equal_the_toolbox(golden: Any, data: str, level: str) -> None:
    inputs, outputs = golden
    table = inputs[data]
    selector = SAOLA("fisher_z", alpha=float(level.replace("p", "."))).fit(table[:, :-1], table[:, -1])
    assert places(selector) == outputs[f"{data}_a{level}_saola_z"]


@pytest.mark.parametrize("level", ["0", "0p01", "0p05"])
def test_selections_by_uncertainty_equal_the_toolbox(golden: Any, level: str) -> None:
    inputs, outputs = golden
    table = inputs["disc"]
    threshold = float(level.replace("p", "."))
    for test in ("symmetric_uncertainty", "auto"):
        selector = SAOLA(test, threshold=threshold).fit(table[:, :-1], table[:, -1])
        assert places(selector) == outputs[f"disc_t{level}_saola_mi"]


@given(seed=st.integers(0, 10**6))
@settings(max_examples=examples(30))
def test_correlation_equals_the_naive_twin(seed: int) -> None:
    X, y = numbers(seed)
    # The twin sums in another order: copies would tie in one and not in the other.
    X += 1e-6 * np.std(X, axis=0) * np.random.default_rng(seed).normal(size=X.shape)

    def relation(a: Any, b: Any) -> Any:
        independent, _ = naive.fisher_z(a, b, [], 0.01)
        return abs(naive.partial_correlation(a, b, [])), not independent

    assert SAOLA("fisher_z").fit(X, y).selected_ == [f"x{k}" for k in saola(X, y, relation)]


@given(seed=st.integers(0, 10**6), threshold=st.sampled_from([0.0, 0.02]))
@settings(max_examples=examples(30))
def test_uncertainty_equals_the_naive_twin(seed: int, threshold: float) -> None:
    X, y = codes(seed, n_classes=3)

    def relation(a: Any, b: Any) -> Any:
        strength = round(naive.symmetric_uncertainty(a, b), 12)
        return strength, strength > threshold

    assert SAOLA("symmetric_uncertainty", threshold=threshold).fit(X, y).selected_ == [
        f"x{k}" for k in saola(X, y, relation)
    ]


@given(
    seed=st.integers(0, 10**6),
    test=st.sampled_from(["auto", "fisher_z", "symmetric_uncertainty"]),
    coded=st.booleans(),
    cuts=st.lists(st.integers(0, 15), max_size=3),
)
@settings(max_examples=examples(30))
def test_a_block_is_one_after_the_other(seed: int, test: str, coded: bool, cuts: list[int]) -> None:
    X, y = (codes if coded else numbers)(seed, n_columns=15)
    check_blocks(lambda: SAOLA(test), X, y, cuts)


@pytest.mark.parametrize("test", ["auto", "symmetric_uncertainty"])
def test_state(test: str) -> None:
    X, y = (numbers if test == "auto" else codes)(1)
    check_continues(lambda: SAOLA(test), X, y)
    check_all_or_nothing(lambda: SAOLA(test), X, y)


@pytest.mark.parametrize("test", ["fisher_z", "symmetric_uncertainty"])
def test_of_equal_columns_the_first_stays(test: str) -> None:
    X, y = codes(2, n_columns=4)
    X[:, 0] = np.where(np.random.default_rng(0).random(len(y)) < 0.8, y, 1 - y)
    selector = SAOLA(test).begin(y)
    assert selector.offer(X[:, 0], "first").accepted
    copy = selector.offer(X[:, 0], "copy")
    assert not copy.accepted
    assert copy.dropped == ()
    assert copy.statistic < copy.threshold
    assert copy.because_of == ("first",)
    assert selector.selected_ == ["first"]
