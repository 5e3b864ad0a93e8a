"""Every check on every row selector of the catalog, and on its settings that change what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from streamsift import catalog
from streamsift.checks import Check, row_checks
from streamsift.core.rows import RowSelector

# Settings under which a method keeps another kind of state, and so has to prove itself again.
VARIANTS: dict[str, dict[str, Any]] = {"": {}, "+fading": {"fading": 0.99}}

# What a method needs to show something on the checks' samples of a hundred rows or so.
SETTINGS: dict[str, dict[str, Any]] = {"abfs": {"grace_period": 50}}

# (method with variant, check) -> why it cannot pass. Such a check must fail, or the entry is out of date.
AGEING = "a row with NaN still ages the rows before it, a row that is left out does not"
RECENT = "both sides count as equally recent, one pass takes the rows of the other as newer (docs/adr/0006)"
EXPECTED_FAILURES: dict[tuple[str, str], str] = {
    ("screen:t_score+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:fisher+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:mutual_info+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:chi2+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:gini+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:t_score+fading", "merging_equals_one_pass"): RECENT,
    ("screen:fisher+fading", "merging_equals_one_pass"): RECENT,
}


def cases() -> Iterator[Any]:
    for name in catalog.names("rows"):
        for suffix, settings in VARIANTS.items():
            if not set(settings) <= set(catalog.make(name).get_params()):
                continue
            for check in row_checks():
                method = name + suffix
                reason = EXPECTED_FAILURES.get((method, check.name))
                marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
                yield pytest.param(check, name, settings, id=f"{method}-{check.name}", marks=marks)


@pytest.mark.parametrize(("check", "name", "settings"), list(cases()))
def test_contract(check: Check, name: str, settings: dict[str, Any]) -> None:
    def make() -> RowSelector:
        selector: RowSelector = catalog.make(name, **SETTINGS.get(name, {}), **settings)
        return selector

    reason = check.reason_to_skip(make)
    if reason is not None:
        pytest.skip(reason)
    check.function(make)


def test_expected_failures_name_methods_and_checks_that_exist() -> None:
    methods = {name + suffix for name in catalog.names("rows") for suffix in VARIANTS}
    checks = {check.name for check in row_checks()}
    for method, check in EXPECTED_FAILURES:
        assert method in methods
        assert check in checks
