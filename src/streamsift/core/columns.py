"""ColumnSelector: the base of every method over a stream of columns.

The rows are fixed by `begin(y)`; columns are offered one at a time, in blocks, or by a source (`run`). A method
implements two hooks and receives the rest (offering, bookkeeping of members, support, transform, state as arrays):

    _begin(target, weight) -> state          an empty state for this target
    _decide_one(state, column, name, categorical) -> Decision
                                             judge one column and change the state; data is checked beforehand, so
                                             that nothing in it can fail

A method that judges blocks faster than columns overrides `_decide(state, block) -> Decisions` instead; its answers
must be those of one column after the other. A state is a dataclass of arrays (core/state.py). Memory: the base keeps
names and decisions of accepted columns only, so that a rejected column leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from streamsift.core.batch import Batch, CheckedMatrix, check_batch, check_matrix, looks_like_frame
from streamsift.core.categories import NO_CATEGORIES, CategoryVocabulary, ColumnKinds
from streamsift.core.column_data import (
    ColumnBlock,
    Floats,
    NumberedNames,
    Target,
    check_block,
    check_column,
    check_target,
    check_weight,
)
from streamsift.core.constraints import Limits, check_parameters
from streamsift.core.copies import CopiedByState
from streamsift.core.estimators import BaseEstimator, SelectorMixin
from streamsift.core.exceptions import InputError, ParameterError, SavedStateError, UnknownNameError
from streamsift.core.guard import one_thread
from streamsift.core.pictures import InNotebook
from streamsift.core.selection import Decision, Decisions
from streamsift.core.sparse import in_format_of
from streamsift.core.state import (
    MOST_FEATURES,
    MOST_ROWS,
    Distinct,
    Shape,
    Within,
    state_from_arrays,
    state_to_arrays,
)
from streamsift.core.tags import ColumnTags
from streamsift.core.vocabulary import LabelVocabulary, saved_labels, saved_names


@dataclass
class _Members:
    """The members in the order of their acceptance: names, positions in the stream, and the decision on each."""

    n_rows: Annotated[int, Within(1, MOST_ROWS)]
    n_offered: Annotated[int, Within(0, MOST_FEATURES)]
    names: Annotated[NDArray[np.str_], Shape("n_members"), Distinct()]
    places: Annotated[NDArray[np.int64], Shape("n_members"), Within(0, "n_offered - 1"), Distinct()]
    statistic: Annotated[Floats, Shape("n_members"), Within(None)]
    threshold: Annotated[Floats, Shape("n_members"), Within(None)]
    wealth: Annotated[Floats, Shape("n_members")]  # NaN without bids
    wealth_before: Annotated[Floats, Shape("n_members")]

    @classmethod
    def none(cls, n_rows: int) -> _Members:
        empty = np.empty(0)
        return cls(n_rows, 0, np.empty(0, np.str_), np.empty(0, np.int64), empty, empty, empty, empty)

    def keep(self, kept: NDArray[Any]) -> None:
        for name in ("names", "places", "statistic", "threshold", "wealth", "wealth_before"):
            setattr(self, name, getattr(self, name)[kept])

    def append(self, block: ColumnBlock, answers: Decisions) -> None:
        """Take in the accepted columns of a block, and let go of the members they replace."""
        taken: list[int] = np.flatnonzero(answers.accepted).tolist()
        no_wealth = np.full(len(answers), np.nan)
        self.names = np.append(self.names, np.array([block.names[k] for k in taken], np.str_))
        self.places = np.append(self.places, np.array([block.places[k] for k in taken], np.int64))
        self.statistic = np.append(self.statistic, answers.statistic[taken])
        self.threshold = np.append(self.threshold, answers.threshold[taken])
        self.wealth = np.append(self.wealth, (no_wealth if answers.wealth is None else answers.wealth)[taken])
        before = no_wealth if answers.wealth_before is None else answers.wealth_before
        self.wealth_before = np.append(self.wealth_before, before[taken])
        gone = [name for names in answers.dropped for name in names]
        if gone:
            self.keep(~np.isin(self.names, gone))


class ColumnSelector(InNotebook, CopiedByState, SelectorMixin, BaseEstimator):
    """Base class of column selectors; see the module docstring for the hooks."""

    parameter_limits: ClassVar[Limits] = {}
    state_type: ClassVar[type[Any]]
    notebook_picture = "reprs:columns"
    learnt_sign = "n_offered_"
    scans_itself: ClassVar[bool] = False  # `_decide` notices bad values, and changes the state only when there are none

    n_offered_: int
    _state: Any
    _members: _Members
    _labels: LabelVocabulary | None
    _categories: CategoryVocabulary  # of the members, by their place in the stream

    # -- what a method implements -------------------------------------------------------------------------------

    def _begin(self, target: Target, weight: Floats) -> Any:
        """An empty state; `weight` is empty where all rows count the same."""
        raise NotImplementedError

    def _decide_one(self, state: Any, column: Floats, name: str, categorical: bool) -> Decision:
        raise NotImplementedError

    def _decide(self, state: Any, block: ColumnBlock) -> Decisions:
        return Decisions.of(
            [
                self._decide_one(state, block.column(k), block.names[k], block.is_categorical(k))
                for k in range(block.n_columns)
            ]
        )

    def _reject(self, state: Any, count: int) -> None:
        """Change the state as so many rejected columns would, where it does not matter which columns they are."""
        raise ParameterError(
            f"{type(self).__name__} looks at all columns at once, or learns from columns that it rejects, so blocks of "
            "them cannot be judged side by side: offer the columns in one process."
        )

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        """The dataclass behind saved arrays; methods with more than one kind of state override this."""
        return self.state_type

    def _problem_of(self, state: Any) -> str | None:
        """Why a saved state cannot belong to these parameters, in a few words; what it declares is checked before."""
        return None

    def stream_tags(self) -> ColumnTags:
        """What the method promises; blocks of columns get the decisions of one column after the other."""
        return ColumnTags()

    # -- offering -----------------------------------------------------------------------------------------------

    @one_thread
    def begin(self, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and fix the rows: from here on every column has one value for each value of y."""
        owner = type(self).__name__
        check_parameters(owner, self.get_params(deep=False), self.parameter_limits)
        tags = self.stream_tags()
        if sample_weight is not None and not tags.weights:
            raise ParameterError(f"{owner} gives every row the same weight: leave sample_weight out.")
        target = check_target(y, tags.target, owner)
        state = self._begin(target, check_weight(sample_weight, target.n_rows))
        # Nothing has failed: from here on the object changes.
        self._state, self._labels, self._categories = state, target.labels, NO_CATEGORIES
        self._know(_Members.none(target.n_rows))
        return self

    @one_thread
    def offer(self, column: Any, name: str | None = None, *, categorical: bool = False) -> Decision:
        """Offer one column and get the decision on it.

        A column of text or categories, or one marked `categorical`, is judged as a whole: all of its values or none.
        """
        self._check_begun()
        place = self._members.n_offered
        block = check_column(
            column,
            n_rows=self._members.n_rows,
            place=place,
            name=name,
            categorical=categorical,
            owner=type(self).__name__,
        )
        return self._judge(block)[0]

    @one_thread
    def offer_many(self, block: Any, names: Sequence[str] | None = None, *, categorical: Any = None) -> Decisions:
        """Offer a block of columns, from left to right; the decisions are those of one column after the other.

        `block` is a 2-D array (fastest in Fortran order), a scipy sparse matrix, or a pandas, polars or pyarrow table.
        `categorical` may mark columns (one bool each) whose numbers are codes.
        """
        self._check_begun()
        return self._judge(self._checked(block, names, categorical))

    @one_thread
    def _pass_over(self, count: int) -> Self:
        """Go on as after so many rejected columns, which nobody has offered."""
        self._check_begun()
        self._reject(self._state, count)
        self._members.n_offered += count
        self._know(self._members)
        return self

    @one_thread
    def run(self, columns: Iterable[tuple[Any, Any]], y: Any = None, sample_weight: Any = None) -> Self:
        """Begin with y and offer everything a source gives: pairs (name, column) or (names, block of columns).

        The source may look at `selected_` between two columns to decide what to give next. A source that knows its
        target has an attribute `y`, which is taken where y is left out.
        """
        self.begin(getattr(columns, "y", None) if y is None else y, sample_weight)
        for name, column in columns:
            if name is None or isinstance(name, str):
                self.offer(column, name)
            else:
                self.offer_many(column, name)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Begin with y and offer the columns of X from left to right."""
        return self._fit(X, y, None)

    @one_thread
    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        fresh = type(self)(**self.get_params(deep=False)).begin(y, sample_weight)
        block = fresh._checked(X, None, None)
        fresh._judge_all(block)
        # Nothing has failed: from here on the object changes.
        self._state, self._labels, self._categories = fresh._state, fresh._labels, fresh._categories
        self._know(fresh._members)
        self._name_features(block)
        return self

    def _judge_all(self, block: ColumnBlock) -> None:
        """Judge all columns there will ever be; methods that can make use of knowing so override this."""
        self._judge(block)

    def _checked(self, X: Any, names: Sequence[str] | None, categorical: Any) -> ColumnBlock:
        members = self._members
        return check_block(
            X,
            n_rows=members.n_rows,
            first=members.n_offered,
            names=names,
            categorical=categorical,
            owner=type(self).__name__,
        )

    def _judge(self, block: ColumnBlock, *, again: bool = False) -> Decisions:
        """Judge a block and keep the books; `again` for columns that have been offered before."""
        self._refuse_known_names(block)
        if not self.scans_itself:
            block.refuse_bad_value()
        answers = self._decide(self._state, block)
        if answers.accepted.any() or answers.dropped:
            self._members.append(block, answers)
            self._remember_categories(block, answers)
        self._members.n_offered += 0 if again else block.n_columns
        self._know(self._members)
        return answers

    def _remember_categories(self, block: ColumnBlock, answers: Decisions) -> None:
        """Keep the names behind the codes of accepted columns, and only of those that are still members."""
        new = {block.places[k]: names for k, names in block.categories.items() if answers.accepted[k]}
        if new or self._categories.names:
            known = self._categories.encode(new)[1]
            self._categories = known.without(set(known.names).difference(self._members.places.tolist()))

    def _refuse_known_names(self, block: ColumnBlock) -> None:
        members = set(self._members.names.tolist())
        if isinstance(block.names, NumberedNames):
            known = {name for name in members if name in block.names}
        else:
            known = members.intersection(block.names)
        if known:
            raise InputError(
                f"A column called {min(known)!r} is already selected: give each column of the stream its own name."
            )

    def _know(self, members: _Members) -> None:
        self._members = members
        self.n_offered_ = self.n_features_in_ = members.n_offered
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if self._labels is not None:
            self.classes_ = self._labels.as_array()
        elif hasattr(self, "classes_"):
            del self.classes_

    def _name_features(self, block: ColumnBlock) -> None:
        if isinstance(block.names, tuple):
            self.feature_names_in_ = np.array(block.names, object)

    def _check_begun(self) -> None:
        check_is_fitted(self, "n_offered_", msg="Call begin(y) first: %(name)s must know the target.")

    # -- answers ------------------------------------------------------------------------------------------------

    @property
    @one_thread
    def selected_(self) -> list[str]:
        """The names of the selected columns, in the order of their acceptance."""
        self._check_begun()
        names: list[str] = self._members.names.tolist()
        return names

    @property
    @one_thread
    def history_(self) -> Any:
        """The decisions that made the selection, as a pyarrow Table, one row for each selected column.

        Decisions on other columns are what `offer` and `offer_many` return; they are not kept.
        """
        self._check_begun()
        members = self._members
        bids = not np.isnan(members.wealth).all()
        table = Decisions(
            members.names.tolist(),
            np.ones(len(members.names), bool),
            members.statistic,
            members.threshold,
            members.wealth if bids else None,
            members.wealth_before if bids else None,
        ).to_arrow()
        return table.drop_columns(["accepted", "dropped", "because_of"]).append_column("place", [members.places])

    @one_thread
    def _get_support_mask(self) -> NDArray[np.bool_]:
        self._check_begun()
        mask = np.zeros(self._members.n_offered, bool)
        mask[self._members.places] = True
        return mask

    @one_thread
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the selected columns, in the order in which they were offered."""
        self._check_begun()
        if input_features is not None:
            return np.asarray(super().get_feature_names_out(input_features))
        members = self._members
        return members.names[np.argsort(members.places)].astype(object)

    @one_thread
    def transform(self, X: Any) -> Any:
        """Keep the selected columns of X, in the order in which they were offered, as the kind of table that X is.

        A table is asked for them by name; anything else must hold all columns offered so far, in that order. A frame of
        pandas or polars and a table of pyarrow keep names, types and index, a sparse matrix keeps its format;
        categories of other data come back as they were given, in an array of objects. `set_output` of scikit-learn
        chooses a frame for everything.
        """
        self._check_begun()
        members = self._members
        order = np.argsort(members.places)
        names = _names_of_table(X)
        if names is not None and (hasattr(self, "feature_names_in_") or set(members.names.tolist()) <= set(names)):
            wanted = members.names[order].tolist()
            return _columns_by_name(X, names, wanted, self)
        matrix, _, _, _, kinds = check_matrix(X, owner=type(self).__name__)
        if matrix.shape[1] != members.n_offered:
            raise InputError(
                f"X has {matrix.shape[1]} features, but {type(self).__name__} is expecting {members.n_offered} "
                "features as input: give all columns that were offered, or a table with the names of the selected ones."
            )
        ColumnBlock(matrix, NumberedNames(range(members.n_offered)), range(members.n_offered)).refuse_bad_value()
        chosen = members.places[order]
        kept = matrix[:, chosen]
        if looks_like_frame(X) or (kinds is not None and kinds.names.keys() & set(chosen.tolist())):
            from streamsift.core import tables  # pyarrow: only for those who need it

            checked = check_batch(Batch(matrix, None, kinds=kinds), None, owner=type(self).__name__, needs_y=False)
            return tables.as_given(X, kept, chosen, checked, tables.wanted_container(self))
        return np.array(kept) if isinstance(kept, np.ndarray) else in_format_of(X, kept)

    # -- state --------------------------------------------------------------------------------------------------

    @one_thread
    def state_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything learnt, as named arrays (copies). With `get_params` it is the whole object."""
        self._check_begun()
        arrays = state_to_arrays(self._members, "members.") | state_to_arrays(self._state, "state.")
        arrays["labels"] = np.empty(0, np.str_) if self._labels is None else self._labels.as_array()
        if hasattr(self, "feature_names_in_"):
            arrays["feature_names"] = self.feature_names_in_.astype(np.str_)
        return arrays | self._categories.to_arrays()

    @one_thread
    def load_state_arrays(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Take over a state written by `state_arrays`; the parameters must be those of the writer."""
        labels, sizes = saved_labels(arrays), dict[str, Any]()
        members = state_from_arrays(_Members, arrays, "members.", sizes)
        sizes |= {"n_rows": members.n_rows, "n_offered": members.n_offered, "n_classes": len(labels)}
        state = state_from_arrays(self._type_of_state(arrays), arrays, "state.", sizes)
        problem = self._problem_of(state)
        if problem is not None:
            raise SavedStateError(f"The saved state does not fit the parameters of {type(self).__name__}: {problem}.")
        names = saved_names(arrays, members.n_offered)
        categories = CategoryVocabulary.from_arrays(arrays, members.n_offered)
        # Nothing has failed: from here on the object changes.
        self._state, self._categories = state, categories
        self._labels = labels if len(labels) else None
        self._know(members)
        if names is not None:
            self.feature_names_in_ = np.array(names, object)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        ours = self.stream_tags()
        tags.target_tags.required = ours.supervised
        tags.input_tags.sparse = ours.sparse
        return tags


