"""How inputs ended, and the table of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

COMPARED = "compared"  # accepted, and equal to what a reference reads
ACCEPTED = "accepted"  # without a reference
REFUSED = "refused"
DIFFERS = "differs"
UNEXPECTED = "exit 3"  # an exception that is not ours: the command line would end with exit code 3
SIGNAL = "signals"
TOO_LONG = "> 10 CPU s"
TOO_MUCH = "> 1 GB"

COLUMNS = (ACCEPTED, COMPARED, REFUSED, DIFFERS, UNEXPECTED, SIGNAL, TOO_LONG, TOO_MUCH)
FINE = (ACCEPTED, COMPARED, REFUSED)


@dataclass(frozen=True)
class Outcome:
    """How one input ended."""

    kind: str
    how: str
    detail: str = ""
    kilobytes: int = 0


@dataclass
class Tally:
    """How often inputs of each kind ended in which way, and those that broke something: (number, what happened)."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    broken: list[tuple[int, str]] = field(default_factory=list)
    largest_kilobytes: int = 0

    def add(self, number: int, outcome: Outcome) -> None:
        """Count one input."""
        self.largest_kilobytes = max(self.largest_kilobytes, outcome.kilobytes)
        self.counts[outcome.kind][outcome.how] += 1
        if outcome.how not in FINE:
            self.broken.append((number, f"{outcome.kind}, {outcome.how}: {outcome.detail}"))

    @property
    def n_inputs(self) -> int:
        """How many inputs there were."""
        return self.total.total()

    @property
    def total(self) -> Counter[str]:
        """How often inputs ended in which way, all kinds together."""
        return sum(self.counts.values(), Counter())

    def table(self, most_broken: int = 40) -> str:
        """A line for each kind of input and one for all; then what broke."""
        rows = [(kind, self.counts[kind]) for kind in sorted(self.counts)] + [("all", self.total)]
        width = max(len(kind) for kind, _ in rows) + 1
        lines = [f"{'':{width}}{'inputs':>11}" + "".join(f"{how:>12}" for how in COLUMNS)]
        for kind, counts in rows:
            lines.append(f"{kind:{width}}{counts.total():>11,}" + "".join(f"{counts[how]:>12,}" for how in COLUMNS))
        lines.append(f"at most {self.largest_kilobytes >> 10} MB in one process")
        alike: dict[str, list[int]] = {}
        for number, what in self.broken:
            alike.setdefault(what, []).append(number)
        often = sorted(alike.items(), key=lambda item: -len(item[1]))[:most_broken]
        lines += [f"{len(numbers)} times, first with input {numbers[0]}: {what}" for what, numbers in often]
        return "\n".join(lines) + "\n"
