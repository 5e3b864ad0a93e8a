"""What a method promises, as data: the contract checks read it, code never asks for a concrete class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mergeable = Literal["exact", "bounded", "no"]
MultiClass = Literal["native", "one-vs-rest", "softmax", "none"]
Categorical = Literal["counts", "codes", "refuses"]


@dataclass(frozen=True)
class StreamTags:
    """The promises of one method.

    mergeable: "exact" (merge equals one pass), "bounded" (within the stated error) or "no".
    batch_invariant: how the stream is cut into batches does not change the result.
    supervised: labels are used. sparse: CSR input costs by its non-zeros. missing: `missing="skip"` is offered.
    late_features: `new_features="add"` is offered. multi_class: how more than two classes are handled.
    ignores_constants: of dense rows, a column that is always the same does not come before one that tells the class;
    where this is not so, scale or centre the features before. whole_table: a column method that looks at all columns
    before it decides on any; it refuses `offer` and takes `fit` and `run`. categorical: what becomes of a column of
    categories: "counts" (each category counts for itself, their order means nothing), "codes" (the codes are taken as
    numbers) or "refuses" (the column is refused in words).
    """

    mergeable: Mergeable = "no"
    batch_invariant: bool = False
    supervised: bool = True
    sparse: bool = False
    missing: bool = False
    late_features: bool = False
    multi_class: MultiClass = "native"
    ignores_constants: bool = True
    whole_table: bool = False
    categorical: Categorical = "codes"