def _names_of_table(X: Any) -> list[str] | None:
    """The column names of a table of any kind; None for anything else."""
    if type(X) is np.ndarray and X.dtype.names is None:
        return None
    from streamsift.core import tables  # pyarrow: only for those who need it

    return tables.column_names(X) if tables.is_table(X) else None


def _columns_by_name(X: Any, names: list[str], wanted: list[str], selector: ColumnSelector) -> Any:
    from streamsift.core import tables

    owner = type(selector).__name__
    if not wanted:
        return tables.no_columns(X, tables.wanted_container(selector))
    found = [names.index(name) for name in wanted if name in names]
    if len(found) == len(wanted):
        matrix = check_matrix(tables.take_columns(X, found), owner=owner)
    else:  # some may be elements of lists
        matrix = check_matrix(X, owner=owner)
        for name in wanted:
            if name not in (matrix.names or ()):
                raise UnknownNameError(f"column of X, as {owner} selected it,", name, names)
        places = [(matrix.names or ()).index(name) for name in wanted]
        kinds = {k: matrix.kinds.names[p] for k, p in enumerate(places) if matrix.kinds and p in matrix.kinds.names}
        matrix = CheckedMatrix(matrix.values[:, places], tuple(wanted), kinds=ColumnKinds(kinds))
    categories = {} if matrix.kinds is None else matrix.kinds.names
    mask = np.isin(np.arange(len(wanted)), list(categories))
    ColumnBlock(matrix.values, wanted, range(len(wanted)), mask).refuse_bad_value()
    if not categories and not tables.is_frame(X):
        return np.array(matrix.values)
    batch = Batch(matrix.values, None, tuple(wanted), mask, kinds=matrix.kinds)
    checked = check_batch(batch, None, owner=owner, needs_y=False)
    return tables.as_given(X, checked.X, np.arange(len(wanted)), checked, tables.wanted_container(selector))
