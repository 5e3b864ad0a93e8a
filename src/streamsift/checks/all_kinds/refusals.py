"""Checks of refusals: bad data is refused in words, and a call that raises leaves the method exactly as it was."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError

from streamsift.checks.bad_data import expect_words, with_value
from streamsift.checks.drivers import driver_of
from streamsift.checks.samples import Make, refused, same_answers, same_state


def check_refusals_say_what_and_where(make: Make) -> None:
    driver = driver_of(make)
    for bad in driver.bad_first(make):
        with refused(bad.what) as words:
            driver.learn(make(), bad.X, bad.y)
        expect_words(words[0], bad)


def check_failed_call_changes_nothing(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    method = driver.learn(make(), X, y)
    before = method.state_arrays()
    for bad in driver.bad_later(make):
        with refused(bad.what):
            driver.more(method, bad.X, bad.y)
        same_state(method.state_arrays(), before, f"{bad.what} was refused, yet the state changed")
    control = driver.more(driver.learn(make(), X, y), X[:, ::-1], y)
    driver.more(method, X[:, ::-1], y)
    wanted = driver.answer(control, X)
    same_answers(driver.answer(method, X), wanted, "refused data changed what was learnt later")


def check_failed_first_call_leaves_no_trace(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    wanted = driver.learn(make(), X, y).state_arrays()
    for bad in driver.bad_first(make):
        method = make()
        with refused(bad.what):
            driver.learn(method, bad.X, bad.y)
        with refused(f"state_arrays after refused first data ({bad.what})", NotFittedError):
            method.state_arrays()
        same_state(driver.learn(method, X, y).state_arrays(), wanted, f"{bad.what} was refused but left a trace")


def check_failed_fit_keeps_what_was_learnt(make: Make) -> None:
    driver = driver_of(make)
    method = driver.learn(make(), *driver.sample())
    before = method.state_arrays()
    for bad in driver.bad_first(make):
        with refused(bad.what):
            method.fit(bad.X, bad.y)
        same_state(method.state_arrays(), before, f"fit refused {bad.what}, yet the state changed")


def check_rows_of_another_width_are_refused(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    method = driver.learn(make(), X, y)
    bad = {"infinity in X": with_value(X, 3, 2, float("inf")), "a column too few": X[:, :-1], "one dimension": X[0]}
    for what, rows in bad.items():
        with refused(f"applying what was learnt to {what}"):
            driver.use(method, rows)
