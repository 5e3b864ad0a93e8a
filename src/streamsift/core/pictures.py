"""The one step up: every `.plot()` and notebook view is drawn in `report`, which is looked up only when asked for.

Lower layers hold results, `report` draws them, and imports go down only. A result still has a `.plot()` because that is
where people look for it. It names its picture here; nothing of `report` is imported before somebody wants to see it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def picture(name: str, *arguments: Any) -> Any:
    """Draw the picture of that name ("module:function" within `streamsift.report`)."""
    module, _, function = name.partition(":")
    return getattr(import_module(f"streamsift.report.{module}"), function)(*arguments)
