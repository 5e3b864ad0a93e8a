"""Explanations and regions: the data behind the drawings, and that they can be drawn."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.core.exceptions import ParameterError
from streamsift.instances.etana import ETANA
from streamsift.instances.f_etana import FETANA

RANDOM = np.random.default_rng(8)
Y = RANDOM.integers(0, 3, 240)
X = RANDOM.normal(size=(240, 6))
X[:, :3] += 3.0 * np.eye(3)[Y]
MODELS = pytest.mark.parametrize("model", [ETANA(), FETANA(random_state=0, max_iterations=5)], ids=["ETANA", "FETANA"])


@MODELS
def test_an_explanation_is_the_way_of_the_instance(model: ETANA) -> None:
    model.fit(X, Y)
    told, result = model.explain(X[0]), model.classify(X[:1])
    assert told.label == result.labels[0]
    assert len(told.steps) == result.n_evaluated[0] + 1
    np.testing.assert_allclose(told.posteriors[-1], result.posteriors[0])
    np.testing.assert_allclose(told.posteriors[0], np.bincount(Y) / len(Y))
    assert told.steps[-1].cost == pytest.approx(result.cost[0])
    assert told.reason in str(told)
    assert str(told).count("\n") == len(told.steps) + 1
    assert told._repr_html_().count("<tr>") == len(told.steps) + 1
    assert len(told.plot().renderers) == 6
    assert model.explain(lambda j: X[0, j]).label == told.label


def test_reasons_to_stop() -> None:
    assert "without any feature" in ETANA(5.0).fit(X, Y).explain(X[0]).reason
    assert "costs more than it can save" in ETANA(0.01).fit(X, Y).explain(X[0]).reason
    short = ETANA(0.0001).fit(X[:, 5:], Y)
    assert "no feature is left" in short.explain(X[0, 5:]).reason


def test_labels_are_shown_as_text_not_as_markup() -> None:
    told = ETANA().fit(X, np.array(["<b>", "b", "c"])[Y]).explain(X[0])
    assert "<b>" not in told._repr_html_()


@MODELS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_regions_agree_with_the_decisions(model: ETANA, n_classes: int) -> None:
    kept = n_classes > Y
    model.fit(X[kept], Y[kept])
    region = model.policy(0)
    corners = region.points.max(axis=1) == 1.0
    assert region.stops[corners].all()  # Theorem 3
    assert not region.stops.all()
    prior = np.bincount(Y[kept]) / kept.sum()
    nearest = np.argmin(np.abs(region.points - prior).sum(axis=1))
    assert region.stops[nearest] == (model.classify(X[:1]).n_evaluated[0] == 0)
    np.testing.assert_allclose(region.loss, 1.0 - region.points.max(axis=1), atol=1e-12)
    assert model.policy(X.shape[1]).stops.all()
    drawn = model.plot_policy(1)
    assert drawn.title.text == "After 1 feature"
    n_points = sum(
        len(glyph.data_source.data["x"]) for glyph in drawn.renderers if glyph.glyph.__class__.__name__ == "Scatter"
    )
    assert n_points == len(region.points)


def test_regions_that_cannot_be_shown_are_refused() -> None:
    model = ETANA(resolution=4).fit(X, np.arange(240) % 5)
    with pytest.raises(ParameterError, match="two or three classes"):
        model.policy(0)
    with pytest.raises(ParameterError, match="from 0 to 6"):
        ETANA().fit(X, Y).policy(7)
