"""Penalised: a column is accepted when it gains more than a fixed penalty.

    aic   2                 Akaike
    bic   log n             Schwarz; n is the number of rows
    ric   2 log p           risk inflation (Foster and George); p is the number of columns

each times the degrees of freedom of the column, against the gain n log(RSS before / RSS after) or the likelihood ratio
of the logistic fits. Paper: Ungar, Zhou, Foster, Stine, which compares its investing rule with BIC and RIC.

RIC has to know the number of columns. Where it is not given, `fit` counts them, and a stream takes the number offered
so far, which is milder at the beginning.

Time per column O(rows x accepted), memory O(rows x accepted); a rejected column leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.columns.linear_fit import Fit, LinearFit
from streamsift.columns.logistic_fit import LogisticFit
from streamsift.columns.model import MODEL_LIMITS, begin_fit, model_tags
from streamsift.columns.walk import Terms, decide_block
from streamsift.core.column_data import ColumnBlock, Floats, Target
from streamsift.core.columns import ColumnSelector
from streamsift.core.constraints import Integer, IsBool, IsNone, Limits, OneOf
from streamsift.core.selection import Decisions
from streamsift.core.state import MOST_FEATURES, Within
from streamsift.core.tags import ColumnTags

_NColumns = Annotated[int, Within(0, MOST_FEATURES)]
_Tested = Annotated[int, Within(0, "n_offered")]

CRITERIA = ("aic", "bic", "ric")


@dataclass(frozen=True)
class PenaltyAccount:
    """The penalty for a degree of freedom; with RIC over an unknown number of columns it grows with the stream."""

    criterion: str
    n_columns: int  # 0: unknown
    n_tested: int

    learns_from_gains: ClassVar[bool] = False

    def terms(self, gains: Floats, df: int, fit: Fit) -> Terms:
        count = len(gains)
        if self.criterion == "aic":
            penalty = np.full(count, 2.0)
        elif self.criterion == "bic":
            penalty = np.full(count, np.log(fit.n_observations))
        elif self.n_columns:
            penalty = np.full(count, 2.0 * np.log(self.n_columns))
        else:
            penalty = 2.0 * np.log(np.arange(self.n_tested + 1, self.n_tested + count + 1))
        return Terms(df * penalty, None)

    def after(self, terms: Terms, n_rejected: int, accepted: bool) -> PenaltyAccount:
        return PenaltyAccount(self.criterion, self.n_columns, self.n_tested + n_rejected + accepted)


@dataclass
class LinearPenalised:
    """State of Penalised with a linear model."""

    n_columns: _NColumns
    n_tested: _Tested
    fit: LinearFit


@dataclass
class LogisticPenalised:
    """State of Penalised with a logistic model."""

    n_columns: _NColumns
    n_tested: _Tested
    fit: LogisticFit


class Penalised(ColumnSelector):
    """Accept a column when its gain in likelihood exceeds the penalty of AIC, BIC or RIC.

    Parameters
    ----------
    criterion : {"aic", "bic", "ric"}, default "bic"
        The penalty; see the module docstring.
    model : {"linear", "logistic"}, default "linear"
        Least squares for numbers (or two classes as 0 and 1), or logistic regression for classes.
    n_columns : int, default None
        The number of columns of the whole stream, for RIC; None: see the module docstring.
    fit_intercept : bool, default True
        Whether the model has a constant.

    Attributes
    ----------
    selected_ : list of str
        Names of the accepted columns in the order of acceptance.
    history_ : pyarrow.Table
        Statistic and threshold of each accepted column.
    n_offered_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.columns.penalised import Penalised
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 100))
    >>> y = X[:, 3] - X[:, 40] + rng.normal(size=200)
    >>> Penalised("ric").fit(X, y).selected_
    ['x3', 'x40']
    """

    parameter_limits: ClassVar[Limits] = {
        "criterion": (OneOf(*CRITERIA),),
        "model": MODEL_LIMITS,
        "n_columns": (IsNone(), Integer(1, None)),
        "fit_intercept": (IsBool(),),
    }
    scans_itself: ClassVar[bool] = True

    def __init__(
        self,
        criterion: str = "bic",
        *,
        model: str = "linear",
        n_columns: int | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.criterion = criterion
        self.model = model
        self.n_columns = n_columns
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Begin with y and offer the columns of X from left to right; weights count rows."""
        return self._fit(X, y, sample_weight)

    def stream_tags(self) -> ColumnTags:
        return model_tags(self.model)

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        return LogisticPenalised if self.model == "logistic" else LinearPenalised

    def _begin(self, target: Target, weight: Floats) -> LinearPenalised | LogisticPenalised:
        known = 0 if self.n_columns is None else int(self.n_columns)
        fit = begin_fit(self.model, target, weight, self.fit_intercept)
        return LinearPenalised(known, 0, fit) if isinstance(fit, LinearFit) else LogisticPenalised(known, 0, fit)

    def _decide(self, state: LinearPenalised | LogisticPenalised, block: ColumnBlock) -> Decisions:
        account = PenaltyAccount(self.criterion, state.n_columns, state.n_tested)
        answers, fit, account = decide_block(state.fit, account, block)
        # Nothing has failed: from here on the state changes.
        state.n_tested, state.fit = account.n_tested, fit
        return answers

    def _reject(self, state: LinearPenalised | LogisticPenalised, count: int) -> None:
        state.n_tested += count

    def _judge_all(self, block: ColumnBlock) -> None:
        self._state.n_columns = self._state.n_columns or block.n_columns
        self._judge(block)
