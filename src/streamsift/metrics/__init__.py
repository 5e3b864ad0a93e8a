"""How good a selection is, how stable, and what it costs.

Examples
--------
>>> from streamsift import metrics
>>> metrics.jaccard([0, 1, 2], [1, 2, 3])
0.5
"""

from streamsift.metrics.cost import ram_hours
from streamsift.metrics.detection import detection_rate
from streamsift.metrics.selection import SelectionAccuracy, jaccard, selection_accuracy
from streamsift.metrics.stability import nogueira_interval, nogueira_stability, pearson_stability

__all__ = [
    "SelectionAccuracy",
    "detection_rate",
    "jaccard",
    "nogueira_interval",
    "nogueira_stability",
    "pearson_stability",
    "ram_hours",
    "selection_accuracy",
]
