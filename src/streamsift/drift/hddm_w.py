"""HDDM-W: as HDDM-A, with exponentially weighted means and McDiarmid's bound.

Paper: I. Frías-Blanco et al., Online and Non-Parametric Drift Detection Methods Based on Hoeffding's Bounds (2015).
Time per value and memory: O(1).
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import IsBool, Limits, Real, check_parameters
from streamsift.drift.bank import Bank, refuse_not_finite
from streamsift.kernels.hddm import ONE_SIDED, TWO_SIDED, W_SIZE, WARNING, hddm_w_scan


class HDDM_W:
    """Drift detection by exponentially weighted averages.

    Parameters
    ----------
    drift_confidence : float in (0, 1), default 0.001
        Confidence of a drift; smaller means fewer alarms.
    warning_confidence : float in (0, 1), default 0.005
        Confidence of a warning.
    lambda_val : float in (0, 1), default 0.05
        Weight of the newest value.
    two_sided_test : bool, default False
        Whether a fall of the mean is an alarm too.

    Attributes
    ----------
    drift_detected : bool
        Whether the last value raised an alarm. The next value starts afresh.
    warning_detected : bool
        Whether the last value raised a warning.

    Examples
    --------
    >>> from streamsift.drift import HDDM_W
    >>> detector = HDDM_W()
    >>> for place, x in enumerate([0] * 100 + [1] * 100):
    ...     detector.update(x)
    ...     if detector.drift_detected:
    ...         print(place)
    100
    """

    parameter_limits: ClassVar[Limits] = {
        "drift_confidence": (Real(0, 1, closed="neither"),),
        "warning_confidence": (Real(0, 1, closed="neither"),),
        "lambda_val": (Real(0, 1, closed="neither"),),
        "two_sided_test": (IsBool(),),
    }

    def __init__(
        self,
        drift_confidence: float = 0.001,
        warning_confidence: float = 0.005,
        lambda_val: float = 0.05,
        two_sided_test: bool = False,
    ) -> None:
        self.drift_confidence = drift_confidence
        self.warning_confidence = warning_confidence
        self.lambda_val = lambda_val
        self.two_sided_test = two_sided_test
        check_parameters("HDDM_W", vars(self), self.parameter_limits)
        self.drift_detected = False
        self.warning_detected = False
        self._bank = self.bank(1)

    def clone(self) -> Self:
        """A fresh detector with the same settings."""
        return type(self)(self.drift_confidence, self.warning_confidence, self.lambda_val, self.two_sided_test)

    def update(self, x: float) -> None:
        """Take one more value."""
        refuse_not_finite(x, "HDDM_W")
        self.drift_detected = bool(self.scan(self._bank, np.array([[x]], np.float64))[0] == 0)
        self.warning_detected = bool(self._bank.flags[0] == WARNING)

    def bank(self, n_units: int) -> Bank:
        """Many fresh detectors with these settings."""
        return Bank.fresh(n_units, W_SIZE)

    def scan(
        self, bank: Bank, values: NDArray[np.float64], *, first: int = 0, rises_only: bool = False
    ) -> NDArray[np.int64]:
        """Feed values[u] to detector u of a bank, from detector `first` on, each until its first alarm.

        Returns the place of each alarm, or -1. With `rises_only`, a fall of the mean is never an alarm.
        """
        alarm = np.full(len(values), -1, np.int64)
        sides = TWO_SIDED if self.two_sided_test and not rises_only else ONE_SIDED
        settings = (float(self.drift_confidence), float(self.warning_confidence), float(self.lambda_val))
        hddm_w_scan(values, first, settings, sides, bank.sums, bank.flags, alarm)
        return alarm
