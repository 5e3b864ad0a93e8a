"""OSFS and Fast-OSFS: the published toolbox's selections, naive twins, blocks, states and contract."""

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
from tests.naive import osfs as naive_osfs

from streamsift.columns.fast_osfs import FastOSFS
from streamsift.columns.osfs import OSFS

METHODS = {"osfs": OSFS, "fast_osfs": FastOSFS}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", ["0p01", "0p05"])
@pytest.mark.parametrize(
    ("data", "test", "suffix"),
    [("cont", "fisher_z", "z"), ("wdbc", "fisher_z", "z"), ("disc", "g2", "d_g2"), ("disc", "chi2", "d_chi2")],
)
def test_selections_equal_the_toolbox(shared: Path, method: str, level: str, data: str, test: str, suffix: str) -> None:
    folder = shared / "golden" / "lofs"
    outputs = json.loads((folder / "outputs.json").read_text())
    table = np.load(folder / "inputs.npz")[data]
    selector = METHODS[method](test, alpha=float(level.replace("p", "."))).fit(table[:, :-1], table[:, -1])
    assert places(selector) == outputs[f"{data}_a{level}_{method}_{suffix}"]


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 3))
@settings(max_examples=examples(15))
def test_fisher_z_equals_the_naive_twin(method: str, seed: int, most: int) -> None:
    X, y = numbers(seed, n_columns=12)

    def test(x: Any, y: Any, given: Any) -> Any:
        return naive.fisher_z(x, y, given, 0.05)

    selector = METHODS[method]("fisher_z", max_conditioning=most).fit(X, y)
    assert selector.selected_ == [f"x{k}" for k in getattr(naive_osfs, method)(X, y, test, most)]


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 10**6), pearson=st.booleans())
@settings(max_examples=examples(10))
def test_counts_equal_the_naive_twin(method: str, seed: int, pearson: bool) -> None:
    X, y = codes(seed, n_columns=10)

    def test(x: Any, y: Any, given: Any) -> Any:
        return naive.counts(x, y, given, 0.05, pearson)

    selector = METHODS[method]("chi2" if pearson else "g2", max_conditioning=2).fit(X, y)
    assert selector.selected_ == [f"x{k}" for k in getattr(naive_osfs, method)(X, y, test, 2)]


@pytest.mark.parametrize("method", METHODS)
@given(
    seed=st.integers(0, 10**6),
    test=st.sampled_from(["auto", "fisher_z", "g2", "chi2"]),
    coded=st.booleans(),
    cuts=st.lists(st.integers(0, 15), max_size=3),
)
@settings(max_examples=examples(20))
def test_a_block_is_one_after_the_other(method: str, seed: int, test: str, coded: bool, cuts: list[int]) -> None:
    X, y = (codes if coded else numbers)(seed, n_columns=15)
    if coded and seed % 2:
        X[:, 8] = np.random.default_rng(seed).normal(size=len(y)) + y
    check_blocks(lambda: METHODS[method](test), X, y, cuts)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("test", ["auto", "g2"])
def test_state(method: str, test: str) -> None:
    X, y = (numbers if test == "auto" else codes)(1)
    check_continues(lambda: METHODS[method](test), X, y)
    check_all_or_nothing(lambda: METHODS[method](test), X, y)


@given(seed=st.integers(0, 10**6), coded=st.booleans())
@settings(max_examples=examples(15))
def test_a_redundant_column_names_the_set_that_separates_it(seed: int, coded: bool) -> None:
    X, y = (codes if coded else numbers)(seed, n_columns=12)

    def test(x: Any, y: Any, given: Any) -> Any:
        return naive.counts(x, y, given, 0.05, False) if coded else naive.fisher_z(x, y, given, 0.05)

    selector = FastOSFS("g2" if coded else "fisher_z", max_conditioning=2).begin(y)
    for k in range(X.shape[1]):
        members = [int(name[1:]) for name in selector.selected_]
        decision = selector.offer(X[:, k])
        relevant = X[:, k].min() < X[:, k].max() and not test(X[:, k], y, [])[0]
        found = naive_osfs.separating_set(X, y, k, members, test, 2) if relevant else None
        assert decision.because_of == tuple(f"x{j}" for j in found or ())


def test_decisions_say_why() -> None:
    rng = np.random.default_rng(0)
    cause, noise = rng.normal(size=400), rng.normal(size=400)
    y = cause + 0.5 * rng.normal(size=400) > 0
    weak, strong = cause + 0.5 * rng.normal(size=400), cause
    for method in METHODS.values():
        selector = method.paper("fisher_z").begin(y)
        rejected = selector.offer(noise, "noise")
        assert not rejected.accepted
        assert rejected.statistic < rejected.threshold == pytest.approx(2.5758293)
        assert selector.offer(weak, "weak").accepted
        taken = selector.offer(strong, "strong")
        assert taken.accepted
        assert taken.dropped == ("weak",)
        assert taken.statistic > taken.threshold
        redundant = selector.offer(weak, "weak again")
        assert not redundant.accepted
        assert redundant.statistic < redundant.threshold
        assert redundant.because_of == ("strong",)
        assert rejected.because_of == taken.because_of == ()
        assert selector.selected_ == ["strong"]


def test_a_centred_column_is_not_taken_for_empty() -> None:
    column = np.tile([-1.0, 1.0], 50)  # its sum is 0, for which the published toolbox skips it
    assert OSFS("fisher_z").begin(column > 0).offer(column).accepted
