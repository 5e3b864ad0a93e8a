"""Instances: a classifier that buys features is fitted on some rows and judged on the others, block by block."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamsift.core.batch import Batch, check_batch
from streamsift.core.categories import ColumnKinds
from streamsift.core.exceptions import InputError, SavedStateError
from streamsift.core.instances import InstanceClassifier
from streamsift.core.interrupts import check
from streamsift.core.state import MOST_FEATURES
from streamsift.instances.explain import explain
from streamsift.instances.settings import feature_costs
from streamsift.persist import Parts
from streamsift.runs.rows import no_rows
from streamsift.runs.run import Leaders, Run, TextTable, seconds_of
from streamsift.runs.table_arrays import table_from_arrays
from streamsift.runs.trace_writer import TraceWriter
from streamsift.streams import open_stream
from streamsift.streams.fingerprints import digest, fingerprint
from streamsift.streams.identifiers import WatchedStream
from streamsift.streams.open import READING
from streamsift.streams.positions import whole_number
from streamsift.streams.prices import read_prices
from streamsift.streams.stream import RowStream

HELD_OUT, SEED = 0.3, 0  # the share of the rows that a run judges on, and the seed of the draw
BLOCK = 4096  # held-out rows judged at a time
N_EXAMPLES = 6  # rows that are followed from purchase to purchase
N_SHOWN = 10  # features that a step shows
N_PRINTED = 20  # features in the table of those bought

# The table of a trace: one row for each held-out row, in the order of the file.
SCHEMA = pa.schema(
    {
        "row": pa.int64(),  # its number in the file, from 1
        "n_evaluated": pa.int32(),  # features bought
        "price": pa.float64(),  # paid for them
        "loss": pa.float64(),  # of the answer: 0 where it is right
        "correct": pa.bool_(),
    }
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Judged:
    """Some held-out rows: their places in the data, what each bought and paid, and whether its answer was right.

    `bought` counts for each feature the rows that bought it.
    """

    rows: NDArray[np.intp]
    n_evaluated: Ints
    price: Floats
    loss: Floats
    correct: NDArray[np.bool_]
    bought: Ints


@dataclass(frozen=True)
class InstanceStep:
    """One block of held-out rows further; the first step comes after fitting, when none has been judged.

    `judged` is None there. `most_bought` are the features bought most so far, with the share of rows that bought them.
    """

    n_judged: int
    seconds: float
    progress: float | None
    judged: Judged | None
    most_bought: tuple[tuple[str, float], ...]

    unit: ClassVar[str] = "held-out rows"

    @property
    def position(self) -> int:
        """Held-out rows judged."""
        return self.n_judged

    def leaders(self) -> Leaders | None:
        """The features bought most, with the share of rows that bought them."""
        if self.judged is None:
            return None
        return Leaders([name for name, _ in self.most_bought], [share for _, share in self.most_bought])


@dataclass(frozen=True)
class Trial:
    """How a classifier did on rows it had not seen.

    n_evaluated: features used by each held-out row. bought: (name, share of held-out rows that bought it), most
    bought first. cost: mean price and misclassification cost of a row.
    """

    accuracy: float
    cost: float
    n_evaluated: Ints
    bought: tuple[tuple[str, float], ...]
    n_train: int

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON and tables."""
        used = self.n_evaluated
        quarters = np.quantile(used, [0.0, 0.25, 0.5, 0.75, 1.0])
        return {
            "accuracy": self.accuracy,
            "mean_cost": self.cost,
            "rows_trained": self.n_train,
            "rows_held_out": len(used),
            "features_used": {
                "mean": float(used.mean()),
                **dict(zip(("min", "q1", "median", "q3", "max"), quarters.tolist(), strict=True)),
                "histogram": np.bincount(used).tolist(),
            },
            "bought": [{"name": name, "share": share} for name, share in self.bought],
        }


