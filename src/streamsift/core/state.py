"""State as named arrays: a dataclass of arrays, numbers and further dataclasses, flattened to a dict and back.

Keys are dotted paths. Numbers travel as 0-dimensional arrays, so everything survives an .npz file without pickle.

A saved state is a stranger's: kernels take its numbers for sizes and indices. So whatever they rely on is declared
beside the field, and checked here before an object is made:

    sizes: Annotated[Ints, Shape("n_features"), Within(0, "room")]

A name in a shape is bound where it is first met and must be the same wherever it is met again. Known from the start is
what the base class gives (`n_features`, `n_classes`, `n_rows_seen`, ...), and numbers of the same dataclass can be used
as limits by their names. Relations that no declaration can express are tested by a method
`problem(self, sizes) -> str | None` of the dataclass, which says in a few words what is wrong. A dataclass inside
another shares its names, unless the outer one lists it in `own_sizes`: it then has names of its own, and begins with
GIVEN_SIZES, each read under the name that stands there for it. A dataclass inside another whose field has a default may
be absent from a file: an older release wrote it.
"""

from __future__ import annotations

import dataclasses
from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import SavedStateError

MOST_ROWS = 2**53  # counters that are also kept as floats are exact up to here
MOST_FEATURES = 2**31 - 1
GIVEN_SIZES = ("n_features", "n_classes", "n_rows_seen")

Sizes = Mapping[str, Any]
Bound = int | float | str | None


class Shape:
    """The sizes of an array: numbers, names such as "n_features", or "n_features + 1"; a tuple lists alternatives."""

    def __init__(self, *sizes: int | str | tuple[int | str, ...]) -> None:
        self.sizes = sizes

    def problem(self, value: Any, known: MutableMapping[str, Any]) -> str | None:
        """What is wrong with the shape of an array; names not known yet become known."""
        if value.ndim != len(self.sizes):
            return f"has {value.ndim} dimensions instead of {len(self.sizes)}"
        for axis, (given, wanted) in enumerate(zip(value.shape, self.sizes, strict=True)):
            if isinstance(wanted, str) and wanted.isidentifier() and wanted not in known:
                known[wanted] = given
            choices = wanted if isinstance(wanted, tuple) else (wanted,)
            if given not in [_amount(choice, known) for choice in choices]:
                meant = " or ".join(str(_amount(choice, known)) for choice in choices)
                return f"has {given} entries along axis {axis} instead of {meant}"
        return None


class Within:
    """Every number lies between two limits, both included: numbers or names of sizes; None is no limit. Refuses NaN."""

    def __init__(self, low: Bound, high: Bound = None) -> None:
        self.low, self.high = low, high

    def problem(self, value: Any, known: MutableMapping[str, Any]) -> str | None:
        """The first number that lies outside, in words."""
        values = np.asarray(value)
        fine = values == values
        low, high = (_amount(bound, known) for bound in (self.low, self.high))
        if low is not None:
            fine &= values >= low
        if high is not None:
            fine &= values <= high
        if fine.all():
            return None
        bad = values.reshape(-1)[int(np.argmin(fine))].item() if values.ndim else values.item()
        return f"holds {bad!r}, which is not between {low} and {high}"


class Finite(Within):
    """No number is NaN or infinite, or larger than `largest` in size."""

    def __init__(self, largest: float = float(np.finfo(np.float64).max)) -> None:
        super().__init__(-largest, largest)


class Increasing:
    """Numbers never fall; with `strictly` they rise."""

    def __init__(self, *, strictly: bool = False) -> None:
        self.strictly = strictly

    def problem(self, value: Any, known: MutableMapping[str, Any]) -> str | None:
        """Whether some number falls, in words."""
        fine = value[1:] > value[:-1] if self.strictly else value[1:] >= value[:-1]
        return None if fine.all() else "is not in increasing order"


class Distinct:
    """No value occurs twice."""

    def problem(self, value: Any, known: MutableMapping[str, Any]) -> str | None:
        """Whether some value occurs twice, in words."""
        return None if len(np.unique(value)) == value.size else "holds the same value twice"


class Offsets:
    """Where parts that lie one behind the other begin, and the last ends: from 0 to a size, never falling."""

    def __init__(self, end: str, *, least: int = 0) -> None:
        self.end, self.least = end, least

    def problem(self, value: Any, known: MutableMapping[str, Any]) -> str | None:
        """Whether a part begins in the wrong place, in words."""
        if value[0] != 0 or (value[1:] < value[:-1]).any() or (np.diff(value) < self.least).any():
            return f"does not rise from 0 by at least {self.least}"
        if self.end not in known:
            known[self.end] = int(value[-1])
        end = known[self.end]
        return None if value[-1] == end else f"ends at {value[-1]} instead of {end}"


def _amount(bound: Bound, known: Mapping[str, Any]) -> Any:
    """The value of a number, a name, or a name plus or minus a number."""
    if not isinstance(bound, str):
        return bound
    name, *rest = bound.split()
    amount = known[name]
    return amount if not rest else amount + int(rest[1]) * (1 if rest[0] == "+" else -1)


@dataclasses.dataclass(frozen=True)
class RowCounts:
    """What the saved state of a method that learns rows holds beside the labels and the method's own arrays."""

    n_rows_seen: Annotated[int, Within(0, MOST_ROWS)]
    n_features: Annotated[int, Within(1, MOST_FEATURES)]


@dataclasses.dataclass(frozen=True)
class UnlabelledRows:
    """The rows that came without a label; saved where there were any."""

    n_rows_unlabelled: Annotated[int, Within(0, MOST_ROWS)]


