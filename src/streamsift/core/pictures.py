"""The one step up: every `.plot()` and notebook view is drawn in `report`, which is looked up only when asked for.

Lower layers hold results, `report` draws them, and imports go down only. A result still has a `.plot()` because that is
where people look for it. It names its picture here; nothing of `report` is imported before somebody wants to see it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar


def picture(name: str, *arguments: Any) -> Any:
    """Draw the picture of that name ("module:function" within `streamsift.report`)."""
    module, _, function = name.partition(":")
    return getattr(import_module(f"streamsift.report.{module}"), function)(*arguments)


class InNotebook:
    """A notebook shows an estimator that has learnt by its own picture, another one as scikit-learn does."""

    notebook_picture: ClassVar[str]  # of `picture`
    learnt_sign: ClassVar[str] = "n_rows_seen_"  # the attribute that only an estimator has that has learnt

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        if not hasattr(self, self.learnt_sign):
            from sklearn.utils import estimator_html_repr  # whoever only reads a trace does not wait for it

            return {"text/plain": repr(self), "text/html": estimator_html_repr(self)}
        return {"text/plain": repr(self), "text/html": picture(self.notebook_picture, self)}
