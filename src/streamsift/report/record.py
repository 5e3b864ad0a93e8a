"""DecisionRecord: the decisions on a stream of columns, kept small enough to be drawn however many columns come."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.selection import Decisions
from streamsift.report.numbers import rounded

N_POINTS = 400  # decisions kept at least once there are as many; twice that at most
COUNTS = ("offered", "accepted", "held")
MEASURES = ("statistic", "threshold", "wealth")

Values = list[float | None]


class _Even:
    """An even choice out of ever more points: every first, then every second, every fourth, ..."""

    def __init__(self) -> None:
        self.columns: dict[str, Values] = {name: [] for name in COUNTS + MEASURES}
        self._seen, self._step = 0, 1

    def add(self, points: dict[str, NDArray[Any]]) -> None:
        numbers = self._seen + np.arange(len(points["offered"]))
        kept = numbers % self._step == 0
        for name, values in points.items():
            self.columns[name] += [rounded(value) for value in values[kept].tolist()]
        self._seen += len(numbers)
        while len(self.columns["offered"]) > 2 * N_POINTS:
            self._step *= 2
            self.columns = {name: values[::2] for name, values in self.columns.items()}

    def as_dict(self) -> dict[str, Any]:
        counts: dict[str, Any] = {name: [int(value or 0) for value in self.columns[name]] for name in COUNTS}
        return counts | {name: self.columns[name] for name in MEASURES}


class DecisionRecord:
    """An even choice of the decisions so far, and from when to when each column was in the selection.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.core.selection import Decision, Decisions
    >>> record = DecisionRecord()
    >>> record.add(Decisions.of([Decision("age", True), Decision("size", False), Decision("mass", True, ("age",))]))
    >>> record.as_dict()["held"], record.as_dict()["members"]
    ([1, 1, 1], [{'name': 'age', 'from': 0, 'to': 3}, {'name': 'mass', 'from': 2, 'to': 3}])
    """

    def __init__(self) -> None:
        self.n_offered = 0
        self._n_accepted = self._n_dropped = 0
        self._all, self._taken, self._refused = _Even(), _Even(), _Even()
        self._since: dict[str, int] = {}
        self._left: list[dict[str, Any]] = []

    def add(self, answers: Decisions) -> None:
        """Take in the decisions on the columns that came next."""
        places = self.n_offered + np.arange(1, len(answers) + 1)
        dropped = np.array([len(names) for names in answers.dropped] or [0] * len(answers), int)
        accepted = self._n_accepted + np.cumsum(answers.accepted)
        points = {
            "offered": places,
            "accepted": accepted,
            "held": accepted - self._n_dropped - np.cumsum(dropped),
            "statistic": answers.statistic,
            "threshold": answers.threshold,
            "wealth": np.full(len(answers), np.nan) if answers.wealth is None else answers.wealth,
        }
        self._all.add(points)
        for even, wanted in ((self._taken, answers.accepted), (self._refused, ~answers.accepted)):
            even.add({name: values[wanted] for name, values in points.items()})
        for k in np.flatnonzero(answers.accepted | (dropped > 0)).tolist():
            if answers.accepted[k]:
                self._since[answers.names[k]] = int(places[k]) - 1
            for name in answers.dropped[k] if answers.dropped else ():
                self._left.append({"name": name, "from": self._since.pop(name, 0), "to": int(places[k])})
        self.n_offered += len(answers)
        self._n_accepted += int(answers.accepted.sum())
        self._n_dropped += int(dropped.sum())

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON.

        An even choice of all decisions as columns, one of the accepted ones under `taken` and one of the others under
        `refused`, and `members`: each column with the places from and to which it was in the selection.
        """
        held = [{"name": name, "from": since, "to": self.n_offered} for name, since in self._since.items()]
        counts = {"n_accepted": self._n_accepted, "n_dropped": self._n_dropped}
        chosen = {"taken": self._taken.as_dict(), "refused": self._refused.as_dict()}
        return {**self._all.as_dict(), **chosen, "members": self._left + held, **counts}
