"""columns_from: columns are handed on as they are, and what does not fit is refused where it comes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from streamsift import Investing, columns_from
from streamsift.core.exceptions import InputError, ParameterError
from streamsift.runs.columns import follow_columns
from streamsift.runs.lead import lead
from streamsift.runs.run import Run
from streamsift.streams.column_iterable import SeenNames

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 9))
Y = X[:, 2] - X[:, 6] + RNG.normal(size=120) / 4
NAMES = [f"c{k}" for k in range(9)]


def one_by_one():
    yield from zip(NAMES, X.T, strict=True)


def in_blocks():
    yield NAMES[:4], X[:, :4]
    yield NAMES[4], X[:, 4].tolist()
    yield tuple(NAMES[5:7]), pd.DataFrame(X[:, 5:7])
    yield np.array(NAMES[7:]), sparse.csc_array(X[:, 7:])


@pytest.mark.parametrize("columns", [one_by_one, in_blocks], ids=["columns", "blocks"])
def test_the_decisions_are_those_of_the_table(columns):
    direct = Investing().fit(pd.DataFrame(X, columns=NAMES), Y)
    assert Investing().run(columns_from(columns(), Y)).selected_ == direct.selected_
    assert Investing().run(columns_from(columns()), Y).selected_ == direct.selected_
    assert direct.selected_


@pytest.mark.parametrize(
    ("columns", "n_columns", "shares"),
    [
        (list(one_by_one()), None, [k / 9 for k in range(1, 10)]),
        (dict(one_by_one()), None, [k / 9 for k in range(1, 10)]),
        (list(in_blocks()), None, [4 / 9, 5 / 9, 7 / 9, 1.0]),
        (in_blocks(), 18, [4 / 18, 5 / 18, 7 / 18, 9 / 18]),
        (in_blocks(), None, [None] * 4),
    ],
    ids=["list", "dict", "list of blocks", "said", "unknown"],
)
def test_the_progress(columns, n_columns, shares):
    source = columns_from(columns, Y, n_columns=n_columns)
    assert [step.progress for step in follow_columns(source, Investing())] == shares


def test_a_run_is_led_over_it():
    ended = lead(Investing(), Run("investing", "columns"), columns_from(in_blocks(), Y, target_name="price"))
    assert ended.run.complete
    assert [row["name"] for row in ended.as_dict()["selected"]] == ["c2", "c6"]
    assert ended.as_dict()["n_features"] == 9


def test_it_can_begin_at_any_block():
    source = columns_from(list(in_blocks()), Y)
    assert [names for names, _ in source.blocks(2)] == [("c5", "c6"), ("c7", "c8")]


LONG, SHORT = np.ones(120), np.ones(7)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([("a", LONG), ("b", SHORT)], r"Column 1 \('b'\) has 7 values where the target has 120"),
        ([("a", LONG), ("b", LONG), ("a", LONG)], "A column called 'a' came before"),
        ([(["a", "b"], X[:, :2]), (["c", "b"], X[:, :2])], "A column called 'b' came before"),
        ([(["a", "a"], X[:, :2])], "Two columns are called 'a'"),
        ([(["a", "b", "c"], X[:, :2])], r"Column 0 \('a'\) comes with 3 names and values of the shape \(120, 2\)"),
        ([("a", X[:, :2])], r"comes with 1 name and values of the shape \(120, 2\)"),
        ([(["a"], LONG)], r"comes with 1 name and values of the shape \(120,\)"),
        ([(3, LONG)], "Column 0 has the name 3: give a text"),
        ([([], X[:, :0])], r"Column 0 has the name \[\]: give a text"),
        ([("a\0", LONG)], "NUL"),
        (iter([LONG]), "Item 0 of the columns is a ndarray"),
    ],
)
def test_what_does_not_fit_is_refused(columns, words):
    with pytest.raises(InputError, match=words):
        Investing().run(columns_from(columns, Y))


def test_without_a_target_the_first_column_tells_the_rows():
    with pytest.raises(InputError, match=r"\('b'\) has 7 values where the columns before it have 120"):
        list(columns_from([("a", LONG), ("b", SHORT)]))


@pytest.mark.parametrize("columns", ["abc", 5, None])
def test_what_is_no_iterable_of_pairs_is_refused(columns):
    with pytest.raises(InputError, match="give an iterable of pairs"):
        columns_from(columns)


def test_the_number_of_columns_is_checked():
    with pytest.raises(ParameterError, match="n_columns"):
        columns_from([], n_columns=-1)


def test_seen_names_are_those_of_a_set():
    rng, seen, naive = np.random.default_rng(1), SeenNames(), set()
    for _ in range(300):
        names = list({f"n{k}" for k in rng.integers(0, 3000, rng.integers(0, 8)).tolist()})
        known = [name for name in names if name in naive]
        assert seen.add(names) == (known[0] if known else None)
        if not known:
            naive.update(names)
    assert len(naive) > 300


def test_a_column_leaves_a_few_bytes_behind():
    def peak(n_columns):
        blocks = (([f"col{k}" for k in range(a, a + 100)], np.ones((20, 100))) for a in range(0, n_columns, 100))
        source = columns_from(blocks, np.zeros(20))
        tracemalloc.start()
        for _ in source:
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    peak(100)
    assert peak(50_000) - peak(10_000) < 40_000 * 32  # the hashes, and twice as much while they are merged
