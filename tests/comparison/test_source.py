"""Where a comparison's rows come from: repeats, generated streams, and files that are read once into a spool."""

from __future__ import annotations

import tempfile
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from tests.comparison.samples import DRIFT, people, timeless

from streamsift import OFS, Screener
from streamsift.comparison import compare as comparing
from streamsift.comparison import plan as planning
from streamsift.comparison import repeats
from streamsift.comparison.repeats import LEFT_OUT, Source
from streamsift.core.exceptions import InputError, StreamsiftError
from streamsift.streams import generate, open_stream

compare = partial(comparing.compare, baselines=())  # exactly the methods that a test names
plan_comparison = partial(planning.plan_comparison, baselines=())


# -- repeats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 100, 5000])
def test_a_repeat_leaves_out_a_tenth_and_keeps_the_order(size):
    X, y = np.arange(3000.0)[:, None], np.arange(3000) % 2
    source = Source((X, y), None, None, 7)
    rows = [np.concatenate([batch.X[:, 0] for batch in source.stream(repeat).batches(size)]) for repeat in (0, 1, 2)]
    assert rows[0].tolist() == X[:, 0].tolist()
    for kept in rows[1:]:
        assert (np.diff(kept) > 0).all()
        assert len(kept) == pytest.approx(3000 * (1 - LEFT_OUT), abs=4 * np.sqrt(3000 * 0.1 * 0.9))
    assert set(rows[1]) != set(rows[2])
    again = np.concatenate([batch.X[:, 0] for batch in source.stream(1).batches(64)])
    assert rows[1].tolist() == again.tolist()


def test_rows_limits_what_is_read():
    X, y = np.arange(3000.0)[:, None], np.arange(3000) % 2
    for size in (100, 999, 5000):
        batches = list(Source((X, y), None, 1500, 0).stream(0).batches(size))
        assert np.concatenate([batch.X[:, 0] for batch in batches]).tolist() == list(range(1500))


def test_a_generator_repeats_with_the_next_seed():
    source = Source(DRIFT, None, 500, 3)
    for repeat in (0, 1):
        ours = next(source.stream(repeat).batches(500))
        wanted = generate("linear_drift", n_rows=500, seed=3 + repeat, n_features=15, n_relevant=3, shift_every=100_000)
        assert np.array_equal(ours.X, next(wanted.batches(500)).X)


def test_a_function_makes_the_streams():
    made = []

    def factory(seed):
        made.append(seed)
        return generate("sea", n_rows=900, seed=seed)

    comparison = compare(factory, methods=["ofs", "oracle"], repeats=2, seed=4)
    assert comparison.as_dict()["data"] == "factory"
    assert sorted(set(made)) == [4, 5]


