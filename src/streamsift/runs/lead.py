"""lead: a run of any kind from the first step to the last, recorded on the way. The table of kinds stands here."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from streamsift import catalog
from streamsift.core.exceptions import OneClassWarning
from streamsift.runs.checkpoint import Checkpointing, Keeper, SavedRun
from streamsift.runs.run import Loop, Run, RunResult, Step
from streamsift.runs.trace_writer import TraceWriter

LOOPS: dict[catalog.Kind, str] = {
    "rows": "streamsift.runs.rows:RowLoop",
    "columns": "streamsift.runs.columns:ColumnLoop",
    "instances": "streamsift.runs.instances:InstanceLoop",
}


@dataclass(frozen=True)
class Ended:
    """A run that is over: what was run, and what it found (None: it was interrupted too early).

    `source` is what the source is known by, `kept` whether there is a checkpoint of the run.
    """

    run: Run
    result: RunResult | None
    source: dict[str, Any] = field(default_factory=dict)
    kept: bool = False

    def as_dict(self) -> dict[str, Any]:
        """What selection.json holds."""
        return self.run.as_dict() | ({} if self.result is None else self.result.as_dict())


def loop_for(method: str) -> type[Loop]:
    """The loop for a method of the catalog.

    Examples
    --------
    >>> loop_for("osfs").__name__
    'ColumnLoop'
    """
    module, _, name = LOOPS[catalog.entry(method).kind].partition(":")
    loop: type[Loop] = getattr(import_module(module), name)
    return loop


def lead(
    method: Any,
    run: Run,
    source: Any,
    *,
    prices: str | Path | None = None,
    trace_path: str | Path | None = None,
    checkpoint: Checkpointing | None = None,
    before: SavedRun | None = None,
    goes_on: bool = False,
    show: Callable[[Step], None] = lambda step: None,
) -> Ended:
    """Lead a method over a source to its end, or to Ctrl-C.

    Parameters
    ----------
    method : a method
        Of the kind that arrives: a row selector, a column selector, or a classifier that buys features.
    run : Run
        What is being run; its `method` is a name of the catalog, and decides how the source is read.
    source : path
        Or anything else that `open_stream` takes, for rows and instances; or a source of columns that knows its target,
        such as `columns_from` and `make_columns` return.
    prices : path or None
        A CSV file with the price of each feature, for methods that buy features.
    trace_path : path or None
        Where the trace goes; None keeps none. A run that fails, or finds nothing, leaves no file.
    checkpoint : Checkpointing, optional
        Where the state of the run is kept, and where it goes on from: its selector must then be `method`.
    goes_on : bool
        The method has learnt before and learns this source in addition; column selectors must know from `before` that
        the rows are the same.
    before : SavedRun, optional
        The run in which it learnt.
    show : callable
        Called with each step.

    Returns
    -------
    Ended

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import catalog
    >>> y = np.arange(40) % 2
    >>> rows = np.column_stack([np.arange(40.0), y])
    >>> selector = catalog.make("screen:t_score", n_features_to_select=1)
    >>> ended = lead(selector, Run("screen:t_score", data="a table"), (rows, y))
    >>> ended.run.complete, ended.as_dict()["selected"][0]["name"]
    (True, 'x1')
    """
    loop = loop_for(run.method).open(method, run, source, prices)
    if goes_on:
        loop.go_on(None if before is None else before.rows)
    records = trace_path is not None or checkpoint is not None
    with loop.writer(trace_path, run) if records else nullcontext() as writer, warnings.catch_warnings():
        # One class is judged at the end, when everything is in: a file may be sorted by its label.
        warnings.simplefilter("ignore", OneClassWarning)
        keeper = None
        if checkpoint is not None and writer is not None:
            keeper = Keeper(checkpoint, method, run, loop, writer)
        complete, seconds = _led(loop, writer, keeper, show)
        kept = keeper is not None and keeper.write()
        result = loop.result(complete=complete)
        run = run.ended(seconds=seconds, complete=complete, parameters=method.get_params())
        if writer is not None:
            writer.run, writer.seconds = run, seconds
            writer.result = {} if result is None else result.recorded()
    return Ended(run, result, loop.source(), kept=kept)


def _led(
    loop: Loop, writer: TraceWriter | None, keeper: Keeper | None, show: Callable[[Step], None]
) -> tuple[bool, float]:
    """Take all steps; whether it came to the end, and the seconds it took."""
    seconds = 0.0
    try:
        if keeper is not None:
            seconds = keeper.resume()
        with nullcontext() if keeper is None else keeper.watching():
            for step in loop.steps():
                seconds = step.seconds
                show(step)
                if writer is not None:
                    writer.append(step)
                if keeper is not None:
                    keeper.step(step)
            if keeper is not None:
                keeper.finish()
    except KeyboardInterrupt:
        return False, seconds
    return True, seconds
