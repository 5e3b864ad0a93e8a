"""The judge of `fading="auto"` with all rows at hand: weights by age, naive Bayes over the top ten by Fisher.

A value of a row is a number, or a word for a category. `relevance` of a category is given from outside.
"""

from __future__ import annotations

import math

JUDGED, MEMORY, DRIFT, CHANGE = 10, 0.999, 3.0, 1.5


def weighted(rows, weights):
    """Weight, mean and variance of single numbers."""
    total = math.fsum(weights)
    if total == 0.0:
        return 0.0, 0.0, 0.0
    mean = math.fsum(w * x for w, x in zip(weights, rows, strict=True)) / total
    return total, mean, math.fsum(w * (x - mean) ** 2 for w, x in zip(weights, rows, strict=True)) / total


class Bayes:
    """Gaussian naive Bayes of two classes, 0 and 1, from all rows so far with weights rate ** age."""

    def __init__(self, X, y, rate, relevance=None):
        age = [rate ** (len(y) - 1 - i) for i in range(len(y))]
        n_features = len(X[0])
        self.words = {}
        for j in range(n_features):
            if isinstance(X[0][j], str):
                self.words[j] = table = {}
                for x, k, w in zip(X, y, age, strict=True):
                    table.setdefault(x[j], [0.0, 0.0])[k] += w
        X = [[0.0 if j in self.words else v for j, v in enumerate(x)] for x in X]
        self.moments = [
            [
                weighted([x[j] for x, k in zip(X, y, strict=True) if k == c],
                         [w for w, k in zip(age, y, strict=True) if k == c])
                for j in range(n_features)
            ]
            for c in (0, 1)
        ]  # fmt: skip
        scores = [relevance(self.words[j]) if j in self.words else self.fisher(j) for j in range(n_features)]
        self.top = sorted(range(n_features), key=lambda j: (-scores[j], j))[:JUDGED]

    def parts(self, j):
        (n0, mean0, var0), (n1, mean1, var1) = self.moments[0][j], self.moments[1][j]
        centre = (n0 * mean0 + n1 * mean1) / (n0 + n1)
        between = n0 * (mean0 - centre) ** 2 + n1 * (mean1 - centre) ** 2
        return between, n0 * var0 + n1 * var1, n0 + n1

    def fisher(self, j):
        between, within, _ = self.parts(j)
        return 0.0 if between == 0.0 else math.inf if within == 0.0 else between / within

    def classify(self, x):
        likelihood = []
        for c in (0, 1):
            total = self.moments[0][0][0] + self.moments[1][0][0]
            value = math.log(self.moments[c][0][0] / total)
            for j in self.top:
                if j in self.words:
                    table = self.words[j]
                    rows = math.fsum(row[c] for row in table.values())
                    value += math.log((table.get(x[j], [0.0, 0.0])[c] + 1.0) / (rows + len(table)))
                    continue
                between, within, _ = self.parts(j)
                n, mean, var = self.moments[c][j]
                var = (n * var + 2 * within / total) / (n + 2) + 1e-6 * (within + between) / total
                if var > 0.0:
                    value -= 0.5 * ((x[j] - mean) ** 2 / var + math.log(var))
            likelihood.append(round(value, 6))
        return 1 if likelihood[1] > likelihood[0] else 0


class NaiveLadder:
    def __init__(self, rates, step, relevance=None):
        self.rates, self.step, self.relevance = rates, step, relevance
        self.X, self.y, self.wrong = [], [], []
        self.current, self.has_drifted = 0, False

    def learn(self, X, y):
        """One step of rows."""
        if self.y:
            judges = [Bayes(self.X, self.y, rate, self.relevance) for rate in self.rates]
            for x, label in zip(X, y, strict=True):
                self.wrong.append([int(judge.classify(x) != label) for judge in judges])
        self.X += [[v if isinstance(v, str) else float(v) for v in x] for x in X]
        self.y += [int(label) for label in y]
        lead = [self.lead(place) for place in range(len(self.rates))]
        best = max(range(len(lead)), key=lambda place: lead[place])
        if lead[best] > (CHANGE if self.has_drifted else DRIFT):
            self.current, self.has_drifted = best, True

    def lead(self, place):
        """Standard errors by which a rate is better than the one in use."""
        better = decided = 0.0
        for age, wrong in enumerate(reversed(self.wrong)):
            gain = wrong[self.current] - wrong[place]
            better += MEMORY**age * gain
            decided += MEMORY**age * gain * gain
        return better / math.sqrt(decided) if decided else 0.0
