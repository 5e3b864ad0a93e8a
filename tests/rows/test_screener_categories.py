"""Screener on categories: every score from a naive twin, names instead of arrival, chance taken off."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.naive import categories as naive

from streamsift import Screener, load, open_stream, save
from streamsift.core.batch import Batch
from streamsift.core.exceptions import InputError
from streamsift.rows.category_scores import _CountTable, _information_by_chance

CRITERIA = ("t_score", "fisher", "mutual_info", "chi2", "gini")


def shops(n: int = 600, seed: int = 0, n_shops: int = 6, n_classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    """A shop that depends on the class, a colour that does not, and two numbers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    favourite = rng.integers(0, n_classes, n_shops)
    likes = np.where(favourite[:, None] == np.arange(n_classes), 3.0, 1.0)
    shop = np.array([rng.choice(n_shops, p=likes[:, c] / likes[:, c].sum()) for c in y])
    frame = pd.DataFrame(
        {
            "price": rng.normal(size=n) + 0.5 * y,
            "shop": [f"shop {k}" for k in shop],
            "colour": rng.choice(["red", "green", "blue"], n),
            "weight": rng.normal(size=n),
        }
    )
    return frame, y


@pytest.mark.parametrize("fading", [1.0, 0.99])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("criterion", ["mutual_info", "chi2"])
def test_values_equal_the_naive_twin(criterion: str, n_classes: int, fading: float) -> None:
    frame, y = shops(n_classes=n_classes)
    found = Screener(criterion, fading=fading).partial_fit(frame, y).criterion_values_
    for place, name in ((1, "shop"), (2, "colour")):
        wanted = getattr(naive, criterion)(naive.count(frame[name].tolist(), y.tolist(), fading))
        assert found[place] == pytest.approx(wanted, rel=1e-9)


def test_no_split_of_the_categories_is_better_than_the_one_found() -> None:
    for seed in range(5):
        frame, y = shops(80, seed)
        found = Screener("gini").partial_fit(frame, y).criterion_values_
        assert found[1] == pytest.approx(naive.gini(naive.count(frame["shop"].tolist(), y.tolist())), rel=1e-12)


def test_with_more_classes_the_split_found_is_one_of_all() -> None:
    for seed in range(5):
        frame, y = shops(80, seed, n_classes=3)
        table = naive.count(frame["shop"].tolist(), y.tolist())
        found, best = Screener("gini").partial_fit(frame, y).criterion_values_[1], naive.gini(table)
        assert best <= found + 1e-12
        assert found < naive.impurity(list(table.values())) / 80


@pytest.mark.parametrize("criterion", ["t_score", "fisher"])
def test_categories_are_numbered_by_the_share_of_a_class(criterion: str) -> None:
    frame, y = shops()
    numbered = np.array([naive.numbers(frame["shop"].tolist(), y.tolist(), 1)]).T
    found = Screener(criterion).partial_fit(frame, y).criterion_values_[1]
    assert found == pytest.approx(Screener(criterion).partial_fit(numbered, y).scores_[0], rel=1e-9)
    rng = np.random.default_rng(0)
    if criterion == "fisher":  # no other numbering has a larger score
        for _ in range(50):
            other = frame["shop"].map(dict(zip(frame["shop"].unique(), rng.normal(size=6), strict=True)))
            assert Screener(criterion).partial_fit(other.to_numpy()[:, None], y).scores_[0] <= found


