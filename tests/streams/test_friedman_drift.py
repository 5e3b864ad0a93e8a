"""friedman_drift: the function, its truth, and who finds it."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift import Joint, ParameterError, Screener
from streamsift.streams import generate, task_of
from streamsift.streams.generators.friedman_drift import FriedmanDrift


def test_the_target_is_friedmans_function_of_the_roles() -> None:
    stream = generate("friedman_drift", n_rows=60, seed=3, n_features=8, shift_every=25, shift_by=3, noise=0.0)
    X = np.vstack([batch.X for batch in stream.batches(7)])
    y = np.concatenate([batch.y for batch in stream.batches(7)])
    for row in range(60):
        first = 3 * (row // 25)
        a, b, c, d, e = (X[row, (first + role) % 8] for role in range(5))
        expected = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
        assert y[row] == pytest.approx(expected, rel=1e-12)
    assert ((X >= 0.0) & (X < 1.0)).all()


def test_truth_and_drifts_go_with_the_batches() -> None:
    stream = generate("friedman_drift", n_rows=300, n_features=12, shift_every=100)
    assert [(batch.relevant.tolist(), batch.drifting) for batch in stream.batches(100)] == [
        ([0, 1, 2, 3, 4], False),
        ([5, 6, 7, 8, 9], True),
        ([0, 1, 2, 10, 11], True),
    ]
    assert [drift.row for drift in stream.drifts] == [100, 200]
    assert stream.segments()[1].relevant == (5, 6, 7, 8, 9)


def test_noise_and_seed() -> None:
    def target(seed: int, noise: float, size: int = 500) -> np.ndarray:
        stream = generate("friedman_drift", n_rows=2000, seed=seed, noise=noise)
        return np.concatenate([batch.y for batch in stream.batches(size)])

    np.testing.assert_array_equal(target(1, 1.0), target(1, 1.0, 37))
    assert not np.array_equal(target(1, 1.0), target(2, 1.0))
    assert np.std(target(1, 2.0) - target(1, 0.0)) == pytest.approx(2.0, rel=0.1)
    assert task_of(target(1, 1.0)).task == "regression"


def test_options_are_checked() -> None:
    for options in ({"n_features": 4}, {"shift_every": 0}, {"shift_by": 0}, {"noise": -1.0}):
        with pytest.raises(ParameterError, match="parameter of friedman_drift"):
            FriedmanDrift(**options)


@pytest.mark.parametrize("method", ["correlation", "forward"])
def test_faded_selectors_follow_the_roles(method: str) -> None:
    settings = {"task": "regression", "n_features_to_select": 4, "fading": 0.99}
    selector = Screener(method, **settings) if method == "correlation" else Joint(method, **settings)
    for batch in generate("friedman_drift", n_rows=6000, seed=0, n_features=20, shift_every=3000).batches(500):
        selector.partial_fit(batch)
        if batch.drifting:
            continue
        found = set(selector.get_support(indices=True).tolist())
        assert len(found & set(batch.relevant.tolist())) >= 3  # the square around the middle has no correlation


def _friedman(a: float, b: float, c: float, d: float, e: float) -> float:
    return float(10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e)


def _rows_of(variant: str, **options: object) -> tuple[np.ndarray, np.ndarray]:
    batches = list(generate("friedman_drift", variant=variant, noise=0.0, **options).batches(64))
    return np.vstack([batch.X for batch in batches]), np.concatenate([batch.y for batch in batches])


def test_gra_changes_the_roles_and_changes_them_back() -> None:
    X, y = _rows_of("gra", n_rows=90, positions=[20, 60], seed=4)
    for row, (x, value) in enumerate(zip(X, y, strict=True)):
        roles = (3, 5, 1, 0, 2) if 20 <= row < 60 else (0, 1, 2, 3, 4)
        assert value == pytest.approx(_friedman(*x[list(roles)]), rel=1e-12)
    stream = generate("friedman_drift", variant="gra", n_rows=90, positions=[20, 60])
    assert [segment.relevant for segment in stream.segments()] == [(0, 1, 2, 3, 4), (0, 1, 2, 3, 5), (0, 1, 2, 3, 4)]
    assert [batch.drifting for batch in stream.batches(10)] == [row in (20, 60) for row in range(0, 90, 10)]


def test_gsg_mixes_two_concepts_for_a_while() -> None:
    X, y = _rows_of("gsg", n_rows=1200, positions=[300, 700], width=200, seed=1)
    roles = ((0, 1, 2, 3, 4), (3, 4, 1, 0, 2), (1, 4, 3, 2, 0))
    values = np.array([[_friedman(*x[list(one)]) for one in roles] for x in X])
    followed = np.isclose(values, y[:, None], rtol=1e-12).argmax(axis=1)
    assert (followed[:300] == 0).all()
    assert (followed[500:700] == 1).all()
    assert (followed[900:] == 2).all()
    assert 0.4 < (followed[300:500] == 1).mean() < 0.6
    assert set(followed[300:500]) == {0, 1}
    assert 0.4 < (followed[700:900] == 2).mean() < 0.6
    assert set(followed[700:900]) == {1, 2}
    drifts = generate("friedman_drift", variant="gsg", n_rows=1200, positions=[300, 700], width=200).drifts
    assert [(drift.row, drift.first, drift.last) for drift in drifts] == [(300, 300, 499), (700, 700, 899)]


def test_lea_changes_the_function_in_regions_that_grow() -> None:
    def expected(x: np.ndarray, row: int) -> float:  # written down region by region
        n_changes = sum(row >= start for start in (1000, 2000, 3000))
        first = x[1] < 0.3 and x[2] < 0.3 and (n_changes > 1 or x[4] < 0.3) and (n_changes > 2 or x[3] > 0.7)
        second = x[1] > 0.7 and x[2] > 0.7 and (n_changes > 1 or x[4] > 0.7) and (n_changes > 2 or x[3] < 0.3)
        if n_changes and first:
            return float(10 * x[0] * x[1] + 20 * (x[2] - 0.5) + 10 * x[3] + 5 * x[4])
        if n_changes and second:
            return float(10 * np.cos(x[0] * x[1]) + 20 * (x[2] - 0.5) + np.exp(x[3]) + 5 * x[4] ** 2)
        return _friedman(*x[:5])

    X, y = _rows_of("lea", n_rows=4000)
    np.testing.assert_allclose(y, [expected(x, row) for row, x in enumerate(X)], rtol=1e-12)
    usual = np.array([_friedman(*x[:5]) for x in X])
    shares = [(y != usual)[start : start + 1000].mean() for start in range(0, 4000, 1000)]
    assert shares[0] < 0.01 < shares[1] + 0.01 < shares[2] + 0.01 < shares[3]  # rounding aside, none before


@pytest.mark.parametrize("variant", ["gra", "gsg", "lea"])
def test_variants_give_the_same_rows_for_every_cut(variant: str) -> None:
    stream = generate("friedman_drift", n_rows=2500, variant=variant, seed=2)
    whole, parts = next(stream.batches(2500)), list(stream.batches(333))
    np.testing.assert_array_equal(whole.y, np.concatenate([part.y for part in parts]))
    assert all(set(part.relevant) <= set(range(6)) for part in parts)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variant": "gra", "n_features": 5}, "'n_features' parameter of friedman_drift must be"),
        ({"variant": "gra", "positions": [5]}, "must be 2 row numbers for variant='gra'"),
        ({"variant": "lea", "positions": [5, 4, 9]}, "increasing row numbers"),
        ({"variant": "gsg", "positions": [5, 9], "width": 10}, "at most the distance of two drifts, 4 rows"),
        ({"variant": "lea", "width": 3}, "is for variant='gsg'"),
        ({"positions": [5]}, "set 'shift_every' instead"),
        ({"variant": "sudden"}, "'variant' parameter of friedman_drift must be"),
    ],
)
def test_options_of_variants_are_checked(options: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        generate("friedman_drift", n_rows=100, **options)
