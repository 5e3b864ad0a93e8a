"""The .npy format: the header of an array, trusted in nothing, and the array behind it.

A header can name any dtype. Of object dtype, the bytes of the file would be used as addresses; numpy refuses that only
in its own reader. So the header is taken apart here, for every array the package loads from a file a stranger may have
written: plain numbers and text only, and no more of them than there are bytes.
"""

from __future__ import annotations

import ast
import math
import re
import struct
import warnings
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000  # of plain arrays it has about 100 bytes
_PLAIN = re.compile(r"[<>|=]?(?:b1|[iu][1248]|f[248]|[US][1-9]\d{0,8})")
_MOST_BYTES = 1 << 62  # beyond what can be addressed
_LAST_CODE_POINT = 0x10FFFF
_SURROGATES = 0xD800, 0xDFFF


class HeaderError(ValueError):
    """The header of a .npy file claims what cannot be or is not allowed; the text says what, without a full stop."""


@dataclass(frozen=True)
class ArrayLayout:
    """What the header says about the array, checked."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran_order: bool

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_layout(file: IO[bytes], n_bytes: int) -> ArrayLayout:
    """Read the header at the beginning of `file`, which holds `n_bytes` in all; HeaderError where it claims otherwise.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.ones((2, 3)))
    >>> _ = file.seek(0)
    >>> read_layout(file, len(file.getvalue())).shape
    (2, 3)
    """
    start = file.read(8)
    if len(start) < 8 or start[:6] != MAGIC or start[6] not in (1, 2, 3) or start[7] != 0:
        raise HeaderError("is not in the .npy format")
    size_bytes = 2 if start[6] == 1 else 4
    size = int.from_bytes(file.read(size_bytes), "little")
    if size > LONGEST_HEADER:
        raise HeaderError(f"has a header of {size} bytes")
    text = file.read(size)
    if len(text) < size:
        raise HeaderError("ends within its header")
    layout = _layout(text.decode("latin-1"))
    present = n_bytes - 8 - size_bytes - size
    if layout.n_bytes != present:
        raise HeaderError(
            f"claims to be {layout.dtype} of shape {layout.shape}, that is {layout.n_bytes} bytes, but has {present}"
        )
    return layout


def _layout(text: str) -> ArrayLayout:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the literals of strangers
            header = ast.literal_eval(text.strip(" \t\n"))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, struct.error) as error:
        raise HeaderError("has no proper header") from error
    if not isinstance(header, dict) or header.keys() != {"descr", "fortran_order", "shape"}:
        raise HeaderError("has no proper header")
    descr, shape, order = header["descr"], header["shape"], header["fortran_order"]
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape) or len(shape) > 32:
        raise HeaderError("has no proper shape")
    if not isinstance(order, bool):
        raise HeaderError("has no proper header")
    if not isinstance(descr, str) or _PLAIN.fullmatch(descr) is None:
        what = (
            "holds Python objects, which could run code when loaded" if descr == "|O" else f"is of type {descr!r:.60}"
        )
        raise HeaderError(f"{what}: only numbers (at most 64 bits) and text of a fixed width are read")
    layout = ArrayLayout(np.dtype(descr), shape, order)
    if math.prod(n for n in shape if n) * layout.dtype.itemsize >= _MOST_BYTES:  # an empty array can claim it as well
        raise HeaderError("has no proper shape")
    return layout


def read_array(file: IO[bytes], n_bytes: int) -> NDArray[Any]:
    """A whole array, whose file holds `n_bytes`.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.arange(3))
    >>> _ = file.seek(0)
    >>> read_array(file, len(file.getvalue()))
    array([0, 1, 2])
    """
    layout = read_layout(file, n_bytes)
    shape = layout.shape[::-1] if layout.fortran_order else layout.shape
    array = fill(file, np.empty(shape, layout.dtype))
    return array.T if layout.fortran_order else array


def fill(file: IO[bytes], array: NDArray[Any]) -> NDArray[Any]:
    """Fill a C-ordered array with the next bytes of a file; EOFError where there are too few."""
    if array.nbytes:
        view = memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # numpy's stubs
        got = 0
        while got < len(view):
            n_bytes = file.readinto(view[got:])  # type: ignore[attr-defined]  # the stubs know a plain file
            if not n_bytes:
                raise EOFError("an array ends too early")
            got += n_bytes
    _refuse_impossible(array)
    return array


def _refuse_impossible(array: NDArray[Any]) -> None:
    """Text is kept as code points and a bool as a byte, and not every number is one: all would fail much later."""
    if array.dtype.kind == "b" and array.nbytes and array.reshape(-1).view(np.uint8).max() > 1:
        raise HeaderError("holds truth values that are neither true nor false")
    if array.dtype.kind != "U" or array.nbytes == 0:
        return
    points = array.reshape(-1).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    if points.max() > _LAST_CODE_POINT or ((points >= _SURROGATES[0]) & (points <= _SURROGATES[1])).any():
        raise HeaderError("holds text with a character that does not exist")
