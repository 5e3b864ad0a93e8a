"""Is the difference of two entries more than chance? Tests that hold on one stream, and on several independent ones.

**One stream** (`compare_over_time`). Two entries predicted the same rows; the difference of their accuracies in each
step is a series in time, whose neighbours are alike, for a hard stretch or a drift lasts longer than a step. A test
that treats steps (or repeats that share rows) as independent finds differences where there are none. Here the steps are
joined to blocks of 1, 2, 4, ... steps, up to an eighth of the stream (a share of 1 / n^(1/3) of long ones), and
Student's test of the means of the blocks must find the difference *for every length*. The standard error for a length
is raised by the correlation r of neighbouring blocks, as for an autoregressive series: its square by (1 + r) / (1 - r)
where there are 20 blocks or more, by 1 + 2 r below. The largest of these estimates says how many independent steps the
n steps are worth; below 25 the answer is "too few rows to tell". Where many entries are compared, a pair is not trusted
to be less correlated than the median of all pairs.

**Independent streams** (`compare_over_streams`), from a generator or a function of a seed: Student's test of the
differences of the streams. Three or more entries are also ranked by Friedman's test with Nemenyi's critical difference,
as in Demsar (2006), Statistical Comparisons of Classifiers over Multiple Data Sets.

All p are corrected for the number of pairs by Holm's method, and so are the intervals: one leaves out 0 exactly where
its pair is distinguished. `python -m benchmarks.false_alarms` shows by simulation how often equals are distinguished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from streamsift.comparison.metrics import gap_written, in_units_of_target, unit_of
from streamsift.core.exceptions import InputError

LEVEL = 0.05
FEWEST_STREAMS = 3  # below, independent streams say nothing about each other
FEWEST_BLOCKS = 8
BLOCKS_FOR_CORRELATION = 20  # that give r well enough to extrapolate from it
MOST_CORRELATION = 0.95
INDEPENDENT_STEPS = 25  # that a stream must be worth
_EQUAL_WITHIN = 9  # decimals: sums of the same terms in another order are ties, not differences

Verdict = Literal["better", "worse", "alike", "too few"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EntryPair:
    """Two entries: by how much `first` is more accurate than `second`, and whether that is more than chance.

    difference, low, high: of the metric, such that more is better: of accuracy between -1 and 1; the interval is None
    where there are too few rows to tell.
    p_adjusted: corrected for all pairs. verdict: of `first` against `second`. sentence: the same in words.
    """

    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    verdict: Verdict
    sentence: str
    metric: str = "accuracy"


@dataclass(frozen=True)
class Significance:
    """The outcome of the tests of one protocol.

    kind: "over time" (one stream) or "over streams". n: steps or streams. pairs: every two entries, in the order of the
    names. average_ranks and critical_difference: of three or more entries over several streams; 1 is best. groups:
    names that are not distinguished in their ranks.
    """

    kind: str
    n: int
    level: float
    pairs: list[EntryPair]
    sentence: str
    average_ranks: dict[str, float] | None = None
    critical_difference: float | None = None
    groups: list[list[str]] | None = None

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON."""
        return asdict(self)

    def between(self, first: str, second: str) -> EntryPair:
        """The pair of two entries, seen from `first`."""
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair
            if (pair.first, pair.second) == (second, first):
                return _seen_from_second(pair)
        raise InputError(f"There is no test of {first!r} and {second!r}: give two names of one protocol.")


def _seen_from_second(pair: EntryPair) -> EntryPair:
    other: dict[Verdict, Verdict] = {"better": "worse", "worse": "better", "alike": "alike", "too few": "too few"}
    low, high = (None if end is None else -end for end in (pair.high, pair.low))
    turned = replace(
        pair, first=pair.second, second=pair.first, difference=-pair.difference, low=low, high=high,
        verdict=other[pair.verdict],
    )  # fmt: skip
    return replace(turned, sentence=_words(turned))


@dataclass(frozen=True)
class _Estimate:
    """A difference with its standard errors, each with its degrees of freedom, all of which have to agree.

    effective: how many independent observations the series is worth.
    """

    difference: float
    errors: Floats
    freedoms: Floats
    effective: float

    def p(self) -> float:
        if self.difference == 0.0:
            return 1.0
        with np.errstate(divide="ignore"):  # a difference that never varies has no error
            statistic = np.abs(self.difference) / self.errors
        return float(np.max(2.0 * special.stdtr(self.freedoms, -statistic)))

    def half_width(self, level: float) -> float:
        return float(np.max(-special.stdtrit(self.freedoms, level / 2.0) * self.errors))


