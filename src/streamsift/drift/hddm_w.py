"""HDDM-W: as HDDM-A, with exponentially weighted means and McDiarmid's bound.

Paper: I. Frías-Blanco et al., Online and Non-Parametric Drift Detection Methods Based on Hoeffding's Bounds (2015).
Time per value and memory: O(1).
"""

from __future__ import annotations

from typing import ClassVar

from streamsift.core.constraints import Limits, Real
from streamsift.drift.bank import Bank
from streamsift.drift.detector import HOEFFDING_LIMITS, Detector, Floats, Ints
from streamsift.kernels.hddm import ONE_SIDED, TWO_SIDED, W_SIZE, hddm_w_scan


class HDDM_W(Detector):
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
    >>> for i, x in enumerate([0] * 100 + [1] * 100):
    ...     detector.update(x)
    ...     if detector.drift_detected:
    ...         print(i)
    113
    """

    parameter_limits: ClassVar[Limits] = {**HOEFFDING_LIMITS, "lambda_val": (Real(0, 1, closed="neither"),)}
    n_sums: ClassVar[int] = W_SIZE

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
        self._start()

    def _feed(self, bank: Bank, values: Floats, first: int, rises_only: bool, alarm: Ints) -> None:
        sides = TWO_SIDED if self.two_sided_test and not rises_only else ONE_SIDED
        settings = (float(self.drift_confidence), float(self.warning_confidence), float(self.lambda_val))
        hddm_w_scan(values, first, settings, sides, bank.sums, bank.flags, alarm)
