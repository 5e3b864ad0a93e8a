"""How much memory a selector and a model hold, measured now and then so that measuring costs next to nothing."""

from __future__ import annotations

import sys
from time import perf_counter
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from streamsift.core.contracts import HasState
from streamsift.core.exceptions import SavedStateError
from streamsift.core.state import n_bytes

SHARE_FOR_MEASURING = 0.001  # of the time of selector and model
CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)  # shared, not held


def object_bytes(thing: Any) -> int:
    """Bytes of everything an object holds: arrays, containers, attributes; what is held twice counts once.

    >>> object_bytes({"weights": np.zeros(1000)}) > 8000
    True
    """
    total, seen, left = 0, set(), [thing]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, CODE):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        if isinstance(one, np.ndarray):
            left += [] if one.base is None else [one.base]  # a view is small, what it looks into is held, too
        elif isinstance(one, dict):
            left += [*one.keys(), *one.values()]
        elif not isinstance(one, str | bytes | int | float):
            if isinstance(one, list | tuple | set | frozenset) or hasattr(one, "popleft"):
                left += one
            left += _attributes(one)
    return total


def _attributes(one: Any) -> list[Any]:
    found = [vars(one)] if hasattr(one, "__dict__") else []
    for kind in type(one).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        found += [getattr(one, name) for name in names if hasattr(one, name) and name != "__dict__"]
    return found


def selector_bytes(selector: Any) -> int:
    """Bytes of the state of a selector; 0 before it has learnt anything and for None."""
    if selector is None:
        return 0
    if isinstance(selector, HasState) and hasattr(selector, "n_rows_seen_"):
        try:
            return n_bytes(selector.state_arrays())
        except SavedStateError:  # a part of it, a detector of somebody else's, cannot be written as arrays
            return object_bytes(selector)
    return 0 if isinstance(selector, HasState) else object_bytes(selector)


class MemoryMeter:
    """The bytes a selector and a model hold.

    Measuring copies states and walks through trees, so it is done only while all measuring has taken less than a
    thousandth of the time of selector and model; in between the last value stands. A short peak may be missed.
    """

    def __init__(self, selector: Any, model: Any) -> None:
        self._selector, self._model = selector, model
        self._spent, self._latest = 0.0, 0

    def read(self, seconds: float, *, anyway: bool = False) -> int:
        """The bytes held after `seconds` of selector and model."""
        if anyway or self._spent <= SHARE_FOR_MEASURING * seconds:
            start = perf_counter()
            self._latest = selector_bytes(self._selector) + object_bytes(self._model)
            self._spent += perf_counter() - start
        return self._latest
