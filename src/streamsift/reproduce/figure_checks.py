"""Whether what the papers say of a figure holds, as functions of what its records keep.

Each answers yes or no, and in figures; None where too little is measured. Where the words leave open how much is meant
("hardly differs"), the list of figures (printed_figures.py) says what was taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np


class Drawn:
    """The series of some records, by panel and name; each maps a place to a value and, of repeats, to an error."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self.records = records
        self._lines: dict[str, dict[str, tuple[list[Any], list[float]]]] = {}
        self._errors: dict[tuple[str, str], dict[Any, float]] = {}
        for record in records:
            for one in record.get("series", []):
                self._lines.setdefault(one["panel"], {})[one["name"]] = (one["x"], one["y"])
                if one.get("error") is not None:
                    self._errors[one["panel"], one["name"]] = dict(zip(one["x"], one["error"], strict=True))

    def panels(self) -> list[str]:
        """The names of all panels."""
        return list(self._lines)

    def names(self, panel: str) -> list[str]:
        """The names of the lines of a panel."""
        return list(self._lines.get(panel, {}))

    def y(self, panel: str, name: str) -> list[float]:
        """The values of a line; empty where there is none."""
        return self._lines.get(panel, {}).get(name, ([], []))[1]

    def points(self, panel: str, name: str) -> list[tuple[float, float]]:
        """The places and values of a line, both numbers."""
        x, y = self._lines.get(panel, {}).get(name, ([], []))
        return list(zip(x, y, strict=True))

    def at(self, panel: str, name: str) -> dict[Any, float]:
        """A line as a mapping of places to values; empty where there is none."""
        x, y = self._lines.get(panel, {}).get(name, ([], []))
        return dict(zip(x, y, strict=True))

    def column(self, panel: str, place: Any) -> dict[str, float]:
        """The value of every line of a panel at one place."""
        return {name: self.at(panel, name)[place] for name in self.names(panel) if place in self.at(panel, name)}

    def errors_at(self, panel: str, name: str) -> dict[Any, float]:
        """The standard errors of a line by place; empty where there are none."""
        return self._errors.get((panel, name), {})

    def column_errors(self, panel: str, place: Any) -> dict[str, float]:
        """The standard errors of `column`, as far as they are known."""
        lines = {name: self.errors_at(panel, name) for name in self.names(panel)}
        return {name: errors[place] for name, errors in lines.items() if place in errors}


Answer = tuple[bool, str] | None
FigureCheck = Callable[[Drawn], Answer]


def listed(values: Mapping[Any, float], digits: int = 3, errors: Mapping[Any, float] | None = None) -> str:
    """Names with their values, and with the standard errors of those where repeats differ.

    >>> listed({"a": 1.0, "b": 0.25}, errors={"b": 0.02})
    'a 1, b 0.250 ± 0.020'
    """
    known = errors or {}
    return ", ".join(f"{name} {_with_error(value, known.get(name), digits)}" for name, value in values.items())


def _with_error(value: float, error: float | None, digits: int) -> str:
    """A value to as many digits as two of its error, where there is one."""
    if not error:
        return f"{value:.{digits}g}"
    decimals = max(1 - math.floor(math.log10(error)), 0)
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def alike(panel: str, place: str, most: float, *, best: tuple[str, ...] = ()) -> FigureCheck:
    """All lines are within `most` of each other at a place, and the largest is one of `best`, if any are named."""

    def check(drawn: Drawn) -> Answer:
        found = drawn.column(panel, place)
        if len(found) < 2:
            return None
        gap = max(found.values()) - min(found.values())
        largest = max(found, key=found.__getitem__)
        words = f"{listed(found, 4, drawn.column_errors(panel, place))}; {gap:.3g} apart"
        return gap <= most and (not best or largest in best), words

    return check


