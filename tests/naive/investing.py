"""Investing and penalties as the paper states them: one column at a time, every fit from scratch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats


class Answer(NamedTuple):
    """One decision."""

    accepted: bool
    statistic: float
    wealth: float


def rss(Z: Any, y: Any, weight: Any) -> float:
    """Residual sum of squares of weighted least squares."""
    root = np.sqrt(weight)
    coefficients = np.linalg.lstsq(Z * root[:, None], y * root, rcond=None)[0]
    return float(np.sum(weight * (y - Z @ coefficients) ** 2))


def gaussian_gain(Z: Any, x: Any, y: Any, weight: Any) -> float:
    """Twice the gain in log-likelihood by adding the columns x to the design Z."""
    return float(weight.sum()) * float(np.log(rss(Z, y, weight) / rss(np.column_stack([Z, x]), y, weight)))


def log_likelihood(theta: Any, Z: Any, y: Any, weight: Any, n_classes: int) -> float:
    """Of a multinomial logistic model whose last class is the reference."""
    logits = np.column_stack([Z @ theta.reshape(n_classes - 1, -1).T, np.zeros(len(y))])
    logits = logits - logits.max(axis=1, keepdims=True)
    return float(weight @ (logits[np.arange(len(y)), y] - np.log(np.exp(logits).sum(axis=1))))


def derivatives(theta: Any, Z: Any, y: Any, weight: Any, n_classes: int) -> tuple[Any, Any]:
    """Gradient and information, row by row."""
    size = Z.shape[1]
    gradient = np.zeros(theta.size)
    information = np.zeros((theta.size, theta.size))
    for row in range(len(y)):
        logits = np.append(theta.reshape(n_classes - 1, -1) @ Z[row], 0.0)
        p = np.exp(logits - logits.max())
        p = (p / p.sum())[:-1]
        slope = (np.arange(n_classes - 1) == y[row]) - p
        gradient += weight[row] * np.kron(slope, Z[row])
        information += weight[row] * np.kron(np.diag(p) - np.outer(p, p), np.outer(Z[row], Z[row]))
    assert size * (n_classes - 1) == theta.size
    return gradient, information


def logistic_fit(Z: Any, y: Any, weight: Any, n_classes: int) -> tuple[Any, float]:
    """Newton's method from 0 with halved steps."""
    theta = np.zeros((n_classes - 1) * Z.shape[1])
    best = log_likelihood(theta, Z, y, weight, n_classes)
    for _ in range(40):
        gradient, information = derivatives(theta, Z, y, weight, n_classes)
        step = np.linalg.solve(information, gradient)
        while log_likelihood(theta + step, Z, y, weight, n_classes) < best and np.abs(step).max() > 1e-12:
            step = step / 2
        theta = theta + step
        best = log_likelihood(theta, Z, y, weight, n_classes)
        if np.abs(step).max() < 1e-10:
            break
    return theta, best


def score_statistic(Z: Any, x: Any, y: Any, weight: Any, n_classes: int) -> float:
    """Rao's score test of the columns x beside the design Z."""
    theta, _ = logistic_fit(Z, y, weight, n_classes)
    full = np.column_stack([Z, x])
    padded = np.column_stack([theta.reshape(n_classes - 1, -1), np.zeros((n_classes - 1, full.shape[1] - Z.shape[1]))])
    gradient, information = derivatives(padded.ravel(), full, y, weight, n_classes)
    return float(gradient @ np.linalg.solve(information, gradient))


def likelihood_ratio(Z: Any, x: Any, y: Any, weight: Any, n_classes: int) -> float:
    """Twice the gain in log-likelihood of the logistic fits."""
    after = logistic_fit(np.column_stack([Z, x]), y, weight, n_classes)[1]
    return 2.0 * (after - logistic_fit(Z, y, weight, n_classes)[1])


def select(
    X: Any,
    y: Any,
    rule: str,
    *,
    weight: Any = None,
    wealth: float = 0.5,
    payoff: float = 0.5,
    coefficient_bits: float = 0.0,
    n_columns: int | None = None,
    model: str = "linear",
) -> list[Answer]:
    """Decisions on the columns of X under a rule: iic, iic:tail, alpha, aic, bic or ric."""
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    n = float(weight.sum())
    n_classes = int(np.max(y)) + 1 if model == "logistic" else 2
    df = n_classes - 1
    Z = np.ones((len(y), 1))
    answers = []
    for i in range(1, X.shape[1] + 1):
        x = X[:, i - 1]
        bid = min(wealth / (2 * i), 0.5)
        threshold = {
            "aic": 2.0 * df,
            "bic": df * np.log(n),
            "ric": df * 2.0 * np.log(n_columns or i),
            "iic": 2 * np.log(2) * (payoff + coefficient_bits * df - np.log2(bid)),
        }.get(rule)
        if rule == "iic":
            threshold = stats.chi2.isf(stats.chi2.sf(threshold, 1), df)
        if model == "linear":
            statistic = gaussian_gain(Z, x, y, weight)
            if threshold is None:  # F test; F is a function of the gain
                freedom = n - Z.shape[1] - 1
                f = freedom * np.expm1(statistic / n)
                accepted = bool(stats.f.sf(f, 1, freedom) < bid)
            else:
                accepted = statistic >= threshold
        else:
            statistic = score_statistic(Z, x, y, weight, n_classes)
            needed = stats.chi2.isf(bid, df) if threshold is None else threshold
            accepted = statistic >= needed
            if accepted:
                statistic = likelihood_ratio(Z, x, y, weight, n_classes)
                accepted = statistic >= needed
        if accepted:
            wealth += payoff - (bid if rule == "alpha" else 0.0)
            Z = np.column_stack([Z, x])
        else:
            wealth -= bid
        answers.append(Answer(bool(accepted), statistic, wealth))
    return answers
