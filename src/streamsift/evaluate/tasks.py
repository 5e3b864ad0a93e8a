"""From `task="auto"` to what the target of a judged run is: classes or numbers.

Who is asked, in this order: a selector that learns from targets was told its task; a model that predicts classes or
numbers only; the first 1,000 rows, where they can be read twice, and what was taken is said where there is any doubt.
Everybody else predicts classes.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

from streamsift.core.exceptions import ParameterError, ReadingNotice
from streamsift.learners.foreign import task_of_model
from streamsift.streams.generation import GeneratedStream
from streamsift.streams.tasks import TargetSample, Task, find_task, task_of, words_for_task


def settle_task(task: str, selector: Any, model: Any, stream: Any, target: str | None) -> Task:
    """The task of a run; refused where the selector or the model are for the other one.

    Examples
    --------
    >>> from streamsift import Screener
    >>> settle_task("auto", Screener("correlation", task="regression"), "sgd", None, None)
    'regression'
    >>> settle_task("auto", None, "mean", None, None), settle_task("auto", None, "naive_bayes", None, None)
    ('regression', 'classification')
    """
    if task not in ("auto", "classification", "regression"):
        raise ParameterError(
            f"The 'task' parameter of prequential must be 'auto', 'classification' or 'regression'. Got {task!r} "
            "instead."
        )
    of_selector, of_model = task_of_selector(selector), task_of_model(model)
    found: Any = task if task != "auto" else of_selector or of_model
    if found is None:
        sample = _sample(stream, target)
        found = "classification" if sample is None else sample.task
        if sample is not None and sample.doubtful:
            other = "classification" if found == "regression" else "regression"
            words = f"{target or 'The target'}: {words_for_task(sample)}; task={other!r} sees it otherwise."
            warnings.warn(words, ReadingNotice, stacklevel=3)
    if of_selector not in (None, found):
        name = type(selector).__name__
        advice = f"set {name}(task={found!r})" if hasattr(selector, "task") else "choose a method with that task"
        raise ParameterError(f"The task is {found}, and {name} selects for {_aim(of_selector)}: {advice}.")
    if of_model not in (None, found):
        name = repr(model) if isinstance(model, str) else type(model).__name__
        raise ParameterError(
            f"The task is {found}, and the model {name} predicts {_aim(of_model)}: give one that predicts "
            f"{_aim(found)}, or another task."
        )
    return found  # type: ignore[no-any-return]


def task_of_selector(selector: Any) -> Task | None:
    """What a selector learns from; None where there is none, or it looks at no targets, or does not say.

    >>> from streamsift import FIRES
    >>> task_of_selector(FIRES()), task_of_selector(None)
    ('classification', None)
    """
    tags = getattr(selector, "stream_tags", None)
    if tags is None or not tags().supervised:
        return None
    return "regression" if getattr(selector, "task", "") == "regression" else "classification"


def _aim(task: str | None) -> str:
    return "numbers" if task == "regression" else "classes"


def _sample(stream: Any, target: str | None) -> TargetSample | None:
    """What the first rows say, of a source that can be read again."""
    if isinstance(stream, GeneratedStream):
        return task_of(next(stream.batches(1000)).y)
    again = isinstance(stream, str | os.PathLike | tuple) or hasattr(stream, "columns") or hasattr(stream, "schema")
    return find_task(stream, target) if again and not hasattr(stream, "batches") else None
