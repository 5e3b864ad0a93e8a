"""From `--task` to what the target is taken for, and to a method that goes with it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from streamsift.core.exceptions import ParameterError, ReadingNotice

FOR_NUMBERS = "screen:correlation"  # the method where none is given

task_option = click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    show_default=True,
    help="Whether the target holds classes or numbers. auto looks at the first 1,000 rows of a file and says so where "
    "there is any doubt; for select, standard input holds classes unless you say regression.",
)


class Settled(NamedTuple):
    """The method, and the settings that the task gives to it and to the run."""

    method: str
    parameters: dict[str, Any]
    settings: dict[str, Any]


def settle(
    task: str, data: str, target: str | None, method: str, reading: Mapping[str, Any], *, given: bool
) -> Settled:
    """What the target of a file is taken for; `given` says whether the method was named or is the default."""
    from streamsift import catalog
    from streamsift.streams.tasks import find_task, words_for_task

    tags = catalog.make(method).stream_tags()
    if not hasattr(tags, "regression") or not tags.supervised:
        if task != "auto":
            raise ParameterError(
                f"--task {task} does not apply to {method!r}, which finds out by itself what the target is: leave it "
                "out, or choose a row method that learns from labels."
            )
        return Settled(method, {}, {})
    name, sample = target or "label", None
    if task == "auto":
        sample = find_task(data, target, **reading)
        if sample is None or not sample.doubtful:
            return Settled(method, {}, {})
        task = sample.task
    if task == "regression" and not given:
        method = FOR_NUMBERS
    elif task == "regression" and not tags.regression:
        found = ""
        if sample is not None:
            found = f", {words_for_task(sample)}; --task classification takes its values as classes"
        raise ParameterError(
            f"{method!r} selects features for classes, not for numbers: choose --method {FOR_NUMBERS}, joint:forward "
            f"or investing for the target {name!r}{found}."
        )
    if sample is not None:
        by = f" and selected for by {method}" if task == "regression" and not given else ""
        other, instead = ("classification", "classes") if task == "regression" else ("regression", "numbers")
        words = f"{name}: {words_for_task(sample)}{by}; --task {other} takes them as {instead}."
        warnings.warn(words, ReadingNotice, stacklevel=2)
    return Settled(method, {"task": task}, {"task": task}) if task == "regression" else Settled(method, {}, {})


def refuse_other_task(task: str, selector: Any, path: str) -> dict[str, Any]:
    """The settings of a run with a loaded selector, which goes on with the task it began with."""
    known = getattr(selector, "task", "classification")
    if task not in ("auto", known):
        raise ParameterError(f"{path} was saved with task={known!r}, which --task {task} contradicts: leave it out.")
    return {"task": known} if known == "regression" else {}
