"""The contracts: a row selector satisfies the one for rows and no other."""

from __future__ import annotations

from tests.contract.mean_gap import MeanGap

from streamsift.checks.samples import sample
from streamsift.core.contracts import ColumnContract, HasState, InstanceContract, RowContract


def test_a_row_selector_satisfies_the_row_contract_only() -> None:
    selector = MeanGap().partial_fit(*sample())
    assert isinstance(selector, HasState)
    assert isinstance(selector, RowContract)
    assert not isinstance(selector, ColumnContract)
    assert not isinstance(selector, InstanceContract)
