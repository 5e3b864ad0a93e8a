"""Numbers given to row methods: taken with task="regression", or refused with the reason and what works."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streamsift import EFS, Screener, catalog
from streamsift.core.exceptions import NumbersAsLabelsError, ParameterError


def rows(n_rows: int = 80) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, 5))
    return X, X[:, 1] + 0.1 * rng.random(n_rows)


@pytest.mark.parametrize("name", catalog.names("rows"))
def test_every_row_method_takes_numbers_or_says_what_does(name: str) -> None:
    (X, y), targets = rows(), catalog.entry(name).targets
    if targets == "none":
        assert catalog.make(name).partial_fit(X, y).n_rows_seen_ == len(y)
        return
    with pytest.raises(NumbersAsLabelsError, match=r"y holds 80 different values") as caught:
        catalog.make(name).partial_fit(X, y)
    words = str(caught.value)
    assert words.count(". ") == 0
    if targets == "both":
        assert "set task='regression' (--task regression)" in words
        assert catalog.make(name, task="regression").partial_fit(X, y).n_rows_seen_ == len(y)
        return
    assert "for classes only" in words
    assert "Joint, Screener('correlation'), FIRES, ABFS and OFS take numbers" in words
    if "task" in catalog.parameters(name):
        with pytest.raises(ParameterError, match=r"task='regression'.*Joint"):
            catalog.make(name, task="regression").partial_fit(X, y)


def test_refused_numbers_leave_the_selector_as_it_was() -> None:
    X, y = rows()
    selector = EFS().partial_fit(X, y > 0.5)
    before = selector.state_arrays()
    with pytest.raises(NumbersAsLabelsError, match="a number has no sides"):
        selector.partial_fit(X, y)
    after = selector.state_arrays()
    assert all(np.array_equal(after[key], array) for key, array in before.items())


@pytest.mark.parametrize("batch_size", [1, 7, 20])
def test_numbers_are_refused_however_small_the_batches_are(batch_size: int) -> None:
    X, y = rows()
    selector = Screener("fisher")

    def learn() -> None:
        for first in range(0, len(y), batch_size):
            selector.partial_fit(X[first : first + batch_size], y[first : first + batch_size])

    with pytest.raises(NumbersAsLabelsError, match=r"y holds \d+ different values such as \S+ in the first \d+ rows"):
        learn()
    assert selector.n_rows_seen_ <= 21
    assert len(selector.classes_) == selector.n_rows_seen_


def test_many_labels_with_fractions_are_classes_where_rows_are_many() -> None:
    """Sixty prices in a thousand rows are classes, and so is one more that comes later, alone."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(60), rng.integers(0, 60, 940)]) + 0.5
    selector = Screener("fisher").partial_fit(rng.random((1000, 3)), y)
    selector.partial_fit(rng.random((1, 3)), [99.5])
    assert len(selector.classes_) == 61
