"""Data that no method accepts, and the words its refusal must contain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamsift.checks.samples import NAMES, expect, pandas_for_checks, sample


@dataclass(frozen=True)
class BadData:
    """Rows with labels that are refused, and the words of the refusal."""

    what: str
    X: Any
    y: Any
    words: tuple[str, ...] = ()


def with_value(X: Any, row: int, column: int, value: float) -> Any:
    """A copy with one value replaced."""
    X = X.copy()
    X[row, column] = value
    return X


def expect_words(message: str, bad: BadData) -> None:
    """Fail unless a refusal says what it must."""
    lacking = [word for word in bad.words if word not in message]
    expect(not lacking, f"the refusal of {bad.what} does not say {lacking}: {message!r}")


def _text(X: Any) -> Any:
    text = X.astype(object)
    text[1, 3] = "tall"
    return text


def bad_batches(*, supervised: bool) -> list[BadData]:
    """Batches of rows that are wrong whatever came before."""
    X, y = sample(40)
    late = np.array([*y[:-1], 99])  # a label nobody knows yet: a refused call must not remember it
    batches = [
        BadData("NaN in X", with_value(X, 7, 4, np.nan), late, ("Row 7", "'x4'", "NaN")),
        BadData("infinity in X", with_value(X, 39, 0, np.inf), late, ("Row 39", "'x0'", "infinity")),
        BadData("minus infinity in X", with_value(X, 0, 1, -np.inf), late, ("Row 0", "'x1'", "infinity")),
        BadData("text in X", _text(X), late, ("Row 1", "column 3", "'tall'")),
        BadData("more rows than labels", X, late[1:], ("40 rows", "39 labels")),
        BadData("no rows", X[:0], y[:0], ("0 sample(s)",)),
        BadData("one dimension", X[0], y[:5], ("2D", "reshape")),
        BadData("complex numbers", X + 1j, late, ("Complex",)),
    ]
    if supervised:
        batches.append(BadData("no y", X, None, ("y is None",)))
    return batches


def unlabelled_batch() -> BadData:
    """A batch in which one row has no label."""
    X, y = sample(40)
    unlabelled = y.astype(float)
    unlabelled[4] = np.nan
    return BadData("a label that is NaN", X, unlabelled, ("Row 4", "no label"))


def later_batches() -> list[BadData]:
    """Batches of rows that are wrong after batches of five columns."""
    X, y = sample(40)
    return [
        BadData("a column too few", X[:, :-1], y, ("4 features", "5 features")),
        BadData("a column too many", np.column_stack([X, X[:, 0]]), y, ("6 features", "5 features")),
    ]


def other_names() -> list[BadData]:
    """Batches of rows that are wrong after batches of columns called NAMES."""
    X, y = sample(40)
    frame = pandas_for_checks().DataFrame(X, columns=NAMES)
    wrong = pandas_for_checks().DataFrame(with_value(X, 6, 3, np.inf), columns=NAMES)
    return [
        BadData("an unknown name", frame.rename(columns={"width": "wdth"}), y, ("'wdth'", "'width'")),
        BadData("a missing name", frame.drop(columns="depth"), y, ("'depth'",)),
        BadData("one name twice", frame.rename(columns={"width": "depth"}), y, ("'depth'",)),
        BadData("infinity in a named column", wrong, y, ("Row 6", "'weight'", "infinity")),
    ]


def bad_columns() -> list[BadData]:
    """Columns with a target that are wrong as the first of a stream."""
    X, y = sample(40, n_classes=2)
    unlabelled = y.astype(float)
    unlabelled[4] = np.nan
    return [
        *_bad_blocks(X, y),
        BadData("more rows than the target has", X, y[1:], ("40 rows", "39")),
        BadData("a target that is NaN", X, unlabelled, ("Row 4",)),
        BadData("no rows", X[:0], y[:0], ("0 sample(s)",)),
        BadData("one dimension", X[0], y[:5], ("2D", "reshape")),
        BadData("a target of two dimensions", X, X[:, :2], ("one dimension",)),
        BadData("no y", X, None, ("y is None",)),
    ]


def later_columns() -> list[BadData]:
    """Blocks of columns that are wrong after a sample."""
    X, y = sample(n_classes=2)
    return [
        *_bad_blocks(X, y),
        BadData("a row too few", X[1:], y, ("119 rows", "120")),
        BadData("one dimension", X[:, 0], y, ("2D", "reshape")),
    ]


def _bad_blocks(X: Any, y: Any) -> list[BadData]:
    return [
        BadData("NaN in X", with_value(X, 7, 4, np.nan), y, ("Row 7", "'x4'", "NaN")),
        BadData("infinity in X", with_value(X, 39, 0, np.inf), y, ("Row 39", "'x0'", "infinity")),
        BadData("minus infinity in X", with_value(X, 0, 1, -np.inf), y, ("Row 0", "'x1'", "infinity")),
        BadData("text in X", _text(X), y, ("Row 1", "column 3", "'tall'")),
        BadData("complex numbers", X + 1j, y, ("Complex",)),
    ]
