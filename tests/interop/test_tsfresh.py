"""tsfresh_columns: the columns are those of tsfresh, a few at a time."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from streamsift import Investing
from streamsift.core.exceptions import InputError, MissingExtraError, ParameterError, UnknownNameError
from streamsift.interop import tsfresh as ours
from streamsift.interop.tsfresh import filled, tsfresh_columns
from streamsift.runs.columns import follow_columns

theirs = pytest.importorskip("tsfresh", reason="the extra streamsift[tsfresh] is not installed")

from tsfresh.feature_extraction import EfficientFCParameters, MinimalFCParameters  # noqa: E402
from tsfresh.utilities.dataframe_functions import impute  # noqa: E402

N_SERIES, LENGTH = 24, 16
RNG = np.random.default_rng(0)
WIDE = pd.DataFrame(
    {
        "id": np.repeat([f"s{k}" for k in range(N_SERIES)], LENGTH),
        "time": np.tile(np.arange(LENGTH), N_SERIES),
        "heat": RNG.normal(size=N_SERIES * LENGTH),
        "load": RNG.normal(size=N_SERIES * LENGTH).cumsum(),
    }
)
IDS = [f"s{k}" for k in RNG.permutation(N_SERIES)]  # in an order that is not theirs
Y = WIDE.groupby("id")["heat"].max().loc[IDS] + RNG.normal(size=N_SERIES) / 20
SETTINGS = {name: EfficientFCParameters()[name] for name in ("mean", "quantile", "c3", "agg_linear_trend", "skewness")}
SETTINGS["agg_linear_trend"] = SETTINGS["agg_linear_trend"][:7]
OPTIONS = {"column_id": "id", "column_sort": "time"}


def whole(series, settings, **options):
    """What tsfresh makes of it all at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = theirs.extract_features(
            series, default_fc_parameters=settings, n_jobs=0, disable_progressbar=True, **options
        )
        return impute(frame).loc[IDS]


def made(source):
    blocks = list(source)
    return pd.DataFrame(
        np.hstack([block for _, block in blocks]), index=IDS, columns=[name for names, _ in blocks for name in names]
    )


@pytest.mark.parametrize("width", [1, 5, 256])
def test_the_columns_are_those_of_tsfresh(monkeypatch, width):
    monkeypatch.setattr(ours, "WIDEST", width)
    source = tsfresh_columns(WIDE, Y, SETTINGS, **OPTIONS)
    found, wanted = made(source), whole(WIDE, SETTINGS, **OPTIONS)
    assert source.n_columns == found.shape[1] == wanted.shape[1]
    pd.testing.assert_frame_equal(found[wanted.columns], wanted, check_names=False)
    assert max(len(names) for names, _ in source) <= max(width, 2)


def test_series_below_each_other():
    long = WIDE.melt(["id", "time"], var_name="what", value_name="value")
    options = OPTIONS | {"column_kind": "what", "column_value": "value"}
    found, wanted = made(tsfresh_columns(long, Y, SETTINGS, **options)), whole(long, SETTINGS, **options)
    pd.testing.assert_frame_equal(found[wanted.columns], wanted, check_names=False)


def test_some_kinds_may_have_settings_of_their_own():
    source = tsfresh_columns(WIDE, Y, MinimalFCParameters(), kind_settings={"load": {"mean": None}}, **OPTIONS)
    names = [name for names, _ in source for name in names]
    assert [name for name in names if name.startswith("load")] == ["load__mean"]
    assert len(names) == len(MinimalFCParameters()) + 1 == source.n_columns


def test_a_selector_judges_them_and_tsfresh_makes_the_selected_again():
    from tsfresh.feature_extraction.settings import from_columns

    selector = Investing().run(tsfresh_columns(WIDE, Y, MinimalFCParameters(), **OPTIONS))
    assert selector.selected_[-1] == "heat__maximum"
    assert from_columns(selector.selected_[-1:]) == {"heat": {"maximum": None}}


def test_the_progress_and_the_places():
    source = tsfresh_columns(WIDE, Y.to_dict(), SETTINGS, **OPTIONS)
    steps = list(follow_columns(source, Investing()))
    assert steps[-1].progress == 1.0
    assert len(steps) == len(SETTINGS)
    names = [names for names, _ in source]
    assert [names for names, _ in source.blocks(3)] == names[3:]


def test_nothing_is_made_before_it_is_asked_for(monkeypatch):
    calls = []
    real = theirs.extract_features
    monkeypatch.setattr(theirs, "extract_features", lambda *a, **b: calls.append(b) or real(*a, **b))
    blocks = iter(tsfresh_columns(WIDE, Y, SETTINGS, **OPTIONS))
    assert calls == []
    next(blocks)
    assert [list(call["kind_to_fc_parameters"]["heat"]) for call in calls] == [["mean"]]


def test_the_comprehensive_settings_are_the_default():
    assert tsfresh_columns(WIDE, Y, **OPTIONS).n_columns > 1500


def test_what_is_no_number_is_filled_as_tsfresh_does():
    values = np.random.default_rng(1).normal(size=(30, 6))
    values[[1, 4, 9], 0], values[2, 1], values[3, 1], values[5, 2] = np.nan, np.inf, -np.inf, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what tsfresh calls is deprecated in pandas
        wanted = impute(pd.DataFrame(values.copy()))
    np.testing.assert_array_equal(filled(values), wanted)
    assert np.isnan(values).any()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"settings": {"meen": None}}, UnknownNameError, "no calculator of tsfresh 'meen'. Did you mean 'mean'"),
        ({"settings": {}}, ParameterError, "name no calculators"),
        ({"column_id": "name"}, InputError, "no column 'name', which column_id names"),
        ({"column_kind": "heat"}, ParameterError, "column_kind is given without column_value"),
        ({"kind_settings": {"hat": {}}}, UnknownNameError, "kind of series 'hat'. Did you mean 'heat'"),
        ({"y": Y.to_numpy()}, InputError, "y is a ndarray: give a pandas Series or a dict"),
        ({"y": pd.concat([Y, Y])}, InputError, "y has the id 's[0-9]+' twice"),
        ({"series": [1, 2]}, InputError, "The series are a list"),
    ],
)
def test_what_makes_no_sense_is_refused(change, error, words):
    given = {"series": WIDE, "y": Y, "settings": SETTINGS} | OPTIONS | change
    with pytest.raises(error, match=words):
        tsfresh_columns(**given)


def test_a_target_without_series_is_refused():
    source = tsfresh_columns(WIDE, {"s0": 1.0, "nobody": 2.0}, SETTINGS, **OPTIONS)
    with pytest.raises(InputError, match="no series with the id 'nobody'"):
        list(source)


def test_without_tsfresh_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tsfresh.feature_extraction", None)
    with pytest.raises(MissingExtraError, match=r"streamsift\[tsfresh\]"):
        tsfresh_columns(WIDE, Y, **OPTIONS)
