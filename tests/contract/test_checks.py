"""The checks themselves: a method that keeps its promises passes, and every check can fail."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from tests.contract.broken_methods import BREAKS, WHOLE
from tests.contract.broken_numbers import BREAKS as NUMBERS
from tests.contract.broken_numbers import Slope
from tests.contract.broken_rows import PrefersNoise
from tests.contract.mean_gap import MeanGap

from streamsift import Investing
from streamsift.checks import BrokenPromiseError, Check, checks_of, run_checks
from streamsift.core.exceptions import ParameterError, UnknownNameError
from streamsift.core.tags import Kind

CASES = [pytest.param(kind, check, id=f"{kind}-{check.name}") for kind in BREAKS for check in checks_of(kind)]
UNPROMISED: dict[Kind, set[str]] = {
    "rows": {"missing", "late_features", "fades", "regression"},
    "columns": set(),
    "instances": set(),
}


@pytest.mark.parametrize("kind", BREAKS)
def test_the_worked_examples_keep_their_promises(kind: Kind) -> None:
    outcomes = run_checks(WHOLE[kind])
    assert list(outcomes) == [check.name for check in checks_of(kind)]
    skipped = {outcome for outcome in outcomes.values() if outcome != "passed"}
    assert skipped == {f"skipped: the method does not promise {tag}" for tag in UNPROMISED[kind]}


def test_the_worked_example_for_numbers_keeps_its_promises() -> None:
    outcomes = run_checks(Slope)
    assert all(outcomes[name] == "passed" for name in NUMBERS)


@pytest.mark.parametrize("kind", BREAKS)
def test_every_check_has_a_method_that_breaks_it(kind: Kind) -> None:
    names = [check.name for check in checks_of(kind)]
    assert len(set(names)) == len(names)
    assert set(BREAKS[kind]) == set(names)


@pytest.mark.parametrize(("kind", "check"), CASES)
def test_every_check_can_fail(kind: Kind, check: Check) -> None:
    method = BREAKS[kind][check.name]
    assert check.reason_to_skip(method) is None
    with pytest.raises((AssertionError, ValueError, TypeError, IndexError, AttributeError)):
        check.function(method)


def test_a_failure_names_method_and_check() -> None:
    with pytest.raises(BrokenPromiseError, match=r"PrefersNoise fails the check .*: "):
        run_checks(PrefersNoise)


def test_a_check_is_left_out_by_name_and_with_a_reason() -> None:
    outcomes = run_checks(MeanGap, skip={"tiny_data": "there are always many rows"})
    assert outcomes["tiny_data"] == "skipped: there are always many rows"


def test_a_mistyped_name_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'tiny_data'"):
        run_checks(MeanGap, skip={"tiny_dta": "mistyped"})


def test_column_selectors_get_the_checks_of_columns() -> None:
    assert run_checks(lambda: Investing())["cut_into_blocks_does_not_matter"] == "passed"


@pytest.mark.parametrize("make", [LogisticRegression, dict])
def test_what_declares_no_kind_is_refused_in_words(make: Any) -> None:
    with pytest.raises(ParameterError, match="does not say which kind of stream it is for: let its method stream_tags"):
        run_checks(make)
