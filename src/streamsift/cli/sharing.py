"""`streamsift select 'kafka://...?group=NAME' --checkpoint FOLDER`: one of several processes that share a topic."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from streamsift.cli.resuming import Wishes
from streamsift.core.exceptions import ParameterError

WAYS = "leave group= out (one process), or give each process partitions and a checkpoint of its own (partitions=0-3)"


def group_in(data: str) -> str | None:
    """The group that DATA names; None: nobody shares it.

    >>> group_in("kafka://broker/clicks?group=team"), group_in("kafka://broker/clicks")
    ('team', None)
    """
    if not data.startswith("kafka://"):
        return None
    from streamsift.streams.unbounded import group_of

    return group_of(data)


def refuse_what_cannot_be_shared(selector: Any, wishes: Wishes, reading: dict[str, Any], **others: object) -> None:
    """Raise where the states of partitions could not be merged, or an option is for one process only."""
    if wishes.checkpoint is None:
        raise click.UsageError("group= needs --checkpoint FOLDER, in which all processes keep their checkpoints.")
    asked = {name: value for name, value in reading.items() if name not in ("categorical", "ignore", "unlabelled")}
    for name, value in {"load": wishes.load, **asked, **others}.items():
        if value is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} does not go with group=, which shares a topic: {WAYS}.")
    name = type(selector).__name__
    if selector.stream_tags().mergeable == "no":
        raise ParameterError(
            f"{name} cannot share a topic: its state depends on the order of the rows, so those of the partitions "
            f"cannot be merged. Choose a method that can, such as joint:forward or screen:mutual_info, {WAYS}."
        )
    fades = getattr(selector, "fading", 1.0) != 1.0 or isinstance(getattr(selector, "half_life", None), int | float)
    if fades:
        raise ParameterError(
            "Fading by rows needs to know which rows are older, and partitions that are read side by side do not say: "
            f"let times decide (--half-life 1h --time COLUMN), {WAYS}."
        )
    if getattr(selector, "new_features", "error") != "error":
        raise ParameterError(
            f"new_features={selector.new_features!r} cannot share a topic: a late feature of one partition is none of "
            f"the others, whose states could not be merged then. Leave it out, {WAYS}."
        )


def select_in_group(
    source: Any, selector: Any, run: Any, wishes: Wishes, view: Any, drawn: AbstractContextManager[Any]
) -> tuple[bool, Path]:
    """Follow the topic until nothing comes any more; whether it was not interrupted, and where the checkpoints are."""
    from streamsift.cli.output import OutputFolder
    from streamsift.persist import description, from_description
    from streamsift.runs.checkpoint import Every
    from streamsift.runs.sharing import Sharing
    from streamsift.streams.open import settled

    target, settings = run.target, run.settings
    assert wishes.checkpoint is not None
    if Path(wishes.checkpoint).is_file():
        raise ParameterError(f"{wishes.checkpoint} is a file, and group= keeps a folder of checkpoints: name a folder.")
    folder = OutputFolder(wishes.checkpoint).path

    def open_rows(partition: Any, agree: Any) -> Any:
        options = {name: settings[name] for name in ("categorical", "ignore")}
        stream = source.rows_of(partition, target, agree, **options)
        return settled(stream, settings.get("unlabelled", "keep"), settings.get("task", "auto"))

    sharing = Sharing(
        source.join,
        open_rows,
        lambda: from_description(*description(selector)),
        run,
        folder,
        Every() if wishes.every is None else Every.parse(wishes.every),
        source.stop_after_idle,
        view.update,
        view.wait,
    )
    with drawn:
        return sharing.follow(), folder
