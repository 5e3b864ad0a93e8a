"""Every check on every method of the catalog, and on its settings that change what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from streamsift import catalog
from streamsift.checks import Check, checks_of

# Settings under which a method keeps another kind of state, and so has to prove itself again.
VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    "+fading": {"fading": 0.99},
    "+auto": {"fading": "auto"},
    "+logistic": {"model": "logistic"},
}

# What a method needs to show something on the checks' samples of a hundred rows or so.
SETTINGS: dict[str, dict[str, Any]] = {
    "abfs": {"grace_period": 50},
    "fires": {"random_state": 0},
    "fires:ann": {"random_state": 0},
    "fires:sdt": {"random_state": 0},
    "etana": {"resolution": 20},
    "f_etana": {"random_state": 0, "max_iterations": 3},
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

# Float32 rows are computed in float32 (docs/adr/0008): with the short steps of the paper the difference is lost in the
# rounding that these checks allow. How far gradients may differ is tested in tests/rows/test_fires_models.py.
WITHIN_ROUNDING = ("float32_gives_the_same_answer", "every_kind_of_array_gives_the_same_answer")
PUBLISHED_STEPS = {"initial_sigma": 1.0, "learning_rate_mu": 0.01, "epochs": 1, "aggregation": "mean"}
SHORT_STEPS: dict[str, dict[str, Any]] = {"fires:ann": PUBLISHED_STEPS, "fires:sdt": PUBLISHED_STEPS}

# (method with variant, check) -> why it cannot pass. Such a check must fail, or the entry is out of date.
AGEING = "a row with NaN still ages the rows before it, a row that is left out does not"
RECENT = "both sides count as equally recent, one pass takes the rows of the other as newer (docs/adr/0006)"
TOGETHER = "what a feature adds depends on the other features, so its score alone is another one"
JOINT = tuple(name for name in catalog.names("rows") if name.startswith("joint:"))
EXPECTED_FAILURES: dict[tuple[str, str], str] = {
    **{(name + suffix, "missing_values_are_not_counted"): TOGETHER for name in JOINT for suffix in ("", "+fading")},
    **{(f"{name}+fading", "merging_equals_one_pass"): RECENT for name in JOINT},
    ("screen:t_score+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:fisher+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:mutual_info+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:chi2+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:gini+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:correlation+fading", "missing_values_are_not_counted"): AGEING,
    ("screen:correlation+fading", "merging_equals_one_pass"): RECENT,
    ("screen:t_score+fading", "merging_equals_one_pass"): RECENT,
    ("screen:fisher+fading", "merging_equals_one_pass"): RECENT,
}

# (method, check) -> why it does not apply; what the method promises instead is tested with the method.
BY_PLACE = "the random start and the Monte-Carlo draws go by the place of a column"
SKIPS: dict[tuple[str, str], str] = {
    ("fires:ann", "permuted_columns_permute_the_answer"): BY_PLACE,
    ("fires:sdt", "permuted_columns_permute_the_answer"): BY_PLACE,
}


def accepts(name: str, settings: dict[str, Any]) -> bool:
    """Whether a method has such settings."""
    limits = catalog.make(name).parameter_limits
    return all(
        parameter in limits and any(limit.accepts(value) for limit in limits[parameter])
        for parameter, value in settings.items()
    )


def cases() -> Iterator[Any]:
    for name in catalog.names():
        for suffix, settings in VARIANTS.items():
            if not accepts(name, settings):
                continue
            for check in checks_of(catalog.entry(name).kind):
                method = name + suffix
                reason = EXPECTED_FAILURES.get((method, check.name))
                marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
                yield pytest.param(check, name, suffix, id=f"{method}-{check.name}", marks=marks)


@pytest.mark.parametrize(("check", "name", "suffix"), list(cases()))
def test_contract(check: Check, name: str, suffix: str) -> None:
    def make() -> Any:
        settings = SETTINGS.get(name, {}) | VARIANTS[suffix]
        if check.name in WITHIN_ROUNDING:
            settings |= SHORT_STEPS.get(name, {})
        if check.name in NEED_LEARNING:
            settings |= TO_LEARN.get(name, {})
        return catalog.make(name, **settings)

    reason = SKIPS.get((name + suffix, check.name)) or check.reason_to_skip(make)
    if reason is not None:
        pytest.skip(reason)
    check.function(make)


def test_expected_failures_name_methods_and_checks_that_exist() -> None:
    known = {
        (name + suffix, check.name)
        for name in catalog.names()
        for suffix in VARIANTS
        for check in checks_of(catalog.entry(name).kind)
    }
    assert {*EXPECTED_FAILURES, *SKIPS, *((name, check) for name in TO_LEARN for check in NEED_LEARNING)} <= known


def test_every_entry_is_checked() -> None:
    checked = {case.values[1] for case in cases()}
    assert checked == set(catalog.names())
