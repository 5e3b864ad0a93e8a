"""Detector: what all drift detectors share, river's interface over a bank of one.

A detector gives its limits, the size of its state, and `_feed`, which calls its kernel.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import IsBool, Limits, Real, check_parameters
from streamsift.core.exceptions import InputError
from streamsift.drift.bank import Bank
from streamsift.kernels.hddm import WARNING

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


HOEFFDING_LIMITS: Limits = {
    "drift_confidence": (Real(0, 1, closed="neither"),),
    "warning_confidence": (Real(0, 1, closed="neither"),),
    "two_sided_test": (IsBool(),),
}  # what HDDM-A and HDDM-W share


class Detector:
    """Base of the detectors; see the module docstring."""

    parameter_limits: ClassVar[Limits]
    n_sums: ClassVar[int]  # numbers of the state of one detector

    drift_detected = False
    warning_detected = False

    def _start(self) -> None:
        """Check the parameters and be fresh."""
        check_parameters(type(self).__name__, vars(self), self.parameter_limits)
        self._bank, self._value = self.bank(1), np.empty((1, 1))

    def bank(self, n_units: int) -> Bank:
        """Many fresh detectors with these settings."""
        return Bank.fresh(n_units, self.n_sums)

    def _feed(self, bank: Bank, values: Floats, first: int, rises_only: bool, alarm: Ints) -> None:
        raise NotImplementedError

    def clone(self) -> Self:
        """A fresh detector with the same settings."""
        return type(self)(**{name: getattr(self, name) for name in self.parameter_limits})

    def update(self, x: float) -> None:
        """Take one more value."""
        if not -np.inf < x < np.inf:
            raise InputError(f"{type(self).__name__} was updated with {x}: give it a finite number.")
        self._value[0, 0] = x
        self.drift_detected = bool(self.scan(self._bank, self._value)[0] == 0)
        self.warning_detected = bool(self._bank.flags[0] == WARNING)

    def scan(self, bank: Bank, values: Floats, *, first: int = 0, rises_only: bool = False) -> Ints:
        """Feed values[u] to detector u of a bank, from detector `first` on, each until its first alarm.

        Returns the column of each alarm, or -1. With `rises_only`, a fall of the mean is never an alarm: it shortens
        the window of ADWIN and restarts HDDM-A.
        """
        alarm = np.full(len(values), -1, np.int64)
        self._feed(bank, values, first, rises_only, alarm)
        return alarm
