"""Models that judge see categories as categories: against naive twins, by name, with late categories and features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from tests.learners.test_online import OF_RIVER, Changing, Watching
from tests.naive import judges

from streamsift.comparison.compare import compare
from streamsift.core.batch import Batch
from streamsift.core.categories import ColumnKinds
from streamsift.core.exceptions import InputError
from streamsift.evaluate.prequential import prequential
from streamsift.learners.categories import RunCategories
from streamsift.learners.foreign import as_learner
from streamsift.learners.one_hot import LEAST_SPARE, OneHot
from streamsift.learners.online import LEARNERS, Perceptron, make_learner
from streamsift.learners.scaling import Standardised
from streamsift.rows.screener import Screener

CATEGORIES = (1, 3)  # columns of the rows below


def mixed_rows(n: int = 160, seed: int = 0) -> tuple[list[list[Any]], list[str]]:
    """Two numbers and two categories, of which new ones keep coming."""
    rng = np.random.default_rng(seed)
    labels = [["no", "yes", "maybe"][k] for k in [0, 1, 0, 1, *rng.integers(0, 3, n - 4)]]
    rows = []
    for i, label in enumerate(labels):
        shop = f"s{rng.integers(0, 4 + i // 10)}" if rng.random() < 0.5 else f"own of {label}"
        day = ["mon", "tue", "wed"][rng.integers(3)]
        rows.append([float(rng.normal() + 2.0 * (label == "yes")), shop, float(rng.normal() * 100), day])
    return rows, labels


def batches_of(rows: list[list[Any]], labels: list[str], size: int, seed: int = 0, *, sparse: bool = False) -> Any:
    """Batches in which every batch numbers the categories in an order of its own (sparse: the first stays first)."""
    rng = np.random.default_rng(seed)
    first_names = {j: rows[0][j] for j in CATEGORIES}
    for first in range(0, len(rows), size):
        part = rows[first : first + size]
        X, names = np.zeros((len(part), len(part[0]))), {}
        for j in range(len(part[0])):
            if j in CATEGORIES:
                others = sorted({row[j] for row in part} - {first_names[j]})
                given = [str(name) for name in rng.permutation(others)]
                names[j] = tuple([first_names[j], *given] if sparse else [*given, first_names[j]])
                X[:, j] = [names[j].index(row[j]) for row in part]
            else:
                X[:, j] = [row[j] for row in part]
        yield Batch(csr_matrix(X) if sparse else X, np.array(labels[first : first + size]), kinds=ColumnKinds(names))


class Turning(Changing):
    """A selector of up to four features, others after every batch."""

    def partial_fit(self, batch: Any) -> None:
        self.step += 1
        rng = np.random.default_rng(self.step)
        self.selections.append(np.sort(rng.choice(4, rng.integers(0, 5), replace=False)))


class OneByOne:
    """A stream of batches made by hand."""

    def __init__(self, batches: Any) -> None:
        self._batches = list(batches)

    def batches(self, size: int) -> Any:
        return iter(self._batches)

    def progress(self) -> None:
        return None


def judged(learner: Any, batches: Any, selector: Any) -> Watching:
    watching = Watching(learner)
    watching.know_categories = learner.know_categories  # type: ignore[attr-defined]
    prequential(OneByOne(batches), selector, watching, batch_size=10)
    return watching


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("name", "twin"), [("naive_bayes", judges.bayes), ("neighbours", judges.neighbours)])
def test_judges_are_their_twins_although_selection_vocabulary_and_numbering_change(
    name: str, twin: Any, sparse: bool
) -> None:
    rows, labels = mixed_rows()
    selector = Turning(4)
    learner = judged(make_learner(name), batches_of(rows, labels, 10, sparse=sparse), selector)
    wanted = []
    for first, selected in zip(range(10, len(rows), 10), selector.selections, strict=False):
        classes = list(dict.fromkeys(labels[:first]))
        if len(selected):
            found = [twin(rows[:first], labels[:first], classes, row, selected) for row in rows[first : first + 10]]
            wanted.append([judges.probabilities(one) for one in found] if twin is judges.bayes else found)
    assert len(wanted) == len(learner.found) > 8
    for ours, theirs, selected in zip(learner.found, wanted, [s for s in selector.selections if len(s)], strict=False):
        if name == "neighbours" and set(selected) <= set(CATEGORIES):
            continue  # many rows are equally near, and which of them are taken is up to the search
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["perceptron", "sgd"])
def test_a_linear_model_is_the_one_that_knew_all_columns_of_categories_from_the_start(name: str) -> None:
    rows, labels = mixed_rows()
    all_names = {j: sorted({row[j] for row in rows}) for j in CATEGORIES}
    by_hand = np.array(
        [
            [v for j in (0, 2) for v in [row[j]]] + [float(row[j] == n) for j in CATEGORIES for n in all_names[j]]
            for row in rows
        ]
    )
    ours, theirs = make_learner(name, "none"), make_learner(name, "none")
    met = RunCategories()
    codes = np.array([["no", "yes", "maybe"].index(label) for label in labels])
    for number, batch in enumerate(batches_of(rows, labels, 20)):
        X, here = met.encode(batch), slice(20 * number, 20 * number + 20)
        ours.know_categories(met.names)  # type: ignore[attr-defined]
        if number:
            assert ours.predict(X).tolist() == theirs.predict(by_hand[here]).tolist()
        ours.learn(X, codes[here], np.arange(4), 3)
        theirs.learn(by_hand[here], codes[here], np.arange(by_hand.shape[1]), 3)


def test_weights_of_categories_stay_when_features_and_categories_come_and_go() -> None:
    learner = OneHot(Perceptron())
    learner.know_categories({5: ("red", "blue")})
    X, y = np.array([[0.0, 3.0], [1.0, -2.0]] * 10), np.array([0, 1] * 10)
    learner.learn(X, y, np.array([5, 8]), 2)
    before = learner.learner._model.coef_[0].copy()
    learner.know_categories({5: ("red", "blue", "green")})
    steady = np.array([[0.0], [1.0], [2.0]])
    model = learner.learner
    learner.learn(steady[:2], model.predict(np.array([[0.0, 1, 0], [0.0, 0, 1]])), np.array([5]), 2)
    np.testing.assert_array_equal(learner.learner._model.coef_[0], before[1:])  # rightly classified: nothing changes
    assert learner.expanded(steady).tolist() == [[1, 0], [0, 1], [0, 0]]  # green has no column before it is learnt
    learner.learn(steady, np.array([0, 1, 0]), np.array([5]), 2)
    assert learner.expanded(steady).tolist() == np.eye(3).tolist()


def test_many_categories_share_columns() -> None:
    learner = OneHot(Perceptron(), most_columns=3, n_shared=2)
    learner.know_categories({0: tuple("abcdefghij")})
    learner.learn(np.arange(10.0)[:, None], np.arange(10) % 2, np.array([0]), 2)
    seen = learner.expanded(np.arange(10.0)[:, None])
    assert seen.shape == (10, 5)
    assert (seen.sum(axis=1) == 1.0).all()
    assert seen[:3, :3].tolist() == np.eye(3).tolist()


def test_rare_categories_of_naive_bayes_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamsift.learners.bayes.MOST_CATEGORIES", 2)
    learner: Any = make_learner("naive_bayes")
    learner.know_categories({0: tuple("abcd")})
    codes, y = np.array([0.0] * 6 + [1.0] * 5 + [2.0, 3.0, 3.0]), np.array([0] * 6 + [1] * 5 + [0, 1, 1])
    learner.learn(codes[:, None], y, np.array([0]), 2)
    table = learner._categories.table(0)
    rows = np.vstack([table.weights, table.other]) + 1.0
    chances = rows / rows.sum(axis=0)
    prior = np.array([7, 7]) / 14
    kept = table.codes.tolist()
    assert len(kept) == 2
    for code in range(4):
        wanted = prior * chances[kept.index(code) if code in kept else 2]
        np.testing.assert_allclose(learner.predict_proba(np.array([[float(code)]]))[0], wanted / wanted.sum())


def shops(n: int = 1200) -> tuple[pd.DataFrame, Any]:
    """40 shops, every other one of which sells; their codes in order of arrival say nothing to a line."""
    rng = np.random.default_rng(3)
    shop = rng.integers(0, 40, n)
    y = np.where(
        rng.random(n) < 0.95, np.random.default_rng(4).permutation(np.arange(40) % 2)[shop], rng.integers(0, 2, n)
    )
    return pd.DataFrame({"noise": rng.normal(size=n), "shop": [f"shop {k}" for k in shop]}), y


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_judge_sees_what_shops_tell_whatever_their_numbers(name: str) -> None:
    if name in OF_RIVER:
        pytest.importorskip("river")
    frame, y = shops()
    order = pd.unique(frame["shop"])
    other = frame.assign(shop=pd.Categorical(frame["shop"], sorted(order, reverse=True)))
    found = [prequential((X, y), None, name) for X in (frame, other)]
    np.testing.assert_allclose(
        found[0].column("batch_accuracy"),
        found[1].column("batch_accuracy"),
        atol=0.03 if name == "neighbours" else 1e-9,
    )  # several neighbours may be equally near
    least = {"hoeffding_tree_majority": 0.6, "neighbours": 0.7}.get(name, 0.8)
    assert found[0].column("batch_accuracy")[-5:].mean() > least
    assert found[0].summary()["n_restarts"] == 0


def test_numbers_are_standardised_and_categories_are_not() -> None:
    learner = Standardised(OneHot(Perceptron()))
    learner.know_categories({1: ("a", "b")})
    learner.learn_rows(np.array([[5.0, 0.0], [9.0, 1.0]]), np.array([0, 1]), np.arange(2), 2)
    assert learner.scaled(np.array([[9.0, 1.0]])).tolist() == [[1.0, 1.0]]

    class Plain(Perceptron):
        """It knows nothing of categories: codes are numbers."""

    assert not hasattr(Standardised(Plain()), "know_categories")


def foreign_models() -> dict[str, Any]:
    pytest.importorskip("river")
    from river import ensemble, linear_model, naive_bayes, preprocessing, tree

    return {
        "sgd": SGDClassifier(random_state=0),
        "bayes": GaussianNB(),
        "river logistic": linear_model.LogisticRegression(),
        "river tree": tree.HoeffdingTreeClassifier(grace_period=50),
        "river bagging": ensemble.BaggingClassifier(tree.HoeffdingTreeClassifier(grace_period=50), n_models=2, seed=0),
        "river encoder": preprocessing.OneHotEncoder() | naive_bayes.BernoulliNB(),
        "river scaled": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    }


@pytest.mark.parametrize(
    "name", ["sgd", "bayes", "river logistic", "river tree", "river bagging", "river encoder", "river scaled"]
)
def test_models_of_other_packages_see_what_shops_tell(name: str) -> None:
    frame, y = shops()
    trace = prequential((frame[["shop"]], y), None, foreign_models()[name])
    assert trace.column("batch_accuracy")[-5:].mean() > 0.8
    assert trace.summary()["n_restarts"] <= 2  # 16, 32, 64 columns


def test_spare_columns_keep_a_model_that_cannot_grow_from_starting_again() -> None:
    learner = as_learner(GaussianNB())
    names = tuple(str(k) for k in range(40))
    for n_known in range(1, 41):
        learner.know_categories({0: names[:n_known]})  # type: ignore[attr-defined]
        learner.learn(np.arange(float(n_known))[:, None], np.arange(n_known) % 2, np.array([0]), 2)
    assert learner.n_restarts == 2  # type: ignore[attr-defined]
    assert learner.expanded(np.zeros((1, 1))).shape[1] == 4 * LEAST_SPARE  # type: ignore[attr-defined]


@pytest.mark.parametrize("sparse", [False, True])
def test_bare_codes_are_categories_where_they_are_marked(sparse: bool) -> None:
    met = RunCategories()
    marked = np.array([False, True])

    def batch(X: Any) -> Batch:
        return Batch(csr_matrix(X) if sparse else np.array(X), None, categorical=marked)

    first = met.encode(batch([[0.5, 7.0], [1.5, 0.0], [2.5, 1e9]]))
    second = met.encode(batch([[0.5, 1e9], [1.5, 3.0], [7.0, 7.0]]))
    assert met.names == {1: ("0", "7", "1000000000", "3")}
    dense = [X.toarray() if sparse else X for X in (first, second)]
    assert dense[0].tolist() == [[0.5, 1.0], [1.5, 0.0], [2.5, 2.0]]
    assert dense[1].tolist() == [[0.5, 2.0], [1.5, 3.0], [7.0, 1.0]]


def test_a_column_that_changes_between_numbers_and_categories_is_refused() -> None:
    batches = [pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}), pd.DataFrame({"a": ["x", "z"], "y": [0, 1]})]
    with pytest.raises(InputError, match="'a' changes between numbers and text"):
        prequential(iter([(b[["a"]], b["y"].to_numpy()) for b in batches]), None, "naive_bayes", batch_size=2)


def test_a_run_begins_without_the_categories_of_another() -> None:
    frame, y = shops(300)
    learner = make_learner("naive_bayes")
    prequential((frame, y), None, learner)
    learner.reset()
    numbers = np.random.default_rng(0).normal(size=(300, 2))
    again = prequential((numbers, y), None, learner)
    fresh = prequential((numbers, y), None, "naive_bayes")
    np.testing.assert_array_equal(again.column("batch_accuracy"), fresh.column("batch_accuracy"))


def test_column_methods_are_judged_by_models_that_see_categories() -> None:
    frame, y = shops()
    found = compare(
        (frame, y), methods=["investing", Screener(n_features_to_select=1)], models=["nb", "perceptron"], repeats=1
    )
    accuracy = {entry["name"]: entry["late_accuracy"] for entry in found.as_dict()["entries"]}
    assert len(accuracy) > 4
    for name, value in accuracy.items():
        if name.startswith(("investing", "Screener", "all")):
            assert value > 0.8, name


def test_boosting_counts_categories_and_knows_numbers_as_river_does() -> None:
    pytest.importorskip("river")
    from river.naive_bayes import GaussianNB as Gaussian

    from streamsift.learners.arrays import Row, Space
    from streamsift.learners.boosting import ArrayBayes

    rows, labels = mixed_rows(60)
    words = [[row[1], row[3]] for row in rows]
    codes = [sorted({row[column] for row in rows}) for column in (1, 3)]
    space = Space((), np.empty((2, 0), np.int64), 0).grown([0, 1, 2, 3], {1: len(codes[0]), 3: len(codes[1])}, 3)
    names = sorted(set(labels))

    def row_of(row: Any) -> Row:
        values = np.array([row[0], codes[0].index(row[1]), row[2], codes[1].index(row[3])], np.float64)
        return Row(values, np.arange(4), space)

    ours, theirs = ArrayBayes(), Gaussian()
    for row, label in zip(rows[:50], labels, strict=False):
        ours.learn_one(row_of(row), names.index(label))
        theirs.learn_one({0: row[0], 2: row[2]}, label)
    classes = list(dict.fromkeys(labels[:50]))
    prior = {label: np.log(labels[:50].count(label) / 50) for label in classes}
    for row, named in zip(rows[50:], words[50:], strict=True):
        found = ours.joint_log_likelihood(row_of(row))
        numbers = theirs.joint_log_likelihood({0: row[0], 2: row[2]})
        of_words = dict(zip(classes, judges.bayes(words[:50], labels[:50], classes, named, [0, 1]), strict=True))
        for label in classes:
            assert found[names.index(label)] == pytest.approx(numbers[label] + of_words[label] - prior[label])
