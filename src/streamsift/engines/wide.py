"""select_wide: scores of very many features, cut into row blocks and column blocks within a memory limit."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from streamsift.core.exceptions import InputError, OneClassWarning, ParameterError, ReaderError, StreamsiftError
from streamsift.core.guarantees import kept
from streamsift.core.live import followed
from streamsift.core.selection import Selection, how_many, rank_scores
from streamsift.engines.blocks import BlockPlan, ColumnsOf, WidePart, peak_bytes, planned, read_bytes, rows_at_once
from streamsift.engines.parts import find_parts, is_files, same_features, with_width
from streamsift.engines.select import engine_for
from streamsift.engines.work import Job, learnt, merge, packed, refuse_what_cannot_merge, unpacked
from streamsift.rows.screener import Screener
from streamsift.streams.stream import RowStream

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WideSelection:
    """The scores of all features of a wide table, and what is selected by them.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        As the selector would give them.
    pvalues_ : ndarray or None
        Where the number of features is a rule on p-values.
    classes_ : ndarray
        The labels, by first appearance.
    n_rows_seen_, n_rows_unlabelled_ : int
        Rows that were learnt, and rows that had no label.
    n_features_to_select : int, float or str
        As given to the selector.
    plan : BlockPlan
        How the table was cut.
    peak_bytes : dict of int
        The most memory that each process has had, by its number, this one included.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from streamsift import Screener
    >>> from streamsift.engines import select_wide
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 50)), rng.integers(0, 2, 100)
    >>> X[:, 7] += 3 * y
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/all.npz", X=X, y=y)
    ...     found = select_wide(folder, Screener("fisher", n_features_to_select=1), jobs=1)
    >>> found.selected_, found.scores_.shape
    (['x7'], (50,))
    """

    scores_: Floats
    pvalues_: Floats | None
    classes_: NDArray[Any]
    n_rows_seen_: int
    n_rows_unlabelled_: int
    n_features_to_select: Any
    plan: BlockPlan
    peak_bytes: dict[int, int]
    names: tuple[str, ...] | None = field(default=None, repr=False)

    def selection(self) -> Selection:
        """What is selected, best first."""
        order, wanted = rank_scores(self.scores_), self.n_features_to_select
        if len(self.classes_) == 1:
            warnings.warn(
                f"All {self.n_rows_seen_} rows have the label {self.classes_[0]!r}: every score is 0 and the "
                "selection means nothing.",
                OneClassWarning,
                stacklevel=2,
            )
        if isinstance(wanted, str):
            assert self.pvalues_ is not None
            chosen = order[kept(wanted, self.pvalues_)[order]]
        else:
            chosen = order[: how_many(wanted, len(order))]
        names = tuple(f"x{place}" if self.names is None else self.names[place] for place in chosen.tolist())
        return Selection(chosen, names, self.scores_[chosen], len(order), self.n_rows_seen_)

    @property
    def selected_(self) -> list[str]:
        """The names of the selected features, best first."""
        return list(self.selection().names)


@dataclass(frozen=True)
class _WideJob:
    """What a worker needs to know to learn a block."""

    job: Job
    n_features: int
    sparse: bool
    whole: bool  # a block has all rows, so that it is finished where it was learnt


@dataclass(frozen=True)
class _Finished:
    """The answer of a column block."""

    scores: Floats
    p_values: Floats | None
    labels: NDArray[Any]
    n_rows: int
    n_unlabelled: int


@followed
def select_wide(
    source: Any,
    selector: Screener,
    target: str | None = None,
    *,
    memory: int | str = "4GB",
    engine: Any = "local",
    jobs: int = 2,
    batch_size: int = 1000,
    progress: Callable[[float], None] = lambda fraction: None,
    **reading: Any,
) -> WideSelection:
    """Score a table of up to millions of features that is stored as one array column, or sparse.

    The table is cut into row blocks and column blocks, so that no process takes more memory than the limit. Scores from
    moments (t_score, fisher, correlation) equal those of one pass to 1e-9; those from bins are those of one pass over
    the columns of the block.

    Parameters
    ----------
    source : path, pattern, folder, list of paths, or list of parts
        Parquet with a list or fixed-size-list column, or with columns `indices` and `values`; .npz with X, or the CSR
        parts; LIBSVM. A part has `n_features` and `open_columns(first, stop)`, which gives a stream of rows.
    selector : Screener
        One that has not learnt anything and does not fade; it is not changed.
    target : str, optional
        The column with the labels.
    memory : int or str, default "4GB"
        The most that each process may take: bytes, or a text such as "4GB". Planned, from what the selector says that
        it takes, and not enforced; `peak_bytes` of the result is what it came to.
    engine, jobs, batch_size, progress, **reading
        As in `select`.

    Returns
    -------
    WideSelection

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from streamsift import Screener
    >>> from streamsift.engines import select_wide
    >>> lists = {"indices": [[0, 3], [2], [3], [1]], "values": [[1.0, 5.0], [1.0], [4.0], [2.0]]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({**lists, "y": [1, 0, 1, 0]}), f"{folder}/rows.parquet")
    ...     found = select_wide(folder, Screener("fisher", n_features_to_select=1), "y", jobs=1)
    >>> found.selected_
    ['x3']
    """
    if not isinstance(selector, Screener):
        raise ParameterError(
            f"{type(selector).__name__} looks at features together, so its columns cannot be cut into blocks: give a "
            "Screener, or screen first (prescreen=2000, --prescreen 2000)."
        )
    refuse_what_cannot_merge(selector)
    limit, worker = read_bytes(memory), engine_for(engine, jobs)
    job = Job.of(selector, target, reading, batch_size)
    if is_files(source):
        parts: list[Any] = find_parts(source, worker.jobs)
        reading = with_width(worker, parts, reading)
        job = replace(job, **same_features(parts, target, reading))
    else:
        parts = list(source)
    if not parts or not all(isinstance(part, WidePart) or hasattr(part, "open") for part in parts):
        raise ParameterError("select_wide reads files, or parts with `n_features` and `open_columns(first, stop)`.")
    first = _looked_at(job, parts[0])
    plan = planned(selector, parts, first.n_features, first.n_classes, _n_values(job, parts, first), limit, worker.jobs)
    shared = _WideJob(job, plan.n_features, first.sparse, len(plan.rows) == 1)
    found = worker.call(learn_block, shared, plan.tasks(), lambda done: progress(done if shared.whole else 0.9 * done))
    peaks: dict[int, int] = {}
    for process, peak, _ in found:
        peaks[process] = max(peaks.get(process, 0), peak)
    answers = [answer for _, _, answer in found]
    if not shared.whole:
        step = len(plan.rows)
        answers = [finished(unpacked(merge(answers[k : k + step]))) for k in range(0, len(answers), step)]
        progress(1.0)
    peaks[os.getpid()] = peak_bytes()
    return _put_together(answers, selector, plan, peaks, first.names)


@dataclass(frozen=True)
class _FirstLook:
    n_features: int
    n_classes: int
    sparse: bool
    names: tuple[str, ...] | None


def _looked_at(job: Job, part: Any) -> _FirstLook:
    """What the first rows of the first part say."""
    if isinstance(part, WidePart):
        batch = next(iter(part.open_columns(0, 1).batches(job.batch_size)))
        return _FirstLook(part.n_features, len(set(batch.y.tolist())), issparse(batch.X), None)
    with _named(part):
        stream = job.open(part)
        width = int(next(iter(stream.batches(1))).X.shape[1])
        batch = next(iter(stream.batches(rows_at_once(width, job.batch_size))))
        return _FirstLook(width, len(set(batch.y.tolist())), issparse(batch.X), stream.feature_names)


def _n_values(job: Job, parts: list[Any], first: _FirstLook) -> int | None:
    """How many values sparse rows have in all, where all parts say so before they are read."""
    if not first.sparse or isinstance(parts[0], WidePart):
        return None
    counts: list[Any] = [getattr(job.open(part), "n_values", None) for part in parts]
    return None if None in counts else sum(counts)


def learn_block(wide: _WideJob, task: tuple[tuple[int, int], tuple[Any, ...]]) -> tuple[int, int, Any]:
    """Learn some rows of some columns: (process, the most memory it has had, the answer or the state)."""
    (first, stop), parts = task
    selector, most = wide.job.selector(), wide.job.batch_size
    rows = most if wide.sparse else rows_at_once(stop - first, most)
    for part in parts:
        with _named(part):
            learnt(selector, _columns(wide, part, first, stop), rows)
    answer = finished(selector) if wide.whole else packed(selector)
    return os.getpid(), peak_bytes(), answer


def _columns(wide: _WideJob, part: Any, first: int, stop: int) -> RowStream:
    if isinstance(part, WidePart):
        return part.open_columns(first, stop)
    return ColumnsOf(wide.job.open(part), first, stop, wide.n_features, sparse=wide.sparse)


class _named:
    """Errors name the part they come from."""

    def __init__(self, part: Any) -> None:
        self._part = part

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, StreamsiftError | OSError):
            raise ReaderError(f"The part {self._part} cannot be used: {error}") from error


def finished(selector: Any) -> _Finished:
    """The answer of a column block."""
    if not hasattr(selector, "n_rows_seen_"):
        raise InputError("No row of the table has a label, or there are no rows: check the name of the target.")
    p_values = selector.pvalues_ if isinstance(selector.n_features_to_select, str) else None
    labels = getattr(selector, "classes_", np.empty(0))
    return _Finished(selector.scores_, p_values, labels, selector.n_rows_seen_, selector.n_rows_unlabelled_)


def _put_together(
    answers: list[_Finished], selector: Screener, plan: BlockPlan, peaks: dict[int, int], names: tuple[str, ...] | None
) -> WideSelection:
    """The answers of all column blocks, side by side."""
    first = answers[0]
    with_p: Iterator[Floats] = (answer.p_values for answer in answers if answer.p_values is not None)
    found = list(with_p)
    return WideSelection(
        np.concatenate([answer.scores for answer in answers]),
        np.concatenate(found) if found else None,
        first.labels,
        first.n_rows,
        first.n_unlabelled,
        selector.n_features_to_select,
        plan,
        peaks,
        names,
    )
