"""The data the checks run on, and the few comparisons they share.

All values are exact in float32, so that a float32 copy of the data holds the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError, MissingExtraError

Make = Callable[[], Any]  # makes a new, unfitted method; untyped, because methods from outside may have any class
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

INFORMATIVE = 2  # the column of a sample whose mean depends on the class
NAMES = ("height", "width", "depth", "weight", "colour")

# Two ways to sum the same numbers differ by rounding; a real difference is far larger.
RELATIVE, ABSOLUTE = 1e-9, 1e-12


def sample(n_rows: int = 120, n_features: int = 5, n_classes: int = 3, seed: int = 0) -> tuple[Floats, Ints]:
    """Normal noise, plus one column that follows the class; every class occurs."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n_rows) % n_classes)
    X = random.normal(size=(n_rows, n_features))
    if n_features > INFORMATIVE:
        X[:, INFORMATIVE] += 3.0 * y
    return X.astype(np.float32).astype(np.float64), y


def flags_sample(n_rows: int = 120, n_features: int = 5, n_classes: int = 3, seed: int = 0) -> tuple[Floats, Ints]:
    """Columns of 0 and 1, of which one mostly grows with the class instead: plain to methods that do not scale, too."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n_rows) % n_classes)
    share = np.resize((0.3, 0.7, 0.5, 0.5), n_features)  # so that the number of ones tells nothing
    X = (random.random((n_rows, n_features)) < share).astype(np.float32)
    X[:, INFORMATIVE] = np.where(random.random(n_rows) < 0.9, y / (n_classes - 1), X[:, INFORMATIVE])
    return X.astype(np.float64), y


def counts_sample(n_rows: int = 120, n_features: int = 5, n_classes: int = 3) -> tuple[Floats, Ints]:
    """Small whole numbers, most of them 0: data that every number type and a sparse matrix can hold."""
    random = np.random.default_rng(1)
    y = random.permutation(np.arange(n_rows) % n_classes)
    X = random.integers(0, 5, size=(n_rows, n_features)) * (random.random((n_rows, n_features)) < 0.5)
    X[:, INFORMATIVE] = np.where(random.random(n_rows) < 0.8, y, 0)
    return X.astype(np.float64), y


def in_batches(selector: Any, X: Floats, y: Ints, size: int) -> Any:
    """Feed the rows in batches of one size."""
    for start in range(0, len(X), size):
        selector.partial_fit(X[start : start + size], y[start : start + size])
    return selector


def expect(condition: bool, message: str) -> None:
    """Fail the check with a message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def same_scores(found: Floats, wanted: Floats, what: str) -> None:
    """Fail unless two score vectors agree up to rounding."""
    np.testing.assert_allclose(found, wanted, rtol=RELATIVE, atol=ABSOLUTE, err_msg=what)


def same_answers(found: dict[str, NDArray[Any]], wanted: dict[str, NDArray[Any]], what: str) -> None:
    """Fail unless two answers agree up to rounding; numbers of things and choices must be the same."""
    for name, array in wanted.items():
        np.testing.assert_allclose(
            found[name], array, rtol=RELATIVE, atol=ABSOLUTE, err_msg=f"{what} ({name})", strict=True
        )


def same_state(found: dict[str, NDArray[Any]], wanted: dict[str, NDArray[Any]], what: str) -> None:
    """Fail unless two states are equal bit for bit, names and types included."""
    expect(set(found) == set(wanted), f"{what}: the arrays are {sorted(found)} instead of {sorted(wanted)}")
    for name, array in wanted.items():
        expect(found[name].dtype == array.dtype, f"{what}: {name} is {found[name].dtype} instead of {array.dtype}")
        np.testing.assert_array_equal(found[name], array, err_msg=f"{what}: {name}")


@contextmanager
def refused(what: str, kind: type[Exception] | tuple[type[Exception], ...] = InputError) -> Iterator[list[str]]:
    """Fail unless the block raises `kind`; the list receives the text of the error."""
    words: list[str] = []
    try:
        yield words
    except kind as error:
        words.append(str(error))
    else:
        raise AssertionError(f"{what} was accepted")


def pandas_for_checks() -> Any:
    """pandas, or an error that says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("Checking tables", "pandas", "test") from error
    return pandas


def polars_for_checks() -> Any:
    """polars, or an error that says how to get it."""
    try:
        import polars
    except ImportError as error:
        raise MissingExtraError("Checking tables", "polars", "test") from error
    return polars


def has_parameter(selector: Any, name: str) -> bool:
    """Whether the method has a parameter of this name."""
    return name in selector.get_params(deep=False)


def selecting(make: Make, number: int) -> Any:
    """A selector told to select `number` features, or left alone where the method decides that itself."""
    selector = make()
    if has_parameter(selector, "n_features_to_select"):
        selector.set_params(n_features_to_select=number)
    return selector