# -- files are read once ----------------------------------------------------------------------------------------


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where temporary files go."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def table_file(path, n_rows=700):
    """A CSV with numbers, texts and a label in words."""
    rng = np.random.default_rng(3)
    lines = ["size,colour,weight,town,answer"]
    for _ in range(n_rows):
        answer = rng.integers(0, 2)
        colour, town = rng.choice(["red", "blue", "green"], p=[0.6, 0.2, 0.2] if answer else [0.2, 0.4, 0.4]), "abc"
        number = rng.normal() + answer
        lines.append(f"{number:.17g},{colour},{rng.integers(0, 50)},{town[rng.integers(3)]},{['no', 'yes'][answer]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def sparse_file(path, n_rows=700):
    """A LIBSVM file whose later rows know more features."""
    rng = np.random.default_rng(4)
    lines = []
    for row in range(n_rows):
        label = int(rng.integers(0, 2))
        indices = sorted({1 + label, *rng.integers(3, 10 + row // 30, size=4).tolist()})
        lines.append(" ".join([str(label), *(f"{index}:{rng.random():.17g}" for index in indices)]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("make", "name", "target", "methods"),
    [
        (table_file, "table.csv", "answer", ["screen:fisher", "fires", "stepwise", "etana", "all", "random"]),
        (sparse_file, "rows.svm", None, ["screen:fisher", "ofs", "osfs", "etana", "all", "random"]),
    ],
)
def test_a_spooled_file_gives_the_same_answers(make, name, target, methods, tmp_path, temporary, monkeypatch):
    path = make(tmp_path / name)
    options = {"methods": methods, "repeats": 2, "n_features_to_select": 2}
    opened = []
    real = repeats.as_stream
    monkeypatch.setattr(repeats, "as_stream", lambda *args, **kwargs: opened.append(1) or real(*args, **kwargs))
    once = compare(path, target, **options).as_dict()
    assert len(opened) == 1
    assert list(temporary.iterdir()) == []
    monkeypatch.setattr(Source, "read_once", property(lambda self: False))
    often = compare(path, target, **options).as_dict()
    assert len(opened) > 12
    assert all(entry["accuracy"] > 0.4 for entry in once["entries"])
    assert [timeless(entry) for entry in once["entries"]] == [timeless(entry) for entry in often["entries"]]
    assert {key: value for key, value in once.items() if key not in ("entries", "recommendation")} == {
        key: value for key, value in often.items() if key not in ("entries", "recommendation")
    }


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_can_be_read_only_once_can_be_compared(jobs, temporary):
    X, y = people(600)
    options = {"methods": ["screen:fisher", "osfs", "random"], "repeats": 2, "jobs": jobs}
    found = compare(((X[k : k + 70], y[k : k + 70]) for k in range(0, 600, 70)), **options).as_dict()
    wanted = compare((X, y), **options).as_dict()
    assert found["data"] == "iterator"
    assert [timeless(entry) for entry in found["entries"]] == [timeless(entry) for entry in wanted["entries"]]
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("when", ["survey", "run"])
def test_an_interrupt_leaves_no_spool(when, tmp_path, temporary, monkeypatch):
    def interrupt(*_args, **_kwargs):
        assert list(temporary.iterdir())
        raise KeyboardInterrupt

    place = "repeats._refuse_missing" if when == "survey" else "protocols.prequential"
    monkeypatch.setattr(f"streamsift.comparison.{place}", interrupt)
    with pytest.raises(KeyboardInterrupt):
        compare(table_file(tmp_path / "table.csv"), "answer", methods=["random"], repeats=1)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("options", [{"methods": ["oracle"]}, {"batch_size": 500}])
def test_a_plan_that_is_refused_leaves_no_spool(options, tmp_path, temporary):
    with pytest.raises(StreamsiftError) as caught:
        plan_comparison(table_file(tmp_path / "table.csv"), "answer", **options)
    assert list(temporary.iterdir()) == [], caught  # nor while somebody holds the error


def test_missing_values_of_a_file_are_refused_and_leave_no_spool(tmp_path, temporary):
    path = table_file(tmp_path / "table.csv")
    path.write_text(path.read_text().replace("red", "", 1))
    with pytest.raises(InputError, match="has no finite number in column 'colour'"):
        compare(path, "answer", methods=["random"])
    assert list(temporary.iterdir()) == []


def test_categories_are_what_they_are_in_a_run_of_their_own(tmp_path):
    rng = np.random.default_rng(0)
    town = rng.integers(0, 6, 600)
    answer = np.where(town % 2, "yes", "no")  # told by the towns, and not by any order of them
    rows = [f"{rng.normal():.4f},town{place},{said}" for place, said in zip(town, answer, strict=True)]
    path = tmp_path / "towns.csv"
    path.write_text("\n".join(["noise,town,answer", *rows]) + "\n")
    with plan_comparison(path, "answer", methods=["ofs"], repeats=1) as plan:
        batches = list(plan.source.stream(0).batches(100))
    for selector in (OFS(n_features_to_select=2), Screener(n_features_to_select=1)):
        kept, read = clone(selector), clone(selector)
        for ours, theirs in zip(batches, open_stream(path, "answer").batches(100), strict=True):
            kept.partial_fit(ours)
            read.partial_fit(theirs)
        np.testing.assert_allclose(kept.scores_, read.scores_)
