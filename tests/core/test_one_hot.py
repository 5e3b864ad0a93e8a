"""One-hot columns: late categories, shared columns, absent features, and the way back to features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from streamsift import EFS, FIRES, FSDS, OFS, load, save
from streamsift.core.batch import Batch, CheckedBatch, check_batch
from streamsift.core.categories import ColumnKinds
from streamsift.core.exceptions import InputError, SavedStateError
from streamsift.core.one_hot import NUMBER, OneHotColumns

METHODS: list[Any] = [FIRES, OFS, EFS, FSDS]


def checked(X: Any, **known: Any) -> CheckedBatch:
    return check_batch(X, np.zeros(len(X)), owner="the test", **known)


def shops(n: int = 400) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % 2)
    shop = np.where(rng.random(n) < 0.9, np.where(y == 1, "north", "east"), rng.choice(["south", "west"], n))
    return pd.DataFrame({"a": rng.random(n), "shop": shop, "b": rng.random(n)}), y


def by_hand(frame: pd.DataFrame) -> pd.DataFrame:
    """The same in the order of columns that a selector makes: numbers first, then categories by code."""
    columns = {f"shop={name}": (frame["shop"] == name).astype(float) for name in frame["shop"].unique()}
    return pd.concat([frame[["a", "b"]], pd.DataFrame(columns)], axis=1)


def test_each_category_has_a_column_and_late_ones_come_behind() -> None:
    first = checked(pd.DataFrame({"shop": ["n", "s", "n"], "price": [1.0, 2.0, 3.0]}))
    seen, columns = OneHotColumns.of_numbers(0).expanded(first)
    assert seen.features.names == ("price", "shop=n", "shop=s")
    assert seen.X.tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]
    later = pd.DataFrame({"shop": ["w", "s"], "price": [4.0, 5.0]})
    seen, columns = columns.expanded(checked(later, features=first.features, categories=first.categories))
    assert seen.features.names == ("price", "shop=n", "shop=s", "shop=w")
    assert seen.X.tolist() == [[4, 0, 0, 1], [5, 0, 1, 0]]
    assert columns.per_feature(np.array([1.0, 5.0, 7.0, 2.0]), np.array([0.0, 9.0, 3.0, 1.0]), 2).tolist() == [5.0, 1.0]


def test_an_absent_feature_is_absent_in_all_its_columns() -> None:
    first = checked(pd.DataFrame({"shop": ["n", "s"], "price": [1.0, 2.0]}))
    _, columns = OneHotColumns.of_numbers(0).expanded(first)
    without = checked(pd.DataFrame({"price": [3.0]}), features=first.features, categories=first.categories, grow=True)
    seen, _ = columns.expanded(without)
    assert seen.has_absent
    np.testing.assert_array_equal(seen.X, [[3.0, np.nan, np.nan]])


def test_many_categories_share_columns_by_name() -> None:
    names = [f"shop {k}" for k in range(50)]
    batch = checked(pd.DataFrame({"shop": names}))
    seen, columns = OneHotColumns.of_numbers(0, most_columns=3, n_shared=4).expanded(batch)
    assert columns.codes.tolist()[:3] == [0, 1, 2]
    assert len(columns.codes) == 3 + 4
    assert (seen.X.sum(axis=1) == 1.0).all()
    again, same = columns.expanded(
        checked(pd.DataFrame({"shop": names[::-1]}), features=batch.features, categories=batch.categories)
    )
    np.testing.assert_array_equal(again.X, seen.X[::-1])
    assert same.codes.tolist() == columns.codes.tolist()


def test_sparse_rows_expand_like_dense_ones() -> None:
    X = np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 5.0]])
    kinds = ColumnKinds({0: ("no", "yes")})
    dense, sparse = (
        OneHotColumns.of_numbers(0).expanded(
            check_batch(Batch(form, np.zeros(3), ("flag", "n"), kinds=kinds), None, owner="the test")
        )[0]
        for form in (X, csr_matrix(X))
    )
    np.testing.assert_array_equal(sparse.X.toarray(), dense.X)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_sees_what_coding_by_hand_gives(method: Any) -> None:
    frame, y = shops()
    wide = method().partial_fit(by_hand(frame), y)
    found = method().partial_fit(frame, y)
    wanted = [wide.scores_[0], wide.scores_[2:].max(), wide.scores_[1]]
    np.testing.assert_array_equal(found.scores_, wanted)
    assert method(n_features_to_select=1).partial_fit(frame, y).selected_ == ["shop"]


@pytest.mark.parametrize("method", METHODS)
def test_a_loaded_selector_goes_on_with_its_columns(method: Any, tmp_path: Path) -> None:
    frame, y = shops()
    order = np.argsort(frame["shop"].to_numpy(), kind="stable")[::-1]
    selector = method().partial_fit(frame, y)
    save(selector, tmp_path / "one.streamsift")
    loaded = load(tmp_path / "one.streamsift").partial_fit(frame.iloc[order], y[order])
    np.testing.assert_array_equal(loaded.scores_, selector.partial_fit(frame.iloc[order], y[order]).scores_)
    arrays = selector.state_arrays()
    arrays["one_hot.features"] = arrays["one_hot.features"] + 5
    with pytest.raises(SavedStateError, match="columns for categories that do not fit"):
        method().load_state_arrays(arrays)


@pytest.mark.parametrize("method", METHODS)
def test_codes_may_still_be_taken_as_numbers(method: Any) -> None:
    frame, y = shops()
    codes = frame.assign(shop=pd.factorize(frame["shop"])[0].astype(float))
    wanted = method(categorical="codes").partial_fit(codes, y).scores_
    np.testing.assert_array_equal(method(categorical="codes").partial_fit(frame, y).scores_, wanted)


@pytest.mark.parametrize("method", METHODS)
def test_a_missing_category_is_refused_and_changes_nothing(method: Any) -> None:
    frame, y = shops()
    selector = method().partial_fit(frame, y)
    before = selector.state_arrays()
    frame.loc[3, "shop"] = None
    with pytest.raises(InputError, match=r"Row 3.*column 'shop' of X is NaN"):
        selector.partial_fit(frame, y)
    for name, array in before.items():
        np.testing.assert_array_equal(selector.state_arrays()[name], array)


def test_fires_tells_importance_and_uncertainty_by_feature() -> None:
    frame, y = shops()
    selector = FIRES().partial_fit(frame, y)
    assert selector.importance_.shape == selector.uncertainty_.shape == (3,)
    assert np.argmax(np.abs(selector.importance_)) == 1


def test_a_table_that_becomes_wider_keeps_its_numbers() -> None:
    frame, y = shops()
    selector = OFS(new_features="add").partial_fit(frame[["a", "b"]], y).partial_fit(frame[["a", "b", "shop"]], y)
    assert selector._columns is not None
    assert selector._columns.codes.tolist() == [NUMBER, NUMBER, 0, 1, 2, 3]
    assert selector.scores_.shape == (3,)
