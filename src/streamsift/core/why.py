"""Why a feature is selected or not: what a selector's own summary knows about it, without a second look at the data.

`selector.explain(name)` returns a FeatureExplanation. What a method can tell depends on what it keeps, so each method
gives its `Evidence`; what it cannot tell is said in words rather than left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import UnknownNameError
from streamsift.core.guard import one_thread
from streamsift.core.pictures import InNotebook, picture
from streamsift.core.selection import rank_scores

MOST_SELECTED, MOST_REJECTED = 12, 4  # features that `explain_leaders` tells about

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ValueBin:
    """Some values of a feature, in words, and how much each class weighs there."""

    text: str
    weights: tuple[float, ...]


@dataclass(frozen=True)
class ClassSpread:
    """Mean and standard deviation of a feature within a class, or over all rows; None where only the mean is kept."""

    label: str
    mean: float
    deviation: float | None


@dataclass(frozen=True)
class Evidence:
    """What a method knows about a feature.

    bins: the distribution by class. spreads: mean and spread by class. missing: the share of the rows without a value.
    examples: values that occur. related: better features and the correlation with them, nearest first. figures: other
    numbers by name. unknown: sentences on what the method does not keep.
    """

    bins: tuple[ValueBin, ...] = ()
    spreads: tuple[ClassSpread, ...] = ()
    missing: float | None = None
    examples: tuple[str, ...] = ()
    related: tuple[tuple[str, float], ...] = ()
    figures: tuple[tuple[str, float], ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class FeatureExplanation:
    """Why a feature is selected, or not. Printed it is a few lines; a notebook shows its distribution as bars.

    `threshold` is the score of the last selected feature (of the first rejected one, where the feature is selected);
    None where there is no such feature.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import Screener
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = rng.normal(size=(400, 3)) + np.outer(y, [0.0, 2.0, 0.0])
    >>> why = Screener(n_features_to_select=1).partial_fit(X, y).explain("x1")
    >>> why.selected, why.rank, len(why.evidence.bins), why.evidence.missing
    (True, 1, 10, 0.0)
    >>> print(why)  # doctest: +ELLIPSIS
    x1 is selected: rank 1 of 3, score 0.35... (the next is 0.0...).
    ...
    """

    name: str
    index: int
    selected: bool
    rank: int
    score: float
    threshold: float | None
    n_features: int
    n_rows_seen: int
    classes: tuple[str, ...]
    evidence: Evidence

    def sentence(self) -> str:
        """Whether it is selected, in words."""
        how = "is selected" if self.selected else "is not selected"
        other = "the next is" if self.selected else "the last selected has"
        beside = "" if self.threshold is None else f" ({other} {self.threshold:.4g})"
        return f"{self.name} {how}: rank {self.rank:,} of {self.n_features:,}, score {self.score:.4g}{beside}."

    def lines(self) -> list[str]:
        """What else is known, one sentence each."""
        found, known = [], self.evidence
        if known.spreads:
            found.append(f"Mean and standard deviation: {', '.join(_spread(one) for one in known.spreads)}.")
        if known.figures:
            found.append(f"{'; '.join(f'{name} {value:.4g}' for name, value in known.figures)}.")
        if known.related:
            parts = ", ".join(f"{name} {value:.2f}" for name, value in known.related)
            found.append(f"Correlation with better features: {parts}.")
        if known.missing is not None:
            found.append(f"Missing in {known.missing:.1%} of the rows.")
        if known.examples:
            found.append(f"Values such as {', '.join(known.examples)}.")
        return [*found, *known.unknown]

    def __str__(self) -> str:
        return "\n".join([self.sentence(), *self.lines()])

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON; an infinite score is the text "inf"."""
        found = asdict(self)
        for key in ("score", "threshold"):
            value = found[key]
            found[key] = value if value is None or np.isfinite(value) else str(value)
        return found

    def _repr_html_(self) -> str:
        text: str = picture("why:html", self.as_dict())
        return text


class Explains(InNotebook):
    """`explain` for row selectors; a method that keeps something overrides `_evidence`."""

    notebook_picture = "reprs:selector"

    def _evidence(self, slot: int) -> Evidence:
        """What is known about a feature besides its score."""
        return Evidence(unknown=(f"{type(self).__name__} keeps nothing about single features but their scores.",))

    def _class_names(self) -> tuple[str, ...]:
        """The classes that `Evidence` tells apart, in words."""
        selector: Any = self
        return tuple(str(label) for label in selector._labels.labels)

    @one_thread
    def explain(self, feature: str | int) -> FeatureExplanation:
        """Say why a feature is selected or not, from what the selector keeps.

        Parameters
        ----------
        feature : str or int
            Its name, or its column.

        Returns
        -------
        FeatureExplanation

        Examples
        --------
        >>> from streamsift import Screener
        >>> selector = Screener("t_score", n_features_to_select=1).fit([[0.0, 5.0], [1.0, 5.1], [0.1, 5.1]], [0, 1, 0])
        >>> selector.explain("x1").selected
        False
        """
        selector: Any = self
        selector._refuse_unfitted()
        return _Standing.of(selector).explained(selector, _slot(selector, feature))

    @one_thread
    def explain_leaders(self) -> list[FeatureExplanation]:
        """The explanations of the best selected features and of the nearest rejected ones."""
        selector: Any = self
        selector._refuse_unfitted()
        standing = _Standing.of(selector)
        slots = [*standing.chosen[:MOST_SELECTED], *standing.rejected[:MOST_REJECTED]]
        return [standing.explained(selector, int(slot)) for slot in slots]


class _Standing(NamedTuple):
    """All scores at one moment: the selected features and the others, each the best first."""

    scores: Floats
    order: NDArray[np.intp]
    chosen: NDArray[np.intp]
    rejected: NDArray[np.intp]

    @classmethod
    def of(cls, selector: Any) -> _Standing:
        scores, chosen = selector.scores_, selector._chosen()
        order = rank_scores(scores)
        out = np.ones(len(order), bool)
        out[chosen] = False
        return cls(scores, order, chosen, order[out[order]])

    def explained(self, selector: Any, slot: int) -> FeatureExplanation:
        selected = bool((self.chosen == slot).any())
        beside = self.rejected[:1] if selected else self.chosen[-1:]
        return FeatureExplanation(
            selector._features.name(slot),
            slot,
            selected,
            int(np.flatnonzero(self.order == slot)[0]) + 1,
            float(self.scores[slot]),
            float(self.scores[beside[0]]) if len(beside) else None,
            len(self.scores),
            selector.n_rows_seen_,
            selector._class_names(),
            selector._evidence(slot),
        )


def _spread(one: ClassSpread) -> str:
    """A spread in words.

    >>> _spread(ClassSpread("yes", 0.25, 1.5)), _spread(ClassSpread("no", 2.0, None))
    ('yes: 0.25 ± 1.5', 'no: 2')
    """
    return f"{one.label}: {one.mean:.4g}" + ("" if one.deviation is None else f" ± {one.deviation:.3g}")


def _slot(selector: Any, feature: str | int) -> int:
    """The place of a feature that is given by its name or its place."""
    n_features = selector._features.n_features
    if isinstance(feature, int | np.integer) and 0 <= feature < n_features:
        return int(feature)
    names: Sequence[str] = [selector._features.name(k) for k in range(n_features)]
    if feature in names:
        return names.index(str(feature))
    raise UnknownNameError("feature", str(feature), names)
