"""scikit-learn's own checks of estimators, on every method of the catalog and on the worked examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.contract.correlated import Correlated
from tests.contract.mean_gap import MeanGap

from streamsift import Investing, Penalised, catalog

QUICK: dict[str, dict[str, Any]] = {"f_etana": {"random_state": 0, "max_iterations": 3}}
METHODS = [catalog.make(name, **QUICK.get(name, {})) for name in catalog.names()]
ESTIMATORS = [*METHODS, Investing(model="logistic"), Penalised(model="logistic"), MeanGap(), Correlated()]
CHECKS = parametrize_with_checks(ESTIMATORS)  # from scikit-learn 1.6 a generator, which pytest 9 refuses


@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.OneClassWarning")
@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.EmptySelectionWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
