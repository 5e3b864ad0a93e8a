"""Selection, Decision, ranks and the number of features a request means."""

from __future__ import annotations

import json

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
    assert block != single[::-1]
    assert block.to_arrow()["because_of"].to_pylist() == [[], ["a", "y"], []]
    assert block.to_arrow()["dropped"].to_pylist() == [["z"], [], []]
    assert block[2:].to_arrow()["because_of"].to_pylist() == [[]]
