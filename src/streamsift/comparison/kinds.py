"""What differs between the kinds of method in a comparison: one line of a table for each.

Whoever needs to know how a kind is treated asks its line; no other module of the comparison distinguishes kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from streamsift.comparison.methods import Kind
from streamsift.comparison.repeats import Survey
from streamsift.core.exceptions import ParameterError


@dataclass(frozen=True)
class ComparedKind:
    """How the methods of a kind take part.

    protocol: how they are judged. baseline: they always run, and are never recommended for themselves. classifies: they
    predict themselves, without a model. selects_once: a run ends with one selection, so that stability is measured
    between repeats. grows_with_classes: the time of a run may depend on the number of classes more than on the rows.
    parameters: what the data settles where nobody has given it. misfit: why a method, with the tags it has, cannot
    take part on the data; None where it can.
    """

    protocol: str
    baseline: bool = False
    classifies: bool = False
    selects_once: bool = False
    grows_with_classes: bool = False
    parameters: Callable[[Survey], dict[str, Any]] = lambda facts: {}
    misfit: Callable[[Any, Any, Survey], str | None] = lambda made, tags, facts: None


FOR_CLASSES = "it is for classes, and the target is a number"


def _rows_misfit(made: Any, tags: Any, facts: Survey) -> str | None:
    if tags.supervised and facts.numeric and not tags.regression:
        return FOR_CLASSES
    if not facts.numeric and getattr(made, "task", "") == "regression":
        return "it is for numbers (task='regression'), and the target is classes"
    if tags.supervised and tags.multi_class == "none" and facts.n_classes > 2:
        return f"it distinguishes two classes, and there are {facts.n_classes}"
    return None


def _columns_misfit(made: Any, tags: Any, facts: Survey) -> str | None:
    if facts.numeric and not tags.numeric_target:
        return FOR_CLASSES
    if facts.mixed and not tags.mixed_columns:
        return "its test takes numbers or categories, and the data mixes them"
    return None


def _rows_parameters(facts: Survey) -> dict[str, Any]:
    return {"task": "regression"} if facts.numeric else {}


def _columns_parameters(facts: Survey) -> dict[str, Any]:
    """No straight line explains three classes."""
    return {"model": "logistic"} if facts.n_classes > 2 else {}


def _instances_misfit(made: Any, tags: Any, facts: Survey) -> str | None:
    """A grid over the probabilities of the classes grows fast with their number."""
    if facts.numeric:
        return FOR_CLASSES
    if not tags.class_grid:
        return None
    from streamsift.instances.grid import refuse_too_large, steps_for  # numba: only once such a method was made

    try:
        refuse_too_large(facts.n_classes, steps_for(facts.n_classes, made.resolution), n_stages=1)
    except ParameterError:
        return f"its grid over the probabilities of {facts.n_classes} classes would not fit into memory"
    return None


KINDS: dict[Kind, ComparedKind] = {
    "rows": ComparedKind("prequential", parameters=_rows_parameters, misfit=_rows_misfit),
    "baseline": ComparedKind("prequential", baseline=True),
    "columns": ComparedKind("columns", selects_once=True, parameters=_columns_parameters, misfit=_columns_misfit),
    "instances": ComparedKind("instances", classifies=True, grows_with_classes=True, misfit=_instances_misfit),
}
PROTOCOLS = tuple(dict.fromkeys(kind.protocol for kind in KINDS.values()))


def is_baseline(figures: Mapping[str, Any]) -> bool:
    """Whether the figures of an entry, as a comparison gives them, are those of a baseline.

    >>> is_baseline({"kind": "baseline"}), is_baseline({"kind": "columns"})
    (True, False)
    """
    kind: Kind = figures["kind"]
    return KINDS[kind].baseline
