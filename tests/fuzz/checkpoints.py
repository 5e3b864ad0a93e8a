"""Forged checkpoints: facts and arrays of their sections changed at random, then resumed.

A forged checkpoint must be refused in one sentence, or be harmless: the run comes to its end.
`python -m tests.fuzz checkpoints --seconds 60 --seed 1`.
"""

from __future__ import annotations

import atexit
import copy
import functools
import shutil
import tempfile
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from streamsift import catalog, persist
from streamsift.core.exceptions import StreamsiftError
from streamsift.runs.checkpoint import POSITION, RUN, TRACE, Checkpoint, Checkpointing, Every
from streamsift.runs.lead import lead
from streamsift.runs.run import Run
from tests.fuzz.forked import Make, Use
from tests.fuzz.states import mutations
from tests.fuzz.tally import ACCEPTED, REFUSED

METHODS = ("screen:fisher", "screen:gini", "saola", "etana")
STRANGE = (None, True, -1, 0, 1, 3, 2**31, 2**53, 10**30, 0.5, float("inf"), "", "x", "1", [], [1], ["a"], {}, {"a": 1})
N_ROWS = 200


def table(folder: Path) -> Path:
    """Rows of numbers and, in one column, categories."""
    path = folder / "table.csv"
    if not path.exists():
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, N_ROWS)
        rows = [f"{rng.normal():.3f},{rng.normal() + k:.3f},{rng.integers(2)},c{rng.integers(3)},{k}" for k in y]
        path.write_text("\n".join(["p,q,r,colour,y", *rows]) + "\n")
    return path


@functools.cache
def original(method: str, folder: Path) -> Checkpoint:
    """A checkpoint from the middle of a run."""
    path, left = folder / f"{method.replace(':', '_')}.ckpt", [2]

    def show(step: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    lead(catalog.make(method), about(method), table(folder), checkpoint=Checkpointing(path, Every(0.0)), show=show)
    return Checkpoint.read(path)


def about(method: str) -> Run:
    """The run."""
    return Run(method, catalog.entry(method).kind, "table.csv", "y", settings={"batch_size": 30, "ignore": ["colour"]})


def maker(kinds: Sequence[str] | None = None) -> Make:
    """Forged checkpoints of some methods; None: of all that are tried."""
    folder = Path(tempfile.mkdtemp(prefix="streamsift-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for method in kinds or METHODS:  # kernels are compiled before anything is counted
        original(method, folder)
    return partial(_make, tuple(kinds or METHODS), folder)


def _make(methods: tuple[str, ...], originals: Path, number: int, seed: int) -> tuple[str, Use]:
    rng = np.random.default_rng([seed, number])
    method = methods[int(rng.integers(len(methods)))]
    return method, partial(attempt, method, originals, rng)


def attempt(method: str, originals: Path, rng: np.random.Generator, folder: Path) -> str:
    """Forge one checkpoint and resume it; how that ended."""
    path = folder / "forged.ckpt"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        begin = original(method, originals)
        about_run = persist.read_section(begin.path, RUN)
        assert about_run is not None
        sections = {RUN: about_run, POSITION: begin.position, TRACE: begin.trace}
        for _ in range(int(rng.integers(1, 3))):
            name = str(rng.choice([RUN, POSITION, TRACE]))
            sections[name] = forged(sections[name], rng)
        try:
            persist.write(path, persist.parts_of(begin.selector), sections)
        except (ValueError, TypeError):  # what JSON cannot hold, no file can
            return REFUSED
        try:
            found = Checkpoint.read(path)
            lead(found.selector, about(method), table(originals), checkpoint=Checkpointing(path, Every(), found))
        except StreamsiftError as error:
            if "\n" in str(error):
                raise ValueError(f"refused in several lines: {error}") from error
            return REFUSED
    return ACCEPTED


def forged(parts: persist.Parts, rng: np.random.Generator) -> persist.Parts:
    """The same with one array or one fact changed, or taken out."""
    facts, arrays = copy.deepcopy(parts.facts), dict(parts.arrays)
    if arrays and rng.random() < 0.5:
        key = str(rng.choice(sorted(arrays)))
        lies = [lie for _, lie in mutations(arrays[key]) if lie.dtype.kind in "biufU"]
        if rng.random() < 0.1:
            del arrays[key]
        else:
            arrays[key] = lies[int(rng.integers(len(lies)))]
        return persist.Parts(facts, arrays)
    inner: Any = facts
    while isinstance(inner, dict) and inner:
        key = str(rng.choice(sorted(inner)))
        if not isinstance(inner[key], dict) or not inner[key] or rng.random() < 0.2:
            inner[key] = STRANGE[int(rng.integers(len(STRANGE)))]
            break
        inner = inner[key]
    return persist.Parts(facts, arrays)