class Examination:
    """A model, the rows it is fitted on and those it is judged on.

    Parameters
    ----------
    model : ETANA or FETANA
        It is fitted by `steps`.
    X, y : data
        All rows; X may be a `Batch`, whose names and categories are used (y is then None).
    held_out : float in (0, 1)
        The share of rows to judge on, drawn class by class.
    seed : int
        Seed of the draw.
    """

    def __init__(
        self, model: InstanceClassifier, X: Any, y: Any = None, held_out: float = HELD_OUT, seed: int = SEED
    ) -> None:
        self._model = model
        self._rows = check_batch(X, y, owner=type(model).__name__, missing=True)
        self._train, self._test = _split(self._rows.codes, held_out, seed)
        self._blocks: list[Judged] = []
        self._fitted = self._goes_on = False

    @property
    def names(self) -> list[str]:
        """The names of the features."""
        return [self._rows.features.name(k) for k in range(self._rows.features.n_features)]

    def go_on(self) -> None:
        """Let the model learn these rows in addition to what it knows."""
        self._goes_on = True

    def resume(self, judged: Judged | None) -> None:
        """The model is fitted, and so many rows have been judged; what cannot be is refused."""
        n_judged = 0 if judged is None else len(judged.rows)
        if n_judged % BLOCK and n_judged != len(self._test):
            raise SavedStateError("The checkpoint is damaged: it ends in the middle of a block of held-out rows.")
        if judged is not None:
            if len(judged.bought) != len(self.names) or not np.array_equal(judged.rows, self._test[:n_judged]):
                raise SavedStateError("The checkpoint is damaged: it has judged other rows than those held out.")
            self._blocks.append(judged)
        self._fitted = True

    def bought(self) -> Ints:
        """How many of the rows judged so far bought each feature."""
        counts = [block.bought for block in self._blocks]
        return np.sum(counts, axis=0, dtype=np.int64) if counts else np.zeros(len(self.names), np.int64)

    def steps(self, block: int = BLOCK) -> Iterator[InstanceStep]:
        """Fit, then judge so many held-out rows at a time."""
        rows, seconds, since = self._rows, 0.0, perf_counter()
        labels = rows.labels.as_array()[rows.codes]
        if not self._fitted:
            learn = self._model.partial_fit if self._goes_on else self._model.fit
            learn(self._part(self._train, labels[self._train]))
            seconds += perf_counter() - since
            yield InstanceStep(0, seconds, 0.0, None, ())
        codes = {label: code for code, label in enumerate(self._model.classes_.tolist())}
        n_judged = sum(len(one.rows) for one in self._blocks)
        for first in range(n_judged, len(self._test), block):
            check()
            since = perf_counter()
            places = self._test[first : first + block]
            self._blocks.append(self._judge(places, [codes[label] for label in labels[places].tolist()], codes))
            seconds += perf_counter() - since
            n_judged = first + len(places)
            yield InstanceStep(
                n_judged, seconds, n_judged / len(self._test), self._blocks[-1], self._most_bought(N_SHOWN)
            )

    def _judge(self, places: NDArray[np.intp], truth: list[int], codes: dict[Any, int]) -> Judged:
        result = self._model.classify(self._part(places, None))
        answered = [codes[label] for label in result.labels.tolist()]
        losses = self._model._current_plan().risk[truth, answered]
        correct = np.equal(truth, answered)
        return Judged(places, result.n_evaluated, result.cost, losses, correct, result.bought)

    def _part(self, places: NDArray[np.intp], labels: Any) -> Batch:
        """Some of the rows, with the names of features and categories."""
        rows = self._rows
        kinds = ColumnKinds(rows.categories.names, tuple(rows.categories.undecided))
        return Batch(rows.X[places], labels, rows.features.names, rows.categorical, kinds=kinds)

    def _most_bought(self, most: int | None = None) -> tuple[tuple[str, float], ...]:
        bought = self.bought()
        n_rows = sum(len(block.rows) for block in self._blocks)
        order = np.argsort(-bought, kind="stable")[: np.count_nonzero(bought)]
        return tuple((self._rows.features.name(int(j)), float(bought[j] / n_rows)) for j in order[:most])

    def trial(self) -> Trial | None:
        """What was found so far; None before any row was judged."""
        if not self._blocks:
            return None
        correct, losses, prices, used = (
            np.concatenate([getattr(block, name) for block in self._blocks])
            for name in ("correct", "loss", "price", "n_evaluated")
        )
        cost = float(losses.mean() + prices.mean())
        return Trial(float(np.mean(correct)), cost, used, self._most_bought(), len(self._train))


