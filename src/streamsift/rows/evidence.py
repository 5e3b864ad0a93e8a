"""What the summaries of row selectors know about a feature: distribution by class, spread, gaps, correlations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamsift.core.categories import Names
from streamsift.core.vocabulary import FeatureVocabulary, LabelVocabulary
from streamsift.core.why import ClassSpread, Evidence, ValueBin
from streamsift.summaries.candidate_pool import CandidatePool
from streamsift.summaries.category_counts import CategoryTable
from streamsift.summaries.class_reading import ClassReading
from streamsift.summaries.cross_moments import FeatureCorrelations
from streamsift.summaries.mixed import MixedSummary
from streamsift.summaries.moments import ClassMoments, Moments, SparseClassMoments
from streamsift.summaries.target_correlations import TargetCorrelations

N_BINS = 10  # of equal rank, as far as equal values allow
MOST_CATEGORIES = 10  # shown by name; the others together
MOST_RELATED = 3
ALONE = "Each feature is scored by itself; correlations between features are not kept (Joint keeps them)."
NO_VALUES = "Means and standard deviations are kept, but no single values."

Floats = NDArray[np.float64]


def of_summary(
    reading: ClassReading, slot: int, labels: Sequence[str], names: Names, figures: tuple[tuple[str, float], ...]
) -> Evidence:
    """The evidence of a feature in a summary of numbers and categories; `names` are those behind category codes."""
    state = reading.summary
    places = np.flatnonzero(state.category_slots == slot)
    if len(places):
        return _of_categories(state, reading.table(int(places[0])), names.get(slot), figures)
    places = np.flatnonzero(state.number_slots == slot)
    if not len(places):
        return Evidence(missing=1.0, figures=figures, unknown=("It has had no value yet.", ALONE))
    place, numbers = int(places[0]), state.numbers
    if isinstance(numbers, ClassMoments | SparseClassMoments):
        moments = numbers.read(np.array([place]))
        weight = np.broadcast_to(moments.weight, (len(moments.mean), 1)).sum()
        spreads = _spreads(moments, labels)
        return Evidence((), spreads, _missing(state, weight), figures=figures, unknown=(NO_VALUES, ALONE))
    values, weights = reading.values(place)
    return Evidence(
        _value_bins(values, weights),
        (),
        _missing(state, float(weights.sum())),
        _examples(values, weights.sum(axis=1)),
        figures=figures,
        unknown=(ALONE,),
    )


def _spreads(moments: Moments, labels: Sequence[str]) -> tuple[ClassSpread, ...]:
    weight = np.broadcast_to(moments.weight, moments.mean.shape)[:, 0]
    return tuple(
        ClassSpread(label, float(moments.mean[c, 0]), float(np.sqrt(moments.m2[c, 0] / weight[c])))
        for c, label in enumerate(labels)
        if c < len(weight) and weight[c] > 0.0
    )


def _missing(state: MixedSummary, weight: float) -> float | None:
    """The share of the rows' weight in which the feature has no value."""
    if state.weight_sum <= 0.0:
        return None
    share = 1.0 - weight / state.weight_sum
    return float(np.clip(share, 0.0, 1.0)) if share > 1e-9 else 0.0


def _value_bins(values: Floats, weights: Floats) -> tuple[ValueBin, ...]:
    """Bins of equal weight; equal values share one, so there may be fewer.

    >>> [one.text for one in _value_bins(np.array([0.0, 1.0, 2.0]), np.array([[8.0], [1.0], [1.0]]))]
    ['0', '1', '2']
    """
    total = weights.sum(axis=1)
    whole = float(total.sum())
    if whole <= 0.0:
        return ()
    middle = np.cumsum(total) - total / 2.0
    numbers = np.minimum((middle / whole * N_BINS).astype(int), N_BINS - 1)
    found = []
    for number in np.unique(numbers):
        inside = numbers == number
        low, high = values[inside][0], values[inside][-1]
        text = _number(low) if low == high else f"{_number(low)} to {_number(high)}"
        found.append(ValueBin(text, tuple(weights[inside].sum(axis=0).tolist())))
    return tuple(found)


def _number(value: float) -> str:
    return f"{value:.4g}"


def _examples(values: Floats, weights: Floats) -> tuple[str, ...]:
    """The least value, the quartiles and the largest, without repetition."""
    if not len(values) or weights.sum() <= 0.0:
        return ()
    ranks = np.cumsum(weights) / weights.sum()
    places = [0, *np.searchsorted(ranks, [0.25, 0.5, 0.75]).tolist(), len(values) - 1]
    return tuple(dict.fromkeys(_number(values[min(place, len(values) - 1)]) for place in places))


