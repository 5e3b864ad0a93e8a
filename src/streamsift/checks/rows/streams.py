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
from streamsift.core.exceptions import OneClassWarning, ParameterError


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


def check_rows_without_label_are_left_out_and_counted(make: Make) -> None:
    X, y = sample()
    gone = np.random.default_rng(4).random(len(y)) < 0.3
    gone[:10] = True  # a whole batch, and the first
    supervised = make().stream_tags().supervised
    wanted = make()
    for part in np.split(np.arange(len(y)), 12):
        kept = part[~gone[part]] if supervised else part
        if len(kept):
            wanted.partial_fit(X[kept], y[kept])
    pandas = pandas_for_checks()
    forms = {
        "NaN": np.where(gone, np.nan, y),
        "None": [None if missing else int(label) for missing, label in zip(gone, y, strict=True)],
        "empty text": np.where(gone, "", y.astype(str)),
        "pandas.NA": pandas.Series(np.where(gone, np.nan, y)).astype("Int64"),
    }
    for what, labels in forms.items():
        selector = make()
        for part in np.split(np.arange(len(y)), 12):
            cut = slice(part[0], part[-1] + 1)
            selector.partial_fit(X[cut], labels[cut])
        same_scores(selector.scores_, wanted.scores_, f"rows whose label is {what} are not as if they had not come")
        n_learnt, n_left_out = (int(np.sum(~gone)), int(np.sum(gone))) if supervised else (len(y), 0)
        expect(selector.n_rows_seen_ == n_learnt, f"n_rows_seen_ is {selector.n_rows_seen_} with labels of {what}")
        expect(selector.n_rows_unlabelled_ == n_left_out, f"n_rows_unlabelled_ does not count rows with {what}")
        again = make().load_state_arrays(selector.state_arrays())
        expect(again.n_rows_unlabelled_ == n_left_out, "a restored selector has forgotten the rows without a label")
    if supervised:
        with refused("a fit without any label"):
            make().fit(X, np.full(len(y), np.nan))


def check_values_of_rows_without_label_do_not_matter(make: Make) -> None:
    X, y = sample(40)
    labels = y.astype(float)
    labels[[4, 20]] = np.nan
    bad = X.copy()
    bad[4] = np.nan
    make().partial_fit(bad, labels)
    bad[21, 3] = np.inf
    with refused("infinity behind a row without a label") as words:
        make().partial_fit(bad, labels)
    expect("Row 21" in words[0] and "'x3'" in words[0], f"the refusal does not name row and column: {words[0]!r}")


def check_sample_weight_counts_or_is_refused(make: Make) -> None:
    X, y = sample()
    if not make().stream_tags().weights:
        with refused("sample_weight, without the tag `weights`,", ParameterError) as words:
            make().partial_fit(X, y, sample_weight=np.ones(len(y)))
        expect("sample_weight" in words[0], f"the refusal does not name sample_weight: {words[0]!r}")
        return
    ones = make().partial_fit(X, y, sample_weight=np.ones(len(y)))
    same_scores(ones.scores_, make().partial_fit(X, y).scores_, "weights of 1 change the scores")
    kept = np.random.default_rng(5).random(len(y)) < 0.6
    wanted = make().partial_fit(X[:60][kept[:60]], y[:60][kept[:60]]).partial_fit(X[60:][kept[60:]], y[60:][kept[60:]])
    found = make().partial_fit(X[:60], y[:60], sample_weight=kept[:60].astype(float))
    found.partial_fit(X[60:], y[60:], sample_weight=kept[60:])
    same_scores(found.scores_, wanted.scores_, "a row of weight 0 is not as if it had not come")
    heavier = make().partial_fit(X, y, sample_weight=np.where(kept, 3.0, 1.0))
    expect(not np.allclose(heavier.scores_, ones.scores_, rtol=1e-6), "weights do not change the scores")
    before = heavier.state_arrays()
    heavier.partial_fit(X[:5], y[:5], sample_weight=np.zeros(5))
    same_state(heavier.state_arrays(), before, "rows of weight 0 change the state")
    for what, weight in {
        "a weight too few": np.ones(len(y) - 1),
        "a negative weight": np.where(kept, 1.0, -1.0),
        "a weight that is NaN": np.where(kept, 1.0, np.nan),
    }.items():
        with refused(what):
            heavier.partial_fit(X, y, sample_weight=weight)
        same_state(heavier.state_arrays(), before, f"{what} changed the state")


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


def check_features_that_come_and_go_are_refused_without_the_promise(make: Make) -> None:
    if make().stream_tags().late_features:
        return  # the other checks of late features apply
    X, y = sample()
    frame = pandas_for_checks().DataFrame(X, columns=list("abcde"))
    selector = make().partial_fit(frame[list("abcd")], y)
    before = selector.state_arrays()
    for columns, name in ((list("abcde"), "'e'"), (list("abc"), "'d'")):
        with refused(f"the columns {columns} after 'abcd'") as words:
            selector.partial_fit(frame[columns], y)
        expect(name in words[0], f"the refusal does not name column {name}: {words[0]!r}")
        expect("new_features" not in words[0], f"the refusal advises what the method does not offer: {words[0]!r}")
        same_state(selector.state_arrays(), before, "a refused batch with other columns changed the state")


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
    shrunk = np.asarray(selector.transform(frame[["d", "b"]]))
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
