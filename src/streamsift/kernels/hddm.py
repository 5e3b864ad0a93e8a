"""Kernels of HDDM-A and HDDM-W: many detectors that compare a running mean with its best cut point so far.

State of detector u is one row of `sums` (struct of arrays, changed in place). A detector that raises an alarm restarts.
`sides` says what a fall of the mean does: ONE_SIDED ignores it, TWO_SIDED makes it an alarm, and FALL_RESTARTS restarts
the detector in silence.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ONE_SIDED, TWO_SIDED, FALL_RESTARTS = 0, 1, 2
STABLE, WARNING, DRIFT = 0, 1, 2

# HDDM-A: number and sum of all values, and both at the cut points for a rise (low) and a fall (high).
A_SIZE = 6
N, SUM, N_LOW, SUM_LOW, N_HIGH, SUM_HIGH = 0, 1, 2, 3, 4, 5

# HDDM-W: five samples of (weighted mean, sum of squared weights, whether it has a value) and the two cut points. The
# old sample of a rise ends at its cut point, the new one begins there; the same for a fall.
SAMPLE, MEAN, SQUARES, FILLED = 3, 0, 1, 2
W_SIZE = 17
ALL, RISE_OLD, RISE_NEW, FALL_OLD, FALL_NEW = 0, 3, 6, 9, 12
CUT_RISE, CUT_FALL = 15, 16


@kernel
def _clear(s: Floats) -> None:
    for k in range(s.size):
        s[k] = 0.0


@kernel
def _level(gap: float, scale: float, log_drift: float, log_warning: float) -> int:
    """DRIFT, WARNING or STABLE for a difference of two means with Hoeffding's bound sqrt(scale * log)."""
    if gap >= math.sqrt(scale * log_drift):
        return DRIFT
    return WARNING if gap >= math.sqrt(scale * log_warning) else STABLE


@kernel
def _hddm_a_add(x: float, logs: tuple[float, float, float], sides: int, s: Floats) -> int:
    """Take one value; return DRIFT, WARNING or STABLE."""
    log_cut, log_drift, log_warning = logs
    s[N] += 1.0
    s[SUM] += x
    n, mean = s[N], s[SUM] / s[N]
    # The cut for a rise is where mean + bound was least, that for a fall where mean - bound was largest; Hoeffding's
    # bound of a mean of n values is sqrt(log(1 / confidence) / (2 n)).
    bound = math.sqrt(1.0 / (2.0 * n) * log_cut)
    low = s[N_LOW] == 0.0 or s[SUM_LOW] / s[N_LOW] + math.sqrt(1.0 / (2.0 * s[N_LOW]) * log_cut) >= mean + bound
    if low:
        s[N_LOW], s[SUM_LOW] = n, s[SUM]
    high = s[N_HIGH] == 0.0 or s[SUM_HIGH] / s[N_HIGH] - math.sqrt(1.0 / (2.0 * s[N_HIGH]) * log_cut) <= mean - bound
    if high:
        s[N_HIGH], s[SUM_HIGH] = n, s[SUM]
    # With m values up to the cut, the mean of all n differs from the mean of these m by more than
    # sqrt((n - m) / (2 n m) log(2 / confidence)) only where the mean has changed.
    flag = STABLE
    if s[N_LOW] != n:
        scale = (n - s[N_LOW]) / s[N_LOW] * (1.0 / n) / 2.0
        flag = _level(mean - s[SUM_LOW] / s[N_LOW], scale, log_drift, log_warning)
    if sides != ONE_SIDED and flag != DRIFT and s[N_HIGH] != n:
        scale = (n - s[N_HIGH]) / s[N_HIGH] * (1.0 / n) / 2.0
        fall = _level(s[SUM_HIGH] / s[N_HIGH] - mean, scale, log_drift, log_warning)
        if sides == TWO_SIDED:
            flag = max(flag, fall)  # STABLE < WARNING < DRIFT
        elif fall == DRIFT:  # FALL_RESTARTS
            _clear(s)
    if flag == DRIFT:
        _clear(s)
    return flag


