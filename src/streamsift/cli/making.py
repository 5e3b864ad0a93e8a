"""From `--make pairs,lags:5` to a source of columns that are made on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamsift.core.exceptions import ParameterError


def refuse_rows_for_make(method: str) -> None:
    """Raise ParameterError for a method that does not judge columns one after the other."""
    from streamsift.runs.lead import loop_for

    if not loop_for(method).takes_columns:
        raise ParameterError(
            f"--make is for methods that judge columns one after the other; {method!r} does not: choose investing, "
            "osfs or another one, or leave out --make."
        )


def check_make(text: str, method: str, selector: Any, *, goes_on: bool) -> list[str]:
    """The recipes, one by one, as far as the method can do anything with the columns they make."""
    from streamsift.interop.sklearn import RECIPES, read_recipes

    refuse_rows_for_make(method)
    if selector.stream_tags().whole_table:
        raise ParameterError(
            f"{method!r} needs all columns at once, and --make never holds them: choose investing, osfs or another one."
        )
    if goes_on:
        raise ParameterError("--make does not go with --load: the columns of DATA would be offered a second time.")
    named = read_recipes(text)
    return [name if RECIPES[name].number is None else f"{name}:{number}" for name, number in named]


def with_made_columns(data: str, target: str | None, recipes: list[str], reading: Mapping[str, Any]) -> Any:
    """The columns of a file, and those that are made from them."""
    from streamsift.interop.sklearn import make_columns
    from streamsift.streams.column_sources import open_columns

    return make_columns(open_columns(data, target, **reading), recipes)
