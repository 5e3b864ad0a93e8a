"""The methods of a comparison: names of the catalog, names with settings, and objects.

    screen:t_score                  as the catalog makes it
    screen:t_score(fading=0.98)     with settings; the same method may take part with several
    Screener(...)                   an unfitted object, cloned for each run

What a name or an object says explicitly holds for every run. What it leaves open is given by the comparison: the number
of features (-k), the seed of the repeat, and for column methods the model for more than two classes.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from multiprocessing.reduction import ForkingPickler
from typing import Any, Literal

from sklearn.base import clone

from streamsift import catalog
from streamsift.core.constraints import check_parameters
from streamsift.core.exceptions import ParameterError, UnknownNameError
from streamsift.core.values import read_value, split_outside

BASELINES = {
    "all": "every feature, none left out",
    "random": "features drawn at random and kept",
    "majority": "no feature: the most frequent class so far",
    "mean": "no feature: the mean of the numbers so far",
    "oracle": "the true features, where they are known",
}
WITHOUT_FEATURES = {"classification": "majority", "regression": "mean"}
LONGEST_VALUE = 40  # characters of a value in a name
_WITH_SETTINGS = re.compile(r"([^()]+)\((.*)\)", re.DOTALL)

Kind = Literal["rows", "columns", "instances", "baseline"]


def split_name(text: str) -> tuple[str, dict[str, Any]]:
    """The method and the settings in a name.

    Examples
    --------
    >>> from streamsift.comparison.methods import split_name
    >>> split_name("screen:t_score(fading=0.98)"), split_name("all")
    (('screen:t_score', {'fading': 0.98}), ('all', {}))
    """
    if "(" not in text:
        return text, {}
    match = _WITH_SETTINGS.fullmatch(text.strip())
    if match is None:
        raise ParameterError(f"{text!r} is no method with settings: write screen:t_score(fading=0.98).")
    settings: dict[str, Any] = {}
    for part in split_outside(match[2]):
        name, separator, value = part.partition("=")
        if not separator or not name.strip():
            raise ParameterError(f"{part!r} in {text!r} is not of the form name=value: write fading=0.98.")
        if name.strip() in settings:
            raise ParameterError(f"{name.strip()!r} is given twice in {text!r}: keep one of the two values.")
        settings[name.strip()] = read_value(value)
    return match[1].strip(), settings


def join_name(method: str, settings: dict[str, Any]) -> str:
    """The name of a method with settings, in the one way it is shown everywhere.

    >>> join_name("fires", {"n_features_to_select": 5, "model": "ann"}), join_name("fires", {})
    ('fires(n_features_to_select=5, model=ann)', 'fires')
    """
    if not settings:
        return method
    return f"{method}({', '.join(f'{name}={_written(value)}' for name, value in settings.items())})"


def _written(value: Any) -> str:
    """A value in a name; a long one is cut short, and told from others by a digest."""
    text = value if isinstance(value, str) else repr(value)
    if (isinstance(value, str) and read_value(value) != value) or text != text.strip():
        text = repr(value)
    text = " ".join(text.split())
    if len(text) <= LONGEST_VALUE:
        return text
    return f"{text[: LONGEST_VALUE - 10]}...{hashlib.blake2b(repr(value).encode(), digest_size=3).hexdigest()}"


def checked_name(text: str) -> str:
    """The name as it is shown; raises where there is no such method, or it does not take the settings."""
    method, settings = split_name(text)
    if method in BASELINES:
        if settings:
            raise ParameterError(f"The baseline {method!r} takes no settings: write {method}.")
        return method
    if method not in catalog.names():
        raise UnknownNameError("method", method, [*catalog.names(), *BASELINES])
    if settings:
        made = catalog.make(method, **settings)
        check_parameters(method, made.get_params(deep=False), made.parameter_limits)
    return join_name(method, settings)


def named(given: Iterable[Any], taken: Iterable[str] = ()) -> dict[str, Any]:
    """Methods by the names they have in a comparison: None for a name of the catalog, else the object.

    Parameters
    ----------
    given : iterable of str or objects
        Names, with or without settings, and unfitted methods of any kind.
    taken : iterable of str
        Names that are not free.

    Examples
    --------
    >>> from streamsift import Screener
    >>> from streamsift.comparison.methods import named
    >>> list(named(["fires", Screener("fisher"), Screener("fisher"), Screener("gini")]))
    ['fires', 'Screener(criterion=fisher)', 'Screener(criterion=fisher) 2', 'Screener(criterion=gini)']
    """
    found: dict[str, Any] = {}
    taken = set(taken)
    for one in given:
        if isinstance(one, str):
            found[checked_name(one)] = None
            continue
        base = name = _name_of(one)
        number = 2
        while name in found or name in taken:
            name, number = f"{base} {number}", number + 1
        found[name] = clone(one)
    return found


def _name_of(made: Any) -> str:
    """The class of an object and the parameters that differ from their defaults."""
    if isinstance(made, type) or not hasattr(made, "get_params"):
        raise ParameterError(
            f"{made!r} is no method: give a name, or an unfitted object such as Screener('fisher'), with get_params."
        )
    _kind_of(made)
    return join_name(type(made).__name__, explicit(made)) if explicit(made) else f"{type(made).__name__}()"


def explicit(made: Any) -> dict[str, Any]:
    """The parameters of an object that differ from the defaults of its class."""
    defaults = {
        name: parameter.default for name, parameter in inspect.signature(type(made).__init__).parameters.items()
    }
    return {
        name: value
        for name, value in made.get_params(deep=False).items()
        if not _same(value, defaults.get(name, inspect.Parameter.empty))
    }


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and repr(value) == repr(default)


def _kind_of(made: Any) -> Kind:
    if hasattr(made, "stream_tags"):
        kind: Kind = made.stream_tags().kind
        return kind
    if hasattr(made, "partial_fit") and hasattr(made, "get_support"):
        return "rows"
    raise ParameterError(
        f"{type(made).__name__} cannot take part: it needs partial_fit and get_support, or the stream_tags of a method "
        "for columns or instances."
    )


def kind_of(name: str, made: Any) -> Kind:
    """What arrives at a method; "baseline" for a baseline."""
    if made is not None:
        return _kind_of(made)
    method, _ = split_name(name)
    return "baseline" if method in BASELINES else catalog.entry(method).kind


def make(name: str, made: Any) -> tuple[Any, set[str]]:
    """A fresh method, and the parameters that were given explicitly."""
    if made is not None:
        return clone(made), set(explicit(made))
    method, settings = split_name(name)
    return catalog.make(method, **settings), {*settings, *catalog.entry(method).arguments}


def refuse_unsendable(methods: Mapping[str, Any]) -> None:
    """Refuse objects that other processes cannot make: their class must be importable."""
    for name, made in methods.items():
        if made is None:
            continue
        on_the_spot = type(made).__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__")
        try:
            ForkingPickler.dumps(made)
        except Exception:  # noqa: BLE001 - whatever its parameters raise
            on_the_spot = True
        if on_the_spot:
            raise ParameterError(
                f"Other processes cannot make {name}: define its class, and functions it is given, in a module, or "
                "jobs=1."
            )
