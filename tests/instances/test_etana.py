"""ETANA and FETANA as a user meets them: decisions, purchases, costs, state, and what is refused."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from streamsift.core.contracts import InstanceContract
from streamsift.core.exceptions import InputError, ParameterError, SavedStateError
from streamsift.instances.etana import ETANA
from streamsift.instances.f_etana import FETANA

Make = Callable[..., Any]


def make_fetana(*arguments: Any, **options: Any) -> FETANA:
    return FETANA(*arguments, random_state=0, max_iterations=20, **options)


METHODS = pytest.mark.parametrize("make", [ETANA, make_fetana], ids=["ETANA", "FETANA"])


@parametrize_with_checks([ETANA(), FETANA(random_state=0, max_iterations=20)])
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def sample(n_classes: int = 3, rows: int = 300, features: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, rows)
    X = rng.normal(size=(rows, features))
    X[:, :4] += 1.5 * np.array([[math.cos(c * k) for k in range(4)] for c in range(n_classes)])[y]
    return X, y


@METHODS
def test_meets_the_contract(make: Make) -> None:
    X, y = sample()
    model = make().fit(X, y)
    assert isinstance(model, InstanceContract)
    result = model.classify(X)
    assert result.labels.tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(result.posteriors, model.predict_proba(X))
    np.testing.assert_allclose(result.posteriors.sum(axis=1), 1.0)
    assert result.bought.sum() == result.n_evaluated.sum()
    np.testing.assert_allclose(result.cost, 0.01 * result.n_evaluated)


@METHODS
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_one_at_a_time_buys_and_answers_as_many_at_once(make: Make, n_classes: int) -> None:
    X, y = sample(n_classes)
    X[::5, 0] = np.nan
    model = make(n_bins=3).fit(X, y)
    result = model.classify(X)
    for i in range(40):
        asked: list[int] = []

        def acquire(j: int, row: int = i, asked: list[int] = asked) -> float:
            asked.append(j)
            return float(X[row, j])

        one = model.classify_one(acquire)
        assert (one.label, one.n_evaluated) == (result.labels[i], result.n_evaluated[i])
        assert one.cost == pytest.approx(result.cost[i])
        assert list(one.features) == [j for j in asked if not math.isnan(X[i, j])]
        np.testing.assert_allclose(one.posterior, result.posteriors[i], rtol=1e-12)


@METHODS
def test_sparse_rows_are_classified_as_dense_ones(make: Make) -> None:
    X, y = sample()
    X[np.abs(X) < 0.7] = 0.0
    dense, sparse = make().fit(X, y), make().fit(csr_matrix(X), y)
    one, other = dense.classify(X), sparse.classify(csr_matrix(X))
    assert one.labels.tolist() == other.labels.tolist()
    assert one.n_evaluated.tolist() == other.n_evaluated.tolist()
    assert dense.classify(csr_matrix(X)).n_evaluated.tolist() == one.n_evaluated.tolist()


@METHODS
def test_a_missing_value_is_skipped_and_not_charged(make: Make) -> None:
    X, y = sample()
    model = make().fit(X, y)
    first = int(model._current_plan().order[0])
    gaps = X.copy()
    gaps[:, first] = np.nan
    result = model.classify(gaps)
    assert result.bought[first] == 0
    assert model.classify_one(lambda j: None).n_evaluated == 0
    nothing = model.classify(np.full((2, X.shape[1]), np.nan))
    np.testing.assert_allclose(nothing.posteriors[0], np.bincount(y) / len(y))
    assert nothing.cost.tolist() == [0.0, 0.0]


@pytest.mark.compiled
def test_features_that_are_often_missing_do_not_end_the_plan_early() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 400)) + 1.2 * y[:, None]
    X[rng.random(X.shape) < 0.97] = np.nan
    result = ETANA(0.005, n_bins=2).fit(X[:400], y[:400]).classify(X[400:])
    assert np.mean(result.labels == y[400:]) > 0.85


@METHODS
def test_an_unseen_category_says_nothing_but_is_paid_for(make: Make) -> None:
    X = np.array([[3.0], [8.0]] * 20)
    y = np.array(["no", "yes"] * 20)
    model = make(categorical_features=[0]).fit(X, y)
    result = model.classify([[5.0]])
    assert result.n_evaluated.tolist() == [1]
    np.testing.assert_allclose(result.posteriors, [[0.5, 0.5]])
    assert "never seen" in str(model.explain([5.0]))
    assert model.predict([[3.0], [8.0]]).tolist() == ["no", "yes"]


@METHODS
def test_categories_need_no_order(make: Make) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, (400, 1)).astype(float)
    y = np.isin(X[:, 0], [0, 3, 4]).astype(int)
    assert make(categorical_features=[True]).fit(X, y).score(X, y) == 1.0
    import pandas as pd

    frame = pd.DataFrame({"colour": X[:, 0]})
    assert make(categorical_features=["colour"]).fit(frame, y).score(frame, y) == 1.0


@METHODS
def test_a_dear_feature_is_bought_less(make: Make) -> None:
    X, y = sample(2, 600)
    even = make(0.01).fit(X, y).classify(X)
    favourite = int(np.argmax(even.bought))
    price = np.full(X.shape[1], 0.01)
    price[favourite] = 0.4
    dear = make(price).fit(X, y).classify(X)
    assert dear.bought[favourite] < even.bought[favourite]
    np.testing.assert_allclose(dear.cost.sum(), (dear.bought * price).sum())


@METHODS
def test_what_a_mistake_costs_changes_the_answer(make: Make) -> None:
    X, y = sample(2, 600)
    careful = make(misclassification_cost=[[0, 1], [20, 0]]).fit(X, y)
    even = make().fit(X, y)
    missed = [np.sum((model.predict(X) == 0) & (y == 1)) for model in (careful, even)]
    assert missed[0] < missed[1]


@METHODS
def test_higher_prices_buy_fewer_features(make: Make) -> None:
    X, y = sample()
    used = [make(price).fit(X, y).classify(X).n_evaluated.mean() for price in (0.3, 0.05, 0.01, 0.001)]
    assert used == sorted(used)
    assert used[0] < used[-1]


@METHODS
def test_a_price_above_every_gain_buys_nothing(make: Make) -> None:
    X, y = sample(2)
    result = make(2.0).fit(X, y).classify(X)
    assert result.n_evaluated.max() == 0
    assert set(result.labels.tolist()) == {int(np.argmax(np.bincount(y)))}


@METHODS
def test_one_class_is_answered_at_once(make: Make) -> None:
    model = make().fit([[1.0], [2.0]], ["only", "only"])
    result = model.classify([[5.0]])
    assert (result.labels.tolist(), result.n_evaluated.tolist()) == (["only"], [0])


@METHODS
@pytest.mark.parametrize(
    "labels",
    [
        ("b", "a"),
        (True, False),
        (2.5, -1.0),
        ((1, 2), (0, 5)),
        (datetime.date(2020, 1, 2), datetime.date(2019, 1, 1)),
        ("x", 3),
    ],
)
def test_labels_may_be_anything_hashable(make: Make, labels: tuple[Any, Any]) -> None:
    X, y = sample(2)
    named = np.empty(len(y), object)
    named[:] = [labels[c] for c in y]
    model = make().fit(X, list(named))
    plain = make().fit(X, y).predict(X)
    assert np.mean([a == b for a, b in zip(model.predict(X), [labels[c] for c in plain], strict=True)]) > 0.99


@METHODS
def test_classes_may_arrive_late(make: Make) -> None:
    X, y = sample(3)
    late = make(n_bins=3).partial_fit(X, y)
    first = y != 2
    early = make(n_bins=3).partial_fit(X[first], y[first], classes=[0, 1, 2]).partial_fit(X[~first], y[~first])
    assert early.classes_.tolist() == late.classes_.tolist() == [0, 1, 2]
    assert early._counts.class_counts.tolist() == late._counts.class_counts.tolist()


@METHODS
def test_state_is_arrays_and_goes_on_as_the_saved_one(make: Make) -> None:
    X, y = sample(3)
    model = make(categorical_features=[7]).fit(X.round(1), y)
    arrays = model.state_arrays()
    assert all(isinstance(array, np.ndarray) and array.dtype.kind in "biufU" for array in arrays.values())
    again = clone(model).load_state_arrays(arrays)
    assert again.classify(X).n_evaluated.tolist() == model.classify(X).n_evaluated.tolist()
    one, other = again.partial_fit(X, y), model.partial_fit(X, y)
    assert one.classify(X).labels.tolist() == other.classify(X).labels.tolist()


@METHODS
def test_a_damaged_state_is_refused(make: Make) -> None:
    X, y = sample(3)
    arrays = make().fit(X, y).state_arrays()
    fresh = make()
    for damage in (
        {"plan.order": arrays["plan.order"] + 100},
        {"counts.cuts": arrays["counts.cuts"][:-1]},
        {"counts.counts": arrays["counts.counts"][:, :-1]},
        {"plan.prior": arrays["plan.prior"][:1]},
    ):
        with pytest.raises(SavedStateError):
            fresh.load_state_arrays(arrays | damage)
    with pytest.raises(SavedStateError, match="labels"):
        fresh.load_state_arrays({})
    assert not hasattr(fresh, "classes_")


@METHODS
def test_a_failed_call_changes_nothing(make: Make) -> None:
    X, y = sample(3)
    model = make().fit(X, y)
    before = model.state_arrays()
    bad = X.copy()
    bad[3, 2] = np.inf
    for call in (
        lambda: model.partial_fit(bad, y),
        lambda: model.partial_fit(X[:, :3], y),
        lambda: model.fit(X, y[:5]),
    ):
        with pytest.raises(InputError):
            call()
    after = model.state_arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)


@METHODS
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"feature_cost": [0.1, 0.2]}, "one price per feature"),
        ({"feature_cost": [-1.0] * 8}, r"feature_cost\[0\] is -1.0"),
        ({"feature_cost": ["dear"] * 8}, "must hold numbers"),
        ({"feature_cost": -0.5}, "feature_cost"),
        ({"misclassification_cost": [[0, 1]]}, "3 by 3"),
        ({"misclassification_cost": [[0, 1, 1], [1, 0, -2], [1, 1, 0]]}, r"misclassification_cost\[1, 2\] is -2.0"),
        ({"categorical_features": [9]}, "columns 0 to 7"),
        ({"categorical_features": [True]}, "mask of shape"),
        ({"categorical_features": ["colour"]}, "no column 'colour'"),
        ({"n_bins": 1}, "n_bins"),
        ({"binning": "even"}, "binning"),
    ],
)
def test_bad_parameters_are_refused_in_words(make: Make, options: dict[str, Any], words: str) -> None:
    X, y = sample(3)
    with pytest.raises(ValueError, match=words):
        make(**options).fit(X, y)


@METHODS
def test_bad_purchases_are_refused_in_words(make: Make) -> None:
    X, y = sample(3)
    model = make().fit(X, y)
    with pytest.raises(InputError, match=r"acquire\(\d\) gave 'red'"):
        model.classify_one(lambda j: "red")
    with pytest.raises(InputError, match="infinity"):
        model.classify_one(lambda j: math.inf)


@METHODS
def test_parameters_are_checked_at_the_first_batch(make: Make) -> None:
    with pytest.raises(ParameterError, match="ordering"):
        make(ordering="best").partial_fit([[0.0], [1.0]], [0, 1])


@pytest.mark.compiled
def test_posteriors_survive_thousands_of_features() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 4000)) + 0.8 * y[:, None]
    model = ETANA(0.0).fit(X, y)
    # Nothing is bought once the answer is certain, so certainty against the truth must not have come from underflow.
    result = model.classify(X)
    assert np.isfinite(result.posteriors).all()
    assert np.mean(result.labels == y) > 0.99


@METHODS
def test_infinity_is_refused_where_it_is_bought(make: Make) -> None:
    X, y = sample()
    model = make().fit(X, y)
    bad = X.copy()
    first = int(model._current_plan().order[0])
    bad[7, first] = np.inf
    with pytest.raises(InputError, match=f"Row 7, column 'x{first}' of X is infinity"):
        model.predict(bad)
