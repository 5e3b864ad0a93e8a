"""Options that belong together: a verb gets them as one value, a named tuple of what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any


def option_group(name: str, kind: Any, options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """A decorator that gives a verb these options; it gets them as the argument `name`, of the named tuple `kind`."""

    def give(command: Any) -> Any:
        @wraps(command)
        def collected(*positions: Any, **given: Any) -> Any:
            asked = kind(*(given.pop(field) for field in kind._fields))
            return command(*positions, **{name: asked}, **given)

        for option in reversed(options):
            option(collected)
        return collected

    return give
