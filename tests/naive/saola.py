"""Naive twin of SAOLA over any relation(a, b) -> (strength, is it real)."""

from __future__ import annotations


def saola(X, y, relation):
    members, relevance = [], {}
    for i in range(X.shape[1]):
        relevance[i], real = relation(X[:, i], y)
        if not real or X[:, i].min() == X[:, i].max():
            continue
        accepted = True
        for k in list(members):
            close, real = relation(X[:, i], X[:, k])
            if not real:
                continue
            if relevance[k] >= relevance[i] and close > relevance[i]:
                accepted = False
                break
            if relevance[i] > relevance[k] and close > relevance[k]:
                members.remove(k)
        if accepted:
            members.append(i)
    return members