@pytest.mark.parametrize("criterion", CRITERIA)
def test_two_categories_score_as_two_numbers(criterion: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    flag = np.where(rng.random(300) < 0.7, y, 1 - y)
    text = pd.DataFrame({"flag": np.where(flag == 1, "yes", "no")})
    number = Screener(criterion).partial_fit(flag[:, None].astype(float), y).scores_
    np.testing.assert_allclose(Screener(criterion).partial_fit(text, y).scores_, number, rtol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_numbers_beside_categories_score_as_alone(criterion: str) -> None:
    frame, y = shops()
    alone = Screener(criterion).partial_fit(frame[["price", "weight"]], y)
    beside = Screener(criterion).partial_fit(frame, y)
    np.testing.assert_array_equal(beside.scores_[[0, 3]], alone.scores_)
    np.testing.assert_array_equal(beside.criterion_values_[[0, 3]], alone.criterion_values_)
    assert beside._state.number_slots.tolist() == [0, 3]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_noise", [50, 400, 3000])
def test_noise_of_many_categories_does_not_win(criterion: str, n_noise: int) -> None:
    for seed in range(5):
        frame, y = shops(3000, seed, n_shops=40)
        rng = np.random.default_rng(seed + 100)
        noise = pd.DataFrame({f"noise {k}": rng.integers(0, n_noise, 3000).astype(str) for k in range(4)})
        selector = Screener(criterion, n_features_to_select=2).partial_fit(pd.concat([noise, frame], axis=1), y)
        assert set(selector.selected_) == {"shop", "price"}


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("fading", [1.0, 0.999])
def test_an_identifier_scores_nothing(criterion: str, fading: float) -> None:
    y = np.random.default_rng(0).integers(0, 2, 900)
    frame = pd.DataFrame({"id": np.arange(900).astype(str)})
    assert Screener(criterion, fading=fading).partial_fit(frame, y).scores_[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("sizes", [(3, 3, 2), (1, 1, 1, 1, 1, 1), (10, 5, 20, 1), (40, 40)])
def test_information_by_chance_is_near_the_mean_over_all_deals(sizes: tuple[int, ...]) -> None:
    n = sum(sizes)
    first = n // 2
    counts = np.array([[size * first / n, size * (n - first) / n] for size in sizes])
    found = _information_by_chance(_CountTable(counts, np.array(sizes, float)))
    assert found == pytest.approx(naive.expected_mutual_info(sizes, first), rel=0.1)


def halves(frame: pd.DataFrame, y: np.ndarray) -> list[tuple[pd.DataFrame, np.ndarray]]:
    """Two days: the second meets the categories, and the labels, in the opposite order, and one category only there."""
    order = np.argsort(frame["shop"].to_numpy(), kind="stable")
    first, second = order[::2], order[1::2][::-1]
    first = first[(frame["shop"] != "shop 3").to_numpy()[first]]
    return [(frame.iloc[rows], y[rows]) for rows in (first, second)]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_merging_two_days_equals_one_pass(criterion: str) -> None:
    days = halves(*shops(n_shops=9))
    both = Screener(criterion)
    for frame, y in days:
        both.partial_fit(frame, y)
    for order in (days, days[::-1]):
        one, two = (Screener(criterion).partial_fit(*day) for day in order)
        merged = one.merge(two)
        np.testing.assert_array_equal(merged.criterion_values_[1:3], both.criterion_values_[1:3])
        np.testing.assert_array_equal(merged.scores_[1:3], both.scores_[1:3])


@pytest.mark.parametrize("criterion", CRITERIA)
def test_order_of_arrival_does_not_matter(criterion: str) -> None:
    frame, y = shops(n_shops=9, n_classes=3)
    wanted = Screener(criterion).partial_fit(frame, y).scores_
    order = np.random.default_rng(1).permutation(len(y))
    found = Screener(criterion).partial_fit(frame.iloc[order], y[order], classes=[0, 1, 2])
    announced = Screener(criterion).partial_fit(frame, y, classes=[0, 1, 2]).scores_
    np.testing.assert_array_equal(found.scores_[1:3], announced[1:3])
    np.testing.assert_allclose(found.scores_[1:3], wanted[1:3], rtol=1e-9)


@pytest.mark.parametrize("criterion", ["mutual_info", "fisher"])
def test_saved_loaded_and_gone_on_equals_one_pass(criterion: str, tmp_path: Path) -> None:
    days = halves(*shops(n_shops=9))
    both, one = Screener(criterion), Screener(criterion)
    for day in days:
        both.partial_fit(*day)
    save(one.partial_fit(*days[0]), tmp_path / "one.streamsift")
    gone_on = load(tmp_path / "one.streamsift", method=Screener).partial_fit(*days[1])
    np.testing.assert_array_equal(gone_on.scores_, both.scores_)


def test_every_reader_gives_the_same(tmp_path: Path) -> None:
    frame, y = shops()
    table = frame.assign(label=np.where(y == 1, "bad", "good"))
    wanted = Screener().partial_fit(frame, table["label"]).scores_
    table.to_csv(tmp_path / "rows.csv", index=False)
    table.to_parquet(tmp_path / "rows.parquet")
    for source in (tmp_path / "rows.csv", tmp_path / "rows.parquet", table):
        selector = Screener()
        for batch in open_stream(source, target="label").batches(97):
            selector.partial_fit(batch)
        np.testing.assert_allclose(selector.scores_, wanted, rtol=1e-9)
    text = io.StringIO(table.to_csv(index=False))
    again = pd.read_csv(text).astype({"shop": "category"})
    np.testing.assert_allclose(Screener().partial_fit(again.drop(columns="label"), table["label"]).scores_, wanted)


def test_missing_categories_are_not_counted() -> None:
    frame, y = shops()
    holes = frame.copy()
    holes.loc[holes.index % 7 == 0, "shop"] = None
    kept = holes["shop"].notna().to_numpy()
    found = Screener(missing="skip").partial_fit(holes, y).criterion_values_[1]
    wanted = naive.mutual_info(naive.count(frame["shop"][kept].tolist(), y[kept].tolist()))
    assert found == pytest.approx(wanted, rel=1e-9)
    selector = Screener().partial_fit(frame, y)
    before = selector.state_arrays()
    with pytest.raises(InputError, match=r"Row 0 .*column 'shop' of X is NaN"):
        selector.partial_fit(holes, y)
    for name, array in before.items():
        np.testing.assert_array_equal(selector.state_arrays()[name], array)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_column_that_was_empty_on_one_day_is_what_it_turns_out_to_be(criterion: str) -> None:
    frame, y = shops()
    empty = frame.iloc[:200].assign(shop=None, price=None)
    days = [(empty, y[:200]), (frame.iloc[200:], y[200:])]
    wanted = Screener(criterion, missing="skip").partial_fit(frame.iloc[200:][["price", "shop"]], y[200:]).scores_
    for order in (days, days[::-1]):
        one, two = (Screener(criterion, missing="skip").partial_fit(*day) for day in order)
        np.testing.assert_allclose(one.merge(two).scores_[:2], wanted, rtol=1e-9)
        one_by_one = Screener(criterion, missing="skip").partial_fit(*order[0]).partial_fit(*order[1])
        np.testing.assert_allclose(one_by_one.scores_[:2], wanted, rtol=1e-9)


def test_a_late_column_of_categories_gets_a_slot() -> None:
    frame, y = shops()
    selector = Screener(new_features="add").partial_fit(frame[["price"]][:100], y[:100])
    selector.partial_fit(frame[100:], y[100:])
    wanted = naive.mutual_info(naive.count(frame["shop"][100:].tolist(), y[100:].tolist()))
    place = selector.feature_names_in_.tolist().index("shop")
    assert selector.criterion_values_[place] == pytest.approx(wanted, rel=1e-9)


def test_sparse_rows_may_hold_codes() -> None:
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (300, 3)).astype(float), rng.integers(0, 2, 300)
    marked = np.array([False, True, False])
    dense = Screener("chi2").partial_fit(Batch(X, y, categorical=marked))
    sparse: Any = Screener("chi2").partial_fit(Batch(csr_matrix(X), y, categorical=marked))
    np.testing.assert_allclose(sparse.scores_, dense.scores_, rtol=1e-9)


def test_codes_without_names_are_whole_numbers() -> None:
    marked = np.array([True])
    selector = Screener().partial_fit(Batch(np.array([[0.0], [7.0]]), np.array([0, 1]), categorical=marked))
    assert selector.scores_[0] == pytest.approx(np.log(2))
    with pytest.raises(InputError, match=r"Row 1, column 'x0' of X is 0\.5, but the column is marked as categories"):
        selector.partial_fit(Batch(np.array([[0.0], [0.5]]), np.array([0, 1]), categorical=marked))
    numbers = Screener().partial_fit(np.array([[0.0], [7.0]]), [0, 1])
    with pytest.raises(InputError, match="changes between numbers and categories"):
        numbers.partial_fit(Batch(np.array([[0.0], [7.0]]), np.array([0, 1]), categorical=marked))


def test_only_so_many_categories_are_kept() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    value = np.where(
        rng.random(4000) < 0.5, np.where(y == 1, "often", "seldom"), rng.integers(0, 2000, 4000).astype(str)
    )
    selector = Screener(max_categories=100).partial_fit(pd.DataFrame({"v": value}), y)
    assert selector._state.categories.sizes.tolist() == [100]
    assert selector.scores_[0] > 0.25