def try_out(model: InstanceClassifier, X: Any, y: Any = None, *, held_out: float = HELD_OUT, seed: int = SEED) -> Trial:
    """Fit a model on a random part of the rows and judge it on the rest; the model is then fitted on that part.

    Parameters
    ----------
    model : ETANA or FETANA
    X, y : data
        All rows; X may be a `Batch`, whose names and categories are used (y is then None).
    held_out : float in (0, 1), default 0.3
        The share of rows to judge on, drawn class by class.
    seed : int, default 0
        Seed of the draw.

    Returns
    -------
    Trial

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import ETANA
    >>> from streamsift.runs.instances import try_out
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 5)) + 3.0 * y[:, None] * [1, 1, 0, 0, 0]
    >>> trial = try_out(ETANA(feature_cost=0.05), X, y)
    >>> trial.accuracy > 0.9, trial.bought[0][0]
    (True, 'x0')
    """
    examination = Examination(model, X, y, held_out, seed)
    for _ in examination.steps():
        pass
    trial = examination.trial()
    assert trial is not None  # at least one row is held out
    return trial


def _split(codes: NDArray[np.int64], held_out: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers to train and to judge on; each class keeps at least one row to train on."""
    random = np.random.default_rng(seed)
    chosen = np.zeros(len(codes), bool)
    for code in np.unique(codes):
        rows = random.permutation(np.flatnonzero(codes == code))
        chosen[rows[: min(round(held_out * len(rows)), len(rows) - 1)]] = True
    if not chosen.any():
        raise InputError("No row can be held out: give at least two rows of some class.")
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


class InstanceTraceWriter(TraceWriter):
    """Writes what each held-out row bought."""

    schema = SCHEMA

    def __init__(self, path: str | Path | None, run: Run) -> None:
        self._n_features = 0
        super().__init__(path, run)

    def append(self, step: InstanceStep) -> None:
        """Record the rows of a step."""
        self.seconds = step.seconds
        judged = step.judged
        if judged is None:
            return
        self._n_features = len(judged.bought)
        columns = [judged.rows + 1, judged.n_evaluated, judged.price, judged.loss, judged.correct]
        arrays = [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)]
        self._write(pa.Table.from_arrays(arrays, schema=SCHEMA))

    def _flush(self) -> None:
        """Nothing waits."""

    def _so_far(self) -> tuple[dict[str, Any], Any]:
        return {"n_features": self._n_features}, pa.concat_tables([SCHEMA.empty_table(), *self._kept])

    def _take_over(self, facts: dict[str, Any], table: Any) -> None:
        self._n_features = whole_number(facts, "n_features", MOST_FEATURES)
        if len(table):
            self._write(table)

    def _features(self) -> tuple[dict[int, str], int]:
        return {}, self._n_features


@dataclass(frozen=True)
class InstanceResult:
    """A trial, the price of each feature, and some rows from purchase to purchase."""

    trial: Trial
    prices: dict[str, float]
    examples: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON."""
        found = self.trial.as_dict()
        for one in found["bought"]:
            one["price"] = self.prices[one["name"]]
        return {**found, "examples": self.examples}

    def recorded(self) -> dict[str, Any]:
        """The same: the trace keeps no more."""
        return self.as_dict()

    def tables(self) -> list[TextTable]:
        """Accuracy, cost and features used, then how often each feature was bought."""
        found = self.trial.as_dict()
        used = found["features_used"]
        heads = ["held-out rows", "accuracy", "mean cost", "features used", "least", "median", "most"]
        cells = [
            f"{found['rows_held_out']:,}", f"{found['accuracy']:.4f}", f"{found['mean_cost']:.4g}",
            f"{used['mean']:.2f}", f"{used['min']:g}", f"{used['median']:g}", f"{used['max']:g}",
        ]  # fmt: skip
        bought = [
            [str(rank), name, f"{share:.1%}"]
            for rank, (name, share) in enumerate(self.trial.bought[:N_PRINTED], start=1)
        ]
        return [
            TextTable(heads, [cells], heads),
            TextTable(["rank", "feature", "bought by"], bought, ["rank", "bought by"]),
        ]

    def note(self) -> str:
        """Nothing: the tables say it all."""
        return ""

    def reach(self) -> str:
        """The rows judged."""
        return f"{len(self.trial.n_evaluated):,} held-out rows"


class InstanceLoop:
    """A classifier that buys features, and a stream whose rows are all read before it is fitted."""

    takes_prices: ClassVar[bool] = True
    without_end: ClassVar[bool] = False
    takes_columns: ClassVar[bool] = False

    def __init__(self, model: Any, run: Run, source: Any, stream: RowStream, prices: str | Path | None = None) -> None:
        self._model, self._run, self._stream, self._prices = model, run, WatchedStream(stream), prices
        self._known_by = cache(lambda: fingerprint(source, stream))
        self._rows: Batch | None = None
        self._examination: Examination | None = None
        self._goes_on, self._resumed = False, False
        self._judged: Judged | None = None  # before this process
        self._seconds = self._seconds_before = 0.0

    @classmethod
    def open(cls, method: Any, run: Run, source: Any, prices: str | Path | None = None) -> Self:
        """Open a file, or anything else that `open_stream` takes."""
        given = {name: run.settings[name] for name in READING if name in run.settings}
        stream = open_stream(source, target=run.target or None, **given)
        return cls(method, run, source, stream, prices)

    def source(self) -> dict[str, Any]:
        """What the source is known by, and the prices."""
        prices = self._prices
        known = prices is not None and Path(prices).is_file()  # otherwise it is refused when it is read
        return self._known_by() | ({"prices": digest(Path(prices).read_bytes().hex())} if prices and known else {})

    def go_on(self, rows: str | None) -> None:
        """Learn 70 % of these rows in addition."""
        self._goes_on = True

    def freeze(self) -> Parts:
        """What was bought so far; the rows judged are in the trace."""
        assert self._examination is not None  # there was a step
        return Parts({"seconds": self._seconds}, {"bought": self._examination.bought()})

    def resume(self, parts: Parts, trace: Parts) -> None:
        """Go on with the rows that are not judged yet."""
        self._seconds_before, self._resumed = seconds_of(parts.facts), True
        table = table_from_arrays(trace.arrays, SCHEMA)
        bought = parts.arrays.get("bought")
        fine = bought is not None and bought.ndim == 1 and bought.dtype == np.int64
        if not fine or any(column.null_count for column in table.columns):
            raise SavedStateError("The checkpoint is damaged: it does not say what the rows judged so far have bought.")
        assert bought is not None
        if len(table):
            row, used, price, loss, correct = (column.to_numpy() for column in table.columns)
            numbers = np.concatenate([bought, used, price, loss])
            if not (numbers >= 0).all() or (bought > len(table)).any() or (used > len(bought)).any():
                raise SavedStateError("The checkpoint is damaged: rows cannot have bought what it says.")
            self._judged = Judged((row - 1).astype(np.intp), used.astype(np.int64), price, loss, correct, bought)

    def reach(self) -> str:
        """The rows judged before; those to learn from are behind us in any case."""
        return f"the fit and {0 if self._judged is None else len(self._judged.rows):,} held-out rows"

    def steps(self) -> Iterator[InstanceStep]:
        """Read all rows, fit on a random 70 % of them and judge on the rest."""
        since = perf_counter()
        self._rows = next(self._stream.batches(sys.maxsize), None)
        if self._rows is None:
            raise no_rows(self._run.data)
        examination = self._examination = Examination(self._model, self._rows)
        if self._resumed:
            examination.resume(self._judged)
        elif self._prices is not None:
            self._model.set_params(feature_cost=read_prices(self._prices, examination.names))
        if self._goes_on:
            examination.go_on()
        before = self._seconds_before + perf_counter() - since
        for step in examination.steps():
            self._seconds = before + step.seconds
            yield replace(step, seconds=self._seconds)

    def writer(self, path: str | Path | None, run: Run) -> InstanceTraceWriter:
        """Record the held-out rows."""
        return InstanceTraceWriter(path, run)

    def result(self, *, complete: bool) -> InstanceResult | None:
        """The trial so far."""
        trial = None if self._examination is None else self._examination.trial()
        if self._examination is None or self._rows is None or trial is None:
            return None
        names = self._examination.names
        prices = dict(zip(names, feature_costs(self._model, len(names)).tolist(), strict=True))
        return InstanceResult(trial, prices, _examples(self._model, self._rows))


def _examples(model: InstanceClassifier, rows: Batch) -> list[dict[str, Any]]:
    """Some rows of the file, from the one that needed the fewest features to the one that needed the most."""
    needed = model.classify(replace(rows, y=None)).n_evaluated
    order = np.argsort(needed, kind="stable")
    chosen = dict.fromkeys(int(order[k]) for k in np.linspace(0, len(order) - 1, N_EXAMPLES).round().astype(int))
    found = []
    for row in chosen:
        way = explain(model, replace(rows.rows(np.array([row])), y=None))
        end = way.steps[-1].choice
        steps = [
            {"feature": name, "probability": float(step.posterior[end]), "cost": float(step.cost)}
            for name, step in zip(way.names, way.steps, strict=True)
        ]
        found.append({"row": row + 1, "answer": str(way.label), "reason": way.reason, "steps": steps})
    return found
