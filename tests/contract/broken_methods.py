"""For every kind and check, a method that breaks the promise: so every check can be seen to fail."""

from __future__ import annotations

from typing import Any

from tests.contract import broken_columns, broken_instances, broken_rows
from tests.contract.correlated import Correlated
from tests.contract.mean_gap import MeanGap

from streamsift.core.tags import Kind
from streamsift.instances.etana import ETANA

BREAKS: dict[Kind, dict[str, type[Any]]] = {
    "rows": dict(broken_rows.BREAKS),
    "columns": dict(broken_columns.BREAKS),
    "instances": dict(broken_instances.BREAKS),
}
WHOLE: dict[Kind, type[Any]] = {"rows": MeanGap, "columns": Correlated, "instances": ETANA}  # these break none
