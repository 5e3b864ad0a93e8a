"""Stepwise: forward selection, the batch rival of streaming selection.

In each round every column is tried, and the one whose gain exceeds the penalty (AIC, BIC or RIC; columns/penalised.py)
by most is taken; the search ends when none does. Paper: Ungar, Zhou, Foster, Stine, which compares with it.

It has to see all columns in every round, so there is nothing to decide on a single column: `fit` searches a table,
`run` collects a source first, and `offer` is refused. Time O(rows x columns x accepted) for each accepted column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from streamsift.columns.linear_fit import LinearFit
from streamsift.columns.logistic_fit import LogisticFit
from streamsift.columns.model import MODEL_LIMITS, begin_fit, model_tags
from streamsift.columns.penalised import CRITERIA, PenaltyAccount
from streamsift.columns.walk import WalkScratch, one_hot, screen
from streamsift.core.column_data import ColumnBlock, Floats, Target, check_column
from streamsift.core.columns import ColumnSelector
from streamsift.core.constraints import IsBool, Limits, OneOf
from streamsift.core.exceptions import ParameterError
from streamsift.core.guard import one_thread
from streamsift.core.interrupts import check
from streamsift.core.selection import Decision, Decisions
from streamsift.core.tags import ColumnTags

_TILE = 1024


@dataclass
class LinearStepwise:
    """State of Stepwise with a linear model."""

    fit: LinearFit


@dataclass
class LogisticStepwise:
    """State of Stepwise with a logistic model."""

    fit: LogisticFit


class Stepwise(ColumnSelector):
    """Take the best column, again and again, while it gains more than a penalty.

    Parameters
    ----------
    criterion : {"aic", "bic", "ric"}, default "bic"
        The penalty; see `Penalised`.
    model : {"linear", "logistic"}, default "linear"
        Least squares for numbers, or logistic regression for classes.
    fit_intercept : bool, default True
        Whether the model has a constant.

    Attributes
    ----------
    selected_ : list of str
        Names of the selected columns, the best first.
    history_ : pyarrow.Table
        Statistic and threshold of each selected column in its round.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.columns.stepwise import Stepwise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 100))
    >>> y = X[:, 3] - 2 * X[:, 40] + rng.normal(size=200)
    >>> Stepwise("ric").fit(X, y).selected_
    ['x40', 'x3']
    """

    parameter_limits: ClassVar[Limits] = {
        "criterion": (OneOf(*CRITERIA),),
        "model": MODEL_LIMITS,
        "fit_intercept": (IsBool(),),
    }

    def __init__(self, criterion: str = "bic", *, model: str = "linear", fit_intercept: bool = True) -> None:
        self.criterion = criterion
        self.model = model
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Search the columns of X; weights count rows."""
        return self._fit(X, y, sample_weight)

    def stream_tags(self) -> ColumnTags:
        return replace(model_tags(self.model), whole_table=True, batch_invariant=False)

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        return LogisticStepwise if self.model == "logistic" else LinearStepwise

    def _begin(self, target: Target, weight: Floats) -> LinearStepwise | LogisticStepwise:
        fit = begin_fit(self.model, target, weight, self.fit_intercept)
        return LinearStepwise(fit) if isinstance(fit, LinearFit) else LogisticStepwise(fit)

    def offer(self, column: Any, name: str | None = None, *, categorical: bool = False) -> NoReturn:
        """Refused: a single column cannot be judged without the others."""
        raise ParameterError("Stepwise needs all columns at once: use fit, or Penalised to judge them one by one.")

    def offer_many(self, block: Any, names: Sequence[str] | None = None, *, categorical: Any = None) -> NoReturn:
        """Refused, as `offer` is."""
        self.offer(block)

    @one_thread
    def run(self, columns: Iterable[tuple[Any, Any]], y: Any = None, sample_weight: Any = None) -> Self:
        """Collect everything a source gives, then search it as `fit` does."""
        self.begin(getattr(columns, "y", None) if y is None else y, sample_weight)
        blocks, count = [], 0
        for name, column in columns:
            single = name is None or isinstance(name, str)
            block = self._collected(column, [name or f"x{count}"] if single else name, single)
            blocks.append(block)
            count += block.n_columns
        if blocks:
            self._judge_all(_joined(blocks))
        return self

    def _collected(self, column: Any, names: Sequence[str] | None, single: bool) -> ColumnBlock:
        if single and getattr(column, "ndim", 1) == 1:
            assert names is not None
            return check_column(
                column,
                n_rows=self._members.n_rows,
                place=0,
                name=names[0],
                categorical=False,
                owner="Stepwise",
            )
        return self._checked(column, names, None)

    def _judge_all(self, block: ColumnBlock) -> None:
        block.refuse_bad_value()
        account = PenaltyAccount(self.criterion, block.n_columns, 0)
        fit: Any = self._state.fit
        left = np.ones(block.n_columns, bool)
        while left.any():
            found = _best(fit, account, block, left)
            if found is None:
                break
            k, candidate, threshold = found
            fit = candidate.grow()
            left[k] = False
            answer = Decision(block.names[k], True, statistic=candidate.gain, threshold=threshold)
            taken, answers = block.take(np.array([k])), Decisions.of([answer])
            self._members.append(taken, answers)
            self._remember_categories(taken, answers)
        self._state.fit = fit
        self._members.n_offered = block.n_columns
        self._know(self._members)


def _best(fit: Any, account: PenaltyAccount, block: ColumnBlock, left: NDArray[np.bool_]) -> Any:
    """The column that exceeds its threshold by most, examined, with its threshold; None if there is none."""

    def threshold(df: int) -> float:
        return float(account.terms(np.zeros(1), df, fit).threshold[0])

    def examine(k: int) -> Any:
        check()
        column = block.column(k)
        return fit.examine(one_hot(column) if block.is_categorical(k) else column[None], threshold)

    excess = np.full(block.n_columns, -np.inf)
    single = threshold(fit.df)
    scratch = WalkScratch()
    for start in range(0, block.n_columns, _TILE):
        check()
        stop = min(start + _TILE, block.n_columns)
        gains, doubtful = screen(fit, block, start, stop, scratch)
        excess[start:stop] = gains - single
        marked = doubtful if block.categorical is None else doubtful | block.categorical[start:stop]
        for k in np.flatnonzero(marked & left[start:stop]) + start:
            candidate = examine(int(k))
            excess[k] = candidate.gain - threshold(max(candidate.df, 1))
    excess[~left] = -np.inf
    # The likelihood ratio may fall short where the score test did not; then the next best is tried.
    for k in np.argsort(-excess, kind="stable"):
        if excess[k] < -1e-6 * (1.0 + abs(single)):
            return None
        candidate = examine(int(k))
        needed = threshold(max(candidate.df, 1))
        if candidate.grow is not None and candidate.gain >= needed:
            return int(k), candidate, needed
    return None


def _joined(blocks: list[ColumnBlock]) -> ColumnBlock:
    names = [name for block in blocks for name in block.names]
    values = [block.values for block in blocks]
    joined = np.hstack(values) if not any(block.sparse for block in blocks) else sparse.hstack(values).tocsc()
    masks = [np.zeros(b.n_columns, bool) if b.categorical is None else b.categorical for b in blocks]
    mask = np.concatenate(masks)
    firsts = np.cumsum([0] + [block.n_columns for block in blocks]).tolist()
    categories = {
        first + k: known for first, block in zip(firsts, blocks, strict=False) for k, known in block.categories.items()
    }
    marked = mask if mask.any() else None
    return ColumnBlock(joined, names, range(len(names)), marked, categories, blocks[0].lines)
