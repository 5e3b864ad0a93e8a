"""Copies and pickles of a method: its parameters and its state as named arrays, which is all there is of it.

Whatever copies a method (`copy`, `pickle`, joblib and its worker processes) gets what a saved file holds: the
parameters, and the arrays of `state_arrays()`. They are checked as those of a file are before the copy is used. Locks
and caches stay behind. A state that holds objects of the user's, which no array can hold, is copied as it is.

This makes a pickle whole, not safe: the bytes of a pickle can run code whatever they hold. Nothing in this package
reads one; a file for others is written by `streamsift.save`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.exceptions import NotFittedError

from streamsift.core.constraints import Limits, check_parameters
from streamsift.core.exceptions import SavedStateError
from streamsift.core.guard import OneThreadAtATime, held

_OF_SCIKIT_LEARN = {"_sklearn_output_config", "_metadata_request"}  # what set_output and set_fit_request leave


class CopiedByState(OneThreadAtATime):
    """What the base class of each kind inherits first; it has `state_arrays` and `load_state_arrays`."""

    parameter_limits: ClassVar[Limits]

    def __getstate__(self) -> dict[str, Any]:
        with held(self):
            method: Any = self
            everything = {name: value for name, value in vars(self).items() if name != "_inside"}
            try:
                arrays = method.state_arrays()
            except (NotFittedError, SavedStateError):  # nothing is learnt, or objects of the user's are part of it
                return {"attributes": everything, "arrays": None}
            parameters = method.get_params(deep=False).keys() | _OF_SCIKIT_LEARN
        return {
            "attributes": {name: value for name, value in everything.items() if name in parameters or _is_plain(name)},
            "arrays": arrays,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        method: Any = self
        vars(self).update(state["attributes"])
        if state["arrays"] is not None:
            check_parameters(type(self).__name__, method.get_params(deep=False), self.parameter_limits)
            method.load_state_arrays(state["arrays"])


def _is_plain(name: str) -> bool:
    """Whether an attribute was put there by a user: it is neither learnt nor private."""
    return not name.startswith("_") and not name.endswith("_")
