"""Small tables to try things on, without a network: generated look-alikes, and scikit-learn's own sets.

The generated ones are made by a seed in code, so the same arguments give the same rows, and what decides the target is
known. They look like what streams are made of, and are nobody's data.

Examples
--------
>>> from streamsift import datasets
>>> clicks = datasets.load_clicks(n_rows=1000)
>>> clicks.n_rows, clicks.target, clicks.true_features
(1000, 'bought', ('visits', 'cart'))
>>> len(datasets.names())
8
"""

from __future__ import annotations

from streamsift.datasets.clicks import load_clicks
from streamsift.datasets.clinic import load_clinic
from streamsift.datasets.dataset import Dataset
from streamsift.datasets.messages import load_messages
from streamsift.datasets.real import load_breast_cancer, load_diabetes, load_digits
from streamsift.datasets.sensors import load_sensors
from streamsift.datasets.transactions import load_transactions

__all__ = [
    "Dataset",
    "load_breast_cancer",
    "load_clicks",
    "load_clinic",
    "load_diabetes",
    "load_digits",
    "load_messages",
    "load_sensors",
    "load_transactions",
    "names",
]


def names() -> list[str]:
    """What can be loaded: `load_NAME()` for each.

    Examples
    --------
    >>> from streamsift import datasets
    >>> datasets.names()[:3]
    ['breast_cancer', 'clicks', 'clinic']
    """
    return [name.removeprefix("load_") for name in __all__ if name.startswith("load_")]
