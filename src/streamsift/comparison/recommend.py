"""What to take from a comparison: ranks, the entries that no other one beats in everything, and a recommendation.

All three stay within one protocol, for figures of two protocols are about different rows. The cost of an entry is the
number of features it needs a row: unlike its speed, that is the same on every machine and for any number of processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamsift.comparison.plan import PROTOCOLS

CLOSE = 0.01  # of accuracy: less is no reason to prefer an entry

Figures = dict[str, Any]


def in_order(entries: Sequence[Figures]) -> list[Figures]:
    """The entries with `rank` and `on_front` set, best first within each protocol, protocols in their order.

    Examples
    --------
    >>> from streamsift.comparison.recommend import in_order
    >>> a = {"name": "a", "kind": "rows", "protocol": "prequential", "accuracy": 0.8, "stability": 1.0, "features": 5}
    >>> b = a | {"name": "b", "accuracy": 0.9}
    >>> [(entry["name"], entry["rank"], entry["on_front"]) for entry in in_order([a, b])]
    [('b', 1, True), ('a', 2, False)]
    """
    ordered: list[Figures] = []
    for protocol in dict.fromkeys(PROTOCOLS.values()):
        group = [entry for entry in entries if entry["protocol"] == protocol]
        done = sorted((entry for entry in group if entry["accuracy"] is not None), key=_merit, reverse=True)
        rivals = [entry for entry in done if entry["kind"] != "baseline"]
        ordered += [
            entry | {"rank": rank, "on_front": entry in rivals and not any(beats(other, entry) for other in rivals)}
            for rank, entry in enumerate(done, 1)
        ]
        ordered += [entry | {"rank": None, "on_front": False} for entry in group if entry["accuracy"] is None]
    return ordered


def _merit(entry: Figures) -> tuple[float, float, float]:
    """Accuracy; among equals stability, then fewer features."""
    return entry["accuracy"], _stability(entry), -entry["features"]


def _stability(entry: Figures) -> float:
    """Where it cannot be measured (one repeat of a column method), no entry of the protocol has one."""
    return -1.0 if entry["stability"] is None else float(entry["stability"])


def beats(other: Figures, entry: Figures) -> bool:
    """Whether `other` is at least as good in accuracy, stability and features, and better in one.

    >>> a = {"accuracy": 0.9, "stability": 1.0, "features": 5}
    >>> beats(a, a | {"features": 6}), beats(a, a | {"features": 6, "accuracy": 0.95})
    (True, False)
    """
    mine, theirs = _merit(entry), _merit(other)
    return mine != theirs and all(their >= own for their, own in zip(theirs, mine, strict=True))


def choose(entries: Sequence[Figures]) -> Figures | None:
    """The entry to use; None where no run of a method has been finished.

    Of the methods whose accuracy comes within 0.01 of the best one, the most stable is recommended, and among equally
    stable ones that with the fewest features, which puts it on the front. Row methods go before the others where they
    take part, for only they go on selecting.

    >>> a = {"name": "a", "kind": "rows", "protocol": "prequential", "accuracy": 0.9, "stability": 0.5, "features": 5}
    >>> choose(in_order([a, a | {"name": "b", "accuracy": 0.895, "stability": 1.0}]))["name"]
    'b'
    """
    group = _rivals(entries)
    if not group:
        return None
    return max(_close(group), key=lambda entry: (_stability(entry), -entry["features"], entry["accuracy"]))


def _rivals(entries: Sequence[Figures]) -> list[Figures]:
    """The finished methods of the first protocol that has any; no baselines."""
    rivals = [entry for entry in entries if entry["kind"] != "baseline" and entry["rank"] is not None]
    return [entry for entry in rivals if entry["protocol"] == rivals[0]["protocol"]]


def _close(group: Sequence[Figures]) -> list[Figures]:
    best = max(float(entry["accuracy"]) for entry in group)
    return [entry for entry in group if entry["accuracy"] >= best - CLOSE]


def recommend(entries: Sequence[Figures], tests: Figures | None) -> str:
    """Two sentences: what to use (`choose`), and why.

    Parameters
    ----------
    entries : sequence of dict
        As `in_order` gives them.
    tests : dict or None
        As `Significance.as_dict` gives it.

    Returns
    -------
    str
    """
    choice = choose(entries)
    if choice is None:
        return "There is nothing to recommend. No run of a method has been finished."
    features = f"{choice['features']:.4g}"
    figures = [f"accuracy {choice['accuracy']:.3f}", f"{features} feature{'s' * (features != '1')} per row"]
    if choice["stability"] is not None:
        figures.insert(1, f"stability {choice['stability']:.2f}")
    use = f"Use {choice['name']}: {', '.join(figures[:-1])} with {figures[-1]}."
    reasons = [_reason(choice, _rivals(entries)), _distinguished(choice, tests), _against_baselines(choice, entries)]
    return f"{use} {'; '.join(reason for reason in reasons if reason)}."


def _reason(choice: Figures, group: Sequence[Figures]) -> str:
    if len(group) == 1:
        return f"It is the only method of the protocol {choice['protocol']!r} that was finished"
    close, best = _close(group), max(float(entry["accuracy"]) for entry in group)
    if len(close) == 1:
        second = max(float(entry["accuracy"]) for entry in group if entry is not choice)
        return f"It is the most accurate of {len(group)}, the next reaching {second:.3f}"
    than = "none is more stable, and none as stable" if choice["stability"] is not None else "none"
    return f"Of the {len(close)} within {CLOSE} of the best accuracy ({best:.3f}), {than} needs fewer features"


def _distinguished(choice: Figures, tests: Figures | None) -> str:
    """What the tests say about it and the others."""
    mine = [pair for pair in tests["pairs"] if choice["name"] in (pair["first"], pair["second"])] if tests else []
    if len(mine) <= 1:
        return "".join(pair["sentence"] for pair in mine)
    better = [pair for pair in mine if pair["verdict"] == ("better" if pair["first"] == choice["name"] else "worse")]
    few = [pair for pair in mine if pair["verdict"] == "too few"]
    if len(few) == len(mine):
        return "there are too few rows to tell it from the others"
    found = f"it is better than {len(better) or 'none'} of the {len(mine)} others beyond chance"
    return found + (f", and there are too few rows to tell it from {len(few)} of them" if few else "")


def _against_baselines(choice: Figures, entries: Sequence[Figures]) -> str:
    """What selecting costs or gains, by the baselines with the same model."""
    same = {
        entry["method"]: float(entry["accuracy"])
        for entry in entries
        if entry["kind"] == "baseline" and entry["model"] == choice["model"] and entry["accuracy"] is not None
    }
    if choice["protocol"] != "prequential":
        return ""
    if "random" in same and choice["accuracy"] <= same["random"] + CLOSE:
        return f"but features drawn at random do as well ({same['random']:.3f})"
    if "all" in same:
        gap = choice["accuracy"] - same["all"]
        if abs(gap) <= CLOSE:
            return f"all features together reach {same['all']:.3f}, so selecting costs nothing"
        return f"all features together reach {same['all']:.3f}, so selecting {'gains' if gap > 0 else 'costs'} accuracy"
    return ""
