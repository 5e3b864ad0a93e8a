"""From the options of a command line to a selector: numbers, fractions, and `--set name=value`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from streamsift.core.exceptions import ParameterError, ReaderError
from streamsift.core.values import read_value

# The names that parameters of methods have on the command line.
OPTIONS = {
    "n_features_to_select": "-k",
    "fading": "--fading",
    "half_life": "--half-life",
    "time": "--time",
    "missing": "--missing",
    "eps": "--eps",
    "n_bins": "--bins",
}
# What `open_stream` calls the options that say how a file is read; a test holds the two lists together.
READING = ("sep", "decimal", "thousands", "na", "encoding", "categorical", "ignore", "unlabelled", "limits")
# What `ReadLimits` calls the limits that have options; a test holds the two lists together.
LIMITS = {
    "longest_record": "--max-line",
    "longest_field": "--max-field",
    "longest_name": "--max-name",
    "most_columns": "--max-columns",
    "most_index": "--max-index",
}

LABEL_FIRST = (".libsvm", ".svm", ".svmlight")


def half_life(context: click.Context, parameter: click.Parameter, text: str | None) -> float | str | None:
    """A half-life: `10000` is so many rows, `1h` a time."""
    if text is None:
        return None
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return text


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


def count_or_rule(context: click.Context, parameter: click.Parameter, text: str | None) -> int | float | str | None:
    """A number of features, a fraction of them, or a rule on their p-values: `fdr:0.05`."""
    if text is None:
        return None
    from streamsift.core.guarantees import parsed

    if parsed(text) is not None:
        return text
    try:
        return count_or_fraction(context, parameter, text)
    except click.BadParameter:
        raise click.BadParameter(
            f"{text!r} is neither a number of features (20) nor a fraction in (0, 1] (0.1) nor a rule (fdr:0.05)."
        ) from None


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


def separator(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """A character, which may be spelt out where a shell would not pass it on."""
    return None if text is None else {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text)


def amount(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A whole number, which may end in k, M or G: 1024, 1024^2 or 1024^3 times as many."""
    if text is None:
        return None
    unit = {"k": 10, "m": 20, "g": 30}.get(text[-1:].lower(), 0)
    digits = text[:-1] if unit else text
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 15 or int(digits) == 0:
        raise click.BadParameter(f"{text!r} is not a whole number from 1 on, such as 5000, 64M or 1G.")
    return int(digits) << unit


def _limit(name: str, shown: str, text: str) -> Any:
    """The option of one limit."""
    return click.option(LIMITS[name], name, callback=amount, metavar="N", show_default=shown, help=text)


_READING = (
    click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMN",
        help="Column to read as categories although it holds numbers. May be given several times.",
    ),
    click.option("--ignore", multiple=True, metavar="COLUMN", help="Column to leave out. May be given several times."),
    click.option(
        "--sep",
        callback=separator,
        metavar="CHARACTER",
        show_default="detected",
        help="What separates the cells of a CSV file: a character, or tab.",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        show_default="detected",
        help="What stands before the fraction of a number.",
    ),
    click.option(
        "--thousands",
        callback=separator,
        metavar="CHARACTER",
        show_default="detected",
        help="What stands between the thousands of a number: a character, or space.",
    ),
    click.option(
        "--na",
        multiple=True,
        metavar="TEXT",
        help="Further text that stands for a missing value. May be given several times.",
    ),
    click.option(
        "--encoding", metavar="NAME", show_default="UTF-8", help="Encoding of a text file, such as latin-1 or utf-16."
    ),
    click.option(
        "--skip-unlabelled",
        "unlabelled",
        is_flag=True,
        flag_value="skip",
        default=None,
        help="Leave out rows without a label, and say how many there were (select does so by itself for row methods).",
    ),
    _limit("longest_record", "64M", "Bytes of the longest line of a text file; a longer one is refused."),
    _limit("longest_field", "16M", "Characters of the longest value of an ARFF file."),
    _limit("longest_name", "10000", "Characters of the longest name of a column."),
    _limit("most_columns", "1M", "Columns of a file in which columns have names."),
    _limit("most_index", "100000000", "Columns of a file in which columns have numbers only (LIBSVM, .npz)."),
)


def how_to_read(command: Any) -> Any:
    """Give a verb the options that say how a file is read; it gets those that were given as the dict `reading`."""

    @wraps(command)
    def collected(*positions: Any, **given: Any) -> Any:
        limits = {name: given.pop(name) for name in LIMITS}
        options = {name: given.pop(name) for name in READING if name != "limits"}
        options["limits"] = {name: value for name, value in limits.items() if value is not None}
        lists = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
        reading = {name: value for name, value in lists.items() if value not in (None, [], {})}
        return command(*positions, reading=reading, **given)

    for option in reversed(_READING):
        option(collected)
    return collected


def refuse_missing_file(data: str) -> None:
    """Say at once that a file is not there: whatever could read it takes longer to load than this takes to see."""
    if data != "-" and not Path(data).exists():
        raise ReaderError(f"There is no file {data}: check the path.")


def refuse_missing_target(data: str, target: str | None) -> None:
    """Ask for --target, except for formats in which every line begins with its label, which has no name."""
    if target is None and not data.removesuffix(".gz").removesuffix(".zst").endswith(LABEL_FIRST):
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
    for name, value in given.items():
        if name not in catalog.parameters(method):
            raise _no_such_option(method, name, value)
    selector = catalog.make(method, **given, **others)
    if "random_state" in selector.get_params() and "random_state" not in others:
        selector.set_params(random_state=0)
    check_parameters(method, selector.get_params(), selector.parameter_limits)
    return selector


def _no_such_option(method: str, name: str, value: Any) -> ParameterError:
    """The error for an option that a method has no use for, in the words of the command line."""
    option = OPTIONS[name]
    if name == "n_features_to_select":
        return ParameterError(
            f"{method!r} decides by itself how many features it selects, so {option} {value} does not apply: leave it "
            "out, or choose a method that takes a number, such as screen:mutual_info."
        )
    return ParameterError(
        f"{method!r} has no use for {option} {value}: leave it out, or choose a method that has, such as "
        "screen:mutual_info."
    )


def complete_method(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Method names for the shell's completion."""
    from streamsift import catalog

    return [name for name in catalog.names() if name.startswith(incomplete)]
