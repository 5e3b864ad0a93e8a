"""Draw what the documentation explains by a drawing: the house, and the idea of each method.

    python docs/drawings.py

Writes docs/images/house.svg and docs/images/methods/*.svg. The floors of the house are read from pyproject.toml. The
drawings of the methods are sketches of an idea; no measured number is in them.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
IMAGES = HERE / "images"
INK, GREY, PALE, BLUE, RED, GREEN = "#22262b", "#8a929b", "#e6e9ed", "#1f6fb4", "#c8402f", "#2f8f4e"
Point = tuple[float, float]

# What is in each part, for the house.
PARTS = {
    "cli": "the command line",
    "report": "everything that draws",
    "reproduce": "the papers again",
    "comparison": "methods beside each other",
    "evaluate": "a learner on the selection",
    "checks": "the contract",
    "engines": "Dask, Spark, processes",
    "interop": "river, scikit-learn, torch",
    "runs": "a method led over its stream",
    "learners": "what is trained",
    "persist": "saving without pickle",
    "catalog": "the table of methods",
    "rows": "methods",
    "columns": "methods",
    "instances": "methods",
    "datasets": "data that ships",
    "summaries": "state that merges",
    "streams": "readers, generators",
    "metrics": "how good",
    "drift": "detectors",
    "core": "contracts, validation, tables, errors",
    "kernels": "compiled loops over arrays",
}
WAY = [
    ("a source", "file, frame, topic"),
    ("Batch", "checked once, copied once"),
    ("runs", "step by step"),
    ("the method", "rows, columns, instances"),
    ("summary, kernel", "arrays, changed in place"),
    ("Selection, Decision", "on request"),
    ("Trace", "one line for each step"),
    ("report", "one HTML file"),
]


def page(title: str, parts: Iterable[str], width: int = 640, height: int = 200) -> str:
    """A drawing on a light sheet, which reads well on dark pages too."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            '<style>text { font-family: system-ui, "Segoe UI", Roboto, sans-serif; }</style>',
            f'<rect width="{width}" height="{height}" rx="8" fill="#fbfbfa"/>',
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, size: int = 13, colour: str = INK, anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str = PALE, line: str = "none") -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{fill}" stroke="{line}" '
        'stroke-width="1.5"/>'
    )


def line(points: Sequence[Point], colour: str = INK, width: float = 2, dashed: bool = False, fill: str = "none") -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<polyline points="{path}" fill="{fill}" stroke="{colour}" stroke-width="{width:g}"{dash}/>'


def arrow(start: Point, end: Point, colour: str = GREY) -> str:
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    barbs = [(end[0] - 9 * math.cos(angle + turn), end[1] - 9 * math.sin(angle + turn)) for turn in (0.4, -0.4)]
    return line([start, end], colour, 1.5) + line([barbs[0], end, barbs[1]], colour, 1.5)


def dot(x: float, y: float, colour: str = BLUE, radius: float = 5, line: str = "none") -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}" stroke="{line}" stroke-width="1.5"/>'


def bell(centre: float, spread: float, base: float, height: float, colour: str) -> str:
    """A normal density, standing on the line `base`."""
    steps = [centre + spread * k / 8 for k in range(-28, 29)]
    points = [(x, base - height * math.exp(-(((x - centre) / spread) ** 2) / 2)) for x in steps]
    return line(points, colour, 2.5)


