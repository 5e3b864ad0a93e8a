"""Where a plan stops and where it goes on, over the simplex: the paper's Figures 2 and 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import ParameterError
from streamsift.core.guard import one_thread
from streamsift.core.instances import InstanceClassifier
from streamsift.core.pictures import picture
from streamsift.instances.grid import make_grid

DRAWN_STEPS = {2: 400, 3: 60}


@dataclass(frozen=True)
class Region:
    """Points over the simplex, whether the plan stops there, and what stopping costs (the paper's g).

    stage: features considered so far. points: one row per point, one column per class. choice: the class it would
    answer.
    """

    stage: int
    classes: NDArray[Any]
    points: NDArray[np.float64]
    stops: NDArray[np.bool_]
    loss: NDArray[np.float64]
    choice: NDArray[np.int64]


@one_thread
def policy(self: InstanceClassifier, stage: int) -> Region:
    """Where the plan stops after `stage` features, on a grid over the simplex, for two and three classes.

    Parameters
    ----------
    stage : int
        How many features have been considered, from 0.

    Returns
    -------
    Region
        Points with the decision at each; `plot_policy` draws it.

    Examples
    --------
    >>> from streamsift import ETANA
    >>> model = ETANA(n_bins=2).fit([[0, 5], [0, 6], [9, 5], [9, 6]] * 10, ["no", "no", "yes", "yes"] * 10)
    >>> region = model.policy(0)
    >>> region.points[~region.stops, 0].min().round(2), region.points[~region.stops, 0].max().round(2)
    (np.float64(0.06), np.float64(0.94))
    """
    plan = self._current_plan()
    n_classes, n_features = len(self.classes_), self._features.n_features
    if n_classes not in DRAWN_STEPS:
        raise ParameterError(f"policy shows two or three classes, but there are {n_classes}: use explain instead.")
    if not isinstance(stage, int | np.integer) or not 0 <= stage <= n_features:
        raise ParameterError(f"stage must be a number of features from 0 to {n_features}. Got {stage!r} instead.")
    points = make_grid(n_classes, DRAWN_STEPS[n_classes]).points
    with np.errstate(divide="ignore"):
        logs = np.log(points)
    late = stage >= plan.n_stages  # nothing is bought any more
    stops = np.array([late or plan.stops(stage, log_weight) for log_weight in logs])
    losses = points @ plan.risk
    return Region(int(stage), self.classes_, points, stops, losses.min(axis=1), losses.argmin(axis=1))


def plot_policy(self: InstanceClassifier, stage: int) -> Any:
    """Draw the regions of stopping and going on after `stage` features: a line for two classes, a triangle for three.

    Parameters
    ----------
    stage : int
        How many features have been considered, from 0.

    Returns
    -------
    bokeh figure

    Examples
    --------
    >>> from streamsift import ETANA
    >>> model = ETANA(n_bins=2).fit([[0, 5], [0, 6], [9, 5], [9, 6]] * 10, ["no", "no", "yes", "yes"] * 10)
    >>> model.plot_policy(0).title.text
    'After 0 features'
    """
    return picture("instance_plots:region_figure", policy(self, stage))
