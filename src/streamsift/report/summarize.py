"""summarize: everything a report says about one run, as a plain dict of lists, numbers and strings.

The page, the charts and a later Markdown or JSON report all read this dict; nothing here knows how it will look.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.evaluate.trace import Trace
from streamsift.metrics.detection import detection_rate

N_LEADERS = 6  # features drawn in colour
N_OTHERS = 24  # features drawn in grey behind them
N_LANES = 40  # features with a lane of their own
N_POINTS = 400  # points a line; more would not be seen

Interval = tuple[int, int]


def summarize(trace: Trace, name: str) -> dict[str, Any]:
    """Return what the report says about a run.

    Parameters
    ----------
    trace : Trace
        The record of the run, with at least one line.
    name : str
        What the run is called where several stand side by side.

    Returns
    -------
    dict
        `selected` (the final selection), `scores` and `lanes` (the charts over time), `detection` (None where the true
        features are unknown), `settings`, and the size of the run.
    """
    rows = [int(row) for row in trace.table["row"].to_pylist()]
    chosen = _lists(trace, "selected")
    relevant = _lists(trace, "relevant")
    shares = _shares(rows, chosen)
    by_share = sorted(shares, key=lambda index: (-shares[index], index))
    final = chosen[-1]
    leaders = final[:N_LEADERS]
    others = [index for index in [*final[N_LEADERS:], *by_share] if index not in leaders]
    return {
        "name": name,
        "n_rows": rows[-1],
        "n_features": trace.n_features,
        "n_looks": len(rows),
        "seconds": float(trace.table["seconds"][-1].as_py()),
        "settings": dict(trace.settings),
        "selected": _selected(trace, final, shares, relevant[-1]),
        "scores": _scores(trace, rows, leaders, list(dict.fromkeys(others))[:N_OTHERS]),
        "lanes": _lanes(trace, rows, chosen, relevant, by_share),
        "detection": _detection(rows, chosen, relevant),
    }


def _lists(trace: Trace, column: str) -> list[Any]:
    """A list column as Python lists; None where the trace has none."""
    return list(trace.table[column].to_pylist())


def _shares(rows: list[int], chosen: list[list[int]]) -> dict[int, float]:
    """For each feature ever selected, the share of the rows during which it was."""
    held: dict[int, int] = {}
    for since, look in zip(_since_last(rows), chosen, strict=True):
        for index in look:
            held[index] = held.get(index, 0) + since
    return {index: count / rows[-1] for index, count in held.items()}


def _since_last(rows: list[int]) -> list[int]:
    """The rows each look speaks for: those since the look before it. Looks need not be evenly spaced."""
    return [row - before for before, row in zip([0, *rows], rows, strict=False)]


def _selected(
    trace: Trace, final: list[int], shares: dict[int, float], relevant: list[int] | None
) -> list[dict[str, Any]]:
    last = trace.table.slice(len(trace) - 1)
    scores = dict(zip(last["indices"][0].as_py(), last["scores"][0].as_py(), strict=True))
    return [
        {
            "rank": rank,
            "index": index,
            "name": trace.name(index),
            "score": scores.get(index),
            "share": shares[index],
            "relevant": None if relevant is None else index in relevant,
        }
        for rank, index in enumerate(final, start=1)
    ]


def _scores(trace: Trace, rows: list[int], leaders: list[int], others: list[int]) -> dict[str, Any]:
    """The scores of some features over time; None where a score was not recorded or is not finite."""
    wanted = [*leaders, *others]
    lines = _points(len(rows))
    values = np.full((len(wanted), len(lines)), np.nan)
    for place, line in enumerate(lines):
        indices = trace.table["indices"][int(line)].values
        scores = trace.table["scores"][int(line)].values
        known = dict(zip(indices.to_pylist(), scores.to_pylist(), strict=True))
        values[:, place] = [known.get(index, np.nan) for index in wanted]
    features = [
        {
            "index": index,
            "name": trace.name(index),
            "values": [v if np.isfinite(v) else None for v in values[k].tolist()],
        }
        for k, index in enumerate(wanted)
    ]
    infinite = [feature["name"] for k, feature in enumerate(features) if np.isinf(values[k]).any()]
    return {
        "rows": [rows[line] for line in lines],
        "leaders": features[: len(leaders)],
        "others": features[len(leaders) :],
        "infinite": infinite,
    }


def _points(n_lines: int) -> NDArray[np.intp]:
    """Which lines of the trace become points of a chart: all, or an even choice with the first and the last."""
    return np.unique(np.linspace(0, n_lines - 1, min(n_lines, N_POINTS)).round().astype(np.intp))


def _lanes(
    trace: Trace, rows: list[int], chosen: list[list[int]], relevant: list[Any], by_share: list[int]
) -> dict[str, Any]:
    """For each feature ever selected the intervals of rows in which it was, and in which it was a true feature."""
    looks = [set(look) for look in chosen]
    truths = [set(look or ()) for look in relevant]
    # Early ones first, late ones last: what left, what stayed and what came can be read from top to bottom.
    middle = {
        i: float(np.median([row for row, look in zip(rows, looks, strict=True) if i in look]))
        for i in by_share[:N_LANES]
    }
    shown = sorted(middle, key=lambda index: (middle[index], index))
    return {
        "features": [
            {
                "index": index,
                "name": trace.name(index),
                "selected": _intervals(rows, [index in look for look in looks]),
                "relevant": _intervals(rows, [index in look for look in truths]),
            }
            for index in shown
        ],
        "n_ever_selected": len(by_share),
        "drift": _intervals(rows, trace.table["drifting"].to_pylist()),
        "true_features_known": any(look is not None for look in relevant),
    }


def _intervals(rows: list[int], flags: list[bool]) -> list[Interval]:
    """The runs of true flags as intervals of rows; a look speaks for the rows since the look before it.

    >>> _intervals([10, 20, 30, 40], [True, True, False, True])
    [(0, 20), (30, 40)]
    """
    found: list[Interval] = []
    start: int | None = None
    before = 0
    for row, flag in zip(rows, flags, strict=True):
        if flag and start is None:
            start = before
        if not flag and start is not None:
            found.append((start, before))
            start = None
        before = row
    if start is not None:
        found.append((start, before))
    return found


def _detection(rows: list[int], chosen: list[list[int]], relevant: list[Any]) -> dict[str, Any] | None:
    """The detection rate over time and its mean over the second half of the rows; None where nobody knows it there."""
    known = [k for k, look in enumerate(relevant) if look]
    late = [k for k in known if rows[k] > rows[-1] / 2]
    if not late:
        return None
    rates = {k: detection_rate(chosen[k], relevant[k]) for k in known}
    since = _since_last(rows)
    shown = [known[point] for point in _points(len(known))]
    return {
        "rows": [rows[k] for k in shown],
        "rates": [rates[k] for k in shown],
        "mean_second_half": float(np.average([rates[k] for k in late], weights=[since[k] for k in late])),
    }
