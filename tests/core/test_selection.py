"""Selection, Decision, ranks and the number of features a request means."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from streamsift.core.selection import Decision, Decisions, Selection, how_many, rank_scores


@pytest.mark.parametrize(
    ("request_", "number"),
    [(None, 7), (3, 3), (99, 7), (np.int64(2), 2), (0.5, 4), (0.01, 1), (1.0, 7), (np.float32(0.3), 2)],
)
def test_how_many(request_: int | float | None, number: int) -> None:
    assert how_many(request_, 7) == number


def test_equal_scores_rank_in_the_order_of_the_columns() -> None:
    assert rank_scores(np.array([1.0, 2.0, 2.0, np.inf, 1.0])).tolist() == [3, 1, 2, 0, 4]


def test_a_selection_becomes_json_even_with_infinite_scores() -> None:
    selection = Selection(np.array([4, 1]), ("e", "b"), np.array([np.inf, 0.5]), 5, 100)
    assert len(selection) == 2
    assert json.loads(json.dumps(selection.as_dict(), allow_nan=False)) == {
        "n_features": 5,
        "n_rows_seen": 100,
        "selected": [
            {"rank": 1, "index": 4, "name": "e", "score": "inf"},
            {"rank": 2, "index": 1, "name": "b", "score": 0.5},
        ],
    }


def test_a_selection_may_have_no_scores() -> None:
    selection = Selection(np.array([4]), ("e",), None, 5, 100)
    assert selection.as_dict()["selected"] == [{"rank": 1, "index": 4, "name": "e"}]


def test_a_decision_says_as_much_as_it_knows() -> None:
    decision = Decision("x7", accepted=True)
    assert decision.dropped == ()
    assert decision.wealth is None
    assert np.isnan(decision.statistic)
    assert decision.because_of == ()


def test_a_block_of_decisions_is_a_sequence_of_them_and_a_table() -> None:
    single = [Decision("a", True, dropped=("z",)), Decision("b", False, because_of=("a", "y")), Decision("c", False)]
    block = Decisions.of(single)
    assert block == single
    assert block[1:] == single[1:]
    assert block[:1] == single[:1]
    assert block != single[::-1]
    assert block.to_arrow()["because_of"].to_pylist() == [[], ["a", "y"], []]
    assert block.to_arrow()["dropped"].to_pylist() == [["z"], [], []]
    assert block[2:].to_arrow()["because_of"].to_pylist() == [[]]


def test_scores_that_are_not_numbers_are_text_in_json() -> None:
    selection = Selection(np.array([0, 1]), ("a", "b"), np.array([-np.inf, np.nan]), 2, 9)
    assert [row["score"] for row in selection.as_dict()["selected"]] == ["-inf", "nan"]


BIDS = [
    Decision("a", True, statistic=3.0, threshold=1.0, wealth=0.7, wealth_before=0.5),
    Decision("b", False, statistic=0.5, threshold=1.5, wealth=0.6, wealth_before=0.7),
]


def test_a_block_keeps_what_was_bid() -> None:
    block = Decisions.of(BIDS)
    assert list(block) == BIDS
    assert block[-1] == BIDS[1]
    assert block[::-1] == BIDS[::-1]
    assert block.take(np.array([1])) == BIDS[1:]
    assert block.to_arrow().to_pydict() == {
        "name": ["a", "b"],
        "accepted": [True, False],
        "statistic": [3.0, 0.5],
        "threshold": [1.0, 1.5],
        "wealth_before": [0.5, 0.7],
        "wealth": [0.7, 0.6],
        "dropped": [[], []],
        "because_of": [[], []],
    }
    assert "wealth" not in Decisions.of([Decision("a", True)]).to_arrow().column_names
    with pytest.raises(IndexError):
        block[2]


def test_blocks_are_equal_where_every_answer_is() -> None:
    block = Decisions.of(BIDS)
    assert block == Decisions.of(BIDS)
    assert block != BIDS[:1]
    assert block != [BIDS[0], "b"]
    assert block != 5
    assert block != [BIDS[0], replace(BIDS[1], statistic=0.25)]
    nothing_known = [Decision("a", True)]
    assert Decisions.of(nothing_known) == nothing_known  # NaN equals NaN here
    assert Decisions.of(nothing_known) != [Decision("a", True, statistic=1.0)]
    assert Decisions.of([Decision("a", True, statistic=1.0)]) != nothing_known


def test_selections_are_compared_by_what_they_say() -> None:
    one = Selection(np.array([4, 1]), ("e", "b"), np.array([2.0, 0.5]), 5, 100)
    assert one == replace(one, indices=one.indices.copy(), scores=np.array([2.0, 0.5]))
    others: list[dict[str, Any]] = [{"scores": None}, {"scores": np.array([2.0, 0.4])}, {"indices": np.array([4, 2])}]
    for other in [*others, {"names": ("e", "c")}, {"n_rows_seen": 99}]:
        assert one != replace(one, **other)
    assert replace(one, scores=None) == replace(one, scores=None)
    assert one != "e"
