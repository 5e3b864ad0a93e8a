"""Checks of hard data: constant columns, very little data, very large numbers."""

from __future__ import annotations

import numpy as np

from streamsift.checks.bad_data import with_value
from streamsift.checks.drivers import driver_of
from streamsift.checks.samples import Make, expect, same_state
from streamsift.core.exceptions import InputError

CONSTANTS = (0.0, 1.0, -3.5, 1e8, 1e-300)


def check_constant_features_do_not_make_nan(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    for value in CONSTANTS:
        flat = X.copy()
        flat[:, 0] = value
        _expect_numbers(make, flat, y, f"a column that is always {value}")
        _expect_numbers(make, np.full_like(X, value), y, f"data that is always {value}")


def check_tiny_data(make: Make) -> None:
    X, y = driver_of(make).sample()
    shapes = {"one feature": (X[:, :1], y), "one row": (X[:1], y[:1]), "two rows": (X[:2], np.array([0, 1]))}
    for what, (matrix, labels) in shapes.items():
        _expect_numbers(make, matrix, labels, what)


def _expect_numbers(make: Make, X: np.ndarray, y: np.ndarray, what: str) -> None:
    driver = driver_of(make)
    for name, array in driver.answer(driver.learn(make(), X, y), X).items():
        expect(not np.isnan(array).any(), f"{what} leads to {name} that are NaN")


def check_huge_values_are_refused_or_survived(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    method = driver.learn(make(), X, y)
    before = method.state_arrays()
    try:
        driver.more(method, with_value(X, 5, 1, 1e200), y)
    except InputError:
        same_state(method.state_arrays(), before, "1e200 was refused, yet the state changed")
    for name, array in driver.answer(method, X).items():
        expect(not np.isnan(array).any(), f"the value 1e200 leads to {name} that are NaN")