def _of_categories(
    state: MixedSummary, table: CategoryTable, names: Sequence[str] | None, figures: tuple[tuple[str, float], ...]
) -> Evidence:
    """The most frequent categories by name, the others together."""
    totals = table.weights.sum(axis=1)
    order = np.argsort(-totals, kind="stable")
    shown = [int(k) for k in order[:MOST_CATEGORIES] if totals[k] > 0.0]
    texts = [_category(int(table.codes[k]), names) for k in shown]
    bins = [ValueBin(text, tuple(table.weights[k].tolist())) for text, k in zip(texts, shown, strict=True)]
    rest = table.other + table.weights[order[MOST_CATEGORIES:]].sum(axis=0)
    if rest.any():
        bins.append(ValueBin("all others", tuple(rest.tolist())))
    weight = float(totals.sum() + table.other.sum())
    return Evidence(tuple(bins), (), _missing(state, weight), tuple(texts[:5]), figures=figures, unknown=(ALONE,))


def _category(code: int, names: Sequence[str] | None) -> str:
    return names[code] if names is not None and code < len(names) else str(code)


def of_target(state: TargetCorrelations, columns: Sequence[int], figures: tuple[tuple[str, float], ...]) -> Evidence:
    """The evidence of a feature beside a number to explain; categories have several columns."""
    weight = float(state.all_weight)
    if len(columns) != 1:
        spread = f"It is kept as {len(columns):,} columns of 0 and 1, one per category, without their distribution."
        return Evidence(figures=figures, unknown=(spread, ALONE))
    place = columns[0]
    own = float(state.weight[place])
    spreads: tuple[ClassSpread, ...] = ()
    if own > 0.0:
        spreads = (ClassSpread("all rows", float(state.mean[place]), float(np.sqrt(state.square[place] / own))),)
    missing = max(1.0 - own / weight, 0.0) if weight > 0.0 else None
    signed = (("correlation with the target", float(state.correlations()[place])), *figures)
    return Evidence((), spreads, missing, figures=signed, unknown=(NO_VALUES, ALONE))


def of_pool(
    state: CandidatePool,
    terms: Mapping[str, tuple[int, ...]],
    slot: int,
    ranking: NDArray[np.intp],
    features: FeatureVocabulary,
    labels: LabelVocabulary,
) -> Evidence:
    """The evidence of a feature whose cross moments are kept.

    `terms` are the columns of the pool by name, each with the features it is made of: one, or two of a product.
    """
    own = [place for place, term in enumerate(terms.values()) if term == (slot,)]
    if not own:
        return Evidence(unknown=("It is not among the candidates whose correlations are kept.",))
    found, texts = state.cross.read(), list(terms)
    classes = [] if state.numeric else [str(label) for label in labels.labels]
    near: dict[int, float] = {}
    for place, term in enumerate(terms.values()):
        if len(term) == 1 and ranking[term[0]] < ranking[slot]:
            values = found.features[own, place]
            value = float(values[np.argmax(np.abs(values))])
            near[term[0]] = max(near.get(term[0], 0.0), value, key=abs)
    nearest = sorted(near.items(), key=lambda one: -abs(one[1]))[:MOST_RELATED]
    related = tuple((features.name(feature), value) for feature, value in nearest)
    means = _class_means(found, own) if classes else np.zeros((len(own), 0))
    if len(own) > 1 or texts[own[0]] != features.name(slot):
        weights = means * found.target_mean * state.cross.all_weight
        parts = [texts[place].removeprefix(f"{features.name(slot)}=") for place in own]
        return Evidence(_largest_bins(parts, weights), examples=tuple(parts[:5]), related=related)
    place = own[0]
    whole = ClassSpread("all rows", float(found.feature_mean[place]), float(found.feature_scale[place]))
    by_class = (ClassSpread(label, float(mean), None) for label, mean in zip(classes, means[0], strict=False))
    figures = (("correlation with the target", float(found.targets[place, 0])),) if state.numeric else ()
    weight = state.cross.weight
    missing = 1.0 - float(weight[place, place]) / state.cross.all_weight if state.cross.gaps else 0.0
    return Evidence((), (whole, *by_class), max(missing, 0.0), (), related, figures, (NO_VALUES,))


def _class_means(found: FeatureCorrelations, places: Sequence[int]) -> Floats:
    """The mean of each column within each class, from its covariance with the 0 and 1 of the class."""
    share = found.target_mean
    covariance = found.targets[places] * found.feature_scale[places, None] * found.target_scale
    inverse = np.divide(1.0, share, out=np.zeros_like(share), where=share > 0.0)
    return np.asarray(found.feature_mean[places, None] + covariance * inverse)


def _largest_bins(texts: Sequence[str], weights: Floats) -> tuple[ValueBin, ...]:
    """The most frequent categories, the others together; none where the target has no classes."""
    if not weights.shape[1]:
        return ()
    weights = np.maximum(weights, 0.0)
    order = np.argsort(-weights.sum(axis=1), kind="stable")
    bins = [ValueBin(texts[k], tuple(weights[k].tolist())) for k in order[:MOST_CATEGORIES]]
    rest = weights[order[MOST_CATEGORIES:]].sum(axis=0)
    return (*bins, ValueBin("all others", tuple(rest.tolist()))) if rest.any() else tuple(bins)
