"""State as named arrays: a dataclass of arrays, numbers and further dataclasses, flattened to a dict and back.

Keys are dotted paths. Numbers travel as 0-dimensional arrays, so everything survives an .npz file without pickle.
"""

from __future__ import annotations

import dataclasses
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import SavedStateError


@dataclasses.dataclass(frozen=True)
class RowCounts:
    """What the saved state of a method that learns rows holds beside the labels and the method's own arrays."""

    n_rows_seen: int
    n_features: int


def state_to_arrays(state: Any, prefix: str = "") -> dict[str, NDArray[Any]]:
    """Flatten a dataclass of arrays; the arrays are copies.

    A state whose arrays have room that is not in use may have a method `tidy`, which clears it: equal states are then
    equal arrays.

    >>> @dataclasses.dataclass
    ... class Counter:
    ...     n: int
    ...     sums: np.ndarray
    >>> sorted(state_to_arrays(Counter(3, np.zeros(2))))
    ['n', 'sums']
    """
    arrays: dict[str, NDArray[Any]] = {}
    if hasattr(state, "tidy"):
        state.tidy()
    for field in dataclasses.fields(state):
        if not field.init:  # scratch space
            continue
        value = getattr(state, field.name)
        if dataclasses.is_dataclass(value):
            arrays |= state_to_arrays(value, f"{prefix}{field.name}.")
        else:
            arrays[prefix + field.name] = np.array(value)
    return arrays


def state_from_arrays(kind: type[Any], arrays: dict[str, NDArray[Any]], prefix: str = "") -> Any:
    """The inverse of state_to_arrays for a given dataclass."""
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        hint, key = hints[field.name], prefix + field.name
        if dataclasses.is_dataclass(hint):
            assert isinstance(hint, type)
            values[field.name] = state_from_arrays(hint, arrays, f"{key}.")
        elif key not in arrays:
            raise SavedStateError(f"The saved state lacks {key!r}: it was written by another version or method.")
        else:
            values[field.name] = _restored(arrays[key], hint, key)
    return kind(**values)


def _restored(array: NDArray[Any], hint: Any, key: str) -> Any:
    """A number, or a copy of an array, if it is of the annotated type; kernels would read any other as garbage."""
    scalar = hint in (int, float, bool, str)
    if scalar:
        wanted, fits = hint.__name__, array.ndim == 0 and isinstance(array.item(), hint)
    else:
        element = get_args(get_args(hint)[1])[0]  # NDArray[np.float64] -> np.float64
        element = get_origin(element) or element  # np.integer[Any] -> np.integer
        wanted, fits = f"an array of {element.__name__}", np.issubdtype(array.dtype, element)
    if not fits:
        raise SavedStateError(f"The saved state {key!r} is {array.dtype} of shape {array.shape} instead of {wanted}.")
    return array.item() if scalar else array.astype(array.dtype.newbyteorder("="))


def n_bytes(arrays: dict[str, NDArray[Any]]) -> int:
    """Memory of a state in bytes."""
    return sum(array.nbytes for array in arrays.values())