def largest_of(places: Mapping[str, str], place: str) -> FigureCheck:
    """In each panel the named line is the largest at a place."""

    def check(drawn: Drawn) -> Answer:
        words, right = [], []
        for panel, name in places.items():
            found = drawn.column(panel, place)
            if name not in found or len(found) < 2:
                return None
            right.append(max(found, key=found.__getitem__) == name)
            words.append(f"{panel.partition(',')[0]}: {listed(found, errors=drawn.column_errors(panel, place))}")
        return all(right), "; ".join(words)

    return check


# -- FIRES ------------------------------------------------------------------------------------------------------------


TWICE = 2.0  # what a random choice of pixels would hit


def shows_the_digit(methods: tuple[str, ...], *, shows: bool) -> FigureCheck:
    """Of the pixels a method selects, twice as many as of all pixels lie on the digit, for every digit; or not so."""

    def check(drawn: Drawn) -> Answer:
        panel = "share of pixels on the digit"
        chance = drawn.y(panel, "all pixels")
        words, right = [], []
        for method in methods:
            found = drawn.y(panel, method)
            if not found or not chance:
                return None
            times = [value / share for value, share in zip(found, chance, strict=True)]
            right.append(all(ratio >= TWICE for ratio in times) == shows)
            words.append(f"{method} {', '.join(f'{ratio:.2g}' for ratio in times)}")
        return all(right), f"selected pixels on the digit, as a multiple of chance: {'; '.join(words)}"

    return check


VARIANTS = ("FIRES-GLM", "FIRES-ANN", "FIRES-SDT")


def stability_rises(drawn: Drawn) -> Answer:
    """On every set the last window is at least as stable as the first with every variant of FIRES."""
    panels = [panel for panel in drawn.panels() if panel.startswith("stability, ")]
    falls, count = [], 0
    for panel in panels:
        for method in VARIANTS:
            ends = drawn.at(panel, method)
            if ends:
                count += 1
                if ends["last window"] < ends["first window"]:
                    falls.append(f"{method} on {panel.removeprefix('stability, ')}")
    words = f"in {count - len(falls)} of {count} cases; not: {', '.join(falls) or 'none'}"
    return (not falls, words) if count else None


TOP = 0.1  # below the best sum of accuracy and stability


def in_top_region(drawn: Drawn) -> Answer:
    """On Gisette the sums of accuracy and stability of FIRES-GLM and FIRES-ANN are at most 0.1 below the best."""
    sums = {
        name: drawn.at("Gisette", name)["accuracy"] + drawn.at("Gisette", name)["stability"]
        for name in drawn.names("Gisette")
    }
    if not {"FIRES-GLM", "FIRES-ANN"} < set(sums):
        return None
    holds = all(sums[name] >= max(sums.values()) - TOP for name in ("FIRES-GLM", "FIRES-ANN"))
    return holds, f"accuracy and stability together: {listed(sums)}"


def some_variant_on_top(drawn: Drawn) -> Answer:
    """The same of at least one variant of FIRES on every data set of Tables 3 and 4."""
    sums: dict[str, dict[str, float]] = {}
    for table in ("table3.accuracy", "table4"):
        for record in drawn.records:
            for cell in record["cells"]:
                if cell["table"] == table:
                    name, _, method = cell["cell"].rpartition(", ")
                    own = sums.setdefault(name, {})
                    own[method] = own.get(method, 0.0) + float(cell["ours"])
    sums = {name: own for name, own in sums.items() if set(VARIANTS) < set(own)}
    lacks = [name for name, own in sums.items() if max(own[one] for one in VARIANTS) < max(own.values()) - TOP]
    return (
        (not lacks, f"on {len(sums) - len(lacks)} of {len(sums)} sets; not: {', '.join(lacks) or 'none'}")
        if sums
        else None
    )


def _penalty_peaks(stability: Mapping[Any, float]) -> bool:
    """The most stable penalty is neither the least nor above 1, and each one above 1 is less stable."""
    best = max(stability, key=stability.__getitem__)
    above = [value for penalty, value in stability.items() if penalty > 1.0]
    return min(stability) < best <= 1.0 and all(value < stability[best] for value in above)


