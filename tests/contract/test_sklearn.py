"""scikit-learn's own checks of estimators, on every method of the catalog and on the worked examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.contract.mean_gap import MeanGap

from streamsift import catalog


@parametrize_with_checks([*(catalog.make(name) for name in catalog.names("rows")), MeanGap()])
@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.OneClassWarning")
@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.EmptySelectionWarning")
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
