"""ErrorScale: errors in numbers as values near [0, 1], which drift detectors expect.

As in the adaptive random forest regressor of river: of the errors so far, this one included, the standard deviation s
is kept, and the absolute error e becomes (e + 3 s) / (6 s), which lies within [1/2, 1] for all but one in 370 normal
errors. The first error, and errors that never varied, give 1/2.
"""

from __future__ import annotations

import math


class ErrorScale:
    """Scales errors, one after the other.

    >>> scale = ErrorScale()
    >>> [round(scale.scaled(error), 3) for error in (1.0, -1.0, 0.0)]
    [0.5, 0.618, 0.5]
    """

    def __init__(self) -> None:
        self._n, self._mean, self._spread = 0, 0.0, 0.0

    def scaled(self, error: float) -> float:
        """What the detector is given for a signed error."""
        self._n += 1
        gap = error - self._mean
        self._mean += gap / self._n
        self._spread += gap * (error - self._mean)
        deviation = math.sqrt(self._spread / (self._n - 1)) if self._n > 1 else 0.0
        return (abs(error) + 3.0 * deviation) / (6.0 * deviation) if deviation > 0.0 else 0.5
