"""Numbers and lists for people: how the page writes scores, times and sizes, and how precisely it keeps them."""

from __future__ import annotations

import math
from collections.abc import Sequence

DIGITS = 6  # of the numbers on the page: enough for any reader, and a third of the bytes


def rounded(value: float | None) -> float | None:
    """The value with the digits a reader can use; None where it is missing or not finite.

    >>> rounded(0.123456789), rounded(float("inf")), rounded(None)
    (0.123457, None, None)
    """
    return None if value is None or not math.isfinite(value) else float(f"{value:.{DIGITS}g}")


def number(value: float | None) -> str:
    """A number for people: four digits or all before the point, thousands set apart.

    >>> number(12345.0), number(3.0), number(0.123456), number(0.00001234), number(float("inf")), number(None)
    ('12,345', '3.000', '0.1235', '1.234e-05', '∞', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:#.4g}"


def share(value: float | None, digits: int = 1) -> str:
    """A share as per cent.

    >>> share(0.9132), share(None)
    ('91.3 %', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{100 * value:.{digits}f} %"


def listed(words: Sequence[str]) -> str:
    """Words in a sentence.

    >>> listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('', 'a', 'a and b', 'a, b and c')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def more_are(count: int, what: str) -> str:
    """The beginning of a sentence on things that are left out.

    >>> more_are(1, "class"), more_are(2, "class"), more_are(1200, "feature")
    ('1 more class is', '2 more classes are', '1,200 more features are')
    """
    if count == 1:
        return f"1 more {what} is"
    return f"{count:,} more {what}{'es' if what.endswith('s') else 's'} are"


def duration(seconds: float | None) -> str:
    """Seconds, minutes or hours, whichever reads best.

    >>> duration(0.042), duration(0.4), duration(75), duration(7260), duration(None)
    ('42 ms', '0.4 s', '1 min 15 s', '2 h 1 min', '–')
    """
    if seconds is None or math.isnan(seconds):
        return "–"
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def size(n_bytes: float | None) -> str:
    """Bytes with a unit.

    >>> size(512), size(20_480), size(3_500_000), size(None)
    ('512 B', '20 kB', '3.5 MB', '–')
    """
    if n_bytes is None or math.isnan(n_bytes):
        return "–"
    for unit, factor, digits in (("GB", 1e9, 1), ("MB", 1e6, 1), ("kB", 1e3, 0)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.{digits}f} {unit}"
    return f"{n_bytes:.0f} B"


def joined_failures(failures: Sequence[str]) -> list[str]:
    """Failures with the same words are said once.

    >>> joined_failures(["repeat 1: no", "repeat 2: perhaps", "repeat 3: no"])
    ['repeats 1, 3: no', 'repeat 2: perhaps']
    """
    repeats: dict[str, list[str]] = {}
    for failure in failures:
        place, _, words = failure.partition(": ")
        repeats.setdefault(words, []).append(place.removeprefix("repeat "))
    return [f"repeat{'s' * (len(which) > 1)} {', '.join(which)}: {words}" for words, which in repeats.items()]
