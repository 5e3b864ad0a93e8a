"""scikit-learn's own checks on the selectors of this topic."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.columns.data import regression

from streamsift.columns.investing import Investing
from streamsift.columns.penalised import Penalised
from streamsift.columns.stepwise import Stepwise

SELECTORS = [Investing(), Investing(model="logistic"), Penalised(), Penalised(model="logistic"), Stepwise()]


@parametrize_with_checks(SELECTORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks warn about what they are given
        check(estimator)


@pytest.mark.parametrize("selector", [Investing(), Penalised(), Stepwise()], ids=lambda s: type(s).__name__)
def test_selectors_work_in_a_pipeline(selector: Any) -> None:
    X, y = regression(0)
    pipeline = make_pipeline(selector, LinearRegression()).fit(X, y)
    assert pipeline.score(X, y) > 0.5
    selector.set_output(transform="pandas")
    frame = selector.fit(X, y).transform(X)
    assert frame.columns.tolist() == selector.get_feature_names_out().tolist()
    selector.set_output(transform="default")
    assert isinstance(selector.transform(X), np.ndarray)
