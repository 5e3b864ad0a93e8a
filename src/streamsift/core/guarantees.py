"""How many features? As many as a guarantee allows: rules on p-values, like SelectFdr, SelectFwe and SelectFpr.

A rule is text, so that it can be saved and typed: "fdr", "fdr:0.05", "fwe:0.01", "fpr:0.05".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.05
KINDS = {
    "fdr": "false discovery rate",
    "fwe": "chance of any false selection",
    "fpr": "false positive rate",
}


class Guarantee(str):
    """A rule on p-values; the base of Fdr, Fwe and Fpr."""

    kind = ""

    def __new__(cls, level: float = LEVEL) -> Guarantee:
        return super().__new__(cls, f"{cls.kind}:{level:g}")


class Fdr(Guarantee):
    """At most this share of the selected features is useless, on average (Benjamini and Hochberg).

    Examples
    --------
    >>> from streamsift import Fdr, Screener
    >>> str(Fdr(0.1)), Screener(n_features_to_select=Fdr(0.1)).n_features_to_select
    ('fdr:0.1', 'fdr:0.1')
    """

    kind = "fdr"


class Fwe(Guarantee):
    """Any useless feature is selected with at most this probability (Bonferroni).

    Examples
    --------
    >>> from streamsift import Fwe
    >>> str(Fwe())
    'fwe:0.05'
    """

    kind = "fwe"


class Fpr(Guarantee):
    """Each useless feature is selected with at most this probability.

    Examples
    --------
    >>> from streamsift import Fpr
    >>> str(Fpr(0.01))
    'fpr:0.01'
    """

    kind = "fpr"


def parsed(text: str) -> tuple[str, float] | None:
    """The kind of a rule and its level; None where the text is no rule.

    >>> parsed("fdr"), parsed("fwe:0.01"), parsed("fdr:2"), parsed("ten")
    (('fdr', 0.05), ('fwe', 0.01), None, None)
    """
    kind, colon, number = text.partition(":")
    try:
        level = float(number) if colon else LEVEL
    except ValueError:
        return None
    return (kind, level) if kind in KINDS and 0.0 < level < 1.0 else None


def words(text: str) -> str:
    """A rule in words.

    >>> words("fdr:0.05")
    'false discovery rate 5 %'
    """
    kind, level = parsed(text) or ("fdr", LEVEL)
    return f"{KINDS[kind]} {100 * level:g} %"


def kept(text: str, p_values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which features a rule selects.

    >>> p = np.array([0.001, 0.011, 0.02, 0.045, 0.9])
    >>> [int(kept(rule, p).sum()) for rule in ("fdr", "fwe", "fpr")]
    [3, 1, 4]
    """
    kind, level = parsed(text) or ("fdr", LEVEL)
    n = len(p_values)
    if kind == "fpr":
        return p_values <= level
    if kind == "fwe":
        return p_values <= level / n
    in_order = np.sort(p_values)
    fine = np.flatnonzero(in_order <= level * np.arange(1, n + 1) / n)
    return p_values <= in_order[fine[-1]] if len(fine) else np.zeros(n, bool)


class IsGuarantee:
    """A rule on p-values, as text."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, str) and parsed(value) is not None

    def describe(self) -> str:
        return "a rule such as 'fdr:0.05', 'fwe:0.05' or 'fpr:0.05'"
