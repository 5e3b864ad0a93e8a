"""Promises of row methods that take numbers as targets (`task="regression"`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsift.checks.samples import INFORMATIVE, Floats, Make, expect, has_parameter, refused, same_scores, same_state


def _number_sample(n_rows: int = 240, seed: int = 0) -> tuple[Floats, Floats]:
    """Columns of 0 and 1 in equal shares, one of which the number follows; plain to methods that do not scale, too."""
    random = np.random.default_rng(seed)
    X = (random.random((n_rows, 5)) < 0.5).astype(np.float64)
    return X, 4.0 * X[:, INFORMATIVE] + random.normal(size=n_rows) * 0.25


def _for_numbers(make: Make) -> Any:
    return make().set_params(task="regression")


def _fed(make: Make, X: Any, y: Any, size: int = 24) -> Any:
    selector = _for_numbers(make)
    for start in range(0, len(y), size):
        selector.partial_fit(X[start : start + size], y[start : start + size])
    return selector


def check_column_that_explains_a_number_wins(make: Make) -> None:
    """The column that the number follows has the best score, and there are no classes."""
    X, y = _number_sample()
    selector = _fed(make, X, y)
    scores = selector.scores_
    others = np.delete(scores, INFORMATIVE)
    expect(bool(scores[INFORMATIVE] > others.max()), f"the column that explains the number is not first: {scores}")
    expect(not hasattr(selector, "classes_"), "there are classes_ for a target that is a number")


def check_units_of_a_number_do_not_matter(make: Make) -> None:
    """Another unit and another origin of the target rank the features alike."""
    X, y = _number_sample()
    found = _fed(make, X, y).scores_
    other = _fed(make, X, 3.0e4 + 1.0e3 * y).scores_
    np.testing.assert_allclose(other, found, rtol=1e-6, atol=1e-9, err_msg="in other units of the target")


def check_state_of_numbers_survives(make: Make) -> None:
    """A selector that takes over a saved state goes on as the one that wrote it."""
    X, y = _number_sample()
    first = _fed(make, X[:120], y[:120])
    second = _for_numbers(make).load_state_arrays(first.state_arrays())
    same_state(second.state_arrays(), first.state_arrays(), "a state that was taken over")
    for selector in (first, second):
        selector.partial_fit(X[120:], y[120:])
    same_state(second.state_arrays(), first.state_arrays(), "a selector that went on")


def check_bad_numbers_are_refused_and_change_nothing(make: Make) -> None:
    """A target that is no finite number is refused with its row, and the selector stays as it was."""
    X, y = _number_sample()
    selector = _fed(make, X[:120], y[:120])
    before = selector.state_arrays()
    wrong: Any = y[120:160].copy()
    wrong[7] = np.inf
    with refused("an infinite target") as words:
        selector.partial_fit(X[120:160], wrong)
    expect(bool(words) and "7" in words[0], f"the row is not named: {words}")
    with refused("a target of words"):
        selector.partial_fit(X[120:160], np.array(["high", "low"] * 20))
    same_state(selector.state_arrays(), before, "a refused target left something behind")


def check_cut_of_numbers_into_batches_does_not_matter(make: Make) -> None:
    """Methods that promise it score alike however the stream is cut; others at least learn any cut."""
    X, y = _number_sample()
    whole, cut = _fed(make, X, y, 240).scores_, _fed(make, X, y, 7).scores_
    expect(bool(np.isfinite(whole).all() and np.isfinite(cut).all()), "scores are not finite")
    if _for_numbers(make).stream_tags().batch_invariant:
        same_scores(cut, whole, "in batches of 7 rows")


def check_number_of_features_is_kept_for_numbers(make: Make) -> None:
    """As many features are selected as were asked for."""
    selector = _for_numbers(make)
    if has_parameter(selector, "n_features_to_select"):
        selector.set_params(n_features_to_select=2)
        X, y = _number_sample()
        selector.partial_fit(X, y)
        expect(int(selector.get_support().sum()) == 2, "two features were asked for")
