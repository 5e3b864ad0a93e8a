"""Every check on every row selector of the catalog, and on its settings that change what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from streamsift import catalog
from streamsift.checks import Check, row_checks
from streamsift.core.rows import RowSelector

# Settings under which a method keeps another kind of state, and so has to prove itself again.
VARIANTS: dict[str, dict[str, Any]] = {"": {}, "+fading": {"fading": 0.99}, "+auto": {"fading": "auto"}}

# What a method needs to show something on the checks' samples of a hundred rows or so.
SETTINGS: dict[str, dict[str, Any]] = {
    "abfs": {"grace_period": 50},
    "fires": {"random_state": 0},
    "fires:ann": {"random_state": 0},
    "fires:sdt": {"random_state": 0},
}

# And where it must have learnt from them: FIRES takes one short step a batch, and as published the net and the tree are
# led by chance for hundreds of batches (tests/rows/test_fires_models.py shows both).
NEED_LEARNING = (
    "informative_column_wins",
    "pipeline_selects_before_it_classifies",
    "constant_features_do_not_come_first",
    "many_classes",
    "late_features_get_a_slot",
)
LONGER_STEPS: dict[str, Any] = {"initial_sigma": 0.1, "learning_rate_mu": 1.0, "epochs": 100, "aggregation": "squares"}
TO_LEARN: dict[str, dict[str, Any]] = dict.fromkeys(("fires", "fires:ann", "fires:sdt"), LONGER_STEPS)

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

# (method, check) -> why it does not apply; what the method promises instead is tested with the method.
BY_PLACE = "the random start and the Monte-Carlo draws go by the place of a column"
SKIPS: dict[tuple[str, str], str] = {
    ("fires:ann", "permuted_columns_permute_scores"): BY_PLACE,
    ("fires:sdt", "permuted_columns_permute_scores"): BY_PLACE,
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
                yield pytest.param(check, name, suffix, id=f"{method}-{check.name}", marks=marks)


@pytest.mark.parametrize(("check", "name", "suffix"), list(cases()))
def test_contract(check: Check, name: str, suffix: str) -> None:
    def make() -> RowSelector:
        settings = SETTINGS.get(name, {}) | VARIANTS[suffix]
        if check.name in NEED_LEARNING:
            settings |= TO_LEARN.get(name, {})
        selector: RowSelector = catalog.make(name, **settings)
        return selector

    reason = SKIPS.get((name + suffix, check.name)) or check.reason_to_skip(make)
    if reason is not None:
        pytest.skip(reason)
    check.function(make)


def test_expected_failures_name_methods_and_checks_that_exist() -> None:
    methods = {name + suffix for name in catalog.names("rows") for suffix in VARIANTS}
    checks = {check.name for check in row_checks()}
    for method, check in [*EXPECTED_FAILURES, *SKIPS, *((name, check) for name in TO_LEARN for check in NEED_LEARNING)]:
        assert method in methods
        assert check in checks
