"""OFS-Density: neighbourhood rough sets whose neighbourhoods end where the density falls.

Paper: Zhou, Hu, Li, Wu, "OFS-Density: a novel online streaming feature selection method", Pattern Recognition 86
(2019). A column is considered when the class depends on it alone at least as much as on a member on average. It joins
when the class depends more on the members with it. When the dependency falls by no more than `tolerance` (5 % in the
paper) it joins, too, and members without which the dependency is no smaller are left out one after the other; they come
back if the dependency on what is left falls short of what it was, and then neither this dependency nor the average is
changed by the newcomer, as in the published program. Dependency: see columns/neighbourhood.py.

The order in which selected columns are tried is random in the published program, and that of acceptance here: no seed
is needed.

Time for a considered column O(rows^2), and O(rows^2 x selected) when selected columns are tried; for more than 2,048
rows, whose distances are not kept, each of them times the selected columns. Memory O(rows x (rows + selected columns)),
or O(rows x selected).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.columns.neighbourhood import (
    Dependencies,
    NeighbourhoodState,
    NeighbourhoodVerdict,
    begin_with,
    decide_with,
)
from streamsift.core.column_data import Floats
from streamsift.core.columns import ColumnSelector
from streamsift.core.constraints import Limits, Real
from streamsift.core.tags import ColumnTags


class OFSDensity(ColumnSelector):
    """Online feature selection by neighbourhood rough sets with neighbourhoods by density.

    Parameters
    ----------
    tolerance : float in [0, 1), default 0.05
        The share by which the dependency may fall with a column that joins all the same. 0 makes members stay rather
        than be replaced, so that more columns are selected. The default is the paper's.

    Attributes
    ----------
    selected_ : list of str
        Names of the selected columns in the order of acceptance.
    history_ : pyarrow.Table
        Statistic and threshold of each selected column when it was accepted.
    n_offered_ : int

    Notes
    -----
    The statistic of a decision is the dependency of the class on the column alone, against the mean of the
    selected columns, where that ruled it out; otherwise the dependency on all selected columns and the column, against
    what it had to reach.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.columns.ofs_density import OFSDensity
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> y = X[:, 3] > 0
    >>> selector = OFSDensity().begin(y)
    >>> decisions = selector.offer_many(X)
    >>> selector.selected_
    ['x0', 'x1', 'x3']
    """

    parameter_limits: ClassVar[Limits] = {"tolerance": (Real(0, 1, closed="left"),)}
    state_type: ClassVar[type[Any]] = NeighbourhoodState
    by_density: ClassVar[bool] = True

    def stream_tags(self) -> ColumnTags:
        return ColumnTags(target="classes", categorical="codes")

    def __init__(self, *, tolerance: float = 0.05) -> None:
        self.tolerance = tolerance

    _begin = begin_with
    _decide = decide_with

    def _rule(self, neighbours: Dependencies, newcomer: Floats, alone: float) -> NeighbourhoodVerdict:
        state = neighbours.state
        everyone = np.ones(len(state.columns), bool)
        if alone < state.hurdle:
            return NeighbourhoodVerdict(everyone, False, state.together, state.hurdle, alone, state.hurdle)
        together = neighbours.of_all(newcomer)
        if together > state.together:
            return NeighbourhoodVerdict(
                everyone, True, together, self._mean(state, everyone, alone), together, state.together
            )
        least = (1.0 - self.tolerance) * state.together
        if not (state.together > 0.0 and (state.together - together) / state.together <= self.tolerance):
            return NeighbourhoodVerdict(everyone, False, state.together, state.hurdle, together, least)
        kept, left = neighbours.needed(newcomer, together, lambda with_it, without_it: without_it >= with_it)
        if left >= state.together:
            return NeighbourhoodVerdict(kept, True, left, self._mean(state, kept, alone), together, least)
        return NeighbourhoodVerdict(everyone, True, state.together, state.hurdle, together, least)

    def _mean(self, state: NeighbourhoodState, kept: NDArray[np.bool_], alone: float) -> float:
        return float((state.alone[kept].sum() + alone) / (np.count_nonzero(kept) + 1))
