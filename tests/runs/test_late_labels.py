"""Labels that arrive later, by id, for every row selector."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from streamsift import InputError, LateLabels, ParameterError, SavedStateError, Screener, catalog, load, save
from streamsift.checks.samples import flags_sample

pd = pytest.importorskip("pandas")
EVERY = pytest.mark.parametrize("name", catalog.names("rows"))


def made(name: str) -> Any:
    return catalog.make(name, **({"random_state": 0} if name.startswith("fires") else {}))


def same(a: Any, b: Any) -> None:
    mine, theirs = a.state_arrays(), b.state_arrays()
    assert mine.keys() == theirs.keys()
    for key, array in mine.items():
        assert np.array_equal(array, theirs[key], equal_nan=array.dtype.kind == "f"), key


@EVERY
@pytest.mark.parametrize("form", ["frame", "array", "dicts"])
def test_late_rows_are_learnt_as_if_they_came_with_their_labels(name: str, form: str) -> None:
    X, y = flags_sample(60)
    frame = pd.DataFrame(X, columns=list("abcde"))
    late, wanted = LateLabels(made(name)), made(name)
    table = {"frame": frame, "array": X, "dicts": frame.to_dict("records")}[form]
    late.remember([f"row {k}" for k in range(60)], table)
    order = np.random.default_rng(0).permutation(60)
    for part in np.split(order, 4):
        assert late.learn([f"row {k}" for k in part], y[part]) == 15
        wanted.partial_fit(X[part] if form == "array" else frame.iloc[part], y[part])
    same(late.selector, wanted)
    assert (late.n_waiting_, late.n_learnt_, late.n_expired_, late.n_unknown_) == (0, 60, 0, 0)


@EVERY
def test_nothing_that_waits_is_lost_by_saving(name: str, tmp_path: Path) -> None:
    X, y = flags_sample(80)
    frame = pd.DataFrame(X, columns=list("abcde"))
    late = LateLabels(made(name), max_rows=70)
    late.remember(range(60), frame[:60])
    late.learn(range(20, 40), y[20:40])
    late.learn([999], [0])
    save(late, tmp_path / "late.streamsift")
    again = load(tmp_path / "late.streamsift")
    for each in (late, again):
        each.remember(range(60, 80), frame[60:80])
        each.learn(list(range(20)) + list(range(40, 80)), np.r_[y[:20], y[40:80]])
    same(again.selector, late.selector)
    assert again.n_unknown_ == late.n_unknown_ == 1
    assert again.n_learnt_ == late.n_learnt_ == 80


def test_categories_and_sparse_rows_wait_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shops = rng.choice(["north", "south", "east"], 50).astype(object)
    shops[3] = None
    table = pd.DataFrame({"shop": shops, "price": rng.normal(size=50), "open": rng.random(50) < 0.5})
    y = (shops == "east").astype(int)
    late = LateLabels(Screener(missing="skip", n_features_to_select=1))
    late.remember(range(50), table)
    save(late, tmp_path / "late.streamsift")
    again = load(tmp_path / "late.streamsift", method=LateLabels)
    assert not hasattr(again.selector, "n_rows_seen_")
    again.learn(range(50), y)
    alone = Screener(missing="skip", n_features_to_select=1).fit(table, y)
    assert again.selector.selected_ == ["shop"]
    assert again.selector.scores_.tolist() == alone.scores_.tolist()

    flags, labels = flags_sample(50)
    rows = sparse.csr_matrix(flags)
    late = LateLabels(Screener("fisher"))
    late.remember(range(50), rows)
    save(late, tmp_path / "late.streamsift")
    again = load(tmp_path / "late.streamsift")
    again.learn(range(50), labels)
    same(again.selector, Screener("fisher").fit(rows, labels))


def test_one_row_in_every_form() -> None:
    late = LateLabels(Screener("fisher", n_features_to_select=1))
    late.remember("a", [0.0, 1.0])
    late.remember(7, np.array([1.0, 1.5]))
    late.remember(np.int64(8), np.array([[1.1, 1.2]]))
    assert late.n_waiting_ == 3
    assert [late.learn("a", "no"), late.learn(7, "yes"), late.learn(8, "yes"), late.learn(8, "yes")] == [1, 1, 1, 0]
    assert late.n_unknown_ == 1
    shops = LateLabels(Screener(n_features_to_select=1, missing="skip"))
    for k, shop in enumerate([None, "north", "south", "north"]):
        shops.remember(k, {"shop": shop, "price": 1.0})
        shops.learn(k, shop == "north")
    assert shops.selector.selected_ == ["shop"]


def test_the_oldest_expire_and_are_counted() -> None:
    X, y = flags_sample(30)
    late = LateLabels(Screener("fisher"), max_rows=10)
    for k in range(30):
        late.remember(k, X[k])
    assert (late.n_waiting_, late.n_expired_) == (10, 20)
    assert late.learn(range(30), y) == 10
    assert (late.n_waiting_, late.n_unknown_, late.selector.n_rows_seen_) == (0, 20, 10)


def test_a_refused_row_still_waits_and_nothing_else_changes() -> None:
    X, y = flags_sample(20)
    late = LateLabels(Screener("fisher"))
    X[5, 2] = np.nan
    late.remember(range(20), X)
    with pytest.raises(InputError, match=r"Row 5, column 'x2' of X is NaN"):
        late.learn(range(20), y)
    assert (late.n_waiting_, late.n_learnt_) == (20, 0)
    assert late.learn([k for k in range(20) if k != 5], np.delete(y, 5)) == 19
    assert late.n_waiting_ == 1


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda late: late.remember("a", [1.0]), "the id 'a' waits for its label already"),
        (lambda late: late.remember(["b", "b"], [[1.0], [2.0]]), "the id 'b' waits for its label already"),
        (lambda late: late.remember(["b", "c"], [[1.0]]), "1 rows but there are 2 ids"),
        (lambda late: late.remember(1.5, [1.0]), "id 1.5 is neither text nor a whole number"),
        (lambda late: late.remember([None], [[1.0]]), "id None is neither text nor a whole number"),
        (lambda late: late.learn(["a", "a"], [0, 1]), "The id 'a' has two labels"),
        (lambda late: late.learn(["a", "b"], [0]), "2 ids but 1 labels"),
    ],
)
def test_ids_that_cannot_be_are_refused_in_words(act: Any, words: str) -> None:
    late = LateLabels(Screener())
    late.remember("a", [1.0])
    with pytest.raises(InputError, match=words):
        act(late)
    assert late.n_waiting_ == 1


def test_anything_that_learns_batch_by_batch_may_wait() -> None:
    X, y = flags_sample(40, n_classes=2)

    def started(X: Any) -> GaussianNB:  # it wants to know the classes first
        return GaussianNB().partial_fit(X[:2], [0, 1], classes=[0, 1])

    late, wanted = LateLabels(started(X)), started(X).partial_fit(X, y)
    late.remember(range(40), X)
    late.learn(range(40), y)
    assert late.selector.theta_.tolist() == wanted.theta_.tolist()
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = LateLabels(started(frame))
    named.remember(range(40), frame)
    named.learn(range(40), y)  # columns without names would be warned of
    assert named.selector.theta_.tolist() == wanted.theta_.tolist()
    with pytest.raises(SavedStateError, match="cannot be saved"):
        late.state_arrays()


def test_parameters_are_checked_and_copies_are_new() -> None:
    with pytest.raises(ParameterError, match="selector"):
        LateLabels().remember("a", [1.0])
    with pytest.raises(ParameterError, match="max_rows"):
        LateLabels(Screener(), max_rows=0).remember("a", [1.0])
    late = LateLabels(Screener(), max_rows=5)
    late.remember("a", [1.0])
    assert clone(late).n_waiting_ == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("waiting.ids", np.array(['"a"', '"a"', '"b"'])),
        ("waiting.ids", np.array(["[1]", '"a"', '"b"'])),
        ("waiting.layout", np.array([0, 0, 9])),
        ("waiting.layouts", np.array(["[null, 99, false, [], []]"])),
        ("waiting.layouts", np.array(["{"])),
        ("waiting.texts", np.array(["[1]", "[]", "[]"])),
        ("waiting.counts", np.array([-1, 0, 0])),
        ("waiting.0.values", np.zeros((2, 5))),
    ],
)
def test_damaged_states_are_refused(name: str, value: Any) -> None:
    late = LateLabels(Screener())
    late.remember(["a", "b", "c"], flags_sample(3)[0])
    arrays = late.state_arrays()
    assert LateLabels(Screener()).load_state_arrays(arrays).n_waiting_ == 3
    with pytest.raises(SavedStateError, match="damaged"):
        LateLabels(Screener()).load_state_arrays(arrays | {name: value})
