"""Naive twins of OSFS and Fast-OSFS over any test(x, y, given) -> (independent, statistic)."""

from __future__ import annotations

from itertools import combinations


def sets_of(members, most, containing=None):
    for size in range(1, most + 1):
        for chosen in combinations(members, size):
            if containing is None or containing in chosen:
                yield chosen


def separating_set(X, y, k, members, test, most, containing=None):
    """The first set of members that makes column k independent of the class, or None."""
    sets = sets_of(members, most, containing)
    return next((S for S in sets if test(X[:, k], y, [X[:, j] for j in S])[0]), None)


def separated(X, y, k, members, test, most, containing=None):
    return separating_set(X, y, k, members, test, most, containing) is not None


def osfs(X, y, test, most=3):
    members = []
    for i in range(X.shape[1]):
        if X[:, i].min() == X[:, i].max() or test(X[:, i], y, [])[0]:
            continue
        members.append(i)
        for k in list(members):
            others = [j for j in members if j != k]
            if separated(X, y, k, others, test, most):
                members = others
    return members


def fast_osfs(X, y, test, most=3):
    members = []
    for i in range(X.shape[1]):
        if X[:, i].min() == X[:, i].max() or test(X[:, i], y, [])[0]:
            continue
        if separated(X, y, i, members, test, most):
            continue
        members.append(i)
        for k in list(members[:-1]):
            others = [j for j in members if j != k]
            if separated(X, y, k, others, test, most, containing=i):
                members = others
    return members
