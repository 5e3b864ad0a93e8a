"""Baselines: the oracle knows the relevant features, random selection draws its own."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.core.batch import Batch
from streamsift.core.exceptions import InputError
from streamsift.evaluate.baselines import Oracle, RandomSelector
from streamsift.streams import generate

X = np.random.default_rng(0).normal(size=(30, 6))
Y = np.arange(30) % 2


def batch(*relevant: int) -> Batch:
    return Batch(X, Y, relevant=np.array(relevant, np.intp))


def test_the_oracle_follows_the_stream() -> None:
    oracle = Oracle().partial_fit(batch(1, 4)).partial_fit(batch(1, 4))
    assert oracle.get_support(indices=True).tolist() == [1, 4]
    assert oracle.n_drifts_ == 0
    oracle.partial_fit(batch(0))
    assert oracle.selection().indices.tolist() == [0]
    assert oracle.n_drifts_ == 1
    assert oracle.scores_.tolist() == [1, 0, 0, 0, 0, 0]
    assert np.array_equal(oracle.transform(X), X[:, :1])
    assert oracle.fit(batch(2)).n_drifts_ == 0


def test_the_oracle_reads_generated_streams() -> None:
    stream = generate("linear_drift", n_rows=200, seed=0, n_features=8, n_relevant=2, shift_every=100)
    oracle = Oracle()
    for part in stream.batches(100):
        oracle.partial_fit(part)
        assert part.relevant is not None
        assert oracle.get_support(indices=True).tolist() == sorted(part.relevant.tolist())


def test_the_oracle_may_be_told() -> None:
    assert Oracle(relevant=[5]).partial_fit(X, Y).get_support(indices=True).tolist() == [5]
    again = Oracle(relevant=[5])
    assert again.load_state_arrays(Oracle(relevant=[5]).fit(X).state_arrays()).get_support(indices=True).tolist() == [5]


def test_the_oracle_cannot_guess() -> None:
    oracle = Oracle().partial_fit(batch(3))
    with pytest.raises(InputError, match="do not say which features are relevant"):
        oracle.partial_fit(X, Y)
    with pytest.raises(InputError, match="Feature 6 is said to be relevant, but X has the columns 0 to 5"):
        oracle.partial_fit(batch(6))
    assert oracle.get_support(indices=True).tolist() == [3]
    assert oracle.n_rows_seen_ == 30


def test_the_random_selector_draws_once() -> None:
    first = RandomSelector(3, random_state=1).partial_fit(X, Y)
    chosen = first.get_support(indices=True).tolist()
    assert len(chosen) == 3
    assert first.partial_fit(X, Y).get_support(indices=True).tolist() == chosen
    assert RandomSelector(3, random_state=1).partial_fit(X).get_support(indices=True).tolist() == chosen
    drawn = {tuple(RandomSelector(3, random_state=seed).fit(X).get_support(indices=True)) for seed in range(20)}
    assert len(drawn) > 5
    generator = RandomSelector(3, random_state=np.random.default_rng(0)).fit(X)
    assert generator.get_support().sum() == 3
