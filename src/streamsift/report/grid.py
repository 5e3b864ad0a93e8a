"""The grid of a run: features × snapshots, with scores, ranks and when each was selected, packed for the page.

The heat map, its CSV file and the view of a single feature all read this one dict. Scores are 16-bit codes between the
lowest and the highest score of their feature: 0 is missing, 65,534 minus infinity and 65,535 infinity.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.report.lists import Lists
from streamsift.report.numbers import rounded
from streamsift.runs.trace import Trace

N_RANKS = 500  # snapshots with a rank at most; the scores are twice as fine
MISSING, TOP, MINUS_INFINITY, INFINITY = 0, 65_533, 65_534, 65_535

Floats = NDArray[np.float64]


def make_grid(
    trace: Trace, features: list[dict[str, Any]], lines: NDArray[np.intp], chosen: Lists, relevant: Lists
) -> dict[str, Any]:
    """Pack what is known about some features at some lines of a trace."""
    wanted = [feature["index"] for feature in features]
    scores, ranks = _scores_and_ranks(trace, wanted, lines)
    codes, low, high = _encode(scores)
    every = -(-len(lines) // N_RANKS)
    known = bool(relevant.known.any())
    return {
        "features": features,
        "rows": trace.table["row"].to_numpy()[lines].tolist(),
        "low": [rounded(value) for value in low.tolist()],
        "high": [rounded(value) for value in high.tolist()],
        "scores": _text(codes),
        "ranks": _text(ranks[:, ::every]),
        "every": every,
        "selected": _text(np.packbits(chosen.flags(wanted, lines), axis=1)),
        "relevant": _text(np.packbits(relevant.flags(wanted, lines), axis=1)) if known else None,
    }


def grid_scores(grid: dict[str, Any]) -> Floats:
    """The scores of a grid, features × snapshots, NaN where there is none."""
    shape = len(grid["features"]), len(grid["rows"])
    codes = np.frombuffer(base64.b64decode(grid["scores"]), "<u2").reshape(shape)
    low, high = (np.array([np.nan if v is None else v for v in grid[key]], float)[:, None] for key in ("low", "high"))
    share = (codes - 1.0) / (TOP - 1)
    scores: Floats = low * (1 - share) + high * share
    for code, value in ((MISSING, np.nan), (MINUS_INFINITY, -np.inf), (INFINITY, np.inf)):
        scores[codes == code] = value
    return scores


def _scores_and_ranks(trace: Trace, wanted: list[int], lines: NDArray[np.intp]) -> tuple[Floats, NDArray[np.uint16]]:
    """The score of each wanted feature at each line, and its place among all scores recorded there (0: none)."""
    columns = trace.table.select(["indices", "scores"]).take(lines)
    indices, values = Lists.of(columns["indices"]), Lists.of(columns["scores"])
    met = np.unique([*indices.values, *wanted])  # of very many features few have a score: those have a place
    places = np.searchsorted(met, wanted)
    scores = np.full((len(wanted), len(lines)), np.nan)
    ranks = np.zeros((len(wanted), len(lines)), np.uint16)
    score, rank = np.empty(len(met)), np.empty(len(met), np.uint16)
    for k in range(len(lines)):
        here, found = np.searchsorted(met, indices.line(k)), values.line(k)
        score.fill(np.nan)
        rank.fill(0)
        score[here] = found
        order = np.argsort(-found, kind="stable")
        rank[here[order]] = np.minimum(np.arange(1, len(order) + 1), np.iinfo(np.uint16).max)
        scores[:, k], ranks[:, k] = score[places], rank[places]
    ranks[np.isnan(scores)] = 0
    return scores, ranks


def _encode(scores: Floats) -> tuple[NDArray[np.uint16], Floats, Floats]:
    finite = np.isfinite(scores)
    low = np.where(finite, scores, np.inf).min(axis=1, initial=np.inf)
    high = np.where(finite, scores, -np.inf).max(axis=1, initial=-np.inf)
    # The page reads the ends as they are rounded there, so the codes must be made between those.
    low, high = (np.array([rounded(v) if np.isfinite(v) else np.nan for v in ends], float) for ends in (low, high))
    # Halves, for the distance of two finite numbers may be infinite; equal scores all become the lowest code.
    width = np.where(high > low, high / 2 - low / 2, 1.0)
    with np.errstate(invalid="ignore"):
        share = (scores / 2 - low[:, None] / 2) / width[:, None]
    codes = np.where(finite, 1 + np.rint(np.clip(np.nan_to_num(share), 0, 1) * (TOP - 1)), MISSING)
    codes[np.isposinf(scores)], codes[np.isneginf(scores)] = INFINITY, MINUS_INFINITY
    return codes.astype("<u2"), low, high


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
