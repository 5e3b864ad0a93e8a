"""Checks of instance classifiers: what is bought, what it costs, and what is believed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from streamsift.checks.bad_data import with_value
from streamsift.checks.samples import (
    INFORMATIVE,
    Floats,
    Ints,
    Make,
    expect,
    has_parameter,
    refused,
    same_answers,
    sample,
)


def _sample(n_classes: int = 2, n_rows: int = 90) -> tuple[Floats, Ints]:
    return sample(n_rows, n_classes=n_classes)


def check_informative_column_is_bought(make: Make) -> None:
    X, y = _sample()
    result = make().fit(X, y).classify(X)
    expect(int(np.argmax(result.bought)) == INFORMATIVE, f"column {INFORMATIVE} is not the one bought most often")
    expect(np.mean(result.labels == y) > 0.8, "most of the labels are wrong, though one column tells them")


def check_one_instance_at_a_time_equals_many(make: Make) -> None:
    for n_classes in (2, 3, 4):
        X, y = _sample(n_classes)
        X[::5, 0] = np.nan
        model = make().fit(X, y)
        result = model.classify(X)
        for row in range(0, len(X), 6):
            asked: list[int] = []
            one = model.classify_one(_seller(X[row], asked))
            what = f"row {row} by itself"
            expect(one.label == result.labels[row], f"{what} gets another label")
            expect(one.n_evaluated == result.n_evaluated[row], f"{what} buys another number of features")
            expect(math.isclose(one.cost, result.cost[row], abs_tol=1e-12), f"{what} costs another price")
            expect(np.allclose(one.posterior, result.posteriors[row], rtol=1e-9), f"{what} is believed otherwise")
            had = [feature for feature in asked if not math.isnan(X[row, feature])]
            expect(list(one.features) == had, f"{what}: `features` are not what was asked for and had")


def _seller(row: Floats, asked: list[int]) -> Any:
    def acquire(feature: int) -> float:
        asked.append(feature)
        return float(row[feature])

    return acquire


def check_answers_agree(make: Make) -> None:
    X, y = _sample(3)
    model = make().fit(X, y)
    result = model.classify(X)
    expect(np.array_equal(result.labels, model.predict(X)), "predict and classify disagree")
    expect(np.array_equal(result.posteriors, model.predict_proba(X)), "predict_proba and classify disagree")
    likeliest = model.classes_[result.posteriors.argmax(axis=1)]
    expect(
        np.array_equal(likeliest, result.labels), "the label is not the likeliest class, though mistakes cost the same"
    )
    expect(model.classes_.tolist() == [0, 1, 2], "classes_ is not sorted")


def check_probabilities_sum_to_one(make: Make) -> None:
    for n_classes in (1, 2, 3):
        X, y = _sample(n_classes)
        shares = make().fit(X, y).predict_proba(X)
        expect(shares.shape == (len(X), n_classes), f"predict_proba has shape {shares.shape}")
        expect(bool(np.allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-12)), "probabilities do not sum to one")
        expect(bool((shares >= 0).all()), "a probability is negative")


def check_costs_add_up(make: Make) -> None:
    X, y = _sample()
    prices = np.array([0.01, 0.02, 0.03, 0.0, 0.005])
    model = make().set_params(feature_cost=prices).fit(X, y)
    result = model.classify(X)
    expect(int(result.bought.sum()) == int(result.n_evaluated.sum()), "bought and n_evaluated count differently")
    whole = math.isclose(result.cost.sum(), float(result.bought @ prices), rel_tol=1e-9, abs_tol=1e-12)
    expect(whole, "the cost is not that of the features bought")
    for row in range(5):
        one = model.classify_one(_seller(X[row], []))
        paid = float(prices[list(one.features)].sum())
        expect(math.isclose(one.cost, paid, abs_tol=1e-12), "the cost of one instance is not that of its features")
        expect(len(set(one.features)) == len(one.features) == one.n_evaluated, "a feature is bought twice")


def check_nothing_is_bought_when_everything_costs_too_much(make: Make) -> None:
    X, y = _sample()
    y[: len(y) // 3] = 0  # so that one class is the likelier one
    result = make().set_params(feature_cost=2.0).fit(X, y).classify(X)
    expect(int(result.n_evaluated.max()) == 0, "a feature is bought that costs more than any mistake")
    expect(not result.cost.any(), "there is a cost though nothing is bought")
    expect(set(result.labels.tolist()) == {0}, "without any feature the answer is not the likeliest class")


def check_higher_prices_buy_no_more(make: Make) -> None:
    X, y = _sample()
    prices = (0.3, 0.05, 0.002)
    used = [make().set_params(feature_cost=price).fit(X, y).classify(X).n_evaluated.mean() for price in prices]
    expect(used == sorted(used) and used[0] < used[-1], f"prices of {prices} buy {used} features on average")


def check_missing_values_are_skipped_and_not_charged(make: Make) -> None:
    X, y = _sample()
    model = make().fit(X, y)
    gaps = X.copy()
    gaps[:, INFORMATIVE] = np.nan
    result = model.classify(gaps)
    expect(int(result.bought[INFORMATIVE]) == 0, "a value that is missing counts as bought")
    nothing = model.classify(np.full((2, X.shape[1]), np.nan))
    expect(not nothing.cost.any(), "values that are missing are charged")
    for absent in (None, float("nan")):
        one = model.classify_one(lambda feature, value=absent: value)
        expect((one.n_evaluated, one.cost) == (0, 0.0), f"a value that is {absent} is charged")
        expect(np.allclose(one.posterior, nothing.posteriors[0]), f"a value that is {absent} says something")


def check_missing_values_may_be_learnt_from(make: Make) -> None:
    X, y = _sample()
    holed = np.where(np.random.default_rng(3).random(X.shape) < 0.3, np.nan, X)
    holed[:, 1] = np.nan
    result = make().fit(holed, y).classify(holed)
    expect(bool(np.isfinite(result.posteriors).all()), "missing values lead to probabilities that are no numbers")
    expect(int(result.bought[1]) == 0, "a column without any value is bought")


def check_unseen_values_are_survived(make: Make) -> None:
    X, y = _sample()
    model = make().fit(X, y)
    for value in (-1e300, 1e300, 5e-324):
        result = model.classify(np.full((1, X.shape[1]), value))
        expect(bool(np.isfinite(result.posteriors).all()), f"the value {value} leads to probabilities that are NaN")


def check_unseen_category_says_nothing_and_is_charged(make: Make) -> None:
    if not has_parameter(make(), "categorical"):
        return
    X, y = np.array([[3.0], [8.0]] * 20), np.array(["no", "yes"] * 20)
    model = make().set_params(categorical=[0], feature_cost=0.01).fit(X, y)
    expect(model.predict([[3.0], [8.0]]).tolist() == ["no", "yes"], "a column of categories does not tell the class")
    result = model.classify([[5.0]])
    expect(result.n_evaluated.tolist() == [1], "a category never seen is not charged")
    expect(bool(np.allclose(result.posteriors, 0.5)), "a category never seen says something")
    later = model.partial_fit([[5.0]] * 20, ["yes"] * 20).predict([[5.0]])
    expect(later.tolist() == ["yes"], "a category that came late is not learnt")


def check_one_class_is_answered_at_once(make: Make) -> None:
    result = make().fit([[1.0], [2.0]], ["only", "only"]).classify([[5.0]])
    expect(result.labels.tolist() == ["only"], "the only class is not the answer")
    expect(result.n_evaluated.tolist() == [0], "features are bought though there is one class only")


def check_rows_do_not_depend_on_each_other(make: Make) -> None:
    X, y = _sample()
    model = make().fit(X, y)
    whole = model.classify(X)
    order = np.random.default_rng(3).permutation(len(X))
    turned = model.classify(X[order])
    for part in ("labels", "posteriors", "n_evaluated", "cost"):
        same = np.array_equal(getattr(turned, part), getattr(whole, part)[order])
        expect(same, f"{part} of a row depend on the rows beside it")


def check_batches_add_up_once_bins_are_cut(make: Make) -> None:
    X, y = _sample()
    parts = make().partial_fit(X[:30], y[:30]).partial_fit(X[30:50], y[30:50]).partial_fit(X[50:], y[50:])
    whole = make().partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    found, wanted = (vars(model.classify(X)) for model in (parts, whole))
    numbers = ("posteriors", "n_evaluated", "cost", "bought")
    what = "how later rows are cut into batches changes the answer"
    same_answers({name: found[name] for name in numbers}, {name: wanted[name] for name in numbers}, what)


def check_bad_purchases_are_refused(make: Make) -> None:
    X, y = _sample()
    model = make().fit(X, y)
    before = model.classify(X).cost
    for value in ("red", math.inf, -math.inf, [1.0, 2.0]):
        with refused(f"a purchase that gives {value!r}") as words:
            model.classify_one(lambda feature, value=value: value)
        expect("acquire" in words[0] or "column" in words[0], f"the refusal does not say where: {words[0]!r}")
    with refused("infinity in a column that is bought") as words:
        model.classify(with_value(X, 7, INFORMATIVE, math.inf))
    right = "Row 7" in words[0] and f"'x{INFORMATIVE}'" in words[0]
    expect(right, f"the refusal does not name row and column: {words[0]!r}")
    expect(np.array_equal(model.classify(X).cost, before), "a refused purchase changed the model")
