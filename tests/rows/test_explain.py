"""Why a feature is selected: what a selector tells must be what the rows say, without seeing them again."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from streamsift import FIRES, OFS, Joint, Screener
from streamsift.core.exceptions import UnknownNameError
from streamsift.summaries.quantile_points import kept_values


def rows(n=600, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.column_stack([rng.normal(size=n) + y, rng.integers(0, 4, n), rng.normal(size=n)]).astype(dtype)
    return X, y


def naive_values(X, y, n_classes, weights):
    """The distinct values of a column, and the weight of each class at each."""
    values = sorted({float(v) for v in X if v == v})
    table = np.zeros((len(values), n_classes))
    for v, c, w in zip(X, y, weights, strict=True):
        if v == v:
            table[values.index(float(v)), c] += w
    return values, table


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fading", [1.0, 0.99])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_values_kept_are_those_of_the_rows(dtype, fading, sparse):
    X, y = rows(dtype=dtype)
    X[:, 1] -= 1.0  # negative ones and zeros
    selector = Screener(fading=fading, eps=0.01)
    for start in range(0, 600, 150):
        part = X[start : start + 150]
        selector.partial_fit(sp.csr_matrix(part) if sparse else part, y[start : start + 150], classes=[0, 1, 2])
    weights = fading ** np.arange(599, -1, -1.0)
    order = [selector.classes_.tolist().index(c) for c in (0, 1, 2)]
    values, found = kept_values(selector._state.numbers, 1)
    wanted_values, wanted = naive_values(X[:, 1], y, 3, weights)
    assert values.tolist() == wanted_values
    np.testing.assert_allclose(found[:, order], wanted, rtol=1e-9)
    values, found = kept_values(selector._state.numbers, 0)  # more values than are kept: the class weights still add up
    np.testing.assert_allclose(found.sum(axis=0)[order], wanted.sum(axis=0), rtol=1e-9)
    assert (np.diff(values) > 0).all()


def test_reading_changes_nothing():
    X, y = rows()
    selector = Screener(eps=0.05).partial_fit(X, y)
    before = {name: array.copy() for name, array in selector.state_arrays().items()}
    selector.explain("x0")
    after = selector.state_arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_bins_gaps_and_examples_of_a_number():
    X, y = rows()
    X[::5, 0] = np.nan
    why = Screener(n_features_to_select=1, missing="skip").partial_fit(X, y).explain("x0")
    assert why.selected
    assert why.rank == 1
    known = why.evidence
    assert known.missing == pytest.approx(0.2)
    here = ~np.isnan(X[:, 0])
    total = np.sum([one.weights for one in known.bins], axis=0)
    assert dict(zip(why.classes, total, strict=True)) == {str(c): (y[here] == c).sum() for c in range(3)}
    sizes = [sum(one.weights) for one in known.bins]
    assert len(sizes) == 10
    assert max(sizes) <= min(sizes) + 2  # bins of equal rank
    assert known.examples[0] == f"{np.nanmin(X[:, 0]):.4g}"
    assert known.examples[-1] == f"{np.nanmax(X[:, 0]):.4g}"
    assert "Joint" in known.unknown[0]


def test_categories_are_told_by_name_and_the_rare_ones_together():
    y = np.arange(400) % 2
    shop = np.where(y == 1, "north", "south").astype(object)
    shop[::20] = [f"rare{k}" for k in range(20)]
    shop[1] = None
    why = Screener(missing="skip").partial_fit(pd.DataFrame({"shop": shop, "x": np.arange(400.0)}), y).explain("shop")
    bins = {one.text: one.weights for one in why.evidence.bins}
    place = why.classes.index("1")
    assert bins["north"][place] == np.sum((shop == "north") & (y == 1))
    assert bins["all others"][1 - place] + sum(bins[t][1 - place] for t in bins if t.startswith("rare")) == 20
    assert why.evidence.missing == pytest.approx(1 / 400)
    assert why.evidence.examples[:2] == ("south", "north") or why.evidence.examples[:2] == ("north", "south")


def test_moments_give_mean_and_spread_by_class():
    X, y = rows()
    why = Screener("fisher", n_features_to_select=1).partial_fit(X, y).explain(0)
    for one in why.evidence.spreads:
        inside = X[y == int(one.label), 0]
        assert one.mean == pytest.approx(inside.mean())
        assert one.deviation == pytest.approx(inside.std())
    assert why.evidence.bins == ()
    assert any("values" in sentence for sentence in why.evidence.unknown)
    assert why.evidence.figures[0][0] == "p-value"


def test_a_number_to_explain_has_its_correlation():
    X, _ = rows()
    target = 3.0 * X[:, 0] - X[:, 2]
    why = Screener("correlation", task="regression").partial_fit(X, target).explain("x2")
    assert dict(why.evidence.figures)["correlation with the target"] == pytest.approx(
        np.corrcoef(X[:, 2], target)[0, 1]
    )


def test_joint_tells_what_a_feature_repeats():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    X[:, 3] = X[:, 0] + 0.1 * rng.normal(size=800)
    y = X[:, 0] + 0.5 * X[:, 1] > 0
    why = Joint(n_features_to_select=2).partial_fit(X, y).explain("x3")
    assert not why.selected
    assert why.evidence.related[0] == ("x0", pytest.approx(np.corrcoef(X[:, 0], X[:, 3])[0, 1]))
    assert all(name != "x3" for name, _ in why.evidence.related)
    whole, *by_class = why.evidence.spreads
    assert (whole.mean, whole.deviation) == pytest.approx((X[:, 3].mean(), X[:, 3].std()))
    for one in by_class:
        assert one.mean == pytest.approx(X[y == (one.label == "True"), 3].mean())
        assert one.deviation is None  # cross moments keep no spread by class
    assert {one.label for one in by_class} == {"True", "False"}
    assert why.evidence.missing == 0.0


def test_joint_tells_the_categories_of_a_feature_by_class_and_its_gaps():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    shop = np.where(rng.random(600) < 0.3, "east", np.where(y == 1, "north", "south"))
    x = rng.normal(size=600) + y
    x[::4] = np.nan
    selector = Joint(n_features_to_select=2, missing="skip").partial_fit(pd.DataFrame({"shop": shop, "x": x}), y)
    why = selector.explain("shop")
    bins = {one.text: dict(zip(why.classes, one.weights, strict=True)) for one in why.evidence.bins}
    for name in ("north", "south", "east"):
        for label in (0, 1):
            assert bins[name][str(label)] == pytest.approx(np.sum((shop == name) & (y == label)), abs=1e-6)
    assert selector.explain("x").evidence.missing == pytest.approx(0.25)


def test_fires_tells_mu_and_sigma_and_others_say_that_they_know_nothing():
    X, y = rows()
    fires = FIRES(n_features_to_select=1).partial_fit(X, y)
    figures = dict(fires.explain("x1").evidence.figures)
    assert figures["importance (mu)"] == fires.importance_[1]
    assert figures["uncertainty (sigma)"] == fires.uncertainty_[1]
    why = OFS(n_features_to_select=1).partial_fit(X, y == 1).explain("x1")
    assert "OFS keeps nothing" in why.evidence.unknown[0]


def test_leaders_are_the_selected_and_the_nearest_rejected():
    X, y = np.random.default_rng(0).normal(size=(300, 30)), np.arange(300) % 2
    selector = Screener("t_score", n_features_to_select=15).partial_fit(X, y)
    found = selector.explain_leaders()
    assert [why.name for why in found if why.selected] == selector.selected_[:12]
    assert [why.rank for why in found if not why.selected] == [16, 17, 18, 19]
    assert found[0].threshold == found[12].score
    assert found[12].threshold == sorted(selector.scores_)[-15]


def test_words_json_and_unknown_names():
    X, y = rows()
    X[:, 2] = y  # separates them: an infinite score
    selector = Screener("t_score", n_features_to_select=1).partial_fit(X, y == 1)
    why = selector.explain("x2")
    text = json.dumps(why.as_dict(), allow_nan=False)
    assert json.loads(text)["name"] == "x2"
    assert str(why).startswith("x2 is selected: rank 1 of 3")
    with pytest.raises(UnknownNameError, match="no feature 'x22'"):
        selector.explain("x22")
    with pytest.raises(UnknownNameError):
        selector.explain(3)


def test_a_feature_without_any_value_is_missing():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [None] * 4})
    why = Screener(missing="skip").partial_fit(frame, [0, 1, 0, 1]).explain("b")
    assert why.evidence.missing == 1.0
