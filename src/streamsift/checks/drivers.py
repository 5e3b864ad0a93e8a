"""How the checks use a method of one kind: feed it, ask it, and what it must refuse.

A check of all kinds is written once, against a Driver. `learn` gives a method the first data of a stream and `more`
further data; `halves` cuts data as they would arrive: into rows, or into columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.checks.bad_data import BadData, bad_batches, bad_columns, later_batches, later_columns, unlabelled_batch
from streamsift.checks.samples import Floats, Ints, Make, expect, sample
from streamsift.core.tags import Kind

Answers = dict[str, NDArray[Any]]
Half = tuple[Any, Any]
CUT_COLUMNS = 3


class Driver(ABC):
    """One kind of method, as the checks use it."""

    n_classes = 2

    def sample(self, **options: int) -> tuple[Floats, Ints]:
        """Rows with labels that any method of the kind can learn from."""
        return sample(**{"n_classes": self.n_classes} | options)

    @abstractmethod
    def learn(self, method: Any, X: Any, y: Any) -> Any:
        """Give a new method the first data of a stream."""

    @abstractmethod
    def more(self, method: Any, X: Any, y: Any) -> Any:
        """Give a method further data of the stream."""

    @abstractmethod
    def halves(self, X: Any, y: Any) -> tuple[Half, Half]:
        """Data as they arrive, in two parts."""

    @abstractmethod
    def answer(self, method: Any, X: Any) -> Answers:
        """What the method has to say; X are rows to say it of, where that matters."""

    @abstractmethod
    def questions(self, X: Any) -> dict[str, Callable[[Any], Any]]:
        """Everything that can be asked once there is data."""

    @abstractmethod
    def use(self, method: Any, X: Any) -> Any:
        """Apply what was learnt to rows."""

    @abstractmethod
    def exposed(self, method: Any, X: Any) -> list[NDArray[Any]]:
        """Arrays that a caller receives and may write into."""

    @abstractmethod
    def bad_first(self, make: Make) -> list[BadData]:
        """Data that no method accepts as the first of a stream."""

    @abstractmethod
    def bad_later(self, make: Make) -> list[BadData]:
        """Data that no method accepts after a sample."""

    def known_labels(self, make: Make, pair: tuple[Hashable, Hashable]) -> set[Hashable] | None:
        """The labels `classes_` must hold after data with these; None where they are taken for numbers."""
        return set(pair)

    def targets(self, make: Make, y: Ints) -> dict[str, Any]:
        """The same target in the forms that are kept differently."""
        words = np.array(["red", "green", "blue"])
        return {"codes": y, "text": words[y], "bools": y > 0}


class RowDriver(Driver):
    """Row selectors: batches of rows in, one score per feature out."""

    n_classes = 3

    def learn(self, method: Any, X: Any, y: Any) -> Any:
        return method.partial_fit(X, y)

    more = learn

    def halves(self, X: Any, y: Any) -> tuple[Half, Half]:
        cut = len(y) * 7 // 12
        return (X[:cut], y[:cut]), (X[cut:], y[cut:])

    def answer(self, method: Any, X: Any) -> Answers:
        scores = method.scores_
        expect(scores.shape == (method.n_features_in_,), "there is not one score per feature")
        return {"scores": scores}

    def questions(self, X: Any) -> dict[str, Callable[[Any], Any]]:
        return _about_selection(X) | {
            "scores_": lambda selector: selector.scores_,
            "ranking_": lambda selector: selector.ranking_,
            "selection": lambda selector: selector.selection(),
        }

    def use(self, method: Any, X: Any) -> Any:
        return method.transform(X)

    def exposed(self, method: Any, X: Any) -> list[NDArray[Any]]:
        return [method.scores_, method.ranking_]

    def bad_first(self, make: Make) -> list[BadData]:
        return bad_batches(supervised=make().stream_tags().supervised)

    def bad_later(self, make: Make) -> list[BadData]:
        return [*self.bad_first(make), *later_batches()]


class InstanceDriver(RowDriver):
    """Instance classifiers: batches of rows in, a label, its probability and its cost for each row out."""

    n_classes = 2

    def answer(self, method: Any, X: Any) -> Answers:
        result = method.classify(X[:30])
        order = {label: code for code, label in enumerate(method.classes_.tolist())}
        return {
            "labels": np.array([order[label] for label in result.labels.tolist()]),
            "posteriors": result.posteriors,
            "n_evaluated": result.n_evaluated,
            "cost": result.cost,
            "bought": result.bought,
        }

    def questions(self, X: Any) -> dict[str, Callable[[Any], Any]]:
        return {
            "classify": lambda model: model.classify(X),
            "classify_one": lambda model: model.classify_one(lambda feature: X[0, feature]),
            "predict": lambda model: model.predict(X),
            "predict_proba": lambda model: model.predict_proba(X),
            "state_arrays": lambda model: model.state_arrays(),
        }

    def use(self, method: Any, X: Any) -> Any:
        return method.predict(X)

    def exposed(self, method: Any, X: Any) -> list[NDArray[Any]]:
        rows = X[:30]  # those of `answer`
        result = method.classify(rows)
        return [method.predict_proba(rows), result.posteriors, result.cost, result.n_evaluated, result.bought]

    def bad_first(self, make: Make) -> list[BadData]:
        missing = make().stream_tags().missing
        batches = [*bad_batches(supervised=True), unlabelled_batch()]
        return [bad for bad in batches if not (missing and bad.what == "NaN in X")]


class ColumnDriver(Driver):
    """Column selectors: blocks of columns in, members with the statistics that made them so out."""

    def learn(self, method: Any, X: Any, y: Any) -> Any:
        return method.fit(X, y)

    def more(self, method: Any, X: Any, y: Any) -> Any:
        if method.stream_tags().whole_table:
            return method.fit(X, y)
        method.offer_many(X)
        return method

    def halves(self, X: Any, y: Any) -> tuple[Half, Half]:
        columns = getattr(X, "columns", None)
        if columns is None:
            return (X[:, :CUT_COLUMNS], y), (X[:, CUT_COLUMNS:], y)
        return (X[columns[:CUT_COLUMNS]], y), (X[columns[CUT_COLUMNS:]], y)

    def answer(self, method: Any, X: Any) -> Answers:
        history = method.history_
        return {
            "support": method.get_support(),
            "place": history.column("place").to_numpy(),
            "statistic": history.column("statistic").to_numpy(),
            "threshold": history.column("threshold").to_numpy(),
        }

    def questions(self, X: Any) -> dict[str, Callable[[Any], Any]]:
        return _about_selection(X) | {
            "selected_": lambda selector: selector.selected_,
            "history_": lambda selector: selector.history_,
        }

    def use(self, method: Any, X: Any) -> Any:
        return method.transform(X)

    def exposed(self, method: Any, X: Any) -> list[NDArray[Any]]:
        return [method.get_support(), method.get_support(indices=True), method.transform(X)]

    def bad_first(self, make: Make) -> list[BadData]:
        return bad_columns()

    def bad_later(self, make: Make) -> list[BadData]:
        return bad_columns() if make().stream_tags().whole_table else later_columns()

    def known_labels(self, make: Make, pair: tuple[Hashable, Hashable]) -> set[Hashable] | None:
        numbers = all(isinstance(label, int | float | np.number) for label in pair)
        return None if numbers and make().stream_tags().target == "number" else set(pair)

    def targets(self, make: Make, y: Ints) -> dict[str, Any]:
        forms = super().targets(make, y)
        if make().stream_tags().numeric_target:
            forms["numbers"] = y + np.random.default_rng(5).normal(size=len(y))
        return forms


def _about_selection(X: Any) -> dict[str, Callable[[Any], Any]]:
    return {
        "get_support": lambda selector: selector.get_support(),
        "transform": lambda selector: selector.transform(X),
        "get_feature_names_out": lambda selector: selector.get_feature_names_out(),
        "state_arrays": lambda selector: selector.state_arrays(),
    }


_DRIVERS: dict[Kind, Driver] = {"rows": RowDriver(), "columns": ColumnDriver(), "instances": InstanceDriver()}


def driver_of(make: Make) -> Driver:
    """The driver of the kind that a method's tags declare."""
    return _DRIVERS[make().stream_tags().kind]
