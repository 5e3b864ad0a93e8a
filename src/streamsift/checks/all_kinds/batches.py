"""Checks of methods that are fed batches of rows: row selectors and instance classifiers."""

from __future__ import annotations

import os

import numpy as np

from streamsift.checks.bad_data import expect_words, later_batches, other_names, with_value
from streamsift.checks.drivers import driver_of
from streamsift.checks.samples import (
    NAMES,
    Make,
    expect,
    has_parameter,
    in_batches,
    pandas_for_checks,
    refused,
    same_answers,
    same_state,
)
from streamsift.core.state import n_bytes


def check_later_refusals_say_what_and_where(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    for bad in later_batches():
        with refused(bad.what) as words:
            make().partial_fit(X, y).partial_fit(bad.X, bad.y)
        expect_words(words[0], bad)
    for bad in other_names():
        with refused(bad.what) as words:
            make().partial_fit(pandas_for_checks().DataFrame(X, columns=NAMES), y).partial_fit(bad.X, bad.y)
        expect_words(words[0], bad)


def check_refusals_count_rows_from_the_start_of_the_stream(make: Make) -> None:
    X, y = driver_of(make).sample()
    with refused("infinity in the second batch") as words:
        make().partial_fit(X, y).partial_fit(with_value(X, 3, 0, np.inf), y)
    place = f"row {len(X) + 3} of the stream"
    expect(place in words[0], f"the refusal does not say {place!r}: {words[0]!r}")


def check_failed_call_on_named_columns_changes_nothing(make: Make) -> None:
    X, y = driver_of(make).sample()
    method = make().partial_fit(pandas_for_checks().DataFrame(X, columns=NAMES), y)
    before = method.state_arrays()
    for bad in other_names():
        with refused(bad.what):
            method.partial_fit(bad.X, bad.y)
        same_state(method.state_arrays(), before, f"partial_fit refused {bad.what}, yet the state changed")


def check_named_columns_may_come_in_another_order(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    frame = pandas_for_checks().DataFrame(X, columns=NAMES)
    turned = frame[[*NAMES[2:], *NAMES[:2]]]
    wanted = make().partial_fit(frame, y).partial_fit(frame, y)
    found = make().partial_fit(frame, y).partial_fit(turned, y)
    same_answers(driver.answer(found, X), driver.answer(wanted, X), "columns in another order are not matched by name")
    used = np.array_equal(driver.use(found, turned), driver.use(wanted, frame))
    expect(used, "columns in another order are not matched by name when what was learnt is applied")


def check_permuted_columns_permute_the_answer(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    order = np.array([3, 0, 4, 2, 1])
    wanted = driver.answer(make().partial_fit(X, y), X)
    found = driver.answer(make().partial_fit(X[:, order], y), X[:, order])
    for name in ("scores", "bought"):  # one number per feature
        if name in wanted:
            wanted[name] = wanted[name][order]
    same_answers(found, wanted, "the place of a column changes the answer")


def check_labels_may_be_a_column_vector(make: Make) -> None:
    import warnings

    driver = driver_of(make)
    X, y = driver.sample()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's classifiers warn of it
        found = driver.answer(make().partial_fit(X, y.reshape(-1, 1)), X)
    same_answers(found, driver.answer(make().partial_fit(X, y), X), "labels in a column vector give another answer")


def check_late_class_counts_like_an_announced_one(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample(n_classes=3)
    early, late = np.flatnonzero(y < 2), np.flatnonzero(y == 2)
    found = make().partial_fit(X[early], y[early])
    expect(set(found.classes_.tolist()) == {0, 1}, "classes_ is wrong before the last class came")
    found.partial_fit(X[late], y[late])
    announced = make().partial_fit(X[early], y[early], classes=found.classes_).partial_fit(X[late], y[late])
    expect(set(found.classes_.tolist()) == {0, 1, 2}, "classes_ is wrong after the last class came")
    same_answers(driver.answer(found, X), driver.answer(announced, X), "announcing a class changes the answer")


def check_rows_are_counted(make: Make) -> None:
    X, y = driver_of(make).sample()
    method = make().partial_fit(X, y).partial_fit(X[:13], y[:13])
    expect(method.n_rows_seen_ == len(X) + 13, f"n_rows_seen_ is {method.n_rows_seen_} after {len(X) + 13} rows")
    expect(method.fit(X, y).n_rows_seen_ == len(X), "fit does not start counting rows anew")


def check_memory_does_not_grow_with_the_stream(make: Make) -> None:
    # Without compiled kernels twice the rows must do, and enough of them to fill the buffer of a summary.
    compiled = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
    first, then = (4000, 36_000) if compiled else (1100, 1200)
    method = make()
    if has_parameter(method, "eps"):
        method.set_params(eps=0.02)  # so that a few thousand rows fill the summary
    sizes = []
    for length in (first, then):
        X, y = driver_of(make).sample(n_rows=length, n_features=3, seed=length)
        in_batches(method, X, y, 500)
        sizes.append(n_bytes(method.state_arrays()))
    message = f"{1 + then // first} times the rows took the state from {sizes[0]} to {sizes[1]} bytes"
    expect(sizes[1] < 1.5 * sizes[0], message)


def check_asking_changes_nothing(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    asked = make()
    for start in range(0, len(X), 40):
        asked.partial_fit(X[start : start + 40], y[start : start + 40])
        driver.answer(asked, X)
    quiet = in_batches(make(), X, y, 40)
    same_answers(driver.answer(asked, X), driver.answer(quiet, X), "asking on the way changes the result")
