"""Levels of online tests that keep the false discovery rate: LORD++, SAFFRON and ADDIS.

Ramdas, Yang, Wainwright, Jordan: Online control of the false discovery rate with decaying memory (2017), LORD++.
Ramdas, Zrnic, Wainwright, Jordan: SAFFRON (2018). Tian, Ramdas: ADDIS (2019).

Column t is accepted when its p-value is at most

    level_t = s (w0 g(1 + u_t) + (a - w0) g(1 + u_t - u_1) + a sum over j >= 2 of g(1 + u_t - u_j)),

where a is the level promised, w0 = a / 2, g a sequence that sums to 1, u_t the time on the rule's clock before column
t, and u_j the time after the j-th acceptance. The papers write the three levels with counts of candidates since each
acceptance; all these counts are differences of one clock:

    rule      the clock advances when   s          never above   g(j) proportional to
    lord      always                    1                        log(max(j, 2)) / (j exp(sqrt(log j)))
    saffron   p > 1/2                   1/2        1/2           j^-1.6
    addis     1/4 < p <= 1/2            1/4        1/4           j^-1.6

1/2 and 1/4 are the settings of the papers. Programs multiply the sequence of LORD with 0.0722 or 0.0772, which sums to
less than 1; here it sums to 1. The promise (false discovery rate at most a) holds for independent p-values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.columns.linear_fit import Fit
from streamsift.columns.walk import Terms
from streamsift.core.column_data import Floats

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class LevelRule:
    """When the clock advances, and what the sum of the sequence is multiplied with."""

    above: float  # the clock advances for p-values above this
    up_to: float  # and not above this
    scale: float
    largest: float


RULES = {
    "lord": LevelRule(-1.0, 1.0, 1.0, 1.0),
    "saffron": LevelRule(0.5, 1.0, 0.5, 0.5),
    "addis": LevelRule(0.25, 0.5, 0.25, 0.25),
}

_LORD_SUM = 12.645107872871751  # of log(max(j, 2)) / (j exp(sqrt(log j))) over all j
_POWER_SUM = 2.2857656656801293  # of j^-1.6: zeta(1.6)


def shares(rule: str, places: NDArray[np.integer]) -> Floats:
    """The sequence g at places 1, 2, ...

    >>> float(shares("saffron", np.arange(1, 100_000)).sum()) > 0.999
    True
    """
    j = places.astype(np.float64)
    if rule == "lord":
        return np.asarray(np.log(np.maximum(j, 2.0)) / (j * np.exp(np.sqrt(np.log(j)))) / _LORD_SUM)
    return np.asarray(j**-1.6 / _POWER_SUM)


def level_at(rule: str, promised: float, clock: Ints, acceptances: Ints) -> Floats:
    """The level of a column that is offered when the clock shows each of these times."""
    first = promised / 2.0
    weights = np.full(len(acceptances) + 1, promised)
    weights[0] = first
    if len(acceptances):
        weights[1] = promised - first
    since = np.concatenate([np.zeros(1, np.int64), acceptances])
    paid = shares(rule, 1 + clock[:, None] - since) * weights
    return np.asarray(np.minimum(RULES[rule].scale * paid.sum(axis=1), RULES[rule].largest))


@dataclass(frozen=True)
class LevelAccount:
    """The clock of a rule, and its times after each acceptance."""

    rule: str
    promised: float
    clock: int
    acceptances: Ints

    learns_from_gains: ClassVar[bool] = True

    def terms(self, gains: Floats, df: int, fit: Fit) -> Terms:
        rule = RULES[self.rule]
        p = fit.tail_probability(gains, df)
        advances = (p > rule.above) & (p <= rule.up_to)
        times = self.clock + np.concatenate([np.zeros(1, np.int64), np.cumsum(advances)])
        levels = level_at(self.rule, self.promised, times[:-1], self.acceptances)
        return Terms(np.asarray(fit.tail_threshold(levels, df)), None, times)

    def after(self, terms: Terms, n_rejected: int, accepted: bool) -> LevelAccount:
        assert terms.clock is not None
        if not accepted:
            return LevelAccount(self.rule, self.promised, int(terms.clock[n_rejected]), self.acceptances)
        # An accepted column has a small p-value: only the clock that always advances does so now.
        clock = int(terms.clock[n_rejected]) + (self.rule == "lord")
        return LevelAccount(self.rule, self.promised, clock, np.append(self.acceptances, clock))
