"""From the command line to a source without an end: `--stop-after-idle`, `--dead-letters`, `--sequence`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import click

from streamsift.cli.option_group import option_group
from streamsift.core.exceptions import ParameterError

# As in streams/unbounded.py, which takes long to load; a test holds the two together.
SCHEMES = ("tail:", "redis://", "kafka://")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|)")


def seconds(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """A time such as 10s, 5m or 2h."""
    if text is None:
        return None
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise click.BadParameter(f"{text!r} is no time: write 10s, 5m or 2h.")
    return float(found[1]) * _UNITS[found[2]]


_OPTIONS = (
    click.option(
        "--stop-after-idle",
        callback=seconds,
        metavar="TIME",
        show_default="never",
        help="For DATA without an end: stop when no new row has arrived for this long (10s, 5m).",
    ),
    click.option(
        "--dead-letters",
        metavar="FILE",
        help="For DATA without an end: skip messages that are not rows, and keep them in this file.",
    ),
    click.option(
        "--sequence",
        metavar="COLUMN",
        help="For DATA without an end, and -: column that numbers the rows; rows that arrive again are left out.",
    ),
)


class Following(NamedTuple):
    """What was asked for on the command line."""

    stop_after_idle: float | None
    dead_letters: str | None
    sequence: str | None

    def source(self, data: str, *, resumes: bool, heard: Callable[[str], None]) -> Any:
        """What the run reads: DATA as it is, or followed in the way that was asked for."""
        if not (data.startswith(SCHEMES) or (data == "-" and self.sequence is not None)):
            for name, value in self._asdict().items():
                if value is not None:
                    raise ParameterError(
                        f"--{name.replace('_', '-')} is for data without an end: {', '.join(SCHEMES)} or - with "
                        "--sequence."
                    )
            return data
        from streamsift.streams.unbounded import Unbounded

        return Unbounded(data, *self, resumes=resumes, heard=heard)


can_follow = option_group("following", Following, _OPTIONS)  # sources without an end


def shown(data: str) -> str:
    """The name of such a source in a report: without a password, and without a folder.

    >>> shown("redis://me:secret@host/clicks?field=row"), shown("tail:/var/log/clicks.csv")
    ('clicks', 'clicks.csv')
    """
    name = data if data.startswith("tail:") else data.partition("?")[0]
    return name.removeprefix("tail:").rpartition("/")[2]
