"""Checks of parameters: stored as given, limited, refused in one wording; nothing is answered before there is data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from streamsift.checks.drivers import driver_of
from streamsift.checks.samples import Make, expect, has_parameter, refused, same_state
from streamsift.core.exceptions import ParameterError

# Whatever a parameter accepts, it refuses some of these.
NAN, INFINITY = float("nan"), float("inf")
ODD_VALUES: tuple[Any, ...] = (NAN, INFINITY, -1, 0, -0.5, 2.5, True, None, "no such choice", b"bytes", object)


def check_init_only_stores_arguments(make: Make) -> None:
    method = make()
    values = method.get_params(deep=False)
    twin = type(method)(**values)
    expect(set(vars(twin)) == set(values), f"__init__ sets {sorted(vars(twin))} instead of {sorted(values)}")
    for name, value in values.items():
        expect(getattr(twin, name) is value, f"__init__ changes the argument {name!r}")
    odd = {name: object() for name in values}
    expect(vars(type(method)(**odd)) == odd, "__init__ looks into its arguments; that is the work of the first batch")


def check_clone_is_unfitted_with_equal_parameters(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    method = driver.learn(make(), X, y)
    before = method.state_arrays()
    twin = clone(method)
    expect(twin.get_params(deep=False) == method.get_params(deep=False), "the clone has other parameters")
    with refused("a clone, asked before data,", NotFittedError):
        twin.state_arrays()
    driver.learn(twin, *driver.sample(seed=5))
    same_state(method.state_arrays(), before, "training a clone changed the original")


def check_every_parameter_has_limits(make: Make) -> None:
    method = make()
    limited, named = set(method.parameter_limits), set(method.get_params(deep=False))
    expect(limited == named, f"parameter_limits names {sorted(limited)}, __init__ takes {sorted(named)}")


def check_bad_parameters_are_refused_in_one_wording(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    for name, constraints in make().parameter_limits.items():
        bad = [value for value in ODD_VALUES if not any(constraint.accepts(value) for constraint in constraints)]
        expect(bool(bad), f"the limits of {name!r} accept everything")
        for value in bad:
            method = make().set_params(**{name: value})
            with refused(f"{name}={value!r}", ParameterError) as words:
                driver.learn(method, X, y)
            owner = type(method).__name__
            wanted = f"The {name!r} parameter of {owner} must be "
            right = words[0].startswith(wanted) and words[0].endswith(f". Got {value!r} instead.")
            expect(right, f"{words[0]!r} should read '{wanted}... Got {value!r} instead.'")
            with refused(f"state_arrays after {name}={value!r} was refused", NotFittedError):
                method.state_arrays()


def check_nothing_is_answered_before_data(make: Make) -> None:
    driver = driver_of(make)
    X, _ = driver.sample()
    for name, ask in driver.questions(X).items():
        with refused(f"{name} before any data", NotFittedError):
            ask(make())


def check_learning_returns_self(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    method = make()
    expect(driver.learn(method, X, y) is method, "learning a first batch does not return self")
    expect(method.fit(X, y) is method, "fit does not return self")
    expect(method.load_state_arrays(method.state_arrays()) is method, "load_state_arrays does not return self")


def check_global_random_numbers_are_left_alone(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    before = np.random.get_state()
    driver.answer(driver.learn(make(), X, y), X)
    after = np.random.get_state()
    untouched = all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    expect(untouched, "numpy's global random generator was used: take random_state instead")


def check_same_seed_same_result(make: Make) -> None:
    driver = driver_of(make)
    first, second = driver.halves(*driver.sample())
    seed = {"random_state": 7} if has_parameter(make(), "random_state") else {}
    states = [driver.more(driver.learn(make().set_params(**seed), *first), *second).state_arrays() for _ in range(2)]
    same_state(states[0], states[1], "two runs over the same data differ")
