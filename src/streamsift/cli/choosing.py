"""The method of `select` where none is named: joint:forward, or a screen where that suits better."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from streamsift.cli.parameters import OPTIONS

if TYPE_CHECKING:
    from streamsift.core.batch import Batch

USUAL = "joint:forward"
SCREENS = {"classification": "screen:mutual_info", "regression": "screen:correlation"}
MEMORY = "--memory"  # which cuts a table by columns: only what judges them one by one can be cut so
MANY_VALUES = 50  # of a category, in the first 1,000 rows: one column for each then tells little (defaults.md)


class Chosen(NamedTuple):
    """A method, and the line that says why."""

    method: str
    why: str


def choose(task: str, first: Batch | None, given: Collection[str], *, in_parts: bool) -> Chosen:
    """The method for a task, the first rows (None: unknown), the options that were given, one pass or parts."""
    from streamsift import catalog

    screen = SCREENS[task]
    for name in given:
        if name == MEMORY or (name in catalog.parameters(screen) and name not in catalog.parameters(USUAL)):
            option = OPTIONS.get(name, name if name == MEMORY else f"--set {name}")
            return Chosen(screen, f"Method: {screen}, since {option} is for methods that screen.")
    categories = _sizes_of_categories(first)
    n_columns = 0 if first is None else first.X.shape[1]
    many = sum(size > MANY_VALUES for size in categories)
    if 2 * many > n_columns:
        which = "the only column is" if n_columns == 1 else f"{many} of {n_columns} columns are"
        words = f"{which} categories of more than {MANY_VALUES} values"
        return Chosen(screen, f"Method: {screen}, since {words}; --method {USUAL} takes each value as a column.")
    if in_parts and categories:
        words = f"categories come in parts, of which --method {USUAL} merges up to 2,000 values in all"
        return Chosen(screen, f"Method: {screen}, since {words}.")
    words = "a feature counts for what it adds to those above it"
    return Chosen(USUAL, f"Method: {USUAL}, the default: {words}; --method {screen} judges each by itself.")


def _sizes_of_categories(first: Batch | None) -> list[int]:
    """How many values each column of categories has."""
    if first is None or first.kinds is None:
        return []
    return [len(names) for names in first.kinds.names.values()]
