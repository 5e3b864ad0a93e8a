"""Column selectors inside a pipeline of scikit-learn; its own checks run in tests/contract/test_sklearn.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from tests.columns.data import regression

from streamsift.columns.investing import Investing
from streamsift.columns.penalised import Penalised
from streamsift.columns.stepwise import Stepwise


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
