"""The table of methods: a name, the class behind it and the arguments the name stands for.

This table is the only list of methods; the command line, the tests and the reader of saved files all use it. It is
text: importing this module imports no method.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from streamsift.core.exceptions import ParameterError, UnknownNameError

Kind = Literal["rows", "columns", "instances"]


@dataclass(frozen=True)
class Entry:
    """One method: its class ("module:Class"), what arrives, what it does, who published it, and preset arguments."""

    target: str
    kind: Kind
    summary: str
    paper: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


_SCREENER = "streamsift.rows.screener:Screener"
_BARDDAL = "Barddal et al. (2019), Boosting Decision Stumps for Dynamic Feature Selection on Data Streams"
_WANG_BARBU = "Wang and Barbu (2021), Online Feature Screening for Data Streams with Concept Drift"

_TABLE: dict[str, Entry] = {
    "screen:t_score": Entry(
        _SCREENER,
        "rows",
        "Difference of class means over its standard error; several classes: the largest one against the rest.",
        _WANG_BARBU,
        {"score": "t_score"},
    ),
    "screen:fisher": Entry(
        _SCREENER,
        "rows",
        "Variance between the classes over variance within them.",
        _WANG_BARBU,
        {"score": "fisher"},
    ),
    "screen:mutual_info": Entry(
        _SCREENER,
        "rows",
        "Mutual information of the class and the feature cut into bins of equal count.",
        _WANG_BARBU,
        {"score": "mutual_info"},
    ),
    "screen:chi2": Entry(
        _SCREENER,
        "rows",
        "Chi-squared statistic of the class against the feature cut into bins of equal count.",
        _WANG_BARBU,
        {"score": "chi2"},
    ),
    "screen:gini": Entry(
        _SCREENER,
        "rows",
        "Gini impurity removed by the best single cut of the feature.",
        _WANG_BARBU,
        {"score": "gini"},
    ),
    "abfs": Entry(
        "streamsift.rows.abfs:ABFS",
        "rows",
        "Boosted decision stumps with drift detectors; chooses the number of features itself.",
        _BARDDAL,
    ),
}


def names(kind: Kind | None = None) -> list[str]:
    """The names of all methods, or of those for one kind of stream, in the order of the table.

    Examples
    --------
    >>> from streamsift import catalog
    >>> catalog.names("rows")[:2]
    ['screen:t_score', 'screen:fisher']
    """
    return [name for name, entry in _TABLE.items() if kind is None or entry.kind == kind]


def entry(name: str) -> Entry:
    """The table's entry for a name.

    Examples
    --------
    >>> from streamsift import catalog
    >>> catalog.entry("screen:chi2").kind
    'rows'
    >>> catalog.entry("screen:chi")
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.UnknownNameError: There is no method 'screen:chi'. Did you mean 'screen:chi2'?
    """
    if name not in _TABLE:
        raise UnknownNameError("method", name, _TABLE)
    return _TABLE[name]


def make(name: str, **arguments: Any) -> Any:
    """Build a method by name; `arguments` are those of its class, except the ones the name itself stands for.

    Examples
    --------
    >>> from streamsift import catalog
    >>> catalog.make("screen:gini", n_features_to_select=3)
    Screener(n_features_to_select=3, score='gini')
    """
    preset = entry(name).arguments
    for argument, value in preset.items():
        if argument in arguments:
            raise ParameterError(
                f"The name {name!r} stands for {argument}={value!r}: leave {argument} out, or choose another name."
            )
    method = class_at(entry(name).target)
    known = [parameter for parameter in inspect.signature(method).parameters if parameter not in preset]
    for argument in arguments:
        if argument not in known:
            raise UnknownNameError(f"parameter of {name}", argument, known)
    return method(**preset, **arguments)


def class_at(target: str) -> type[Any]:
    """The class at "module:Class"; only what the table lists is imported.

    Examples
    --------
    >>> from streamsift import catalog
    >>> catalog.class_at("streamsift.rows.screener:Screener").__name__
    'Screener'
    """
    targets = {listed.target for listed in _TABLE.values()}
    if target not in targets:
        raise UnknownNameError("class in the catalog", target, sorted(targets))
    module, _, name = target.partition(":")
    method: type[Any] = getattr(import_module(module), name)
    return method
