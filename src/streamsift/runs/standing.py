"""standing: what a fitted method of any kind has seen and found so far, as `inspect` shows it of a saved one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamsift.core.selection import rank_scores
from streamsift.core.tags import Kind

MOST_RANKED = 10


@dataclass(frozen=True)
class Standing:
    """How far a method is.

    Attributes
    ----------
    n_rows, n_features : int
        What it has seen; of a method for columns, the columns offered.
    n_selected : int
        How many features are selected; of a method that buys features, those it ever buys.
    number : str
        What the number beside a name is: "score", "statistic", or "price".
    top : tuple of (str, float)
        The first features of the ranking. Of a method for columns these are the members, the latest first; of one that
        buys features, those it buys, the first first.
    """

    n_rows: int
    n_features: int
    n_selected: int
    number: str
    top: tuple[tuple[str, float], ...]


def standing_of(method: Any, most: int = MOST_RANKED) -> Standing:
    """What a fitted method has seen and found.

    Parameters
    ----------
    method : a fitted method of any kind
    most : int, default 10
        How many features of the ranking to name.

    Examples
    --------
    >>> from streamsift import Screener
    >>> selector = Screener("fisher", n_features_to_select=1).fit([[0.0, 1.0], [1.0, 1.0], [0.2, 2.0]], [0, 1, 0])
    >>> standing = standing_of(selector)
    >>> standing.n_rows, standing.n_selected, [name for name, _ in standing.top]
    (3, 1, ['x0', 'x1'])
    """
    return _OF[method.stream_tags().kind](method, most)


def _of_rows(selector: Any, most: int) -> Standing:
    scores = selector.scores_
    order = rank_scores(scores)[:most]
    names = [_name(selector, int(index)) for index in order]
    top = tuple(zip(names, scores[order].tolist(), strict=True))
    n_selected = int(selector.get_support().sum())
    return Standing(selector.n_rows_seen_, len(scores), n_selected, "score", top)


def _of_columns(selector: Any, most: int) -> Standing:
    history = selector.history_
    members = list(zip(history.column("name").to_pylist(), history.column("statistic").to_pylist(), strict=True))
    n_rows = int(selector.state_arrays()["members.n_rows"])
    return Standing(n_rows, selector.n_offered_, len(members), "statistic", tuple(members[::-1][:most]))


def _of_instances(classifier: Any, most: int) -> Standing:
    arrays = classifier.state_arrays()
    order, prices = arrays["plan.order"], arrays["plan.feature_cost"]
    top = tuple((_name(classifier, int(index)), float(prices[index])) for index in order[:most])
    return Standing(classifier.n_rows_seen_, classifier.n_features_in_, len(order), "price", top)


def _name(method: Any, index: int) -> str:
    names = getattr(method, "feature_names_in_", None)
    return f"x{index}" if names is None else str(names[index])


_OF: dict[Kind, Callable[[Any, int], Standing]] = {
    "rows": _of_rows,
    "columns": _of_columns,
    "instances": _of_instances,
}
