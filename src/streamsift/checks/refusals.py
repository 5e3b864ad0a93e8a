"""Checks of refusals: bad data is refused in words, and a call that raises leaves the selector exactly as it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from streamsift.checks.samples import (
    NAMES,
    Make,
    expect,
    pandas_for_checks,
    refused,
    same_scores,
    same_state,
    sample,
)
from streamsift.core.exceptions import InputError


@dataclass(frozen=True)
class BadBatch:
    """A batch no selector accepts, and the words its refusal must contain."""

    what: str
    X: Any
    y: Any
    words: tuple[str, ...]


def bad_batches(make: Make) -> list[BadBatch]:
    """Batches that are wrong whatever came before."""
    X, y = sample(40)
    late = np.array([*y[:-1], 99])  # a label nobody knows yet: a refused call must not remember it
    text = X.astype(object)
    text[1, 3] = "tall"
    unlabelled = y.astype(float)
    unlabelled[4] = np.nan
    batches = [
        BadBatch("NaN in X", _with(X, 7, 4, np.nan), late, ("Row 7", "'x4'", "NaN")),
        BadBatch("infinity in X", _with(X, 39, 0, np.inf), late, ("Row 39", "'x0'", "infinity")),
        BadBatch("minus infinity in X", _with(X, 0, 1, -np.inf), late, ("Row 0", "'x1'", "infinity")),
        BadBatch("text in X", text, late, ("Row 1", "column 3", "'tall'")),
        BadBatch("more rows than labels", X, late[1:], ("40 rows", "39 labels")),
        BadBatch("a label that is NaN", X, unlabelled, ("Row 4", "no label")),
        BadBatch("no rows", X[:0], y[:0], ("0 sample(s)",)),
        BadBatch("one dimension", X[0], y[:5], ("2D", "reshape")),
        BadBatch("complex numbers", X + 1j, late, ("Complex",)),
    ]
    if make().stream_tags().supervised:
        batches.append(BadBatch("no y", X, None, ("y is None",)))
    return batches


def _with(X: Any, row: int, column: int, value: float) -> Any:
    X = X.copy()
    X[row, column] = value
    return X


def other_columns() -> list[BadBatch]:
    """Batches that are wrong after batches of five columns."""
    X, y = sample(40)
    return [
        BadBatch("a column too few", X[:, :-1], y, ("4 features", "5 features")),
        BadBatch("a column too many", np.column_stack([X, X[:, 0]]), y, ("6 features", "5 features")),
    ]


def other_names() -> list[BadBatch]:
    """Batches that are wrong after batches of columns called NAMES."""
    X, y = sample(40)
    frame = pandas_for_checks().DataFrame(X, columns=NAMES)
    holed = pandas_for_checks().DataFrame(_with(X, 6, 3, np.nan), columns=NAMES)
    return [
        BadBatch("an unknown name", frame.rename(columns={"width": "wdth"}), y, ("'wdth'", "'width'")),
        BadBatch("a missing name", frame.drop(columns="depth"), y, ("'depth'",)),
        BadBatch("one name twice", frame.rename(columns={"width": "depth"}), y, ("'depth'",)),
        BadBatch("NaN in a named column", holed, y, ("Row 6", "'weight'", "NaN")),
    ]


def check_refusals_say_what_and_where(make: Make) -> None:
    for bad in bad_batches(make):
        with refused(bad.what) as words:
            make().partial_fit(bad.X, bad.y)
        _expect_words(words[0], bad)
    for bad in other_columns():
        with refused(bad.what) as words:
            make().partial_fit(*sample()).partial_fit(bad.X, bad.y)
        _expect_words(words[0], bad)
    X, y = sample()
    for bad in other_names():
        with refused(bad.what) as words:
            make().partial_fit(pandas_for_checks().DataFrame(X, columns=NAMES), y).partial_fit(bad.X, bad.y)
        _expect_words(words[0], bad)


def _expect_words(message: str, bad: BadBatch) -> None:
    lacking = [word for word in bad.words if word not in message]
    expect(not lacking, f"the refusal of {bad.what} does not say {lacking}: {message!r}")


def check_refusals_count_rows_from_the_start_of_the_stream(make: Make) -> None:
    X, y = sample()
    with refused("NaN in the second batch") as words:
        make().partial_fit(X, y).partial_fit(_with(X, 3, 0, np.nan), y)
    place = f"row {len(X) + 3} of the stream"
    expect(place in words[0], f"the refusal does not say {place!r}: {words[0]!r}")


def check_failed_call_changes_nothing(make: Make) -> None:
    X, y = sample()
    selector = make().partial_fit(X, y)
    before = selector.state_arrays()
    for bad in bad_batches(make) + other_columns():
        with refused(bad.what):
            selector.partial_fit(bad.X, bad.y)
        same_state(selector.state_arrays(), before, f"partial_fit refused {bad.what}, yet the state changed")
    control = make().partial_fit(X, y).partial_fit(X[::-1], y[::-1])
    selector.partial_fit(X[::-1], y[::-1])
    same_scores(selector.scores_, control.scores_, "refused batches changed what was learnt later")


def check_failed_call_on_named_columns_changes_nothing(make: Make) -> None:
    X, y = sample()
    selector = make().partial_fit(pandas_for_checks().DataFrame(X, columns=NAMES), y)
    before = selector.state_arrays()
    for bad in other_names():
        with refused(bad.what):
            selector.partial_fit(bad.X, bad.y)
        same_state(selector.state_arrays(), before, f"partial_fit refused {bad.what}, yet the state changed")


def check_failed_first_call_leaves_no_trace(make: Make) -> None:
    X, y = sample()
    wanted = make().partial_fit(X, y).state_arrays()
    for bad in bad_batches(make):
        selector = make()
        with refused(bad.what):
            selector.partial_fit(bad.X, bad.y)
        with refused(f"scores_ after a refused first batch ({bad.what})", NotFittedError):
            selector.scores_
        same_state(selector.partial_fit(X, y).state_arrays(), wanted, f"{bad.what} was refused but left a trace")


def check_failed_fit_keeps_what_was_learnt(make: Make) -> None:
    selector = make().partial_fit(*sample())
    before = selector.state_arrays()
    for bad in bad_batches(make):
        with refused(bad.what):
            selector.fit(bad.X, bad.y)
        same_state(selector.state_arrays(), before, f"fit refused {bad.what}, yet the state changed")


def check_huge_values_are_refused_or_survived(make: Make) -> None:
    X, y = sample()
    selector = make().partial_fit(X, y)
    before = selector.state_arrays()
    try:
        selector.partial_fit(_with(X, 5, 1, 1e200), y)
    except InputError:
        same_state(selector.state_arrays(), before, "1e200 was refused, yet the state changed")
    expect(not np.isnan(selector.scores_).any(), "the value 1e200 leads to scores that are NaN")


def check_transform_refuses_what_learning_refuses(make: Make) -> None:
    X, y = sample()
    selector = make().partial_fit(X, y)
    bad = [_with(X, 3, 1, np.nan), X[:, :-1], X[0]]
    for what, matrix in zip(("NaN in X", "a column too few", "one dimension"), bad, strict=True):
        with refused(f"transform of {what}"):
            selector.transform(matrix)
