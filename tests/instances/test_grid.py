"""The dynamic program: ranks, exact values, agreement of the kernels, the certificate, and what is refused."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest
from tests.naive import etana as naive

from streamsift.core.exceptions import ParameterError
from streamsift.instances import grid as grids
from streamsift.instances.etana import ETANA
from streamsift.instances.grid import Grid, go_on_any, intervals, make_grid, refuse_too_large, solve
from streamsift.kernels.instances import interpolate, nearest

RANDOM = np.random.default_rng(3)


def problem(n_classes: int, n_features: int, n_bins: int, sharpness: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    tables = RANDOM.dirichlet(np.full(n_bins, sharpness), (n_features, n_classes)).transpose(0, 2, 1)
    flat = np.ascontiguousarray(tables.reshape(-1, n_classes))
    return flat, np.arange(0, n_features * n_bins + 1, n_bins)


def value_at(grid: Grid, value: np.ndarray, posterior: np.ndarray) -> float:
    n = len(posterior)
    return interpolate(posterior, *grid.ranks, value, np.empty(n), np.empty(n, np.int64))


@pytest.mark.parametrize(("n_classes", "steps"), [(2, 7), (3, 6), (4, 5), (6, 3)])
def test_points_are_compositions_and_know_their_rank(n_classes: int, steps: int) -> None:
    grid = make_grid(n_classes, steps)
    assert np.round(grid.points * steps).astype(int).tolist() == [
        list(point) for point in naive.compositions(steps, n_classes)
    ]
    own = np.arange(len(grid.points), dtype=float)
    for rank, point in enumerate(grid.points):
        assert value_at(grid, own, point) == pytest.approx(rank, abs=1e-9)
        parts, rest = np.empty(n_classes, np.int64), np.empty(n_classes)
        every = np.arange(n_classes)
        assert nearest(point, every, *grid.ranks, parts, rest) == rank
        parts[:] = 0
        assert nearest(point, np.flatnonzero(point), *grid.ranks, parts, rest) == rank


@pytest.mark.parametrize(("n_classes", "steps"), [(2, 10), (3, 8), (5, 4)])
def test_linear_functions_are_interpolated_exactly(n_classes: int, steps: int) -> None:
    grid, slope = make_grid(n_classes, steps), RANDOM.normal(size=n_classes)
    for posterior in RANDOM.dirichlet(np.ones(n_classes), 200):
        assert value_at(grid, grid.points @ slope, posterior) == pytest.approx(posterior @ slope, abs=1e-12)


def test_rounding_is_by_largest_remainder() -> None:
    grid, own = make_grid(4, 10), naive.compositions(10, 4)
    for posterior in RANDOM.dirichlet(np.ones(4), 300):
        parts, rest = np.empty(4, np.int64), np.empty(4)
        rank = nearest(posterior, np.arange(4), *grid.ranks, parts, rest)
        assert own[rank] == naive.largest_remainder(posterior.tolist(), 10)


@pytest.mark.compiled
@pytest.mark.parametrize(("n_classes", "steps", "tolerance"), [(2, 2000, 1e-5), (3, 150, 1e-3), (4, 40, 5e-3)])
def test_values_equal_following_every_outcome(n_classes: int, steps: int, tolerance: float) -> None:
    likelihood, bin_start = problem(n_classes, 5, 2)
    risk = RANDOM.uniform(0.5, 2.0, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    cost, available = RANDOM.uniform(0.01, 0.05, 5), np.array([1.0, 0.7, 1.0, 0.4, 1.0])
    grid = make_grid(n_classes, steps)
    solution = solve(grid, likelihood, bin_start, cost, available, risk, rounded=False)
    first = np.minimum(solution.stop, solution.going_on[0])
    tables = likelihood.reshape(5, 2, n_classes).tolist()
    for posterior in RANDOM.dirichlet(np.ones(n_classes), 6):
        wanted = naive.best_cost(posterior.tolist(), tables, cost.tolist(), available.tolist(), risk.tolist())
        assert value_at(grid, first, posterior) == pytest.approx(wanted, abs=tolerance)
        assert value_at(grid, first, posterior) <= wanted + 1e-12  # concave: interpolation is never too high


@pytest.mark.parametrize(("n_classes", "steps"), [(2, 50), (3, 20)])
def test_the_special_kernels_equal_the_general_one(n_classes: int, steps: int) -> None:
    likelihood, bin_start = problem(n_classes, 8, 3)
    cost, available, risk = np.full(8, 0.01), RANDOM.uniform(0.5, 1.0, 8), 1.0 - np.eye(n_classes)
    grid = make_grid(n_classes, steps)
    special = solve(grid, likelihood, bin_start, cost, available, risk, rounded=False)
    values, table = special.stop[None].copy(), np.empty_like(special.going_on)
    for k in range(7, -1, -1):
        bins = likelihood[bin_start[k] : bin_start[k + 1]]
        table[k] = go_on_any(grid, bins, cost[k], available[k], values, False)[0]
        np.minimum(special.stop, values, out=values)
    np.testing.assert_allclose(special.going_on, table, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rounded", [True, False])
def test_two_costs_at_the_end_are_solved_as_each_alone(rounded: bool) -> None:
    likelihood, bin_start = problem(4, 6, 3)
    grid, risk, cost = make_grid(4, 5), 1.0 - np.eye(4), np.full(6, 0.02)
    stop = (grid.points @ risk).min(axis=1)

    def solved(ends: Any) -> tuple[Any, Any]:
        values, table = np.array(ends), np.empty((6, len(stop)))
        for k in range(5, -1, -1):
            bins = likelihood[bin_start[k] : bin_start[k + 1]]
            table[k] = go_on_any(grid, bins, cost[k], 0.8, values, rounded)[0]
            np.minimum(stop, values, out=values)
        return values, table

    both, table = solved([stop, np.minimum(stop, 0.1)])
    np.testing.assert_array_equal(both[:1], solved([stop])[0])
    np.testing.assert_array_equal(table, solved([stop])[1])
    np.testing.assert_array_equal(both[1:], solved([np.minimum(stop, 0.1)])[0])


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_rounded_program_equals_the_naive_one(n_classes: int) -> None:
    likelihood, bin_start = problem(n_classes, 4, 3)
    cost, risk = np.full(4, 0.02), 1.0 - np.eye(n_classes)
    solution = solve(make_grid(n_classes, 10), likelihood, bin_start, cost, np.ones(4), risk, rounded=True)
    wanted = naive.rounded_program(likelihood.reshape(4, 3, n_classes).tolist(), cost.tolist(), risk.tolist(), 10)
    np.testing.assert_allclose(solution.going_on, [list(stage.values()) for stage in wanted], rtol=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_certified_part_has_the_value_of_the_whole(n_classes: int) -> None:
    likelihood, bin_start = problem(n_classes, 600, 2, sharpness=20.0)
    cost, risk, grid = np.full(600, 0.02), 1.0 - np.eye(n_classes), make_grid(n_classes, 30)
    short = solve(grid, likelihood, bin_start, cost, np.ones(600), risk, rounded=False)
    whole = solve(grid, likelihood, bin_start, cost, np.ones(600), risk, rounded=False, first_stages=600)
    assert len(short.going_on) < 600 == len(whole.going_on)
    assert short.gap <= grids.MEETING < 1e-6
    np.testing.assert_allclose(short.going_on[0], whole.going_on[0], atol=2 * grids.MEETING)


def test_free_features_leave_nothing_to_certify() -> None:
    likelihood, bin_start = problem(2, 200, 2, sharpness=5000.0)  # each tells next to nothing, so all may matter
    solution = solve(make_grid(2, 50), likelihood, bin_start, np.zeros(200), np.ones(200), 1 - np.eye(2), rounded=False)
    assert len(solution.going_on) == 200
    assert solution.gap == 0.0


def test_intervals_are_where_going_on_is_cheaper() -> None:
    likelihood, bin_start = problem(2, 6, 2)
    grid = make_grid(2, 1000)
    solution = solve(grid, likelihood, bin_start, np.full(6, 0.03), np.ones(6), 1 - np.eye(2), rounded=False)
    found = intervals(solution)
    for k in range(6):
        cheaper = solution.going_on[k] < solution.stop
        for p, better in zip(grid.points[1:-1, 0], cheaper[1:-1], strict=True):
            inside = found[k, 0] < log(p / (1 - p)) < found[k, 1]
            assert inside == better, (k, p)


def test_a_grid_that_does_not_fit_is_refused_with_its_size_and_the_way_out() -> None:
    with pytest.raises(ParameterError, match=r"11 classes in steps of 1/40 has .* points.*use FETANA"):
        refuse_too_large(11, 40, 1)
    X, y = RANDOM.normal(size=(60, 3)), np.arange(60) % 12
    model = ETANA(resolution=30)
    with pytest.raises(ParameterError, match="GiB: use FETANA"):
        model.fit(X, y)
    assert not hasattr(model, "classes_")
    known = ETANA(resolution=30).partial_fit(X[:2], y[:2])
    before = known.state_arrays()
    with pytest.raises(ParameterError, match="use FETANA"):
        known.partial_fit(X, y)
    assert known.classes_.tolist() == [0, 1]
    assert all(np.array_equal(before[name], array) for name, array in known.state_arrays().items())
