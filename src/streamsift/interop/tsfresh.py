"""tsfresh_columns: the features of tsfresh, one calculator at a time (the extra `streamsift[tsfresh]`).

tsfresh makes a table with hundreds of columns for each kind of series before anybody can look at one of them. Here one
calculator, with some of its parameters, is asked at a time; what it gives is judged and forgotten. Names, settings and
values are those of tsfresh; what is not a number is filled as its `impute` does.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError, MissingExtraError, ParameterError, UnknownNameError

WIDEST = 256  # columns of one block

Order = tuple[str, dict[Any, list[Any] | None]]  # a calculator, and for each kind its parameters


class SeriesColumns:
    """What `tsfresh_columns` returns: iterate over it for pairs (names, block)."""

    def __init__(self, series: Any, ids: list[Any], y: Any, orders: list[Order], columns: dict[str, Any]) -> None:
        self._series, self._ids, self._orders, self._columns = series, ids, orders, columns
        self.y, self.target_name = y, "y"
        self.names = [[name, str(parameters)] for name, parameters in orders]  # what a checkpoint knows it by
        self.n_columns = sum(len(listed or [None]) for _, kinds in orders for listed in kinds.values())

    def __iter__(self) -> Iterator[tuple[list[str], NDArray[np.float64]]]:
        return self.blocks()

    def blocks(self, first: int = 0) -> Iterator[tuple[list[str], NDArray[np.float64]]]:
        """The blocks from one of them on; those before it are not made."""
        from tsfresh import extract_features

        for name, kinds in self._orders[first:]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of calculators that cannot be computed for some series
                frame = extract_features(
                    self._series,
                    kind_to_fc_parameters={kind: {name: listed} for kind, listed in kinds.items()},
                    n_jobs=0,
                    disable_progressbar=True,
                    **self._columns,
                )
            missing = [one for one in self._ids if one not in frame.index]
            if missing:
                raise InputError(
                    f"There is no series with the id {missing[0]!r}, which has a target: leave it out of y."
                )
            yield [str(column) for column in frame.columns], filled(frame.loc[self._ids].to_numpy(np.float64))


def tsfresh_columns(
    series: Any,
    y: Any,
    settings: Any = None,
    *,
    column_id: str,
    column_sort: str | None = None,
    column_kind: str | None = None,
    column_value: str | None = None,
    kind_settings: Mapping[Any, Any] | None = None,
) -> SeriesColumns:
    """The features that tsfresh makes of time series, as a source for column selectors.

    Parameters
    ----------
    series : pandas DataFrame
        As `tsfresh.extract_features` takes it: all series of a kind in one column (`column_value` and, for several
        kinds, `column_kind`), or one column for each kind.
    y : pandas Series or dict
        The target of each series, by its id.
    settings : dict of parameters, optional
        MinimalFCParameters(), EfficientFCParameters(), ComprehensiveFCParameters() of tsfresh, or a dict of your own;
        the comprehensive ones if none are given.
    column_id, column_sort, column_kind, column_value : str
        What the columns of `series` are, as in tsfresh.
    kind_settings : dict, optional
        Other settings for some kinds of series.

    Returns
    -------
    SeriesColumns
        A source with `y` and `n_columns`. `tsfresh.feature_extraction.settings.from_columns(selector.selected_)` gives
        the settings that make the selected columns again, for new series.

    Examples
    --------
    >>> import pandas as pd
    >>> from streamsift import Investing
    >>> rng = np.random.default_rng(0)
    >>> series = pd.DataFrame({"id": np.repeat(np.arange(60), 20), "heat": rng.normal(size=1200)})
    >>> y = series.groupby("id")["heat"].max()
    >>> made = tsfresh_columns(series, y, {"mean": None, "maximum": None}, column_id="id")
    >>> Investing().run(made).selected_[-1]
    'heat__maximum'
    """
    settings = _defaults() if settings is None else settings
    ids, target = _targets(y)
    columns = {"column_id": column_id, "column_sort": column_sort}
    columns |= {"column_kind": column_kind, "column_value": column_value}
    kinds = _kinds(series, columns)
    wanted = {kind: (kind_settings or {}).get(kind, settings) for kind in kinds}
    for kind in kind_settings or {}:
        if kind not in wanted:
            raise UnknownNameError("kind of series", str(kind), map(str, kinds))
    return SeriesColumns(series, ids, target, _orders(wanted), columns)


def filled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A block whose columns have numbers everywhere, as `impute` of tsfresh fills them.

    NaN becomes the median, infinity the largest and minus infinity the least of the other values; 0 if there are none.

    Examples
    --------
    >>> filled(np.array([[1.0, np.nan], [np.nan, np.nan], [np.inf, np.nan], [3.0, np.inf]])).T.tolist()
    [[1.0, 2.0, 3.0, 3.0], [0.0, 0.0, 0.0, 0.0]]
    """
    block = np.array(values, order="F")
    for k in np.flatnonzero(~np.isfinite(block).all(axis=0)).tolist():
        column = block[:, k]
        numbers = column[np.isfinite(column)]
        if len(numbers) == 0:
            column[:] = 0.0
            continue
        column[np.isnan(column)] = np.median(numbers)
        column[column == np.inf] = numbers.max()
        column[column == -np.inf] = numbers.min()
    return block


