"""Checks of column selectors: what may not depend on how columns are offered, and what a decision says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from streamsift.checks.all_kinds.hard_data import CONSTANTS
from streamsift.checks.samples import (
    INFORMATIVE,
    NAMES,
    Floats,
    Ints,
    Make,
    expect,
    pandas_for_checks,
    refused,
    same_state,
    sample,
)
from streamsift.core.exceptions import ParameterError
from streamsift.core.state import n_bytes


def _sample(n_rows: int = 60, n_features: int = 12, seed: int = 0) -> tuple[Floats, Ints]:
    """Two classes that two of the columns distinguish, one of them better."""
    X, y = sample(n_rows, n_features, n_classes=2, seed=seed)
    X[:, INFORMATIVE + 4] += 1.5 * y
    return X, y


def _same_decisions(found: Any, wanted: Any, what: str, *, exact: bool = True) -> None:
    """Fail unless two series of decisions agree: names and choices always, numbers bit for bit or up to rounding."""
    expect(len(found) == len(wanted), f"{what}: there are {len(found)} decisions instead of {len(wanted)}")
    for mine, theirs in zip(found, wanted, strict=True):
        for part in ("name", "accepted", "dropped", "because_of"):
            same = getattr(mine, part) == getattr(theirs, part)
            expect(same, f"{what}: {part} of {theirs.name!r} is {getattr(mine, part)} instead of {theirs}")
        for part in ("statistic", "threshold", "wealth_before", "wealth"):
            one, other = (np.nan if value is None else value for value in (getattr(mine, part), getattr(theirs, part)))
            close = np.isclose(one, other, rtol=1e-9, atol=1e-9, equal_nan=True)
            same = one == other or (one != one and other != other) if exact else bool(close)
            expect(same, f"{what}: {part} of {theirs.name!r} is {one} instead of {other}")


def check_informative_column_is_selected(make: Make) -> None:
    for seed in (0, 1, 2):
        X, y = sample(n_classes=2, seed=seed)
        mask = make().fit(X, y).get_support()
        expect(bool(mask[INFORMATIVE]), f"column {INFORMATIVE}, which tells the class, is not selected")


def check_numeric_target(make: Make) -> None:
    X, _ = _sample()
    y = 3.0 * X[:, INFORMATIVE] + np.random.default_rng(8).normal(size=len(X))
    selector = make().fit(X, y)
    expect(bool(selector.get_support()[INFORMATIVE]), "the column that explains a numeric target is not selected")
    expect("classes_" not in vars(selector), "there are classes_ for a numeric target")


def check_answers_agree(make: Make) -> None:
    X, y = _sample()
    selector = make().fit(pandas_for_checks().DataFrame(X).add_prefix("c"), y)
    mask, history = selector.get_support(), selector.history_
    expect(0 < mask.sum() == len(selector.selected_), "selected_ and get_support disagree")
    expect(set(selector.get_feature_names_out()) == set(selector.selected_), "selected_ and the names out disagree")
    expect(history.column("name").to_pylist() == selector.selected_, "history_ and selected_ disagree")
    places = [f"c{place}" for place in history.column("place").to_pylist()]
    expect(places == selector.selected_, "the places in history_ are not those of the columns")
    expect(selector.n_offered_ == selector.n_features_in_ == X.shape[1], "n_offered_ is not the number of columns")


def check_offering_is_refused_without_the_table(make: Make) -> None:
    if make().stream_tags().one_by_one:
        return
    X, y = _sample()
    selector = make().begin(y)
    calls: tuple[Callable[[], Any], ...] = (lambda: selector.offer(X[:, 0]), lambda: selector.offer_many(X))
    for call in calls:
        with refused("a column, offered without the others,", ParameterError) as words:
            call()
        expect("all columns" in words[0], f"the refusal does not say what is needed: {words[0]!r}")


def check_columns_are_offered_after_begin(make: Make) -> None:
    from sklearn.exceptions import NotFittedError

    X, _ = _sample()
    for what in ("offer", "offer_many"):
        with refused(f"{what} before begin", NotFittedError) as words:
            getattr(make(), what)(X[:, 0] if what == "offer" else X)
        expect("begin" in words[0], f"the refusal does not say that begin comes first: {words[0]!r}")


def check_offering_many_equals_offering_one_by_one(make: Make) -> None:
    X, y = _sample()
    many = make().begin(y)
    decisions = many.offer_many(X)
    one = make().begin(y)
    _same_decisions([one.offer(X[:, k]) for k in range(X.shape[1])], decisions, "columns offered one by one")
    same_state(one.state_arrays(), many.state_arrays(), "columns offered one by one leave another state")


def check_cut_into_blocks_does_not_matter(make: Make) -> None:
    X, y = _sample()
    wanted = make().begin(y).offer_many(X)
    for size in (2, 5, 11):
        selector = make().begin(y)
        found: list[Any] = []
        for start in range(0, X.shape[1], size):
            found += selector.offer_many(np.asfortranarray(X[:, start : start + size]))
        _same_decisions(found, wanted, f"columns in blocks of {size}")


def check_run_equals_offering(make: Make) -> None:
    X, y = _sample()
    wanted = make().fit(X, y) if make().stream_tags().whole_table else make().begin(y)
    if wanted.stream_tags().one_by_one:
        wanted.offer_many(X)
    singles = ((f"x{k}", X[:, k]) for k in range(X.shape[1]))
    blocks = (([f"x{k}" for k in range(start, start + 4)], X[:, start : start + 4]) for start in (0, 4, 8))
    for what, source in {"columns": singles, "blocks": blocks}.items():
        selector = make().run(source, y)
        expect(selector.selected_ == wanted.selected_, f"a source of {what} selects {selector.selected_}")
        expect(selector.n_offered_ == X.shape[1], f"a source of {what} counts {selector.n_offered_} columns")
        places = np.array_equal(selector.get_support(), wanted.get_support())
        expect(places, f"a source of {what}: get_support is not that of offering the same columns")


def check_decisions_tell_the_story(make: Make) -> None:
    X, y = _sample()
    selector = make().begin(y)
    members: list[str] = []
    for decision in selector.offer_many(X):
        gone = [name for name in decision.dropped if name not in members]
        expect(not gone, f"{decision.name!r} drops {gone}, which were no members")
        members = [name for name in members if name not in decision.dropped]
        members += [decision.name] if decision.accepted else []
        unknown = [name for name in decision.because_of if name not in [*members, *decision.dropped]]
        expect(not unknown, f"{decision.name!r} is rejected because of {unknown}, which were no members")
        numbers = not np.isnan([decision.statistic, decision.threshold]).any()
        expect(numbers, f"the decision on {decision.name!r} does not say what was compared")
    expect(selector.selected_ == members, f"the decisions lead to {members}, selected_ is {selector.selected_}")


def check_rejected_columns_leave_no_trace(make: Make) -> None:
    X, y = _sample()
    selector = make().begin(y)
    selector.offer_many(X)
    names, before = selector.selected_, n_bytes(selector.state_arrays())
    flat = np.zeros((len(y), 300))
    decisions = selector.offer_many(flat)
    expect(not decisions.accepted.any(), "a column that is always 0 is accepted")
    expect(selector.selected_ == names, "rejected columns changed the selection")
    after = n_bytes(selector.state_arrays())
    expect(after == before, f"300 rejected columns took the state from {before} to {after} bytes")
    expect(selector.n_offered_ == X.shape[1] + 300, "rejected columns are not counted")


def check_permuted_rows_give_the_same_decisions(make: Make) -> None:
    X, y = _sample()
    order = np.random.default_rng(3).permutation(len(y))
    wanted = make().begin(y).offer_many(X)
    found = make().begin(y[order]).offer_many(X[order])
    _same_decisions(found, wanted, "rows in another order", exact=False)


def check_begin_forgets_everything(make: Make) -> None:
    X, y = _sample()
    selector = make().fit(pandas_for_checks().DataFrame(X[:, :5], columns=NAMES), y)
    other, target = _sample(n_rows=40, seed=7)
    selector.begin(target)
    expect(selector.n_offered_ == 0, "begin does not start counting columns anew")
    expect(selector.selected_ == [], "begin keeps the selection")
    same_state(selector.state_arrays(), make().begin(target).state_arrays(), "begin keeps something of before")
    if selector.stream_tags().one_by_one:
        _same_decisions(selector.offer_many(other), make().begin(target).offer_many(other), "after a second begin")


def check_refused_begin_keeps_what_was_learnt(make: Make) -> None:
    X, y = _sample()
    selector = make().fit(X, y)
    before = selector.state_arrays()
    targets: dict[str, Any] = {"None": None, "an empty list": [], "two dimensions": X[:, :2]}
    for what, target in targets.items():
        with refused(f"a target of {what}"):
            selector.begin(target)
        same_state(selector.state_arrays(), before, f"begin refused {what}, yet the state changed")


def check_constant_columns_are_rejected(make: Make) -> None:
    X, y = _sample()
    for value in CONSTANTS:
        X[:, 0] = value
        support = make().fit(X, y).get_support()
        expect(not support[0], f"a column that is always {value} is selected")
        expect(bool(support[INFORMATIVE]), f"beside a column that is always {value}, nothing else is selected")


def check_duplicate_columns_are_selected_once(make: Make) -> None:
    X, y = _sample()
    twins = np.column_stack([X[:, INFORMATIVE], X[:, INFORMATIVE], X[:, INFORMATIVE]])
    chosen = int(make().fit(twins, y).get_support().sum())
    expect(chosen == 1, f"of three copies of one column, {chosen} are selected")


def check_bad_column_is_refused_by_row_and_name(make: Make) -> None:
    X, y = _sample()
    selector = make().begin(y)
    selector.offer_many(X)
    before = selector.state_arrays()
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        column = X[:, 0].copy()
        column[7] = value
        for block in (column, column[:, None]):
            with refused(f"a column with {word}") as words:
                selector.offer(block, "mine") if block.ndim == 1 else selector.offer_many(block, ["mine"])
            right = "Row 7" in words[0] and "'mine'" in words[0] and word in words[0]
            expect(right, f"the refusal does not name row and column: {words[0]!r}")
            same_state(selector.state_arrays(), before, f"a column with {word} was refused, yet the state changed")


def check_names_tell_columns_apart(make: Make) -> None:
    X, y = _sample()
    selector = make().begin(y)
    selector.offer_many(X)
    before, taken = selector.state_arrays(), selector.selected_[0]
    calls: dict[str, Callable[[], Any]] = {
        "a name that is selected already": lambda: selector.offer(X[:, 0], taken),
        "fewer names than columns": lambda: selector.offer_many(X, ["a", "b"]),
        "one name for two columns": lambda: selector.offer_many(X[:, :2], ["a", "a"]),
    }
    for what, call in calls.items():
        with refused(what):
            call()
        same_state(selector.state_arrays(), before, f"{what} was refused, yet the state changed")


def check_weights_count_rows(make: Make) -> None:
    X, y = _sample()
    if not make().stream_tags().weights:
        with refused("sample_weight, without the tag `weights`,", ParameterError):
            make().begin(y, sample_weight=np.ones(len(y)))
        return
    times = np.random.default_rng(4).integers(1, 3, len(y))
    weighted = make().fit(X, y, sample_weight=times)
    repeated = make().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    chosen, wanted = weighted.selected_, repeated.selected_
    expect(chosen == wanted, f"weights select {chosen}, repeated rows {wanted}")
    found, wanted = (selector.history_.column("statistic").to_numpy() for selector in (weighted, repeated))
    expect(bool(np.allclose(found, wanted, rtol=1e-6)), "weights give other statistics than repeated rows")
    for what, weight in {
        "too few": times[1:],
        "negative": -times,
        "NaN": times * np.nan,
        "all zero": 0 * times,
    }.items():
        with refused(f"weights that are {what}"):
            make().begin(y, sample_weight=weight)
