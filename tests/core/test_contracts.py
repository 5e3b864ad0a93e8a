"""The contracts: a method satisfies the one of its kind and no other."""

from __future__ import annotations

from typing import Any

import pytest

from streamsift import catalog
from streamsift.checks.drivers import driver_of
from streamsift.core.contracts import ColumnContract, HasState, InstanceContract, RowContract

CONTRACTS: dict[str, Any] = {"rows": RowContract, "columns": ColumnContract, "instances": InstanceContract}


@pytest.mark.parametrize("name", catalog.names())
def test_a_method_satisfies_the_contract_of_its_kind_only(name: str) -> None:
    def make() -> Any:
        return catalog.make(name)

    driver = driver_of(make)
    method = driver.learn(make(), *driver.sample(n_rows=40))
    assert isinstance(method, HasState)
    kept = [kind for kind, contract in CONTRACTS.items() if isinstance(method, contract)]
    assert kept == [catalog.entry(name).kind] == [method.stream_tags().kind]
