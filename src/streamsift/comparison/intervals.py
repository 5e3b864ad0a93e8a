"""How sure the figures of an entry are: an interval for its metric, its stability and its number of features.

Independent streams give Student's interval over the streams. Repeats of a file share most of their rows and are no
evidence beyond the first: there, the metric has the interval of its first repeat over time (see `significance`), and
the other figures have the range of the repeats, which says how much they moved, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from streamsift.comparison.significance import FEWEST_STREAMS, LEVEL, interval_over_time

Interval = dict[str, Any]  # low, high, kind: "over streams", "over time" or "range", n: of streams, steps or repeats


def intervals_of(results: Sequence[dict[str, Any]], metric: str, *, independent: bool) -> dict[str, Interval]:
    """The intervals of an entry, by figure; a figure of which nothing can be said has none.

    Parameters
    ----------
    results : sequence of dict
        What each repeat gave, the first repeat first.
    metric : str
        What the comparison goes by.
    independent : bool
        Whether each repeat is a stream of its own.

    Returns
    -------
    dict

    Examples
    --------
    >>> from streamsift.comparison.intervals import intervals_of
    >>> results = [{"accuracy": a, "stability": 1.0, "features": 5} for a in (0.8, 0.9, 0.85)]
    >>> found = intervals_of(results, "accuracy", independent=True)["accuracy"]
    >>> round(found["low"], 2), round(found["high"], 2), found["kind"], found["n"]
    (0.73, 0.97, 'over streams', 3)
    """
    found: dict[str, Interval] = {}
    for name in (metric, "stability", "features"):
        values = [float(one[name]) for one in results if one.get(name) is not None]
        if independent and len(values) >= FEWEST_STREAMS:
            found[name] = _over_streams(values)
        elif name == metric and values:
            one = _over_time(results[0], metric)
            found |= {} if one is None else {name: one}
        elif len(values) > 1:
            found[name] = {"low": min(values), "high": max(values), "kind": "range", "n": len(values)}
    return found


def _over_streams(values: Sequence[float]) -> Interval:
    n, mean = len(values), float(np.mean(values))
    half = float(-special.stdtrit(n - 1.0, LEVEL / 2.0) * np.std(values, ddof=1) / np.sqrt(n))
    return {"low": mean - half, "high": mean + half, "kind": "over streams", "n": n}


def _over_time(result: dict[str, Any], metric: str) -> Interval | None:
    """Around the figure itself: the mean of the steps' scores is the figure, or its negative where lower is better."""
    scores = (result.get("steps") or {}).get(metric) or []
    half = interval_over_time(scores, metric=metric) if scores else None
    if half is None:
        return None
    value = float(result[metric])
    return {"low": value - half, "high": value + half, "kind": "over time", "n": len(scores)}
