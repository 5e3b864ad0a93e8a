"""Checks of streams: how rows, classes, features and values may come and go, and what may not depend on it."""

from __future__ import annotations

import warnings

import numpy as np

from streamsift.checks.all_kinds.hard_data import CONSTANTS
from streamsift.checks.samples import (
    INFORMATIVE,
    Make,
    expect,
    flags_sample,
    in_batches,
    pandas_for_checks,
    refused,
    same_scores,
    same_state,
    sample,
)
from streamsift.core.exceptions import OneClassWarning


def check_cut_into_batches_does_not_matter(make: Make) -> None:
    X, y = sample(150, n_classes=4)
    y.sort()  # classes arrive late, one after the other
    whole = make().partial_fit(X, y)
    for size in (1, 7, 64):
        cut = in_batches(make(), X, y, size)
        same_scores(cut.scores_, whole.scores_, f"batches of {size} give other scores than one batch")
        expect(cut.n_rows_seen_ == whole.n_rows_seen_, f"batches of {size}: n_rows_seen_ is wrong")
        expect(cut.classes_.tolist() == whole.classes_.tolist(), f"batches of {size}: classes_ differs")


def check_one_class_scores_zero_and_warns(make: Make) -> None:
    X, _ = sample(30)
    for announced in (None, ["only", "another"]):
        selector = make().partial_fit(X, ["only"] * 30, classes=announced)
        expect(not selector.scores_.any(), "with one class, scores are not 0")
        if announced is None:
            for ask in (selector.get_support, selector.selection):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    ask()
                kinds = [warning.category for warning in caught]
                expect(kinds == [OneClassWarning], f"with one class, {ask.__name__} gives the warnings {kinds}")


def check_many_classes(make: Make) -> None:
    X, y = flags_sample(210, n_classes=7)
    selector = make().partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    expect(len(selector.classes_) == 7, f"7 classes came, classes_ has {len(selector.classes_)}")
    expect(bool(np.isfinite(selector.scores_).all()), "with 7 classes, scores are not finite")
    expect(int(np.argmax(selector.scores_)) == INFORMATIVE, "with 7 classes, noise beats the informative column")


def check_constant_features_do_not_come_first(make: Make) -> None:
    X, y = sample()
    for value in CONSTANTS:
        X[:, 0] = value
        selector = make().partial_fit(X, y)
        found = int(np.argmax(selector.scores_))
        right = found == INFORMATIVE if selector.stream_tags().supervised else found != 0
        expect(right, f"beside a column that is always {value}, column {found} comes first")


def check_missing_values_are_not_counted(make: Make) -> None:
    X, y = sample()
    gaps = np.random.default_rng(3).random(X.shape) < 0.3
    holed = np.where(gaps, np.nan, X)
    found = make().set_params(missing="skip").partial_fit(holed[:50], y[:50]).partial_fit(holed[50:], y[50:])
    for feature in range(X.shape[1]):
        kept = ~gaps[:, feature]
        alone = make().set_params(missing="skip").partial_fit(X[kept, feature : feature + 1], y[kept])
        what = f"NaN in column {feature} is not the same as leaving those rows out"
        same_scores(found.scores_[feature : feature + 1], alone.scores_, what)
    complete = make().set_params(missing="skip").partial_fit(X, y).scores_
    same_scores(complete, make().partial_fit(X, y).scores_, "missing='skip' changes the scores of complete data")


def check_missing_values_may_fill_a_column(make: Make) -> None:
    X, y = sample()
    X[:, 1] = np.nan
    selector = make().set_params(missing="skip").partial_fit(X, y)
    expect(selector.scores_[1] == 0.0, f"a column that is always NaN scores {selector.scores_[1]} instead of 0")
    with refused("infinity under missing='skip'"):
        selector.partial_fit(np.where(np.isnan(X), np.inf, X), y)


def check_late_features_get_a_slot(make: Make) -> None:
    X, y = flags_sample(300)
    frame = pandas_for_checks().DataFrame(X, columns=list("abcde"))
    selector = make().set_params(new_features="add", n_features_to_select=2)
    selector.partial_fit(frame[["b", "a"]][:20], y[:20])
    for start in range(20, 300, 20):
        selector.partial_fit(frame[start : start + 20], y[start : start + 20])
    expect(selector.feature_names_in_.tolist() == list("bacde"), "newcomers do not come behind the known ones")
    expect(selector.n_features_in_ == 5, "n_features_in_ does not count the newcomers")
    expect(selector.scores_.shape == (5,), "there is not one score per feature")
    found = "c" in selector.get_feature_names_out()
    expect(found or not selector.stream_tags().supervised, "an informative newcomer is not selected")


def check_vanished_features_keep_their_slots(make: Make) -> None:
    X, y = sample()
    frame = pandas_for_checks().DataFrame(X, columns=list("abcde"))
    selector = make().set_params(new_features="add").partial_fit(frame[:60], y[:60])
    selector.partial_fit(frame[["e", "c"]][60:], y[60:])
    expect(selector.feature_names_in_.tolist() == list("abcde"), "a feature that vanished has lost its slot")
    expect(not np.isnan(selector.scores_).any(), "a feature that vanished scores NaN")
    selector.partial_fit(frame, y)
    expect(selector.n_features_in_ == 5, "a feature that came back got a second slot")


def check_transform_follows_coming_and_going_features(make: Make) -> None:
    X, y = sample()
    frame = pandas_for_checks().DataFrame(X, columns=list("abcde"))
    known = frame[list("abcd")]
    selector = make().set_params(new_features="add", n_features_to_select=4).partial_fit(known, y)
    expect(np.array_equal(selector.transform(frame), known), "transform does not leave out a column nobody knows")
    expect(selector.n_features_in_ == 4, "transform learns new columns")
    shrunk = selector.transform(frame[["d", "b"]])
    expect(np.array_equal(shrunk[:, [1, 3]], frame[["b", "d"]]), "transform does not match columns by name")
    expect(bool(np.isnan(shrunk[:, [0, 2]]).all()), "a selected feature that is not there is not NaN in the result")


def check_absent_features_are_missing_values(make: Make) -> None:
    X, y = sample()
    frame = pandas_for_checks().DataFrame(X, columns=list("abcde"))
    part = frame[["a", "c", "d"]][:50]
    found = make().set_params(new_features="add").partial_fit(part, y[:50]).partial_fit(frame[50:], y[50:])
    known = found.feature_names_in_.tolist()
    holed = frame.copy()
    holed.loc[:49, ["b", "e"]] = np.nan
    wanted = make().set_params(missing="skip").partial_fit(holed[known], y)
    same_scores(found.scores_, wanted.scores_, "a feature that is not there counts differently from one that is NaN")


def check_failed_call_with_new_features_changes_nothing(make: Make) -> None:
    X, y = sample()
    frame = pandas_for_checks().DataFrame(X, columns=list("abcde"))
    selector = make().set_params(new_features="add").partial_fit(frame[["a", "b", "c"]], y)
    before = selector.state_arrays()
    bad = frame.copy()
    bad.loc[9, "b"] = np.nan
    for columns in (list("abcde"), ["b", "d"]):  # with all known columns, and with some of them absent
        with refused(f"NaN in column 'b' of {columns}") as words:
            selector.partial_fit(bad[columns], y)
        expect("Row 9" in words[0] and "'b'" in words[0], f"the refusal does not name row and column: {words[0]!r}")
        same_state(selector.state_arrays(), before, "a refused batch with new features changed the state")
