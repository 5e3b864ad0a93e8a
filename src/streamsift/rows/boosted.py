"""What boosted stumps have learnt: units in the order of their creation, the candidate behind them, drifts so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from streamsift.core.batch import CheckedBatch
from streamsift.core.state import Distinct, Finite, Shape, Sizes, Within
from streamsift.drift import Bank
from streamsift.kernels.number_stump import collect_rows, mark_number_errors
from streamsift.kernels.stump import Span, Track, boost_rows
from streamsift.rows.number_stump import NumberCandidate, NumberStumps, grow_numbers, in_unit
from streamsift.rows.stump import CandidateStump, Columns, Floats, Ints, Stumps, grow

KEPT_DRIFTS = 1000  # drifts_ holds the latest ones: memory must not grow with the stream


@dataclass
class BoostedStumps:
    """The state: units in the order of their creation, the candidate that follows them, and the drifts so far."""

    columns: Columns
    candidate: CandidateStump
    stumps: Stumps
    features: Annotated[Ints, Shape("n_units"), Within(0, "n_features - 1"), Distinct()]
    merits: Annotated[Floats, Shape("n_units"), Finite()]
    rows: Annotated[Ints, Shape("n_units"), Within(0, "n_rows_seen - 1")]
    correct: Annotated[Floats, Shape("n_units"), Within(0.0, 1e100)]
    wrong: Annotated[Floats, Shape("n_units"), Within(0.0, 1e100)]
    bank: Bank
    has_selected: bool
    last_event: Annotated[int, Within(0, "n_rows_seen")]  # rows before the last test or drift, that row included
    n_drifts: Annotated[int, Within(0, "n_rows_seen")]
    drift_rows: Annotated[Ints, Shape("n_kept_drifts"), Within(0, "n_rows_seen - 1")]
    drift_units: Annotated[Ints, Shape("n_kept_drifts"), Within(0, "n_features - 1")]
    drift_sizes: Annotated[Ints, Shape("n_kept_drifts"), Within(0, "n_features")]
    drift_features: Annotated[Ints, Shape("n_dropped"), Within(0, "n_features - 1")]
    # The features of the units that the last drift removed all at once, with their merits.
    kept_features: Annotated[Ints, Shape("n_kept"), Within(0, "n_features - 1"), Distinct()]
    kept_merits: Annotated[Floats, Shape("n_kept"), Finite()]
    objects: list[Any] = field(init=False, default_factory=list)  # detectors brought by the user, one per unit
    has_warned: bool = field(init=False, default=False)
    kept_drifts: int = field(init=False, default=KEPT_DRIFTS)  # how many are remembered

    def problem(self, sizes: Sizes) -> str | None:
        if len(self.features) and not self.has_selected:
            return "has_selected is not set, though there are units"
        if len(self.drift_rows) > self.n_drifts:
            return "drift_rows holds more drifts than n_drifts counts"
        return None if self.drift_sizes.sum() == len(self.drift_features) else "drift_features do not fit drift_sizes"

    def add_unit(self, feature: int, merit: float, row: int) -> None:
        self.features = np.append(self.features, feature)
        self.merits = np.append(self.merits, merit)
        self.rows = np.append(self.rows, row)
        self.correct, self.wrong = np.append(self.correct, 0.0), np.append(self.wrong, 0.0)
        self.has_selected = True

    def drop_units(self, first: int, row: int) -> None:
        """Remove a unit and all later ones, because it flagged a drift."""
        dropped = self.features[first:]
        if first == 0:
            self.kept_features, self.kept_merits = self.features.copy(), self.merits.copy()
        self.n_drifts += 1
        self.drift_rows = np.append(self.drift_rows, row)[-self.kept_drifts :]
        self.drift_units = np.append(self.drift_units, first)[-self.kept_drifts :]
        self.drift_sizes = np.append(self.drift_sizes, len(dropped))[-self.kept_drifts :]
        kept = int(self.drift_sizes.sum())
        self.drift_features = np.append(self.drift_features, dropped)[-kept:]
        for name in ("features", "merits", "rows", "correct", "wrong"):
            setattr(self, name, getattr(self, name)[:first].copy())
        self.bank.restart(first)
        del self.objects[first:]

    def mark(self, batch: CheckedBatch, span: Span, first_unit: int, errors: Floats) -> None:
        """The errors of the units from `first_unit` on, each in the rows of the span."""
        self.stumps.mark_errors(batch, self.columns, span, self.features, first_unit, errors)

    def boost(
        self, batch: CheckedBatch, span: Span, errors: Floats, alarm: Ints, grace_period: float
    ) -> tuple[int, int]:
        """Lead rows through the units into the candidate, up to an event: its row, and which it is."""
        track, layout, into = Track(self.correct, self.wrong), self.columns.layout(), self.candidate.collected()
        rows = (batch.X, batch.codes, weights_of(batch), span)
        return boost_rows(*rows, errors, alarm, track, layout, into, grace_period)

    def grow(self, needed: Ints, n_classes: int) -> None:
        """Make room for new classes and new codes of the categorical columns."""
        grow(self.columns, self.candidate, self.stumps, needed, n_classes)


@dataclass
class BoostedNumbers(BoostedStumps):
    """The same where the target is a number: `correct` and `wrong` are shares of the weight, by the size of errors."""

    # Fields that another class of the same use takes the place of: mypy allows only subclasses of what was there.
    candidate: NumberCandidate  # type: ignore[assignment]
    stumps: NumberStumps  # type: ignore[assignment]
    left: Floats = field(
        init=False, default_factory=lambda: np.zeros((0, 0))
    )  # of the targets of a block, unit by unit

    def mark(self, batch: CheckedBatch, span: Span, first_unit: int, errors: Floats) -> None:
        """As for classes; the units learn the rows, which they must be given once."""
        if first_unit == 0 and span.begin == span.first:
            self.left = in_unit(batch)[None, span.first : span.end]
        kept = self.left[: first_unit + 1]
        self.left = np.concatenate([kept, np.zeros((len(errors) - first_unit, kept.shape[1]))])
        stumps = self.stumps.frozen(self.columns)
        rows = (batch.X, weights_of(batch), span)
        mark_number_errors(*rows, self.features, first_unit, stumps, self.left, errors)

    def boost(
        self, batch: CheckedBatch, span: Span, errors: Floats, alarm: Ints, grace_period: float
    ) -> tuple[int, int]:
        """As for classes."""
        track, layout, into = Track(self.correct, self.wrong), self.columns.layout(), self.candidate.collected()
        rows = (batch.X, self.left[len(alarm)], weights_of(batch), span)
        return collect_rows(*rows, errors, alarm, track, layout, into, grace_period)

    def grow(self, needed: Ints, n_classes: int) -> None:
        """Make room for new codes of the categorical columns."""
        grow_numbers(self.columns, self.candidate, self.stumps, needed)


def weights_of(batch: CheckedBatch) -> Floats:
    """The weight of each row."""
    return np.ones(batch.n_rows) if batch.weight is None else batch.weight


def begin(columns: Columns, bank: Bank, n_classes: int | None) -> BoostedStumps:
    """Nothing learnt yet, of classes or (None) of numbers."""
    no_ints, no_floats = np.zeros(0, np.int64), np.zeros(0)
    rest: dict[str, Any] = {
        "features": no_ints,
        "merits": no_floats,
        "rows": no_ints,
        "correct": no_floats,
        "wrong": no_floats,
        "bank": bank,
        "has_selected": False,
        "last_event": 0,
        "n_drifts": 0,
        "drift_rows": no_ints,
        "drift_units": no_ints,
        "drift_sizes": no_ints,
        "drift_features": no_ints,
        "kept_features": no_ints,
        "kept_merits": no_floats,
    }
    if n_classes is None:
        return BoostedNumbers(columns, NumberCandidate.empty(columns), NumberStumps.none(columns), **rest)
    return BoostedStumps(columns, CandidateStump.empty(n_classes, columns), Stumps.none(columns), **rest)
