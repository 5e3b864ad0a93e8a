"""The authors' program under its own choices: order, likelihoods, dynamic program and every prediction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from streamsift.instances.etana import ETANA

RUNS = [("bin2", "0.01", 2), ("bin2", "0.05", 2), ("tri3", "0.01", 3)]


@pytest.mark.parametrize(("data", "cost", "n_bins"), RUNS)
def test_equals_the_authors_program(shared: Path, data: str, cost: str, n_bins: int) -> None:
    with np.load(shared / "golden" / "etana" / "etana.npz") as golden:
        X, y = golden[f"{data}_X"], golden[f"{data}_y"]
        wanted = {name: golden[f"{data}_c{cost}_{name}"] for name in ("order", "featprob", "A", "g", "pred")}
        reported = golden[f"{data}_c{cost}_nfeat_reported"]
    train = len(y) - len(reported)
    model = ETANA.paper(float(cost), n_bins=n_bins).fit(X[:train], y[:train])
    plan, counts = model._current_plan(), model._counts
    assert plan.order.tolist() == wanted["order"].tolist()
    table = counts.table().reshape(-1, n_bins, len(model.classes_)).transpose(0, 2, 1)
    np.testing.assert_allclose(table, wanted["featprob"], rtol=1e-12)
    np.testing.assert_allclose(plan.table, wanted["A"], rtol=1e-12)
    np.testing.assert_allclose(plan.stop_cost, wanted["g"], rtol=1e-12, atol=1e-15)
    result = model.classify(X[train:])
    assert result.labels.tolist() == wanted["pred"].tolist()
    # The program counts one less for rows that buy everything.
    bought_all = result.n_evaluated == X.shape[1]
    assert (result.n_evaluated - bought_all).tolist() == reported.tolist()


def load(shared: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(shared / "data" / f"{name}.npz") as file:
        return file["X"].astype(np.float32), file["y"].astype(np.int64)


@pytest.mark.compiled
def test_mll_gives_the_published_figures(shared: Path) -> None:
    X, y = load(shared, "mll")
    result = ETANA.paper(feature_cost=0.01).fit(X[:57], y[:57]).classify(X[57:])
    assert np.mean(result.labels == y[57:]) == 1.0
    assert round(result.n_evaluated.mean(), 2) == 5.07


@pytest.mark.compiled
def test_madelon_gives_the_published_accuracy(shared: Path) -> None:
    X, y = load(shared, "madelon")
    model = ETANA(0.01, n_bins="classes", binning="quantile", ordering="error", prior="empirical")
    result = model.fit(X[:2000], y[:2000]).classify(X[2000:])
    assert round(float(np.mean(result.labels == y[2000:])), 4) == 0.6233
    assert round(result.n_evaluated.mean(), 2) == 2.04
