"""ABFS and the bounds under the contract's checks and scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from streamsift.checks import Check, row_checks
from streamsift.core.exceptions import EmptySelectionWarning
from streamsift.rows.abfs import ABFS
from streamsift.rows.bounds import RandomSelector

# Checks that set a number of features, which ABFS decides itself; what they ask is asked below.
DECIDES_ITSELF = {
    "every_kind_of_table_gives_the_same_scores",
    "answers_agree",
    "transform_keeps_the_selected_columns",
    "set_output_gives_pandas",
    "pipeline_selects_before_it_classifies",
}


def make() -> ABFS:
    return ABFS(grace_period=50)  # the checks' samples have a hundred rows or so


@pytest.mark.parametrize("check", row_checks(), ids=lambda check: check.name)
def test_contract(check: Check) -> None:
    reason = check.reason_to_skip(make)
    if check.name in DECIDES_ITSELF:
        reason = "the number of features is the method's own choice"
    if reason is not None:
        pytest.skip(reason)
    check.function(make)


@parametrize_with_checks([ABFS(grace_period=10), RandomSelector(random_state=0)])
@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.OneClassWarning")
@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.EmptySelectionWarning")
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_tables_of_every_kind_select_alike_and_keep_their_names() -> None:
    pandas = pytest.importorskip("pandas", reason="skipped: no pandas")
    polars = pytest.importorskip("polars", reason="skipped: no polars")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = np.where(X[:, 2] > 0, "up", "down")
    wanted = ABFS(100, 0.1).partial_fit(X, y)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    for table in (frame, polars.from_pandas(frame), polars.from_pandas(frame).to_arrow()):
        found = ABFS(100, 0.1).partial_fit(table, y)
        assert found.units_ == wanted.units_
        assert found.get_feature_names_out().tolist() == ["c"]
    assert np.array_equal(wanted.transform(X), X[:, [2]])
    kept = ABFS(100, 0.1).set_output(transform="pandas").fit(frame, y).transform(frame)
    assert kept.equals(frame[["c"]])


def test_pass_through_keeps_all_names() -> None:
    pandas = pytest.importorskip("pandas", reason="skipped: no pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=list("abc"))
    selector = ABFS().set_output(transform="pandas").fit(frame, np.arange(20) % 2)
    with pytest.warns(EmptySelectionWarning, match="passed through"):
        assert selector.transform(frame).equals(frame)
