"""FIRES with the probit model, written from the paper row by row; and log marginal likelihoods to differentiate."""

from __future__ import annotations

import math


def log_phi_over_cdf(t):
    """phi(t) / Phi(t) from logs, for a single number."""
    if t > -30.0:
        return math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi) / (0.5 * math.erfc(-t / math.sqrt(2.0)))
    x = -t
    return x + 1 / (x + 2 / (x + 3 / (x + 4 / x)))


class NaiveFires:
    """Two classes coded -1 and +1; X as it is, scaled by the range so far, or by mean and deviation of all rows so far.

    `scale` is None, "minmax" or "standard".
    """

    def __init__(self, n_features, *, mu=0.0, sigma=1.0, rate_mu=0.01, rate_sigma=0.01, epochs=1, scale=None):
        self.mu, self.sigma = [mu] * n_features, [sigma] * n_features
        self.rate_mu, self.rate_sigma, self.epochs, self.scale = rate_mu, rate_sigma, epochs, scale
        self.low, self.high = [math.inf] * n_features, [-math.inf] * n_features
        self.rows, self.row_weights = [], []

    def learn(self, X, y, weight=None):
        X = [[float(value) for value in row] for row in X]
        weight = [1.0] * len(X) if weight is None else list(weight)
        n_features = len(self.mu)
        if self.scale == "standard":
            self.rows += [list(row) for row in X]
            self.row_weights += [w * len(X) / sum(weight) for w in weight]
            for j in range(n_features):
                mean, deviation = self.moments(j)
                for row in X:
                    row[j] = min(5.0, max(-5.0, (row[j] - mean) / deviation)) if deviation > 0 else 0.0
        if self.scale == "minmax":
            for row in X:
                for j, value in enumerate(row):
                    self.low[j], self.high[j] = min(self.low[j], value), max(self.high[j], value)
            for row in X:
                for j in range(n_features):
                    width = self.high[j] - self.low[j]
                    row[j] = (row[j] - self.low[j]) / width if width > 0 else 0.0
        for _ in range(self.epochs):
            of_mu, of_sigma = [0.0] * n_features, [0.0] * n_features
            for row, label, w in zip(X, y, weight, strict=True):
                dot = math.fsum(m * x for m, x in zip(self.mu, row, strict=True))
                rho = math.sqrt(1 + math.fsum((s * x) ** 2 for s, x in zip(self.sigma, row, strict=True)))
                ratio = log_phi_over_cdf(label / rho * dot)
                for j, x in enumerate(row):
                    of_mu[j] += w * ratio * label / rho * x
                    of_sigma[j] += w * ratio * label / (-2 * rho**3) * 2 * x**2 * self.sigma[j] * dot
            total = sum(weight)
            for j in range(n_features):
                self.mu[j] += self.rate_mu * of_mu[j] / total
                self.sigma[j] += self.rate_sigma * of_sigma[j] / total
        self.sigma = [max(0.0, s) for s in self.sigma]

    def moments(self, j):
        """Mean and deviation of a feature over all rows so far."""
        values, total = [row[j] for row in self.rows], math.fsum(self.row_weights)
        if len(set(values)) == 1:
            return values[0], 0.0
        mean = math.fsum(w * x for w, x in zip(self.row_weights, values, strict=True)) / total
        return mean, math.sqrt(
            math.fsum(w * (x - mean) ** 2 for w, x in zip(self.row_weights, values, strict=True)) / total
        )


def log_probit_likelihood(mu, sigma, X, y):
    """Mean log marginal likelihood of the probit model; y is -1 or +1."""
    total = 0.0
    for row, label in zip(X, y, strict=True):
        rho = math.sqrt(1 + sum((s * x) ** 2 for s, x in zip(sigma, row, strict=True)))
        t = label * sum(m * x for m, x in zip(mu, row, strict=True)) / rho
        total += math.log(0.5 * math.erfc(-t / math.sqrt(2.0)))
    return total / len(X)


def softmax(logits):
    shifted = [math.exp(value - max(logits)) for value in logits]
    return [value / sum(shifted) for value in shifted]


