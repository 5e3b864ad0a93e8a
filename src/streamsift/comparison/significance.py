"""Do the repeats distinguish two or more entries of a comparison, or is the difference chance?

Three or more entries: Friedman's test on their ranks within each repeat, and where it says that not all are alike,
Nemenyi's critical difference of average ranks. Two entries: Wilcoxon's signed-rank test. As Demsar (2006), Statistical
Comparisons of Classifiers over Multiple Data Sets, recommends, with repeats instead of data sets: the answer is
about these data only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from streamsift.core.exceptions import InputError

LEVEL = 0.05
FEWEST_REPEATS = 3  # below, no test can say anything
_EQUAL_WITHIN = 9  # decimals: sums of the same terms in another order are ties, not differences


@dataclass(frozen=True)
class Significance:
    """The outcome of a test.

    average_ranks: 1 is best. critical_difference: of average ranks (None for two entries). groups: names that the
    test does not distinguish, best first; a name may be in several groups, or in none.
    """

    kind: str
    p: float
    average_ranks: dict[str, float]
    critical_difference: float | None
    groups: list[list[str]]
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON."""
        return asdict(self)


def significance(scores: Any, names: Sequence[str]) -> Significance:
    """Test whether entries differ, from one score per entry in each repeat.

    Parameters
    ----------
    scores : array-like of shape (n_repeats, n_entries)
        Higher is better; at least 3 repeats and 2 entries.
    names : sequence of str
        One name per entry.

    Returns
    -------
    Significance

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.comparison.significance import significance
    >>> scores = np.random.default_rng(0).normal([0.9, 0.8, 0.7], 0.01, size=(10, 3))
    >>> test = significance(scores, ["a", "b", "c"])
    >>> test.kind, test.average_ranks["a"], test.groups
    ('friedman-nemenyi', 1.0, [['a', 'b'], ['b', 'c']])
    """
    table: NDArray[np.float64] = np.asarray(np.round(scores, _EQUAL_WITHIN), np.float64)
    if table.ndim != 2 or table.shape[1] != len(names) or len(names) < 2 or len(table) < FEWEST_REPEATS:
        raise InputError(
            f"A test needs one score per entry, of 2 entries and {FEWEST_REPEATS} repeats at least. "
            f"Got an array of shape {table.shape} and {len(names)} names."
        )
    if not np.isfinite(table).all():
        raise InputError("A score is not a number: leave the entry or the repeat out.")
    ranks = average_ranks(table)
    named = {name: float(rank) for name, rank in zip(names, ranks, strict=True)}
    return _wilcoxon(table, named) if len(names) == 2 else _friedman(table, named)


def average_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over repeats of each entry's rank in the repeat; 1 is best, equal scores share a rank.

    >>> average_ranks(np.array([[0.9, 0.8, 0.8], [0.7, 0.9, 0.8]])).tolist()
    [2.0, 1.75, 2.25]
    """
    return np.asarray(stats.rankdata(-scores, axis=1).mean(axis=0))


def critical_difference(n_entries: int, n_repeats: int, level: float = LEVEL) -> float:
    """Nemenyi's: two average ranks that differ by more than this differ significantly.

    >>> round(critical_difference(4, 14), 2)  # the example of Demsar's paper
    1.25
    """
    q = stats.studentized_range.ppf(1.0 - level, n_entries, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_entries * (n_entries + 1) / (6.0 * n_repeats)))


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


def _friedman(table: NDArray[np.float64], ranks: dict[str, float]) -> Significance:
    n_repeats, n_entries = table.shape
    alike = bool((table == table[:, :1]).all())  # the statistic would be 0 / 0
    p = 1.0 if alike else float(stats.friedmanchisquare(*table.T).pvalue)
    difference = critical_difference(n_entries, n_repeats)
    head = f"Friedman's test over {n_repeats} repeats of {n_entries} entries gives p = {p:.2g}"
    if p > LEVEL:
        groups = [sorted(ranks, key=lambda name: ranks[name])]
        sentence = f"{head}: the entries are not distinguishable."
    else:
        groups = groups_within(ranks, difference)
        sentence = (
            f"{head}: not all are alike, and those whose average ranks differ by more than {difference:.2f} are "
            "distinguishable (Nemenyi)."
        )
    return Significance("friedman-nemenyi", p, ranks, difference, groups, sentence)


def _wilcoxon(table: NDArray[np.float64], ranks: dict[str, float]) -> Significance:
    gaps = table[:, 0] - table[:, 1]
    # Zeros are dropped; without ties among the others the distribution is the exact one.
    p = float(stats.wilcoxon(gaps).pvalue) if gaps.any() else 1.0
    least = 0.5 ** (len(table) - 1)
    sentence = f"Wilcoxon's test over {len(table)} repeats gives p = {p:.2g}: "
    if p <= LEVEL:
        sentence += "the two are distinguishable."
    elif least > LEVEL:
        sentence += f"so few repeats can give no p below {least:.2g}, so run 6 or more to distinguish two entries."
    else:
        sentence += "the two are not distinguishable."
    groups = [] if p <= LEVEL else [sorted(ranks, key=lambda name: ranks[name])]
    return Significance("wilcoxon", p, ranks, None, groups, sentence)
