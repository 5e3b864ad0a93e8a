"""How often ABFS selects nothing, and how many irrelevant features it selects, on streams in the order of time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.defaults.sets import load
from streamsift import ABFS
from streamsift.core.exceptions import StreamsiftWarning
from streamsift.streams import generate

BATCH = 100
STREAMS = ("elec2", "covtype", "spam_corpus", "weather", "usenet", "newsgroup4")
GENERATED = ("bg1", "agr", "sea")
N_IRRELEVANT, N_GENERATED = 30, 6000


def empty_share(X: Any, y: Any, selector: Any) -> float:
    """The share of batches after which nothing is selected."""
    empty, starts = 0, range(0, len(y), BATCH)
    for start in starts:
        selector.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
        empty += not selector.get_support().any()
    return empty / len(starts)


def measure(folder: Path, n_rows: int, n_features: int, say: Callable[[str], None]) -> dict[str, dict[str, float]]:
    """Shares of empty selections of real streams, irrelevant features selected at the end of generated ones."""
    found: dict[str, dict[str, float]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StreamsiftWarning)
        for data in load(folder, STREAMS, n_rows, n_features):
            settings = {"default": ABFS(when_empty="none"), "paper": ABFS.paper().set_params(when_empty="none")}
            found[data.name] = {name: empty_share(data.X, data.y, selector) for name, selector in settings.items()}
            say(f"{data.name}: {len(data.y)} rows, {data.X.shape[1]} features")
        for name in GENERATED:
            found[name] = {
                setting: float(_irrelevant(name, selector))
                for setting, selector in {"default": ABFS(), "paper": ABFS.paper()}.items()
            }
            say(name)
    return found


def _irrelevant(name: str, selector: Any) -> int:
    for batch in _batches(name):
        selector.partial_fit(batch)
    return len(np.setdiff1d(selector.get_support(indices=True), batch.relevant))


def _batches(name: str) -> Iterator[Any]:
    return generate(name, n_rows=N_GENERATED, seed=1, irrelevant=N_IRRELEVANT).batches(BATCH)


def table(found: Mapping[str, Mapping[str, float]]) -> str:
    """Two tables in one: real streams, then generated ones."""
    text = ["| stream | empty after, default grace period | empty after, the paper's |", "|---|---|---|"]
    text += [f"| {name} | {found[name]['default']:.0%} | {found[name]['paper']:.0%} |" for name in STREAMS]
    text += ["", f"| stream | of {N_IRRELEVANT} irrelevant features selected, default | the paper's |", "|---|---|---|"]
    text += [f"| {name} | {found[name]['default']:.0f} | {found[name]['paper']:.0f} |" for name in GENERATED]
    return "\n".join(text)
