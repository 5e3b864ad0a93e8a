"""Naive twins of the classification measures: labels as lists, formulas as printed, row by row."""

from __future__ import annotations

import math

SMALLEST = 2.0**-52


def accuracy(true, predicted):
    return sum(a == b for a, b in zip(true, predicted, strict=True)) / len(true) if true else math.nan


def balanced_accuracy(true, predicted):
    recalls = []
    for label in sorted(set(true)):
        own = [b for a, b in zip(true, predicted, strict=True) if a == label]
        recalls.append(sum(b == label for b in own) / len(own))
    return sum(recalls) / len(recalls) if recalls else math.nan


def kappa(true, predicted):
    n = len(true)
    if not n:
        return math.nan
    chance = sum(true.count(label) * predicted.count(label) for label in set(true)) / n**2
    return math.nan if chance == 1 else (accuracy(true, predicted) - chance) / (1 - chance)


def f1(true, predicted):
    values = []
    for label in sorted(set(true) | set(predicted)):
        hits = sum(a == b == label for a, b in zip(true, predicted, strict=True))
        precision = hits / predicted.count(label) if label in predicted else 0.0
        recall = hits / true.count(label) if label in true else 0.0
        values.append(2 * precision * recall / (precision + recall) if hits else 0.0)
    return sum(values) / len(values) if values else math.nan


def log_loss(true, probabilities):
    total = 0.0
    for label, row in zip(true, probabilities, strict=True):
        given = row[label] if label < len(row) else 0.0
        total -= math.log(min(max(given, SMALLEST), 1 - SMALLEST))
    return total / len(true) if true else math.nan


def everything(true, predicted, probabilities):
    """All measures by name; the logarithmic loss is NaN without probabilities."""
    return {
        "accuracy": accuracy(true, predicted),
        "balanced_accuracy": balanced_accuracy(true, predicted),
        "kappa": kappa(true, predicted),
        "log_loss": math.nan if probabilities is None else log_loss(true, probabilities),
        "f1": f1(true, predicted),
    }
