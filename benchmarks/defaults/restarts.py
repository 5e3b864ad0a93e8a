"""Trees and boosting where the selection changes: going on with what they know, or starting again at every change.

A screener with fading 0.98 selects ten features (half of them where there are fewer than twenty), so that the selection
changes often; accuracy is prequential, in batches of 100 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from benchmarks.defaults.sets import Halves, load
from benchmarks.defaults.streams import DRIFTING
from streamsift import Screener
from streamsift.evaluate.prequential import prequential
from streamsift.learners.online import make_learner

MODELS = ("hoeffding_tree", "adaptive_tree", "boosting")
FADING, BATCH = 0.98, 100
Figures = dict[str, dict[str, float]]


def accuracy(stream: Halves, model: str, *, restarts: bool) -> tuple[float, float]:
    """The accuracy, and how often the model started again."""
    learner = make_learner(model)
    learner.restarts = restarts  # type: ignore[attr-defined]  # what a run asks before it resets a learner
    selector = Screener("fisher", n_features_to_select=stream.n_selected, fading=FADING)
    found = prequential((stream.X, stream.y), selector, learner, batch_size=BATCH).summary()
    return float(found["accuracy"] or 0.0), float(found["n_restarts"] or 0.0)


def measure(folder: Path, n_rows: int, n_features: int, say: Callable[[str], None]) -> Figures:
    """Both accuracies of every model on every stream, and the number of changes of the selection."""
    found: Figures = {}
    for data in load(folder, DRIFTING, n_rows, n_features):
        line: dict[str, float] = {}
        for model in MODELS:
            line[model], _ = accuracy(data, model, restarts=False)
            line[f"{model}, restarted"], line["changes"] = accuracy(data, model, restarts=True)
        found[data.name] = line
        say(f"{data.name}: {len(data.y)} rows, {data.X.shape[1]} features")
    return found


def table(found: Mapping[str, Mapping[str, float]]) -> str:
    """Accuracy of a model that goes on / of one that starts again."""
    text = [f"| stream | changes | {' | '.join(MODELS)} |", "|---|---|" + "---|" * len(MODELS)]
    for name, line in found.items():
        cells = (f"{line[model]:.3f} / {line[f'{model}, restarted']:.3f}" for model in MODELS)
        text.append(f"| {name} | {line['changes']:.0f} | {' | '.join(cells)} |")
    means = {key: np.mean([line[key] for line in found.values()]) for key in next(iter(found.values()))}
    cells = (f"{means[model]:.3f} / {means[f'{model}, restarted']:.3f}" for model in MODELS)
    return "\n".join([*text, f"| **mean** | {means['changes']:.0f} | {' | '.join(cells)} |"])