def _defaults() -> Any:
    _calculators()
    from tsfresh.feature_extraction import ComprehensiveFCParameters

    return ComprehensiveFCParameters()


def _calculators() -> Any:
    try:
        from tsfresh.feature_extraction import feature_calculators
    except ImportError as error:
        raise MissingExtraError("tsfresh_columns", "tsfresh", "tsfresh") from error
    return feature_calculators


def _targets(y: Any) -> tuple[list[Any], Any]:
    """The ids of the series in order, and their targets."""
    if isinstance(y, Mapping):
        return list(y), np.array(list(y.values()))
    if not hasattr(y, "index") or not hasattr(y, "to_numpy"):
        raise InputError(f"y is a {type(y).__name__}: give a pandas Series or a dict, with the id of each series.")
    if not y.index.is_unique:
        raise InputError(f"y has the id {y.index[y.index.duplicated()][0]!r} twice: give one target for each series.")
    return y.index.tolist(), y.to_numpy()


def _kinds(series: Any, columns: Mapping[str, Any]) -> list[Any]:
    """The kinds of series there are, in order."""
    if not hasattr(series, "columns"):
        raise InputError(f"The series are a {type(series).__name__}: give a pandas DataFrame.")
    for option, name in columns.items():
        if name is not None and name not in series.columns:
            raise InputError(f"The series have no column {name!r}, which {option} names: check its name.")
    if columns["column_kind"] is not None:
        if columns["column_value"] is None:
            raise ParameterError("column_kind is given without column_value: say which column holds the values.")
        return sorted(series[columns["column_kind"]].unique().tolist())
    if columns["column_value"] is not None:
        return [columns["column_value"]]
    known = (columns["column_id"], columns["column_sort"])
    return [name for name in series.columns if name not in known]


def _orders(wanted: Mapping[Any, Any]) -> list[Order]:
    """One calculator after the other, with no more parameters at a time than make WIDEST columns."""
    calculators, found = _calculators(), []
    names = list(dict.fromkeys(name for settings in wanted.values() for name in settings))
    for name in names:
        if not hasattr(calculators, str(name)):
            known = [one for one in dir(calculators) if hasattr(getattr(calculators, one), "fctype")]
            raise UnknownNameError("calculator of tsfresh", str(name), known)
        listed = {kind: settings[name] for kind, settings in wanted.items() if name in settings}
        step, longest = max(1, WIDEST // len(listed)), max(len(values or [None]) for values in listed.values())
        for start in range(0, longest, step):
            part = {kind: values and values[start : start + step] for kind, values in listed.items()}
            found.append((name, {kind: some for kind, some in part.items() if some or (some is None and start == 0)}))
    if not found:
        raise ParameterError("The settings name no calculators, so that nothing would be made: give some.")
    return found
