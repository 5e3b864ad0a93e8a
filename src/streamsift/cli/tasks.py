"""From `--task` to what the target is taken for, and to a method that goes with it."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import click

from streamsift.cli.choosing import choose
from streamsift.core.exceptions import ParameterError, ReadingNotice

task_option = click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    show_default=True,
    help="Whether the target holds classes or numbers. auto looks at the first 1,000 rows of a file and says so where "
    "there is any doubt; for select, standard input holds classes unless you say regression.",
)


class Settled(NamedTuple):
    """The method, the settings that the task gives to it and to the run, and why this method (empty: it was named)."""

    method: str
    parameters: dict[str, Any]
    settings: dict[str, Any]
    why: str = ""


def settle(
    task: str,
    data: str,
    target: str | None,
    method: str | None,
    reading: Mapping[str, Any],
    given: Collection[str],
    *,
    in_parts: bool,
) -> Settled:
    """What the target of a file is taken for, and the method, where none is named; `given` are parameters of it."""
    from streamsift import catalog
    from streamsift.streams.tasks import first_rows, task_of, words_for_task

    tags = None if method is None else catalog.make(method).stream_tags()
    if tags is not None and (not hasattr(tags, "regression") or not tags.supervised):
        if task != "auto":
            does = "finds out by itself what the target is" if tags.supervised else "looks at no target"
            raise ParameterError(
                f"--task {task} does not apply to {method!r}, which {does}: leave it out, or choose a row method that "
                "learns from labels."
            )
        return Settled(str(method), {}, {})
    first = first_rows(data, target, **reading) if task == "auto" or method is None else None
    sample = None
    if task == "auto":
        sample = None if first is None else task_of(first.y)
        task = "classification" if sample is None else sample.task
    why = ""
    if method is None:
        method, why = choose(task, first, given, in_parts=in_parts)
    doubtful = sample is not None and sample.doubtful
    if task == "regression" and tags is not None and not tags.regression:
        found, why_not = "", f" ({tags.why_no_numbers})" * bool(tags.why_no_numbers)
        if sample is not None:
            found = f", {words_for_task(sample)}; --task classification takes its values as classes"
        raise ParameterError(
            f"{method!r} selects features for classes, not for numbers{why_not}: choose --method joint:forward, "
            f"screen:correlation, fires, abfs or investing for the target {target or 'label'!r} (all: streamsift "
            f"methods){found}."
        )
    if sample is not None and doubtful:
        other, instead = ("classification", "classes") if task == "regression" else ("regression", "numbers")
        words = f"{target or 'label'}: {words_for_task(sample)}; --task {other} takes them as {instead}."
        warnings.warn(words, ReadingNotice, stacklevel=2)
    if task == "regression" and tags is not None and tags.cuts_target and "target_bins" not in given:
        n_bins = catalog.make(method).get_params()["target_bins"]
        words = f"{target or 'label'}: cut into {n_bins} bins of equal weight for {method}; --set target_bins=N cuts it"
        warnings.warn(f"{words} into N.", ReadingNotice, stacklevel=2)
    of_task = {"task": task} if task == "regression" else {}
    return Settled(method, of_task, of_task, why)


def refuse_other_task(task: str, selector: Any, path: str) -> dict[str, Any]:
    """The settings of a run with a loaded selector, which goes on with the task it began with."""
    known = getattr(selector, "task", "classification")
    if task not in ("auto", known):
        raise ParameterError(f"{path} was saved with task={known!r}, which --task {task} contradicts: leave it out.")
    return {"task": known} if known == "regression" else {}
