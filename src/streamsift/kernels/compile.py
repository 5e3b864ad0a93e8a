"""Compile flags of all kernels, in one place.

`kernel` compiles on first use for the types it meets and keeps the machine code on disk. The cache does not see edits
in other files, so a kernel calls only kernels of its own file. No fastmath: it would break the tests for NaN.
`fused_kernel` only rounds a * b + c once instead of twice; `summing_kernel` may also add up a sum in another order.

A kernel whose name begins with an underscore is called by kernels of its file and by nobody else: it is compiled
without the way in from Python, which would only cost time at the first run (calling it would crash). No kernel is
compiled with a way in from C.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

# numpy's error model: a division by zero gives inf instead of a branch, so loops with divisions stay vectorised.
FLAGS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


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
    return cast(Function, numba.njit(**FLAGS, fastmath=fastmath, no_cpython_wrapper=inner)(function))
