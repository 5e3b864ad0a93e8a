"""OFS-A3M: neighbourhood rough sets whose neighbourhoods end at a gap.

Paper: Zhou, Hu, Li, Wu, "Online streaming feature selection using adapted neighborhood rough set", Information Sciences
481 (2019). A column is considered when the class depends on it alone more than on a selected column's share of all of
them. It joins when the class depends more on the selected columns with it, which decides for maximal dependency. When
the dependency is just the same it replaces all selected columns without which it stays the same, tried one after the
other. Dependency: see columns/neighbourhood.py.

The order in which selected columns are tried is random in the published program, and that of acceptance here: no seed
is needed.

Time for a considered column O(rows^2), and O(rows^2 x selected) when selected columns are tried; for more than 2,048
rows, whose distances are not kept, each of them times the selected columns. Memory O(rows x (rows + selected columns)),
or O(rows x selected).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from streamsift.columns.neighbourhood import (
    Dependencies,
    NeighbourhoodState,
    NeighbourhoodVerdict,
    begin_with,
    decide_with,
)
from streamsift.core.column_data import Floats
from streamsift.core.columns import ColumnSelector
from streamsift.core.constraints import Limits
from streamsift.core.tags import ColumnTags


class OFSA3M(ColumnSelector):
    """Online feature selection by neighbourhood rough sets with neighbourhoods by gap; no parameters.

    Attributes
    ----------
    selected_ : list of str
        Names of the selected columns in the order of acceptance.
    history_ : pyarrow.Table
        Statistic and threshold of each selected column when it was accepted.
    n_offered_ : int

    Notes
    -----
    The statistic of a decision is the dependency of the class on the column alone, against a selected
    column's share of the dependency on all, where that ruled it out; otherwise the dependency on all selected columns
    and the column, against that without it.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.columns.ofs_a3m import OFSA3M
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> y = X[:, 3] > 0
    >>> OFSA3M().fit(X, y).selected_
    ['x0', 'x3']
    """

    parameter_limits: ClassVar[Limits] = {}
    state_type: ClassVar[type[Any]] = NeighbourhoodState
    by_density: ClassVar[bool] = False

    def stream_tags(self) -> ColumnTags:
        return ColumnTags(target="classes", categorical="codes")

    _begin = begin_with
    _decide = decide_with

    def _rule(self, neighbours: Dependencies, newcomer: Floats, alone: float) -> NeighbourhoodVerdict:
        state = neighbours.state
        everyone = np.ones(len(state.columns), bool)
        if not alone > state.hurdle:
            return NeighbourhoodVerdict(everyone, False, state.together, state.hurdle, alone, state.hurdle)
        together = neighbours.of_all(newcomer)
        if together < state.together:
            return NeighbourhoodVerdict(everyone, False, state.together, state.hurdle, together, state.together)
        kept = everyone
        if together == state.together:
            kept, _ = neighbours.needed(newcomer, together, lambda with_it, without_it: without_it == with_it)
        share = together / (np.count_nonzero(kept) + 1)
        return NeighbourhoodVerdict(kept, True, together, float(share), together, state.together)
