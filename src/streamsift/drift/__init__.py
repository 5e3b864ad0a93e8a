"""Drift detectors: ADWIN, HDDM-A and HDDM-W, one at a time or many at once.

Each class has river's interface (`update(x)`, `drift_detected`) and raises the same alarms on the same values. Whoever
watches many streams of values keeps their detectors in one `Bank` and feeds all of them by one call of `scan`.

Examples
--------
>>> from streamsift import drift
>>> detector, alarms = drift.ADWIN(), []
>>> for place, value in enumerate([0.0] * 300 + [1.0] * 300):
...     detector.update(value)
...     if detector.drift_detected:
...         alarms.append(place)
>>> alarms
[319]
"""

from __future__ import annotations

from streamsift.drift.adwin import ADWIN
from streamsift.drift.bank import Bank
from streamsift.drift.detector import Detector
from streamsift.drift.hddm_a import HDDM_A
from streamsift.drift.hddm_w import HDDM_W

__all__ = ["ADWIN", "HDDM_A", "HDDM_W", "Bank", "Detector"]
