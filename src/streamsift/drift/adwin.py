"""ADWIN: a window that grows while its mean stays the same and drops its old end when it does not.

Paper: A. Bifet and R. Gavaldà, Learning from Time-Changing Data with Adaptive Windowing (2007).
Time per value: O(1) amortised, plus O(log width) once every `clock` values. Memory: O(log width).
"""

from __future__ import annotations

from typing import ClassVar

from streamsift.core.constraints import Integer, Limits, Real
from streamsift.drift.bank import Bank
from streamsift.drift.detector import Detector, Floats, Ints
from streamsift.kernels.adwin import LEVELS, N_SUMS, adwin_scan


class ADWIN(Detector):
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
    >>> for i, x in enumerate([0] * 500 + [1] * 100):
    ...     detector.update(x)
    ...     if detector.drift_detected:
    ...         print(i)
    511
    """

    parameter_limits: ClassVar[Limits] = {
        "delta": (Real(0, 1, closed="neither"),),
        "clock": (Integer(1, None),),
        "max_buckets": (Integer(2, 1000),),
        "min_window_length": (Integer(1, None),),
        "grace_period": (Integer(0, None),),
    }

    n_sums: ClassVar[int] = N_SUMS

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
        self._start()

    def bank(self, n_units: int) -> Bank:
        """Many fresh detectors with these settings."""
        return Bank.fresh(n_units, self.n_sums, LEVELS, self.max_buckets + 1)

    def _feed(self, bank: Bank, values: Floats, first: int, rises_only: bool, alarm: Ints) -> None:
        settings = (float(self.delta), float(self.clock), float(self.min_window_length), float(self.grace_period))
        adwin_scan(values, first, settings, rises_only, bank.sums, bank.filled, bank.buckets, alarm)
