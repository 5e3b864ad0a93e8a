"""Values that people write: numbers, true, false and null are read as such, everything else is text."""

from __future__ import annotations

import math
import re
from typing import Any

from streamsift.core.exceptions import ParameterError
from streamsift.core.plain_json import read_json

_PYTHON = {"None": None, "True": True, "False": False}  # how Python spells what JSON writes small
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|min|m|s)")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(d|h|min|m|s)")


def read_value(text: str) -> Any:
    """The value that a text stands for.

    Examples
    --------
    >>> from streamsift.core.values import read_value
    >>> read_value("0.98"), read_value("None"), read_value("true"), read_value("exact"), read_value("'exact'")
    (0.98, None, True, 'exact', 'exact')
    """
    text = text.strip()
    if text in _PYTHON:
        return _PYTHON[text]
    try:
        return read_json(text)
    except ValueError:
        quoted = len(text) > 1 and text[0] == text[-1] == "'"
        return text[1:-1] if quoted else text


def split_outside(text: str, separator: str = ",") -> list[str]:
    """Split where the separator is outside of brackets and quotes; parts are stripped, empty ones left out.

    Examples
    --------
    >>> from streamsift.core.values import split_outside
    >>> split_outside("screen:t_score(fading=0.98, n_bins=5), all,")
    ['screen:t_score(fading=0.98, n_bins=5)', 'all']
    """
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character in "([{") - (character in ")]}")
        if character == separator and depth <= 0 and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def read_duration(text: str) -> float | None:
    """Seconds, from a text such as "90s", "15m", "1h", "1h30m" or "7d"; None if it is no duration.

    >>> read_duration("1h30m"), read_duration("2d"), read_duration("soon"), read_duration("5")
    (5400.0, 172800.0, None, None)
    """
    text = text.strip().lower().replace(" ", "")
    parts = _DURATION.findall(text)
    seconds = sum(float(number) * (_UNITS | {"d": 86_400.0})[unit] for number, unit in parts)
    return seconds if parts and not _DURATION.sub("", text) and 0.0 < seconds < math.inf else None


def read_budget(text: str) -> float | None:
    """Seconds, from what a user writes; None for "none".

    Examples
    --------
    >>> from streamsift.core.values import read_budget
    >>> [read_budget(text) for text in ("30s", "5m", "2h", "1h30m", "90", "none")]
    [30.0, 300.0, 7200.0, 5400.0, 90.0, None]
    """
    text = text.strip().lower().replace(" ", "")
    if text == "none":
        return None
    if re.fullmatch(r"\d+(\.\d+)?", text):
        seconds = float(text)
    else:
        seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
        if _PART.sub("", text):
            seconds = 0.0
    if seconds <= 0.0:
        raise ParameterError(f"{text!r} is no time: write 30s, 5m, 2h, 1h30m, or none.")
    return seconds
