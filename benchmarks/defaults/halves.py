"""Mean accuracy of a logistic regression on the features a method has selected, over many sets.

Features are selected on the first half of the rows, in batches or column by column. A logistic regression on them,
standardised, is trained on the first half and tested on the second.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.defaults.sets import Halves
from streamsift import Screener
from streamsift.core.exceptions import StreamsiftWarning

Features = NDArray[np.int64]
Choose = Callable[[Halves], Features]

N_DRAWS = 5  # of random features
CLEAR = 0.01  # a difference of accuracies that counts as a win or a loss


@dataclass(frozen=True)
class Line:
    """What one way to choose features reached: accuracy and number of features by set."""

    accuracy: dict[str, float]
    n_features: dict[str, float]


def accuracy(data: Halves, features: Features) -> float:
    """Share of the second half that a classifier of the first half gets right; no features: the majority class."""
    X, y, middle = data.X[:, features], data.y, data.middle
    X = X.toarray() if issparse(X) else X
    first = y[:middle]
    if len(features) == 0 or len(np.unique(first)) < 2:
        values, counts = np.unique(first, return_counts=True)
        return float(np.mean(y[middle:] == values[np.argmax(counts)]))
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=100))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[:middle], first)
    return float(model.score(X[middle:], y[middle:]))


def by_rows(make: Callable[..., Any], **settings: Any) -> Choose:
    """Features of a row selector that is fed the first half in batches."""

    def choose(data: Halves) -> Features:
        selector = make(n_features_to_select=data.n_selected, **settings)
        return np.asarray(_fed(selector, data).get_support(indices=True))

    return choose


def by_rows_its_own_number(make: Callable[..., Any], **settings: Any) -> Choose:
    """The same for a selector that decides itself how many features it selects."""

    def choose(data: Halves) -> Features:
        return np.asarray(_fed(make(**settings), data).get_support(indices=True))

    return choose


def by_columns(make: Callable[..., Any], **settings: Any) -> Choose:
    """Features of a column selector that is offered the columns of the first half."""

    def choose(data: Halves) -> Features:
        selector = make(**settings).fit(data.X[: data.middle], data.y[: data.middle])
        return np.asarray(selector.get_support(indices=True))

    return choose


def _fed(selector: Any, data: Halves) -> Any:
    for start in range(0, data.middle, data.batch_size):
        part = slice(start, min(start + data.batch_size, data.middle))
        selector.partial_fit(data.X[part], data.y[part])
    return selector


def measure(sets: Iterator[Halves], methods: Mapping[str, Choose], say: Callable[[str], None]) -> dict[str, Line]:
    """Every method on every set, beside random features, two screens and all features."""
    screens = {f"screen:{name}": by_rows(Screener, criterion=name) for name in ("mutual_info", "fisher")}
    lines: dict[str, Line] = {name: Line({}, {}) for name in ("random", "all", *screens, *methods)}
    for data in sets:
        for name, choose in (screens | dict(methods)).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StreamsiftWarning)
                features = choose(data)
            lines[name].accuracy[data.name] = accuracy(data, features)
            lines[name].n_features[data.name] = len(features)
        _measure_random(lines["random"], data)
        lines["all"].accuracy[data.name] = accuracy(data, np.arange(data.X.shape[1]))
        lines["all"].n_features[data.name] = data.X.shape[1]
        say(f"{data.name}: {len(data.y)} rows, {data.X.shape[1]} features")
    return lines


def _measure_random(line: Line, data: Halves) -> None:
    rng = np.random.default_rng(0)
    draws = [rng.permutation(data.X.shape[1])[: data.n_selected] for _ in range(N_DRAWS)]
    line.accuracy[data.name] = float(np.mean([accuracy(data, draw) for draw in draws]))
    line.n_features[data.name] = data.n_selected


def wins_and_losses(line: Line, other: Line) -> tuple[int, int]:
    """On how many sets a line is better and worse than another by more than .01."""
    differences = np.array([line.accuracy[name] - other.accuracy[name] for name in line.accuracy])
    return int((differences > CLEAR).sum()), int((differences < -CLEAR).sum())


def table(lines: Mapping[str, Line]) -> str:
    """Mean accuracy of each way to choose, its wins and losses against random features and against its default.

    The default of "name, setting" and of "name (setting)" is "name".
    """
    text = [
        "| features chosen by | mean accuracy | number of features | against random | against its default |",
        "|---|---|---|---|---|",
    ]
    for name, line in lines.items():
        mean, number = np.mean(list(line.accuracy.values())), np.median(list(line.n_features.values()))
        others = ("random", name.split(",")[0].split(" (")[0])
        against = ["–" if other == name else _score(line, lines[other]) for other in others]
        text.append(f"| {name} | {mean:.3f} | {number:g} | {against[0]} | {against[1]} |")
    return "\n".join(text)


def _score(line: Line, other: Line) -> str:
    won, lost = wins_and_losses(line, other)
    return f"{won} won, {lost} lost"
