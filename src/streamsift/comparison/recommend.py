"""What to take from a comparison: ranks, the entries that no other one beats in everything, and advice.

All three stay within one protocol, for figures of two protocols are about different rows. The cost of an entry is the
number of features it needs per row: unlike its speed, that is the same on every machine and with any number of jobs.

The advice follows from the tests. A method is named only where it is better than features drawn at random under the
same model, and not worse than all features under the best model; otherwise the advice says what to do instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamsift.comparison.kinds import PROTOCOLS, is_baseline
from streamsift.comparison.metrics import (
    CLOSE,
    METRIC_NAMES,
    NUMBER_METRICS,
    SHARES,
    close_to,
    gap_written,
    in_units_of_target,
    merit,
    unit_of,
    written,
)

Figures = dict[str, Any]
_TURNED = {"better": "worse", "worse": "better"}


def in_order(entries: Sequence[Figures], metric: str = "accuracy") -> list[Figures]:
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
    for protocol in PROTOCOLS:
        group = [entry for entry in entries if entry["protocol"] == protocol]
        done = [entry for entry in group if merit(entry, metric) is not None]
        done.sort(key=lambda entry: _merits(entry, metric), reverse=True)
        rivals = [entry for entry in done if not is_baseline(entry)]
        ordered += [
            entry | {"rank": rank, "on_front": entry in rivals and not any(beats(one, entry, metric) for one in rivals)}
            for rank, entry in enumerate(done, 1)
        ]
        ordered += [entry | {"rank": None, "on_front": False} for entry in group if merit(entry, metric) is None]
    return ordered


def _merits(entry: Figures, metric: str) -> tuple[float, float, float]:
    """The metric; among equals stability, then fewer features."""
    return merit(entry, metric) or 0.0, _stability(entry), -entry["features"]


def _stability(entry: Figures) -> float:
    """Where it cannot be measured (one repeat of a column method), no entry of the protocol has one."""
    return -1.0 if entry["stability"] is None else float(entry["stability"])


def beats(other: Figures, entry: Figures, metric: str = "accuracy") -> bool:
    """Whether `other` is at least as good in the metric, stability and features, and better in one.

    >>> a = {"accuracy": 0.9, "stability": 1.0, "features": 5}
    >>> beats(a, a | {"features": 6}), beats(a, a | {"features": 6, "accuracy": 0.95})
    (True, False)
    """
    mine, theirs = _merits(entry, metric), _merits(other, metric)
    return mine != theirs and all(their >= own for their, own in zip(theirs, mine, strict=True))


@dataclass(frozen=True)
class Advice:
    """What to do. name: the entry to use, which may be all features; None where there is none to name.

    verdict: "use", "do not select", "too few", "all selected", "nothing works" or "nothing finished".
    sentence: the whole of it. reason: the part of the sentence that says why, where a method is to be used.
    """

    verdict: str
    name: str | None
    sentence: str
    reason: str = ""


def advise(
    entries: Sequence[Figures],
    tests: Mapping[str, Figures],
    *,
    n_features: int,
    metric: str = "accuracy",
) -> Advice:
    """What a colleague would say who has seen the tests.

    Parameters
    ----------
    entries : sequence of dict
        As `in_order` gives them.
    tests : mapping from protocol to dict
        As `Significance.as_dict` gives them.
    n_features : int
        Of the data.
    metric : str, default "accuracy"
        What the entries were ranked and tested by.

    Returns
    -------
    Advice
    """
    rivals = _rivals(entries)
    if not rivals:
        return Advice("nothing finished", None, "There is nothing to recommend. No run of a method has been finished.")
    protocol = rivals[0]["protocol"]
    if protocol == "prequential" and min(entry["features"] for entry in rivals) >= n_features:
        who = "Every method selects" if len(rivals) > 1 else f"{rivals[0]['name']} selects"
        words = f"{who} all {n_features:,} columns: ask for fewer with -k."
        if n_features == 1:
            words = "There is only one column, so there is nothing to select."
        return Advice("all selected", None, words)
    return _Adviser(entries, rivals, _Verdicts(tests.get(protocol), metric), metric).advice()


def _rivals(entries: Sequence[Figures]) -> list[Figures]:
    """The finished methods of the first protocol that has any; no baselines."""
    rivals = [entry for entry in entries if not is_baseline(entry) and entry["rank"] is not None]
    return [entry for entry in rivals if entry["protocol"] == rivals[0]["protocol"]]


class _Verdicts:
    """The tests of a protocol, pair by pair."""

    def __init__(self, tests: Figures | None, metric: str) -> None:
        self._metric = metric
        self._pairs = {} if tests is None else {(one["first"], one["second"]): one for one in tests["pairs"]}

    def of(self, first: Figures, second: Figures) -> str | None:
        """The verdict on `first` against `second`; None where the two were not tested."""
        pair = self._pairs.get((first["name"], second["name"]))
        if pair is not None:
            return str(pair["verdict"])
        pair = self._pairs.get((second["name"], first["name"]))
        return None if pair is None else _TURNED.get(pair["verdict"], pair["verdict"])

    def gap(self, first: Figures, second: Figures) -> str:
        """By how much `first` is ahead, with the interval: "9.1 points, 95 % interval 4.0 to 14.2"."""
        pair, sign = self._pairs.get((first["name"], second["name"])), 1.0
        if pair is None:
            pair, sign = self._pairs[second["name"], first["name"]], -1.0
        text = f"{gap_written(sign * pair['difference'], self._metric)} {unit_of(self._metric)}"
        if pair["low"] is None:
            return text
        low, high = sorted((sign * pair["low"], sign * pair["high"]))
        return f"{text}, 95 % interval {gap_written(low, self._metric)} to {gap_written(high, self._metric)}"

    def counts(self, choice: Figures, others: Sequence[Figures]) -> tuple[int, int]:
        """How many of the others it is better than, and of how many that is known."""
        found = [self.of(choice, other) for other in others if other is not choice]
        return found.count("better"), len([one for one in found if one is not None])


class _Adviser:
    """Goes through what could speak against selecting, and names a method where nothing does."""

    def __init__(self, entries: Sequence[Figures], rivals: Sequence[Figures], verdicts: _Verdicts, metric: str) -> None:
        self._entries, self._rivals, self._verdicts, self._metric = entries, rivals, verdicts, metric
        self._best_all = self._baseline("all")
        numeric = metric in NUMBER_METRICS
        self._majority = self._baseline("mean" if numeric else "majority")
        self._without = "the mean so far" if numeric else "the most frequent class"
        self._late = "late_rmse" if numeric else "late_accuracy"

    def advice(self) -> Advice:
        best = max(self._rivals, key=lambda entry: _merits(entry, self._metric))
        beyond = [entry for entry in self._rivals if self._beyond_chance(entry)]
        if not beyond:
            return self._none_is_better_than_random(best)
        worth = [entry for entry in beyond if self._all_features(entry) != "worse"]
        if not worth:
            return self._all_are_better(best)
        choice = self._choose(worth)
        if self._all_features(choice) == "too few" or self._against_random(choice) == "too few":
            return self._too_few(best)
        if self._majority is not None and self._verdicts.of(choice, self._majority) in ("alike", "worse"):
            return self._nothing_works(choice)
        return self._use(choice)

    # -- what the tests say about a method --

    def _baseline(self, method: str, model: str | None = None) -> Figures | None:
        """The finished baseline with a model; without one, with the model that it does best with."""
        if self._rivals[0]["protocol"] != "prequential":
            return None
        found = [
            entry
            for entry in self._entries
            if is_baseline(entry) and entry["method"] == method and entry["rank"] is not None
            and (model is None or entry["model"] == model)
        ]  # fmt: skip
        return max(found, key=self._value, default=None)

    def _value(self, entry: Figures) -> float:
        value = merit(entry, self._metric)
        return float("-inf") if value is None else value

    def _against_random(self, entry: Figures) -> str | None:
        chance = self._baseline("random", entry["model"])
        return None if chance is None else self._verdicts.of(entry, chance)

    def _beyond_chance(self, entry: Figures) -> bool:
        """Whether nothing says that features drawn at random do as well under the same model."""
        chance = self._baseline("random", entry["model"])
        if chance is None:
            return not self._random_is_later_as_good(entry)
        return self._value(entry) > self._value(chance) and self._verdicts.of(entry, chance) not in ("alike", "worse")

    def _may_be_far_better_than_random(self, entry: Figures) -> bool:
        """Whether a gap that matters could be chance, as with few repeats: then the test has not settled anything."""
        chance = self._baseline("random", entry["model"])
        if chance is None or self._verdicts.of(entry, chance) != "alike":
            return False
        return self._value(chance) < close_to(self._value(entry), self._metric)

    def _random_is_later_as_good(self, entry: Figures) -> bool:
        """Across protocols there is no test, only the figure over the second half, which is of the same rows."""
        sign = -1.0 if self._late == "late_rmse" else 1.0
        return any(
            sign * other[self._late] >= sign * entry[self._late]
            for other in self._entries
            if other["method"] == "random" and other["model"] == entry["model"] and other["rank"] is not None
        )

    def _all_features(self, entry: Figures) -> str | None:
        """The verdict on a method against all features under the model they do best with."""
        return None if self._best_all is None else self._verdicts.of(entry, self._best_all)

    def _nothing_beats_the_majority(self, entry: Figures) -> bool:
        """Whether the tests say that neither a method nor all features are better than the most frequent class."""
        known = [one for one in (entry, self._best_all) if one is not None]
        return self._majority is not None and all(
            self._verdicts.of(one, self._majority) in ("alike", "worse") for one in known
        )

    def _choose(self, group: Sequence[Figures]) -> Figures:
        """Of those close to the best, the most stable; among equally stable ones that with the fewest features."""
        best = max(self._value(entry) for entry in group)
        close = [entry for entry in group if self._value(entry) >= close_to(best, self._metric)]
        return max(close, key=lambda entry: (_stability(entry), -entry["features"], self._value(entry)))

    # -- words --

    def _figure(self, entry: Figures) -> str:
        return f"{entry['name']}: {self._named()} {self._written(entry)}"

    def _named(self) -> str:
        return METRIC_NAMES.get(self._metric, self._metric.replace("_", " "))

    def _written(self, entry: Figures) -> str:
        return written(entry[self._metric], self._metric)

    def _all_instead(self) -> tuple[str | None, str]:
        if self._best_all is None:
            return None, "use all features"
        return self._best_all["name"], f"use all features ({self._figure(self._best_all)})"

    def _none_is_better_than_random(self, best: Figures) -> Advice:
        if self._against_random(best) == "too few":
            return self._too_few(best)
        if self._nothing_beats_the_majority(best):
            return self._nothing_works(best)
        if self._may_be_far_better_than_random(best):
            return self._too_few(best)
        name, instead = self._all_instead()
        chance = self._baseline("random", best["model"])
        drawn = "" if chance is None else f", features drawn at random {self._written(chance)}"
        words = (
            f"Do not select here: no method is better than random features beyond chance (the best is "
            f"{self._figure(best)}{drawn}); {instead}, or ask for another number with -k."
        )
        return Advice("do not select", name, words)

    def _all_are_better(self, best: Figures) -> Advice:
        everything = self._best_all
        if everything is None:
            raise AssertionError("nothing can be worse than all features that are not there")
        gap = self._verdicts.gap(everything, best)
        words = (
            f"Do not select here: all features are better by {gap} ({self._figure(everything)}, against "
            f"{self._figure(best)}, the best selection)."
        )
        if best["model"] != everything["model"]:
            words = f"{words[:-1]}; {self._same_model(best)}."
        return Advice("do not select", everything["name"], words)

    def _too_few(self, best: Figures) -> Advice:
        name, instead = self._all_instead()
        few, more = "rows", "more rows, or smaller batches,"
        if unsettled := self._may_be_far_better_than_random(best):
            few, more = "rows or repeats", "more rows, more repeats or smaller batches"
        by_chance = unsettled or self._against_random(best) == "too few"
        rival = f"{'random' if by_chance else 'all'} features"
        # What was not tested is not called alike.
        tested = (
            f"no test distinguishes it from {rival}"
            if unsettled
            else f"the rows are too few to test it against {rival}"
        )
        words = (
            f"There are too few {few} to tell whether selecting pays: {self._figure(best)} is the best so far, and "
            f"{tested}. Meanwhile {instead}, which is the simplest; {more} would settle it."
        )
        return Advice("too few", name, words)

    def _nothing_works(self, choice: Figures) -> Advice:
        majority = self._majority
        if majority is None:
            raise AssertionError("there is nothing to compare with")
        everything = self._best_all
        if everything is not None and self._verdicts.of(everything, majority) == "better":
            words = (
                f"Do not select here: all features are better than {self._without} by "
                f"{self._verdicts.gap(everything, majority)} ({self._figure(everything)}), and no selection is."
            )
            return Advice("do not select", everything["name"], words)
        words = (
            f"Nothing here is better than {self._without} ({self._figure(majority)}; {self._figure(choice)}): "
            "the features, or this model, do not predict the target."
        )
        return Advice("nothing works", None, words)

    def _use(self, choice: Figures) -> Advice:
        features = f"{choice['features']:.4g}"
        figures = [f"{self._named()} {self._written(choice)}"]
        figures += [] if choice["stability"] is None else [f"stability {100 * choice['stability']:.0f} %"]
        use = f"Use {choice['name']}: {', '.join(figures)} with {features} feature{'s' * (features != '1')} per row."
        reasons = [self._reason(choice), self._tested(choice), *self._gains(choice)]
        words = "; ".join(reason for reason in reasons if reason)
        reason = f"{words[0].upper()}{words[1:]}."
        return Advice("use", choice["name"], f"{use} {reason}", reason)

    def _reason(self, choice: Figures) -> str:
        if len(self._rivals) == 1:
            return f"it is the only method of the protocol {choice['protocol']!r} that was finished"
        best = max(self._value(entry) for entry in self._rivals)
        close = [entry for entry in self._rivals if self._value(entry) >= close_to(best, self._metric)]
        if close == [choice]:
            second = max((entry for entry in self._rivals if entry is not choice), key=self._value)
            return f"it is the best of {len(self._rivals)}, the next reaching {self._written(second)}"
        than = "the most stable" if choice["stability"] is not None else "the one with the fewest features"
        near = "1 %" if in_units_of_target(self._metric) else "1 point" if self._metric in SHARES else CLOSE
        return f"of the {len(close)} within {near} of the best it is {than}"

    def _tested(self, choice: Figures) -> str:
        better, known = self._verdicts.counts(choice, self._rivals)
        if not known:
            return "" if len(self._rivals) == 1 else "the differences were not tested"
        if known == 1:
            return f"it is {'better' if better else 'not better'} than the other beyond chance"
        return f"it is better than {better or 'none'} of the {known} others beyond chance"

    def _gains(self, choice: Figures) -> list[str]:
        """What selecting costs or gains, by all features under the same model and under the best one."""
        words = [self._same_model(choice)]
        best = self._best_all
        if best is not None and best["model"] != choice["model"]:
            words.append(self._against_all(choice, best, f"all features under {best['model']}, their best model,"))
        return words

    def _same_model(self, choice: Figures) -> str:
        same = self._baseline("all", choice["model"])
        return "" if same is None else self._against_all(choice, same, "all features under the same model")

    def _against_all(self, choice: Figures, everything: Figures, who: str) -> str:
        reach = f"{who} reach {self._written(everything)}"
        verdict = self._verdicts.of(choice, everything)
        if verdict == "better":
            return f"{reach}, so selecting gains {self._verdicts.gap(choice, everything)}"
        if verdict == "worse":
            return f"{reach}, so selecting costs {self._verdicts.gap(everything, choice)}"
        if verdict == "alike":
            return f"{reach}, which cannot be distinguished ({self._verdicts.gap(choice, everything)})"
        return reach
