"""HDDM-A: a drift is a rise of the mean beyond Hoeffding's bound since the best cut point.

Paper: I. Frías-Blanco et al., Online and Non-Parametric Drift Detection Methods Based on Hoeffding's Bounds (2015).
Time per value and memory: O(1).
"""

from __future__ import annotations

from typing import ClassVar

from streamsift.core.constraints import Limits
from streamsift.drift.bank import Bank
from streamsift.drift.detector import HOEFFDING_LIMITS, Detector, Floats, Ints
from streamsift.kernels.hddm import A_SIZE, FALL_RESTARTS, ONE_SIDED, TWO_SIDED, hddm_a_scan


class HDDM_A(Detector):
    """Drift detection by averages.

    Parameters
    ----------
    drift_confidence : float in (0, 1), default 0.001
        Confidence of a drift; smaller means fewer alarms.
    warning_confidence : float in (0, 1), default 0.005
        Confidence of a warning.
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
    >>> from streamsift.drift import HDDM_A
    >>> detector = HDDM_A()
    >>> for i, x in enumerate([0] * 100 + [1] * 100):
    ...     detector.update(x)
    ...     if detector.drift_detected:
    ...         print(i)
    103
    """

    parameter_limits: ClassVar[Limits] = HOEFFDING_LIMITS
    n_sums: ClassVar[int] = A_SIZE

    def __init__(
        self, drift_confidence: float = 0.001, warning_confidence: float = 0.005, two_sided_test: bool = False
    ) -> None:
        self.drift_confidence = drift_confidence
        self.warning_confidence = warning_confidence
        self.two_sided_test = two_sided_test
        self._start()

    def _feed(self, bank: Bank, values: Floats, first: int, rises_only: bool, alarm: Ints) -> None:
        sides = FALL_RESTARTS if rises_only else TWO_SIDED if self.two_sided_test else ONE_SIDED
        confidences = (float(self.drift_confidence), float(self.warning_confidence))
        hddm_a_scan(values, first, confidences, sides, bank.sums, bank.flags, alarm)