@kernel
def hddm_a_scan(
    values: Floats,
    first_unit: int,
    confidences: tuple[float, float],
    sides: int,
    sums: Floats,
    flags: Ints,
    alarm: Ints,
) -> None:
    """Feed values[u] to each detector u >= first_unit until it raises an alarm; alarm[u] is the column, or -1.

    `confidences` are those of a drift and of a warning; flags[u] tells how detector u stands after its last value.
    """
    drift, warning = confidences
    logs = (math.log(1.0 / drift), math.log(2.0 / drift), math.log(2.0 / warning))
    for u in range(first_unit, values.shape[0]):
        alarm[u] = -1
        for k in range(values.shape[1]):
            flags[u] = _hddm_a_add(values[u, k], logs, sides, sums[u])
            if flags[u] == DRIFT:
                alarm[u] = k
                break


@kernel
def _sample_add(x: float, recent: float, sample: Floats) -> None:
    """Let the mean fade by 1 - recent and add x with the weight `recent`; the weights' squares follow suit."""
    sample[MEAN] = recent * x + (1.0 - recent) * sample[MEAN] if sample[FILLED] != 0.0 else x
    squares = sample[SQUARES] if sample[FILLED] != 0.0 else 1.0
    sample[SQUARES] = recent * recent + (1.0 - recent) ** 2 * squares
    sample[FILLED] = 1.0


@kernel
def _sample_start(sample: Floats, like: Floats) -> None:
    """Make `sample` a copy of another one."""
    for k in range(SAMPLE):
        sample[k] = like[k]


@kernel
def _sample_level(old: Floats, new: Floats, sign: float, log_drift: float, log_warning: float) -> int:
    """DRIFT, WARNING or STABLE by McDiarmid's bound on the difference of two weighted means."""
    if old[FILLED] == 0.0 or new[FILLED] == 0.0:
        return STABLE
    gap, squares = sign * (new[MEAN] - old[MEAN]), old[SQUARES] + new[SQUARES]
    if gap > math.sqrt(squares * log_drift / 2.0):
        return DRIFT
    return WARNING if gap > math.sqrt(squares * log_warning / 2.0) else STABLE


@kernel
def _hddm_w_add(x: float, recent: float, log_drift: float, log_warning: float, sides: int, s: Floats) -> int:
    """Take one value; return DRIFT, WARNING or STABLE."""
    everything = s[ALL : ALL + SAMPLE]
    rise_old, rise_new = s[RISE_OLD : RISE_OLD + SAMPLE], s[RISE_NEW : RISE_NEW + SAMPLE]
    fall_old, fall_new = s[FALL_OLD : FALL_OLD + SAMPLE], s[FALL_NEW : FALL_NEW + SAMPLE]
    first = everything[FILLED] == 0.0
    _sample_add(x, recent, everything)
    bound = math.sqrt(everything[SQUARES] * log_drift / 2.0)  # McDiarmid's, of one weighted mean
    if first or everything[MEAN] + bound < s[CUT_RISE]:  # a better cut point: what follows is compared with it
        s[CUT_RISE] = everything[MEAN] + bound
        _sample_start(rise_old, everything)
        rise_new[FILLED] = 0.0
    else:
        _sample_add(x, recent, rise_new)
    flag = _sample_level(rise_old, rise_new, 1.0, log_drift, log_warning)
    if first or everything[MEAN] - bound > s[CUT_FALL]:
        s[CUT_FALL] = everything[MEAN] - bound
        _sample_start(fall_old, everything)
        fall_new[FILLED] = 0.0
    else:
        _sample_add(x, recent, fall_new)
    if sides == TWO_SIDED:
        flag = max(flag, _sample_level(fall_old, fall_new, -1.0, log_drift, log_warning))
    if flag == DRIFT:
        _clear(s)
    return flag


@kernel
def hddm_w_scan(
    values: Floats,
    first_unit: int,
    settings: tuple[float, float, float],
    sides: int,
    sums: Floats,
    flags: Ints,
    alarm: Ints,
) -> None:
    """As `hddm_a_scan`; `settings` are the two confidences and the weight of the newest value."""
    drift, warning, recent = settings
    log_drift, log_warning = math.log(1.0 / drift), math.log(1.0 / warning)
    for u in range(first_unit, values.shape[0]):
        alarm[u] = -1
        for k in range(values.shape[1]):
            flags[u] = _hddm_w_add(values[u, k], recent, log_drift, log_warning, sides, sums[u])
            if flags[u] == DRIFT:
                alarm[u] = k
                break
