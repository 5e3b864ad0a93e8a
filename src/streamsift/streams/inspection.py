"""inspect: what each column of a source is taken for, before anything is learnt from it.

    number      its values are used as they are          constant   one value in all rows
    category    texts, true and false, by name           id-like    another value in every row
    date        seconds since 1970                       text       texts of which most occur once
    empty       no value at all

A bounded number of rows is read, and a bounded number of different values is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.streams.blocks import BlockStream
from streamsift.streams.identifiers import FEWEST_ROWS, IdentifierWatch
from streamsift.streams.stream import RowStream

MOST_ROWS = 100_000
MOST_CELLS = 20_000_000  # of wide tables fewer rows are read
MOST_DISTINCT = 1_000  # values counted in one column
MOST_CLASSES = 50
N_EXAMPLES = 3
MOSTLY_DIFFERENT = 0.5  # a column of text with more different values than this share of its rows is no category
NEARLY_CONSTANT = 0.99
_AT_ONCE = 1 << 12  # rows


@dataclass(frozen=True)
class ColumnFacts:
    """What is known about a column; `more` says that counting stopped at `distinct`."""

    name: str
    kind: str
    missing: float
    distinct: int
    more: bool
    examples: tuple[str, ...]


@dataclass(frozen=True)
class TargetFacts:
    """The labels and their shares, the most frequent first; `more` says that there are others."""

    name: str
    kind: str
    distinct: int
    more: bool
    shares: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Inspection:
    """What a source holds, as far as it was read."""

    n_rows: int
    complete: bool
    n_unlabelled: int
    columns: tuple[ColumnFacts, ...]
    target: TargetFacts
    warnings: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON."""
        found = asdict(self)
        found["target"]["shares"] = [{"label": label, "share": share} for label, share in self.target.shares]
        return found


