"""The time a comparison may take: what each entry will cost, and which runs still fit.

Before the first run, entries that may be expensive run on a few hundred rows in a process of their own (a pilot), on
twice as many while that is quick, and on no more once a pilot takes longer than `ENOUGH`; the seconds are extrapolated
to all rows by the order of the method: linear in the rows, or quadratic where neighbourhoods are compared. A pilot that
does not end within `LONGEST_PILOT` is ended, and the entry costs at least what follows from that. All pilots together
take a quarter of the budget at most.

Cheap entries come first. An entry that would not fit into what is left is left out, with the estimate. Repeats are
dropped before entries: the next repeat begins only where all of it fits. Baselines always begin. Runs that were found
in the folder cost nothing.

A run that takes longer than was thought is stopped at the end of the budget, or a little later (`TOLERANCE`), for
figures over some of the rows cannot be compared with figures over all: its entry is left out where it was the first
repeat, else the repeat does not count. Only the most frequent class, which costs next to nothing, always ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import monotonic, perf_counter
from typing import Any

from streamsift import catalog
from streamsift.comparison.methods import WITHOUT_FEATURES, split_name
from streamsift.comparison.plan import ComparedEntry, ComparedRun, ComparisonPlan
from streamsift.comparison.protocols import Work, run_protocol
from streamsift.runs.workers import timed

DEFAULT = 900.0  # seconds
QUADRATIC = ("ofs_density", "ofs_a3m")  # every row is compared with every other
FEW_ROWS = 300  # of the first pilot
ENOUGH = 0.25  # seconds: a pilot that takes as long says enough
LONGEST_PILOT = 20.0  # seconds
PILOT_SHARE = 0.25  # of the budget
TOLERANCE = 0.05  # of the budget, for runs that have begun
SMALL = 500_000  # values of the data: an entry of linear order needs no pilot below
FEW_PAIRS = 1_500  # rows: one of quadratic order needs none below
FEW_CLASSES = 3  # likewise one with a grid over the classes


def in_words(seconds: float) -> str:
    """A rough time for people.

    >>> [in_words(seconds) for seconds in (0.4, 42.0, 300.0, 5000.0, 15000.0, 400000.0)]
    ['1 s', '42 s', '5 min', '83 min', '4.2 h', '4.6 days']
    """
    if seconds < 100.0:
        return f"{max(math.ceil(seconds), 1)} s"
    if seconds < 6000.0:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800.0 else f"{seconds / 86_400:.1f} days"


@dataclass(frozen=True)
class LeftOut:
    """Why an entry was left out, and how many seconds it would take."""

    reason: str
    estimate: float | None


@dataclass(frozen=True)
class Cost:
    """Seconds that an entry takes for one run. at_least: the pilot did not end, and this is the least."""

    seconds: float
    at_least: bool = False


# -- estimates --------------------------------------------------------------------------------------------------


def order_of(entry: ComparedEntry, made: Any = None) -> int:
    """The power of the number of rows with which the time of a method grows.

    >>> order_of(ComparedEntry("ofs_density", "naive_bayes")), order_of(ComparedEntry("fires", "naive_bayes"))
    (2, 1)
    """
    if made is not None:
        quadratic = {catalog.entry(name).target for name in QUADRATIC}
        return 2 if f"{type(made).__module__}:{type(made).__name__}" in quadratic else 1
    return 2 if split_name(entry.method)[0] in QUADRATIC else 1


def may_be_expensive(plan: ComparisonPlan, entry: ComparedEntry) -> bool:
    """Whether a pilot is worth its time."""
    facts = plan.survey
    if order_of(entry, plan.objects.get(entry.method)) > 1 and facts.n_rows > FEW_PAIRS:
        return True
    if entry.treated.grows_with_classes and facts.n_classes > FEW_CLASSES:
        return True
    return facts.n_rows * facts.n_features > SMALL


def extrapolated(pilots: Sequence[tuple[int, float]], n_rows: int, order: int) -> float:
    """Seconds for all rows, from pilots of so many rows that took so many seconds.

    What does not grow with the rows (a grid, the columns) is told from what does by the last two pilots.

    >>> extrapolated([(100, 1.0)], 1000, 1), extrapolated([(100, 1.0)], 1000, 2)
    (10.0, 100.0)
    >>> extrapolated([(100, 1.0), (200, 1.0)], 1000, 1), extrapolated([(100, 2.0), (200, 3.0)], 1000, 1)
    (1.0, 11.0)
    """
    rows, seconds = pilots[-1]
    growth = float(n_rows) ** order
    if len(pilots) == 1:
        return seconds * growth / float(rows) ** order
    before, shorter = pilots[-2]
    slope = max(seconds - shorter, 0.0) / (float(rows) ** order - float(before) ** order)
    slope = min(slope, seconds / float(rows) ** order)
    return seconds + slope * (growth - float(rows) ** order)


def pilot(work: Work, entry: ComparedEntry, progress: Callable[[float], None]) -> list[tuple[int, float]]:
    """Run an entry on a few rows, and on twice as many while that is quick; returns rows and seconds."""
    plan, pilots = work.plan, list[tuple[int, float]]()
    rows = min(max(FEW_ROWS, 3 * plan.batch_size), plan.survey.n_rows)
    run_protocol(_on_few(plan, rows), ComparedRun(entry, 0))  # what is imported and compiled is no part of it
    while True:
        start = perf_counter()
        run_protocol(_on_few(plan, rows), ComparedRun(entry, 0))
        pilots.append((rows, perf_counter() - start))
        progress(float(rows))
        if rows == plan.survey.n_rows or pilots[-1][1] > ENOUGH:
            return pilots
        rows = min(2 * rows, plan.survey.n_rows)


def _on_few(plan: ComparisonPlan, rows: int) -> Work:
    return Work(replace(plan, source=replace(plan.source, rows=rows)))


def estimate(plan: ComparisonPlan, entries: Iterable[ComparedEntry], seconds: float) -> dict[ComparedEntry, Cost]:
    """What each entry costs, by pilots in another process.

    Entries whose pilot fails, or did not begin before the time was up, are not in it: their run tells.

    Parameters
    ----------
    plan : ComparisonPlan
    entries : iterable of ComparedEntry
    seconds : float
        That all pilots together may take.
    """
    found: dict[ComparedEntry, Cost] = {}
    n_rows = plan.survey.n_rows
    # Those that may take longest first: where time is up before all pilots have run, the others are linear.
    dangerous = sorted(entries, key=lambda entry: (-order_of(entry, plan.objects.get(entry.method)), entry.kind))
    for entry, pilots, reached in timed(pilot, Work(plan), dangerous, LONGEST_PILOT, seconds):
        order = order_of(entry, plan.objects.get(entry.method))
        if pilots is not None:
            found[entry] = Cost(extrapolated(pilots, n_rows, order))
        elif reached is not None:  # it was ended: reached is the rows of the last pilot that did end, 0 for none
            rows = 2 * int(reached) or min(max(FEW_ROWS, 3 * plan.batch_size), n_rows)
            found[entry] = Cost(extrapolated([(min(rows, n_rows), LONGEST_PILOT)], n_rows, order), at_least=True)
    return found


# -- what still fits --------------------------------------------------------------------------------------------


class Allowance:
    """Which runs of a plan may begin.

    Parameters
    ----------
    plan : ComparisonPlan
    seconds : float or None
        For everything; None admits every run.
    jobs : int, default 1
        Processes side by side.
    clock : callable
        Seconds that only grow.
    start : float, optional
        When the time began, by the clock; by default now.

    Attributes
    ----------
    left_out : dict from the name of an entry to LeftOut
    repeats : int
        How many repeats were begun, or will be.
    """

    def __init__(
        self,
        plan: ComparisonPlan,
        seconds: float | None,
        jobs: int = 1,
        clock: Callable[[], float] = monotonic,
        start: float | None = None,
    ) -> None:
        self.plan, self.seconds, self.left_out, self.repeats = plan, seconds, dict[str, LeftOut](), plan.repeats
        self._jobs, self._clock, self._start = jobs, clock, clock() if start is None else start
        self._stopped_repeat: int | None = None
        self._costs: dict[ComparedEntry, Cost] = {}
        self._began: dict[ComparedRun, float] = {}
        self._took: dict[ComparedEntry, float] = {}
        self._done: set[ComparedRun] = set()
        self._checked_repeats = {0}

    def prepare(self, done: Iterable[ComparedRun]) -> list[ComparedRun]:
        """Estimate, leave out what does not fit, and return the runs that are to be done, cheap ones first."""
        self._done = set(done)
        waiting = [run for run in self.plan.runs() if run not in self._done]
        if self.seconds is None:
            return waiting
        known = {run.entry for run in self._done}
        unsure = [
            entry
            for entry in dict.fromkeys(run.entry for run in waiting)
            if entry not in known and not entry.treated.baseline and may_be_expensive(self.plan, entry)
        ]
        self._costs = estimate(self.plan, unsure, self.seconds * PILOT_SHARE) if unsure else {}
        for entry in unsure:  # one of them might take hours, and leave no time for the others
            if entry not in self._costs and order_of(entry, self.plan.objects.get(entry.method)) > 1:
                reason = (
                    f"its time could not be estimated, and it grows with the square of {self.plan.survey.n_rows:,} rows"
                )
                self.left_out[entry.name] = LeftOut(reason, None)
        left = self.seconds * self._jobs
        for entry in sorted((entry for entry in self.plan.entries if entry not in known), key=self._cost):
            left -= self._cost(entry)
            if not entry.treated.baseline and (left < 0.0 or self._cost(entry) > self._remaining()):
                self._leave_out(entry)
                left += self._cost(entry)
        order = {entry: place for place, entry in enumerate(sorted(self.plan.entries, key=self._rank))}
        return sorted(waiting, key=lambda run: (run.repeat, order[run.entry]))

    def admit(self, run: ComparedRun) -> bool:
        """Whether a run may begin now; asked once per run, just before."""
        if self.seconds is None:
            return True
        if run.entry.name in self.left_out or run.repeat >= self.repeats:
            return False
        if run.repeat not in self._checked_repeats:
            self._checked_repeats.add(run.repeat)
            if self._repeat_cost() > self._remaining():
                self.repeats = run.repeat
                return False
        late = not run.entry.treated.baseline and self._cost(run.entry) > self._remaining()
        if late and run.repeat == 0:
            self._leave_out(run.entry)
            return False
        self._began[run] = self._clock()
        return True

    def left(self, run: ComparedRun) -> float:
        """Seconds that a run that has begun may still take."""
        if self.seconds is None or (run.entry.method in WITHOUT_FEATURES.values() and run.repeat == 0):
            return math.inf
        return self._remaining() + TOLERANCE * self.seconds

    def stopped(self, run: ComparedRun, fraction: float) -> None:
        """A run was stopped, because the time was up, when so much of it was done."""
        n_rows = self.plan.survey.n_rows
        if run.repeat > 0:
            self.repeats = min(self.repeats, run.repeat)
            self._stopped_repeat = self.repeats
            return
        rows = int(fraction * n_rows)
        done = f"stopped after {rows:,} of {n_rows:,} rows" if rows else "stopped before it had tested a row"
        took = self._clock() - self._began.get(run, self._start)
        reason = f"{done}, when the time was up; the budget is {in_words(self.seconds or 0.0)} (--budget)"
        self.left_out[run.entry.name] = LeftOut(reason, took / fraction if fraction > 0.0 else None)

    def finished(self, run: ComparedRun) -> None:
        """A run has come to its end."""
        if run in self._began:
            self._took[run.entry] = self._clock() - self._began[run]

    def admitted(self) -> list[ComparedRun]:
        """The runs of the plan that were done before, or fit into the budget."""
        return [
            run
            for run in self.plan.runs()
            if run in self._done or (run.entry.name not in self.left_out and run.repeat < self.repeats)
        ]

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON."""
        return {
            "seconds": self.seconds,
            "repeats": self.repeats,
            "estimates": {entry.name: cost.seconds for entry, cost in self._costs.items()},
            "sentence": self.sentence(),
        }

    def sentence(self) -> str:
        """What was dropped for want of time, if anything."""
        if self.seconds is None or self.repeats == self.plan.repeats:
            return ""
        if self._stopped_repeat == self.repeats:
            return (
                f"{self.repeats} of {self.plan.repeats} repeats were finished: the next was stopped when the budget of "
                f"{in_words(self.seconds)} was used up (--budget)."
            )
        return (
            f"{self.repeats} of {self.plan.repeats} repeats were begun: no more fit into the budget of "
            f"{in_words(self.seconds)} (--budget)."
        )

    def _remaining(self) -> float:
        return (self.seconds or math.inf) - (self._clock() - self._start)

    def _cost(self, entry: ComparedEntry) -> float:
        """Seconds for a run: what the last one took, else the estimate, else none."""
        cost = self._costs.get(entry)
        return self._took.get(entry, 0.0 if cost is None else cost.seconds)

    def _rank(self, entry: ComparedEntry) -> tuple[bool, float]:
        return not entry.treated.baseline, self._cost(entry)

    def _repeat_cost(self) -> float:
        return sum(self._cost(entry) for entry in self.plan.entries if entry.name not in self.left_out) / self._jobs

    def _leave_out(self, entry: ComparedEntry) -> None:
        cost, rows = self._costs.get(entry), f"{self.plan.survey.n_rows:,} rows"
        budget = f"the budget is {in_words(self.seconds or 0.0)} (--budget)"
        if cost is None:
            self.left_out[entry.name] = LeftOut(f"no time was left; {budget}", None)
            return
        about = "more than" if cost.at_least else "about"
        self.left_out[entry.name] = LeftOut(f"{about} {in_words(cost.seconds)} for {rows}; {budget}", cost.seconds)
