"""The walk of a block through a selection: tiles change nothing, and a failed block leaves the state as it was."""

from __future__ import annotations

import numpy as np
import pytest
from tests.columns.compared import assert_same_state, codes, numbers

from streamsift.columns.members import numbers_of
from streamsift.columns.osfs import OSFS
from streamsift.columns.saola import SAOLA
from streamsift.core.column_data import Target
from streamsift.core.exceptions import InputError
from streamsift.core.vocabulary import LabelVocabulary


def target(labels: list[object]) -> Target:
    codes_, vocabulary = LabelVocabulary().encode(labels)
    return Target(codes_.astype(float), vocabulary)


def test_labels_that_are_numbers_stand_for_themselves_and_others_are_numbered_in_sorted_order() -> None:
    assert numbers_of(target([7, -1, 7, 30])).tolist() == [7.0, -1.0, 7.0, 30.0]
    assert numbers_of(target([True, False])).tolist() == [1.0, 0.0]
    assert numbers_of(target(["red", "blue", "red", "green"])).tolist() == [2.0, 0.0, 2.0, 1.0]
    assert numbers_of(Target(np.array([0.5, 1.5]), None)).tolist() == [0.5, 1.5]


def test_a_block_of_several_tiles_is_judged_as_its_parts() -> None:
    """A tile takes 1 MiB: 2,184 columns of 60 rows."""
    X, y = numbers(3, n_columns=2500)
    whole, parts = (SAOLA("fisher_z").begin(y) for _ in range(2))
    answers = whole.offer_many(X)
    several = [decision for start in range(0, 2500, 500) for decision in parts.offer_many(X[:, start : start + 500])]
    assert answers == several
    assert answers.accepted[2184:].any() or any(decision.because_of for decision in several[2184:])
    assert_same_state(whole, parts.state_arrays())


@pytest.mark.parametrize("place", [0, 3, 5])
def test_the_first_column_that_is_no_code_turns_all_to_numbers(place: int) -> None:
    X, y = codes(0, n_columns=6)
    X[:, 0] = np.where(np.random.default_rng(0).random(len(y)) < 0.9, y, 1 - y)  # two values: may become numbers
    X[:, 1:] = X[:, 1:] > 1
    before = X[:, place].copy()
    X[:, place] = before + np.random.default_rng(1).normal(size=len(y))
    selector, single = SAOLA("auto").begin(y), SAOLA("auto").begin(y)
    answers = selector.offer_many(X)
    assert list(answers) == [single.offer(X[:, k]) for k in range(6)]
    assert not selector._state.as_codes
    if place == 0:
        assert answers == SAOLA("fisher_z").begin(y).offer_many(X)
    else:
        assert answers[:place] == SAOLA("symmetric_uncertainty").begin(y).offer_many(X[:, :place])


def test_members_without_an_order_cannot_become_numbers() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    colour = np.where(rng.random(120) < 0.8, 2 * y, 1.0)  # three categories that tell the class
    selector = OSFS("auto").begin(y)
    assert selector.offer(colour, "colour", categorical=True).accepted
    before = selector.state_arrays()
    block = np.column_stack([rng.integers(0, 2, 120), rng.normal(size=120)])
    with pytest.raises(InputError, match="Column 'colour' holds 3 categories, which have no order"):
        selector.offer_many(block, ["noise", "number"])
    assert_same_state(selector, before)
    assert selector.selected_ == ["colour"]
    with pytest.raises(InputError, match="Column 'late' holds 3 categories"):
        OSFS("fisher_z").begin(y).offer(colour, "late", categorical=True)
    two = (colour > 0).astype(float)
    assert OSFS("fisher_z").begin(y).offer(two, "two", categorical=True).accepted


def test_a_number_to_explain_is_compared_as_numbers_from_the_first_column_on() -> None:
    X, _ = codes(1, n_columns=6)  # codes, which a target with classes would have compared as such
    y = X[:, 2] + np.random.default_rng(1).normal(size=len(X))
    selector = OSFS("auto").begin(y)
    assert not selector._state.as_codes
    answers = selector.offer_many(X)
    assert answers.accepted.any()
    assert answers == OSFS("fisher_z").begin(y).offer_many(X)
