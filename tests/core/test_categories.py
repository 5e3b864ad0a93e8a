"""Categories have names: whatever their order of arrival, a selector gives each the same code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.contract.mean_gap import MeanGap

from streamsift import persist
from streamsift.columns.penalised import Penalised
from streamsift.core.batch import Batch, CheckedBatch, check_batch
from streamsift.core.categories import NO_CATEGORIES, CategoryVocabulary, ColumnKinds, Mapped, Meeting, recode
from streamsift.core.exceptions import InputError, MergeError, SavedStateError
from streamsift.core.rows import RowSelector
from streamsift.core.tags import StreamTags
from streamsift.instances.etana import ETANA
from streamsift.rows.abfs import ABFS
from streamsift.rows.screener import Screener
from streamsift.streams import open_stream

TOWNS = np.array(["Oslo", "Rome", "Bern", "Nice", "Bath"])


def days(n_rows: int = 400) -> tuple[pd.DataFrame, Any, pd.DataFrame, Any]:
    """Two days on which the same towns arrive in opposite orders; the label follows the town."""
    rng = np.random.default_rng(0)
    parts: list[Any] = []
    for order in (np.arange(5), np.arange(5)[::-1]):
        codes = np.concatenate([order, rng.integers(0, 5, n_rows - 5)])
        y = np.where(np.isin(codes, [1, 4]) ^ (rng.random(n_rows) < 0.1), "yes", "no")
        parts += [pd.DataFrame({"x": rng.normal(size=n_rows), "town": TOWNS[codes]}), y]
    return parts[0], parts[1], parts[2], parts[3]


METHODS: dict[str, Any] = {
    "screener": lambda: Screener("mutual_info"),
    "t-score": lambda: Screener("t_score"),
    "abfs": lambda: ABFS(grace_period=50),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_selector_goes_on_by_name_after_loading(method: str, tmp_path: Path) -> None:
    first, y_first, second, y_second = days()
    wanted = METHODS[method]().partial_fit(first, y_first)
    both = pd.concat([first, second], ignore_index=True)
    batches = list(open_stream((both, np.concatenate([y_first, y_second]))).batches(len(first)))
    one_reader = METHODS[method]().partial_fit(batches[0]).partial_fit(batches[1])
    persist.save(wanted, tmp_path / "day")
    found = persist.load(tmp_path / "day").partial_fit(second, y_second)
    assert found.scores_.tolist() == one_reader.scores_.tolist()
    assert found._categories.names == {1: tuple(TOWNS)}
    for name, array in one_reader.state_arrays().items():
        np.testing.assert_array_equal(found.state_arrays()[name], array, err_msg=name)


def test_etana_goes_on_by_name_after_loading(tmp_path: Path) -> None:
    first, y_first, second, y_second = days()
    model = ETANA(feature_cost=0.01).fit(first, y_first)
    persist.save(model, tmp_path / "day")
    found = persist.load(tmp_path / "day").partial_fit(second, y_second)
    both = pd.concat([first, second], ignore_index=True)
    batches = list(open_stream((both, np.concatenate([y_first, y_second]))).batches(len(first)))
    wanted = ETANA(feature_cost=0.01).fit(batches[0]).partial_fit(batches[1])
    np.testing.assert_array_equal(found.predict_proba(second), wanted.predict_proba(batches[1]))
    assert np.mean(found.predict(second) == y_second) > 0.85
    # a category by its name, as a user has it, and one that nobody knows
    row = {"x": 0.0, "town": "Rome"}
    assert found.classify_one(lambda j: [0.0, "Rome"][j]).label == "yes"
    assert found.explain(row).label == "yes"
    assert "Rome" in str(found.explain(row))
    assert "(never seen)" in str(found.explain({"x": 0.0, "town": "Perth"}))
    assert found.classify_one(lambda j: [None, "Perth"][j]).n_evaluated <= 1
    assert found.classify(pd.DataFrame({"x": [0.0], "town": ["Perth"]})).labels.shape == (1,)
    assert found._categories.names == {1: tuple(TOWNS)}


def test_streams_may_number_as_they_like() -> None:
    first, y_first, second, y_second = days()
    one = Screener("mutual_info")
    for frame, y in ((first, y_first), (second, y_second)):
        for batch in open_stream((frame, y)).batches(100):  # each stream begins its own numbering
            one.partial_fit(batch)
    tables = Screener("mutual_info").partial_fit(first, y_first).partial_fit(second, y_second)
    np.testing.assert_array_equal(one.scores_, tables.scores_)


@given(st.lists(st.lists(st.sampled_from("abcdefg"), max_size=8), max_size=6))
def test_codes_are_those_of_the_names(batches: list[list[str]]) -> None:
    vocabulary = CategoryVocabulary()
    for batch in batches:
        theirs = tuple(dict.fromkeys(batch))
        mapped, vocabulary = vocabulary.encode({3: theirs})
        own = mapped.get(3, np.arange(len(theirs)))
        assert [vocabulary.names[3][code] for code in own] == list(theirs)
        assert [vocabulary.code(3, name) for name in theirs] == own.tolist()
    assert vocabulary.names.get(3, ()) == tuple(dict.fromkeys(name for batch in batches for name in batch))
    assert CategoryVocabulary.from_arrays(vocabulary.to_arrays(), 4) == vocabulary


def test_a_vocabulary_keeps_every_text() -> None:
    vocabulary = CategoryVocabulary({0: ("", "a\0", "ö"), 2: ()}, frozenset({1}))
    assert CategoryVocabulary.from_arrays(vocabulary.to_arrays(), 3) == vocabulary
    assert CategoryVocabulary().to_arrays() == {}


@pytest.mark.parametrize(
    "change",
    [
        {"sizes": np.array([5])},
        {"sizes": np.array([-1])},
        {"columns": np.array([9])},
        {"columns": np.array([0.5])},
        {"ends": np.array([2, 1])},
        {"ends": np.array([1, 7])},
        {"text": np.array([255, 254], np.uint8)},
        {"text": np.array([97, 97], np.uint8)},
        {"undecided": np.array([0])},
        {"undecided": None},
    ],
    ids=str,
)
def test_damaged_categories_are_refused(change: dict[str, Any]) -> None:
    arrays = CategoryVocabulary({0: ("a", "b")}).to_arrays()
    for key, array in change.items():
        if array is None:
            del arrays[f"categories.{key}"]
        else:
            arrays[f"categories.{key}"] = array
    with pytest.raises(SavedStateError, match="categories that do not fit"):
        CategoryVocabulary.from_arrays(arrays, 3)


def test_a_column_keeps_its_kind() -> None:
    text, numbers = pd.DataFrame({"c": ["a", "b"]}), pd.DataFrame({"c": [1.0, 2.0]})
    learnt = Screener().partial_fit(text, ["x", "y"])
    before = learnt.state_arrays()
    for other in (numbers, numbers.to_numpy(), Batch(numbers.to_numpy(), None)):
        with pytest.raises(InputError, match=r"Column 'c' changes between numbers and text: .* is numbers now"):
            learnt.partial_fit(other, ["x", "y"])
    with pytest.raises(InputError, match=r"Column 'c' changes between numbers and text: it was numbers so far"):
        Screener().partial_fit(numbers, ["x", "y"]).partial_fit(text, ["x", "y"])
    assert before.keys() == learnt.state_arrays().keys()
    assert all(np.array_equal(before[name], array) for name, array in learnt.state_arrays().items())


def test_a_column_without_values_may_become_either(tmp_path: Path) -> None:
    nothing = pd.DataFrame({"c": [None, None], "n": [1.0, 2.0]})
    for values in (["a", "b"], [1.0, 2.0]):
        learnt = Screener(missing="skip").partial_fit(nothing, ["x", "y"])
        persist.save(learnt, tmp_path / "state")
        later = persist.load(tmp_path / "state").partial_fit(pd.DataFrame({"c": values, "n": [1.0, 2.0]}), ["x", "y"])
        assert not later._categories.undecided
        assert later.partial_fit(nothing, ["x", "y"]).n_rows_seen_ == 6  # and may be empty again


def test_names_must_cover_the_codes() -> None:
    kinds = ColumnKinds({0: ("a", "b")})
    with pytest.raises(InputError, match="Column 'x0' has the code 2, but only 2 categories have names"):
        check_batch(Batch(np.array([[0.0], [2.0]]), [0, 1], kinds=kinds), None, owner="Method")


def test_an_identifier_is_no_category() -> None:
    X, meeting = np.arange(4.0)[:, None], Meeting(None, 0, lambda slot: "c")
    kinds = ColumnKinds({0: tuple("abcd")})
    assert recode(X, kinds, NO_CATEGORIES, meeting, most_categories=4)[1].names == {0: tuple("abcd")}
    with pytest.raises(InputError, match="Column 'c' has more than 3 categories, which makes it an identifier"):
        recode(X, kinds, NO_CATEGORIES, meeting, most_categories=3)


def test_categories_of_columns_are_kept_with_the_members(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    town = TOWNS[rng.integers(0, 3, 90)]
    y = 3.0 * (town == "Rome") + rng.normal(size=90)
    labels = np.where(y > 1, "high", "low")
    selector = Penalised("bic", model="logistic").begin(labels)
    selector.offer(rng.normal(size=90), "noise")
    selector.offer(pd.Series(town), "town")
    assert selector._categories.names == {1: tuple(dict.fromkeys(town.tolist()))}
    persist.save(selector, tmp_path / "state")
    assert persist.load(tmp_path / "state")._categories == selector._categories


class Counting(RowSelector):
    """Counts categories by code; it shows what the base does about codes when selectors are merged."""

    def __init__(self, n_features_to_select: int = 1) -> None:
        self.n_features_to_select = n_features_to_select

    def stream_tags(self) -> StreamTags:
        return StreamTags(mergeable="exact", categorical="counts")

    def _begin(self, batch: CheckedBatch) -> Any:
        return {"counts": np.zeros(10)}

    def _learn(self, state: Any, batch: CheckedBatch) -> None:
        state["counts"] += np.bincount(batch.X[:, 0].astype(int), minlength=10)

    def _score(self, state: Any) -> Any:
        return state["counts"][:1]

    def _align_classes(self, state: Any, codes: Any, n_classes: int) -> Any:
        return state

    def _align_categories(self, state: Any, mapped: Mapped) -> Any:
        counts = np.zeros(10)
        counts[mapped[0]] = state["counts"][: len(mapped[0])]
        return {"counts": counts}

    def _merge(self, state: Any, other: Any) -> None:
        state["counts"] += other["counts"]


def test_merging_aligns_categories_by_name() -> None:
    first, second = pd.DataFrame({"c": list("aab")}), pd.DataFrame({"c": list("cbb")})
    merged = Counting().partial_fit(first, [0, 1, 0]).merge(Counting().partial_fit(second, [0, 1, 0]))
    assert merged._categories.names == {0: ("a", "b", "c")}
    assert merged._state["counts"][:4].tolist() == [2, 3, 1, 0]


def test_what_cannot_be_aligned_is_not_merged() -> None:
    first, y_first, second, y_second = days(60)
    one, other = MeanGap().partial_fit(first, y_first), MeanGap().partial_fit(second, y_second)
    before = one.scores_
    with pytest.raises(MergeError, match="met the categories of column 'town' in different orders"):
        one.merge(other)
    np.testing.assert_array_equal(one.scores_, before)
    same = MeanGap().partial_fit(first, y_first).merge(MeanGap().partial_fit(first, y_first))
    assert same.n_rows_seen_ == 120


@pytest.mark.parametrize("criterion", ["t_score", "mutual_info"])
def test_categories_are_not_merged_with_numbers(criterion: str) -> None:
    first, y_first, second, y_second = days(60)
    one = Screener(criterion).partial_fit(first, y_first)
    with pytest.raises(MergeError, match=r"column 'town' holds categories in one .* numbers in the other"):
        one.merge(Screener(criterion).partial_fit(second.assign(town=1.0), y_second))


class Refusing(Counting):
    def stream_tags(self) -> StreamTags:
        return StreamTags(categorical="refuses")


def test_a_method_may_refuse_categories() -> None:
    with pytest.raises(InputError, match="Column 'c' holds categories, which Refusing cannot use"):
        Refusing().partial_fit(pd.DataFrame({"c": list("aab")}), [0, 1, 0])


def test_sparse_codes_are_translated_where_zero_stays_zero() -> None:
    def batch(names: tuple[str, ...], values: list[float]) -> Batch:
        X = csr_matrix(np.array(values)[:, None])
        return Batch(X, ["a", "b", "a"], kinds=ColumnKinds({0: names}))

    first = check_batch(batch(("none", "red", "blue"), [0, 1, 2]), None, owner="Method")
    known: dict[str, Any] = {"features": first.features, "labels": first.labels, "categories": first.categories}
    again = check_batch(batch(("none", "blue", "green"), [1, 0, 2]), None, owner="Method", **known)
    assert again.X.toarray().ravel().tolist() == [2, 0, 3]
    with pytest.raises(InputError, match="another first category than before, which 0 stands for"):
        check_batch(batch(("red", "none"), [1, 0, 1]), None, owner="Method", **known)
    with pytest.raises(InputError, match="has the code 2, but only 2 categories"):
        check_batch(batch(("none", "red"), [1, 0, 2]), None, owner="Method", **known)


def test_a_text_column_may_come_late_and_go() -> None:
    numbers = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    text = pd.DataFrame({"town": ["Rome", "Oslo", "Rome"], "x": [1.0, 2.0, 3.0]})
    selector = Screener(new_features="add").partial_fit(numbers, ["a", "b", "a"]).partial_fit(text, ["a", "b", "a"])
    assert selector._categories.names == {1: ("Rome", "Oslo")}
    later = selector.partial_fit(numbers, ["a", "b", "a"]).partial_fit(text[::-1], ["a", "b", "a"])
    assert later._categories.names == {1: ("Rome", "Oslo")}
    assert np.asarray(later.transform(numbers), float)[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert later.transform(numbers).iloc[:, 1].isna().all()
