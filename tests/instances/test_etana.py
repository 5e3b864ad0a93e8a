"""ETANA and FETANA as a user meets them: decisions, purchases, costs, state, and what is refused."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from streamsift.core.exceptions import SavedStateError
from streamsift.instances.etana import ETANA
from streamsift.instances.f_etana import FETANA

Make = Callable[..., Any]


def make_fetana(*arguments: Any, **options: Any) -> FETANA:
    return FETANA(*arguments, random_state=0, max_iterations=20, **options)


METHODS = pytest.mark.parametrize("make", [ETANA, make_fetana], ids=["ETANA", "FETANA"])


def sample(n_classes: int = 3, rows: int = 300, features: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, rows)
    X = rng.normal(size=(rows, features))
    X[:, :4] += 1.5 * np.array([[math.cos(c * k) for k in range(4)] for c in range(n_classes)])[y]
    return X, y


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
    model = make(categorical=[0]).fit(X, y)
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
    assert make(categorical=[True]).fit(X, y).score(X, y) == 1.0
    pd = pytest.importorskip("pandas", reason="skipped: no pandas")

    frame = pd.DataFrame({"colour": X[:, 0]})
    assert make(categorical=["colour"]).fit(frame, y).score(frame, y) == 1.0


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
    model = make(categorical=[7]).fit(X.round(1), y)
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
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"feature_cost": [0.1, 0.2]}, "one price per feature"),
        ({"feature_cost": [-1.0] * 8}, r"feature_cost\[0\] is -1.0"),
        ({"feature_cost": ["dear"] * 8}, "must hold numbers"),
        ({"feature_cost": -0.5}, "feature_cost"),
        ({"misclassification_cost": [[0, 1]]}, "3 by 3"),
        ({"misclassification_cost": [[0, 1, 1], [1, 0, -2], [1, 1, 0]]}, r"misclassification_cost\[1, 2\] is -2.0"),
        ({"categorical": [9]}, "columns 0 to 7"),
        ({"categorical": [True]}, "mask of shape"),
        ({"categorical": ["colour"]}, "no column 'colour'"),
        ({"n_bins": 1}, "n_bins"),
        ({"binning": "even"}, "binning"),
    ],
)
def test_bad_parameters_are_refused_in_words(make: Make, options: dict[str, Any], words: str) -> None:
    X, y = sample(3)
    with pytest.raises(ValueError, match=words):
        make(**options).fit(X, y)


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
