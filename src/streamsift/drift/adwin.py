"""ADWIN: a window that grows while its mean stays the same and drops its old end when it does not.

Paper: A. Bifet and R. Gavaldà, Learning from Time-Changing Data with Adaptive Windowing (2007).
Time per value: O(1) amortised, plus O(log width) once every `clock` values. Memory: O(log width).
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import Integer, Limits, Real, check_parameters
from streamsift.drift.bank import Bank, refuse_not_finite
from streamsift.kernels.adwin import LEVELS, adwin_scan


class ADWIN:
    """Adaptive windowing.

    Parameters
    ----------
    delta : float in (0, 1), default 0.002
        Confidence of a cut; smaller means fewer alarms.
    clock : int, default 32
        Values between two tests.
    max_buckets : int, default 5
        Buckets of one size before two of them are merged.
    min_window_length : int, default 5
        Values that both parts of a cut must hold at least.
    grace_period : int, default 10
        Width up to which nothing is tested.

    Attributes
    ----------
    drift_detected : bool
        Whether the last value raised an alarm, in either direction. The next value starts afresh.

    Examples
    --------
    >>> from streamsift.drift import ADWIN
    >>> detector = ADWIN()
    >>> for place, x in enumerate([0] * 500 + [1] * 100):
    ...     detector.update(x)
    ...     if detector.drift_detected:
    ...         print(place)
    511
    """

    parameter_limits: ClassVar[Limits] = {
        "delta": (Real(0, 1, closed="neither"),),
        "clock": (Integer(1, None),),
        "max_buckets": (Integer(2, 1000),),
        "min_window_length": (Integer(1, None),),
        "grace_period": (Integer(0, None),),
    }

    def __init__(
        self,
        delta: float = 0.002,
        clock: int = 32,
        max_buckets: int = 5,
        min_window_length: int = 5,
        grace_period: int = 10,
    ) -> None:
        self.delta = delta
        self.clock = clock
        self.max_buckets = max_buckets
        self.min_window_length = min_window_length
        self.grace_period = grace_period
        check_parameters("ADWIN", vars(self), self.parameter_limits)
        self.drift_detected = False
        self._bank = self.bank(1)

    def clone(self) -> Self:
        """A fresh detector with the same settings."""
        return type(self)(self.delta, self.clock, self.max_buckets, self.min_window_length, self.grace_period)

    def update(self, x: float) -> None:
        """Take one more value."""
        refuse_not_finite(x, "ADWIN")
        self.drift_detected = bool(self.scan(self._bank, np.array([[x]], np.float64))[0] == 0)

    def bank(self, n_units: int) -> Bank:
        """Many fresh detectors with these settings."""
        return Bank.fresh(n_units, 4, LEVELS, self.max_buckets + 1)

    def scan(
        self, bank: Bank, values: NDArray[np.float64], *, first: int = 0, rises_only: bool = False
    ) -> NDArray[np.int64]:
        """Feed values[u] to detector u of a bank, from detector `first` on, each until its first alarm.

        Returns the place of each alarm, or -1. With `rises_only`, a fall of the mean only shortens the window.
        """
        alarm = np.full(len(values), -1, np.int64)
        settings = (float(self.delta), float(self.clock), float(self.min_window_length), float(self.grace_period))
        adwin_scan(values, first, settings, rises_only, bank.sums, bank.filled, bank.buckets, alarm)
        return alarm