def compare_over_time(
    accuracies: Any, names: Sequence[str], *, level: float = LEVEL, metric: str = "accuracy"
) -> Significance:
    """Test whether entries differ on one stream.

    Parameters
    ----------
    accuracies : array-like of shape (n_steps, n_entries)
        The accuracy, or score by another metric, of each entry in each step, in the order of time, on the same rows.
    names : sequence of str
        One name for each entry.
    level : float, default 0.05
        The largest probability of finding a difference between any two entries that are equally good.
    metric : str, default "accuracy"
        What the numbers are; of one where lower is better they are negative.

    Returns
    -------
    Significance

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.comparison.significance import compare_over_time
    >>> accuracies = np.random.default_rng(0).binomial(100, [0.9, 0.9, 0.8], size=(200, 3)) / 100
    >>> test = compare_over_time(accuracies, ["a", "b", "c"])
    >>> [(pair.first, pair.second, pair.verdict) for pair in test.pairs]
    [('a', 'b', 'alike'), ('a', 'c', 'better'), ('b', 'c', 'better')]
    >>> compare_over_time(accuracies[:20], ["a", "b", "c"]).pairs[1].verdict
    'too few'
    """
    table = _checked(accuracies, names, 1, "step")
    size = _size(table, metric)
    estimates = [_over_time(table[:, a] - table[:, b], size) for a, b in combinations(range(len(names)), 2)]
    middle = float(np.median([one.effective for one in estimates]))
    enough = [
        min(one.effective, middle) >= INDEPENDENT_STEPS or (one.difference == 0.0 and not one.errors.any())
        for one in estimates  # the latter hit and missed alike in every step
    ]
    pairs = _pairs(estimates, names, enough, level, metric)
    return Significance("over time", len(table), level, pairs, _summary(pairs, names, f"{len(table):,} steps"))


def compare_over_streams(
    accuracies: Any, names: Sequence[str], *, level: float = LEVEL, metric: str = "accuracy"
) -> Significance:
    """Test whether entries differ, from their accuracies on streams that are independent of each other.

    Parameters
    ----------
    accuracies : array-like of shape (n_streams, n_entries)
        At least 3 streams and 2 entries.
    names : sequence of str
        One name for each entry.
    level : float, default 0.05
        The largest probability of finding a difference between any two entries that are equally good.
    metric : str, default "accuracy"
        What the numbers are; of one where lower is better they are negative.

    Returns
    -------
    Significance

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.comparison.significance import compare_over_streams
    >>> accuracies = np.random.default_rng(0).normal([0.9, 0.8, 0.7], 0.01, size=(10, 3))
    >>> test = compare_over_streams(accuracies, ["a", "b", "c"])
    >>> [pair.verdict for pair in test.pairs], test.average_ranks["a"]
    (['better', 'better', 'better'], 1.0)
    """
    table = _checked(accuracies, names, FEWEST_STREAMS, "stream")
    n_streams, size = len(table), _size(table, metric)
    estimates = []
    for a, b in combinations(range(len(names)), 2):
        gaps = _rounded(table[:, a] - table[:, b], size)
        error = gaps.std(ddof=1) / np.sqrt(n_streams)
        estimates.append(_Estimate(float(gaps.mean()), np.array([error]), np.array([n_streams - 1.0]), n_streams))
    pairs = _pairs(estimates, names, [True] * len(estimates), level, metric)
    found = Significance(
        "over streams", n_streams, level, pairs, _summary(pairs, names, f"{n_streams:,} independent streams")
    )
    return found if len(names) == 2 else _ranked(found, _rounded(table, size), names)


def _checked(accuracies: Any, names: Sequence[str], fewest: int, what: str) -> Floats:
    table: Floats = np.asarray(accuracies, np.float64)
    if table.ndim != 2 or table.shape[1] != len(names) or len(names) < 2 or len(table) < fewest:
        raise InputError(
            f"A test needs one score for each {what} and entry, of 2 entries and {fewest} {what}"
            f"{'s' * (fewest > 1)} at least. Got an array of shape {table.shape} and {len(names)} names."
        )
    if not np.isfinite(table).all():
        raise InputError(f"A score is not a number: leave the entry or the {what} out.")
    return table


# -- one stream -------------------------------------------------------------------------------------------------


