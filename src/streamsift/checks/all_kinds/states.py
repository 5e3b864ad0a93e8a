"""Checks of state: kept as named arrays, saved and loaded without loss."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from streamsift import persist
from streamsift.checks.drivers import driver_of
from streamsift.checks.samples import NAMES, Make, expect, pandas_for_checks, same_answers, same_state


def check_state_is_plain_arrays(make: Make) -> None:
    driver = driver_of(make)
    for name, array in driver.learn(make(), *driver.sample()).state_arrays().items():
        expect(type(array) is np.ndarray, f"the state {name!r} is a {type(array).__name__}, not an array")
        expect(
            array.dtype.kind in "biufU", f"the state {name!r} is of {array.dtype}; only numbers and text can be saved"
        )


def check_state_survives_a_round_trip(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    for form in (X, pandas_for_checks().DataFrame(X, columns=NAMES)):
        first, second = driver.halves(form, y)
        writer = driver.learn(make(), *first)
        reader = make().load_state_arrays(writer.state_arrays())
        same_state(reader.state_arrays(), writer.state_arrays(), "load_state_arrays does not restore the state")
        for method in (writer, reader):
            driver.more(method, *second)
        same_state(reader.state_arrays(), writer.state_arrays(), "a restored method goes on differently")
        same_answers(driver.answer(reader, X), driver.answer(writer, X), "a restored method answers differently")


def check_loaded_method_goes_on_like_the_saved_one(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    table = pandas_for_checks().DataFrame(X, columns=NAMES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "method.streamsift"
        for what, labels in driver.targets(make, y).items():
            first, second = driver.halves(table, labels)
            writer = driver.learn(make(), *first)
            persist.save(writer, path)
            reader = persist.load(path, method=type(writer))
            expect(reader.get_params(deep=False) == writer.get_params(deep=False), "the loaded parameters differ")
            for method in (writer, reader):
                driver.more(method, *second)
            told = f"with a target of {what}, a loaded method"
            same_state(reader.state_arrays(), writer.state_arrays(), f"{told} goes on differently")
            same_answers(driver.answer(reader, X), driver.answer(writer, X), f"{told} answers differently")


def check_fit_forgets_and_learns_one_batch(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    wanted = driver.learn(make(), X, y).state_arrays()
    same_state(make().fit(X, y).state_arrays(), wanted, "fit differs from the first data of a new method")
    other = driver.learn(make(), *driver.sample(n_features=4, n_classes=2, seed=9))
    same_state(other.fit(X, y).state_arrays(), wanted, "fit remembers what came before it")
