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
SETTINGS: dict[str, dict[str, Any]] = {
    "abfs": {"grace_period": 50},
    "fires": {"random_state": 0},
    "fires:ann": {"random_state": 0},
    "fires:sdt": {"random_state": 0},
}

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
NO_INTERCEPT = "no intercept: a constant column serves as one, and its size sets its weight"
ORIGIN = "no intercept: the class means of the sample lie on one side of the origin, so its line cannot pass between"
ROW_SCALED = "every row is scaled by its own least and largest value, so a constant column of their size wins or loses"
COUNTS = "made for counts: among normal noise, scaled row by row, the largest value of a row is mostly chance"
NOT_CENTRED = "the data is not centred: a column with a large mean is a leading direction"
ONE_STEP = "a step is taken per batch, so a newcomer in the second batch has had fewer steps than the others"
BY_BATCH = "the check learns the same rows in one batch and in two, and the method takes one step a batch"
BY_PLACE = "the random start and the Monte-Carlo draws go by the place of a column"
CANCELS = "the mean of a feature's weights over the nodes (2.1.4): nodes learn it with opposite signs, chance is left"
SKIPS: dict[tuple[str, str], str] = {
    ("fires", "labels_of_every_kind"): BY_BATCH,
    ("fires", "late_features_get_a_slot"): ONE_STEP,
    ("fires:ann", "labels_of_every_kind"): BY_BATCH,
    ("fires:ann", "late_features_get_a_slot"): ONE_STEP,
    ("fires:ann", "permuted_columns_permute_scores"): BY_PLACE,
    ("fires:ann", "informative_column_wins"): CANCELS,
    ("fires:ann", "pipeline_selects_before_it_classifies"): CANCELS,
    ("fires:ann", "constant_features_do_not_spoil_scores"): CANCELS,
    ("fires:ann", "many_classes"): CANCELS,
    ("fires:sdt", "labels_of_every_kind"): BY_BATCH,
    ("fires:sdt", "late_features_get_a_slot"): ONE_STEP,
    ("fires:sdt", "permuted_columns_permute_scores"): BY_PLACE,
    ("fires:sdt", "informative_column_wins"): CANCELS,
    ("fires:sdt", "pipeline_selects_before_it_classifies"): CANCELS,
    ("fires:sdt", "constant_features_do_not_spoil_scores"): CANCELS,
    ("fires:sdt", "many_classes"): CANCELS,
    ("ofs", "constant_features_do_not_spoil_scores"): NO_INTERCEPT,
    ("ofs", "informative_column_wins"): ORIGIN,
    ("efs", "constant_features_do_not_spoil_scores"): ROW_SCALED,
    ("efs", "informative_column_wins"): COUNTS,
    ("efs", "pipeline_selects_before_it_classifies"): COUNTS,
    ("efs", "many_classes"): COUNTS,
    ("efs", "late_features_get_a_slot"): COUNTS,
    ("fsds", "constant_features_do_not_spoil_scores"): NOT_CENTRED,
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

    reason = SKIPS.get((name, check.name)) or check.reason_to_skip(make)
    if reason is not None:
        pytest.skip(reason)
    check.function(make)


def test_expected_failures_name_methods_and_checks_that_exist() -> None:
    methods = {name + suffix for name in catalog.names("rows") for suffix in VARIANTS}
    checks = {check.name for check in row_checks()}
    for method, check in [*EXPECTED_FAILURES, *SKIPS]:
        assert method in methods
        assert check in checks
