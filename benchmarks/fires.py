"""FIRES: the GLM against the printed formulas in NumPy and one read of the batch; net and tree against torch."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr
from threadpoolctl import threadpool_limits

from benchmarks.table import Row, best_times
from streamsift.rows.fires import FIRES

Floats = NDArray[Any]
RATE = 0.01


@njit(fastmath=True, cache=True)
def _read(X: Floats) -> float:
    """One read of the batch at the speed numba can."""
    total = 0.0
    for i in range(X.shape[0]):
        row, part = X[i], X.dtype.type(0)
        for j in range(row.size):
            part += row[j]
        total += part
    return total


class _Printed:
    """The formulas of 2.1.1 as they are printed, for all rows at once: temporaries of rows x features."""

    def __init__(self, n_features: int) -> None:
        self.mu, self.sigma = np.zeros(n_features), np.ones(n_features)

    def step(self, X: Floats, y: Floats) -> None:
        dot = np.dot(X, self.mu)
        rho = np.sqrt(1 + np.dot(X**2, self.sigma**2))
        phi = np.exp(-0.5 * (y / rho * dot) ** 2) / np.sqrt(2 * np.pi)
        marginal = ndtr(y / rho * dot)
        of_mu = phi[:, None] * (y / rho)[:, None] * X
        of_sigma = phi[:, None] * (y / (-2 * rho**3))[:, None] * 2 * X**2 * self.sigma * dot[:, None]
        self.mu += RATE * np.mean(of_mu / marginal[:, None], axis=0)
        self.sigma += RATE * np.mean(of_sigma / marginal[:, None], axis=0)
        self.sigma[self.sigma < 0] = 0


class _Vectorised:
    """The best we know in NumPy: four matrix-vector products, one squared copy."""

    def __init__(self, n_features: int) -> None:
        self.mu, self.sigma = np.zeros(n_features), np.ones(n_features)

    def step(self, X: Floats, y: Floats) -> None:
        squared = X * X
        dot = X @ self.mu
        rho_squared = 1.0 + squared @ (self.sigma * self.sigma)
        t = y * dot / np.sqrt(rho_squared)
        mills = np.exp(-0.5 * t * t - 0.5 * np.log(2 * np.pi) - log_ndtr(t)) / len(y)
        self.mu += RATE * ((y * mills / np.sqrt(rho_squared)) @ X)
        self.sigma -= RATE * self.sigma * ((mills * t / rho_squared) @ squared)
        np.maximum(self.sigma, 0.0, out=self.sigma)


def _times(batches: list[Any], *steps: Callable[[Any, Any], Any], repeats: int) -> list[float]:
    """Seconds per batch, best of several rounds; in a round each contestant in turn takes all batches.

    So nobody meets a batch that another has just read, nor for every batch a cache full of another's temporaries.
    """

    def take_all(step: Callable[[Any, Any], Any]) -> Callable[[], Any]:
        return lambda: [step(*batch) for batch in batches]

    return [seconds / len(batches) for seconds in best_times(*map(take_all, steps), repeats=repeats)]


def _glm(rng: np.random.Generator, quick: bool) -> list[Row]:
    y = np.where(np.arange(100) % 2, 1.0, -1.0)
    repeats = 3 if quick else 15
    batches = [(rng.random((100, 5000)), y) for _ in range(5)]
    ours, printed, vectorised = FIRES(scale=None), _Printed(5000), _Vectorised(5000)
    scaled, standard = FIRES(scale="minmax"), FIRES()
    steps = (ours.partial_fit, printed.step, vectorised.step, scaled.partial_fit, lambda X, _: _read(X))
    mine, slow, fast, with_scaling, read = _times(batches, *steps, repeats=repeats)
    # In rounds of its own: it writes as much as it reads, and the others would meet colder caches than before.
    standardised, beside = _times(batches, standard.partial_fit, vectorised.step, repeats=repeats)
    name, limit = "GLM, 5,000 features, batch 100", "one read of the batch"
    rows = [
        Row(name, mine * 1e3, slow * 1e3, "printed formulas in NumPy", slow / mine, 30.0, "ms"),
        Row(name, mine * 1e3, fast * 1e3, "vectorised NumPy", fast / mine, 4.0, "ms"),
        Row(name, with_scaling * 1e3, fast * 1e3, "vectorised NumPy, unscaled", fast / with_scaling, None, "ms",
            "with running min-max scaling"),
        Row(name, standardised * 1e3, beside * 1e3, "vectorised NumPy, unscaled", beside / standardised, None, "ms",
            "with running standardisation"),
        Row(name, mine * 1e3, read * 1e3, limit, read / mine, None, "ms"),
    ]  # fmt: skip
    for dtype in (np.float64, np.float32):
        batches = [(rng.random((100, 50_000)).astype(dtype), y) for _ in range(3)]
        ours, scaled = FIRES(scale=None), FIRES(scale="minmax")
        steps = (ours.partial_fit, lambda X, _: _read(X), scaled.partial_fit)
        mine, read, with_scaling = _times(batches, *steps, repeats=repeats)
        name = "GLM, 50,000 features, batch 100"
        kind = np.dtype(dtype).name
        wanted = 0.6 if dtype is np.float64 else None
        rows.append(Row(name, mine * 1e3, read * 1e3, limit, read / mine, wanted, "ms", kind))
        note = f"{kind}, with running min-max scaling"
        rows.append(Row(name, with_scaling * 1e3, read * 1e3, limit, read / with_scaling, None, "ms", note))
    return rows


def _torch_net(n_features: int, dtype: Any) -> Callable[[Any, Any], None]:
    """One FIRES step of the 3 x 100 net in torch: samples in one batched product per layer, autograd, update, clip."""
    import torch

    sizes = [n_features, 100, 100, 100, 2]
    shapes = [shape for a, b in itertools.pairwise(sizes) for shape in ((a, b), (1, b))]
    mu = [torch.zeros(shape, dtype=dtype, requires_grad=True) for shape in shapes]
    sigma = [torch.ones(shape, dtype=dtype, requires_grad=True) for shape in shapes]

    def step(X: Any, y: Any) -> None:
        theta = [m + s * torch.randn(5, *m.shape, dtype=dtype) for m, s in zip(mu, sigma, strict=True)]
        signal = torch.matmul(X, theta[0]) + theta[1]
        for weight, bias in zip(theta[2::2], theta[3::2], strict=True):
            signal = torch.baddbmm(bias, torch.relu(signal) * 0.1, weight)
        _torch_update(signal, y, mu, sigma)

    return step


def _torch_tree(n_features: int, dtype: Any) -> Callable[[Any, Any], None]:
    """One FIRES step of the tree of depth 3 in torch."""
    import torch

    mu = [torch.zeros(shape, dtype=dtype, requires_grad=True) for shape in ((n_features, 7), (1, 7), (8, 2))]
    sigma = [torch.ones(m.shape, dtype=dtype, requires_grad=True) for m in mu]

    def step(X: Any, y: Any) -> None:
        inner, bias, leaves = (m + s * torch.randn(5, *m.shape, dtype=dtype) for m, s in zip(mu, sigma, strict=True))
        first = torch.sigmoid(torch.matmul(X, inner) + bias)
        reach, penalty = torch.ones(5, len(X), 1, dtype=dtype), torch.zeros((), dtype=dtype)
        for layer in range(3):
            p = first[:, :, 2**layer - 1 : 2 ** (layer + 1) - 1]
            share = (reach * p).sum(dim=1) / reach.sum(dim=1)
            penalty = penalty - 0.01 * 2.0**-layer / 5 * (torch.log(share) + torch.log(1 - share)).sum()
            reach = torch.stack([reach * p, reach * (1 - p)], dim=3).flatten(2)
        _torch_update(torch.bmm(reach, leaves), y, mu, sigma, penalty)

    return step


def _torch_update(logits: Any, y: Any, mu: list[Any], sigma: list[Any], penalty: Any = 0.0) -> None:
    import torch

    of_label = torch.log_softmax(logits, dim=2)[:, torch.arange(len(y)), y]
    objective = torch.logsumexp(of_label, dim=0).mean() - penalty
    gradients = torch.autograd.grad(objective, mu + sigma)
    with torch.no_grad():
        for parameter, gradient in zip(mu + sigma, gradients, strict=True):
            parameter += RATE * gradient
        for parameter in sigma:
            parameter.clamp_(min=0)


def _monte_carlo(rng: np.random.Generator, quick: bool) -> list[Row]:
    import torch

    torch.set_num_threads(1)
    rows = []
    y = np.arange(100) % 2
    for kind, dtype in (("float32", torch.float32), ("float64", torch.float64)):
        X = rng.random((100, 1000)).astype(kind)
        X_torch, y_torch = torch.tensor(X), torch.tensor(y)
        peers = (("ann", "ANN 3 x 100, L = 5", _torch_net, 1.5), ("sdt", "SDT depth 3, L = 5", _torch_tree, 2.0))
        for model, name, peer, wanted in peers:
            ours, step = FIRES.paper(model, scale=None, random_state=0), peer(1000, dtype)
            mine, theirs = best_times(
                lambda s=ours, X=X: s.partial_fit(X, y),
                lambda s=step, X=X_torch, y=y_torch: s(X, y),
                repeats=5 if quick else 40,
            )
            title = f"{name}, 1,000 features, batch 100"
            rows.append(Row(title, mine * 1e3, theirs * 1e3, "torch", theirs / mine, wanted, "ms", kind))
    return rows


def run(quick: bool) -> list[Row]:
    """Everything on one thread, side by side."""
    rng = np.random.default_rng(0)
    with threadpool_limits(1):
        return _glm(rng, quick) + _monte_carlo(rng, quick)
