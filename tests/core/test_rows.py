"""RowSelector: what the base does for every method beyond what the contract checks ask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.contract.mean_gap import ClassSums, MeanGap

from streamsift.checks.samples import sample
from streamsift.core.batch import Batch, CheckedBatch
from streamsift.core.exceptions import EmptySelectionWarning, MergeError, OneClassWarning, SavedStateError
from streamsift.core.rows import RowSelector
from streamsift.core.tags import StreamTags


class Unsupervised(MeanGap):
    """Scores by the sum of a column, whatever y says."""

    def stream_tags(self) -> StreamTags:
        return StreamTags(supervised=False)

    def _learn(self, state: ClassSums, batch: CheckedBatch) -> None:
        state.sums = np.vstack([state.sums, batch.X]).sum(axis=0, keepdims=True)

    def _score(self, state: ClassSums) -> Any:
        return state.sums[0]


class SelectsNothing(MeanGap):
    def _chosen(self) -> Any:
        return np.empty(0, np.intp)


def test_the_hooks_have_no_default() -> None:
    bare, state = RowSelector(), ClassSums(np.zeros(0), np.zeros((0, 1)))
    assert bare.stream_tags() == StreamTags()
    batch: Any = CheckedBatch(np.zeros((1, 1)), np.zeros(1, np.int64), None, None, 0)  # type: ignore[arg-type]
    for call in (
        lambda: bare._begin(batch),
        lambda: bare._learn(state, batch),
        lambda: bare._score(state),
        lambda: bare._merge(state, state),
        lambda: bare._align_classes(state, np.zeros(1, np.int64), 1),
    ):
        with pytest.raises(NotImplementedError):
            call()


def test_an_unsupervised_method_needs_no_labels_and_has_no_classes() -> None:
    selector = Unsupervised().partial_fit(sample()[0]).partial_fit(sample()[0])
    assert not hasattr(selector, "classes_")
    assert selector.get_support().all()
    assert not selector.__sklearn_tags__().target_tags.required


def test_a_method_without_the_promise_does_not_merge() -> None:
    with pytest.raises(MergeError, match="Unsupervised cannot be merged: its state depends on the order"):
        Unsupervised().merge(Unsupervised())


def test_a_batch_of_a_stream_is_learnt_with_its_names() -> None:
    X, y = sample()
    selector = MeanGap().partial_fit(Batch(X, y, tuple("abcde")))
    assert selector.feature_names_in_.tolist() == list("abcde")


def test_names_are_forgotten_by_a_fit_without_names() -> None:
    X, y = sample()
    selector = MeanGap().partial_fit(Batch(X, y, tuple("abcde"))).fit(X, y)
    assert not hasattr(selector, "feature_names_in_")


def test_selectors_over_other_names_do_not_merge() -> None:
    X, y = sample()
    named = MeanGap().partial_fit(Batch(X, y, tuple("abcde")))
    with pytest.raises(MergeError, match=r"5 features \('a' to 'e'\) here, 5 features \(unnamed\) there"):
        named.merge(MeanGap().partial_fit(X, y))


def test_array_parameters_are_compared_by_value() -> None:
    X, y = sample()
    selectors = [MeanGap(np.array([1, 2])), MeanGap(np.array([1, 2])), MeanGap(np.array([1, 3]))]
    for selector in selectors:
        kept = selector.n_features_to_select
        selector.set_params(n_features_to_select=2).partial_fit(X, y).set_params(n_features_to_select=kept)
    assert selectors[0].merge(selectors[1]).n_rows_seen_ == 2 * len(X)
    with pytest.raises(MergeError, match="different settings"):
        selectors[0].merge(selectors[2])


def test_merging_with_itself_counts_twice() -> None:
    selector = MeanGap().partial_fit(*sample())
    assert selector.merge(selector).n_rows_seen_ == 240


def test_an_empty_selection_warns() -> None:
    X, y = sample()
    selector = SelectsNothing().partial_fit(X, y)
    with pytest.warns(EmptySelectionWarning, match="the result has no columns"):
        assert selector.transform(X).shape == (len(X), 0)


def test_one_class_warns_with_its_label() -> None:
    selector = MeanGap().partial_fit(sample()[0], ["only"] * 120)
    with pytest.warns(OneClassWarning, match="All 120 rows so far have the label 'only'"):
        selector.get_support()


def test_a_state_without_labels_is_refused_and_changes_nothing() -> None:
    selector = MeanGap().partial_fit(*sample())
    arrays = selector.state_arrays()
    del arrays["labels"]
    with pytest.raises(SavedStateError, match="lacks 'labels'"):
        selector.load_state_arrays(arrays)
    with pytest.raises(SavedStateError, match="5 features but 2 names"):
        selector.load_state_arrays(selector.state_arrays() | {"feature_names": np.array(["a", "b"])})
    assert selector.n_rows_seen_ == 120
    assert not hasattr(selector, "feature_names_in_")
