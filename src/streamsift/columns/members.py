"""How a block passes a selection that keeps its selected columns: each newcomer is compared with them.

A column that does not depend on the class by itself, or is constant, is rejected without further ado; a block of them
costs one pass. For every other one a rule decides what stays of the selected columns, and whether it joins them.

With two tests at hand, one for codes and one for numbers, columns are compared as codes until the first column arrives
that is no code; from then on everything, selected columns included, is compared as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from streamsift.columns.independence import MOST_CATEGORIES, PairOfTests, Relations, Separation, TestedColumn, are_codes
from streamsift.core.column_data import ColumnBlock, Floats, Target
from streamsift.core.exceptions import InputError
from streamsift.core.limits import LARGEST
from streamsift.core.selection import Decisions
from streamsift.core.state import Finite, Shape, Sizes, Within

TILE_BYTES = 1 << 20  # what stays in the cache between two passes over it


@dataclass(frozen=True)
class ColumnVerdict:
    """What a rule says of a newcomer: which selected columns stay, whether it joins, and the comparison that decided.

    `because_of` are the positions of the selected columns that make it redundant.
    """

    kept: NDArray[np.bool_]
    accepted: bool
    statistic: float
    threshold: float
    because_of: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def joins(cls, kept: NDArray[np.bool_], newcomer: TestedColumn) -> ColumnVerdict:
        return cls(kept, True, newcomer.statistic, newcomer.threshold)

    @classmethod
    def separated(cls, kept: NDArray[np.bool_], by: Separation) -> ColumnVerdict:
        return cls(kept, False, by.statistic, by.threshold, by.given)


Rule = Callable[[Any, TestedColumn], ColumnVerdict]


@dataclass
class MemberState:
    """The target, as numbers and as class codes (none for numbers), and the selected columns, one per row."""

    numbers: Annotated[Floats, Shape("n_rows"), Finite()]
    classes: Annotated[NDArray[np.int64], Shape((0, "n_rows")), Within(0, "n_classes - 1")]
    as_codes: bool  # whether columns are compared as codes
    categorical: Annotated[NDArray[np.bool_], Shape("n_members")]
    columns: Annotated[Floats, Shape("n_members", "n_rows"), Finite(LARGEST)]
    relations: Any = field(init=False, default=None)  # the selected columns as the test sees them; made from `columns`

    def problem(self, sizes: Sizes) -> str | None:
        return "as_codes is set, but classes is empty" if self.as_codes and not len(self.classes) else None

    @classmethod
    def begin(cls, target: Target, tests: PairOfTests) -> MemberState:
        n = target.n_rows
        classes = np.empty(0, np.int64) if target.labels is None else target.values.astype(np.int64)
        n_classes = 0 if target.labels is None else len(target.labels)
        as_codes = tests.of_numbers is None or (tests.of_codes is not None and 0 < n_classes <= MOST_CATEGORIES)
        state = cls(numbers_of(target), classes, as_codes, np.empty(0, bool), np.empty((0, n)))
        state.relations = _relate(state, tests, as_codes)
        return state


def numbers_of(target: Target) -> Floats:
    """The target as numbers: labels that are numbers stand for themselves, others are numbered in sorted order."""
    if target.labels is None:
        return target.values
    labels = target.labels.as_array()
    if labels.dtype.kind not in "biuf":
        labels = np.argsort(np.argsort([str(label) for label in labels.tolist()]))
    return labels.astype(np.float64)[target.values.astype(np.intp)]


def decide_block(
    state: MemberState, block: ColumnBlock, names: Sequence[str], tests: PairOfTests, rule: Rule
) -> Decisions:
    """The decisions on a block; the state changes when all are made. `names` are those of the selected columns."""
    walk = _Walk(state, list(names), tests, rule, block)
    step = max(TILE_BYTES // (8 * block.values.shape[0]), 1)
    for start in range(0, block.n_columns, step):
        walk.judge(start, min(start + step, block.n_columns))
    # Nothing has failed: from here on the state changes.
    state.relations, state.as_codes = walk.relations, walk.as_codes
    if walk.accepted.any() or walk.dropped:  # else a rejected column would cost a copy of all selected columns
        state.columns = np.array(walk.columns).reshape(-1, len(state.numbers))
        state.categorical = np.array(walk.categorical, bool)
    return Decisions(
        block.names,
        walk.accepted,
        walk.statistic,
        walk.threshold,
        dropped=walk.by_place(walk.dropped),
        because_of=walk.by_place(walk.because_of),
    )


def begin_with(selector: Any, target: Target, weight: Floats) -> MemberState:
    """`_begin` of a selector that has `_tests`."""
    return MemberState.begin(target, selector._tests())


def decide_with(selector: Any, state: MemberState, block: ColumnBlock) -> Decisions:
    """`_decide` of a selector that has `_tests` and a `_rule`."""
    return decide_block(state, block, selector._members.names.tolist(), selector._tests(), selector._rule)


def reject_with(selector: Any, state: MemberState, count: int) -> None:
    """`_reject` of a selector that has `_tests`: a rejected column leaves no trace."""


def problem_with(selector: Any, state: MemberState) -> str | None:
    """`_problem_of` of a selector that has `_tests`."""
    test = selector._tests().of_codes if state.as_codes else selector._tests().of_numbers
    return None if test is not None else f"'as_codes' is {state.as_codes}, for which test={selector.test!r} has no test"


class _Walk:
    """The selected columns while a block goes by."""

    def __init__(
        self, state: MemberState, names: list[str], tests: PairOfTests, rule: Rule, block: ColumnBlock
    ) -> None:
        self.tests, self.rule, self.block, self.names = tests, rule, block, names
        self.numbers, self.classes = state.numbers, state.classes
        self.as_codes = state.as_codes
        self.columns, self.categorical = list(state.columns), state.categorical.tolist()
        self.relations = _relate(state, tests, state.as_codes) if state.relations is None else state.relations
        count = block.n_columns
        self.accepted = np.zeros(count, bool)
        self.statistic, self.threshold = np.zeros(count), np.zeros(count)
        self.dropped: dict[int, tuple[str, ...]] = {}
        self.because_of: dict[int, tuple[str, ...]] = {}

    def judge(self, start: int, stop: int) -> None:
        """Judge the columns from start to stop."""
        values = self.block.values[:, start:stop]
        raw = np.array((values.toarray() if self.block.sparse else values).T, np.float64, order="C")
        while self.as_codes and self.tests.of_numbers is not None and start < stop:
            coded = are_codes(raw) | self._marks(start, stop)
            n_coded = len(raw) if coded.all() else int(np.argmin(coded))
            self._judge_tile(start, raw[:n_coded])
            start, raw = start + n_coded, raw[n_coded:]
            if start < stop:
                self._turn_to_numbers()
        if start < stop:
            self._judge_tile(start, raw)

    def _judge_tile(self, start: int, raw: Floats) -> None:
        stop = start + len(raw)
        if not self.as_codes:
            for k in np.flatnonzero(self._marks(start, stop)):
                _refuse_categories(raw[k], self.block.names[start + int(k)])
        alone = self.relations.alone(raw.copy(), self.block.names[start:stop])
        self.statistic[start:stop], self.threshold[start:stop] = alone.statistic, alone.threshold
        for k in np.flatnonzero(alone.relevant):
            place, newcomer = start + int(k), alone.candidate(int(k))
            verdict = self.rule(self.relations, newcomer)
            self.statistic[place], self.threshold[place] = verdict.statistic, verdict.threshold
            if len(verdict.because_of):
                self.because_of[place] = tuple(self.names[j] for j in verdict.because_of)
            if not verdict.accepted and verdict.kept.all():
                continue
            gone = np.flatnonzero(~verdict.kept)
            if len(gone):
                self.dropped[place] = tuple(self.names[j] for j in gone)
                for j in gone[::-1]:
                    del self.names[j], self.columns[j], self.categorical[j]
            if verdict.accepted:
                self.accepted[place] = True
                self.names.append(self.block.names[place])
                self.columns.append(raw[k].copy())
                self.categorical.append(self.block.is_categorical(place))
            self.relations = self.relations.after(verdict.kept, newcomer if verdict.accepted else None)

    def _marks(self, start: int, stop: int) -> NDArray[np.bool_]:
        marks = self.block.categorical
        return np.zeros(stop - start, bool) if marks is None else marks[start:stop]

    def _turn_to_numbers(self) -> None:
        for name, column, categorical in zip(self.names, self.columns, self.categorical, strict=True):
            if categorical:
                _refuse_categories(column, name)
        columns = np.array(self.columns).reshape(-1, len(self.numbers))
        state = MemberState(self.numbers, self.classes, False, np.array(self.categorical, bool), columns)
        self.as_codes, self.relations = False, _relate(state, self.tests, False)

    def by_place(self, names: dict[int, tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
        """One tuple for each column of the block, or nothing where all are empty."""
        return [names.get(place, ()) for place in range(self.block.n_columns)] if names else ()


def _relate(state: MemberState, tests: PairOfTests, as_codes: bool) -> Relations:
    """The selected columns as the test sees them, taken in one after the other."""
    relations: Relations = (tests.of_codes if as_codes else tests.of_numbers).relations(state.numbers, state.classes)
    if len(state.columns):
        alone = relations.alone(state.columns.copy(), [""] * len(state.columns))
        for k in range(len(state.columns)):
            relations = relations.after(np.ones(k, bool), alone.candidate(k))
    return relations


def _refuse_categories(column: Floats, name: str) -> None:
    distinct = len(np.unique(column))
    if distinct > 2:
        raise InputError(
            f"Column {name!r} holds {distinct} categories, which have no order that Fisher's z test could use: code it "
            "as several columns of 0 and 1, or set a test for categories."
        )