@dataclasses.dataclass(frozen=True)
class EventTime:
    """The latest time of a row, in seconds; saved where rows have times."""

    latest_time: Annotated[float, Finite()]


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


def state_from_arrays(
    kind: type[Any], arrays: dict[str, NDArray[Any]], prefix: str = "", sizes: MutableMapping[str, Any] | None = None
) -> Any:
    """The inverse of state_to_arrays for a given dataclass; raises SavedStateError for what it declares otherwise.

    `sizes` are those known from elsewhere; those met in the arrays are added.

    >>> @dataclasses.dataclass
    ... class Counter:
    ...     n: Annotated[int, Within(0)]
    ...     sums: Annotated[NDArray[np.float64], Shape("n_features"), Finite()]
    >>> state_from_arrays(Counter, {"n": np.array(3), "sums": np.zeros(2)}, sizes={"n_features": 2})
    Counter(n=3, sums=array([0., 0.]))
    """
    sizes = {} if sizes is None else sizes
    key: Any = kind
    declared = _declared(key)
    plain = {name: hint for name, (hint, _) in declared.items() if not dataclasses.is_dataclass(hint)}
    values = {name: _restored(arrays, hint, prefix + name) for name, hint in plain.items()}
    numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
    for name in plain:
        for declaration in declared[name][1]:
            problem = declaration.problem(values[name], _Scope(numbers, sizes))
            if problem is not None:
                raise SavedStateError(f"The saved state is damaged: {prefix + name!r} {problem}.")
    later = {field.name for field in dataclasses.fields(kind) if field.default_factory is not dataclasses.MISSING}
    for name, (hint, _) in declared.items():
        if dataclasses.is_dataclass(hint):
            assert isinstance(hint, type)
            if name in later and not any(key.startswith(f"{prefix}{name}.") for key in arrays):
                continue
            renamed = getattr(kind, "own_sizes", {}).get(name)
            known = sizes if renamed is None else {given: sizes[renamed.get(given, given)] for given in GIVEN_SIZES}
            values[name] = state_from_arrays(hint, arrays, f"{prefix}{name}.", known)
    with np.errstate(all="ignore"):
        state = kind(**values)
        problem = state.problem(sizes) if hasattr(state, "problem") else None
    if problem is not None:
        raise SavedStateError(f"The saved state is damaged: in {prefix.rstrip('.') or 'it'} {problem}.")
    return state


class _Scope(ChainMap[str, Any]):
    """Numbers of the dataclass, then sizes of the whole state; what is bound is bound for the whole state."""

    def __setitem__(self, name: str, value: Any) -> None:
        self.maps[-1][name] = value


@cache
def _declared(kind: Any) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """The type of each field that is saved, and what is declared of it."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: _declarations(hints[field.name]) for field in dataclasses.fields(kind) if field.init}


def _declarations(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type of a field, and what is declared of it."""
    if get_origin(hint) is not Annotated:
        return hint, ()
    kind, *declarations = get_args(hint)
    return kind, tuple(declarations)


def _restored(arrays: dict[str, NDArray[Any]], hint: Any, key: str) -> Any:
    """A number, or a copy of an array, if it is of the annotated type; kernels would read any other as garbage."""
    if key not in arrays:
        raise SavedStateError(f"The saved state lacks {key!r}: it was written by another version or method.")
    array = np.asarray(arrays[key])
    scalar = hint in (int, float, bool, str)
    if scalar:
        wanted, fits = hint.__name__, array.ndim == 0 and type(array.item()) is hint
    else:
        element = element_of(hint)
        wanted, fits = f"an array of {element.__name__}", np.issubdtype(array.dtype, element)
    if not fits:
        raise SavedStateError(f"The saved state {key!r} is {array.dtype} of shape {array.shape} instead of {wanted}.")
    if array.dtype.kind == "U":
        refuse_bad_text(array, key)
    return array.item() if scalar else array.astype(array.dtype.newbyteorder("="), order="C")


def element_of(hint: Any) -> Any:
    """The type of the elements of an annotated array.

    Since numpy 2.5 NDArray[np.float64] is an alias with one argument; before, it was ndarray[shape, dtype[np.float64]].

    >>> element_of(NDArray[np.float64]), element_of(NDArray[np.integer[Any]])
    (<class 'numpy.float64'>, <class 'numpy.integer'>)
    """
    arguments = get_args(hint)
    element = arguments[0] if len(arguments) == 1 else get_args(arguments[1])[0]
    return get_origin(element) or element  # np.integer[Any] -> np.integer


def refuse_bad_text(array: NDArray[Any], key: str) -> None:
    """Raise SavedStateError for texts that no file could hold: code points that do not exist, half a surrogate pair."""
    if array.dtype.kind == "U":
        points = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))).reshape(-1).view(np.uint32)
        fine = not ((points > 0x10FFFF) | ((points >= 0xD800) & (points <= 0xDFFF))).any()
    else:
        fine = all(_encodes(text) for text in array.reshape(-1).tolist())
    if not fine:
        raise SavedStateError(f"The saved state {key!r} holds text that is none: it is damaged.")


def _encodes(text: Any) -> bool:
    try:
        return isinstance(text, str) and text.encode() is not None
    except UnicodeEncodeError:
        return False


def n_bytes(arrays: dict[str, NDArray[Any]]) -> int:
    """Memory of a state in bytes."""
    return sum(array.nbytes for array in arrays.values())