def net_outputs(layers, row):
    """What a ReLU net puts out; a layer is (inputs + 1, outputs), the bias last."""
    signal = list(row)
    for place, layer in enumerate(layers):
        out = [sum(s * w for s, w in zip(signal, column[:-1], strict=True)) + column[-1] for column in layer.T]
        if place == len(layers) - 1:
            return out
        signal = [max(0.0, value) / math.sqrt(len(out)) for value in out]
    raise AssertionError("a net has layers")


def net_probabilities(layers, row):
    """Class probabilities of a ReLU net."""
    return softmax(net_outputs(layers, row))


def tree_reach(inner, row, depth):
    """For each layer, the probability of each node and its chance of going to the first child; leaves last."""
    reach, chances, node = [[1.0]], [], 0
    for _ in range(depth):
        here = []
        for _ in reach[-1]:
            margin = sum(w * x for w, x in zip(inner[:-1, node], row, strict=True)) + inner[-1, node]
            here.append(1 / (1 + math.exp(-margin)))
            node += 1
        chances.append(here)
        reach.append([r * part for r, p in zip(reach[-1], here, strict=True) for part in (p, 1 - p)])
    return reach, chances


def tree_outputs(inner, leaves, row, depth):
    """What a soft tree puts out: the leaves weighted by the chances of reaching them."""
    reach = tree_reach(inner, row, depth)[0][-1]
    return [sum(r * leaf for r, leaf in zip(reach, column, strict=True)) for column in leaves.T]


def tree_probabilities(inner, leaves, row, depth):
    return softmax(tree_outputs(inner, leaves, row, depth))


def log_mean_density(outputs, z):
    """log of the mean over samples of the density of z, normal with variance 1 about each output."""
    densities = [math.exp(-0.5 * (z - out) ** 2) / math.sqrt(2.0 * math.pi) for out in outputs]
    return math.log(math.fsum(densities) / len(densities))


def tree_penalty(inner, X, depth, coefficient):
    paths = [tree_reach(inner, row, depth) for row in X]
    penalty = 0.0
    for layer in range(depth):
        for node in range(2**layer):
            reach = [path[0][layer][node] for path in paths]
            through = sum(r * path[1][layer][node] for r, path in zip(reach, paths, strict=True))
            share = through / sum(reach)
            penalty -= coefficient * 2.0**-layer * (math.log(share) + math.log(1 - share))
    return penalty


def gaussian_log_likelihood(mu, sigma, x, z):
    """log of the marginal likelihood of one number z under a linear model with uncertain weights and unit noise."""
    mean = math.fsum(m * v for m, v in zip(mu, x, strict=True))
    variance = 1.0 + math.fsum(s * s * v * v for s, v in zip(sigma, x, strict=True))
    return -0.5 * math.log(2.0 * math.pi * variance) - (z - mean) ** 2 / (2.0 * variance)


def gaussian_fires(batches, rate_mu, rate_sigma, start_sigma=1.0):
    """mu and sigma after batches of (rows, numbers, weights), rows as they are, the target standardised as it comes."""
    n_features = len(batches[0][0][0])
    mu, sigma = [0.0] * n_features, [start_sigma] * n_features
    seen = []
    for rows, numbers, weights in batches:
        seen += list(zip(numbers, weights, strict=True))
        total = math.fsum(w for _, w in seen)
        centre = math.fsum(w * y for y, w in seen) / total
        spread = math.sqrt(math.fsum(w * (y - centre) ** 2 for y, w in seen) / total)
        of_mu, of_sigma = [0.0] * n_features, [0.0] * n_features
        for x, y, w in zip(rows, numbers, weights, strict=True):
            z = (y - centre) / spread if spread > 0 else 0.0
            mean = math.fsum(m * v for m, v in zip(mu, x, strict=True))
            variance = 1.0 + math.fsum(s * s * v * v for s, v in zip(sigma, x, strict=True))
            share = w / math.fsum(weights)
            for j in range(n_features):
                of_mu[j] += share * (z - mean) * x[j] / variance
                of_sigma[j] += share * ((z - mean) ** 2 / variance - 1.0) * sigma[j] * x[j] ** 2 / variance
        mu = [m + rate_mu * g for m, g in zip(mu, of_mu, strict=True)]
        sigma = [max(s + rate_sigma * g, 1e-12) for s, g in zip(sigma, of_sigma, strict=True)]
    return mu, sigma