def block_lengths(n_steps: int) -> list[int]:
    """The lengths of blocks for which a difference must be found.

    >>> block_lengths(100), block_lengths(9)
    ([1, 2, 4, 8, 12], [1])
    """
    longest = max(n_steps // max(FEWEST_BLOCKS, int(np.ceil(n_steps ** (1 / 3)))), 1)
    return [*(2**power for power in range(longest.bit_length()) if 2**power < longest), longest]


def _size(table: Floats, metric: str) -> float:
    """What 1 is for a metric: the largest error there is, where the metric is as large as the target."""
    return (float(np.abs(table).max()) or 1.0) if in_units_of_target(metric) else 1.0


def _rounded(gaps: Floats, size: float) -> Floats:
    return np.asarray(np.round(gaps, _EQUAL_WITHIN) if size == 1.0 else size * np.round(gaps / size, _EQUAL_WITHIN))


def _over_time(gaps: Floats, size: float = 1.0) -> _Estimate:
    """The mean of a series, with a standard error for each length of blocks."""
    n_steps = len(gaps)
    gaps = _rounded(gaps, size)
    variance = float(gaps.var(ddof=1)) if n_steps > 1 else 0.0
    if variance == 0.0:
        return _Estimate(float(gaps.mean()), np.zeros(1), np.array([max(n_steps - 1.0, 1.0)]), float(n_steps))
    errors, freedoms, effective = [], [], float(n_steps)
    for length in block_lengths(n_steps):
        n_blocks = n_steps // length
        edges = np.linspace(0, n_steps, n_blocks + 1).astype(int)
        means = np.add.reduceat(gaps, edges[:-1]) / np.diff(edges)
        squared = float(means.var(ddof=1)) / n_blocks * _inflation(means) if n_blocks > 1 else variance / n_steps
        errors.append(np.sqrt(squared))
        freedoms.append(max(n_blocks - 1.0, 1.0))
        effective = min(effective, variance / squared) if squared > 0.0 else effective
    return _Estimate(float(gaps.mean()), np.array(errors), np.array(freedoms), effective)


def interval_over_time(scores: Any, level: float = LEVEL, metric: str = "accuracy") -> float | None:
    """Half the width of the interval of a mean over time, by the same blocks; None where there are too few rows.

    >>> import numpy as np
    >>> from streamsift.comparison.significance import interval_over_time
    >>> hits = np.random.default_rng(0).binomial(100, 0.9, size=200) / 100
    >>> 0.003 < interval_over_time(hits) < 0.02, interval_over_time(hits[:20])
    (True, None)
    """
    values: Floats = np.asarray(scores, np.float64)
    estimate = _over_time(values, _size(values, metric))
    return estimate.half_width(level) if estimate.effective >= INDEPENDENT_STEPS else None


def _inflation(means: Floats) -> float:
    """By how much the correlation of neighbouring blocks raises the variance of their mean."""
    n_blocks, around = len(means), means - means.mean()
    total = float(around @ around)
    raw = float(around[1:] @ around[:-1]) / total if total > 0.0 else 0.0
    r = min(max(raw + (1.0 + 3.0 * max(raw, 0.0)) / n_blocks, 0.0), MOST_CORRELATION)  # r of few blocks is too small
    return (1.0 + r) / (1.0 - r) if n_blocks >= BLOCKS_FOR_CORRELATION else 1.0 + 2.0 * min(r, 0.5)


# -- pairs and their words --------------------------------------------------------------------------------------


def holm(p: Sequence[float], level: float = LEVEL) -> tuple[list[float], list[int]]:
    """Adjusted p of several tests by Holm's method, and by how many comparisons each was corrected.

    The number is such that a test is significant exactly where p times it is at most the level.

    >>> holm([0.01, 0.5, 0.03])
    ([0.03, 0.5, 0.06], [3, 2, 2])
    """
    adjusted, numbers = [0.0] * len(p), [0] * len(p)
    largest, number = 0.0, len(p)
    for place, index in enumerate(np.argsort(p, kind="stable")):
        if largest <= level:  # else the first that was not significant corrects those behind it, too
            number = len(p) - place
        largest = max(largest, min(1.0, float(p[index]) * (len(p) - place)))
        adjusted[index], numbers[index] = largest, number
    return adjusted, numbers


def _pairs(
    estimates: Sequence[_Estimate], names: Sequence[str], enough: Sequence[bool], level: float, metric: str
) -> list[EntryPair]:
    p = [one.p() if good else 1.0 for one, good in zip(estimates, enough, strict=True)]
    adjusted, numbers = holm(p, level)
    found = []
    for place, (first, second) in enumerate(combinations(names, 2)):
        difference = estimates[place].difference
        if not enough[place]:
            pair = EntryPair(first, second, difference, None, None, None, None, "too few", "", metric)
        else:
            half = estimates[place].half_width(level / numbers[place])
            verdict: Verdict = "alike" if adjusted[place] > level else "better" if difference > 0.0 else "worse"
            ends = difference - half, difference + half
            pair = EntryPair(first, second, difference, *ends, p[place], adjusted[place], verdict, "", metric)
        found.append(replace(pair, sentence=_words(pair, level)))
    return found


def _words(pair: EntryPair, level: float = LEVEL) -> str:
    """What a test found, from its own figures.

    >>> _words(EntryPair("a", "b", 0.021, 0.004, 0.039, 0.01, 0.02, "better", ""))
    'a is better than b by 2.1 points, 95 % interval 0.4 to 3.9'
    """
    if pair.low is None or pair.high is None:
        return f"there are too few rows to distinguish {pair.first} from {pair.second}"
    low, high, gap = (gap_written(one, pair.metric) for one in (pair.low, pair.high, pair.difference))
    unit, interval = unit_of(pair.metric), f"{100 * (1 - level):.3g} % interval {low} to {high}"
    if pair.verdict == "alike":
        return f"{pair.first} and {pair.second} cannot be distinguished: the difference is {gap} {unit}, {interval}"
    size = gap_written(abs(pair.difference), pair.metric)
    return f"{pair.first} is {pair.verdict} than {pair.second} by {size} {unit}, {interval}"


def _summary(pairs: Sequence[EntryPair], names: Sequence[str], where: str) -> str:
    """What the tests say about the first name, which is the best where the names are in the order of their ranks."""
    mine = [pair for pair in pairs if pair.first == names[0]]
    if len(mine) == 1:
        return f"Over {where}: {mine[0].sentence}{_advice(mine)}."
    counts = {verdict: [pair for pair in mine if pair.verdict == verdict] for verdict in ("better", "alike", "too few")}
    parts = [f"{names[0]} is better than {len(counts['better']) or 'none'} of the {len(mine)} others"]
    if counts["alike"]:
        parts.append(f"cannot be distinguished from {len(counts['alike'])} of them")
    if counts["too few"]:
        parts.append(f"there are too few rows to distinguish it from {len(counts['too few'])} of them{_advice(mine)}")
    answered = [pair for pair in mine if pair.verdict != "too few"]
    closest = min(answered, key=lambda pair: abs(pair.difference), default=None)
    return f"Over {where}: {', '.join(parts)}{'' if closest is None else f'; {closest.sentence}'}."


def _advice(pairs: Sequence[EntryPair]) -> str:
    if all(pair.verdict != "too few" for pair in pairs):
        return ""
    return f" (the steps are worth fewer than {INDEPENDENT_STEPS} independent ones: give more rows, or smaller batches)"


# -- ranks over independent streams -----------------------------------------------------------------------------


def _ranked(found: Significance, table: Floats, names: Sequence[str]) -> Significance:
    """Add Friedman's test and Nemenyi's critical difference."""
    ranks = {name: float(rank) for name, rank in zip(names, average_ranks(table), strict=True)}
    alike = bool((table == table[:, :1]).all())  # the statistic would be 0 / 0
    p = 1.0 if alike else float(stats.friedmanchisquare(*table.T).pvalue)
    difference = critical_difference(len(names), len(table), found.level)
    head = f"Friedman's test of the ranks gives p = {p:.2g}"
    if p > found.level:
        groups = [sorted(ranks, key=lambda name: ranks[name])]
        words = f"{head}: nothing distinguishes the entries by their ranks."
    else:
        groups = groups_within(ranks, difference)
        words = f"{head}; average ranks that differ by more than {difference:.2f} are distinguished (Nemenyi)."
    sentence = f"{found.sentence} {words}"
    return replace(found, sentence=sentence, average_ranks=ranks, critical_difference=difference, groups=groups)


def average_ranks(scores: Floats) -> Floats:
    """The mean over streams of each entry's rank on the stream; 1 is best, equal scores share a rank.

    >>> average_ranks(np.array([[0.9, 0.8, 0.8], [0.7, 0.9, 0.8]])).tolist()
    [2.0, 1.75, 2.25]
    """
    return np.asarray(stats.rankdata(-scores, axis=1).mean(axis=0))


def critical_difference(n_entries: int, n_streams: int, level: float = LEVEL) -> float:
    """Nemenyi's: two average ranks further apart than this are distinguished.

    >>> round(critical_difference(4, 14), 2)  # the example of Demsar's paper
    1.25
    """
    q = stats.studentized_range.ppf(1.0 - level, n_entries, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_entries * (n_entries + 1) / (6.0 * n_streams)))


def groups_within(ranks: dict[str, float], difference: float) -> list[list[str]]:
    """The largest groups of two or more whose average ranks lie within the difference, best first.

    >>> groups_within({"a": 1.0, "b": 1.5, "c": 2.4, "d": 4.0}, 1.0)
    [['a', 'b'], ['b', 'c']]
    """
    order = sorted(ranks, key=lambda name: ranks[name])
    groups: list[list[str]] = []
    end = 0
    for first, name in enumerate(order):
        group = [other for other in order[first:] if ranks[other] - ranks[name] <= difference]
        if len(group) > 1 and first + len(group) > end:  # else the group before holds it
            groups.append(group)
            end = first + len(group)
    return groups
