"""The column contract: beginning, offering, sources, refusals in words, all or nothing, saved state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.columns.data import RULES, classes, made, regression

from streamsift.columns.investing import Investing
from streamsift.columns.penalised import Penalised
from streamsift.columns.stepwise import Stepwise
from streamsift.core.contracts import ColumnContract, RowContract
from streamsift.core.exceptions import InputError, ParameterError, SavedStateError, UnknownNameError

EVERY = {**RULES, "stepwise": lambda: Stepwise("bic")}


@pytest.mark.parametrize("rule", EVERY)
def test_the_contract_holds(rule: str) -> None:
    X, y = regression(0)
    selector = EVERY[rule]().fit(X, y)
    assert isinstance(selector, ColumnContract)
    assert not isinstance(selector, RowContract)
    mask = selector.get_support()
    assert mask.sum() == len(selector.selected_) > 0
    assert set(selector.get_feature_names_out()) == set(selector.selected_)
    np.testing.assert_array_equal(selector.transform(X), X[:, mask])
    assert selector.history_.column("name").to_pylist() == selector.selected_
    assert selector.n_offered_ == selector.n_features_in_ == X.shape[1]
    assert (selector.history_.column("statistic").to_numpy() >= selector.history_.column("threshold").to_numpy()).all()


def test_a_decision_says_why() -> None:
    X, y = regression(0)
    selector = Investing().begin(y)
    decisions = selector.offer_many(X, names=[f"c{k}" for k in range(X.shape[1])])
    wealth = 0.5
    for i, decision in enumerate(decisions, start=1):
        assert decision.wealth_before == pytest.approx(wealth)
        bid = min(wealth / (2 * i), 0.5)
        assert decision.accepted == (decision.statistic >= decision.threshold)
        wealth = wealth + 0.5 if decision.accepted else wealth - bid
        assert decision.wealth == pytest.approx(wealth)
    assert selector.wealth_ == decisions[-1].wealth
    assert selector.selected_ == [decision.name for decision in decisions if decision.accepted]
    frame = decisions.to_arrow().to_pandas()
    assert frame["name"].tolist()[:2] == ["c0", "c1"]
    assert frame["accepted"].tolist() == decisions.accepted.tolist()
    assert decisions[3:5] == [decisions[3], decisions[4]]
    assert decisions != decisions[:-1]


def test_alpha_investing_pays_the_bid_when_it_wins() -> None:
    y = np.arange(20.0)
    decision = Investing.paper("alpha").begin(y).offer(y + np.sin(y))
    assert decision.accepted
    assert decision.wealth == pytest.approx(0.5 + 0.5 - 0.25)


def test_fit_equals_begin_and_offer() -> None:
    X, y = regression(0)
    fitted = Investing().fit(X, y)
    offered = Investing().begin(y)
    offered.offer_many(X)
    ran = Investing().run(((f"x{k}", X[:, k]) for k in range(X.shape[1])), y)
    assert fitted.selected_ == offered.selected_ == ran.selected_
    assert Investing().run(iter([(None, X[:, 0])]), y).n_offered_ == 1


def test_a_source_can_listen() -> None:
    X, y = regression(0)
    selector = Penalised("bic")
    seen = []

    def listening() -> Iterator[tuple[str, Any]]:
        for k in range(X.shape[1]):
            seen.append(len(selector.selected_))
            yield f"a{k}", X[:, k]

    selector.run(listening(), y)
    assert seen[0] == 0
    assert seen[-1] > 0
    assert sorted(seen) == seen


def test_passes_find_what_one_pass_misses() -> None:
    X, y = regression(11, n_columns=200)
    one = Investing(wealth=0.1).fit(X, y)
    two = Investing(passes=(0.1, 0.5)).fit(X, y)
    assert set(one.selected_) <= set(two.selected_)
    assert two.n_offered_ == 200
    with pytest.raises(ParameterError, match="positive wealths"):
        Investing(passes=(0.1, -1)).fit(X, y)


def test_ric_counts_the_columns_it_is_told() -> None:
    X, y = regression(0)
    assert Penalised("ric").fit(X, y).history_.column("threshold")[0].as_py() == pytest.approx(2 * np.log(40))
    growing = Penalised("ric").begin(y).offer_many(X)
    np.testing.assert_allclose(growing.threshold, 2 * np.log(np.arange(1, 41)))
    assert Penalised("ric", n_columns=9).begin(y).offer(X[:, 0]).threshold == pytest.approx(2 * np.log(9))


# -- data of every kind -------------------------------------------------------------------------------------------


def frames(X: Any, names: list[str]) -> list[Any]:
    frame = pd.DataFrame(X, columns=names)
    return [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)]


@pytest.mark.parametrize("kind", range(3))
def test_tables_bring_their_names(kind: int) -> None:
    X, y = regression(0, n_columns=12)
    names = [f"col {k}" for k in range(12)]
    table = frames(X, names)[kind]
    selector = Penalised("bic").fit(table, y)
    plain = Penalised("bic").fit(X, y)
    assert selector.selected_ == [names[int(name[1:])] for name in plain.selected_]
    assert selector.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(selector.transform(table), plain.transform(X))
    part = frames(X[:, ::-1], names[::-1])[kind]
    np.testing.assert_array_equal(selector.transform(part), plain.transform(X))
    with pytest.raises(UnknownNameError, match="selected"):
        selector.transform(frames(X[:, :1], names[:1])[kind])


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_a_categorical_column_is_one_group(model: str) -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 120)
    effect = (colour == "red") - 1.0 * (colour == "blue")
    latent = 2 * effect + rng.normal(size=120)
    y = latent if model == "linear" else np.where(latent > 0, "yes", "no")
    selector = Penalised("bic", model=model).begin(y)
    decision = selector.offer(colour, "colour")
    assert decision.accepted
    assert decision.threshold == pytest.approx(2 * np.log(120))  # three values, two degrees of freedom
    if model == "linear":
        within = sum(np.sum((y[colour == c] - y[colour == c].mean()) ** 2) for c in ("red", "green", "blue"))
        assert decision.statistic == pytest.approx(120 * np.log(np.sum((y - y.mean()) ** 2) / within))
    again = selector.offer((colour == "red").astype(float), "red")
    assert (again.accepted, again.statistic) == (False, 0.0)
    codes = np.unique(colour, return_inverse=True)[1]
    coded = Penalised("bic", model=model).begin(y)
    assert coded.offer(codes, "codes", categorical=True).statistic == pytest.approx(decision.statistic)
    noise = rng.choice(["a", "b", "c", "d"], 120)
    frame = pd.DataFrame({"n": rng.normal(size=120), "noise": noise, "colour": colour})
    fitted = Penalised("bic", model=model).fit(frame, y)
    assert fitted.selected_ == ["colour"]
    assert fitted.transform(frame)["colour"].tolist() == colour.tolist()
    block = Penalised("bic", model=model).begin(y)
    values = np.column_stack([frame["n"], np.unique(noise, return_inverse=True)[1], codes])
    assert block.offer_many(values, frame.columns.tolist(), categorical=[False, True, True]).accepted.tolist() == [
        False,
        False,
        True,
    ]


def test_useless_groups_are_rejected_at_the_level_of_single_columns() -> None:
    """With nine degrees of freedom a group gains 9 by chance; thresholds of one degree would accept half of them."""
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        selector = Investing(wealth=0.4).begin(rng.normal(size=200))
        hits += selector.offer(rng.integers(0, 10, 200), categorical=True).accepted
    assert hits < 0.2 * 300


@pytest.mark.parametrize("y", [["a", "b"] * 10, [True, False] * 10, list(range(2)) * 10])
def test_two_labels_can_be_explained_by_a_linear_model(y: list[Any]) -> None:
    x = np.array([1.0, 2.0] * 10) + np.sin(np.arange(20))
    statistic = Penalised().begin(y).offer(x).statistic
    assert statistic == pytest.approx(Penalised().begin([0, 1] * 10).offer(x).statistic)


def test_more_labels_need_a_logistic_model() -> None:
    with pytest.raises(InputError, match="model='logistic'"):
        Investing().begin(["a", "b", "c"])
    assert Investing(model="logistic").begin(["a", "b", "c"]).classes_.tolist() == ["a", "b", "c"]


# -- hard numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_constant_and_collinear_columns_are_rejected_and_the_bid_is_paid(model: str) -> None:
    X, y = regression(0) if model == "linear" else classes(0, 2)
    rng = np.random.default_rng(0)
    selector = Investing(model=model).begin(y)
    assert selector.offer_many(X).accepted.sum() >= 2
    members = [int(name[1:]) for name in selector.selected_]
    mixed = X[:, members] @ rng.normal(size=len(members))
    useless = {
        "constant": np.full(len(y), 0.1),
        "zero": np.zeros(len(y)),
        "a member": X[:, members[0]] * 1e12,
        "a combination": mixed + 7.0,
        "nearly one": mixed + 1e-10 * rng.normal(size=len(y)),
    }
    for name, column in useless.items():
        before = selector.wealth_
        for scale in (1.0, 1e-12, 1e12):
            decision = selector.offer(column * scale, f"{name} {scale}")
            assert (decision.accepted, decision.statistic) == (False, 0.0), name
        assert selector.wealth_ < before


def test_no_more_columns_than_rows_less_two() -> None:
    rng = np.random.default_rng(0)
    selector = Penalised("aic").begin(rng.normal(size=10))
    selector.offer_many(rng.normal(size=(10, 500)))
    assert len(selector.selected_) == 8
    decision = selector.offer(rng.normal(size=10))
    assert (decision.accepted, decision.statistic) == (False, 0.0)


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_nothing_is_left_to_explain(model: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    y = 3 * x + 2 if model == "linear" else np.where(x > 0, "up", "down")
    selector = Penalised("bic", model=model).begin(y)
    assert not selector.offer(np.ones(50)).accepted
    assert selector.offer(x, "all").accepted
    answers = selector.offer_many(rng.normal(size=(50, 30)))
    assert not answers.accepted.any()
    assert (answers.statistic == 0).all()


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_a_constant_target_accepts_nothing(model: str) -> None:
    X, _ = regression(0)
    for rule in RULES:
        answers = made(rule, model).begin(np.full(len(X), 0.1 if model == "linear" else 7)).offer_many(X)
        assert not answers.accepted.any()
        assert (answers.statistic == 0).all()


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_very_few_rows(n_rows: int) -> None:
    rng = np.random.default_rng(0)
    for rule in RULES:
        answers = made(rule, "linear").begin(rng.normal(size=n_rows)).offer_many(rng.normal(size=(n_rows, 5)))
        assert answers.accepted.sum() <= max(n_rows - 2, 0)


# -- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["iic", "bic"])
@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "is NaN"), (np.inf, "is infinity"), (1e160, "is too large")], ids=str
)
def test_a_bad_value_is_refused_and_changes_nothing(rule: str, value: float, words: str) -> None:
    X, y = regression(0, n_columns=300)
    selector = made(rule, "linear").begin(y)
    selector.offer_many(X[:, :50])
    before = selector.state_arrays()
    bad = X[:, 50:].copy()
    bad[7, 200] = value
    with pytest.raises(InputError, match=rf"^Row 7, column 'x250' {words}"):
        selector.offer_many(bad)
    with pytest.raises(InputError, match=rf"^Row 7, column 'mine' {words}"):
        selector.offer(bad[:, 200], "mine")
    after = selector.state_arrays()
    assert before.keys() == after.keys()
    for name in before:
        np.testing.assert_array_equal(before[name], after[name], err_msg=name)
    # and goes on as if nothing had been said
    fresh = made(rule, "linear").begin(y)
    fresh.offer_many(X[:, :50])
    assert selector.offer_many(X[:, 50:]) == fresh.offer_many(X[:, 50:])


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([1.0, 2.0], "have 2 rows but the target has 4"),
        (np.ones((4, 2)), "one dimension"),
        (["a", None, "b", "c"], "Row 1, column 'x0' is empty"),
        (np.array([1j] * 4), "neither numbers nor categories"),
    ],
)
def test_a_bad_column_is_refused_in_words(column: Any, words: str) -> None:
    selector = Investing().begin([1.0, 2.0, 3.0, 5.0])
    with pytest.raises(InputError, match=words):
        selector.offer(column)
    assert selector.n_offered_ == 0


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y to be passed"),
        ([1.0, np.nan], "Row 1 of y is nan"),
        ([[1.0, 2.0], [3.0, 4.0]], "one dimension"),
        ([], r"0 sample\(s\)"),
    ],
)
def test_a_bad_target_is_refused_in_words(y: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Investing().begin(y)


def test_offering_comes_after_beginning() -> None:
    with pytest.raises(NotFittedError, match="begin"):
        Investing().offer([1.0])
    with pytest.raises(ParameterError, match="all columns at once"):
        Stepwise().begin([1.0, 2.0]).offer([1.0, 2.0])


# -- state --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["linear", "logistic"])
@pytest.mark.parametrize("rule", EVERY)
def test_a_saved_state_goes_on_where_it_was(rule: str, model: str) -> None:
    X, y = regression(0) if model == "linear" else classes(0, 3)
    selector = EVERY[rule]().set_params(model=model)
    selector.fit(pd.DataFrame(X[:, :20]).add_prefix("c"), y)
    other = clone(selector).load_state_arrays(selector.state_arrays())
    assert other.selected_ == selector.selected_
    assert other.feature_names_in_.tolist() == selector.feature_names_in_.tolist()
    np.testing.assert_array_equal(other.get_support(), selector.get_support())
    if rule != "stepwise":
        assert other.offer_many(X[:, 20:]) == selector.offer_many(X[:, 20:])
    damaged = selector.state_arrays()
    damaged["members.places"] = damaged["members.places"] + 100
    with pytest.raises(SavedStateError, match=r"members\.places"):
        clone(selector).load_state_arrays(damaged)
