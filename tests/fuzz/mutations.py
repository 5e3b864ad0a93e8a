"""Small damage to bytes, chosen by a random generator."""

from __future__ import annotations

import random
from collections.abc import Sequence

NUMBERS = (0, 1, -1, 2, 7, 255, 256, 65535, 65536, 10**6, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**40, 2**63 - 1)
TEXTS = (
    b'"', b"'", b"\n", b"\r\n", b"\x00", b",", b";", b"\t", b":", b"{", b"}", b"?", b"%", b"#", b"\\", b"nan", b"inf",
    b"-inf", b"1e999", b"-", b"1_000", b"0x10", b"99999999999999999999", b"2147483647", b"2147483648", b"@data",
    b"@attribute", b"date", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"1:", b":1", b"true",
)  # fmt: skip


def mutated(data: bytes, rng: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Data with one to six pieces of damage."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        data = rng.choice(_ALL)(data, rng, others) if data else rng.choice(TEXTS)
    return data


def _place(data: bytes, rng: random.Random) -> int:
    # The beginning and the end are where headers and directories are.
    span = rng.choice((len(data), len(data), min(64, len(data))))
    place = rng.randrange(span)
    return place if rng.random() < 0.7 else len(data) - 1 - place


def _flip(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    place = _place(data, rng)
    return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]


def _byte(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    place = _place(data, rng)
    return data[:place] + bytes([rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))]) + data[place + 1 :]


def _number(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    place, size = _place(data, rng), rng.choice((2, 4, 8))
    value = rng.choice(NUMBERS) % (1 << (8 * size))
    return data[:place] + value.to_bytes(size, rng.choice(("little", "big"))) + data[place + size :]


def _text(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    place, over = _place(data, rng), rng.choice((0, 0, 1, 5))
    return data[:place] + rng.choice(TEXTS) * rng.choice((1, 1, 1, 40)) + data[place + over :]


def _cut(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    start = _place(data, rng)
    return data[:start] + data[start + rng.choice((1, 4, 30, len(data))) :]


def _repeat(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    start = _place(data, rng)
    end = start + rng.choice((1, 8, 60, 500))
    return data[:end] + data[start:end] * rng.choice((1, 3, 50)) + data[end:]


def _splice(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others) if others else data
    return data[: _place(data, rng)] + other[_place(other, rng) :] if other else data


def _digits(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    """Another number where digits are."""
    places = [k for k, byte in enumerate(data[:4000]) if 48 <= byte <= 57]
    if not places:
        return data
    place = rng.choice(places)
    return data[:place] + str(rng.choice(NUMBERS)).encode() + data[place + 1 :]


_ALL = (_flip, _byte, _number, _number, _text, _text, _cut, _repeat, _splice, _digits)
