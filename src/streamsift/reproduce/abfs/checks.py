"""Whether what the ABFS paper says of its figures holds: checks for the list of figures (printed_figures.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamsift.reproduce.figure_checks import Answer, Drawn, FigureCheck, listed
from streamsift.reproduce.order import rank_correlation


def steadiest(drawn: Drawn) -> Answer:
    """A grace period of 500 has the smallest deviation of SA and RRF."""
    words, right = [], []
    for measure in ("SA", "RRF"):
        found = drawn.column(f"{measure}, all widths", "deviation")
        if len(found) < 2:
            return None
        right.append(min(found, key=found.__getitem__) == "500")
        words.append(f"deviation of {measure}: {listed(found)}")
    return all(right), "; ".join(words)


HARD_STREAMS = ("BG3", "RTG")


def hard_streams_spread(drawn: Drawn) -> Answer:
    """Without BG3 and RTG the variance over all runs is less than half of what it is with them."""
    words, right = [], []
    for measure in ("accuracy", "SA"):
        panel = f"{measure} by stream"
        names = drawn.names(panel)
        if not set(HARD_STREAMS) < set(names):
            return None
        whole, rest = (
            _pooled([drawn.at(panel, name) for name in names if hard or name not in HARD_STREAMS])
            for hard in (True, False)
        )
        right.append(rest < whole / 2)
        words.append(f"variance of {measure} {whole:.3g}, without the two {rest:.3g}")
    return all(right), "; ".join(words)


def _pooled(groups: Sequence[Mapping[Any, float]]) -> float:
    """The variance of all runs, from the number, mean and deviation of each group."""
    runs = np.array([group["runs"] for group in groups])
    means, deviations = (np.array([group[name] for group in groups]) for name in ("mean", "deviation"))
    centre = float((runs * means).sum() / runs.sum())
    return float((runs * (deviations**2 + (means - centre) ** 2)).sum() / runs.sum())


def small_thresholds_better(drawn: Drawn) -> Answer:
    """Thresholds of 0.01 and 0.05 give a higher mean accuracy than 0.1."""
    found = drawn.column("accuracy, all widths", "mean")
    if len(found) < 3:
        return None
    return min(found["0.01"], found["0.05"]) > found["0.1"], f"mean accuracy: {listed(found, 4)}"


def threshold_trades(drawn: Drawn) -> Answer:
    """With the threshold the mean CCP never falls, RRF never rises, and both change."""
    ccp, rrf = (drawn.column(f"{measure}, all widths", "mean") for measure in ("CCP", "RRF"))
    if len(ccp) < 3:
        return None
    one, other = ([values[name] for name in ("0.01", "0.05", "0.1")] for values in (ccp, rrf))
    rises = one == sorted(one) and one[0] < one[-1]
    falls = other == sorted(other, reverse=True) and other[0] > other[-1]
    return rises and falls, f"CCP: {listed(ccp, 4)}; RRF: {listed(rrf, 4)}"


def random_varies(drawn: Drawn) -> Answer:
    """At every share below all, RRF deviates at least five times as much as CCP, and SA by 0.05 or more."""
    words, right = [], []
    for share in drawn.names("SA"):
        sa, rrf, ccp = (drawn.at(measure, share)["deviation"] for measure in ("SA", "RRF", "CCP"))
        if share != "100%":
            right.append(rrf >= 5 * ccp and sa >= 0.05)
            words.append(f"{share}: {sa:.2f}, {rrf:.2f}, {ccp:.3f}")
    return (all(right), f"deviation of SA, RRF and CCP by share: {'; '.join(words)}") if right else None


def better_than_random(drawn: Drawn) -> Answer:
    """The means of ABFS over the streams exceed those of random selections over all shares, in SA, RRF and CCP."""
    streams, shares = drawn.names("ABFS"), drawn.names("SA")
    if not streams or not shares:
        return None
    words, right = [], []
    for measure in ("SA", "RRF", "CCP"):
        ours = float(np.mean([drawn.at("ABFS", stream)[measure] for stream in streams]))
        chance = float(np.mean([drawn.at(measure, share)["mean"] for share in shares]))
        right.append(ours > chance)
        words.append(f"{measure} {ours:.3f} (random {chance:.3f})")
    return all(right), ", ".join(words)


def hard_streams_below(drawn: Drawn) -> Answer:
    """BG3 and RTG are below every other stream, by 5 points of accuracy and 0.05 of SA."""
    words, right = [], []
    for measure, least in (("accuracy", 5.0), ("SA", 0.05)):
        found = drawn.column("ABFS", measure)
        if not set(HARD_STREAMS) < set(found):
            return None
        rest = min(value for name, value in found.items() if name not in HARD_STREAMS)
        right.append(max(found[name] for name in HARD_STREAMS) <= rest - least)
        hard = listed({name: found[name] for name in HARD_STREAMS}, errors=drawn.column_errors("ABFS", measure))
        words.append(f"{measure}: {hard}, the least other {rest:.3g}")
    return all(right), "; ".join(words)


def hard_streams_below_everything(drawn: Drawn) -> Answer:
    """The SA of BG3 and RTG is below 0.7."""
    found = {name: value for name, value in drawn.column("ABFS", "SA").items() if name in HARD_STREAMS}
    words = f"SA: {listed(found, errors=drawn.column_errors('ABFS', 'SA'))}"
    return (all(value < 0.7 for value in found.values()), words) if len(found) == 2 else None


def chosen_is_best(drawn: Drawn) -> Answer:
    """The configuration that the paper chose has the best mean accuracy."""
    found = drawn.at("mean accuracy", "configurations")
    if not found:
        return None
    order = list(found)
    chosen = "ADWIN, gp=500, theta=0.01"
    words = f"best: {order[0]} ({found[order[0]]:.2f}); {chosen} is number {order.index(chosen) + 1} of {len(order)}"
    return order[0] == chosen, f"{words} ({found[chosen]:.2f})"


def small_periods_lead(drawn: Drawn) -> Answer:
    """The best configuration, and three of the five best, have ADWIN and a grace period of 100 or 200."""
    found = drawn.at("mean accuracy", "configurations")
    if not found:
        return None
    order = list(found)
    small = [name.startswith(("ADWIN, gp=100,", "ADWIN, gp=200,")) for name in order]
    chosen = "ADWIN, gp=100, theta=0.05"
    words = (
        f"best: {order[0]} ({found[order[0]]:.2f}); {sum(small[:5])} of the five best are such; {chosen} is number "
        f"{order.index(chosen) + 1} of {len(order)} ({found[chosen]:.2f})"
    )
    return small[0] and sum(small[:5]) >= 3, words


LEARNER_PANELS = ("NB", "KNN", "HT", "HAT")


def _cloud(drawn: Drawn, learner: str) -> tuple[list[float], list[float]]:
    points = [point for name in drawn.names(learner) for point in drawn.points(learner, name)]
    return [x for x, _ in points], [y for _, y in points]


def selection_goes_with_accuracy(drawn: Drawn) -> Answer:
    """The rank correlation of SA and accuracy is positive with every learner."""
    found = {learner: rank_correlation(*_cloud(drawn, learner)) for learner in LEARNER_PANELS if drawn.names(learner)}
    return (all(value > 0 for value in found.values()), f"rank correlation: {listed(found)}") if found else None


def most_points_high(drawn: Drawn) -> Answer:
    """More than half of the points have an SA above 0.7 and an accuracy above 70 percent."""
    high = [
        x > 0.7 and y > 70.0 for learner in LEARNER_PANELS for x, y in zip(*_cloud(drawn, learner), strict=True)
    ]  # fmt: skip
    return (sum(high) > len(high) / 2, f"{sum(high)} of {len(high)} points") if high else None


def learners_profit_differently(drawn: Drawn) -> Answer:
    """Over the same selections the mean accuracies of the learners are at least 2 points apart."""
    found = drawn.column("where all learners were run", "mean")
    if len(found) < 2:
        return None
    gap = max(found.values()) - min(found.values())
    return gap >= 2.0, f"mean accuracy over the same selections: {listed(found, 4)}"


def stability_order(drawn: Drawn) -> Answer:
    """On average over the streams cross-validation is most stable, then bootstrap, then split."""
    panel = "mean stability"
    streams = drawn.names(panel)
    if not streams:
        return None
    means = {name: float(np.mean(list(drawn.column(panel, name).values()))) for name in ("cross", "bootstrap", "split")}
    so = [
        drawn.at(panel, one)["cross"] > drawn.at(panel, one)["bootstrap"] > drawn.at(panel, one)["split"]
        for one in streams
    ]
    holds = means["cross"] > means["bootstrap"] > means["split"]
    return holds, f"{listed(means)}; in this order on {sum(so)} of {len(so)} streams"


def trees_on_bg1(drawn: Drawn) -> Answer:
    """HT never uses fewer features than before and ends with more, HAT does drop some, ABFS keeps at most 4."""
    tree, adaptive = drawn.y("BG1", "HT"), drawn.y("BG1", "HAT")
    kept = [drawn.y("BG1", f"{name}-ABFS") for name in ("HT", "HAT")]
    if not tree or not adaptive or not all(kept):
        return None
    most = max(map(max, kept))
    words = f"HT {tree[0]:.0f} to {tree[-1]:.0f}, HAT at most {max(adaptive):.0f}, at the end {adaptive[-1]:.0f}"
    grows = all(np.diff(tree) >= 0) and tree[-1] > tree[0]
    return bool(grows and min(np.diff(adaptive)) < 0 and most <= 4), f"{words}, ABFS at most {most:.0f}"


def trees_on_sea(drawn: Drawn) -> Answer:
    """HAT ends with at least nine tenths of its most features, as HT does; ABFS keeps at most 5."""
    lines = [drawn.y("SEA", name) for name in ("HT", "HAT")]
    kept = [drawn.y("SEA", f"{name}-ABFS") for name in ("HT", "HAT")]
    if not all(lines) or not all(kept):
        return None
    most = max(map(max, kept))
    ends = [f"{name} {line[-1]:.0f} of {max(line):.0f}" for name, line in zip(("HT", "HAT"), lines, strict=True)]
    grows = all(line[-1] >= 0.9 * max(line) and line[-1] > line[0] for line in lines)
    return grows and most <= 5, f"at the end {', '.join(ends)} at most, ABFS at most {most:.0f}"


def same_drifts(drawn: Drawn) -> Answer:
    """ABFS flags drifts at the same rows whatever the learner."""
    words, right = [], []
    for stream in ("BG1", "SEA"):
        panel = f"{stream}, drifts found"
        if set(drawn.names(panel)) != {"HT-ABFS", "HAT-ABFS"}:
            return None
        one, other = drawn.y(panel, "HT-ABFS"), drawn.y(panel, "HAT-ABFS")
        right.append(one == other)
        words.append(f"{stream} {len(one)} and {len(other)}")
    return all(right), f"drifts: {', '.join(words)}"


def spam_features(learner: str, alone: int, exact: bool) -> FigureCheck:
    """The tree alone uses `alone` features within a tenth; with ABFS 5 (exactly, or at most).

    What the tree uses counts, not what ABFS selects: that is everything until it has selected a first feature.
    """

    def check(drawn: Drawn) -> Answer:
        tree, kept = drawn.y("SPAM", learner), drawn.y("SPAM", f"{learner}-ABFS, in the tree")
        if not tree or not kept:
            return None
        holds = abs(max(tree) - alone) <= 0.1 * alone and (max(kept) == 5 if exact else max(kept) <= 5)
        return holds, f"{learner} alone uses at most {max(tree):.0f}, with ABFS {max(kept):.0f}"

    return check
