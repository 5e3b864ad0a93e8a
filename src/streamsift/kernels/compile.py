"""Compile flags of all kernels, in one place.

`kernel` compiles on first use for the types it meets and keeps the machine code on disk. The cache does not see edits
in other files, so a kernel calls only kernels of its own file. No fastmath: it would break the tests for NaN.
`fused_kernel` only rounds a * b + c once instead of twice; `summing_kernel` may also add up a sum in another order.

A kernel whose name begins with an underscore is called by kernels of its file and by nobody else: it is compiled
without the way in from Python, which would only cost time at the first run (calling it would crash). No kernel is
compiled with a way in from C.

Machine code is kept where numba finds a place: in $NUMBA_CACHE_DIR, beside the kernels, or in the user's cache folder.
Where none of them can be written to (a container with a read-only file system and no home), kernels are compiled in
memory, anew by each process, and a warning says so once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

SECONDS = 5  # that a method takes to compile, roughly

# numpy's error model: a division by zero gives inf instead of a branch, so loops with divisions stay vectorised.
FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


class KernelCacheWarning(UserWarning):
    """Machine code cannot be kept, so each process compiles it anew."""


def kernel(function: Function) -> Function:
    """Compile a kernel: one thread, without the interpreter's lock."""
    return _compiled(function, False)


def fused_kernel(function: Function) -> Function:
    """The same for sums of products, where the processor's fused multiply-add is faster and rounds less."""
    return _compiled(function, {"contract"})


def summing_kernel(function: Function) -> Function:
    """The same for long sums, which are added up in the order that suits vector instructions; NaN and infinity stay."""
    return _compiled(function, {"contract", "reassoc", "nsz"})


def inlined_kernel(function: Function) -> Function:
    """A part of a kernel that has a name of its own: written into its caller first, with whose flags it is compiled.

    A kernel that calls another is compiled after it and together with it once more; this one is compiled once.
    """
    return cast(Function, numba.njit(inline="always")(function))


def _compiled(function: Function, fastmath: bool | set[str]) -> Function:
    inner = function.__name__.startswith("_")
    flags = {**FLAGS, "cache": _can_be_kept(), "fastmath": fastmath, "no_cpython_wrapper": inner}
    dispatcher = numba.njit(**flags)(function)
    if flags["cache"] and hasattr(dispatcher, "_cache"):  # not where NUMBA_DISABLE_JIT is set
        _forget_what_cannot_be_read(dispatcher._cache)
    return cast(Function, dispatcher)


def _forget_what_cannot_be_read(kept: Any) -> None:
    """Let machine code be compiled anew where what is kept cannot be read back.

    It may be cut short, or of another version of streamsift: it names the tuples that a kernel takes, and where one of
    them has another name now, numba raises AttributeError instead of compiling.
    """
    load = kept.load_overload

    def load_overload(*arguments: Any) -> Any:
        try:
            return load(*arguments)
        except Exception:  # noqa: BLE001 - whatever a damaged file makes of numba's reading
            kept.flush()
            return None

    kept.load_overload = load_overload


@cache
def _can_be_kept() -> bool:
    """Whether numba finds a place for the machine code of this folder's kernels."""
    try:
        numba.njit(cache=True)(_nothing)
    except RuntimeError as error:  # "cannot cache function": the only one that is raised before compilation
        if "cannot cache" not in str(error):
            raise
        warnings.warn(
            "Kernels cannot be cached (no folder for them can be written to): compiling in memory, about "
            f"{SECONDS} seconds; set NUMBA_CACHE_DIR to a folder that can be written to, and it is done once.",
            KernelCacheWarning,
            stacklevel=2,
        )
        return False
    return True


def _nothing() -> None:
    """A function to try with: it is never compiled."""
