"""Steps of other packages as named arrays, for saved pipelines: a table of classes, and what each of them knows.

A class that is not in the table is refused by name. Restoring makes a new object and lets it fit zeros once, so that it
allocates its arrays itself; then the numbers are put into them. Nothing from a file decides about a class, a size or an
address.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import SavedStateError
from streamsift.persist import plain_parameter

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class _Kind:
    """What a fitted object of a class knows beside its parameters; a learner is fitted with classes."""

    target: str
    arrays: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    learns: bool = False


_KINDS = [
    _Kind("sklearn.preprocessing:StandardScaler", ("mean_", "var_", "scale_", "n_samples_seen_")),
    _Kind(
        "sklearn.preprocessing:MinMaxScaler",
        ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
        ("n_samples_seen_",),
    ),
    _Kind("sklearn.preprocessing:MaxAbsScaler", ("scale_", "max_abs_"), ("n_samples_seen_",)),
    _Kind("sklearn.linear_model:SGDClassifier", ("coef_", "intercept_"), ("t_",), learns=True),
    _Kind("sklearn.linear_model:Perceptron", ("coef_", "intercept_"), ("t_",), learns=True),
    _Kind(
        "sklearn.naive_bayes:GaussianNB",
        ("theta_", "var_", "class_count_", "class_prior_"),
        ("epsilon_",),
        learns=True,
    ),
]
_BY_TARGET = {kind.target: kind for kind in _KINDS}


def _class_of(kind: _Kind) -> type[Any]:
    module, _, name = kind.target.partition(":")
    found: type[Any] = getattr(import_module(module), name)
    return found


def kind_of(name: str, step: Any, *, learns: bool) -> str:
    """The name of a step's class in the table; SavedStateError where it has none."""
    for target, kind in _BY_TARGET.items():
        if type(step) is _class_of(kind) and kind.learns == learns and not getattr(step, "average", False):
            return target
    saved = ", ".join(sorted(t.partition(":")[2] for t, kind in _BY_TARGET.items() if kind.learns == learns))
    what = repr(step) if isinstance(step, str) else f"a {type(step).__name__}"
    raise SavedStateError(
        f"The step {name!r} ({what}) cannot be saved without pickle: use one of {saved}"
        f"{' without averaging' if learns else ''}, or save the selector alone."
    )


def parameters_of(name: str, step: Any) -> dict[str, Any]:
    """The parameters of a step as JSON keeps them."""
    return {key: plain_parameter(f"{name}__{key}", value) for key, value in step.get_params(deep=False).items()}


def remade(target: Any, parameters: dict[str, Any]) -> Any:
    """An unfitted step; SavedStateError for a class that is not in the table, or parameters it does not have."""
    if target not in _BY_TARGET:
        raise SavedStateError(f"The saved pipeline has a step of the class {target!r}, which is never loaded.")
    step = _class_of(_BY_TARGET[target])()
    known = step.get_params(deep=False)
    for key, value in parameters.items():
        if key not in known:
            raise SavedStateError(f"The saved pipeline has a parameter {key!r} that {target} does not have.")
        step.set_params(**{key: tuple(value) if isinstance(known[key], tuple) and isinstance(value, list) else value})
    return step


def knowledge(target: str, step: Any) -> Arrays:
    """What a fitted step knows."""
    kind = _BY_TARGET[target]
    names = (*kind.arrays, *kind.numbers)
    return {name: np.array(getattr(step, name)) for name in names if getattr(step, name, None) is not None}


def refit(target: str, step: Any, arrays: Arrays, width: int, n_classes: int = 0) -> None:
    """Give an unfitted step what another one knew of `width` columns and so many classes."""
    kind = _BY_TARGET[target]
    first = arrays.get(kind.arrays[0])
    if kind.learns and (first is None or first.size < width * (1 if n_classes == 2 else n_classes)):
        raise SavedStateError(
            f"The saved pipeline is damaged: {kind.arrays[0]!r} of {target} does not fit its columns."
        )
    zeros = np.zeros((1, width))  # as large as an array of the file, or the number of its features
    try:
        if kind.learns:
            step.partial_fit(zeros, [0], classes=np.arange(n_classes))
        else:
            step.partial_fit(zeros)
    except (ValueError, TypeError) as error:
        raise SavedStateError(f"The saved pipeline does not fit {target}: {error}") from error
    for name in (*kind.arrays, *kind.numbers):
        own = getattr(step, name, None)
        if own is None:
            continue
        given = arrays.get(name)
        fits = given is not None and given.dtype.kind in "if" and bool(np.isfinite(given).all())
        counts = name == "n_samples_seen_" and given is not None and given.shape == (width,)  # rows with gaps
        if not fits or (given is not None and given.shape != np.shape(own) and not counts):
            raise SavedStateError(f"The saved pipeline is damaged: {name!r} of {target} does not fit its columns.")
        assert given is not None
        if isinstance(own, np.ndarray) and own.ndim:
            setattr(step, name, given.astype(own.dtype))
        elif given.ndim:
            setattr(step, name, given.copy())
        else:
            setattr(step, name, given.item() if type(own) in (int, float) else given[()])
