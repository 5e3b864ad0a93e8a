"""Hostile arrays, tables, matrices and labels for every method, learnt and fresh.

Each call must be refused in one sentence and leave the state as it was, or be accepted without NaN among the answers.
Rows that teach nothing (without labels, without weight) are accepted; who then asks for scores is told so.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from scipy import sparse
from sklearn.exceptions import NotFittedError

from streamsift import catalog
from streamsift.core.exceptions import StreamsiftError
from tests.fuzz import hostile
from tests.fuzz.forked import Make, Use
from tests.fuzz.tally import ACCEPTED, REFUSED
from tests.hardening.bad_inputs import same

Call = Callable[[Any], Any]

_CALLS = {
    "rows": ("partial_fit", "partial_fit", "partial_fit", "fit", "transform"),
    "columns": ("fit", "offer", "offer", "offer_many"),
    "instances": ("partial_fit", "fit", "predict", "classify"),
}


def maker(kinds: Sequence[str] | None = None) -> Make:
    """Hostile data for some methods; None: for all."""
    names = list(kinds or catalog.names())
    for name in names:
        _warm(name)
    return partial(_make, names)


def _make(names: list[str], number: int, seed: int) -> tuple[str, Use]:
    rng = np.random.default_rng((seed, number))
    name = names[number % len(names)]
    return name, partial(_attempt, name, rng)


def _warm(name: str) -> None:
    """Compile what the kinds of data need, so that no worker has to."""
    X, y = hostile.good()
    kind = catalog.entry(name).kind
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in (X, X.astype(np.float32), sparse.csr_matrix(X), sparse.csr_matrix(X.astype(np.float32))):
            for classes in (y, np.arange(len(y)) % 3)[: 1 + (data is X)]:
                method = _fresh(name)
                try:
                    method.fit(data, classes)
                    if kind == "rows":
                        method.partial_fit(data[:1], classes[:1])
                        assert method.scores_.size
                        if method.stream_tags().weights:
                            method.partial_fit(data, classes, sample_weight=np.linspace(0.5, 1.5, len(classes)))
                            assert method.scores_.size
                    elif kind == "instances":
                        method.partial_fit(data, classes).predict(data)
                except StreamsiftError:
                    continue  # takes no sparse matrix, or not three classes
    _learnt(name)


def _fresh(name: str) -> Any:
    method = catalog.make(name)
    parameters = method.get_params()
    method.set_params(
        **{
            key: value
            for key, value in (("random_state", 0), ("max_iterations", 20), ("missing", "skip"))
            if key in parameters
        }
    )
    return method


class _Learnt:
    """A method that has learnt good data, as long as nothing has changed it."""

    def __init__(self, name: str) -> None:
        self.method = _fresh(name)
        (self.method.fit if catalog.entry(name).kind == "columns" else self.method.partial_fit)(*hostile.good())
        self.state = self.method.state_arrays()


_learnt = cache(_Learnt)


def _attempt(name: str, rng: Generator, _: Path) -> str:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        what = hostile.pick(rng, _CALLS[catalog.entry(name).kind])
        known = None if what in ("fit", "partial_fit") and rng.random() < 0.3 else _learnt(name)
        method = _fresh(name) if known is None else known.method
        call = _call(method, what, rng)
        try:
            return _judge(method, call, known)
        finally:
            if known is not None and not same(known.state, method.state_arrays()):
                _learnt.cache_clear()  # the next one begins as this one did


def _call(method: Any, what: str, rng: Generator) -> Call:
    if what == "offer":
        column, name = hostile.column(rng), hostile.pick(rng, ("new", "", "x0", None, 3, "\x00"))
        return lambda method: method.offer(column, name)
    X = hostile.table(rng)
    if what not in ("fit", "partial_fit"):
        return lambda method: getattr(method, what)(X)
    y = hostile.target(rng, _rows(X))
    weighted = "sample_weight" in inspect.signature(getattr(method, what)).parameters
    if weighted and rng.random() < 0.2:
        weight = hostile.weights(rng, _rows(X))
        return lambda method: getattr(method, what)(X, y, sample_weight=weight)
    return lambda method: getattr(method, what)(X, y)


def _rows(X: Any) -> int:
    """As many labels as rows, mostly: else each input would be refused for that."""
    try:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    except Exception:  # noqa: BLE001 - no rows
        return hostile.N_ROWS
    return int(n_rows) if 0 < n_rows < 10_000 else hostile.N_ROWS


def _judge(method: Any, call: Call, known: _Learnt | None) -> str:
    refusal = _refusal(method, call)
    if refusal is None:
        assert not np.isnan(_answers(method)).any(), "NaN among the scores"
        return ACCEPTED
    assert "\n" not in refusal, f"refused in several lines: {refusal}"
    assert known is None or same(known.state, method.state_arrays()), f"refused and changed the state: {refusal}"
    return REFUSED


def _answers(method: Any) -> Any:
    if not hasattr(type(method), "scores_"):
        return np.empty(0)
    if hasattr(method, "n_rows_seen_"):
        return method.scores_
    with pytest.raises(NotFittedError, match=r"^\w+ has not learnt anything yet: give it rows that .* first\.$"):
        assert method.scores_.size
    return np.empty(0)


def _refusal(method: Any, call: Call) -> str | None:
    """The words of a refusal; None: the call was accepted."""
    try:
        call(method)
    except StreamsiftError as error:
        return str(error)
    except TypeError as error:  # as scikit-learn asks for where a cell is no number
        if "argument must be" in str(error):
            return str(error)
        raise
    return None
