"""Fading on streams: accuracy of naive Bayes on the features that each setting has selected so far.

A stream is read in batches of 50 rows. Each batch is first classified by a Gaussian naive Bayes trained on the last 500
rows before it, with the features selected at that time, and then learnt by the selector. Naive Bayes is the same for
all settings: what differs is the selection.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from benchmarks.defaults.sets import N_SELECTED, load
from streamsift import Screener
from streamsift.core.exceptions import StreamsiftWarning
from streamsift.rows.ladder import RATES
from streamsift.streams import generate

BATCH, WINDOW = 50, 500
GENERATED = {
    "sea, abrupt": ("sea", {"drift": "abrupt"}),
    "agr, abrupt": ("agr", {"drift": "abrupt"}),
    "agr, gradual": ("agr", {"drift": "gradual", "width": 1000}),
    "sea": ("sea", {"drift": None}),
    "agr": ("agr", {"drift": None}),
}
DRIFTING = ("elec2", "weather", "usenet1", "usenet2", "usenet", "spam_corpus", "newsgroup4", "covtype")
_SHUFFLED = """
spambase madelon a1a_full magic04 mnist har_binary gisette_valid internet_ads dota2_test basehock svmguide3 w1a
news20_w1000 relathe
"""
STATIONARY = tuple(_SHUFFLED.split())


@dataclass(frozen=True)
class Stream:
    name: str
    drifts: bool
    X: NDArray[np.float64]
    y: NDArray[np.int64]


def streams(folder: Path, n_rows: int, n_features: int) -> Iterator[Stream]:
    """Generated streams with and without drift, real ones in the order of time, and real sets that were shuffled."""
    for name, (kind, options) in GENERATED.items():
        batch = next(iter(generate(kind, n_rows=n_rows, seed=1, irrelevant=20, **options).batches(n_rows)))
        yield Stream(name, options["drift"] is not None, np.asarray(batch.X, np.float64), np.asarray(batch.y))
    for names, drifts in ((DRIFTING, True), (STATIONARY, False)):
        for data in load(folder, names, n_rows, n_features):
            yield Stream(data.name, drifts, data.X, data.y)


def accuracy(stream: Stream, selector: Any) -> float:
    """Share of the rows behind the first batch that are classified correctly."""
    X, y, correct = stream.X, stream.y, 0
    for start in range(0, len(y), BATCH):
        now = slice(start, start + BATCH)
        if start:
            past, chosen = slice(max(0, start - WINDOW), start), selector.get_support(indices=True)
            model = GaussianNB().fit(X[past][:, chosen], y[past])
            correct += int((model.predict(X[now][:, chosen]) == y[now]).sum())
        selector.partial_fit(X[now], y[now])
    return correct / (len(y) - BATCH)


def measure(source: Iterator[Stream], criterion: str, say: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Accuracy of every rate and of "auto" on every stream."""
    found: dict[str, dict[str, Any]] = {}
    for stream in source:
        number = min(N_SELECTED, stream.X.shape[1] // 2)
        found[stream.name] = {"drifts": stream.drifts, "rows": len(stream.y)}
        for fading in (*RATES, "auto"):
            selector = Screener(criterion, n_features_to_select=number, fading=fading)
            with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):  # constant in the window
                warnings.simplefilter("ignore", StreamsiftWarning)
                found[stream.name][str(fading)] = accuracy(stream, selector)
        found[stream.name]["fading_"] = selector.fading_
        say(f"{stream.name}: {len(stream.y)} rows, {stream.X.shape[1]} features")
    return found


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Accuracy without fading, and what each setting gains; streams with drift first, means below."""
    settings = [*map(str, RATES[1:]), "auto"]
    text = [
        f"| stream | fading 1 | {' | '.join(settings)} | auto ends at |",
        "|---|---|" + "---|" * (len(settings) + 1),
    ]
    for drifts in (True, False):
        part = {name: line for name, line in found.items() if line["drifts"] == drifts}
        for name, line in part.items():
            gains = " | ".join(f"{line[setting] - line['1.0']:+.3f}" for setting in settings)
            text.append(f"| {name} | {line['1.0']:.3f} | {gains} | {line['fading_']:g} |")
        means = " | ".join(f"{np.mean([line[s] - line['1.0'] for line in part.values()]):+.3f}" for s in settings)
        worst = " | ".join(f"{min(line[s] - line['1.0'] for line in part.values()):+.3f}" for s in settings)
        kind = "drifting" if drifts else "stationary"
        text += [f"| **{kind}, mean** | {np.mean([line['1.0'] for line in part.values()]):.3f} | {means} | |"]
        text += [f"| **{kind}, worst** | | {worst} | |"]
    return "\n".join(text)
