"""Running standardisation: accuracy of the models that get it, with and without, over all features of each set.

Each set is judged prequentially in batches of 100 rows (20 where it has fewer than 1,000): every batch is predicted
first and then learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from benchmarks.defaults.halves import CLEAR
from benchmarks.defaults.sets import Halves
from streamsift.evaluate.prequential import prequential
from streamsift.learners.online import NEED_SCALE

MODELS = tuple(NEED_SCALE)
SCALES = ("standard", "none")
Accuracies = dict[str, dict[str, dict[str, float]]]  # set -> model -> scale -> accuracy


def accuracy(data: Halves, model: str, scale: str) -> float:
    """Share of the tested rows that are predicted correctly, by a model that sees all features."""
    batch_size = 100 if len(data.y) >= 1000 else 20
    found = prequential((data.X, data.y), None, model, batch_size=batch_size, scale=scale).summary()["accuracy"]
    return float("nan") if found is None else found


def measure(source: Iterator[Halves], say: Callable[[str], None]) -> Accuracies:
    """The accuracy on every set, of every model, with and without standardisation."""
    found: Accuracies = {}
    for data in source:
        found[data.name] = {model: {scale: accuracy(data, model, scale) for scale in SCALES} for model in MODELS}
        say(f"{data.name}: {len(data.y)} rows, {data.X.shape[1]} features")
    return found


def table(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Accuracy with standardisation / without it; means and counts of sets below."""
    text = [f"| set | {' | '.join(MODELS)} |", "|---|" + "---|" * len(MODELS)]
    for name, line in found.items():
        cells = (f"{line[model]['standard']:.3f} / {line[model]['none']:.3f}" for model in MODELS)
        text.append(f"| {name} | {' | '.join(cells)} |")
    pairs = {model: np.array([[line[model][scale] for scale in SCALES] for line in found.values()]) for model in MODELS}
    means = (f"{both[:, 0].mean():.3f} / {both[:, 1].mean():.3f}" for both in pairs.values())
    gains = [both[:, 0] - both[:, 1] for both in pairs.values()]
    counts = (f"{(gain > CLEAR).sum()} won, {(gain < -CLEAR).sum()} lost" for gain in gains)
    text += [f"| **mean** | {' | '.join(means)} |", f"| **standardised against not** | {' | '.join(counts)} |"]
    return "\n".join(text)
