"""The contracts as plain functions, so that any method, also one from outside, can prove itself.

    from streamsift.checks import run_checks
    run_checks(lambda: MyMethod(n_features_to_select=5))

Which checks apply is decided by the kind of stream that the method's tags declare (`stream_tags().kind`). Each check
takes a function that makes a new method and raises AssertionError when a promise is broken. A check that asks for a
promise the method's tags do not make is skipped; any other is skipped only by name and with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType

from streamsift.checks import columns, instances
from streamsift.checks.all_kinds import batches, hard_data, inputs, parameters, refusals, states, transforms
from streamsift.checks.rows import answers, categories, half_lives, merging, numbers, streams
from streamsift.checks.samples import Make
from streamsift.core.exceptions import ParameterError, StreamsiftError, UnknownNameError
from streamsift.core.tags import Kind, MethodTags

__all__ = ["BrokenPromiseError", "Check", "Make", "checks_of", "run_checks"]

_ALL_KINDS = (parameters, refusals, inputs, hard_data, states)
_MODULES: dict[Kind, tuple[ModuleType, ...]] = {
    "rows": (*_ALL_KINDS, batches, transforms, streams, half_lives, merging, answers, categories, numbers),
    "columns": (*_ALL_KINDS, transforms, columns),
    "instances": (*_ALL_KINDS, batches, instances),
}

# Checks of promises that only some methods make, with the tags that make them.
_PROMISES: dict[Callable[[Make], None], tuple[str, ...]] = {
    inputs.check_labels_of_every_kind: ("supervised",),
    batches.check_late_class_counts_like_an_announced_one: ("supervised",),
    streams.check_cut_into_batches_does_not_matter: ("batch_invariant",),
    streams.check_one_class_scores_zero_and_warns: ("supervised",),
    streams.check_many_classes: ("supervised",),
    streams.check_values_of_rows_without_label_do_not_matter: ("supervised",),
    streams.check_missing_values_are_not_counted: ("missing",),
    streams.check_missing_values_may_fill_a_column: ("missing",),
    streams.check_late_features_get_a_slot: ("late_features",),
    streams.check_vanished_features_keep_their_slots: ("late_features",),
    streams.check_transform_follows_coming_and_going_features: ("late_features",),
    streams.check_failed_call_with_new_features_changes_nothing: ("late_features",),
    streams.check_absent_features_are_missing_values: ("late_features", "missing"),
    streams.check_constant_features_do_not_come_first: ("ignores_constants",),
    half_lives.check_half_life_is_fading_in_other_words: ("fades",),
    half_lives.check_event_time_is_weights: ("fades", "weights", "batch_invariant"),
    half_lives.check_half_lives_that_do_not_fit_are_refused: ("fades",),
    answers.check_informative_column_wins: ("supervised",),
    answers.check_pipeline_selects_before_it_classifies: ("supervised",),
    numbers.check_column_that_explains_a_number_wins: ("regression",),
    numbers.check_units_of_a_number_do_not_matter: ("regression",),
    numbers.check_state_of_numbers_survives: ("regression",),
    numbers.check_bad_numbers_are_refused_and_change_nothing: ("regression",),
    numbers.check_cut_of_numbers_into_batches_does_not_matter: ("regression",),
    numbers.check_number_of_features_is_kept_for_numbers: ("regression",),
    columns.check_numeric_target: ("numeric_target",),
    columns.check_offering_many_equals_offering_one_by_one: ("one_by_one",),
    columns.check_cut_into_blocks_does_not_matter: ("one_by_one", "batch_invariant"),
    columns.check_decisions_tell_the_story: ("one_by_one",),
    columns.check_rejected_columns_leave_no_trace: ("one_by_one",),
    columns.check_permuted_rows_give_the_same_decisions: ("one_by_one", "row_invariant"),
    columns.check_columns_are_offered_after_begin: ("one_by_one",),
    columns.check_bad_column_is_refused_by_row_and_name: ("one_by_one",),
    columns.check_names_tell_columns_apart: ("one_by_one",),
    instances.check_missing_values_are_skipped_and_not_charged: ("missing",),
    instances.check_missing_values_may_be_learnt_from: ("missing",),
}


class BrokenPromiseError(StreamsiftError, AssertionError):
    """A method fails a check; the text names both and says what is wrong."""


@dataclass(frozen=True)
class Check:
    """One check: its name, what it calls, and the tags without which it does not apply."""

    name: str
    function: Callable[[Make], None]
    promises: tuple[str, ...] = ()

    def reason_to_skip(self, make: Make) -> str | None:
        """Why this check does not apply to a method, or None when it does."""
        tags = make().stream_tags()
        lacking = [promise for promise in self.promises if not getattr(tags, promise)]
        return f"the method does not promise {lacking[0]}" if lacking else None


def checks_of(kind: Kind) -> list[Check]:
    """Every check of methods for one kind of stream ("rows", "columns" or "instances"), in a fixed order.

    Examples
    --------
    >>> from streamsift.checks import checks_of
    >>> [check.name for check in checks_of("columns")][:2]
    ['init_only_stores_arguments', 'clone_is_unfitted_with_equal_parameters']
    """
    return [
        Check(name.removeprefix("check_"), function, _PROMISES.get(function, ()))
        for module in _MODULES[kind]
        for name, function in vars(module).items()
        if name.startswith("check_")
    ]


def run_checks(make: Make, skip: Mapping[str, str] | None = None) -> dict[str, str]:
    """Run every check on a method and stop at the first that fails.

    Parameters
    ----------
    make : callable without arguments
        Makes a new, unfitted method for rows, columns or instances, with the settings to check.
    skip : mapping of check name to reason, optional
        Checks to leave out, each with the reason why.

    Returns
    -------
    dict
        For each check "passed" or "skipped: ..." with the reason.

    Raises
    ------
    BrokenPromiseError
        For the first check that fails; the text names it.

    Examples
    --------
    >>> from streamsift import OSFS, Screener
    >>> from streamsift.checks import run_checks
    >>> outcomes = run_checks(lambda: Screener(criterion="fisher"))
    >>> outcomes["cut_into_batches_does_not_matter"]
    'passed'
    >>> run_checks(OSFS)["offering_many_equals_offering_one_by_one"]
    'passed'
    """
    reasons = dict(skip or {})
    checks = checks_of(_kind(make))
    for name in reasons:
        if name not in [check.name for check in checks]:
            raise UnknownNameError("check", name, [check.name for check in checks])
    method = type(make()).__name__
    outcomes: dict[str, str] = {}
    for check in checks:
        reason = reasons.get(check.name) or check.reason_to_skip(make)
        if reason is not None:
            outcomes[check.name] = f"skipped: {reason}"
            continue
        try:
            check.function(make)
        except Exception as error:
            raise BrokenPromiseError(f"{method} fails the check {check.name}: {error}") from error
        outcomes[check.name] = "passed"
    return outcomes


def _kind(make: Make) -> Kind:
    """The kind of stream a method declares in its tags."""
    method = make()
    declare = getattr(method, "stream_tags", None)
    tags = declare() if callable(declare) else None
    if not isinstance(tags, MethodTags):
        raise ParameterError(
            f"{type(method).__name__} does not say which kind of stream it is for: let its method stream_tags() return "
            "StreamTags, ColumnTags or InstanceTags (streamsift.core.tags)."
        )
    return tags.kind
