"""The three contracts, one for each kind of stream: what code above may rely on, whoever implements it.

rows       all columns are known, rows arrive: a score per feature and a current selection, at any time
columns    all rows are known, columns arrive: a decision on each column as it is offered
instances  the values of one row are bought one at a time: a label, and how few values it needed
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamsift.core.selection import Decision, Selection
from streamsift.core.tags import ColumnTags, InstanceTags, StreamTags


@runtime_checkable
class HasState(Protocol):
    """State as named arrays: saving, copying and measuring memory need no code per method."""

    def state_arrays(self) -> dict[str, NDArray[Any]]: ...

    def load_state_arrays(self, arrays: dict[str, NDArray[Any]]) -> Self: ...


@runtime_checkable
class RowContract(HasState, Protocol):
    """A selector over a stream of rows."""

    n_rows_seen_: int

    def stream_tags(self) -> StreamTags: ...

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self: ...

    def get_support(self, indices: bool = False) -> NDArray[Any]: ...

    def selection(self) -> Selection: ...

    def transform(self, X: Any) -> Any: ...

    def merge(self, other: Self) -> Self: ...


@runtime_checkable
class ColumnContract(HasState, Protocol):
    """A selector over a stream of columns."""

    n_offered_: int

    def stream_tags(self) -> ColumnTags: ...

    @property
    def selected_(self) -> list[str]: ...

    @property
    def history_(self) -> Any: ...

    def begin(self, y: Any, sample_weight: Any = None) -> Self: ...

    def offer(self, column: Any, name: str | None = None, *, categorical: bool = False) -> Decision: ...

    def offer_many(
        self, block: Any, names: Sequence[str] | None = None, *, categorical: Any = None
    ) -> Sequence[Decision]: ...

    def run(self, columns: Iterable[tuple[Any, Any]], y: Any = None, sample_weight: Any = None) -> Self: ...

    def fit(self, X: Any, y: Any = None) -> Self: ...

    def get_support(self, indices: bool = False) -> NDArray[Any]: ...

    def transform(self, X: Any) -> Any: ...


@runtime_checkable
class InstanceContract(HasState, Protocol):
    """A classifier that buys the values of one instance one at a time."""

    n_rows_seen_: int

    def stream_tags(self) -> InstanceTags: ...

    def fit(self, X: Any, y: Any) -> Self: ...

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self: ...

    def predict(self, X: Any) -> NDArray[Any]: ...

    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...

    def classify(self, X: Any) -> Any: ...

    def classify_one(self, acquire: Callable[[int], float]) -> Any: ...
