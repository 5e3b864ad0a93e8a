"""Vocabularies: labels and names get their codes by first appearance, and a failed call changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsift.core.exceptions import InputError
from streamsift.core.vocabulary import FeatureVocabulary, LabelVocabulary, check_names


def encoded(*batches: Any) -> tuple[list[list[int]], LabelVocabulary]:
    vocabulary, codes = LabelVocabulary(), []
    for labels in batches:
        found, vocabulary = vocabulary.encode(labels)
        codes.append(found.tolist())
    return codes, vocabulary


class TestLabels:
    def test_codes_follow_first_appearance(self) -> None:
        codes, vocabulary = encoded(np.array([7, 3, 7]), np.array([1, 3]))
        assert codes == [[0, 1, 0], [2, 1]]
        assert vocabulary.labels == (7, 3, 1)

    def test_encoding_leaves_the_old_vocabulary_alone(self) -> None:
        vocabulary = LabelVocabulary(["a"])
        vocabulary.encode(["b"])
        assert vocabulary.labels == ("a",)

    def test_known_labels_keep_the_vocabulary(self) -> None:
        for labels in (["a", "b"], [(1, 2), (3,)], [1, "1"]):
            _, vocabulary = encoded(labels)
            assert vocabulary.encode(labels)[1] is vocabulary

    @pytest.mark.parametrize(
        ("first", "second", "codes"),
        [
            ([1, "1", 1], ["1", 1], [1, 0]),
            ([(1, 2), (3, 4)], [(3, 4), (5,)], [1, 2]),
            ([True, False], np.array([1, 0, 2]), [0, 1, 2]),
            (np.array(["a", "b"]), np.array(["bb", "a"], object), [2, 0]),
            (np.array([1, 2], ">i4"), [2.0, 1.0], [1, 0]),
            (["True"], [True], [1]),
            ([b"a"], ["a"], [1]),
        ],
    )
    def test_labels_of_many_kinds(self, first: Any, second: Any, codes: list[int]) -> None:
        assert encoded(first, second)[0][1] == codes

    def test_numbers_that_numpy_would_round_stay_apart(self) -> None:
        codes, _ = encoded([2**53 + 1, 1.5, 2**53])
        assert codes == [[0, 1, 2]]

    def test_text_that_numpy_would_cut_stays_apart(self) -> None:
        codes, _ = encoded(["a\0", "a"], ["a", "a\0"])
        assert codes == [[0, 1], [1, 0]]

    @given(st.lists(st.one_of(st.integers(-3, 3), st.sampled_from("ab"), st.tuples(st.integers(0, 1))), max_size=30))
    def test_any_cut_gives_the_same_codes(self, labels: list[Any]) -> None:
        whole, _ = encoded(labels)
        single, _ = encoded(*[[label] for label in labels])
        assert whole[0] == [code for codes in single for code in codes]

    @pytest.mark.parametrize(
        ("labels", "row"),
        [
            (np.array([1.0, np.nan]), 1),
            ([1.0, float("nan")], 1),
            (["a", None], 1),
            (pd.Series([1, pd.NA], dtype="Int64"), 1),
            (pd.Series([pd.NA, "a"], dtype=object), 0),
            (np.array(["2020-01-01", "NaT"], "datetime64[D]"), 1),
            (np.array([np.inf, 1.0]), 0),
        ],
    )
    def test_missing_labels_are_refused_with_their_row(self, labels: Any, row: int) -> None:
        with pytest.raises(InputError, match=f"Row {row} has no label"):
            LabelVocabulary().encode(labels)

    def test_labels_that_cannot_be_hashed_are_refused(self) -> None:
        values = np.empty(2, object)
        values[:] = ["a", {"b"}]
        with pytest.raises(InputError, match=r"Row 1 has the label \{'b'\}, which is not hashable"):
            LabelVocabulary().encode(values)

    def test_arrays_as_labels_are_refused(self) -> None:
        values = np.empty(2, object)
        values[0], values[1] = np.zeros(2), np.ones(2)
        with pytest.raises(InputError, match="not hashable"):
            LabelVocabulary().encode(values)

    def test_a_continuous_target_is_refused(self) -> None:
        with pytest.raises(InputError, match="Unknown label type: continuous"):
            LabelVocabulary().encode(np.linspace(0.1, 0.9, 50))

    @pytest.mark.parametrize(
        ("n_distinct", "n_rows", "refused"),
        [(20, 20, False), (21, 21, True), (21, 209, True), (21, 210, False), (30, 300, False), (31, 300, True)],
    )
    def test_a_target_is_continuous_above_20_values_and_a_tenth_of_the_rows(
        self, n_distinct: int, n_rows: int, refused: bool
    ) -> None:
        labels = 0.5 + np.arange(n_rows) % n_distinct
        if refused:
            with pytest.raises(InputError, match=f"y holds {n_distinct} different values such as 0.5"):
                LabelVocabulary().encode(labels)
        else:
            assert len(LabelVocabulary().encode(labels)[1]) == n_distinct

    def test_whole_numbers_are_classes_however_many_there_are(self) -> None:
        assert len(LabelVocabulary().encode(np.arange(50.0))[1]) == 50

    def test_one_known_label_keeps_the_vocabulary_and_one_new_label_does_not(self) -> None:
        _, vocabulary = encoded(["a", "b"])
        codes, same = vocabulary.encode(np.array(["b"]))
        assert (codes.tolist(), same) == ([1], vocabulary)
        codes, grown = vocabulary.encode(np.array(["z"]))
        assert (codes.tolist(), grown.labels) == ([2], ("a", "b", "z"))

    def test_labels_before_between_and_behind_the_known_ones_are_new(self) -> None:
        codes, vocabulary = encoded(np.array([10, 20]), np.array([20, 5, 15, 99, 10]))
        assert codes[1] == [1, 2, 3, 4, 0]
        assert vocabulary.labels == (10, 20, 5, 15, 99)

    def test_one_column_counts_as_one_dimension_and_two_do_not(self) -> None:
        assert LabelVocabulary().encode(np.array([[1], [2]]))[0].tolist() == [0, 1]
        for labels in (np.zeros((3, 2)), [[1, 2], [3, 4]]):
            with pytest.raises(InputError, match="one label per row"):
                LabelVocabulary().encode(labels)

    def test_as_array_keeps_the_type_of_the_labels(self) -> None:
        assert encoded(["b", "a"])[1].as_array().dtype.kind == "U"
        assert encoded([2, 1])[1].as_array().dtype == np.int64
        assert encoded([(1,), (2,)])[1].as_array().tolist() == [(1,), (2,)]
        assert len(LabelVocabulary()) == 0


class TestFeatures:
    known = FeatureVocabulary(("a", "b", "c"), 3)

    def test_names_of_slots(self) -> None:
        assert self.known.name(1) == "b"
        assert FeatureVocabulary(None, 3).name(1) == "x1"

    def test_the_same_names_need_no_move(self) -> None:
        assert self.known.match(("a", "b", "c"), 3, grow=False, owner="S") == (None, self.known)
        assert self.known.match(None, 3, grow=False, owner="S") == (None, self.known)

    def test_another_order_is_matched_by_name(self) -> None:
        slots, vocabulary = self.known.match(("c", "a", "b"), 3, grow=False, owner="S")
        assert slots is not None
        assert slots.tolist() == [2, 0, 1]
        assert vocabulary is self.known

    def test_newcomers_come_behind(self) -> None:
        slots, vocabulary = self.known.match(("d", "b"), 2, grow=True, owner="S")
        assert slots is not None
        assert slots.tolist() == [3, 1]
        assert vocabulary.names == ("a", "b", "c", "d")
        assert self.known.n_features == 3

    def test_unnamed_newcomers_come_behind(self) -> None:
        slots, vocabulary = FeatureVocabulary(None, 2).match(None, 4, grow=True, owner="S")
        assert slots is not None
        assert slots.tolist() == [0, 1, 2, 3]
        assert vocabulary.n_features == 4
        slots, vocabulary = vocabulary.match(None, 3, grow=True, owner="S")
        assert slots is not None
        assert slots.tolist() == [0, 1, 2]
        assert vocabulary.n_features == 4

    @pytest.mark.parametrize(
        ("names", "words"),
        [
            (("a", "b", "cc"), "does not know column 'cc'. Did you mean 'c'"),
            (("d", "e", "a"), "X has 3 features, of which S does not know column 'd' and 1 more"),
            (("a", "b", "c", "cc"), r"column 'cc'\. Did you mean 'c'"),
            (("a", "b"), "X has 2 features, but S is expecting 3 features as input: column 'c' is missing"),
            (("a",), "column 'b' and 1 more are missing"),
            (None, "X has 4 features, but S is expecting 3"),
        ],
    )
    def test_other_columns_are_refused(self, names: tuple[str, ...] | None, words: str) -> None:
        with pytest.raises(InputError, match=words):
            self.known.match(names, 4 if names is None else len(names), grow=False, owner="S")

    def test_unnamed_newcomers_among_named_features_are_refused(self) -> None:
        with pytest.raises(InputError, match="4 columns without names, but S knows 3 features by name"):
            self.known.match(None, 4, grow=True, owner="S")

    def test_one_name_twice_is_refused(self) -> None:
        with pytest.raises(InputError, match="Two columns are called 'a'"):
            check_names(["a", "b", "a"])
        assert check_names(["a", 1]) == ("a", "1")

    def test_names_for_features_that_had_none_are_taken_by_position(self) -> None:
        unnamed = FeatureVocabulary(None, 2)
        assert unnamed.match(("a", "b"), 2, grow=False, owner="S") == (None, unnamed)
        with pytest.raises(InputError, match="X has 3 features, but S is expecting 2"):
            unnamed.match(("a", "b", "c"), 3, grow=False, owner="S")

    def test_newcomers_are_numbered_in_the_order_of_their_columns(self) -> None:
        slots, vocabulary = self.known.match(("e", "c", "d"), 3, grow=True, owner="S")
        assert slots is not None
        assert slots.tolist() == [3, 2, 4]
        assert (vocabulary.names, vocabulary.n_features) == (("a", "b", "c", "e", "d"), 5)