def penalty_helps_up_to_one(drawn: Drawn) -> Answer:
    """On Gisette stability is largest at a penalty above the least and at most 1, and less above 1."""
    found = drawn.at("Gisette", "stability")
    words = f"stability by penalty: {listed(found, errors=drawn.errors_at('Gisette', 'stability'))}"
    return (_penalty_peaks(found), words) if len(found) > 2 else None


def penalty_balances(drawn: Drawn) -> Answer:
    """On every set the sum of accuracy and stability at 0.01 is at most 0.01 below the best."""
    behind = {}
    for name in drawn.panels():
        accuracy, stability = drawn.at(name, "accuracy"), drawn.at(name, "stability")
        sums = {penalty: accuracy[penalty] + stability[penalty] for penalty in accuracy if penalty in stability}
        if 0.01 in sums:
            behind[name] = max(sums.values()) - sums[0.01]
    if len(behind) < 2:
        return None
    good = sum(gap <= 0.01 for gap in behind.values())
    return good == len(behind), f"on {good} of {len(behind)} sets; below the best by: {listed(behind, 2)}"


def penalty_alike(drawn: Drawn) -> Answer:
    """What is said of Gisette holds on every other set."""
    others = {name: drawn.at(name, "stability") for name in drawn.panels() if name != "Gisette"}
    so = [name for name, found in others.items() if _penalty_peaks(found)]
    return (
        (len(so) == len(others), f"on {len(so)} of {len(others)} sets: {', '.join(so) or 'none'}") if others else None
    )


# -- screening --------------------------------------------------------------------------------------------------------


