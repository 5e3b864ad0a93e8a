"""Machine instructions that the compiler does not find by itself, spelt out for kernels to call.

A kernel that calls one of these is compiled anew only when its own file changes, as with the flags of compile.py.
With the JIT off (NUMBA_DISABLE_JIT=1) each is a plain function that does the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

VECTOR = 128 if config.DISABLE_JIT else 32  # bytes of a vector; numpy is quicker with fewer, longer ones


def network(*comparisons: tuple[int, int]) -> Any:
    """A step of a sorting network, exchange(keys, places, source, origins), as many columns at once as a vector takes.

    for j in range(VECTOR // keys[0].itemsize):
        row = [source[0][origin + j] for origin in origins]
        for a, b in comparisons:
            row[a], row[b] = min(row[a], row[b]), max(row[a], row[b])
        keys[0][place + j] = row, for all places

    `keys` and `source` are tuples of arrays; what lies beside a key in further arrays goes where the key goes.
    All comparisons are made in registers, with one load and one store of each key. The compiler does not find that by
    itself, because it cannot know that the positions are apart; so the vectors are spelt out.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def exchange(_: Any, keys: Any, places: Any, source: Any, origins: Any) -> Any:
        n_bytes = keys[0].dtype.bitwidth // 8

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            vector = ir.VectorType(context.get_data_type(keys[0].dtype), VECTOR // n_bytes)

            def pointers(kinds: Any, arrays: Any, at: Any) -> list[list[Any]]:
                """For each position a pointer into each array."""
                data = [
                    context.make_array(kind)(context, builder, array).data
                    for kind, array in zip(kinds, cgutils.unpack_tuple(builder, arrays), strict=True)
                ]
                return [
                    [builder.bitcast(builder.gep(start, [place]), vector.as_pointer()) for start in data]
                    for place in cgutils.unpack_tuple(builder, at)
                ]

            loads, stores = pointers(source, *arguments[2:]), pointers(keys, *arguments[:2])
            rows = [[builder.load(pointer, align=n_bytes, typ=vector) for pointer in each] for each in loads]
            for a, b in comparisons:
                ordered = builder.icmp_signed("<", rows[a][0], rows[b][0])
                pairs = list(zip(rows[a], rows[b], strict=True))
                rows[a] = [builder.select(ordered, x, y) for x, y in pairs]
                rows[b] = [builder.select(ordered, y, x) for x, y in pairs]
            for row, each in zip(rows, stores, strict=True):
                for value, pointer in zip(row, each, strict=True):
                    builder.store(value, pointer, align=n_bytes)
            return context.get_dummy_value()

        return types.void(keys, places, source, origins), emit

    def exchange_plainly(keys: Any, places: Any, source: Any, origins: Any) -> None:
        n = VECTOR // keys[0].itemsize
        rows = [[array.reshape(-1)[int(origin) : int(origin) + n].copy() for array in source] for origin in origins]
        for a, b in comparisons:
            ordered, pairs = rows[a][0] < rows[b][0], list(zip(rows[a], rows[b], strict=True))
            rows[a] = [np.where(ordered, x, y) for x, y in pairs]
            rows[b] = [np.where(ordered, y, x) for x, y in pairs]
        for row, place in zip(rows, places, strict=True):
            for value, array in zip(row, keys, strict=True):
                array[int(place) : int(place) + n] = value

    return exchange_plainly if config.DISABLE_JIT else exchange


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(_: Any, array: Any, place: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        number, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, all_caches, is_data = number(0), number(3), number(1)
        builder.call(function, [builder.bitcast(builder.gep(data, [arguments[1]]), byte), read, all_caches, is_data])
        return context.get_dummy_value()

    return types.void(array, place), emit


# fetch(array, place) prefetches an element of the flat array that will be needed soon, without waiting for it.
fetch: Any = (lambda array, place: None) if config.DISABLE_JIT else _prefetch


@intrinsic  # type: ignore[untyped-decorator]
def _hide(_: Any, number: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(arguments[0].type, [arguments[0].type])
        return builder.asm(kind, "", "=r,0", arguments, side_effect=False)

    return number(number), emit


# hidden(number) is the number itself, of which the compiler no longer knows how it came about: a choice made with bits
# that come from a comparison is otherwise found out and may be turned into a branch, which nobody can predict.
hidden: Any = (lambda number: number) if config.DISABLE_JIT else _hide