def house() -> str:
    """The layers as floors, and the way of the data beside them."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    floors = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    left, width, floor, top = 30, 610, 46, 84
    height = top + floor * len(floors) + 50
    parts = [line([(left - 12, top), (left + width / 2, 18), (left + width + 12, top)], INK, 2.5, fill="#f1ece3")]
    parts += [text(left + width / 2, 62, "streamsift: imports go down only", 15)]
    for number, names in enumerate(floors):
        rooms = [name.strip() for name in names.split("|")]
        share = width / len(rooms)
        for place, name in enumerate(rooms):
            x, y = left + place * share, top + number * floor
            parts.append(box(x + 2, y + 3, share - 4, floor - 6, "#e3edf6" if number < len(floors) - 2 else "#e2f0e6"))
            parts.append(text(x + share / 2, y + 20, name, 14))
            parts.append(text(x + share / 2, y + 35, PARTS.get(name, ""), 9 if len(rooms) > 3 else 10, "#5b646d"))
    parts.append(arrow((left + width + 22, top + 8), (left + width + 22, top + floor * len(floors) - 8)))
    x, step = 790, (floor * len(floors)) / len(WAY)
    parts.append(text(x, 62, "the way of the data", 15))
    for number, (name, words) in enumerate(WAY):
        y = top + number * step
        parts += [box(x - 110, y + 3, 220, step - 20, "#fdf3dc"), text(x, y + 20, name, 14)]
        parts.append(text(x, y + 36, words, 11, "#5b646d"))
        if number:
            parts.append(arrow((x, y - 16), (x, y + 2)))
    return page("The layers of streamsift, and the way of the data through them", parts, 930, height)


def screening() -> str:
    parts = [bell(95, 19, 140, 90, BLUE), bell(178, 19, 140, 90, RED), text(140, 165, "far apart: a high score")]
    parts += [bell(332, 22, 140, 90, BLUE), bell(340, 23, 140, 88, RED), text(336, 165, "alike: a score near 0")]
    parts += [box(450, 50, 60, 90), text(480, 40, "rows"), arrow((515, 95), (545, 95)), box(550, 70, 70, 50, "#e3edf6")]
    parts += [text(585, 90, "a few", 12), text(585, 106, "numbers", 12), text(535, 165, "kept up row by row")]
    parts += [text(140, 30, "feature a, by class"), text(336, 30, "feature b, by class")]
    return page("Screening: a feature is scored by how differently it is distributed in the classes", parts)


def joint() -> str:
    parts = [text(40, 34, "what there is to explain about the target", anchor="start"), box(40, 44, 560, 22, PALE)]
    spans = [("a", 0.0, 0.5, BLUE), ("b, a copy of a", 0.02, 0.51, GREY), ("c", 0.45, 0.7, GREEN)]
    for number, (name, low, high, colour) in enumerate(spans):
        parts.append(box(40 + 560 * low, 76 + 26 * number, 560 * (high - low), 18, colour))
        parts.append(text(40 + 560 * high + 10, 90 + 26 * number, name, anchor="start"))
    parts += [box(40, 160, 280, 18, BLUE), box(320, 160, 112, 18, GREEN)]
    parts.append(text(445, 174, "a, and what c adds to it", 12, anchor="start"))
    return page("Joint: a feature is taken for what it adds to those taken before", parts)


def fires() -> str:
    parts = [line([(30, 150), (610, 150)], GREY, 1), line([(90, 150), (90, 30)], GREY, 1, dashed=True)]
    parts += [text(90, 168, "0"), text(560, 168, "weight of the feature"), bell(100, 14, 150, 100, GREY)]
    parts += [bell(300, 70, 150, 45, RED), bell(470, 16, 150, 110, BLUE)]
    parts += [text(140, 45, "near 0", anchor="start"), text(300, 90, "large, but uncertain", 13, RED)]
    parts += [text(470, 30, "large and certain: first", 13, BLUE)]
    return page("FIRES: the weight a model gives a feature, less how uncertain that weight is", parts)


def abfs() -> str:
    parts = []
    for number, (name, radius) in enumerate([("x7 < 3", 5), ("x2 < 0.4", 8), ("x9 = red", 11)]):
        x = 50 + 150 * number
        parts += [box(x, 70, 100, 44, "#e3edf6"), text(x + 50, 97, name), dot(x - 14, 92, RED, radius)]
        parts += [arrow((x + 102, 92), (x + 128, 92)), text(x + 50, 135, "watched for drift", 11, GREY)]
    parts += [
        dot(492, 92, RED, 14),
        box(515, 60, 105, 64, "none", GREY),
        text(567, 88, "candidate:"),
        text(567, 106, "all others"),
    ]
    parts += [text(40, 35, "a row grows heavier wherever a stump is wrong about it", anchor="start")]
    parts += [text(40, 175, "a stump that drifts goes, with all behind it", anchor="start")]
    return page("ABFS: a chain of decision stumps, one feature each", parts)


def bars(left: float, heights: Sequence[float], keep: set[int], base: float = 130, colour: str = BLUE) -> list[str]:
    drawn = []
    for number, height in enumerate(heights):
        top, size = (base - height, height) if height > 0 else (base, -height)
        drawn.append(box(left + 26 * number, top, 18, size, colour if number in keep else PALE))
    return [*drawn, line([(left - 6, base), (left + 26 * len(heights), base)], GREY, 1)]


def ofs() -> str:
    parts = [text(110, 35, "weights"), *bars(40, [20, 55, -12, 8, 40], set(range(5)), 100)]
    parts += [
        arrow((190, 100), (235, 100)),
        text(212, 88, "a mistake", 11),
        *bars(250, [32, 60, -20, 14, 36], set(range(5)), 100),
    ]
    parts += [
        arrow((400, 100), (445, 100)),
        text(422, 88, "cut", 11),
        *bars(460, [32, 60, -20, 14, 36], {0, 1, 4}, 100),
    ]
    parts += [text(320, 170, "after every mistake: a step, then only the largest weights stay")]
    return page("OFS: a linear model that keeps its largest weights", parts)


def efs() -> str:
    parts = [
        text(110, 35, "weights for"),
        *bars(40, [50, 30, 34, 60, 22], set(range(5)), 120, GREEN),
        text(210, 95, "−", 26),
    ]
    parts += [
        text(310, 35, "weights against"),
        *bars(240, [20, 31, 33, 12, 46], set(range(5)), 120, RED),
        text(410, 95, "=", 26),
    ]
    parts += [text(520, 35, "score: their difference"), *bars(450, [30, 2, 2, 48, 24], {0, 3, 4}, 120)]
    parts += [text(320, 170, "both are multiplied, up or down, wherever a row is not clearly right")]
    return page("EFS: two weights for each feature, and how far they are apart", parts)


def fsds() -> str:
    parts = [box(40, 40, 130, 110), text(105, 30, "all rows so far"), arrow((180, 95), (230, 95))]
    parts += [box(240, 75, 130, 36, "#e3edf6"), text(305, 65, "a sketch of few rows"), arrow((380, 95), (430, 95))]
    parts += [
        arrow((450, 140), (600, 60), BLUE),
        arrow((450, 140), (500, 70), GREEN),
        text(540, 165, "its leading directions"),
    ]
    parts += [text(320, 188, "a feature counts by its share in these directions; no labels are used", 12)]
    return page("FSDS: features along which the data spreads", parts)


def fsa() -> str:
    wanted, given, n_steps, annealing = 10.0, 100.0, 100, 10.0
    left = [
        wanted + (given - wanted) * max(0.0, (n_steps - 2 * step) / (2 * step * annealing + n_steps))
        for step in range(n_steps + 1)
    ]
    parts = [
        line([(60, 30), (60, 160), (610, 160)], GREY, 1),
        text(335, 185, "steps"),
        text(56, 24, "features left", anchor="start"),
    ]
    parts.append(line([(60 + 5.4 * step, 160 - 1.2 * count) for step, count in enumerate(left)], BLUE, 3))
    parts += [
        line([(330, 160), (330, 60)], GREY, 1, dashed=True),
        text(330, 50, "from here on the wanted ones are trained", 12),
    ]
    return page("FSA: a gradient step, then the smallest weights are dropped", parts)


def investing() -> str:
    parts = [
        line([(50, 25), (50, 160), (610, 160)], GREY, 1),
        text(330, 185, "columns offered"),
        text(56, 22, "wealth", anchor="start"),
    ]
    points: list[Point] = [(50, 100)]
    for number in range(1, 57):
        useful = number in (12, 15, 30, 48)
        points.append(
            (50 + 10 * number, points[-1][1] - 34 if useful else points[-1][1] + (158 - points[-1][1]) * 0.06)
        )
        if useful:
            parts.append(dot(*points[-1], RED))
    parts += [
        line(points, BLUE),
        text(420, 40, "a useful column pays", 12, RED),
        text(470, 150, "every other one costs its bid", 12, BLUE),
    ]
    return page("Investing: a budget for looking at columns", parts)


def osfs() -> str:
    nodes = {"C": (320, 100), "a": (200, 50), "b": (440, 50), "d": (320, 170), "e": (90, 50), "f": (550, 150)}
    links = [("a", "C"), ("C", "b"), ("C", "d"), ("e", "a")]
    parts = [line([nodes[one], nodes[other]], GREY) for one, other in links]
    for name, (x, y) in nodes.items():
        member = name in "abd"
        parts.append(dot(x, y, RED if name == "C" else BLUE if member else PALE, 20, GREY))
        parts.append(text(x, y + 5, name, 14, "white" if member or name == "C" else INK))
    parts += [
        text(110, 95, "given a, e tells nothing more:", 12),
        text(110, 111, "redundant", 12),
        text(550, 190, "irrelevant", 12),
    ]
    return page("OSFS: keep what still tells something about the class, given any of the others", parts)


def saola() -> str:
    parts = [
        line([(150, 60), (320, 130)], BLUE, 6),
        line([(490, 60), (320, 130)], BLUE, 3),
        line([(150, 60), (490, 60)], BLUE, 4),
    ]
    for x, y, name, colour in [(150, 60, "a", BLUE), (490, 60, "b", GREY), (320, 130, "C", RED)]:
        parts += [dot(x, y, colour, 20), text(x, y + 5, name, 14, "white")]
    parts += [
        text(215, 115, "tells most", 12),
        text(435, 115, "tells less", 12),
        text(320, 48, "and b tells more about a than about C", 12),
    ]
    parts += [text(320, 185, "then a stands for b, and b is dropped: only pairs are looked at")]
    return page("SAOLA: of two columns that resemble each other, the better one stays", parts)


def neighbours(xs: Sequence[float], centre: float, radius: float, classes: Sequence[int], y: float = 100) -> list[str]:
    drawn = [line([(30, y), (610, y)], PALE, 1), dot(centre, y, "none", radius, INK)]
    return drawn + [dot(x, y, (BLUE, RED)[kind], 6) for x, kind in zip(xs, classes, strict=True)]


def ofs_density() -> str:
    dense, sparse = [70, 84, 95, 108, 120, 131, 145], [340, 415, 470, 555]
    parts = neighbours(dense, 108, 26, [0] * 6 + [1]) + neighbours(sparse, 470, 62, [1, 1, 1, 0])
    parts += [text(108, 165, "dense: a small neighbourhood"), text(470, 185, "sparse: a large one", 13)]
    parts += [text(320, 25, "a column is good if most neighbours of a row are of its class")]
    return page("OFSDensity: neighbourhoods that adapt to how dense the rows are", parts)


def ofs_a3m() -> str:
    xs = [80, 96, 118, 131, 150, 290, 320, 352]
    parts = [line([(30, 100), (610, 100)], PALE, 1), *(dot(x, 100, BLUE if x < 200 else RED, 6) for x in xs)]
    parts += [line([(150, 80), (290, 80)], INK, 1), text(220, 72, "the widest gap", 12), dot(80, 100, "none", 11, INK)]
    parts += [
        text(80, 130, "a row", 12),
        line([(80, 145), (150, 145)], BLUE, 3),
        text(115, 165, "its neighbourhood", 12),
    ]
    parts += [
        text(470, 105, "distance from the row", 12, GREY),
        text(320, 30, "nothing to set: the gap decides how many neighbours there are"),
    ]
    return page("OFSA3M: a neighbourhood ends at the widest gap", parts)


def etana() -> str:
    parts = [line([(60, 40), (600, 60)], GREEN, 2, dashed=True), line([(60, 165), (600, 140)], RED, 2, dashed=True)]
    path = [(60.0, 105.0), (150.0, 90.0), (240.0, 112.0), (330.0, 84.0), (420.0, 50.0)]
    parts += [line(path, BLUE, 2.5), *(dot(x, y) for x, y in path), text(430, 38, "stop: yes", 13, GREEN, "start")]
    parts += [
        text(520, 165, "stop: no", 13, RED),
        text(330, 190, "values bought, one at a time"),
        text(60, 24, "belief", anchor="start"),
    ]
    parts += [text(480, 105, "between the lines another value", 12), text(480, 121, "is worth its price", 12)]
    return page("ETANA: buy values until another would cost more than it is worth", parts)


METHODS: list[Callable[[], str]] = [
    *(screening, joint, fires, abfs, ofs, efs, fsds, fsa, investing, osfs, saola, ofs_density, ofs_a3m, etana),
]


def drawings() -> dict[str, str]:
    """Every drawing, by its path below docs/images."""
    return {"house.svg": house()} | {f"methods/{draw.__name__}.svg": draw() for draw in METHODS}


if __name__ == "__main__":
    (IMAGES / "methods").mkdir(parents=True, exist_ok=True)
    for name, drawing in drawings().items():
        (IMAGES / name).write_text(drawing, encoding="utf-8")
