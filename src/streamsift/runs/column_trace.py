"""The record of a run over columns: one row of a table for each decision that is kept.

    offered    columns offered so far, this one included      name       of the column
    statistic  compared with                                  threshold
    wealth     what is left to bid, null for methods that do not bid
    accepted   whether it was                                 dropped    the selected columns that it replaced
    n_accepted columns accepted so far                        n_selected columns in the selection now
    until      columns offered when it left the selection; null where it is still in it, or was never accepted

Every decision that changed the selection is kept, and the last one; of all others an even choice: every one at first,
then every second, every fourth, ..., so that the record stays small however many columns come.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from streamsift.core.exceptions import SavedStateError
from streamsift.core.selection import Decisions
from streamsift.core.state import MOST_FEATURES
from streamsift.runs.run import Run
from streamsift.runs.trace_writer import TraceWriter

if TYPE_CHECKING:
    from streamsift.runs.columns import ColumnStep

N_UNCHANGED = 400  # decisions without consequences kept at least, once there are as many; twice that at most
COUNTS = ("n_offered", "n_accepted", "n_dropped", "n_unchanged", "stride")  # kept in a checkpoint
SCHEMA = pa.schema(
    {
        "offered": pa.int64(),
        "name": pa.string(),
        "statistic": pa.float64(),
        "threshold": pa.float64(),
        "wealth": pa.float64(),
        "accepted": pa.bool_(),
        "dropped": pa.list_(pa.string()),
        "n_accepted": pa.int64(),
        "n_selected": pa.int64(),
        "until": pa.int64(),
    }
)

Record = dict[str, Any]  # one row of SCHEMA


class ColumnTraceWriter(TraceWriter):
    """Writes the decisions of a run over columns; columns may have been offered, and selected, before it.

    Examples
    --------
    >>> from streamsift.core.selection import Decision, Decisions
    >>> with ColumnTraceWriter(None, Run("osfs", "columns")) as writer:
    ...     writer.add(Decisions.of([Decision("age", True), Decision("size", False), Decision("mass", True, ("age",))]))
    >>> writer.trace().table.select(["name", "n_selected", "until"]).to_pydict()
    {'name': ['age', 'size', 'mass'], 'n_selected': [1, 1, 1], 'until': [3, None, None]}
    """

    schema = SCHEMA

    def __init__(self, path: str | Path | None, run: Run, *, n_offered: int = 0, n_selected: int = 0) -> None:
        self._n_offered, self._n_accepted, self._n_dropped = n_offered, n_selected, 0
        self._changes: list[Record] = []
        self._unchanged: list[Record] = []
        self._n_unchanged, self._stride = 0, 1
        self._last: Record | None = None
        self._members: dict[str, Record] = {}
        super().__init__(path, run)

    def append(self, step: ColumnStep) -> None:
        """Record the decisions of a step."""
        self.seconds = step.seconds
        if step.decisions is not None:
            self.add(step.decisions)
        self._n_offered = step.n_offered

    def add(self, answers: Decisions) -> None:
        """Record the decisions on the columns that came next."""
        if len(answers) == 0:
            return
        dropped = np.array([len(names) for names in answers.dropped] or [0] * len(answers), int)
        n_accepted = self._n_accepted + np.cumsum(answers.accepted)
        n_selected = n_accepted - self._n_dropped - np.cumsum(dropped)
        changes = answers.accepted | (dropped > 0)
        numbers = self._n_unchanged + np.cumsum(~changes) - 1
        kept = changes | (numbers % self._stride == 0)
        kept[-1] = True
        for k in np.flatnonzero(kept).tolist():
            record = _record(answers, k, self._n_offered + k + 1, int(n_accepted[k]), int(n_selected[k]))
            self._last = record
            if changes[k]:
                self._change(record)
            elif numbers[k] % self._stride == 0:
                self._unchanged.append(record)
        self._n_offered += len(answers)
        self._n_accepted, self._n_dropped = int(n_accepted[-1]), self._n_dropped + int(dropped.sum())
        self._n_unchanged += int((~changes).sum())
        while len(self._unchanged) > 2 * N_UNCHANGED:
            self._stride *= 2
            self._unchanged = self._unchanged[::2]

    def _change(self, record: Record) -> None:
        self._changes.append(record)
        if record["accepted"]:
            self._members[record["name"]] = record
        for name in record["dropped"]:
            self._members.pop(name, {})["until"] = record["offered"]  # one that came before this record is not in it

    def _records(self) -> list[Record]:
        last = [] if self._last is None else [self._last]
        kept = {record["offered"]: record for record in [*self._changes, *self._unchanged, *last]}
        return [kept[offered] for offered in sorted(kept)]

    def _flush(self) -> None:
        self._write(pa.Table.from_pylist(self._records(), schema=SCHEMA))

    def _so_far(self) -> tuple[dict[str, Any], Any]:
        records, unchanged = self._records(), {id(record) for record in self._unchanged}
        facts = {name: getattr(self, f"_{name}") for name in COUNTS}
        facts["unchanged"] = [k for k, record in enumerate(records) if id(record) in unchanged]
        return facts, pa.Table.from_pylist(records, schema=SCHEMA)

    def _take_over(self, facts: dict[str, Any], table: Any) -> None:
        records: list[Record] = table.to_pylist()
        unchanged, counts = facts.get("unchanged"), [facts.get(name) for name in COUNTS]
        fine = (
            all(type(count) is int and 0 <= count <= MOST_FEATURES for count in counts)
            and facts["stride"] > 0
            and isinstance(unchanged, list)
            and all(type(k) is int and 0 <= k < len(records) for k in unchanged)
            and not any(table[name].null_count for name in ("offered", "name", "accepted", "dropped", "n_selected"))
            and (np.diff(table["offered"].to_numpy()) > 0).all()
            and (not records or 0 < records[0]["offered"] <= records[-1]["offered"] <= facts["n_offered"])
            and not any(None in record["dropped"] for record in records)
        )
        if not fine:
            raise SavedStateError("The checkpoint is damaged: its trace holds decisions that cannot be.")
        for name in COUNTS:
            setattr(self, f"_{name}", facts[name])
        assert isinstance(unchanged, list)
        self._unchanged = [records[k] for k in sorted(set(unchanged))]
        self._changes = [record for record in records if record["accepted"] or record["dropped"]]
        self._members = {r["name"]: r for r in self._changes if r["accepted"] and r["until"] is None}
        self._last = records[-1] if records else None

    def _features(self) -> tuple[dict[int, str], int]:
        return {}, self._n_offered


def _record(answers: Decisions, k: int, offered: int, n_accepted: int, n_selected: int) -> Record:
    answer = answers[k]
    return {
        "offered": offered,
        "name": answer.name,
        "statistic": _known(answer.statistic),
        "threshold": _known(answer.threshold),
        "wealth": None if answer.wealth is None else _known(answer.wealth),
        "accepted": answer.accepted,
        "dropped": list(answer.dropped),
        "n_accepted": n_accepted,
        "n_selected": n_selected,
        "until": None,
    }


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
