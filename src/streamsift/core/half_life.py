"""Half-lives: the parameters `fading`, `half_life` and `time` that methods share, and what follows from them.

A method that fades has the three parameters, and its `partial_fit` takes times; the base of row selectors asks here.
Fading by rows is the method's own (`rate_of` says how fast). Event time comes as weights (docs/adr/0014): a batch says
what its rows weigh, and by how much all that came before has faded.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from streamsift.core.batch import CheckedBatch
from streamsift.core.constraints import IsDuration, IsNone, IsText, Real
from streamsift.core.exceptions import ParameterError
from streamsift.core.times import faded_weights
from streamsift.core.values import read_duration

HALF_LIFE_LIMITS = (IsNone(), Real(0, None, closed="neither"), IsDuration())
TIME_LIMITS = (IsNone(), IsText())


def rate_of(fading: float, half_life: float | str | None) -> float:
    """The fading per row; event time fades in another way.

    >>> rate_of(0.99, None), rate_of(1.0, 1), rate_of(1.0, "1h")
    (0.99, 0.5, 1.0)
    """
    if half_life is None:
        return float(fading)
    return 1.0 if isinstance(half_life, str) else 0.5 ** (1.0 / float(half_life))


def times_for(selector: Any, given: Any) -> Any:
    """The times of the rows or the name of their column, as given or as set; what does not fit is refused."""
    time = selector.time if given is None else given
    half_life, fading = selector.half_life, selector.fading
    if half_life is not None and fading != 1.0:
        raise ParameterError(f"fading={fading!r} and half_life={half_life!r} are two ways to say the same: give one.")
    if isinstance(half_life, str) and time is None:
        raise ParameterError(
            f"half_life={half_life!r} needs the time of each row: name its column with time= (--time), or give the "
            "times to partial_fit."
        )
    if time is not None and not isinstance(half_life, str):
        raise ParameterError(
            "time= (--time) is for a half-life in event time: set half_life (--half-life) to a text such as '1h'."
        )
    return time


def weigh_by_time(batch: CheckedBatch, half_life: float | str | None, latest: float | None) -> float | None:
    """Give the rows of a batch the weights of their times; the latest time so far is returned."""
    if batch.times is None or not isinstance(half_life, str):
        return latest
    seconds, now = read_duration(half_life) or 1.0, float(batch.times.max())
    if latest is not None:
        now = max(now, latest)
        batch.decay = float(np.exp2(-(now - latest) / seconds))
    faded = faded_weights(batch.times, now, seconds)
    batch.weight = faded if batch.weight is None else faded * batch.weight
    return now


def half_life_ends(half_life: float | str | None, latest: float | None, decay: float) -> bool:
    """Whether one of the half-lives into which event time is divided ends after the latest time, as all decays so far.

    >>> half_life_ends("1m", 30.0, 0.5 ** 0.4), half_life_ends("1m", 30.0, 0.5 ** 0.6), half_life_ends("1m", 30.0, 0.0)
    (False, True, True)
    """
    if not isinstance(half_life, str) or latest is None:
        return False
    before = latest / (read_duration(half_life) or 1.0)
    return decay == 0.0 or math.floor(before - math.log2(decay)) > math.floor(before)


def fading_to_merge(selector: Any, other: Any, *, later: bool) -> tuple[float, float, float | None]:
    """By how much two states fade before they are added, and their latest event time after that."""
    mine, theirs, half_life = selector._latest, other._latest, selector.half_life
    if not isinstance(half_life, str) or mine is None or theirs is None:
        return (selector._rate() ** other.n_rows_seen_ if later else 1.0), 1.0, mine
    now, seconds = max(mine, theirs), read_duration(half_life) or 1.0
    before, beside = np.exp2((np.array([mine, theirs]) - now) / seconds).tolist()
    return before, beside, now
