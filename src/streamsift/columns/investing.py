"""Investing: wealth is bid on each column, lost when the column is rejected, increased when it is accepted.

Paper: Ungar, Zhou, Foster, Stine: Streaming Feature Selection using IIC. Column i is bid min(wealth / (2 i), 1/2).

    criterion   accepted when                                       wealth after
    iic         bits saved >= payoff (coding "entropy"),            + payoff; rejected: - bid
                or two-sided p < bid (coding "tail")
    alpha       two-sided p < bid                                   + payoff - bid; rejected: - bid
    lord, saffron, addis: two-sided p <= a level that depends on what was accepted before (columns/levels.py)

Bits saved are gain / (2 ln 2) - coefficient_bits - log2(1 / bid), gain being twice the gain in log-likelihood
(n log(RSS before / RSS after), or the likelihood ratio of the logistic fits).

Where this deviates from the paper, or the paper is silent:
- Section 2 gives the entropy as t^2 / 2 nats with the t of the larger model. The gain in log-likelihood is what its
  text defines, and what reproduces its BIC figures.
- Neither the first wealth nor the payoff is printed; `Investing.paper` takes 1/2 each. With these, alpha-investing
  accepts something on two of five streams of noise, so that its default here is 0.05 each; information investing does
  so on one of ten, and keeps 1/2 (python -m benchmarks.false_discoveries). The cost of a coefficient is left open
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

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from streamsift.columns.levels import RULES, Ints, LevelAccount, level_at
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
from streamsift.core.state import Finite, Increasing, Shape, Within
from streamsift.core.tags import ColumnTags
from streamsift.kernels.columns import bids_if_rejected

_Wealth = Annotated[float, Within(0.0), Finite()]
_Tested = Annotated[int, Within(0, "n_offered")]
_Clock = Annotated[int, Within(0, "n_tested")]
_Acceptances = Annotated[Ints, Shape("n_acceptances"), Within(0, "clock"), Increasing()]

_BITS = 2.0 * float(np.log(2.0))  # bits to twice the log-likelihood


@dataclass(frozen=True)
class InvestingAccount:
    """Wealth and the number of columns bid on."""

    wealth: float
    n_tested: int
    payoff: float
    rules: Investing

    learns_from_gains: ClassVar[bool] = False

    def terms(self, gains: Floats, df: int, fit: Fit) -> Terms:
        bids, wealth = bids_if_rejected(self.wealth, self.n_tested, len(gains))
        if self.rules.criterion == "iic" and self.rules.coding == "entropy":
            bits = self.payoff + self.rules.coefficient_bits * df - np.log2(bids)
            threshold = _BITS * bits
            return Terms(threshold if df == 1 else chdtri(df, chdtrc(1, threshold)), wealth)
        return Terms(np.asarray(fit.tail_threshold(bids, df)), wealth)

    def after(self, terms: Terms, n_rejected: int, accepted: bool) -> InvestingAccount:
        assert terms.wealth is not None
        wealth = float(terms.wealth[n_rejected])
        if accepted:
            paid = terms.wealth[n_rejected + 1] if self.rules.criterion == "alpha" else wealth
            wealth = float(paid) + self.payoff
        return replace(self, wealth=wealth, n_tested=self.n_tested + n_rejected + accepted)


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


@dataclass
class LinearLevels:
    """State of Investing by levels with a linear model."""

    n_tested: _Tested
    clock: _Clock
    acceptances: _Acceptances
    fit: LinearFit


@dataclass
class LogisticLevels:
    """State of Investing by levels with a logistic model."""

    n_tested: _Tested
    clock: _Clock
    acceptances: _Acceptances
    fit: LogisticFit


InvestingState = LinearInvesting | LogisticInvesting | LinearLevels | LogisticLevels


class Investing(ColumnSelector):
    """Accept a column when it is worth more than what is bid on it; useful columns earn what is bid on later ones.

    Parameters
    ----------
    criterion : {"iic", "alpha", "lord", "saffron", "addis"}, default "iic"
        Information investing, alpha-investing, or a rule that keeps the false discovery rate at `level` for columns
        whose p-values are independent (LORD++, SAFFRON, ADDIS); see the module docstring.
    model : {"linear", "logistic"}, default "linear"
        Least squares for numbers (or two classes as 0 and 1), or logistic regression for classes (multinomial for more
        than two). The logistic model rejects by the score test and accepts by the likelihood ratio.
    wealth : float, default None
        The wealth at the start (the paper's w0); None: 0.5 with "iic", 0.05 with "alpha".
    payoff : float, default None
        What an accepted column earns (the paper's w_delta); None: as `wealth`.
    coding : {"entropy", "tail"}, default "entropy"
        How a gain becomes bits; "iic" only.
    coefficient_bits : float, default 0.0
        Bits to code one coefficient; coding "entropy" only.
    level : float, default 0.05
        The share of useless columns among the accepted ones that is allowed on average; "lord", "saffron" and "addis"
        only. Wealth and payoff follow from it.
    fit_intercept : bool, default True
        Whether the model has a constant.
    passes : array-like of floats, default None
        `fit` only: the wealths of several passes over the columns, small ones first, so that easy columns are found
        before hard ones; `wealth` is then not used. "iic" and "alpha" only.

    Attributes
    ----------
    selected_ : list of str
        Names of the accepted columns in the order of acceptance.
    wealth_ : float
        What is left to bid; "iic" and "alpha" only.
    level_ : float
        The p-value that the next column must not exceed; "lord", "saffron" and "addis" only.
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
        "criterion": (OneOf("iic", "alpha", *RULES),),
        "model": MODEL_LIMITS,
        "wealth": (IsNone(), Real(0, None, closed="neither")),
        "payoff": (IsNone(), Real(0, None, closed="neither")),
        "coding": (OneOf("entropy", "tail"),),
        "coefficient_bits": (Real(0, None, closed="left"),),
        "level": (Real(0, 1, closed="neither"),),
        "fit_intercept": (IsBool(),),
        "passes": (IsNone(), ArrayLike()),
    }
    scans_itself: ClassVar[bool] = True

    def __init__(
        self,
        criterion: str = "iic",
        *,
        model: str = "linear",
        wealth: float | None = None,
        payoff: float | None = None,
        coding: str = "entropy",
        coefficient_bits: float = 0.0,
        level: float = 0.05,
        fit_intercept: bool = True,
        passes: Any = None,
    ) -> None:
        self.criterion = criterion
        self.model = model
        self.wealth = wealth
        self.payoff = payoff
        self.coding = coding
        self.coefficient_bits = coefficient_bits
        self.level = level
        self.fit_intercept = fit_intercept
        self.passes = passes

    @property
    @one_thread
    def wealth_(self) -> float:
        """What is left to bid."""
        self._check_begun()
        if self.criterion in RULES:
            raise AttributeError(f"Investing({self.criterion!r}) has levels instead of a wealth: see level_.")
        return float(self._state.wealth)

    @property
    @one_thread
    def level_(self) -> float:
        """The p-value that the next column must not exceed."""
        self._check_begun()
        if self.criterion not in RULES:
            raise AttributeError(f"Investing({self.criterion!r}) bids a wealth instead of having a level: see wealth_.")
        clock = np.array([self._state.clock], np.int64)
        return float(level_at(self.criterion, self.level, clock, self._state.acceptances)[0])

    @property
    def _usual(self) -> float:
        return 0.05 if self.criterion == "alpha" else 0.5

    @classmethod
    def paper(cls, criterion: str = "iic", **settings: Any) -> Self:
        """A selector with a wealth and a payoff of 1/2; `settings` are further parameters.

        >>> Investing.paper("alpha").wealth
        0.5
        """
        return cls(criterion, **({"wealth": 0.5, "payoff": 0.5} | settings))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Begin with y and offer the columns of X from left to right; weights count rows."""
        return self._fit(X, y, sample_weight)

    def stream_tags(self) -> ColumnTags:
        return model_tags(self.model)

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        if self.criterion in RULES:
            return LogisticLevels if self.model == "logistic" else LinearLevels
        return LogisticInvesting if self.model == "logistic" else LinearInvesting

    def _begin(self, target: Target, weight: Floats) -> InvestingState:
        first = self._wealths()[0]
        fit = begin_fit(self.model, target, weight, self.fit_intercept)
        if self.criterion in RULES:
            none = np.empty(0, np.int64)
            return LinearLevels(0, 0, none, fit) if isinstance(fit, LinearFit) else LogisticLevels(0, 0, none, fit)
        return LinearInvesting(first, 0, fit) if isinstance(fit, LinearFit) else LogisticInvesting(first, 0, fit)

    def _wealths(self) -> list[float]:
        if self.passes is None:
            return [float(self._usual if self.wealth is None else self.wealth)]
        if self.criterion in RULES:
            raise ParameterError(f"Investing({self.criterion!r}) has no wealth for several 'passes': leave it None.")
        wealths = [float(wealth) for wealth in self.passes]
        if not wealths or not all(0.0 < wealth < np.inf for wealth in wealths):
            raise ParameterError(f"The 'passes' parameter of Investing must be positive wealths. Got {self.passes!r}.")
        return wealths

    def _decide(self, state: InvestingState, block: ColumnBlock) -> Decisions:
        if isinstance(state, LinearLevels | LogisticLevels):
            levels = LevelAccount(self.criterion, self.level, state.clock, state.acceptances)
            answers, fit, levels = decide_block(state.fit, levels, block)
            # Nothing has failed: from here on the state changes.
            state.n_tested += block.n_columns
            state.clock, state.acceptances, state.fit = levels.clock, levels.acceptances, fit
            return answers
        payoff = float(self._usual if self.payoff is None else self.payoff)
        account = InvestingAccount(state.wealth, state.n_tested, payoff, self)
        answers, fit, account = decide_block(state.fit, account, block)
        # Nothing has failed: from here on the state changes.
        state.wealth, state.n_tested, state.fit = account.wealth, account.n_tested, fit
        return answers

    def _reject(self, state: InvestingState, count: int) -> None:
        if isinstance(state, LinearLevels | LogisticLevels):
            if self.criterion != "lord":  # the clock of the others stands still for some p-values
                super()._reject(state, count)
            state.clock += count
        else:
            state.wealth = float(bids_if_rejected(state.wealth, state.n_tested, count)[1][-1])
        state.n_tested += count

    def _judge_all(self, block: ColumnBlock) -> None:
        self._judge(block)
        for wealth in self._wealths()[1:]:
            self._state.wealth, self._state.n_tested = wealth, 0
            left = np.flatnonzero(~self._get_support_mask())
            if len(left):
                self._judge(block.take(left), again=True)
