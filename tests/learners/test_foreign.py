"""Models of scikit-learn and river as learners of a prequential run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB

from streamsift.core.exceptions import ParameterError
from streamsift.evaluate.prequential import prequential
from streamsift.learners.foreign import SklearnModel, as_learner
from streamsift.learners.online import NaiveBayes
from streamsift.rows.screener import Screener

river = pytest.importorskip("river")


def rows(n_rows: int = 600, n_classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    return X, np.digitize(X[:, 2], np.linspace(-1, 1, n_classes + 1)[1:-1])


def models() -> dict[str, Any]:
    import river.linear_model
    import river.preprocessing
    import river.tree

    return {
        "sgd": SGDClassifier(random_state=0),
        "logistic": SGDClassifier(loss="log_loss", random_state=0),
        "averaged": SGDClassifier(average=True, random_state=0),
        "perceptron": Perceptron(random_state=0),
        "bayes": GaussianNB(),
        "river logistic": river.linear_model.LogisticRegression(),
        "river tree": river.tree.HoeffdingTreeClassifier(),
        "river pipeline": river.preprocessing.StandardScaler() | river.linear_model.LogisticRegression(),
        "river without probabilities": river.linear_model.PAClassifier(),
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", models())
def test_any_model_judges_a_selection(name: str) -> None:
    model = models()[name]
    trace = prequential(rows(), Screener("t_score", n_features_to_select=2), model)
    assert trace.summary()["accuracy"] > 0.88
    assert not hasattr(model, "coef_")  # a copy is trained, never the model itself
    again = prequential(rows(), Screener("t_score", n_features_to_select=2), model)
    assert again.summary()["accuracy"] == trace.summary()["accuracy"]


@pytest.mark.parametrize("name", ["sgd", "logistic", "bayes", "river tree"])
def test_many_classes_and_late_ones(name: str) -> None:
    X, y = rows(900, 3)
    order = np.argsort(y == 2, kind="stable")  # the third class comes late
    trace = prequential((X[order], y[order]), Screener("t_score", n_features_to_select=1), models()[name])
    assert trace.summary()["accuracy"] > 0.5


def test_weights_of_features_that_stay_are_kept() -> None:
    X, y = rows()
    learner = SklearnModel(SGDClassifier(random_state=0))
    learner.learn(X[:, [2, 4]], y, np.array([2, 4]), 2)
    before = learner._model.coef_.copy()
    renewed = learner._renewed(np.array([1, 2]), 2)
    assert renewed.coef_.tolist() == [[0.0, before[0, 0]]]
    assert renewed.t_ == learner._model.t_
    assert learner.n_restarts == 0
    wider = learner._renewed(np.array([2, 4]), 3)
    assert wider.coef_.tolist() == [(-before[0]).tolist(), before[0].tolist(), [0.0, 0.0]]


def test_other_models_start_again_and_count_it() -> None:
    X, y = rows()
    learner = SklearnModel(GaussianNB())
    for selected in ([2], [2], [2, 3], [2]):
        learner.learn(X[:, selected], y, np.array(selected), 2)
    assert learner.n_restarts == 2


def test_learners_and_names_pass_through() -> None:
    own = NaiveBayes()
    assert as_learner(own) is own
    assert isinstance(as_learner("naive_bayes"), NaiveBayes)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LinearRegression(), "LinearRegression cannot learn batch by batch"),
        (GaussianNB, r"the class GaussianNB: give an object, GaussianNB\(\)"),
    ],
)
def test_what_cannot_learn_from_a_stream_is_refused(model: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        as_learner(model)
