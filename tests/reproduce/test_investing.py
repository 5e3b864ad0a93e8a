"""The tables of the information-investing paper, small."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.reproduce.investing import code
from streamsift.reproduce.investing import tables as investing
from streamsift.reproduce.papers import published_table
from streamsift.reproduce.result import Options


def no_progress(done: int, total: int) -> None:
    assert done <= total


@pytest.mark.compiled
def test_table_1_streaming_is_the_papers() -> None:
    """Tolerances: the paper's own 20 runs have standard errors of about 4 % for BIC; ours, over 60, of about 2 %.

    SFS varies more: over 200 streams its columns had a standard deviation of 3.2, its error one of 0.4 and its false
    columns one of 0.6. Twice the standard error of the difference of 20 and 60 runs is 0.52 of that.
    """
    setting = investing.Setting(200, 10, 5.0, (1000,))
    ours = investing.measured(setting, Options(), 60, no_progress)
    paper = published_table("investing", "table1")
    bic, ric = ours["streaming", "BIC", 1000], ours["streaming", "RIC", 1000]
    assert bic.features == pytest.approx(paper["streaming features"]["BIC"], rel=0.1)
    assert bic.error == pytest.approx(paper["streaming error"]["BIC"], rel=0.1)
    assert bic.false == pytest.approx(29.5, rel=0.1)
    assert ric.features == pytest.approx(paper["streaming features"]["RIC"], rel=0.1)
    assert ric.error == pytest.approx(paper["streaming error"]["RIC"], rel=0.1)
    sfs = ours["streaming", "SFS", 1000]
    assert sfs.features == pytest.approx(paper["streaming features"]["SFS"], abs=0.52 * 3.2)
    assert sfs.error == pytest.approx(paper["streaming error"]["SFS"], abs=0.52 * 0.4)
    assert sfs.false == pytest.approx(0.3, abs=0.52 * 0.6)


@pytest.mark.compiled
def test_table_2_sfs_finds_many() -> None:
    """Over six streams the standard error of the columns SFS selects is 3.6, in the paper's twenty about 2."""
    ours = investing.measured(investing.SETTINGS[2], Options(), 6, no_progress)
    paper = published_table("investing", "table2")
    for penalty, tolerance in (("BIC", 8.9), ("SFS", 8.2)):
        found = ours["streaming", penalty, 1000]
        assert found.features == pytest.approx(paper["features"][penalty], abs=tolerance)
        assert found.error == pytest.approx(paper["error"][penalty], rel=0.1)
    assert ours["streaming", investing.DEFAULTS, 1000].features < 0.9 * paper["features"]["SFS"]


@pytest.mark.compiled
def test_table_3_bic_fills_up_ric_starves_sfs_stays() -> None:
    setting = investing.Setting(200, 10, 5.0, (1_000, 10_000, 40_000))
    ours = investing.measured(setting, Options(), 4, no_progress)

    def features(penalty: str) -> list[float]:
        return [ours["streaming", penalty, length].features for length in setting.lengths]

    assert features("BIC")[1:] == [198.0, 198.0]  # two fewer than rows
    assert np.all(np.diff(features("RIC")) < 0)
    assert np.ptp(features("SFS")) <= 1.0
    assert ours["streaming", "SFS", 40_000].error < ours["streaming", "RIC", 40_000].error
    assert ours["streaming", "SFS", 40_000].error < ours["streaming", "BIC", 40_000].error


def test_a_table_shows_ours_beside_the_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(investing.SETTINGS, 1, investing.Setting(60, 5, 5.0, (1000,), stepwise=True))
    result = investing.EXHIBITS["table 1"](Options(repeats=2), no_progress)
    assert result.columns[-2:] == ["ours", "published"]
    assert [row[:3] for row in result.rows][:2] == [["streaming", "BIC", "features"], ["streaming", "BIC", "error"]]
    assert result.rows[0][-1] == "39.3"
    assert {row[0] for row in result.rows} == {"streaming", "stepwise"}


def test_the_columns_of_the_stepwise_search() -> None:
    """Ten true columns are found, hardly any other; one more, the constant, makes the printed number."""
    result = investing.stepwise_columns(Options(repeats=5), no_progress)
    columns, false = (float(row[1]) for row in result.rows)
    assert 9.0 <= columns <= 11.5
    assert columns - false == pytest.approx(10.0, abs=1.0)
    assert f"{columns + 1.0:.2f}; in print 11.1." in result.note


@pytest.mark.parametrize("tail", [0.02, 0.2])
def test_the_density_of_the_code_has_mass_one_and_the_threshold_of_investing(tail):
    from scipy.integrate import trapezoid
    from scipy.stats import norm

    places = np.linspace(-12.0, 12.0, 200_001)
    threshold = norm.isf(tail / 2)
    density = np.where(np.abs(places) > threshold, 2.0, (1 - 2 * tail) / (1 - tail)) * norm.pdf(places)
    mass, beyond, out, within, gained, lost, drawn, ours = code.measured(tail)
    assert mass == pytest.approx(trapezoid(density, places), abs=1e-4)
    assert beyond == pytest.approx(2 * tail)
    assert (out, gained) == pytest.approx((2.0, 1.0))
    assert lost == pytest.approx(-np.log2(within))
    assert lost > 1.4 * tail  # in bits; the paper's "about a" is in nats
    assert drawn == pytest.approx(threshold)
    assert ours == pytest.approx(threshold, rel=1e-3)
