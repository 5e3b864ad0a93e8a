"""Checks of parameters: stored as given, limited, refused in one wording; nothing is answered before there is data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from streamsift.checks.samples import Make, expect, refused, same_state, sample
from streamsift.core.exceptions import ParameterError
from streamsift.core.rows import RowSelector

# Whatever a parameter accepts, it refuses some of these.
NAN, INFINITY = float("nan"), float("inf")
ODD_VALUES: tuple[Any, ...] = (NAN, INFINITY, -1, 0, -0.5, 2.5, True, None, "no such choice", b"bytes", object)


def check_init_only_stores_arguments(make: Make) -> None:
    selector = make()
    values = selector.get_params(deep=False)
    twin = type(selector)(**values)
    expect(set(vars(twin)) == set(values), f"__init__ sets {sorted(vars(twin))} instead of {sorted(values)}")
    for name, value in values.items():
        expect(getattr(twin, name) is value, f"__init__ changes the argument {name!r}")
    odd = {name: object() for name in values}
    expect(vars(type(selector)(**odd)) == odd, "__init__ looks into its arguments; that is the work of the first batch")


def check_clone_is_unfitted_with_equal_parameters(make: Make) -> None:
    selector = make()
    selector.partial_fit(*sample())
    before = selector.state_arrays()
    twin = clone(selector)
    expect(twin.get_params(deep=False) == selector.get_params(deep=False), "the clone has other parameters")
    with refused("a clone, asked for scores before data,", NotFittedError):
        twin.scores_
    twin.partial_fit(*sample(seed=5))
    same_state(selector.state_arrays(), before, "training a clone changed the original")


def check_every_parameter_has_limits(make: Make) -> None:
    selector = make()
    limited, named = set(selector.parameter_limits), set(selector.get_params(deep=False))
    expect(limited == named, f"parameter_limits names {sorted(limited)}, __init__ takes {sorted(named)}")


def check_bad_parameters_are_refused_in_one_wording(make: Make) -> None:
    X, y = sample()
    for name, constraints in make().parameter_limits.items():
        bad = [value for value in ODD_VALUES if not any(constraint.accepts(value) for constraint in constraints)]
        expect(bool(bad), f"the limits of {name!r} accept everything")
        for value in bad:
            selector = make().set_params(**{name: value})
            with refused(f"{name}={value!r}", ParameterError) as words:
                selector.partial_fit(X, y)
            owner = type(selector).__name__
            wanted = f"The {name!r} parameter of {owner} must be "
            right = words[0].startswith(wanted) and words[0].endswith(f". Got {value!r} instead.")
            expect(right, f"{words[0]!r} should read '{wanted}... Got {value!r} instead.'")
            expect(not hasattr(selector, "n_rows_seen_"), f"{name}={value!r} was refused, yet rows count as seen")


def check_nothing_is_answered_before_data(make: Make) -> None:
    X, _ = sample()
    questions: dict[str, Callable[[RowSelector], Any]] = {
        "scores_": lambda selector: selector.scores_,
        "ranking_": lambda selector: selector.ranking_,
        "get_support": lambda selector: selector.get_support(),
        "selection": lambda selector: selector.selection(),
        "transform": lambda selector: selector.transform(X),
        "get_feature_names_out": lambda selector: selector.get_feature_names_out(),
        "state_arrays": lambda selector: selector.state_arrays(),
    }
    for name, ask in questions.items():
        with refused(f"{name} before any data", NotFittedError):
            ask(make())


def check_learning_returns_self(make: Make) -> None:
    X, y = sample()
    selector = make()
    expect(selector.partial_fit(X, y) is selector, "partial_fit does not return self")
    expect(selector.fit(X, y) is selector, "fit does not return self")
    expect(selector.load_state_arrays(selector.state_arrays()) is selector, "load_state_arrays does not return self")


def check_global_random_numbers_are_left_alone(make: Make) -> None:
    before = np.random.get_state()
    make().partial_fit(*sample()).scores_
    after = np.random.get_state()
    untouched = all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    expect(untouched, "numpy's global random generator was used: take random_state instead")
