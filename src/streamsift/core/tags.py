"""What a method promises, as data: the contract checks read it, code never asks for a concrete class.

Each kind of stream has its own tags. `kind` says which contract of core/contracts.py the method keeps, and with it
which checks apply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

Kind = Literal["rows", "columns", "instances"]
Mergeable = Literal["exact", "bounded", "no"]
MultiClass = Literal["native", "one-vs-rest", "softmax", "none"]
TargetKind = Literal["number", "classes", "either"]
Categorical = Literal["counts", "one_hot", "codes", "refuses"]


@dataclass(frozen=True)
class MethodTags:
    """What methods of every kind say of themselves.

    batch_invariant: how the stream is cut, into batches of rows or blocks of columns, does not change the result.
    supervised: labels are used. sparse: sparse input costs by its non-zeros. missing: missing values are taken.
    categorical: what becomes of a column of categories: "counts" (each category counts for itself, their order means
    nothing), "one_hot" (each category becomes a column of 0 and 1; row selectors only), "codes" (the codes are taken as
    numbers) or "refuses" (the column is refused in words).
    """

    kind: ClassVar[Kind]

    batch_invariant: bool = False
    supervised: bool = True
    sparse: bool = False
    missing: bool = False
    categorical: Categorical = "codes"


@dataclass(frozen=True)
class StreamTags(MethodTags):
    """The promises of a method over rows.

    missing: `missing="skip"` is offered. late_features: `new_features="add"` is offered.
    mergeable: "exact" (merge equals one pass), "bounded" (within the stated error) or "no".
    multi_class: how more than two classes are handled.
    weights: `partial_fit` takes `sample_weight`; the others refuse it in words.
    fades: `fading`, `half_life` and `time` are offered, and `partial_fit` takes `time` (core/half_life.py).
    ignores_constants: of dense rows, a column that is always the same does not come before one that tells the class;
    where this is not so, scale or centre the features before.
    regression: `task="regression"` is offered, and y is then a number for each row. why_no_numbers: where it is not,
    the reason in a few words.
    cuts_target: such numbers are cut into `target_bins` bins, and only these count.
    """

    kind: ClassVar[Kind] = "rows"

    mergeable: Mergeable = "no"
    late_features: bool = False
    multi_class: MultiClass = "native"
    weights: bool = False
    fades: bool = False
    ignores_constants: bool = True
    regression: bool = False
    why_no_numbers: str = ""
    cuts_target: bool = False


@dataclass(frozen=True)
class ColumnTags(MethodTags):
    """The promises of a method over columns.

    target: what it explains: numbers (or two labels as 0 and 1), classes, or either. weights: rows may have weights.
    mixed_columns: numbers and categories may be offered to one selector. row_invariant: the order of the rows does
    not matter.
    whole_table: it looks at all columns before it decides on any; it refuses `offer` and takes `fit` and `run`.
    """

    kind: ClassVar[Kind] = "columns"

    batch_invariant: bool = True
    sparse: bool = True
    categorical: Categorical = "counts"
    target: TargetKind = "either"
    weights: bool = False
    mixed_columns: bool = True
    row_invariant: bool = True
    whole_table: bool = False

    @property
    def one_by_one(self) -> bool:
        """Whether columns may be offered one at a time."""
        return not self.whole_table

    @property
    def numeric_target(self) -> bool:
        """Whether the target may be numbers."""
        return self.target != "classes"


@dataclass(frozen=True)
class InstanceTags(MethodTags):
    """The promises of a method that buys the values of one instance one at a time.

    missing: a value that cannot be had is skipped and not charged. class_grid: it keeps a grid over the probabilities
    of the classes, which grows fast with their number; see `resolution`.
    """

    kind: ClassVar[Kind] = "instances"

    sparse: bool = True
    missing: bool = True
    categorical: Categorical = "counts"
    class_grid: bool = False
