"""Investing: wealth is bid on each column, lost when the column is rejected, increased when it is accepted.

Paper: Ungar, Zhou, Foster, Stine: Streaming Feature Selection using IIC. Column i is bid min(wealth / (2 i), 1/2).

    criterion   accepted when                                       wealth after
    iic         bits saved >= payoff (coding "entropy"),            + payoff; rejected: - bid
                or two-sided p < bid (coding "tail")
    alpha       two-sided p < bid                                   + payoff - bid; rejected: - bid

Bits saved are gain / (2 ln 2) - coefficient_bits - log2(1 / bid), gain being twice the gain in log-likelihood
(n log(RSS before / RSS after), or the likelihood ratio of the logistic fits).

Where this deviates from the paper, or the paper is silent:
- Section 2 gives the entropy as t^2 / 2 nats with the t of the larger model. The gain in log-likelihood is what its
  text defines, and what reproduces its BIC figures.
- Neither the first wealth nor the payoff is printed; 1/2 each is our choice. The cost of a coefficient is left open
  ("1/2 log n", "3 bits"): `coefficient_bits`, 0 by default. The paper's tables are met with coding "tail", that of its
  section 2.2, and less wealth and payoff (reproduce/investing/tables.py).
- The theorem E(false) < 4 payoff E(true) + 4 wealth needs payoff < 1/4 and a test whose level is at most the bid. The
  p-values of coding "tail" and of alpha-investing meet that (linear: the exact F test; logistic: asymptotically).
  "entropy" is stricter: with normal errors a useless column saves 0 bits with probability less than the bid.
- A column of k degrees of freedom (categories, more than two classes): the threshold is the value that has, with k
  degrees of freedom, the tail probability of the threshold for one.
- The program of scikit-feature (alpha_investing) bids and pays like alpha-investing here, but compares the bid with
  exp(-n (1 - RSS after / RSS before) / 2) instead of a p-value. That is larger than the two-sided p, so it accepts
  fewer columns. The tests put that threshold into this code and get its choices.

Time per column O(rows x accepted), memory O(rows x accepted); a rejected column leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from streamsift.columns.linear_fit import Fit, LinearFit
from streamsift.columns.logistic_fit import LogisticFit
from streamsift.columns.model import MODEL_LIMITS, begin_fit, model_tags
from streamsift.columns.walk import Terms, decide_block
from streamsift.core.column_data import ColumnBlock, Floats, Target
from streamsift.core.columns import ColumnSelector
from streamsift.core.constraints import ArrayLike, IsBool, IsNone, Limits, OneOf, Real
from streamsift.core.exceptions import ParameterError
from streamsift.core.guard import one_thread
from streamsift.core.selection import Decisions
from streamsift.core.state import Finite, Within
from streamsift.core.tags import ColumnTags
from streamsift.kernels.columns import bids_if_rejected

_Wealth = Annotated[float, Within(0.0), Finite()]
_Tested = Annotated[int, Within(0, "n_offered")]

_BITS = 2.0 * float(np.log(2.0))  # bits to twice the log-likelihood


@dataclass(frozen=True)
class InvestingAccount:
    """Wealth and the number of columns bid on."""

    wealth: float
    n_tested: int
    rules: Investing

    def terms(self, count: int, df: int, fit: Fit) -> Terms:
        bids, wealth = bids_if_rejected(self.wealth, self.n_tested, count)
        if self.rules.criterion == "iic" and self.rules.coding == "entropy":
            bits = self.rules.payoff + self.rules.coefficient_bits * df - np.log2(bids)
            threshold = _BITS * bits
            return Terms(threshold if df == 1 else chdtri(df, chdtrc(1, threshold)), wealth)
        return Terms(np.asarray(fit.tail_threshold(bids, df)), wealth)

    def after(self, terms: Terms, n_rejected: int, accepted: bool) -> InvestingAccount:
        assert terms.wealth is not None
        wealth = float(terms.wealth[n_rejected])
        if accepted:
            paid = terms.wealth[n_rejected + 1] if self.rules.criterion == "alpha" else wealth
            wealth = float(paid) + float(self.rules.payoff)
        return InvestingAccount(wealth, self.n_tested + n_rejected + accepted, self.rules)


@dataclass
class LinearInvesting:
    """State of Investing with a linear model."""

    wealth: _Wealth
    n_tested: _Tested
    fit: LinearFit


@dataclass
class LogisticInvesting:
    """State of Investing with a logistic model."""

    wealth: _Wealth
    n_tested: _Tested
    fit: LogisticFit


class Investing(ColumnSelector):
    """Accept a column when it is worth more than what is bid on it; useful columns earn what is bid on later ones.

    Parameters
    ----------
    criterion : {"iic", "alpha"}, default "iic"
        Information investing or alpha-investing; see the module docstring.
    model : {"linear", "logistic"}, default "linear"
        Least squares for numbers (or two classes as 0 and 1), or logistic regression for classes (multinomial for more
        than two). The logistic model rejects by the score test and accepts by the likelihood ratio.
    wealth : float, default 0.5
        The wealth at the start (the paper's w0).
    payoff : float, default 0.5
        What an accepted column earns (the paper's w_delta).
    coding : {"entropy", "tail"}, default "entropy"
        How a gain becomes bits; "iic" only.
    coefficient_bits : float, default 0.0
        Bits to code one coefficient; coding "entropy" only.
    fit_intercept : bool, default True
        Whether the model has a constant.
    passes : array-like of floats, default None
        `fit` only: the wealths of several passes over the columns, small ones first, so that easy columns are found
        before hard ones; `wealth` is then not used.

    Attributes
    ----------
    selected_ : list of str
        Names of the accepted columns in the order of acceptance.
    wealth_ : float
        What is left to bid.
    history_ : pyarrow.Table
        Statistic, threshold and wealth of each accepted column.
    n_offered_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.columns.investing import Investing
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(200, 1000))
    >>> y = X[:, 3] - X[:, 40] + rng.normal(size=200)
    >>> selector = Investing().begin(y)
    >>> decision = selector.offer(X[:, 0], "first")
    >>> decision.accepted, decision.wealth_before, decision.wealth
    (False, 0.5, 0.25)
    >>> decisions = selector.offer_many(X[:, 1:])
    >>> selector.selected_
    ['x3', 'x40']
    """

    parameter_limits: ClassVar[Limits] = {
        "criterion": (OneOf("iic", "alpha"),),
        "model": MODEL_LIMITS,
        "wealth": (Real(0, None, closed="neither"),),
        "payoff": (Real(0, None, closed="neither"),),
        "coding": (OneOf("entropy", "tail"),),
        "coefficient_bits": (Real(0, None, closed="left"),),
        "fit_intercept": (IsBool(),),
        "passes": (IsNone(), ArrayLike()),
    }
    scans_itself: ClassVar[bool] = True

    def __init__(
        self,
        criterion: str = "iic",
        *,
        model: str = "linear",
        wealth: float = 0.5,
        payoff: float = 0.5,
        coding: str = "entropy",
        coefficient_bits: float = 0.0,
        fit_intercept: bool = True,
        passes: Any = None,
    ) -> None:
        self.criterion = criterion
        self.model = model
        self.wealth = wealth
        self.payoff = payoff
        self.coding = coding
        self.coefficient_bits = coefficient_bits
        self.fit_intercept = fit_intercept
        self.passes = passes

    @property
    @one_thread
    def wealth_(self) -> float:
        """What is left to bid."""
        self._check_begun()
        return float(self._state.wealth)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Begin with y and offer the columns of X from left to right; weights count rows."""
        return self._fit(X, y, sample_weight)

    def stream_tags(self) -> ColumnTags:
        return model_tags(self.model)

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        return LogisticInvesting if self.model == "logistic" else LinearInvesting

    def _begin(self, target: Target, weight: Floats) -> LinearInvesting | LogisticInvesting:
        fit = begin_fit(self.model, target, weight, self.fit_intercept)
        first = self._wealths()[0]
        return LinearInvesting(first, 0, fit) if isinstance(fit, LinearFit) else LogisticInvesting(first, 0, fit)

    def _wealths(self) -> list[float]:
        if self.passes is None:
            return [float(self.wealth)]
        wealths = [float(wealth) for wealth in self.passes]
        if not wealths or not all(0.0 < wealth < np.inf for wealth in wealths):
            raise ParameterError(f"The 'passes' parameter of Investing must be positive wealths. Got {self.passes!r}.")
        return wealths

    def _decide(self, state: LinearInvesting | LogisticInvesting, block: ColumnBlock) -> Decisions:
        answers, fit, account = decide_block(state.fit, InvestingAccount(state.wealth, state.n_tested, self), block)
        # Nothing has failed: from here on the state changes.
        state.wealth, state.n_tested, state.fit = account.wealth, account.n_tested, fit
        return answers

    def _judge_all(self, block: ColumnBlock) -> None:
        self._judge(block)
        for wealth in self._wealths()[1:]:
            self._state.wealth, self._state.n_tested = wealth, 0
            left = np.flatnonzero(~self._get_support_mask())
            if len(left):
                self._judge(block.take(left), again=True)
