"""OSFS: keep the columns that no few others separate from the class.

Paper: Wu, Yu, Ding, Wang, Zhu, "Online feature selection with streaming features", IEEE TPAMI 35 (2013). A column that
depends on the class by itself (a test at level alpha) joins the selected columns. Then every selected column, in the
order of acceptance and the newcomer last, is tested again: it goes when some set of one to `max_conditioning` of the
others makes it independent of the class; the set shrinks as selected columns go. The newcomer may displace others and
still be rejected itself.

Tests: see columns/independence.py. Where this deviates from the published toolbox (LOFS): constant columns are skipped;
the toolbox skips columns whose sum is 0, which a centred column has. The values of a column are those that occur in it;
the toolbox counts up to the largest code.

Time for a relevant column O(selected^(1 + max_conditioning)) small tests, for any other O(rows). Memory O(rows x
selected columns).
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from streamsift.columns.independence import BLANKET_LIMITS, TestedColumn, tags_of_test, tests_of
from streamsift.columns.members import ColumnVerdict, MemberState, begin_with, decide_with, problem_with, reject_with
from streamsift.core.columns import ColumnSelector
from streamsift.core.constraints import Limits
from streamsift.core.tags import ColumnTags


class OSFS(ColumnSelector):
    """Online streaming feature selection: approximate Markov blanket of the class.

    Parameters
    ----------
    test : {"auto", "fisher_z", "g2", "chi2"}, default "auto"
        The test of independence. "auto" takes G2 as long as all columns are codes (whole numbers that span at most ten
        values, or categories) and the target has classes, and Fisher's z test from the first other column on.
    alpha : float, default 0.05
        The level of each test. The paper's 0.01 (`paper()`) keeps fewer columns, which classify worse on most sets
        (docs/methods/defaults.md).
    max_conditioning : int, default 3
        The largest number of selected columns that are held fixed at a time.

    Attributes
    ----------
    selected_ : list of str
        Names of the selected columns in the order of acceptance.
    history_ : pyarrow.Table
        Statistic and threshold of each selected column when it was accepted.
    n_offered_ : int

    Notes
    -----
    A decision gives the statistic that decided and its critical value: of an accepted column, and of one that does not
    depend on the class, that of the test without other columns; of a redundant one, that of the test which showed it
    (0 where the rows did not suffice), and `because_of` names the selected columns that were held fixed in that test.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.columns.osfs import OSFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> X[:, 7] = X[:, 3] + 0.1 * X[:, 7]  # a noisy copy
    >>> y = X[:, 3] + X[:, 15] > 0
    >>> selector = OSFS(alpha=0.01).begin(y)
    >>> decisions = selector.offer_many(X)
    >>> selector.selected_
    ['x7', 'x15']
    >>> decisions[7].dropped  # given the copy, the original tells nothing more
    ('x3',)
    """

    parameter_limits: ClassVar[Limits] = BLANKET_LIMITS
    state_type: ClassVar[type[Any]] = MemberState

    def __init__(self, test: str = "auto", *, alpha: float = 0.05, max_conditioning: int = 3) -> None:
        self.test = test
        self.alpha = alpha
        self.max_conditioning = max_conditioning

    def stream_tags(self) -> ColumnTags:
        return tags_of_test(self.test)

    @classmethod
    def paper(cls, test: str = "auto", **settings: Any) -> Self:
        """A selector with the paper's level of 0.01; `settings` are further parameters.

        >>> OSFS.paper().alpha
        0.01
        """
        return cls(test, **({"alpha": 0.01} | settings))

    _tests = tests_of
    _begin = begin_with
    _decide = decide_with
    _reject = reject_with
    _problem_of = problem_with

    def _rule(self, relations: Any, newcomer: TestedColumn) -> ColumnVerdict:
        n_members = len(relations.members)
        kept = np.ones(n_members + 1, bool)
        most = int(self.max_conditioning)
        separated = relations.prune(newcomer, kept, (0, n_members + 1), most, newest=False)
        return ColumnVerdict.joins(kept[:-1], newcomer) if kept[-1] else ColumnVerdict.separated(kept[:-1], separated)