def inspect(
    stream: RowStream,
    *,
    most_rows: int | None = MOST_ROWS,
    progress: Callable[[int, float | None], None] = lambda n_rows, fraction: None,
) -> Inspection:
    """Read the first rows of a stream and say what its columns hold.

    Parameters
    ----------
    stream : a stream
        As `open_stream` gives it.
    most_rows : int or None
        How many rows to read at most; None reads all. Of wide tables fewer are read, unless all are.
    progress : callable
        Called with the rows read and the fraction of the source behind us.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import open_stream
    >>> X = np.column_stack([np.arange(60.0), np.tile([1.5, 2.5], 30), np.zeros(60)])
    >>> found = inspect(open_stream((X, np.arange(60) % 3)))
    >>> [(column.name, column.kind) for column in found.columns]
    [('x0', 'id-like'), ('x1', 'number'), ('x2', 'constant')]
    """
    tallies: list[_Tally] = []
    labels: Counter[Any] = Counter()
    watch, n_rows, complete = IdentifierWatch(), 0, True
    for batch in stream.batches(_AT_ONCE):
        watch.see(batch)
        tallies += [_Tally() for _ in range(batch.X.shape[1] - len(tallies))]
        for place, values in enumerate(_columns(batch)):
            tallies[place].add(values, batch.n_rows)
        labels.update(label for label in np.asarray(batch.y).tolist() if label is not None)
        n_rows += batch.n_rows
        progress(n_rows, stream.progress())
        if most_rows is not None and n_rows >= min(most_rows, MOST_CELLS // max(len(tallies), 1)):
            complete = stream.n_rows == n_rows
            break
    identifiers = set(watch.found())
    names = stream.feature_names or [f"x{place}" for place in range(len(tallies))]
    kinds = _kinds(stream, len(tallies))
    columns = tuple(
        tally.facts(name, kind, stream.categories.get(name), n_rows, place in identifiers)
        for place, (name, kind, tally) in enumerate(zip(names, kinds, tallies, strict=True))
    )
    n_unlabelled = 0 if not isinstance(stream, BlockStream) else stream.n_unlabelled
    n_labels = sum(labels.values())
    target = _target(stream.target_name or "label", labels, n_labels)
    warnings = _warnings(columns, target, n_labels)
    if n_labels < n_rows:
        warnings.append(
            f"{n_rows - n_labels:,} of {n_rows:,} rows have no label in {target.name!r}: select leaves them out, the "
            "others need --skip-unlabelled."
        )
    return Inspection(n_rows, complete, n_unlabelled, columns, target, tuple(warnings))


class _Tally:
    """Counts the values of one column."""

    def __init__(self) -> None:
        self.n_missing, self.full = 0, False
        self.values: dict[float, None] = {}

    def add(self, values: NDArray[Any], n_rows: int) -> None:
        """Some more values; of a sparse column those that are stored, the others are 0."""
        missing = np.isnan(values)
        self.n_missing += int(np.count_nonzero(missing))
        if self.full:
            return
        found, first = np.unique(values[~missing], return_index=True)
        self.values.update(dict.fromkeys(found[np.argsort(first)].tolist()))
        if len(values) < n_rows:
            self.values[0.0] = None
        self.full = len(self.values) > MOST_DISTINCT

    def facts(
        self, name: str, kind: str, categories: tuple[str, ...] | None, n_rows: int, identifier: bool
    ) -> ColumnFacts:
        """What the values say about the column."""
        distinct, n_present = len(self.values), n_rows - self.n_missing
        if distinct == 0:
            kind = "empty"
        elif distinct == 1:
            kind = "constant"
        elif identifier and kind != "date":
            kind = "id-like"
        elif categories is not None and (len(categories) if self.full else distinct) > MOSTLY_DIFFERENT * n_present:
            kind = "text"
        examples = tuple(_shown(value, kind, categories) for value in list(self.values)[:N_EXAMPLES])
        distinct = len(categories) if categories is not None and self.full else min(distinct, MOST_DISTINCT)
        return ColumnFacts(
            name, kind, self.n_missing / max(n_rows, 1), distinct, self.full and categories is None, examples
        )


def _columns(batch: Batch) -> list[NDArray[Any]]:
    """The values of each column; of a sparse batch those that are stored."""
    if isinstance(batch.X, np.ndarray):
        return list(batch.X.T)
    columns = batch.X.tocsc()
    return np.split(columns.data, columns.indptr[1:-1])


def _kinds(stream: RowStream, n_features: int) -> list[str]:
    """What the columns were read as."""
    kinds = stream.feature_kinds if isinstance(stream, BlockStream) else None
    if kinds is None:
        return ["number"] * n_features
    words = {"category": "category", "seconds": "date"}
    return [words.get(kind, "number") for kind in kinds]


def _shown(value: float, kind: str, categories: tuple[str, ...] | None) -> str:
    if categories is not None:
        return categories[int(value)]
    if kind != "date":
        return f"{value:.10g}"
    try:
        moment = datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{value:.10g}"
    text = moment.isoformat(sep=" ").removesuffix("+00:00")
    return text.removesuffix(" 00:00:00")


def _target(name: str, labels: Counter[Any], n_rows: int) -> TargetFacts:
    numbers = all(isinstance(label, float) for label in labels)
    classes = len(labels) <= MOST_CLASSES or not numbers
    shares = tuple((str(label), count / n_rows) for label, count in labels.most_common(MOST_CLASSES))
    kind = "classes" if classes else "number"
    return TargetFacts(name, kind, len(labels), len(labels) > MOST_CLASSES, shares if classes else ())


def _warnings(columns: tuple[ColumnFacts, ...], target: TargetFacts, n_rows: int) -> list[str]:
    found = []
    for column in columns:
        advice = f"leave it out with --ignore {column.name}"
        if column.kind == "id-like":
            found.append(f"Column {column.name!r} has another value in every row, like an identifier: {advice}.")
        elif column.kind == "text":
            found.append(
                f"Column {column.name!r} is text that hardly repeats, so its categories tell little: {advice}."
            )
        elif column.kind in ("constant", "empty"):
            what = "has the same value in every row" if column.kind == "constant" else "has no value at all"
            found.append(f"Column {column.name!r} {what}: it tells nothing, so {advice}.")
    if target.distinct == 0 and n_rows == 0:
        return found
    if target.distinct == 1:
        found.append(f"The target {target.name!r} has one class only: nothing can be told apart.")
    elif target.shares and target.shares[0][1] >= NEARLY_CONSTANT:
        label, share = target.shares[0]
        found.append(f"The target {target.name!r} is {label!r} in {share:.1%} of the rows: accuracy will say little.")
    elif target.kind == "classes" and n_rows >= FEWEST_ROWS and target.distinct > MOSTLY_DIFFERENT * n_rows:
        found.append(
            f"The target {target.name!r} has {target.distinct:,} classes in {n_rows:,} rows: is it the target?"
        )
    return found
