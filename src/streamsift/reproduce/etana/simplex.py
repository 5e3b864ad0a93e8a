"""Figures 2 and 3 of the ETANA paper, over the simplex of three class probabilities of MLL.

Figure 2 is the cost g of the best decision (Lemma 3): concave, continuous, linear on at most as many pieces as there
are classes. Figure 3 shows where the plan stops after 4 and 5 features (Theorem 3): regions around the corners, divided
from the region of going on by at most as many curves as there are classes. Both are read from fitted classifiers and
measured on a grid of small triangles. The plan has the bins, order and prior of the authors' program, but a fine grid
with interpolation, because theirs in tenths has no curves; our defaults and their own grid are beside it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import ReaderError
from streamsift.instances.etana import ETANA
from streamsift.instances.region import Region
from streamsift.reproduce.etana.data import folder_of, load, present
from streamsift.reproduce.result import FigureCurve, Options, Panel, Progress, Result, Series

PRICE = 0.01
STAGES = (4, 5)
TITLE = "Warahena Liyanage et al., On-the-Fly Joint Feature Selection and Classification."
MODELS = {
    "authors' choices, fine grid": lambda: ETANA(PRICE, n_bins="classes", binning="integer_width", prior="uniform"),
    "our defaults": lambda: ETANA(PRICE),
    "authors' program": lambda: ETANA.paper(PRICE),
}
Floats = NDArray[np.float64]


def figure_2(options: Options, progress: Progress) -> Result:
    """The cost of the best decision."""
    region = _fitted(options, next(iter(MODELS))).policy(0)
    progress(1, 1)
    found = shape_of(region.points, region.loss)
    corners = {f"class {k + 1}": np.eye(3)[k] for k in range(3)}
    ways = {f"{a} to {b}": (corners[a], corners[b]) for a, b in pairwise([*corners, "class 1"])}
    ways["class 1 to the middle of the opposite edge"] = (corners["class 1"], np.array([0.0, 0.5, 0.5]))
    shares = [k / 10 for k in range(11)]
    cost = {
        name: [_at(region, (1 - share) * start + share * end) for share in shares]
        for name, (start, end) in ways.items()
    }
    words = f"0 at the corners, {region.loss.max():.3f} in the middle."
    curves = [FigureCurve(name, name, False, shares, values) for name, values in cost.items()]
    return Result(
        title="Figure 2: the cost of the best decision",
        lead=f"{TITLE} Three classes, a mistake costs 1; {len(region.points):,} points of the simplex.",
        note="Lemma 3 says that it is concave, continuous and linear on at most three pieces.",
        columns=["measured", "value"],
        rows=[[name, f"{value:.3g}"] for name, value in found.items()],
        x_label="share of the way",
        dashed_means="",
        panels=[
            Panel("Cost along straight ways over the simplex", words, f"Cost of the best decision. {words}", curves)
        ],
        series=[
            Series("shape", "cost of the best decision", list(found), list(found.values())),
            *(Series("cost along ways", name, shares, values) for name, values in cost.items()),
        ],
    )


def shape_of(points: Floats, values: Floats) -> dict[str, float]:
    """How far a function on the simplex is from concave, how steep it is, and of how many linear pieces it is made.

    Pieces are counted by the slopes on the small triangles of the grid, those that a fold runs through left out: a
    triangle whose slope no neighbour has is one of them.
    """
    steps = _steps(points)
    by_place = {tuple(place): value for place, value in zip(_places(points, steps), values.tolist(), strict=True)}
    moves = [(1, -1, 0), (1, 0, -1), (0, 1, -1)]
    hollow, steep = 0.0, 0.0
    slopes: dict[tuple[float, float], int] = {}
    for place, value in by_place.items():
        for move in moves:
            after = _moved(place, move)
            before = _moved(place, tuple(-step for step in move))
            if after in by_place:
                steep = max(steep, abs(by_place[after] - value) * steps)
                if before in by_place:
                    hollow = max(hollow, (by_place[after] + by_place[before]) / 2 - value)
        one, other = _moved(place, (1, 0, -1)), _moved(place, (0, 1, -1))
        if one in by_place and other in by_place:
            slope = (round((by_place[one] - value) * steps, 6), round((by_place[other] - value) * steps, 6))
            slopes[slope] = slopes.get(slope, 0) + 1
    largest = max(slopes.values())
    pieces = [slope for slope, count in slopes.items() if count > largest / 10]
    return {
        "below the chord of two neighbours, at most": hollow,
        "change per unit of probability, at most": steep,
        "linear pieces": float(len(pieces)),
        "share of small triangles on them": sum(slopes[slope] for slope in pieces) / sum(slopes.values()),
    }


def figure_3(options: Options, progress: Progress) -> Result:
    """Where the plan stops after 4 and 5 features."""
    rows, series, panels = [], [], []
    for done, name in enumerate(MODELS, start=1):
        model = _fitted(options, name)
        for stage in STAGES:
            region = model.policy(stage)
            found = regions_of(region)
            rows.append([name, str(stage), *(f"{value:.3g}" for value in found.values())])
            series.append(Series(name, f"stage {stage}", list(found), list(found.values())))
            edges = _along_edges(region)
            panels.append(_edge_panel(f"{name}, stage {stage}", edges, found))
        progress(done, len(MODELS))
    return Result(
        title="Figure 3: where to stop, MLL",
        lead=f"{TITLE} All 72 rows of MLL, price {PRICE}, a mistake costs 1; {len(region.points):,} points of the "
        "simplex.",
        note="Theorem 3 says that at most three curves divide stopping from going on, and that every corner stops. "
        "`plot_policy` of a classifier draws the regions.",
        columns=["plan", "features considered", *found],
        rows=rows,
        x_label="share of the way",
        dashed_means="",
        panels=panels,
        series=series,
    )


def regions_of(region: Region) -> dict[str, float]:
    """Connected regions of stopping and of going on, the curves between them, and the corners that stop.

    In a simplex, which has no holes, two regions that touch do so along one curve.
    """
    steps = _steps(region.points)
    stops = dict(zip(_places(region.points, steps), region.stops.tolist(), strict=True))
    number: dict[tuple[int, ...], int] = {}
    kinds: list[bool] = []
    for start, stop in stops.items():
        if start in number:
            continue
        queue = [start]
        number[start] = len(kinds)
        while queue:
            for near in _neighbours(queue.pop()):
                if near not in number and stops.get(near) == stop:
                    number[near] = len(kinds)
                    queue.append(near)
        kinds.append(stop)
    curves = {
        frozenset((number[place], number[near])) for place in stops for near in _neighbours(place) if near in number
    }
    corners = [tuple(steps if k == corner else 0 for k in range(3)) for corner in range(3)]
    return {
        "regions of stopping": float(sum(kinds)),
        "regions of going on": float(len(kinds) - sum(kinds)),
        "curves": float(sum(len(pair) == 2 for pair in curves)),
        "corners that stop": float(sum(stops[corner] for corner in corners)),
        "share of points that go on": float(1 - np.mean(region.stops)),
    }


def _fitted(options: Options, name: str) -> Any:
    folder = folder_of(options)
    found = next(iter(present(folder, ("MLL",))), None)
    if found is None:
        raise ReaderError(f"MLL is not in {str(folder)!r}: the figure is about that data set; give its folder.")
    return MODELS[name]().fit(*load(folder, found))


def _along_edges(region: Region) -> dict[str, tuple[list[float], list[float]]]:
    """Whether the plan stops (1) or not along the three edges of the simplex."""
    found = {}
    for a, b in ((0, 1), (1, 2), (2, 0)):
        (own,) = np.nonzero(region.points[:, 3 - a - b] == 0.0)
        own = own[np.argsort(region.points[own, b])]
        found[f"class {a + 1} to class {b + 1}"] = (
            region.points[own, b].tolist(),
            region.stops[own].astype(float).tolist(),
        )
    return found


def _edge_panel(title: str, edges: dict[str, tuple[list[float], list[float]]], found: dict[str, float]) -> Panel:
    words = (
        f"1: stop, 0: go on. Over the whole simplex {found['curves']:.0f} curves, "
        f"{found['corners that stop']:.0f} corners stop, {found['share of points that go on']:.0%} of the points go on."
    )
    curves = [FigureCurve(name, name, False, shares, stops) for name, (shares, stops) in edges.items()]
    return Panel(f"Stopping along the edges: {title}", words, f"Stopping along the edges. {words}", curves)


def _steps(points: Floats) -> int:
    return round(1.0 / float(points[points > 0.0].min()))


def _places(points: Floats, steps: int) -> list[tuple[int, ...]]:
    return [tuple(place) for place in np.rint(points * steps).astype(int).tolist()]


def _moved(place: tuple[int, ...], move: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(part + step for part, step in zip(place, move, strict=True))


def _neighbours(place: tuple[int, ...]) -> list[tuple[int, ...]]:
    moves = ((1, -1, 0), (1, 0, -1), (0, 1, -1), (-1, 1, 0), (-1, 0, 1), (0, -1, 1))
    return [_moved(place, move) for move in moves]


def _at(region: Region, point: Floats) -> float:
    """The cost at the point of the grid that is nearest."""
    place = int(np.abs(region.points - point).sum(axis=1).argmin())
    return float(region.loss[place])
