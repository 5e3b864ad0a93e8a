"""SAOLA: compare a newcomer with each selected column, two at a time.

Paper: Yu, Wu, Ding, Pei, "Scalable and accurate online feature selection for big data", ACM TKDD 11 (2016). A column
that depends on the class is compared with the selected columns in the order of acceptance. A selected column that is at
least as relevant, and closer to the newcomer than the newcomer is to the class, makes it redundant: it goes. A selected
column that is less relevant than the newcomer, and closer to it than to the class, goes; it stays gone when a later
selected column rejects the newcomer.

Relevance and closeness are |r| (Fisher's z test decides which are real) or the symmetric uncertainty: see
columns/independence.py. Where this deviates from the published toolbox (LOFS): constant columns are skipped; the
toolbox skips columns whose sum is 0, which a centred column has. With the symmetric uncertainty the toolbox wants a
selected column to be strictly more relevant, so that it keeps every exact copy of a column; here, as with |r|, equally
relevant is enough.

Time for a relevant column O(rows x selected), for any other O(rows). Memory O(rows x selected).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from streamsift.columns.independence import FisherZ, PairOfTests, SymmetricUncertainty, TestedColumn, tags_of_test
from streamsift.columns.members import ColumnVerdict, MemberState, begin_with, decide_with, problem_with, reject_with
from streamsift.core.columns import ColumnSelector
from streamsift.core.constraints import Limits, OneOf, Real
from streamsift.core.tags import ColumnTags
from streamsift.kernels.independence import compare_with_members


class SAOLA(ColumnSelector):
    """Scalable and accurate online approach: pairwise comparison of relevance and redundancy.

    Parameters
    ----------
    test : {"auto", "fisher_z", "symmetric_uncertainty"}, default "auto"
        How dependence is measured. "auto" takes the symmetric uncertainty as long as all columns are codes (whole
        numbers that span at most ten values, or categories) and the target has classes, and the correlation with
        Fisher's z test from the first other column on.
    alpha : float, default 0.01
        The level of Fisher's z test.
    threshold : float, default 0.0
        A symmetric uncertainty up to this counts as independence.

    Attributes
    ----------
    selected_ : list of str
        Names of the selected columns in the order of acceptance.
    history_ : pyarrow.Table
        Statistic and threshold of each selected column when it was accepted.
    n_offered_ : int

    Notes
    -----
    The statistic of a decision says how strongly the column depends on the class, and the threshold what
    that was up against: the critical value or, for a redundant column, its closeness to the selected column that made
    it redundant, which `because_of` names.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.columns.saola import SAOLA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> X[:, 7] = X[:, 3] + 0.5 * X[:, 7]  # a noisy copy
    >>> y = X[:, 3] + X[:, 15] > 0
    >>> SAOLA().fit(X, y).selected_
    ['x3', 'x15']
    """

    parameter_limits: ClassVar[Limits] = {
        "test": (OneOf("auto", "fisher_z", "symmetric_uncertainty"),),
        "alpha": (Real(0, 1, closed="neither"),),
        "threshold": (Real(0, 1, closed="left"),),
    }
    state_type: ClassVar[type[Any]] = MemberState

    def __init__(self, test: str = "auto", *, alpha: float = 0.01, threshold: float = 0.0) -> None:
        self.test = test
        self.alpha = alpha
        self.threshold = threshold

    def stream_tags(self) -> ColumnTags:
        return tags_of_test(self.test)

    _begin = begin_with
    _decide = decide_with
    _reject = reject_with
    _problem_of = problem_with

    def _tests(self) -> PairOfTests:
        numbers = None if self.test == "symmetric_uncertainty" else FisherZ(float(self.alpha))
        codes = None if self.test == "fisher_z" else SymmetricUncertainty(float(self.threshold))
        return PairOfTests(codes, numbers)

    def _rule(self, relations: Any, newcomer: TestedColumn) -> ColumnVerdict:
        close, related = relations.closeness(newcomer)
        kept = np.ones(len(close), bool)
        first = compare_with_members(newcomer.strength, relations.strength, close, related, kept)
        if first < 0:
            return ColumnVerdict.joins(kept, newcomer)
        nearest = float(relations.statistic(close[first : first + 1])[0])
        return ColumnVerdict(kept, False, newcomer.statistic, nearest, np.array([first]))
