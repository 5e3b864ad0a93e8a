"""The checks themselves: a method that keeps its promises passes, and every check can fail."""

from __future__ import annotations

import pytest
from tests.contract.broken_methods import BREAKS, PrefersNoise
from tests.contract.mean_gap import MeanGap

from streamsift.checks import BrokenPromiseError, Check, row_checks, run_checks
from streamsift.core.exceptions import UnknownNameError

CHECKS = {check.name: check for check in row_checks()}


def test_the_worked_example_keeps_its_promises() -> None:
    outcomes = run_checks(MeanGap)
    assert set(outcomes) == set(CHECKS)
    skipped = {name: outcome for name, outcome in outcomes.items() if outcome != "passed"}
    assert set(skipped.values()) == {
        "skipped: the method does not promise missing",
        "skipped: the method does not promise late_features",
    }


def test_every_check_has_a_method_that_breaks_it() -> None:
    assert set(BREAKS) == set(CHECKS)


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_every_check_can_fail(check: Check) -> None:
    method = BREAKS[check.name]
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
