"""From the options of a command line to a run that goes on: `--checkpoint`, `--every`, `--resume` and `--load`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from streamsift.cli.option_group import option_group
from streamsift.cli.parameters import OPTIONS
from streamsift.core.exceptions import ParameterError

if TYPE_CHECKING:
    from streamsift.runs.checkpoint import Checkpointing, SavedRun
    from streamsift.runs.run import Run

_OPTIONS = (
    click.option("--checkpoint", metavar="FILE", help="File to keep the run in, so that --resume can go on with it."),
    click.option(
        "--every",
        metavar="TIME",
        show_default="60s",
        help="Time between two checkpoints (60s, 5m, 2h), or rows between them (10000rows).",
    ),
    click.option("--resume", is_flag=True, help="Go on from the checkpoint, if there is one."),
    click.option(
        "--load", metavar="FILE", help="Saved selector or checkpoint to continue with; it learns DATA in addition."
    ),
)


class Wishes(NamedTuple):
    """What was asked for on the command line."""

    checkpoint: str | None
    every: str | None
    resume: bool
    load: str | None


can_go_on = option_group("wishes", Wishes, _OPTIONS)


def checkpointing(wishes: Wishes, *, quiet: bool) -> Checkpointing | None:
    """How the run is kept; the checkpoint is read where there is one. Refuses to replace one that nobody mentions."""
    if wishes.checkpoint is None:
        for name in ("every", "resume"):
            if getattr(wishes, name):
                raise click.UsageError(f"--{name} needs --checkpoint FILE, which names the checkpoint.")
        return None
    from streamsift.cli.output import output_file
    from streamsift.core.folder_lock import FileLock
    from streamsift.runs.checkpoint import Checkpoint, Checkpointing, Every

    every = Every() if wishes.every is None else Every.parse(wishes.every)
    path = output_file(wishes.checkpoint)
    if path.exists() and not path.is_file():
        raise ParameterError(f"{str(path)!r} is not a file that a checkpoint can be read from again: name another.")
    click.get_current_context().with_resource(FileLock(path))
    if not path.exists():
        if wishes.resume and not quiet:
            click.echo(f"There is no checkpoint {path} yet: starting from the beginning.", err=True)
        return Checkpointing(path, every)
    if not wishes.resume:
        raise ParameterError(
            f"The checkpoint {str(path)!r} is there already: add --resume to go on from it, or name another file."
        )
    return Checkpointing(path, every, Checkpoint.read(path))


class Loaded(NamedTuple):
    """A selector that goes on, its name in the catalog, and the run in which it learnt (None: nobody knows)."""

    selector: Any
    method: str
    before: SavedRun | None


def load_selector(path: str, method: str | None, given: Mapping[str, Any], target: str | None) -> Loaded:
    """The selector of a saved file; what is given beside it (None: nothing) must be what it has."""
    from streamsift import persist
    from streamsift.runs.checkpoint import saved_run

    if not Path(path).exists():
        raise ParameterError(f"There is no saved selector {path}: check the path.")
    selector, before = persist.load(path), saved_run(path)
    names = catalog_names(selector)
    known = before.run.method if before is not None and before.run.method in names else names[0]
    if method is not None and method not in names:
        raise ParameterError(f"{path} holds {known!r}, not {method!r}: leave out --method, or load another file.")
    parameters = selector.get_params()
    for name, value in given.items():
        if value is not None and (name not in parameters or parameters[name] != value):
            option = OPTIONS.get(name, f"--set {name}=")
            raise ParameterError(
                f"{path} was saved with {name}={parameters.get(name)!r}, which {option} {value!r} contradicts: leave "
                "it out, since a selector goes on with the parameters it began with."
            )
    if before is not None and target is not None and before.run.target != target:
        raise ParameterError(
            f"{path} has learnt the target {before.run.target!r}, not {target!r}: give the same target, or load "
            "another file."
        )
    return Loaded(selector, known if method is None else method, before)


def catalog_names(selector: Any) -> list[str]:
    """The names under which the catalog has a selector, those that say most about it first."""
    from streamsift import catalog
    from streamsift.core.exceptions import SavedStateError

    found: dict[str, int] = {}
    target, parameters = f"{type(selector).__module__}:{type(selector).__qualname__}", selector.get_params()
    for name in catalog.names():
        entry = catalog.entry(name)
        fits = all(parameters.get(key) == value for key, value in entry.arguments.items())
        if entry.target == target and fits:
            found[name] = len(entry.arguments)
    if not found:
        raise SavedStateError(f"The file holds a {type(selector).__name__}, which no method of the catalog is.")
    return sorted(found, key=lambda name: -found[name])


def begun(how: Checkpointing | None, run: Run) -> Any:
    """The selector of the checkpoint to go on from, if that is of the same run; None: there is none."""
    if how is None or how.begin is None:
        return None
    how.begin.refuse_other_run(run)
    return how.begin.selector
