"""From the options of a command line to a selector: numbers, fractions, and `--set name=value`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import click

from streamsift.core.exceptions import ParameterError
from streamsift.core.values import read_value

LABEL_FIRST = (".libsvm", ".svm", ".svmlight")


def count_or_fraction(context: click.Context, parameter: click.Parameter, text: str | None) -> int | float | None:
    """A number of features: `20` is twenty, `0.1` a tenth, `1.0` all."""
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if text.strip().isdecimal() and number >= 1:
        return int(text)
    if not text.strip().isdecimal() and 0 < number <= 1:
        return number
    raise click.BadParameter(f"{text!r} is neither a number of features (20) nor a fraction in (0, 1] (0.1).")


def assignments(context: click.Context, parameter: click.Parameter, texts: Sequence[str]) -> dict[str, Any]:
    """`name=value` pairs; numbers, true, false and null (or None) are read as such, everything else is text."""
    found: dict[str, Any] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise click.BadParameter(f"{text!r} is not of the form name=value, for example n_bins=10.")
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice: keep one of the two values.")
        found[name] = read_value(value)
    return found


def how_to_read(command: Any) -> Any:
    """Give a verb the options `--categorical` and `--ignore`, which may be given more than once."""
    leave_out = click.option(
        "--ignore", multiple=True, metavar="COLUMN", help="Column to leave out. May be given several times."
    )
    as_text = click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMN",
        help="Column to read as categories although it holds numbers. May be given several times.",
    )
    return as_text(leave_out(command))


def refuse_missing_target(data: str, target: str | None) -> None:
    """Ask for --target, except for formats in which every line begins with its label, which has no name."""
    if target is None and not data.removesuffix(".gz").endswith(LABEL_FIRST):
        raise click.UsageError("Missing option '--target': name the column that holds the label.")


def make_selector(method: str, shortcuts: Mapping[str, Any], others: Mapping[str, Any]) -> Any:
    """Make the selector of a method from parameters with an option of their own (None: not given) and others.

    A method that draws random numbers gets the seed 0 unless another is given: a command answers the same twice.
    """
    from streamsift import catalog
    from streamsift.core.constraints import check_parameters

    given = {name: value for name, value in shortcuts.items() if value is not None}
    twice = sorted(given.keys() & others.keys())
    if twice:
        raise ParameterError(f"The parameter {twice[0]!r} is given twice: keep one of the two values.")
    selector = catalog.make(method, **given, **others)
    if "random_state" in selector.get_params() and "random_state" not in others:
        selector.set_params(random_state=0)
    check_parameters(method, selector.get_params(), selector.parameter_limits)
    return selector


def complete_method(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Method names for the shell's completion."""
    from streamsift import catalog

    return [name for name in catalog.names() if name.startswith(incomplete)]
