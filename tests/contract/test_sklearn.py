"""scikit-learn's own checks of estimators, on every row selector of the catalog and on the worked example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.contract.mean_gap import MeanGap

from streamsift import catalog

# Method -> name of a check -> why it cannot pass.
SHADOWED = "the check takes the parameter `score` for the method of that name"
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "Screener": {
        "check_fit_score_takes_y": SHADOWED,
        "check_n_features_in_after_fitting": SHADOWED,
        "check_pipeline_consistency": SHADOWED,
    },
}


def expected_failures(estimator: Any) -> dict[str, str]:
    return EXPECTED_FAILURES.get(type(estimator).__name__, {})


@parametrize_with_checks(
    [*(catalog.make(name) for name in catalog.names("rows")), MeanGap()], expected_failed_checks=expected_failures
)
@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.OneClassWarning")
@pytest.mark.filterwarnings("ignore::streamsift.core.exceptions.EmptySelectionWarning")
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
