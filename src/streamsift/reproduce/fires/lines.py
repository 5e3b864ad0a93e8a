"""Single runs behind Figures 4 and 6 of the FIRES paper on sets other than Gisette, each kept as soon as it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.comparison.run_store import RunStore
from streamsift.evaluate.prequential import prequential
from streamsift.learners.online import make_learner
from streamsift.reproduce.archives import file_mark
from streamsift.reproduce.fires.data import FiresData, load
from streamsift.reproduce.fires.runs import WINDOW, data_folder, mean_accuracy, run, stabilities
from streamsift.reproduce.result import Options, Progress
from streamsift.rows.fires import FIRES
from streamsift.runs.trace import Trace
from streamsift.streams.arrays import ArrayStream

Rows = tuple[NDArray[np.float32], NDArray[np.int64]]


@dataclass(frozen=True)
class FiresLine:
    """A method on a data set with a tenth of the features; `penalty` is another one than the paper's, of FIRES-GLM."""

    data: str
    method: str
    batch_size: int
    penalty: float | None
    seed: int
    file: str
    rows: int | None


def line(data: FiresData, method: str, batch_size: int, options: Options, penalty: float | None = None) -> FiresLine:
    """The run of a method on a data set."""
    file = file_mark(data_folder(options) / data.file) if data.file else ""
    return FiresLine(data.name, method, batch_size, penalty, options.seed, file, options.rows)


def measure_lines(
    lines: Sequence[tuple[FiresData, FiresLine]], options: Options, progress: Progress
) -> dict[FiresLine, dict[str, Any]]:
    """What is kept of the runs and what there is time for; a set is read when it is first needed."""
    store = RunStore(None if options.keep is None else Path(options.keep) / "fires-lines")
    done: dict[FiresLine, dict[str, Any]] = {}
    name, rows = "", None
    for count, (data, one) in enumerate(lines, start=1):
        found = store.find(one)
        if found is None and not options.time_is_up:
            if rows is None or name != data.name:
                name, rows = data.name, load(data_folder(options), data, options.rows, options.seed)
            found = _measured(rows, one)
            store.add(one, found)
        if found is not None:
            done[one] = found
        progress(count, len(lines))
    return done


def _measured(rows: Rows, one: FiresLine) -> dict[str, Any]:
    if one.penalty is None:
        result = run(*rows, one.method, one.batch_size, 0.1, one.seed)
    else:
        selector = FIRES.paper(n_features_to_select=0.1, uncertainty_penalty=one.penalty, random_state=one.seed)
        learner = make_learner("perceptron", "none")
        result = prequential(ArrayStream(*rows), selector, learner, batch_size=one.batch_size, window=WINDOW)
    return {"accuracy": mean_accuracy(result), "stability": float(stabilities(result).mean()), "ends": ends(result)}


def ends(result: Trace) -> list[float]:
    """Stability of the first and of the last window, and the mean over the second half."""
    found = stabilities(result)
    return [float(found[0]), float(found[-1]), float(found[len(found) // 2 :].mean())]
