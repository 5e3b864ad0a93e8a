"""Joint: features that are chosen together, by rules that read the running cross moments of a stream of rows.

Paper: L. Sun, M. Wang, S. Zhu and A. Barbu, A Novel Framework for Online Supervised Learning with Feature Selection
(arXiv 1803.11521): least squares and its penalised kin need of the rows only means and cross products, so after any row
they give exactly what they would give offline, for any number of features. Methods that score features one by one fill
the selection with copies of the best; a joint rule takes a feature for what it adds to the others.

State (summaries/cross_moments.py, candidate_pool.py): cross moments of the features with each other and the target,
which is a number or one column of 0 and 1 per class. Rules (joint_rules.py, joint_penalties.py), on standardised
features:

    forward       again and again the feature that adds most to least squares
    mrmr          again and again the most relevant for its redundancy (quotient of F and mean correlation, FCQ)
    ols           least squares on all features; the largest coefficients (the paper's OLSth, without its second fit)
    lasso, elastic_net, mcp    the features that enter first as the penalty goes down
    fsa           feature selection with annealing (Barbu et al. 2017)

Where this deviates from the paper: moments are centred and added by Chan's formula; classes are one column each, whose
squared errors are added up (a two-class lasso is the paper's with -1 and 1, up to the scale of the penalty); FSA takes
steps of 1 / (largest eigenvalue) with momentum instead of a rate to be tuned. Of the paper's experiments the settings
were at hand, in the authors' program, and not the printed figures: `python -m benchmarks.recovery`.

`scores_`: the first feature of the path scores 1, each later one the share of the target's spread that those before it
leave unexplained; a feature behind the path scores what it would add next. So the ranking is the order of the path.

Time per batch of n rows: O(n p^2) with p = min(features, max_pool); an answer O(p k) to O(p^3), by rule. Memory: 8 p^2
bytes, 24 p^2 with missing values; see candidate_pool.py for more than max_pool features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch, refuse_value
from streamsift.core.constraints import Integer, IsNone, Limits, OneOf, Real
from streamsift.core.exceptions import InputError, MergeError, ParameterError
from streamsift.core.guarantees import IsGuarantee
from streamsift.core.guard import one_thread
from streamsift.core.half_life import HALF_LIFE_LIMITS, TIME_LIMITS, half_life_ends
from streamsift.core.one_hot import OneHotColumns
from streamsift.core.rows import N_FEATURES_LIMITS, NEW_FEATURES_LIMITS, RowSelector
from streamsift.core.selection import how_many, rank_scores
from streamsift.core.tags import StreamTags
from streamsift.core.why import Evidence
from streamsift.rows import joint_penalties, joint_rules
from streamsift.rows.evidence import of_pool
from streamsift.rows.joint_answer import Answer, answer_of
from streamsift.rows.joint_levels import forward_at_level, heaviness_of
from streamsift.rows.joint_rules import Elimination, JointProblem, Ranked, information, problem_of
from streamsift.summaries.candidate_pool import CandidatePool
from streamsift.summaries.fading import refuse_heavy_rows, refuse_heavy_squares
from streamsift.summaries.moments import refuse_bad_values
from streamsift.summaries.pair_products import LARGEST_FACTOR, base_columns, n_columns, parents, with_products

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

MOST_BY_INFORMATION = 200  # features that n_features_to_select=None may come to
MOST_COLUMNS = 150_000  # with the products of all pairs
ROWS_AT_ONCE = 1 << 24  # values of rows with their products that are made at once: 128 MB
_PENALISED = ("lasso", "elastic_net", "mcp")
_RULES: dict[str, Callable[[JointProblem, int], Ranked]] = {
    "forward": joint_rules.forward,
    "mrmr": joint_rules.mrmr,
    "ols": joint_rules.ols,
    "fsa": joint_rules.fsa,
}


@dataclass(frozen=True)
class Path:
    """How a joint rule came to its selection.

    `order` are the features in the order in which they came; `terms` the columns that were taken, each as the features
    it is made of (one, or two for a product), with their `names`. `gains` is the share of the target's spread that each
    term adds to least squares on those before it. `coefficients` has a row per term and a column per target, in the
    units of the data: target = intercept + terms @ coefficients. They are those of the rule: least squares on the terms
    for forward, mrmr and fsa; on all features for ols; shrunk for the penalised rules, at `penalty`. `penalties` is the
    penalty at which each term came in (NaN where a rule has none).
    """

    order: Indices
    terms: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    gains: Floats
    coefficients: Floats
    intercepts: Floats
    penalties: Floats
    penalty: float
    p_values: Floats


class Joint(RowSelector):
    """Choose features together: each for what it adds to the others.

    Parameters
    ----------
    rule : {"forward", "mrmr", "ols", "lasso", "elastic_net", "mcp", "fsa"}, default "forward"
        How features are chosen; see the module docstring. All read the same state, so `set_params(rule=...)` asks
        another one at any time.
    n_features_to_select : int, float, str or None, default 10
        How many features to select: a number (all, where there are fewer), a fraction in (0, 1], or None for as many
        as the Bayesian information criterion finds worth their price (200 at most). With rule "forward" also a rule
        such as "fdr:0.05" or "fwe:0.05": as many as tell something that those before them do not (joint_levels.py).
    task : {"classification", "regression"}, default "classification"
        Whether y holds classes, or numbers to explain.
    l1_ratio : float in (0, 1], default 0.5
        Share of the absolute values in the penalty of "elastic_net".
    interactions : {"pairs"} or None, default None
        "pairs" offers the products of all pairs of features beside the features; a product that is taken selects both.
        A linear rule does not see a feature that matters only together with another one (exclusive or).
    fading : float in (0, 1], default 1.0
        Weight of a row relative to the next one. 1 remembers everything; 0.999 forgets half within 693 rows.
    half_life : float, str or None, default None
        Fading as people think of it: after how long a row weighs half. A number counts rows and stands for
        fading = 0.5 ** (1 / half_life); a text such as "1h" or "7d" is event time, needs the time of each row (`time`),
        and weighs a row by its distance from the latest one, whatever the order. Give this or `fading`.
    time : str or None, default None
        The column with the times of the rows, for a half-life in event time: dates, or seconds. It is no feature.
        Without it, times are given to `partial_fit`.
    max_pool : int, default 2000
        Most columns with cross moments. Where there are more, the candidates are those that explain most by
        themselves so far.
    missing : {"error", "skip"}, default "error"
        Whether NaN is refused, or counts as the mean of its feature over all rows that have one.
    new_features : {"error", "add"}, default "error"
        Whether a feature that arrives late is refused or given a slot. In dense rows it counts as missing before, in
        sparse rows as 0.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Falls along the path; behind the path, what a feature would add next.
    path_ : Path
        The order of the features, the gain of each step and the coefficients.
    held_back_ : int
        How many more features a rule such as "fdr:0.05" would select if tails were not as heavy.
    classes_ : ndarray
        Labels in the order of their first appearance; not there for regression.
    n_rows_seen_ : int

    Examples
    --------
    Of two copies only one is chosen:

    >>> import numpy as np
    >>> from streamsift import Joint
    >>> rng = np.random.default_rng(0)
    >>> selector = Joint(n_features_to_select=2)
    >>> for _ in range(10):
    ...     X = rng.normal(size=(100, 5))
    ...     y = X[:, 1] + 0.5 * X[:, 3] > 0
    ...     X[:, 2] = X[:, 1] + 0.2 * rng.normal(size=100)
    ...     selector = selector.partial_fit(X, y)
    >>> selector.get_support(indices=True).tolist()
    [1, 3]
    >>> selector.path_.gains.round(2).tolist()
    [0.53, 0.12]

    A number to explain, and as many features as are worth it:

    >>> X = rng.normal(size=(500, 20))
    >>> selector = Joint("lasso", n_features_to_select=None, task="regression").partial_fit(X, X[:, 7] - 2 * X[:, 4])
    >>> selector.selected_
    ['x4', 'x7']
    """

    parameter_limits: ClassVar[Limits] = {
        "rule": (OneOf(*_RULES, *_PENALISED),),
        "n_features_to_select": (*N_FEATURES_LIMITS, IsGuarantee(), IsNone()),
        "task": (OneOf("classification", "regression"),),
        "l1_ratio": (Real(0.01, 1, closed="both"),),
        "interactions": (OneOf("pairs"), IsNone()),
        "fading": (Real(0, 1, closed="right"),),
        "half_life": HALF_LIFE_LIMITS,
        "time": TIME_LIMITS,
        "max_pool": (Integer(1, 20_000),),
        "missing": (OneOf("error", "skip"),),
        "new_features": NEW_FEATURES_LIMITS,
    }
    state_type = CandidatePool
    scans_itself: ClassVar[bool] = True
    chosen_together: ClassVar[bool] = True  # a feature is selected for what those before it do not tell

    def __init__(
        self,
        rule: str = "forward",
        *,
        n_features_to_select: int | float | str | None = 10,
        task: str = "classification",
        l1_ratio: float = 0.5,
        interactions: str | None = None,
        fading: float = 1.0,
        half_life: float | str | None = None,
        time: str | None = None,
        max_pool: int = 2000,
        missing: str = "error",
        new_features: str = "error",
    ) -> None:
        self.rule = rule
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.l1_ratio = l1_ratio
        self.interactions = interactions
        self.fading = fading
        self.half_life = half_life
        self.time = time
        self.max_pool = max_pool
        self.missing = missing
        self.new_features = new_features

    @property
    def usual_rule(self) -> int | float | str | None:
        """How many features are selected where nobody says how many."""
        return "fdr:0.05" if self.rule == "forward" else self.n_features_to_select

    def _bytes_needed(self, n_features: int, n_classes: int) -> int:
        pool = min(n_features, int(self.max_pool))  # the cross products, and what reads them:
        return super()._bytes_needed(n_features, n_classes) + 32 * pool * pool

    def stream_tags(self) -> StreamTags:
        """Exact up to max_pool columns; beyond, see summaries/candidate_pool.py."""
        return _TAGS

    # -- learning -----------------------------------------------------------------------------------------------

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None, time: Any = None
    ) -> Self:
        """Learn one more batch.

        `classes` may announce labels in advance. Rows count with `sample_weight`, a non-negative number each; a row
        with weight 0 is left out. `time` says when the rows happened, for a half-life in event time: one date or
        number of seconds per row, or the name of a column, which is taken out of X.
        """
        return self._absorb(X, y, classes, weight=sample_weight, time=time)

    def _faded(self, batch: CheckedBatch, latest: float | None) -> float | None:
        refuse_heavy_rows(batch)
        return super()._faded(batch, latest)

    def _begin(self, batch: CheckedBatch) -> CandidatePool:
        self._refuse_level()
        width = batch.X.shape[1]
        self._refuse_too_many(width)
        columns = n_columns(width) if self.interactions else width
        n_classes = None if self._numeric else len(batch.labels)
        return CandidatePool.empty(self._rate(), int(self.max_pool), bool(self.interactions), columns, n_classes)

    def _learn(self, state: CandidatePool, batch: CheckedBatch) -> None:
        if (state.pairs, state.numeric) != (bool(self.interactions), self._numeric):
            raise ParameterError("interactions and task cannot change after the first batch: call fit to begin anew.")
        refuse_bad_values(batch, nan_allowed=self.missing == "skip" or batch.has_absent)
        width = batch.X.shape[1]
        self._refuse_too_many(width)
        self._refuse_overflow(batch)
        refuse_heavy_squares(batch, 4 if self.interactions else 2)
        targets = _targets(batch)
        if batch.decay != 1.0:
            state.fade(batch.decay)
            if half_life_ends(self.half_life, self._latest, batch.decay):
                state.next_look = 0
        step = max(ROWS_AT_ONCE // n_columns(width), 1) if state.pairs else batch.n_rows
        for start in range(0, batch.n_rows, step):
            rows = slice(start, start + step)
            X = with_products(batch.X[rows]) if state.pairs else batch.X
            zero = _was_zero(batch, base_columns(state.n_columns) if state.pairs else state.n_columns)
            if state.pairs:
                a, b = parents(np.arange(state.n_columns, X.shape[1]))
                zero = zero[a] | zero[b]
            else:
                zero = zero[state.n_columns :]
            state.learn(X, targets[rows], None if batch.weight is None else batch.weight[rows], zero)

    def _refuse_too_many(self, width: int) -> None:
        if self.interactions and n_columns(width) > MOST_COLUMNS:
            raise InputError(
                f"X has {width} columns, but interactions='pairs' takes at most {base_columns(MOST_COLUMNS)}: select "
                "some of them first, or leave interactions out."
            )

    def _refuse_overflow(self, batch: CheckedBatch) -> None:
        """Products of two values must stay within the range of floats."""
        if not self.interactions:
            return
        values = batch.X.data if batch.sparse else batch.X
        largest = float(np.nanmax(np.abs(values), initial=0.0))
        if largest > LARGEST_FACTOR:
            dense = batch.X.toarray() if batch.sparse else batch.X
            row, column = divmod(int(np.nanargmax(np.abs(dense))), dense.shape[1])
            refuse_value(batch, row, column, largest)

    def _align_classes(self, state: CandidatePool, codes: NDArray[np.int64], n_classes: int) -> CandidatePool:
        return state.aligned(codes, n_classes)

    def _align_columns(self, state: CandidatePool, places: NDArray[np.int64], columns: OneHotColumns) -> CandidatePool:
        n_columns = len(columns.features)
        if state.pairs or state.wide or n_columns > state.max_pool:
            words = "with interactions" if state.pairs else f"of more than max_pool={state.max_pool} columns"
            raise MergeError(
                f"Cannot merge Joint {words} where categories have columns of their own: "
                + ("leave interactions or the categories out" if state.pairs else "raise max_pool (--set max_pool=N)")
                + ", or feed one selector with all rows (without --jobs and --engine)."
            )
        return state.placed(places, n_columns)

    def _merge(self, state: CandidatePool, other: CandidatePool) -> None:
        state.merge(other)

    def _problem_of(self, state: CandidatePool) -> str | None:
        if (state.pairs, state.numeric) != (bool(self.interactions), self._numeric):
            return "it was made with other 'interactions', or for another 'task'"
        return None if state.max_pool == self.max_pool else "it has another 'max_pool'"

    # -- answers ------------------------------------------------------------------------------------------------

    @property
    @one_thread
    def path_(self) -> Path:
        """How the selection was found: order, gain of each step, coefficients."""
        self._refuse_unfitted()
        answer = self._answer(self._state)
        terms = tuple(self._features_of(int(column)) for column in answer.columns)
        seen = dict.fromkeys(feature for term in terms for feature in term)
        names = tuple(self._name_of(int(column)) for column in answer.columns)
        return Path(
            np.array(list(seen), np.intp),
            terms,
            names,
            answer.gains.copy(),
            answer.coefficients.copy(),
            answer.intercepts.copy(),
            answer.penalties.copy(),
            answer.penalty,
            answer.p_values.copy(),
        )

    @property
    @one_thread
    def held_back_(self) -> int:
        """How many more features a rule such as "fdr:0.05" would select if tails were not as heavy; 0 without one."""
        self._refuse_unfitted()
        if not isinstance(self.n_features_to_select, str):
            return 0
        problem, used = problem_of(self._state.cross.read(), np.zeros(len(self._state.pool)))
        ranked = self._ranked(problem, self._state.pool[used], self._state.n_columns)
        return len(self._owners(self._state.pool[used[ranked.order]])) - len(self._chosen())

    def _owners(self, columns: Indices) -> set[int]:
        """The features that columns of the state are made of."""
        return {feature for column in columns for feature in self._features_of(int(column))}

    def _chosen(self) -> Indices:
        if not isinstance(self.n_features_to_select, str | None):
            return super()._chosen()
        return rank_scores(self.scores_)[: len(self._owners(self._answer(self._state).columns))]

    def _score(self, state: CandidatePool) -> Floats:
        scores = self._answer(state).scores
        if not state.pairs:
            return scores
        a, b = parents(np.arange(len(scores)))
        found = np.zeros(base_columns(len(scores)))
        np.maximum.at(found, a, scores)
        np.maximum.at(found, b, scores)
        return found

    def _answer(self, state: CandidatePool) -> Answer:
        if "answer" not in self._cache:
            correlations = state.cross.read()
            problem, used = problem_of(correlations, heaviness_of(state, correlations))
            ranked = self._ranked(problem, state.pool[used], state.n_columns)
            self._cache["answer"] = answer_of(state, correlations, problem, used, ranked)
        return self._cache["answer"]  # type: ignore[no-any-return]

    def _evidence(self, slot: int) -> Evidence:
        terms = {self._name_of(int(column)): self._features_of(int(column)) for column in self._state.pool}
        return of_pool(self._state, terms, slot, self.ranking_, self._features, self._labels)

    def _ranked(self, problem: JointProblem, columns: NDArray[np.int64], n_columns: int) -> Ranked:
        """The rule's order, as long as the path is to be; `columns` are those of the problem, out of so many."""
        self._refuse_level()
        if not len(columns) or not problem.q.any():
            return Ranked(np.zeros(0, np.intp))
        if self.n_features_to_select is None:
            return self._by_information(problem)
        if isinstance(self.n_features_to_select, str):
            known = None if self._state.pairs else self._columns  # categories that were spread out
            owners = columns if known is None else known.features[columns]
            return forward_at_level(problem, self.n_features_to_select, owners, n_columns)
        wanted = how_many(self.n_features_to_select, self._features.n_features)
        asked = wanted
        while True:
            ranked = self._by_number(problem, asked)
            features = [self._features_of(int(column)) for column in columns[ranked.order]]
            seen: set[int] = set()
            for place, term in enumerate(features):
                if len(seen) >= wanted:
                    return _first(ranked, place)
                seen.update(term)
            if len(seen) >= wanted or len(ranked.order) < asked or asked >= len(columns):
                return ranked
            asked = min(2 * asked, len(columns))

    def _refuse_level(self) -> None:
        if isinstance(self.n_features_to_select, str) and self.rule != "forward":
            raise ParameterError(
                f"n_features_to_select={str(self.n_features_to_select)!r} goes with rule='forward', which tests each "
                f"step; rule={self.rule!r} takes a number, a fraction, or None for as many as BIC finds worth it."
            )

    def _by_number(self, problem: JointProblem, wanted: int) -> Ranked:
        if self.rule in _PENALISED:
            return joint_penalties.by_number(problem, wanted, *self._penalty())
        return _RULES[self.rule](problem, wanted)

    def _by_information(self, problem: JointProblem) -> Ranked:
        most = max(min(len(problem.gram), MOST_BY_INFORMATION, int(problem.n_rows) // 2), 1)
        if self.rule in _PENALISED:
            return joint_penalties.by_information(problem, most, *self._penalty())
        ranked = _RULES[self.rule](problem, most)
        fit = Elimination(problem, len(ranked.order))
        explained = np.cumsum([0.0] + [fit.take(int(column)) for column in ranked.order])
        count = int(np.argmin(information(explained, np.arange(len(explained)), problem.n_rows)))
        return _first(ranked, count)

    def _penalty(self) -> tuple[float, float]:
        l1_ratio = float(self.l1_ratio) if self.rule == "elastic_net" else 1.0
        return l1_ratio, joint_penalties.CONCAVITY if self.rule == "mcp" else 0.0

    def _features_of(self, column: int) -> tuple[int, ...]:
        """The features that a column of the state is made of."""
        places = self._places_of(column)
        if self._columns is None:
            return places
        return tuple(sorted({int(self._columns.features[place]) for place in places}))

    def _places_of(self, column: int) -> tuple[int, ...]:
        """The columns of X, with its categories spread out, that a column of the state is made of."""
        if not self._state.pairs:
            return (column,)
        a, b = (int(part[0]) for part in parents(np.array([column])))
        return (a,) if a == b else (a, b)

    def _name_of(self, column: int) -> str:
        known, places = self._columns, self._places_of(column)
        if known is None:
            return "*".join(self._features.name(place) for place in places)
        return "*".join(known.name(place, self._features, self._categories) for place in places)


_TAGS = StreamTags(
    mergeable="exact",
    batch_invariant=True,
    sparse=True,
    missing=True,
    late_features=True,
    categorical="one_hot",
    weights=True,
    fades=True,
    regression=True,
)


def _targets(batch: CheckedBatch) -> Floats:
    """The target as columns: the numbers, or 0 and 1 for each class."""
    if batch.target is not None:
        return batch.target[:, None]
    targets = np.zeros((batch.n_rows, len(batch.labels)))
    targets[np.arange(batch.n_rows), batch.codes] = 1.0
    return targets


def _was_zero(batch: CheckedBatch, n_known: int) -> NDArray[np.bool_]:
    """For each column of X whether it was 0, and not missing, in the rows before, if it is new."""
    zero = np.full(batch.X.shape[1], batch.sparse)
    if batch.categorical is not None and len(batch.categorical) == len(zero):
        zero |= batch.categorical
    zero[:n_known] = False
    return zero


def _first(ranked: Ranked, count: int) -> Ranked:
    """The first columns of an order."""
    penalties = None if ranked.penalties is None else ranked.penalties[:count]
    return ranked._replace(order=ranked.order[:count], penalties=penalties)