def _half(values: Sequence[float]) -> float:
    return float(np.mean(values[len(values) // 2 :]))


def scores_alike(drawn: Drawn) -> Answer:
    """In the second half the scores are at most 0.05 apart; in the first tenth Gini has the least."""
    panel = "by score"
    names = drawn.names(panel)
    if "gini" not in names or len(names) < 2:
        return None
    last = {name: _half(drawn.y(panel, name)) for name in names}
    first = {name: float(np.mean(drawn.y(panel, name)[: len(drawn.y(panel, name)) // 10])) for name in names}
    gap = max(last.values()) - min(last.values())
    words = f"second half: {listed(last)}; first tenth: {listed(first)}"
    return gap <= 0.05 and min(first, key=first.__getitem__) == "gini", words


SPEEDS = ("l = 250", "l = 500", "l = 1000", "l = 2000")


def fast_shifts_cost(drawn: Drawn) -> Answer:
    """In the second half the rate rises with the time between two shifts."""
    found = {speed: _half(drawn.y("by speed", speed)) for speed in SPEEDS if drawn.y("by speed", speed)}
    if len(found) < len(SPEEDS):
        return None
    return bool(np.all(np.diff(list(found.values())) > 0)), f"second half: {listed(found)}"


def fading_restores(drawn: Drawn) -> Answer:
    """With a fitting fading the rate of every faster shift is higher than with the one for l = 2000."""
    words, right = [], []
    for speed in SPEEDS[:-1]:
        before, after = drawn.y("by speed", speed), drawn.y("by speed, fitting fading", speed)
        if not before or not after:
            return None
        right.append(_half(after) > _half(before))
        words.append(f"{speed} {_half(before):.3f} to {_half(after):.3f}")
    return all(right), "; ".join(words)


def _faded(drawn: Drawn, speed: str) -> list[tuple[str, dict[Any, float], dict[Any, float]]]:
    """Each score at a speed with its curve with fading and without."""
    found: dict[str, dict[bool, dict[Any, float]]] = {}
    for name in drawn.names(speed):
        score, _, fading = name.partition(", ")
        found.setdefault(score, {})[fading != "no fading"] = drawn.at(speed, name)
    return [(score, both[True], both[False]) for score, both in found.items() if len(both) == 2]


def fading_beats_none(drawn: Drawn) -> Answer:
    """Averaged over the numbers selected, every score finds more with fading than without, at every speed."""
    words, right = [], []
    for speed in SPEEDS:
        gains = [float(np.mean(list(f.values())) - np.mean(list(p.values()))) for _, f, p in _faded(drawn, speed)]
        if not gains:
            return None
        right.append(min(gains) > 0)
        words.append(f"{speed} {min(gains):+.3f} to {max(gains):+.3f}")
    return all(right), f"mean gain: {'; '.join(words)}"


def _needed(curve: Mapping[Any, float], rate: float) -> float:
    return min((float(count) for count, found in curve.items() if found >= rate), default=np.inf)


FULL = 0.99


def slow_shifts_need_fewer(drawn: Drawn) -> Answer:
    """The number of features for a rate of 0.99, the mean over the scores with fading, falls from l = 250 to 2000."""
    needed = {
        speed: float(np.mean([_needed(faded, FULL) for _, faded, _ in _faded(drawn, speed)]))
        for speed in SPEEDS
        if _faded(drawn, speed)
    }
    if len(needed) < len(SPEEDS):
        return None
    counts = list(needed.values())
    return bool(np.all(np.diff(counts) <= 0)) and counts[-1] < counts[0], f"features needed: {listed(needed, 4)}"


def fewer_at_the_fastest(drawn: Drawn) -> Answer:
    """At l = 250 every score needs fewer features for a rate of 0.99 with fading than without."""
    found = _faded(drawn, "l = 250")
    words = [
        f"{score} {_needed(faded, FULL):.0f} (without {_needed(plain, FULL):.0f})" for score, faded, plain in found
    ]
    fewer = [_needed(faded, FULL) < _needed(plain, FULL) for _, faded, plain in found]
    return (all(fewer), f"features needed: {', '.join(words)}") if found else None


# -- ETANA ------------------------------------------------------------------------------------------------------------


def concave_in_three_pieces(drawn: Drawn) -> Answer:
    """Nowhere below a chord, no step steeper than a cost of 1 per unit of probability, at most three linear pieces."""
    found = drawn.at("shape", "cost of the best decision")
    if not found:
        return None
    hollow, steep, pieces, share = found.values()
    words = f"below a chord by {hollow:.1g} at most, slope {steep:.3g} at most, {pieces:.0f} pieces ({share:.0%} of it)"
    return hollow < 1e-9 and steep <= 1.0 + 1e-9 and pieces <= 3, words.replace("%", " %")


PLAN = "authors' choices, fine grid"


def of_every_stage(place: str, wanted: int, what: str) -> FigureCheck:
    """A value of both stages of the plan is the one wanted."""

    def check(drawn: Drawn) -> Answer:
        found = drawn.column(PLAN, place)
        words = "; ".join(f"{stage}: {value:.0f} {what}" for stage, value in found.items())
        return (all(value == wanted for value in found.values()), words) if found else None

    return check


def bins_hardly_matter(drawn: Drawn) -> Answer:
    """On every set accuracy varies by at most 0.1 and the number of features by at most a half of its mean."""
    words, right = [], []
    for name in drawn.names("accuracy"):
        accuracy, features = drawn.y("accuracy", name), drawn.y("features", name)
        apart, share = float(np.ptp(accuracy)), float(np.ptp(features) / np.mean(features))
        right.append(apart <= 0.1 and share <= 0.5)
        words.append(f"{name} {apart:.2f} and {share:.2f}")
    return (
        (all(right), f"spread of accuracy, and of features as a share of the mean: {'; '.join(words)}")
        if right
        else None
    )


def mll_drops(drawn: Drawn) -> Answer:
    """The accuracy on MLL is lower with 100 bins than with 50."""
    found = drawn.at("accuracy", "MLL")
    if 50 not in found or 100 not in found:
        return None
    return found[100] < found[50], f"{found[50]:.3f} with 50, {found[100]:.3f} with 100"


def time_linear_in_bins(drawn: Drawn) -> Answer:
    """On every set the correlation of bins and training seconds is at least 0.95."""
    found = {}
    for name in drawn.names("train s"):
        by_bins = drawn.at("train s", name)
        if len(by_bins) > 2:
            found[name] = float(np.corrcoef(list(by_bins), list(by_bins.values()))[0, 1])
    return (all(value >= 0.95 for value in found.values()), f"correlation: {listed(found)}") if found else None


def planes_train_faster(drawn: Drawn) -> Answer:
    """F-ETANA trains faster on every set with more than two classes, and the more so the more classes there are."""
    grid, planes = (drawn.at("Training seconds", method) for method in ("ETANA", "F-ETANA"))
    times = {name: grid[name] / planes[name] for name in grid if name in planes}
    words = f"ETANA takes, compared with F-ETANA: {listed(times)} times"
    more = [value for name, value in times.items() if name != "Dexter"]
    return (min(more) > 1.0 and more[-1] > more[0], words) if len(more) > 1 else None


def planes_as_accurate(drawn: Drawn) -> Answer:
    """The accuracies are at most 0.05 apart on every set."""
    grid, planes = (drawn.at("Accuracy", method) for method in ("ETANA", "F-ETANA"))
    gaps = {name: planes[name] - grid[name] for name in grid if name in planes}
    return (all(abs(gap) <= 0.05 for gap in gaps.values()), f"F-ETANA less ETANA: {listed(gaps, 2)}") if gaps else None


def more_features_more_accurate(drawn: Drawn) -> Answer:
    """On every set ETANA is more accurate at the least price than at the largest, and uses more features."""
    words, right = [], []
    for panel in drawn.panels():
        name, _, what = panel.rpartition(", ")
        if what == "accuracy":
            accuracy, features = drawn.y(panel, "ETANA"), drawn.y(f"{name}, features", "ETANA")
            right.append(accuracy[-1] > accuracy[0] and features[-1] > features[0])
            words.append(f"{name} {accuracy[0]:.3f} to {accuracy[-1]:.3f}")
    return (all(right), f"accuracy from the largest price to none: {'; '.join(words)}") if right else None


# -- investing --------------------------------------------------------------------------------------------------------


def density_is_a_code(drawn: Drawn) -> Answer:
    """The ratios are those printed, the mass is 1, and Investing has the threshold, within a thousandth."""
    worst, names = 0.0, drawn.names("code")
    for name in names:
        tail, found = float(name.removeprefix("a = ")), drawn.at("code", name)
        expected = {
            "mass": 1.0,
            "mass beyond the threshold": 2 * tail,
            "ratio beyond": 2.0,
            "ratio inside": (1 - 2 * tail) / (1 - tail),
            "threshold of Investing": found["threshold"],
        }
        worst = max(worst, *(abs(found[what] / value - 1) for what, value in expected.items()))
    return (worst < 1e-3, f"off by {100 * worst:.2g} % at most for a from 0.01 to 0.2") if names else None


def bits_of_the_code(drawn: Drawn) -> Answer:
    """An added column gains 1 bit; a skipped one costs a bits within a tenth, for a up to 0.05."""
    gains, costs = drawn.column("code", "bits gained, added"), drawn.column("code", "bits lost, skipped")
    if not gains:
        return None
    ratio = {name: cost / float(name.removeprefix("a = ")) for name, cost in costs.items()}
    small = [value for name, value in ratio.items() if float(name.removeprefix("a = ")) <= 0.05]
    holds = all(abs(gain - 1) < 1e-6 for gain in gains.values()) and all(abs(value - 1) <= 0.1 for value in small)
    return holds, f"gain 1 bit; the cost in bits, as a multiple of a: {listed(ratio)} (a is the cost in nats)"
