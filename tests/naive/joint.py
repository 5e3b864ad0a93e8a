"""Naive twins of the joint rules, on whole data: loops over rows and refits, nothing that runs."""

from __future__ import annotations

import itertools

import numpy as np


def columns_of(y, classes=None):
    """The target as columns: the numbers themselves, or 0 and 1 for each class."""
    y = np.asarray(y)
    return y[:, None].astype(float) if classes is None else np.array([[float(v == c) for c in classes] for v in y])


def cross_moments(X, Y, weights):
    """Weight, mean and cross products of each pair of columns over the rows that have both, one pair at a time."""
    Z = np.hstack([X, Y])
    n, p = Z.shape
    weight, mean, cross = np.zeros((p, p)), np.zeros((p, p)), np.zeros((p, p))
    for j, k in itertools.product(range(p), repeat=2):
        rows = [i for i in range(n) if not np.isnan(Z[i, j]) and not np.isnan(Z[i, k])]
        w = sum(weights[i] for i in rows)
        weight[j, k] = w
        if w == 0:
            continue
        a, b = (sum(weights[i] * Z[i, c] for i in rows) / w for c in (j, k))
        mean[j, k] = a
        cross[j, k] = sum(weights[i] * (Z[i, j] - a) * (Z[i, k] - b) for i in rows)
    return weight, mean, cross


def residual(X, Y, columns):
    """Squared errors of least squares with an intercept, over all targets."""
    design = np.column_stack([np.ones(len(X)), *(X[:, j] for j in columns)])
    beta = np.linalg.lstsq(design, Y, rcond=None)[0]
    return float(((Y - design @ beta) ** 2).sum())


def forward(X, Y, k):
    """Stepwise least squares: refit with every further column, keep the best; (order, gains as shares)."""
    total, order, gains = residual(X, Y, []), [], []
    before = total
    for _ in range(k):
        errors = {j: residual(X, Y, [*order, j]) for j in range(X.shape[1]) if j not in order}
        best = min(errors, key=lambda j: errors[j])
        order.append(best)
        gains.append((before - errors[best]) / total)
        before = errors[best]
    return order, gains


def standardised(X, Y):
    """Columns of mean 0 and variance 1; targets of mean 0 whose variances add up to 1."""
    Y = Y - Y.mean(axis=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), Y / np.sqrt((Y**2).mean(axis=0).sum())


def mrmr(X, Y, k):
    """F over the mean absolute correlation with those taken."""
    Z, T = standardised(X, Y)
    n, p = Z.shape
    order = []
    for _ in range(k):
        best, value = None, -1.0
        for j in range(p):
            if j in order:
                continue
            alone = sum(float(Z[:, j] @ T[:, t] / n) ** 2 for t in range(T.shape[1]))
            worth = alone / (1 - alone)
            redundancy = np.mean([abs(Z[:, j] @ Z[:, o] / n) for o in order]) if order else 1e-3
            worth /= max(redundancy, 1e-3)
            if worth > value:
                best, value = j, worth
        order.append(best)
    return order


def mcp_penalty(b, a, gamma):
    """The minimax concave penalty of one coefficient."""
    b = abs(b)
    return a * b - b * b / (2 * gamma) if b <= gamma * a else gamma * a * a / 2


def mcp_loss(Z, t, beta, a, gamma):
    """Half the mean squared error plus the penalty."""
    return float(((t - Z @ beta) ** 2).mean() / 2 + sum(mcp_penalty(b, a, gamma) for b in beta))


def mcp(Z, t, a, gamma, start, sweeps=2000):
    """Coordinate descent on the rows themselves; the columns have variance 1."""
    beta, n = np.array(start, float), len(Z)
    for _ in range(sweeps):
        for j in range(Z.shape[1]):
            rest = t - Z @ beta + Z[:, j] * beta[j]
            z = float(Z[:, j] @ rest / n)
            if abs(z) > gamma * a:
                beta[j] = z
            else:
                beta[j] = np.sign(z) * max(abs(z) - a, 0.0) / (1 - 1 / gamma)
    return beta


def fsa(X, Y, k, n_steps, annealing, momentum):
    """Gradient steps on the rows themselves, after each of which the smallest coefficients are dropped."""
    Z, T = standardised(X, Y)
    n, p = Z.shape
    size = 1.0 / np.linalg.norm(Z, 2) ** 2 * n
    beta, speed, alive = np.zeros((p, T.shape[1])), np.zeros((p, T.shape[1])), list(range(p))
    for e in range(1, n_steps + 1):
        missed = Z[:, alive] @ beta[alive] - T
        for j in alive:
            speed[j] = momentum * speed[j] - size * (Z[:, j] @ missed / n)
        for j in alive:
            beta[j] = beta[j] + speed[j]
        left = k + int((p - k) * max(0.0, (n_steps - 2 * e) / (2 * e * annealing + n_steps)))
        alive = sorted(sorted(alive, key=lambda j: -float(beta[j] @ beta[j]))[:left])
    return sorted(alive, key=lambda j: -float(beta[j] @ beta[j]))


def step_p_value(X, y, taken, column, classes):
    """Does a column tell anything about y beyond those taken? By two regressions of the column, on rows."""
    from scipy import stats

    y = np.asarray(y)
    Y = np.column_stack([y == c for c in np.unique(y)[1:]]).astype(float) if classes else y[:, None].astype(float)
    base = np.column_stack([np.ones(len(X)), X[:, taken]])
    left = []
    for design in (base, np.column_stack([base, Y])):
        beta = np.linalg.lstsq(design, X[:, column], rcond=None)[0]
        left.append(np.sum((X[:, column] - design @ beta) ** 2))
    above, below = Y.shape[1], len(X) - base.shape[1] - Y.shape[1]
    return float(stats.f.sf((left[0] - left[1]) / above / (left[1] / below), above, below))
