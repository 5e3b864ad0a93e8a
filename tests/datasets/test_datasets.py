"""The sets that ship: the same rows for the same seed, the truth they claim, and one form for all."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift import ETANA, ParameterError, Screener, datasets, open_stream

GENERATED = ["clicks", "clinic", "messages", "sensors", "transactions"]
KNOWN = ["clicks", "clinic", "sensors", "transactions"]  # what decides is told


def load(name, **options):
    return getattr(datasets, f"load_{name}")(**options)


@pytest.mark.parametrize("name", datasets.names())
def test_every_set_has_one_form(name):
    data = load(name)
    assert data.name == name
    assert data.n_rows == data.table.num_rows == len(data.y)
    assert data.feature_names == tuple(data.X.column_names)
    assert data.target not in data.feature_names
    assert not set(data.ignore) & set(data.feature_names)
    assert set(data.prices) <= set(data.feature_names)
    assert all(set(change.true_features) <= set(data.feature_names) for change in data.changes)
    assert data.about.endswith(".")
    first = next(iter(data.stream().batches(100)))
    assert first.feature_names == data.feature_names
    assert first.y.tolist() == data.y[:100].tolist()


@pytest.mark.parametrize("name", GENERATED)
def test_the_seed_decides_the_rows(name):
    assert load(name, n_rows=50, seed=3).table.equals(load(name, n_rows=50, seed=3).table)
    assert not load(name, n_rows=50, seed=3).table.equals(load(name, n_rows=50, seed=4).table)
    assert load(name, n_rows=50).n_rows == 50


@pytest.mark.parametrize("name", GENERATED)
@pytest.mark.parametrize("bad", [{"n_rows": 1}, {"n_rows": 2.5}, {"seed": -1}])
def test_sizes_that_are_none_are_refused(name, bad):
    with pytest.raises(ParameterError, match=f"{next(iter(bad))}.* of load_{name}"):
        load(name, **bad)


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_told_to_decide_is_what_a_screener_finds(name):
    data = load(name)
    starts = [*(change.row for change in data.changes), data.n_rows]
    for change, end in zip(data.changes, starts[1:], strict=True):
        part = slice(change.row, end)
        selector = Screener("mutual_info", n_features_to_select="fdr:0.0001", missing="skip")
        selector.fit(data.X.slice(change.row, end - change.row), data.y[part])
        assert set(change.true_features) - {"blood_pressure"} <= set(selector.selected_)  # a weak one
        assert len(selector.selected_) <= len(change.true_features) + 1


def test_batches_know_what_is_true_at_their_end():
    data = datasets.load_sensors(n_rows=400)
    told = [(batch.relevant.tolist(), batch.drifting) for batch in data.stream().batches(150)]
    assert told == [([0, 1, 2], False), ([2, 3, 4], True), ([2, 3, 4], False)]
    assert next(iter(datasets.load_messages(n_rows=10).stream().batches(5))).relevant is None


def test_a_written_set_is_read_as_it_was(tmp_path):
    data = datasets.load_transactions(n_rows=300)
    data.write_csv(tmp_path / "payments.csv")
    read = open_stream(tmp_path / "payments.csv", target=data.target, ignore=data.ignore)
    (ours,), (theirs,) = list(data.stream().batches(300)), list(read.batches(300))
    assert theirs.feature_names == ours.feature_names
    np.testing.assert_array_equal(theirs.categorical, ours.categorical)
    np.testing.assert_array_equal(theirs.y, ours.y)
    assert Screener("gini").fit(theirs).selected_ == Screener("gini").fit(ours).selected_


def test_the_words_of_a_topic_tell_it():
    data = datasets.load_messages(n_rows=300)
    texts = data.table.column("text").to_pylist()
    with_parcel = {topic for topic, text in zip(data.y, texts, strict=True) if "parcel" in text.split()}
    assert with_parcel == {"delivery"}


def test_labels_of_payments_arrive_after_the_payment():
    table = datasets.load_transactions(n_rows=500).table
    late = table.column("reported_at").to_numpy() - table.column("paid_at").to_numpy()
    assert late.min() >= 0
    assert late.mean() > 86_400


def test_prices_are_worth_asking_for():
    data = datasets.load_clinic(n_rows=600)
    X = data.X.to_pandas().to_numpy()
    result = ETANA(feature_cost=[data.prices[name] for name in data.feature_names]).fit(X, data.y).classify(X)
    assert (np.asarray(result.labels) == data.y).mean() > 0.85
    assert result.n_evaluated.mean() < 8
