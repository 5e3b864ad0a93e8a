"""Why an instance was classified as it was: what was bought, the posterior after each purchase, why buying stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch, check_batch
from streamsift.core.categories import Names
from streamsift.core.guard import one_thread
from streamsift.core.instances import InstanceClassifier, PurchaseStep
from streamsift.core.pictures import picture


@dataclass(frozen=True)
class Explanation:
    """How one instance was classified. Printed, it is a table; `plot()` draws the path of the posterior.

    `steps` begins with what was believed before anything was bought; `reason` says why buying stopped. `categories` are
    the names behind the codes of categorical features, by the place of the feature.
    """

    classes: NDArray[Any]
    names: tuple[str, ...]
    steps: tuple[PurchaseStep, ...]
    categories: Names = field(default_factory=dict)

    @property
    def label(self) -> Any:
        """The answer."""
        return self.classes[self.steps[-1].choice]

    @property
    def reason(self) -> str:
        """Why buying stopped."""
        return self.steps[-1].reason

    @property
    def posteriors(self) -> NDArray[np.float64]:
        """The posterior after each purchase, one row per step, one column per class."""
        return np.array([step.posterior for step in self.steps])

    def columns(self) -> list[str]:
        """The column headings of the table."""
        return ["step", "feature", "value", *(f"P({label})" for label in self.classes), "cost so far"]

    def rows(self) -> list[list[str]]:
        """The table, one row per step."""
        table = []
        for number, (name, step) in enumerate(zip(self.names, self.steps, strict=True)):
            value = "" if step.feature is None else self._value(step) + ("" if step.known else " (never seen)")
            beliefs = [f"{probability:.3f}" for probability in step.posterior]
            table.append([str(number), name, value, *beliefs, f"{step.cost:g}"])
        return table

    def _value(self, step: PurchaseStep) -> str:
        known = self.categories.get(-1 if step.feature is None else step.feature)
        if known is None or not step.value < len(known):
            return f"{step.value:g}"
        return known[int(step.value)]

    def _end(self) -> str:
        n = len(self.steps) - 1
        return f"{self.label} after {n} feature{'' if n == 1 else 's'}: {self.reason}."

    def __str__(self) -> str:
        lines = [self.columns(), *self.rows()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        text = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([*text, self._end()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.columns())
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows())
        caption = f"<caption>{escape(self._end())}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def plot(self) -> Any:
        """The path of the posterior as a bokeh figure."""
        labels = [str(label) for label in self.classes]
        return picture("instance_plots:path_figure", self.posteriors, list(self.names), labels, self._end())


@one_thread
def explain(self: InstanceClassifier, x: Any) -> Explanation:
    """Explain one instance: the features bought, the posterior after each, the cost so far and the reason to stop.

    Parameters
    ----------
    x : array of shape (n_features,), dict, table or batch of one row, or callable
        The values of the instance (NaN: missing), or `acquire` as for `classify_one`. In an array of numbers,
        categories are the codes of the model itself.

    Returns
    -------
    Explanation
        `print` shows the table, `.plot()` draws it.

    Examples
    --------
    >>> from streamsift import ETANA
    >>> model = ETANA(n_bins=2).fit([[0, 5], [0, 6], [9, 5], [9, 6]] * 10, ["no", "no", "yes", "yes"] * 10)
    >>> print(model.explain([9, 6]))
    step  feature  value  P(no)  P(yes)  cost so far
       0                  0.500   0.500            0
       1       x0      9  0.045   0.955         0.01
    yes after 1 feature: the next feature costs more than it can save.
    """
    self._current_plan()
    if not callable(x):
        batch = check_batch(
            _one_row(x),
            None,
            owner=type(self).__name__,
            features=self._features,
            categories=self._categories,
            missing=True,
            needs_y=False,
            bare_codes=True,
        )
        steps, categories = tuple(self._walk(lambda j: batch.X[0, j])), batch.categories.names
    else:
        steps, categories = tuple(self._walk(x)), self._categories.names
    names = tuple("" if step.feature is None else self._features.name(step.feature) for step in steps)
    return Explanation(self.classes_, names, steps, categories)


def _one_row(x: Any) -> Any:
    """One instance as X of one row."""
    if isinstance(x, Batch):
        return x
    if isinstance(x, Mapping):
        return [x]
    if hasattr(x, "toarray"):
        return x.toarray().reshape(1, -1)
    return x if hasattr(x, "columns") else np.asarray(x).reshape(1, -1)
