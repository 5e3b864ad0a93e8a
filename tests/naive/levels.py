"""LORD++, SAFFRON and ADDIS as their papers print them: every count taken anew from the list of p-values."""

from __future__ import annotations

import math
from collections.abc import Callable


def _lord_share(j: int) -> float:
    return math.log(max(j, 2)) / (j * math.exp(math.sqrt(math.log(j)))) / 12.645107872871751


def _power_share(j: int) -> float:
    return float(j**-1.6) / 2.2857656656801293


def lord(p: list[float], accepted: list[int], a: float) -> float:
    """The level of test len(p) + 1; `accepted` holds the numbers of the accepted tests, from 1."""
    t, first = len(p) + 1, a / 2
    level = _lord_share(t) * first
    for j, tau in enumerate(accepted):
        level += (a - first if j == 0 else a) * _lord_share(t - tau)
    return level


def saffron(p: list[float], accepted: list[int], a: float, at: float = 0.5) -> float:
    """The same with candidates: p-values of at most `at` cost nothing."""
    t, first = len(p) + 1, a / 2
    level = first * _power_share(t - sum(value <= at for value in p))
    for j, tau in enumerate(accepted):
        since = sum(value <= at for value in p[tau:])
        level += (a - first if j == 0 else a) * _power_share(t - tau - since)
    return min(at, (1 - at) * level)


def addis(p: list[float], accepted: list[int], a: float, at: float = 0.25, discard: float = 0.5) -> float:
    """The same where p-values above `discard` do not count at all."""
    first = a / 2
    kept = [value for value in p if value <= discard]
    level = first * _power_share(1 + len(kept) - sum(value <= at for value in p))
    for j, tau in enumerate(accepted):
        kept_then = sum(value <= discard for value in p[:tau])
        since = sum(value <= at for value in p[tau:])
        level += (a - first if j == 0 else a) * _power_share(1 + len(kept) - kept_then - since)
    return min(at, (discard - at) * level)


RULES: dict[str, Callable[[list[float], list[int], float], float]] = {"lord": lord, "saffron": saffron, "addis": addis}


def levels(rule: str, p: list[float], a: float = 0.05) -> list[float]:
    """The level of each test."""
    answers: list[float] = []
    accepted: list[int] = []
    for t in range(1, len(p) + 1):
        answers.append(RULES[rule](p[: t - 1], accepted, a))
        if p[t - 1] <= answers[-1]:
            accepted.append(t)
    return answers
